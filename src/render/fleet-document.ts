import type { Failure } from './failure.ts';

/** How a command came out in one stack of many. */
export type StackStatus =
  | 'unchanged'
  | 'changes'
  | 'done'
  | 'failed'
  | 'partial'
  | 'refused'
  | 'stale'
  | 'locked'
  | 'interrupted';

/** What came of one stack. */
export type FleetStack = {
  /** Its folder below the one that was searched; `.` for that folder itself. */
  readonly path: string;
  readonly status: StackStatus;
  /** What the command would have exited with, run in that stack alone. */
  readonly exit: number;
  /**
   * By what the command counts: of `plan` actions and verdicts, of `apply` how changes ended, of `drift` what drifted,
   * of `validate` errors and warnings. Empty where it did not come to that.
   */
  readonly counts: { readonly [name: string]: number };
  readonly plan_digest: string | null;
  /** The file of its plan beside this document, with `plan --out`. */
  readonly plan_file: string | null;
  /** The run that `apply` recorded. */
  readonly run: string | null;
  /** What stands in the way, in one line: the first of it, with its place; null where nothing does. */
  readonly reason: string | null;
  /** Why it ended; null where it came to its end. */
  readonly error: Failure | null;
};

/** What came of a command in every stack of a tree: `schemas/fleet.schema.json`. */
export type FleetDocument = {
  readonly format: 'callsheet-fleet';
  readonly version: 1;
  readonly command: 'validate' | 'plan' | 'apply' | 'drift';
  /** Stacks in the tree, those of other shards among them. */
  readonly found: number;
  readonly shard: { readonly index: number; readonly count: number } | null;
  /** The exit code of the whole. */
  readonly exit: number;
  /** Over the paths and plan digests of all stacks; null where one of them has no plan. */
  readonly digest: string | null;
  /** How many stacks came out which way. */
  readonly totals: { readonly [status in StackStatus]?: number };
  /** By path. */
  readonly stacks: readonly FleetStack[];
};
