/**
 * `stores/` keeps state where other machines reach it, too. What every such store has in common stands in
 * `remote-store.ts` and `remote-lease.ts`: whose turn it is, what a run may write, what a journal means. A
 * store itself is small: it keeps texts, and does each change in one step that only the holder can take.
 *
 *     StateStore ◄── remote-store ──► Remote ◄── document-remote ──► DocumentPlace ◄── http, s3
 *                                            ◄── postgres
 */
import type { Claim, Overlap } from '../state/claim.ts';
import type { LockEffects } from '../state/lock.ts';
import type { State } from '../state/model.ts';
import type { Expected } from '../state/store.ts';
import type { Ticket } from '../state/ticket.ts';

export type Remote = {
  /** Names the store in messages: without credentials. */
  readonly location: string;
  readonly timing: Timing;
  /** Who holds the state, or held it last; undefined where nobody ever did. */
  readonly ticket: () => Promise<Ticket | undefined>;
  /** State and open journals as they are at one moment. */
  readonly read: () => Promise<Kept>;
  /** Puts a ticket in the place of the one that was seen. False: somebody else was faster. */
  readonly take: (seen: Ticket | undefined, ticket: Ticket) => Promise<boolean>;
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
 * When a silent holder is dead: one whose last heartbeat is `silent` ms old is watched for `watch` ms, in which
 * a live one has several heartbeats. Both together are at most 30 s.
 */
export type Timing = {
  readonly beat: number;
  readonly silent: number;
  readonly watch: number;
};

/** What a store asks of the world beside its network; tests replace it. */
export type RemoteEffects = LockEffects;
