import { _, Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'rolldown';
import { checkedSchemas } from '../../src/config/checked-schemas.ts';
import { AJV_FORMATS, AJV_OPTIONS, withoutId } from '../../src/config/compile-schema.ts';

const COMPILER = /[\\/]src[\\/]config[\\/]compile-schema\.ts$/;

/** Puts the validators in the place of the compiler, so that no command compiles a schema when it starts. */
export const validators: Plugin = {
  name: 'validators',
  load: { filter: { id: COMPILER }, handler: () => ({ code: precompiled(), moduleType: 'js' }) },
};

/** A module with the exports of `compile-schema.ts` that the bundle uses. */
function precompiled(): string {
  const code = { source: true, esm: true, formats: _`FORMATS_OF_AJV` };
  const ajv = new Ajv2020({ ...AJV_OPTIONS, formats: AJV_FORMATS, code });
  const names = [...checkedSchemas()].map(([name, schema]) => {
    ajv.addSchema(withoutId(schema), name);
    return name;
  });
  const exported = Object.fromEntries(names.map((name) => [name, name]));
  // ajv writes `require` in modules, too.
  const written = standalone
    .default(ajv, exported)
    .replaceAll('require("ajv/dist/runtime/ucs2length").default', 'lengthOf');
  if (written.includes('require(')) throw new Error('the validators need more of ajv than lengths');
  return `
import ucs2length from 'ajv/dist/runtime/ucs2length.js';
const lengthOf = ucs2length.default ?? ucs2length;
import { checkedSchemas } from './checked-schemas.ts';
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
