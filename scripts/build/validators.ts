import { _, Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'rolldown';
import stateSchema from '../../schemas/state.schema.json' with { type: 'json' };
import { AJV_FORMATS, AJV_OPTIONS, withoutId } from '../../src/stack/compile-schema.ts';
import { checkedSchemas } from '../../src/stack/settings-schema.ts';
import { SHAPE_OPTIONS, SHAPES } from '../../src/state/compile-shapes.ts';

const STATE_COMPILER = /[\\/]src[\\/]state[\\/]compile-shapes\.ts$/;
const COMPILER = /[\\/]src[\\/]stack[\\/]compile-schema\.ts$/;

/** Puts the validators in the place of the compiler, so that no command compiles a schema when it starts. */
export const validators: Plugin = inPlaceOf(COMPILER, precompiled);

/** The same for what states and journals are held against. */
export const shapes: Plugin = inPlaceOf(STATE_COMPILER, precompiledShapes);

/** Another module in the place of a file. A build without that file fails: it was moved, and would be bundled as it is. */
function inPlaceOf(file: RegExp, code: () => string): Plugin {
  let isMet = false;
  return {
    name: `in place of ${file.source}`,
    load: {
      filter: { id: file },
      handler() {
        isMet = true;
        return { code: code(), moduleType: 'js' };
      },
    },
    buildEnd() {
      if (!isMet) throw new Error(`no file of the bundle is ${file.source}`);
    },
  };
}

/** A module with the exports of `compile-shapes.ts` that the bundle uses. */
function precompiledShapes(): string {
  const ajv = new Ajv2020({ ...SHAPE_OPTIONS, code: { source: true, esm: true } });
  ajv.addSchema(stateSchema);
  const written = withLengths(standalone.default(ajv, SHAPES));
  return `
${LENGTHS}
${written}
const shapes = { ${Object.keys(SHAPES).join(', ')} };
export async function compileShape(shape) {
  return shapes[shape];
}
`;
}

const LENGTHS = `import ucs2length from 'ajv/dist/runtime/ucs2length.js';
const lengthOf = ucs2length.default ?? ucs2length;`;

/** ajv writes \`require\` in modules, too. */
function withLengths(written: string): string {
  const code = written.replaceAll('require("ajv/dist/runtime/ucs2length").default', 'lengthOf');
  if (code.includes('require(')) throw new Error('the validators need more of ajv than lengths');
  return code;
}

/** A module with the exports of `compile-schema.ts` that the bundle uses. */
function precompiled(): string {
  const code = { source: true, esm: true, formats: _`FORMATS_OF_AJV` };
  const ajv = new Ajv2020({ ...AJV_OPTIONS, formats: AJV_FORMATS, code });
  const names = [...checkedSchemas()].map(([name, schema]) => {
    ajv.addSchema(withoutId(schema), name);
    return name;
  });
  const exported = Object.fromEntries(names.map((name) => [name, name]));
  const written = withLengths(standalone.default(ajv, exported));
  return `
${LENGTHS}
import { checkedSchemas } from './settings-schema.ts';
import { FORMATS } from './formats.ts';
const FORMATS_OF_AJV = Object.fromEntries(
  Object.entries(FORMATS).map(([name, { check }]) => [name, { type: 'string', validate: check }]),
);
${written}
const validators = { ${names.join(', ')} };
const names = new Map([...checkedSchemas()].map(([name, schema]) => [schema, name]));
export function compile(schema) {
  const validate = validators[names.get(schema)];
  if (validate === undefined) throw new Error('a schema was not compiled with the bundle');
  return validate;
}
`;
}
