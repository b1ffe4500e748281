import type { PlanDocument } from '../core/plan-document.ts';
import type { LedgerLine } from '../state/journal.ts';

/** The commands, run on one copy. None of them throws for what a user would see as a failure. */
export type Hands = {
  /**
   * Plans with what the rehearsed plan was allowed. Secrets that were to be sent again are sent once: a second plan
   * would never be empty.
   */
  readonly plan: (which: 'first' | 'second') => Promise<PlanDocument>;
  /** Applies a plan that was made on the copy or, without one, whatever is left to do. */
  readonly apply: (plan?: PlanDocument) => Promise<Outcome>;
  readonly rollback: (run: string, force: boolean) => Promise<Outcome>;
  readonly close: () => Promise<void>;
};

/** How a command ended. */
export type Outcome = {
  readonly status: 'done' | 'partial' | 'refused' | 'failed';
  readonly run: string | null;
  readonly ledger: readonly LedgerLine[];
  /** Why it went no further, for people. */
  readonly message: string | null;
  /** Why it was refused before it was forced. */
  readonly forced?: string | null;
};
