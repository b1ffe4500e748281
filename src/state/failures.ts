import { quoted } from '../core/command-line.ts';
import { CallsheetError, clip, firstLines, formatDuration, formatSize } from '../core/errors.ts';
import { isSameJson } from '../core/value.ts';
import { MOST_STATE_BYTES } from './bounds.ts';
import type { RunBegan } from './journal.ts';
import { describeOwner, type Owner, type State } from './model.ts';
import type { HeldLock, Holder } from './store.ts';

/** Everything that `state/` says to people when it cannot go on. */

const WAY_BACK =
  'Rebuild it with: `callsheet state repair`. It keeps what is still readable, finds the rest on the platform, and sets the damaged file aside. Or put a good copy back: `callsheet state push --overwrite FILE`.';

const JOURNAL_WAY_BACK =
  'Rebuild the state with: `callsheet state repair`. It uses what the journals still record, and sets the damaged files aside.';

/** A state that cannot be read. `how` goes on after the name: `is empty`, `was cut off`. */
export function damagedState(location: string, how: string): CallsheetError {
  return new CallsheetError('state', `the state ${location} ${how}`, { hint: WAY_BACK });
}

/** A document in a store that names a part of itself as Callsheet never does. */
export function strayPart(location: string, owner: string, name: string): CallsheetError {
  return new CallsheetError(
    'state',
    `the state ${location} names ${JSON.stringify(clip(name, MOST_OF_A_NAME))} as a part of ${owner}, and Callsheet gave no part that name`,
    {
      hint: 'Somebody else wrote it. Nothing of that name was read or removed. Rebuild the state without it: `callsheet state repair`',
    },
  );
}

/** Characters that are shown of a name that somebody else gave. */
const MOST_OF_A_NAME = 120;

/** A damaged state whose damage cannot be shown: one longer than a string is read by sound lines alone. */
export function tooLongToMend(location: string): CallsheetError {
  return new CallsheetError(
    'state',
    `the state ${location} is damaged, and too large to be repaired in part`,
    {
      hint: 'Replace it with a good copy. Or move it away and run `callsheet state repair`, which rebuilds it from the journals and the platform.',
    },
  );
}

export function foreignState(location: string, what: string): CallsheetError {
  return new CallsheetError('state', `${location} is not a Callsheet state: ${what}`, {
    hint: 'Point the stack at its own state file (state.file, CALLSHEET_STATE). If this file replaced it, run `callsheet state repair`, which sets the file aside and rebuilds the state.',
  });
}

const REBUILD =
  'Nothing of it is used. Rebuild the state from the platform with: `callsheet state repair`';
const SEAL_ONCE =
  'If this stack has no such key yet, or its state was moved by hand, look at a full plan first: `CALLSHEET_FINGERPRINT_KEY= callsheet plan --refresh full`. Then seal the state once: `callsheet state adopt`';

/** A text that is whole, and whose seal does not say that somebody with the key wrote it here. */
export class BrokenSeal extends CallsheetError {}

/** A sealed text without the key: nothing may be made of it, and it may be sound. */
export class KeyMissing extends BrokenSeal {}

/** `what`: the state or the line of a journal. `how` goes on after it: `was changed`. */
export function brokenSeal(what: string, how: string): BrokenSeal {
  return new BrokenSeal('state', `${what} ${how}: its seal does not fit`, { hint: `${REBUILD}.` });
}

/** A text without a seal, where everything is sealed. */
export function unsealed(what: string): BrokenSeal {
  return new BrokenSeal('state', `${what} has no seal, and CALLSHEET_FINGERPRINT_KEY is set`, {
    hint: `${REBUILD}. ${SEAL_ONCE}.`,
  });
}

/** A text that was sealed with the same key somewhere else. */
export function otherPlace(what: string): BrokenSeal {
  return new BrokenSeal('state', `${what} was sealed in another place`, {
    hint: `${REBUILD}. ${SEAL_ONCE}.`,
  });
}

export function otherKey(what: string): BrokenSeal {
  return new BrokenSeal('state', `${what} is sealed with another CALLSHEET_FINGERPRINT_KEY`, {
    hint: `Set the key that it was sealed with. If the team has another key by now: with the old key, look at \`callsheet plan --refresh full\`; then, with the new one, run \`callsheet state adopt\`. Otherwise somebody replaced it: \`callsheet state repair\` rebuilds it from the platform.`,
  });
}

export function keyMissing(what: string): KeyMissing {
  return new KeyMissing('state', `${what} is sealed, and CALLSHEET_FINGERPRINT_KEY is not set`, {
    hint: 'Set the key of the team. If it is lost, set a new one and run `callsheet state repair`, which rebuilds the state from the platform.',
  });
}

/** A store that did not answer: nothing can be said of what it keeps. */
export abstract class Unanswered extends CallsheetError {}

/** A file that is sound, but of a format that this Callsheet cannot know: nothing may be made of it. */
export class NewerDocument extends CallsheetError {
  constructor(location: string, version: number, known: number) {
    super(
      'state',
      `${location} was written by a newer Callsheet: its format has version ${version}, this one knows ${known}`,
      { hint: 'Use the newer Callsheet. Callsheet does not convert a state to an older format.' },
    );
  }
}

/** Throws where a document says that it is of a later version than is known here. */
export function refuseNewer(location: string, version: unknown, known: number): void {
  if (typeof version === 'number' && version > known)
    throw new NewerDocument(location, version, known);
}

/** Who asks for a state. */
export type Claimant = {
  /** The name of the stack, wherever its state is. */
  readonly findName: () => Promise<string>;
  /** The owner of the stack at hand. */
  readonly owner: Owner;
};

/**
 * Throws `CallsheetError('refused')` where a state is another stack's, or another environment's: each would take the
 * resources of the other for its own.
 */
export async function checkOwner(
  { owner: known }: Pick<State, 'owner'>,
  { findName, owner }: Claimant,
  location: string,
): Promise<void> {
  if (known === undefined || isSameJson(known, owner)) return;
  const name = await findName();
  // A copy of a state elsewhere, brought into the folder of its stack, is still its own.
  if (known.stack === name && known.environment === owner.environment) return;
  const message = `the state ${location} is that of ${describeOwner(known)}; this is ${describeOwner({ ...owner, stack: name })}`;
  throw new CallsheetError('refused', message, {
    hint: 'Nothing was written. Give each stack and environment a state of its own (CALLSHEET_STATE, or state in callsheet.yaml). If this stack was renamed or moved, take the state over: `callsheet state adopt`',
  });
}

/** Reports that a migration moved the state to another place. */
export class MovedAway extends CallsheetError {
  readonly to: string;
  readonly lineage: string;

  constructor(location: string, to: string, lineage: string) {
    super('state', `the state ${location} was moved to ${to}`, {
      hint: 'Set that location in callsheet.yaml (state) or in CALLSHEET_STATE. To move it back here, run `callsheet state migrate` there, with --to and this location.',
    });
    this.to = to;
    this.lineage = lineage;
  }
}

/**
 * Reports that `state mv --to` died in the state that its resources leave: whether the other state has them already is
 * only known there, so that nothing else may be applied from this one.
 */
export function openMove({ run, moves }: RunBegan): CallsheetError {
  const { addresses = [], to } = moves ?? {};
  const what = firstLines(addresses, MOST_MOVED).join(', ');
  const command = `callsheet state mv ${addresses.map(quoted).join(' ')} --to ${quoted(to?.location ?? 'PLACE')}`;
  return new CallsheetError(
    'refused',
    `run ${run}, which moves ${what} to ${to?.location}, did not finish`,
    { hint: `Nothing was written. Finish it: \`${command}\`` },
  );
}

const MOST_MOVED = 5;

/** A whole state that a later run wrote over once. `run` began from `serial`. */
export function olderState(
  location: string,
  own: number,
  run: string,
  serial: number,
): CallsheetError {
  return new CallsheetError(
    'state',
    `the state ${location} is an older copy: it is at serial ${own}, and run ${run} began from serial ${serial}`,
    { hint: WAY_BACK },
  );
}

/** A whole state beside runs that are all of another stack. */
export function strayState(location: string, run: string): CallsheetError {
  return new CallsheetError(
    'state',
    `the state ${location} belongs to another stack: run ${run}, which wrote it, is not among the runs next to it`,
    {
      hint: 'Restore the right state, or rebuild it with: `callsheet state repair`. It uses nothing of the state of another stack.',
    },
  );
}

/** Reports that a folder beside the state is a link, which others may have brought. */
export function linkedFolder(folder: string): CallsheetError {
  return new CallsheetError('state', `${folder} is a symbolic link`, {
    hint: 'What is written there would land elsewhere. Delete the link; the folder is made again.',
  });
}

/** Reports that the state's path leads to something else than a file. */
export function notAFile(location: string, what: 'folder' | 'link' | 'other'): CallsheetError {
  const { is, hint } = NO_FILES[what];
  return new CallsheetError('state', `the state ${location} ${is}`, { hint });
}

const CHECK_PATH = 'A state is a file: check state.file in callsheet.yaml, and CALLSHEET_STATE.';
const NO_FILES = {
  folder: { is: 'is a folder', hint: CHECK_PATH },
  link: {
    is: 'is a symbolic link',
    hint: 'A commit would replace the link with a file, and the lock would not protect the file that the link points to. Set the path of that file (state.file, CALLSHEET_STATE), or link the folder.',
  },
  other: { is: 'is neither a file nor a folder', hint: CHECK_PATH },
} as const;

/** The error for a state that would be too large to be read again. */
export function tooLargeState(size: number): CallsheetError {
  return new CallsheetError(
    'state',
    `the state needs more than ${formatSize(size)}, and a state may have ${formatSize(MOST_STATE_BYTES)}`,
    {
      hint: 'The last state and the journal of the run are kept. Split the stack: a state of this size has some 85,000 agents.',
    },
  );
}

/** The store confirmed a write that it does not have. `how` goes on after "the store confirmed". */
export class NotKept extends CallsheetError {
  constructor(location: string, how: string) {
    super('state', `the state ${location} was not kept: the store confirmed ${how}`, {
      hint: `${CHECK_STORE} Then run the same command again.`,
    });
  }

  /** The same with another way on, in a sentence. */
  withTodo(todo: string): CallsheetError {
    return new CallsheetError(this.code, this.message, {
      hint: `${CHECK_STORE} ${todo}`,
      cause: this,
    });
  }
}

const CHECK_STORE =
  'Check that its address leads to the store itself, and not to a copy, a cache or another server.';

/** A state that breaks a rule of its own. `how` goes on after its name. */
export function unwritable(how: string): CallsheetError {
  return new CallsheetError(
    'state',
    `Callsheet refused to write a state that could not be read again: it ${how}`,
    {
      hint: 'This is a bug in Callsheet; please report it. The last state and the journal of the run are kept, and `callsheet state repair` rebuilds the state from them.',
    },
  );
}

export function damagedJournal(location: string, how: string): CallsheetError {
  return new CallsheetError('state', `the journal ${location} ${how}`, { hint: JOURNAL_WAY_BACK });
}

/** The journal of a run that cannot have started from this state. */
export function straySource(location: string, how: string): CallsheetError {
  return new CallsheetError('state', `the journal ${location} ${how}`, {
    hint: 'The state or the journal comes from another place. Restore the right state, or rebuild it with: `callsheet state repair`.',
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
    `${location} has a run that did not finish, ${run}: it must be recovered before another run begins`,
  );
}

export function otherLineage(location: string, found: string, given: string): CallsheetError {
  return new CallsheetError(
    'state',
    `the state ${location} belongs to another stack: its lineage is ${found}, not ${given}`,
    { hint: 'Nothing was written. Point the stack at its own state file.' },
  );
}

export function otherAccount(location: string, found: string, given: string): CallsheetError {
  return new CallsheetError(
    'state',
    `the state ${location} belongs to account ${found}, not to ${given}`,
    { hint: 'Nothing was written. Keep a state of its own for each account (CALLSHEET_STATE).' },
  );
}

export function movedState(location: string, found: number, expected: number): CallsheetError {
  return new CallsheetError(
    'stale',
    `the state ${location} moved during the run: it is at serial ${found}, not ${expected}`,
    { hint: 'The journal of the run records its changes. Plan again.' },
  );
}

export function lockedState(location: string, holder: Holder, lease: string): CallsheetError {
  return new CallsheetError(
    'locked',
    `the state ${location} is locked by ${describeHolder(holder)}`,
    {
      hint: `Wait until that run ends. If its process is dead, the lock is released: at once on the same machine, within 30 seconds elsewhere. To release it by hand: \`callsheet state unlock ${lease}\``,
    },
  );
}

/** A state that seems free, and that the store gives to somebody else each time. */
export function neverFree(location: string, tries: number): CallsheetError {
  return new CallsheetError(
    'locked',
    `the state ${location} could not be locked in ${tries} tries: each time it seemed free, and the store then took another writer`,
    {
      hint: 'Nothing was sent to the platform. If other runs are active, try again later. If none is, the store does not do what it answers: check its address.',
    },
  );
}

/** `held`: who has the state instead; undefined when it is free. */
export function noSuchLease(location: string, lease: string, held: HeldLock | undefined) {
  return new CallsheetError(
    'usage',
    held === undefined
      ? `the state ${location} is not locked`
      : `lease ${lease} does not hold the state ${location}: ${describeHolder(held.holder)} does, under lease ${held.lease}`,
    { hint: 'Nothing was unlocked. `callsheet state unlock` shows who holds the state.' },
  );
}

/** Why a lease is no longer held. */
export type LossOfLease =
  | { readonly why: 'released' }
  | { readonly why: 'removed' }
  | { readonly why: 'silent'; readonly milliseconds: number }
  | { readonly why: 'taken'; readonly by: Holder | undefined };

export function lostLease(location: string, loss: LossOfLease): CallsheetError {
  return new CallsheetError(
    'locked',
    `this run no longer holds the lock on the state ${location}: ${describeLoss(loss)}`,
    { hint: 'Nothing more is written. Wait until no other run is active, then plan again.' },
  );
}

function describeLoss(loss: LossOfLease): string {
  switch (loss.why) {
    case 'released':
      return 'it gave it back';
    case 'removed':
      return 'the lock was removed';
    case 'silent':
      return `its last confirmed heartbeat was ${formatDuration(loss.milliseconds / 1_000)} ago, so another run may take the lock over`;
    case 'taken':
      return `${loss.by === undefined ? 'another run' : describeHolder(loss.by)} took the lock over`;
  }
}

/** The server keeps a lock that was given back: the state stays locked until the lock is removed there. */
export class StillLocked extends CallsheetError {
  constructor(location: string, why: string, todo: string) {
    super('state', `cannot unlock the state ${location}: ${why}`, { hint: todo });
  }
}

/** `apply (run 2026…) of sam@desk, process 41, since 2026-…`; what is no run has no id. */
function describeHolder({ command, run, user, host, pid, since }: Holder): string {
  const what = run === '' ? command : `${command} (run ${run})`;
  const who = user === null ? host : `${user}@${host}`;
  return `${what} of ${who}, process ${pid}, since ${since}`;
}
