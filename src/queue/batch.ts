import type { Json } from '../core/value.ts';

/** What a worker is to do with each stack of a batch. */
export type QueuedCommand = 'plan' | 'apply' | 'drift';

/** What somebody asked for: one command for many stacks, from one commit. */
export type NewBatch = {
  readonly command: QueuedCommand;
  /** Undefined outside of a repository. */
  readonly commit: string | undefined;
  /** Flags of the command. Never a secret, and never the value of a variable. */
  readonly flags: { readonly [name: string]: Json };
  readonly tasks: readonly NewTask[];
};

export type NewTask = {
  /** Folder of the stack, seen from the root of the tree, with forward slashes. */
  readonly stack: string;
  /** Digest of its configuration, as whoever enqueued it has it. */
  readonly digest: string;
  /** The plan that was approved, for `apply` of plan files. Secrets are masked in it. */
  readonly plan?: string;
};

/** A task in the hands of a worker. */
export type Task = NewTask & {
  readonly batch: string;
  readonly number: number;
  readonly command: QueuedCommand;
  readonly flags: NewBatch['flags'];
  /** How often it was handed out, this time included. */
  readonly attempts: number;
  /** Workers that died while they worked at it and at nothing else. */
  readonly deaths: number;
  /** A worker fell silent that had it: it is worked at alone, so that no other stack dies with it. */
  readonly isSuspect: boolean;
  /** Why it was put off last, and how often in a row for that. */
  readonly note: string | null;
  readonly delays: number;
};

/** A task as a report shows it. */
export type TaskStatus = Pick<Task, 'number' | 'stack' | 'attempts' | 'deaths'> & {
  readonly status: 'waiting' | 'running' | 'done';
  /** Who works at it, or did last. */
  readonly worker: string | null;
  /** Why it waits, where it was put off. */
  readonly note: string | null;
  /** How it ended, as the command would have. Undefined while it is not done. */
  readonly exit: number | undefined;
  /** What came of it; undefined while it is not done. */
  readonly result: Json | undefined;
};

export type BatchStatus = {
  readonly id: string;
  readonly command: QueuedCommand;
  readonly commit: string | null;
  readonly made: Date;
  readonly tasks: readonly TaskStatus[];
};
