import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import schema from '../../schemas/state.schema.json' with { type: 'json' };
import type { JournalEntry } from './journal.ts';
import type { Holds, ResourceState, State } from './model.ts';

/** The state as it stands in its file. */
export type SealedState = State & { readonly checksum: string };

let validator: Promise<Ajv2020> | undefined;
let state: Promise<ValidateFunction<SealedState>> | undefined;
let resource: Promise<ValidateFunction<ResourceState>> | undefined;
let holds: Promise<ValidateFunction<Holds>> | undefined;
let entry: Promise<ValidateFunction<JournalEntry>> | undefined;

/** Tells a state from anything else. Compiled from `schemas/state.schema.json` when first asked for. */
export function stateShape(): Promise<ValidateFunction<SealedState>> {
  state ??= ajv().then((loaded) => loaded.compile<SealedState>({ $ref: schema.$id }));
  return state;
}

/** Tells what a state remembers of one resource from anything else. */
export function resourceShape(): Promise<ValidateFunction<ResourceState>> {
  resource ??= ajv().then((loaded) =>
    loaded.compile<ResourceState>({ $ref: `${schema.$id}#/$defs/resource` }),
  );
  return resource;
}

/** Tells the holds of a state from anything else. */
export function holdsShape(): Promise<ValidateFunction<Holds>> {
  holds ??= ajv().then((loaded) => loaded.compile<Holds>({ $ref: `${schema.$id}#/$defs/holds` }));
  return holds;
}

/** Tells a journal's entry from anything else. */
export function entryShape(): Promise<ValidateFunction<JournalEntry>> {
  entry ??= ajv().then((loaded) =>
    loaded.compile<JournalEntry>({ $ref: `${schema.$id}#/$defs/entry` }),
  );
  return entry;
}

/** Any JSON object. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first thing that is wrong, such as `/resources/agent.desk/id must be string`. */
export function firstProblem(validate: ValidateFunction): string {
  const problem = validate.errors?.[0];
  if (problem === undefined) return 'is not valid';
  return `${problem.instancePath} ${problem.message ?? 'is not valid'}`.trim();
}

function ajv(): Promise<Ajv2020> {
  validator ??= import('ajv/dist/2020.js').then(({ Ajv2020 }) => {
    const loaded = new Ajv2020({ discriminator: true, strictRequired: false });
    return loaded.addSchema(schema);
  });
  return validator;
}
