import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createConfig, getLineColLocation, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Document } from '../generate/document.ts';
import type { Finding, Problem } from './problem.ts';

/** Checks the bundled document, references included, against the official schema of OpenAPI 3.1. */
export async function checkStructure(document: Document): Promise<readonly Finding[]> {
  const { errors = [] } = await new Validator().validate(structuredClone(document));
  if (typeof errors === 'string') return [{ rule: 'openapi-3.1', path: [], message: errors }];
  return errors.map(({ instancePath, message = 'is not valid' }) => ({
    rule: 'openapi-3.1',
    path: instancePath
      .split('/')
      .slice(1)
      .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')),
    message,
  }));
}

/** Redocly's recommended rules but those that are wrong here. */
const RULES = {
  extends: ['recommended'],
  rules: {
    // The platform's terms are not ours to state.
    'info-license': 'off',
    // Knows neither `then` nor `allOf`; `required-described` does.
    'no-required-schema-properties-undefined': 'off',
  },
} as const;

/** Checks the document as it is written, with its references into other files, by the rules of Redocly. */
export async function checkStyle(folder: URL, text: string): Promise<readonly Problem[]> {
  const config = await createConfig({ ...RULES, extends: [...RULES.extends] });
  const problems = await lintFromString({
    source: text,
    absoluteRef: fileURLToPath(new URL('platform.openapi.yaml', folder)),
    config,
  });
  return problems.flatMap(({ ruleId, message, location: [place] }) => {
    if (place === undefined) return [];
    const { source, start } = getLineColLocation(place);
    const file = relative(fileURLToPath(new URL('../', folder)), source.absoluteRef);
    // A kind's examples are of the configuration, not of what goes over the wire.
    if (ruleId === 'no-invalid-schema-examples' && file.startsWith('schemas/kinds/')) return [];
    return [{ file, line: start.line, column: start.col, message: `${message} (${ruleId})` }];
  });
}
