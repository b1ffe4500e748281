import { type Bounds, checkSize, createMeter, DOCUMENT_LEVELS, Excess } from '../core/bounds.ts';
import { CallsheetError } from '../core/errors.ts';

/**
 * The bounds of a state and its journals, which others can write. Each bound is far above what a stack needs, and all
 * of them together hold a command below 512 MB.
 */
const MB = 1024 * 1024;

/** Bytes of a state: some 85,000 agents. */
export const MOST_STATE_BYTES = 128 * MB;
/** Bytes of a line. A journal's holds a resource as the platform answered it, and as it is to become. */
export const MOST_LINE_BYTES = 128 * MB;
/** Bytes of a document of a store, and of one of its parts. */
export const MOST_PART_BYTES = 128 * MB;
/** Bytes of a part that is unpacked: for a moment they are there three times. */
export const MOST_UNPACKED_BYTES = 48 * MB;
/** Bytes of what is read from a store at once: a journal, or the state and the journals of the runs that are open. */
export const MOST_READ_BYTES = 128 * MB;
/** Bytes of a journal after which a run stops. What recovers it comes on top. */
export const MOST_JOURNAL_BYTES = 96 * MB;

/** The bounds of one text that is parsed at once. */
export const TEXT_BOUNDS: Bounds = { levels: DOCUMENT_LEVELS, values: 4_000_000 };
/** The bounds of all resources of a state together; an agent has about a hundred values. */
const STATE_BOUNDS: Bounds = { levels: DOCUMENT_LEVELS, values: 6_000_000 };

/** Counts what stands in a state, however many lines and pieces it comes in. */
export function createStateMeter(): ReturnType<typeof createMeter> {
  return createMeter(STATE_BOUNDS);
}

/** A state or a part of it that is beyond a bound. Nothing of it is used. */
export class BeyondBounds extends CallsheetError {
  readonly what: string;
  readonly limit: string;

  /** `has`: goes on after the name: `has JSON of more than 128 levels`. */
  constructor(
    name: string,
    { what, limit }: Pick<Excess, 'what' | 'limit'>,
    todo = 'Rebuild the state without it: `callsheet state repair`',
  ) {
    super('state', `${name} has ${what}`, {
      hint: `Callsheet takes ${limit}, and writes no more: somebody else changed it, or the store returns something else. ${todo}`,
    });
    this.what = what;
    this.limit = limit;
  }
}

/** Counts what is kept of something. What it returns throws `BeyondBounds` once that is too much. */
export function createAllowance(name: string, most = MOST_READ_BYTES): (size: number) => void {
  let taken = 0;
  return (size) => {
    taken += size;
    within(name, () => checkSize(taken, most, 'a size'));
  };
}

/** Does a piece of work over what `name` names: `the state s3://…`. Throws `BeyondBounds`, which says what `todo` says. */
export function within<T>(name: string, work: () => T, todo?: string): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Excess ? new BeyondBounds(name, error, todo) : error;
  }
}
