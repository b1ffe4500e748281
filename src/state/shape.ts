import type { ValidateFunction } from 'ajv/dist/2020.js';
import { parseWithin } from '../core/bounds.ts';
import { BeyondBounds, TEXT_BOUNDS, within } from './bounds.ts';
import { compileShape, type Shape } from './compile-shapes.ts';
import type { JournalEntry } from './journal.ts';
import {
  type AppliedCommit,
  type Holds,
  isRecord,
  type Kept,
  type Owner,
  type ResourceState,
  type State,
} from './model.ts';

/** The state as it stands in its file. */
type SealedState = State & {
  readonly checksum: string;
  readonly seal?: string;
  readonly made_by?: string;
};

/** Tells a document of that shape from anything else; compiled when it is first needed. */
function loadShape<T>(shape: Shape): () => Promise<ValidateFunction<T>> {
  let compiled: Promise<ValidateFunction<T>> | undefined;
  return () => {
    compiled ??= compileShape<T>(shape);
    return compiled;
  };
}

export const stateShape = loadShape<SealedState>('state');
/** The state's record of one resource. */
export const resourceShape = loadShape<ResourceState>('resource');
/** The holds of a state. */
export const holdsShape = loadShape<Holds>('holds');
export const ownerShape = loadShape<Owner>('owner');
/** The commit that was applied last. */
export const appliedShape = loadShape<AppliedCommit>('applied');
/** Tells the entries of features from anything else. */
export const keptShape = loadShape<Kept>('kept');
/** A journal's entry. */
export const entryShape = loadShape<JournalEntry>('entry');

/** The JSON in a text; undefined where it is none. Throws `BeyondBounds`, which says what `name` names. */
export function parseBounded(text: string, name: string): unknown {
  return within(name, () => {
    try {
      return parseWithin(text, TEXT_BOUNDS);
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  });
}

/** The JSON in a text; undefined where it is none, or beyond the bounds. */
export function parseJson(text: string): unknown {
  try {
    return parseBounded(text, '');
  } catch (error) {
    if (error instanceof BeyondBounds) return undefined;
    throw error;
  }
}

/** The JSON object in a text; undefined where it is none. */
export function parseRecord(text: string): { readonly [key: string]: unknown } | undefined {
  const value = parseJson(text);
  return isRecord(value) ? value : undefined;
}

/** The first thing that is wrong, such as `/resources/agent.desk/id must be string`. */
export function firstProblem(validate: ValidateFunction): string {
  const problem = validate.errors?.[0];
  if (problem === undefined) return 'is not valid';
  return `${problem.instancePath} ${problem.message ?? 'is not valid'}`.trim();
}
