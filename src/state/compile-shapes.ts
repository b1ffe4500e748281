import type { Ajv2020, Options, ValidateFunction } from 'ajv/dist/2020.js';
import schema from '../../schemas/state.schema.json' with { type: 'json' };

/** The parts of the state's schema that documents are held against. */
export type Shape = 'state' | 'resource' | 'owner' | 'applied' | 'holds' | 'kept' | 'entry';

export const SHAPE_OPTIONS: Options = { discriminator: true, strictRequired: false };

/** The place of each part in `schemas/state.schema.json`. */
export const SHAPES: { readonly [shape in Shape]: string } = {
  state: schema.$id,
  resource: `${schema.$id}#/$defs/resource`,
  owner: `${schema.$id}#/$defs/owner`,
  applied: `${schema.$id}#/$defs/applied`,
  holds: `${schema.$id}#/$defs/holds`,
  kept: `${schema.$id}#/$defs/kept`,
  entry: `${schema.$id}#/$defs/entry`,
};

let validator: Promise<Ajv2020> | undefined;

/** In the bundle this is compiled already: every command that reads a state would wait for it. */
export async function compileShape<T>(shape: Shape): Promise<ValidateFunction<T>> {
  validator ??= import('ajv/dist/2020.js').then(({ Ajv2020 }) =>
    new Ajv2020(SHAPE_OPTIONS).addSchema(schema),
  );
  return (await validator).compile<T>({ $ref: SHAPES[shape] });
}
