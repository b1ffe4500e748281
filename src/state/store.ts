import type { JournalEntry } from './journal.ts';
import type { State } from './model.ts';

/**
 * Where state lives. A run takes the lease, begins, appends its journal entries one by one, and commits
 * the new state. Whatever was appended before a process died is there for the next one.
 */
export type StateStore = {
  /** Names the store in messages: a path or an address without credentials. */
  readonly location: string;
  /**
   * The state as last committed, and the journal of a run that began and did not commit.
   * Undefined state: there is none yet. Throws `CallsheetError('state')` for a damaged or foreign one.
   */
  readonly load: () => Promise<LoadedState>;
  /** Throws `CallsheetError('locked')`, naming the holder, when another live run has it. */
  readonly acquire: (holder: Holder) => Promise<Lease>;
  /** Finished runs, newest first. */
  readonly runs: () => Promise<readonly RunSummary[]>;
  /** The whole journal of a run; undefined when there is none of that id. */
  readonly run: (id: string) => Promise<readonly JournalEntry[] | undefined>;
  readonly close: () => Promise<void>;
};

export type LoadedState = {
  readonly state: State | undefined;
  readonly pending: readonly JournalEntry[];
};

export type Holder = {
  readonly run: string;
  readonly command: string;
  readonly user: string | null;
  readonly host: string;
  readonly pid: number;
  readonly since: string;
};

/** The right to write. */
export type Lease = {
  readonly id: string;
  readonly holder: Holder;
  /** Durable when it resolves. Throws when the lease was lost. */
  readonly append: (entry: JournalEntry) => Promise<void>;
  /** Replaces the state in one step and files the run's journal under the run's id. */
  readonly commit: (state: State) => Promise<void>;
  readonly release: () => Promise<void>;
};

export type RunSummary = {
  readonly run: string;
  readonly at: string;
  readonly purpose: string;
  readonly status: string;
  readonly changes: number;
};
