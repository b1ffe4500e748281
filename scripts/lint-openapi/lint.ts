import { readdirSync, readFileSync } from 'node:fs';
import { type Document, readSources } from '../generate/document.ts';
import { createLocator, type Finding, type Problem } from './problem.ts';
import { RULES } from './rules.ts';
import { checkStructure, checkStyle } from './validators.ts';

const FILE = 'schemas/platform.openapi.yaml';

/**
 * Everything that is wrong with the OpenAPI document of the folder, in the order of its lines. Its text is
 * that of the file unless given. Our own rules are looked at once both validators are content.
 */
export async function lintDocument(
  folder: URL,
  text: string = readFileSync(new URL('platform.openapi.yaml', folder), 'utf8'),
): Promise<readonly Problem[]> {
  const style = await checkStyle(folder, text);
  if (style.some(({ message }) => message.endsWith('(no-unresolved-refs)'))) return style;
  const { document } = readSources(folder, text);
  const structure = await checkStructure(document);
  const sound = style.length + structure.length === 0;
  const found = [...structure, ...(sound ? checkRules(folder, document) : [])];
  return [...style, ...found.map(createLocator(FILE, text))].sort(
    (a, b) => a.line - b.line || a.column - b.column,
  );
}

/** Checks the bundled document against our own rules. */
export function checkRules(folder: URL, document: Document): readonly Finding[] {
  const usedByKinds = readdirSync(new URL('kinds/', folder)).flatMap((name) =>
    assumptionsIn(JSON.parse(readFileSync(new URL(`kinds/${name}`, folder), 'utf8'))),
  );
  return RULES.flatMap((rule) => rule({ document, usedByKinds }));
}

/** Ids that `x-assumption` and `x-assumes` name anywhere below a value. */
function assumptionsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === 'x-assumption' || key === 'x-assumes'
      ? [member].flat().map(String)
      : assumptionsIn(member),
  );
}
