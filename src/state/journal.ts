import type { Address } from '../core/address.ts';
import type { PlannedOperation, SnapshotMark, Verdict } from '../core/plan-document.ts';
import type { RolloutRecords } from '../core/rollout.ts';
import type { Json, JsonObject } from '../core/value.ts';
import type { AppliedLeaf, Holds, RememberedPin, ResourceState } from './model.ts';

/**
 * A run's journal, one entry a line. It is durable before a request leaves and after its answer came
 * back, it is what the next command settles a dead run from, and it is the run's receipt afterwards.
 */
export type JournalEntry =
  | RunBegan
  | SnapshotTaken
  | IntentRecorded
  | OutcomeRecorded
  | ResourceRecorded
  | RunEnded;

/** What a run is for. Edits of the state ask nothing of the platform; they have no plan and no digests. */
export type RunPurpose = 'apply' | 'heal' | 'rollback' | 'restore' | 'drift' | StateEdit;

export type StateEdit =
  | 'state mv'
  | 'state rm'
  | 'state trust'
  | 'state push'
  | 'state repair'
  | 'import';

export type RunBegan = {
  readonly type: 'began';
  readonly run: string;
  readonly at: string;
  readonly purpose: RunPurpose;
  /** The run that this one undoes. */
  readonly undoes?: string;
  /** The snapshot that a rollback goes back to, or that is restored. */
  readonly snapshot?: SnapshotMark;
  readonly actor: Actor;
  readonly plan_digest: string;
  readonly config_digest: string;
  readonly account_id: string;
  readonly base_url: string;
  /** The state that the run starts from. */
  readonly lineage: string;
  readonly serial: number;
  /** All holds from this run on, where it puts or releases one. */
  readonly holds?: Holds;
  /** All rollouts from this run on, where it is a step of one. */
  readonly rollouts?: RolloutRecords;
  /** What is to be done should it fail or die; absent: nothing. */
  readonly on_failure?: 'rollback';
  /** Guards that it was told to override; absent where there is none. */
  readonly overrides?: readonly Override[];
};

/** A guard that stood against a run, and was overridden. */
export type Override = {
  readonly guard: 'freeze' | 'hold' | 'limit';
  /** What the guard said. */
  readonly message: string;
  /** Why it was overridden, where a reason is asked for. */
  readonly reason: string | null;
};

/** Who ran it and from what. Null where unknown. */
export type Actor = {
  readonly user: string | null;
  readonly host: string | null;
  readonly pid: number;
  readonly commit: string | null;
  /** The pipeline's own address of the job, where it runs in one. */
  readonly pipeline: string | null;
};

/** What a resource was right before the run touched it: what a rollback goes back to. */
export type SnapshotTaken = {
  readonly type: 'snapshot';
  readonly address: Address;
  readonly kind: string;
  /** Null where it did not exist. */
  readonly id: string | null;
  /** The live document without secrets and sensitive values; null where there was none. */
  readonly document: JsonObject | null;
  readonly pin: RememberedPin | null;
  /** What the state said of it. */
  readonly resource: ResourceState | null;
  /** Sensitive leaves that `document` leaves out. */
  readonly withheld: readonly string[];
  /** Those of them that are kept encrypted, by path; absent where no key is given. See `seal.ts`. */
  readonly sealed?: { readonly [path: string]: string };
  /**
   * What the state is to say of it once the change took, so that a run that died can be settled by reading.
   * Null: nothing. Journals of older versions have none.
   */
  readonly intended?: Intended | null;
};

/** A resource as a change is to leave it. It holds no secret, only fingerprints. */
export type Intended = Pick<ResourceState, 'scope' | 'name' | 'leaves' | 'protect'> & {
  /** Its natural key, by which one that was made is found. Null: it has none. */
  readonly key: string | null;
  /** Leaves that the change writes and that the platform never returns. */
  readonly unreadable: readonly string[];
};

/** A request that is about to leave. */
export type IntentRecorded = {
  readonly type: 'intent';
  /** Unique in the run, counting from 1. */
  readonly seq: number;
  readonly at: string;
  readonly address: Address;
  readonly step: PlannedOperation['step'];
  readonly operation: string;
  readonly id: string | null;
  /** Paths that the step is meant to change. */
  readonly fields: readonly string[];
};

/** What came of an intent. */
export type OutcomeRecorded = {
  readonly type: 'outcome';
  readonly seq: number;
  readonly at: string;
  readonly ok: boolean;
  /** The id that a create returned. */
  readonly id: string | null;
  /** Message of the failure. */
  readonly error: string | null;
};

/** A resource as the state remembers it from now on; null: no longer. */
export type ResourceRecorded = {
  readonly type: 'resource';
  readonly address: Address;
  readonly resource: ResourceState | null;
};

export type OperationStatus = 'done' | 'failed' | 'blocked' | 'not_attempted';

export type RunEnded = {
  readonly type: 'ended';
  readonly at: string;
  readonly status: 'done' | 'partial' | 'interrupted' | 'settled';
  readonly verified: boolean;
  readonly ledger: readonly LedgerLine[];
  /** Where the platform is not as the rollback wanted it; absent where it is, and for other runs. */
  readonly differs?: readonly Difference[];
  /** What the rollback did not put back; absent where it put everything back, and for other runs. */
  readonly left?: readonly NotUndone[];
};

/** What a rollback could not put back, or was told to leave out. It names values, and holds none. */
export type NotUndone = {
  readonly address: Address;
  /** Null: the resource as a whole. */
  readonly path: string | null;
  /** Why, for people; what follows the path in a sentence. */
  readonly why: string;
  /** What to do about it. */
  readonly advice: string;
};

/** Where the platform is not as it is wanted after a rollback. Secrets and sensitive values are masked. */
export type Difference = {
  readonly address: Address;
  /** Null: the resource itself is there and should not be, or the other way round. */
  readonly path: string | null;
  readonly wanted: Json;
  readonly found: Json;
};

/** What became of one change. */
export type LedgerLine = {
  readonly address: Address;
  readonly action: string;
  readonly status: OperationStatus;
  /** Why the plan left it out, for what was never to be attempted. */
  readonly verdict?: Exclude<Verdict, 'ok'>;
  readonly id: string | null;
  readonly message: string | null;
  readonly fields: readonly string[];
  /** Newest history entry before and after, for kinds that have a history. */
  readonly history: { readonly before: number | null; readonly after: number | null } | null;
  /** The id that it had before, where a rollback made it anew; absent where it keeps its id. */
  readonly former_id?: string;
  /** Writes of others that came in between, as the history tells; absent where there were none. */
  readonly interleaved?: readonly Interleaved[];
  readonly leaves?: { readonly [path: string]: AppliedLeaf };
};

/** A history entry that somebody else made while a change was carried out. Null where unknown. */
export type Interleaved = {
  readonly entry: number;
  readonly action: string | null;
  readonly actor: string | null;
  readonly source: string | null;
  readonly at: string | null;
  /**
   * `before`: between the check and our write. `after`: on top of our write. `unknown`: below our write and
   * without a time, where the change mends an edit that it may be the entry of.
   */
  readonly order: 'before' | 'after' | 'unknown';
};

/**
 * Whether entries that a run made may stand in a resource's history only after the run read it: it died and was
 * settled, or it wrote the resource by several requests, of which it waits for one entry.
 */
export function hasLateEntries(entries: readonly JournalEntry[], address: Address): boolean {
  const isSettled = entries.some((entry) => entry.type === 'ended' && entry.status === 'settled');
  const requests = entries.filter((entry) => entry.type === 'intent' && entry.address === address);
  return isSettled || requests.length > 1;
}

const RUN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Whether a text can be a run's id: it becomes part of a file's name. */
export function isRunId(text: string): boolean {
  return RUN.test(text) && !text.endsWith('.open');
}
