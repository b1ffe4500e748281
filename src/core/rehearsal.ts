import type { Address } from './address.ts';
import type { Json } from './value.ts';

/**
 * What came of trying a plan on a copy of the fleet. It is a member of the plan document and says what was
 * seen, for people: apply acts on none of it, and the digest of the plan does not cover it.
 */
export type Rehearsal = {
  /** Of the plan that was rehearsed. */
  readonly digest: string;
  readonly at: string;
  readonly verdict: RehearsalVerdict;
  /** What the copy was made from. */
  readonly source: RehearsalSource;
  /** Resources in the copy, by kind. */
  readonly copied: { readonly [kind: string]: number };
  readonly steps: readonly RehearsalStep[];
  /** Leaves that the rollback did not bring back, the first of them. */
  readonly differences: readonly RehearsalDifference[];
  /** How many there are in all. */
  readonly differing: number;
  /** What was made to go wrong on top of the failure half way, one fault an item. */
  readonly faults: readonly string[];
  /** What the platform does not tell, and what stands in its place in the copy. */
  readonly filled: readonly string[];
  /** Ids of the assumptions that the requests to the copy rest on. */
  readonly assumptions: readonly string[];
};

/**
 * | verdict   | means                                                                      |
 * |-----------|----------------------------------------------------------------------------|
 * | `passed`  | everything held                                                            |
 * | `partial` | the plan can be carried out, and a rollback does not bring everything back |
 * | `failed`  | carrying it out failed, or did not come to an end                          |
 * | `refused` | a guard or a lock stands against it                                        |
 * | `empty`   | there is nothing to carry out                                              |
 */
export type RehearsalVerdict = 'passed' | 'partial' | 'failed' | 'refused' | 'empty';

export type RehearsalSource =
  | { readonly type: 'platform' }
  | { readonly type: 'snapshot'; readonly file: string; readonly made_at: string };

export type RehearsalStep = {
  readonly step: 'copy' | 'apply' | 'again' | 'failure' | 'resume' | 'rollback' | 'return';
  readonly outcome: 'held' | 'partial' | 'failed' | 'refused';
  /** One sentence, without a stop. */
  readonly message: string;
  /** What did not hold, one thing an item. */
  readonly details: readonly string[];
};

/** A leaf of the copy that is not what it was before the plan was applied and rolled back. */
export type RehearsalDifference = {
  /** Null for what is not in the stack. */
  readonly address: Address | null;
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  /** Null where the whole resource is there on one side only. */
  readonly path: string | null;
  /** Masked where it is secret. */
  readonly before: Json;
  readonly after: Json;
  readonly secret: boolean;
};
