import type { Address } from '../core/address.ts';
import type { Runs, StateCommands } from '../core/documents.generated.ts';
import { CallsheetError, firstLines } from '../core/errors.ts';
import type { JournalEntry, RunBegan } from './journal.ts';
import type { State, Trust } from './model.ts';

/**
 * Keeps the state. A run takes the lease, begins, appends its journal entries one by one, and commits the new state.
 * The entries that were appended before a process died are there for the next one.
 */
export type StateStore = {
  /** Names the store in messages: a path or an address without credentials. */
  readonly location: string;
  /**
   * The state as last committed, and the journal of a run that began and did not commit.
   * Undefined state: there is none yet. Throws `CallsheetError('state')` for a damaged or foreign one, `BrokenSeal` for
   * one that is not sealed as it must be.
   */
  readonly load: () => Promise<LoadedState>;
  /** How what was loaded so far was sealed; undefined where nothing was, or there was nothing. */
  readonly trust: () => Promise<Trust | undefined>;
  /**
   * Reads what can still be read if `load` refuses. Throws `CallsheetError('state')` if nothing may be made of what
   * is there: a newer Callsheet wrote it, or it is no file at all.
   */
  readonly salvage: () => Promise<Salvage>;
  /**
   * Which of some resources another stack manages that keeps its state in the same place. A store that keeps one
   * stack cannot know, and says none.
   */
  readonly overlaps: (account: string, claims: readonly Claim[]) => Promise<readonly Overlap[]>;
  /** Throws `CallsheetError('locked')`, naming the holder, when another live run has it. */
  readonly acquire: (holder: Holder) => Promise<Lease>;
  /** Returns the state's holder, alive or not; undefined when it is free. */
  readonly lock: () => Promise<HeldLock | undefined>;
  /**
   * Takes the lease of that id from its holder, who then stops before the next write. `by` is named
   * to the holder. The lock is free once the holder sends nothing more, however it is cut off. Throws
   * `CallsheetError('usage')` when another lease holds the state, or none.
   */
  readonly unlock: (lease: string, by: Holder) => Promise<void>;
  /** Bytes that went to the store and came from it so far; undefined where nothing is sent anywhere. */
  readonly traffic: () => Traffic | undefined;
  /**
   * Bytes that a run is going to send, after a `load`; undefined where that does not depend on the size of the state.
   */
  readonly estimate: (expected: Expected) => Promise<Estimate | undefined>;
  /** Finished runs that a bounded store keeps, after which it drops the oldest; undefined where it keeps all of them. */
  readonly mostRuns: () => Promise<number | undefined>;
  /** The ids of finished runs, in no order: nothing of them is read. */
  readonly runIds: () => Promise<readonly string[]>;
  /** Finished runs, newest first. They are listed beside a damaged state, too. */
  readonly runs: () => Promise<readonly RunSummary[]>;
  /** The whole journal of a run; undefined when there is none of that id. */
  readonly run: (id: string) => Promise<readonly JournalEntry[] | undefined>;
  readonly close: () => Promise<void>;
};

type LoadedState = {
  readonly state: State | undefined;
  readonly pending: readonly JournalEntry[];
};

export type Holder = HeldLock['holder'];

export type HeldLock = NonNullable<StateCommands.Lock['held']> & {
  /** Milliseconds in which a live holder shows a heartbeat. */
  readonly watch: number;
};

/** Bytes of the requests to a store and of its answers. */
export type Traffic = { readonly sent: number; readonly read: number };

/** Bytes that a run is expected to send to its store, and the most that one may: `reserve` refuses more. */
export type Estimate = { readonly bytes: number; readonly most: number };

/** The most that a run is going to leave. */
export type Expected = {
  /** Resources that the state then has. */
  readonly resources: number;
  /** Changes that write to the platform. */
  readonly changes: number;
};

/** The right to write. */
export type Lease = {
  readonly id: string;
  readonly holder: Holder;
  /** Changes to have under way at once, so that their entries share a write; undefined: as few as there are requests. */
  readonly gathers?: number | undefined;
  /**
   * Keeps other stacks from what a run is going to write, until it has committed or ended. Where some of it is
   * another stack's, nothing is claimed and those are returned. A store that keeps one stack knows of none.
   */
  readonly claim: (account: string, claims: readonly Claim[]) => Promise<readonly Overlap[]>;
  /**
   * Throws `CallsheetError('refused')` where the store has no room for what a run is going to write down. A store
   * without a bound has room for all of it.
   */
  readonly reserve: (expected: Expected) => Promise<void>;
  /**
   * Asked right before each request to the platform that writes to that address leaves. Throws
   * `CallsheetError('locked')` where the lock is lost, and where its last confirmed heartbeat is so old that it may be.
   * The store is asked only where a heartbeat is overdue.
   */
  readonly confirm: (address: Address) => Promise<void>;
  /**
   * The addresses of requests that left after the last confirmed heartbeat began, where the lock is lost or the next
   * heartbeat is overdue: another run may have written to them.
   */
  readonly unconfirmed: () => readonly Address[];
  /** Durable when it resolves. Throws when the lease was lost. */
  readonly append: (entry: JournalEntry) => Promise<void>;
  /**
   * Is written with the next entry that is appended, and before it. For what recovery can do without: a store far away
   * is asked once less. Where it cannot be written, neither can what is appended after it.
   */
  readonly note: (entry: JournalEntry) => void;
  /** Replaces the state in one step and files the run's journal under the run's id. */
  readonly commit: (state: State) => Promise<void>;
  /**
   * Puts a state in the place of whatever is there, damaged or foreign as it may be, and records the run
   * whose whole journal is given. Resolves to the names under which what was there is kept.
   */
  readonly replace: (
    state: State,
    journal: readonly [RunBegan, ...JournalEntry[]],
  ) => Promise<readonly string[]>;
  /** Takes over what another store had, into one that has no state. Receipts that are there already stay. */
  readonly receive: (state: State, receipts: readonly KeptRun[]) => Promise<void>;
  /** Writes a receipt again, sealed where there is a key. */
  readonly refile: (receipt: KeptRun) => Promise<void>;
  /** Removes receipts of finished runs. Cut short, some are left; those that are not there are no error. */
  readonly forget: (runs: readonly string[]) => Promise<void>;
  readonly release: () => Promise<void>;
};

/** A finished run with its whole journal. */
export type KeptRun = { readonly run: string; readonly entries: readonly JournalEntry[] };

export type RunSummary = Runs.Runs['runs'][number];

/** The rest of a state and its journals. */
export type Salvage = {
  /** Why `load` refuses; undefined: it does not. */
  readonly problem: CallsheetError | undefined;
  /**
   * How much of the state itself could be read. `foreign`: it is another stack's, so none of it was taken;
   * `nothing`: there is none, or none of it can be read.
   */
  readonly read: 'whole' | 'part' | 'foreign' | 'nothing';
  /** All of that, and what the journals recorded on top. Its serial is the highest that is known. */
  readonly state: State | undefined;
  /** The journals that it took something from or that stand in the way. */
  readonly journals: readonly SalvagedJournal[];
};

export type SalvagedJournal = StateCommands.Repair['journals'][number];

/** A live resource that a run is going to write, or to remember as its stack's own. */
export type Claim = { readonly address: Address; readonly kind: string; readonly id: string };

/** A claim on what another stack manages. */
export type Overlap = Claim & {
  /** The store's name of the other stack, and that stack's address of the resource. */
  readonly other: { readonly stack: string; readonly address: Address };
  /** True if a run of the other stack made it or took it over, and did not commit yet. */
  readonly isRunning: boolean;
};

const MOST_SHOWN = 5;

/** Reports that two stacks manage the same resources. */
export function overlapping(location: string, overlaps: readonly Overlap[]): CallsheetError {
  const lines = firstLines(overlaps.map(formatOverlap), MOST_SHOWN);
  const [first] = overlaps;
  const there = first?.other.stack ?? '';
  const at = first?.other.address ?? '';
  const shown = lines.map((line) => `  ${line}`).join('\n');
  return new CallsheetError(
    'refused',
    `another stack manages resources that this run of ${location} would write or adopt:\n${shown}`,
    {
      hint: `Nothing was written. Only one stack can manage a resource. To leave it to the other stack, remove it from this configuration, and list it under forget if the state has it. To manage it here, remove it from the configuration of the stack ${there} and run \`callsheet state rm ${at}\` there, or list it under forget there and apply. Neither deletes anything on the platform.`,
    },
  );
}

/** One overlap in a line. */
export function formatOverlap({ address, kind, id, other, isRunning }: Overlap): string {
  const how = isRunning ? 'a run that did not finish' : 'its state';
  return `${address} is ${other.address} of stack ${other.stack} (${kind} ${id}, in ${how})`;
}
