import type { Note, PlanDocument, Refusal } from './plan-document.ts';

/** What the team's own rules say of a plan at a moment. */
export type PlanJudgement = {
  readonly refusals: readonly Refusal[];
  readonly notes: readonly Note[];
};

/** The team's own rules over plans, compiled. */
export type PlanRules = (plan: Omit<PlanDocument, 'digest'>, now: Date) => PlanJudgement;
