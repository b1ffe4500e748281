import { randomUUID } from 'node:crypto';
import { noSuchLease } from '../failures.ts';
import {
  formatBeat,
  heldBy,
  identify,
  isFree,
  isReleased,
  type LockEffects,
  type LockRecord,
  RELEASED_BEAT,
  type Timing,
} from '../lock.ts';
import type { State } from '../model.ts';
import type { Claim, Expected, HeldLock, Holder, Overlap } from '../store.ts';

/**
 * State where other machines reach it. What every such store has in common stands in `store.ts`: whose turn it is,
 * what a run may write, what a journal means. A store itself is small: it keeps texts, and does each change in one
 * step that only the holder can take.
 *
 *     StateStore ◄── store.ts ──► Remote ◄── document.ts ──► DocumentPlace ◄── http, s3
 *                                        ◄── postgres
 */
export type Remote = {
  /** Names the store in messages: without credentials. */
  readonly location: string;
  readonly timing: Timing;
  /** Who holds the state, or held it last; undefined where nobody ever did. */
  readonly lockRecord: () => Promise<LockRecord | undefined>;
  /** State and open journals as they are at one moment. */
  readonly read: () => Promise<Kept>;
  /** Puts a lock record in the place of the one that was seen. False: somebody else was faster. */
  readonly acquire: (seen: LockRecord | undefined, own: LockRecord) => Promise<boolean>;
  /** Writes the heartbeat of a lease. False: it does not hold the state any more. */
  readonly beat: (lease: string, beat: string) => Promise<boolean>;
  /** Does a change as a whole, and durably, or not at all. False: the lease does not hold the state any more. */
  readonly write: (lease: string, change: Change) => Promise<boolean>;
  /**
   * What other stacks in the same place manage. Only where one place keeps many stacks can that be known:
   * others have neither of these two.
   */
  readonly overlaps?: (account: string, claims: readonly Claim[]) => Promise<readonly Overlap[]>;
  /**
   * Claims resources for what the lease is going to do, until its next change of the state or its end; nothing where
   * that overlaps. `lost`: the lease does not hold the state any more.
   */
  readonly claim?: (
    lease: string,
    account: string,
    claims: readonly Claim[],
  ) => Promise<readonly Overlap[] | 'lost'>;
  /** Throws `CallsheetError('refused')` where there is no room for a run. Only where a place is bounded. */
  readonly reserve?: (expected: Expected) => Promise<void>;
  /** The runs whose journals were filed, in no order. */
  readonly runs: () => Promise<readonly string[]>;
  /** The journal of a run, filed or open, in pieces. */
  readonly journal: (run: string) => Promise<readonly string[] | undefined>;
  readonly close: () => Promise<void>;
};

export type Kept = {
  /** The text of the state, in pieces. */
  readonly state: readonly string[] | undefined;
  readonly open: readonly OpenJournal[];
};

/** A piece of the journal of a run. */
export type OpenText = {
  readonly run: string;
  readonly text: string;
  /** Whether a bounded store must have room left for what recovers the run and commits it. */
  readonly leavesRoom?: boolean;
};

/** The journal of a run in the pieces in which it is kept: all of it may be more than fits into one string. */
export type OpenJournal = { readonly run: string; readonly pieces: readonly string[] };

/** What is set aside, under a name of its own. */
export type Aside = { readonly name: string; readonly pieces: readonly string[] };

export type Change = {
  /** Goes behind what the journal of that run has. */
  readonly append?: OpenText;
  readonly state?: State;
  /** Open journals that are filed among those of finished runs; after `append`. */
  readonly file?: readonly string[];
  /** Open journals that are forgotten. */
  readonly drop?: readonly string[];
  /** What is set aside, under names of its own. */
  readonly aside?: readonly Aside[];
};

/**
 * Acquires the lease. Throws `CallsheetError('locked')`, naming the holder, when another has it. The id of a
 * lease is its fencing token: the store takes nothing under another one than that of its lock record.
 */
export async function acquireLease(
  remote: Remote,
  holder: Holder,
  effects: LockEffects,
): Promise<string> {
  const { location, timing, lockRecord } = remote;
  for (;;) {
    const seen = await lockRecord();
    if (seen !== undefined && !(await isFree(seen, lockRecord, location, timing, effects)))
      continue;
    const own: LockRecord = {
      beat: formatBeat(effects.now()).trim(),
      id: randomUUID(),
      owner: identify(holder.pid, effects.machine),
      holder,
    };
    if (await remote.acquire(seen, own)) return own.id;
  }
}

/** Who holds the state; undefined when nobody does. */
export async function seeLease(
  { lockRecord, timing }: Remote,
  { machine }: Pick<LockEffects, 'machine'>,
): Promise<HeldLock | undefined> {
  return heldBy(await lockRecord(), timing, machine);
}

/** Takes the lease of that id from its holder, as `StateStore.unlock` says. */
export async function breakLease(
  remote: Remote,
  lease: string,
  by: Holder,
  effects: LockEffects,
): Promise<void> {
  const seen = await remote.lockRecord();
  const refuse = async () => noSuchLease(remote.location, lease, await seeLease(remote, effects));
  if (seen === undefined || isReleased(seen) || seen.id !== lease) throw await refuse();
  const owner = identify(by.pid, effects.machine);
  const own = { beat: formatBeat(effects.now()).trim(), id: randomUUID(), owner, holder: by };
  if (!(await remote.acquire(seen, own))) throw await refuse();
  await remote.beat(own.id, RELEASED_BEAT.trim());
}
