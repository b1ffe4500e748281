import { CallsheetError } from '../core/errors.ts';
import type { Holder } from './store.ts';

/** Everything that `state/` says to people when it cannot go on. */

const WAY_BACK =
  'Put back an earlier copy of it (a backup, or your Git history), or delete it and plan again: every resource is found again by its name.';

const JOURNAL_WAY_BACK =
  'Move it away and plan again: what the run created is found by its name, and what it changed shows in the plan.';

/** A state that cannot be read. `how` goes on after the name: `is empty`, `was cut off`. */
export function damagedState(location: string, how: string): CallsheetError {
  return new CallsheetError('state', `the state ${location} ${how}`, { hint: WAY_BACK });
}

export function foreignState(location: string, what: string): CallsheetError {
  return new CallsheetError('state', `${location} is not a Callsheet state: ${what}`, {
    hint: 'Point the stack at its own state file. Nothing was changed in this one.',
  });
}

export function newerDocument(location: string, version: number, known: number): CallsheetError {
  return new CallsheetError(
    'state',
    `${location} was written by a newer Callsheet: its format has version ${version}, this one knows ${known}`,
    { hint: 'Use the newer Callsheet. Formats only move forward.' },
  );
}

export function damagedJournal(location: string, how: string): CallsheetError {
  return new CallsheetError('state', `the journal ${location} ${how}`, { hint: JOURNAL_WAY_BACK });
}

/** The journal of a run that cannot have started from this state. */
export function straySource(location: string, how: string): CallsheetError {
  return new CallsheetError('state', `the journal ${location} ${how}`, {
    hint: 'The state was replaced by another one. Put the right state back, or move the journal away and plan again.',
  });
}

export function severalPending(location: string, runs: readonly string[]): CallsheetError {
  return new CallsheetError(
    'state',
    `${location} has ${runs.length} runs that did not finish: ${runs.join(', ')}`,
    { hint: JOURNAL_WAY_BACK },
  );
}

export function unsettledRun(location: string, run: string): CallsheetError {
  return new CallsheetError(
    'state',
    `${location} has a run that did not finish, ${run}: it must be settled before another begins`,
  );
}

export function otherLineage(location: string, found: string, given: string): CallsheetError {
  return new CallsheetError(
    'state',
    `the state ${location} belongs to another stack: its lineage is ${found}, not ${given}`,
    { hint: 'Nothing was written. Point the stack at its own state file.' },
  );
}

export function movedState(location: string, found: number, expected: number): CallsheetError {
  return new CallsheetError(
    'stale',
    `the state ${location} moved during the run: it is at serial ${found}, not ${expected}`,
    { hint: 'What the run did is in its journal. Plan again.' },
  );
}

export function lockedState(location: string, holder: Holder, lease: string): CallsheetError {
  return new CallsheetError('locked', `the state ${location} is locked by ${describe(holder)}`, {
    hint: `Wait until that run ends. If its process is dead, the lock ends with it: at once on the same machine, within 30 seconds elsewhere. Lease ${lease}.`,
  });
}

export type LossOfLease =
  | { readonly why: 'released' }
  | { readonly why: 'removed' }
  | { readonly why: 'taken'; readonly by: Holder | undefined };

export function lostLease(location: string, loss: LossOfLease): CallsheetError {
  return new CallsheetError(
    'locked',
    `this run no longer holds the lock on the state ${location}: ${reasonOf(loss)}`,
    { hint: 'Nothing more is written. Wait until no other run is under way, then plan again.' },
  );
}

function reasonOf(loss: LossOfLease): string {
  switch (loss.why) {
    case 'released':
      return 'it gave it back';
    case 'removed':
      return 'the lock was removed';
    case 'taken':
      return `${loss.by === undefined ? 'another run' : describe(loss.by)} took it over`;
  }
}

function describe(holder: Holder): string {
  const who = holder.user === null ? holder.host : `${holder.user}@${holder.host}`;
  return `${holder.command} (run ${holder.run}) of ${who}, process ${holder.pid}, since ${holder.since}`;
}

const REASONS: { readonly [code: string]: string } = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EIO: 'the disk reports an error',
  EMFILE: 'too many open files',
};

/** Runs a part of a store's work, with failures of the file system put into words. */
export async function worded<T>(location: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw inWords(error, location);
  }
}

function inWords(error: unknown, location: string): unknown {
  if (!isSystemError(error)) return error;
  const reason = REASONS[error.code] ?? error.code;
  return new CallsheetError(
    'state',
    `cannot ${verb(error.syscall)} ${error.path ?? location}: ${reason}`,
    {
      hint: 'The last committed state and everything that a run has journaled are kept.',
      cause: error,
    },
  );
}

type SystemError = Error & {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
};

function isSystemError(error: unknown): error is SystemError {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'syscall' in error &&
    typeof error.syscall === 'string'
  );
}

function verb(syscall: string): string {
  switch (syscall) {
    case 'read':
    case 'stat':
    case 'lstat':
    case 'scandir':
      return 'read';
    case 'open':
      return 'open';
    default:
      return 'write';
  }
}

/** The code of a file-system error, such as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  return isSystemError(error) ? error.code : undefined;
}
