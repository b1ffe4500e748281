import type { ValidateFunction } from 'ajv/dist/2020.js';
import { compileShape } from './compile-shapes.ts';
import type { JournalEntry } from './journal.ts';
import type { Holds, ResourceState, State } from './model.ts';

/** The state as it stands in its file. */
type SealedState = State & { readonly checksum: string };

let state: Promise<ValidateFunction<SealedState>> | undefined;
let resource: Promise<ValidateFunction<ResourceState>> | undefined;
let holds: Promise<ValidateFunction<Holds>> | undefined;
let entry: Promise<ValidateFunction<JournalEntry>> | undefined;

/** Tells a state from anything else. */
export function stateShape(): Promise<ValidateFunction<SealedState>> {
  state ??= compileShape('state');
  return state;
}

/** Tells what a state remembers of one resource from anything else. */
export function resourceShape(): Promise<ValidateFunction<ResourceState>> {
  resource ??= compileShape('resource');
  return resource;
}

/** Tells the holds of a state from anything else. */
export function holdsShape(): Promise<ValidateFunction<Holds>> {
  holds ??= compileShape('holds');
  return holds;
}

/** Tells a journal's entry from anything else. */
export function entryShape(): Promise<ValidateFunction<JournalEntry>> {
  entry ??= compileShape('entry');
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
