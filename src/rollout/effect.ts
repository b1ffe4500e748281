/**
 * The effect of a change, as an interval, computed from counts alone.
 *
 * **The effect.** The unit is the agent: D is its movement from the weeks before to the time since the step, of shares in
 * log odds, of durations in log ratios. The effect is the mean of D over agents with the change less the mean over the
 * others in the same span (difference in differences), so that all that hits both alike cancels. It is shown in points of
 * the share, or percent of the duration, that the agents would have had. An agent weighs by its calls alone and never by
 * its outcome, 1/(16 + 2100/n): agents wander by about 4 points by themselves, and one call has a variance of 0.21.
 *
 * **Its variance** is the scatter of D among the others as it is, so that it contains whatever makes agents wander. An odd
 * one among them is drawn in to 3 robust deviations (Huber 1964; Hampel 1974) and named.
 *
 * **Looking every hour.** The interval is a confidence sequence, the normal mixture of Robbins (1970; Howard, Ramdas,
 * McAuliffe and Sekhon 2021, Annals of Statistics 49), with Student's t because the variance is estimated from the J
 * others (Lai 1976, Annals of Statistics 4; Wang and Ramdas 2025, Sequential Analysis). Effects are mixed with a variance
 * of twice the margin's square. Each end is one-sided: by symmetry, the mixture passes 1/(2α) on one side with probability
 * α at most. Cohorts are one estimate, so that a step which adds agents does not inflate the error.
 *
 * **It stands on this**: without the change both groups would have moved alike on average; but for that, agents are
 * independent; D is about normal. `test/rollout/worlds.ts` measures the error in fleets where that does not hold.
 */
import type { Address } from '../core/address.ts';
import type { Rollouts } from '../core/documents.generated.ts';
import type { Measure } from '../core/rollout.ts';
import { sum } from '../core/value.ts';

/** Calls in a span. Of a share, `sum` is how many of them had the property; of a mean, the total over them. */
export type Tally = { readonly calls: number; readonly sum: number };

type Span = 'before' | 'after';
/** One agent: in so many weeks before the rollout, and in a span since a step. */
export type AgentCalls = { readonly address: Address; readonly weeks: number } & {
  readonly [span in Span]: Tally;
};

/** Agents that got the change with one step, and agents that do not have it, in the same span. */
export type Cohort = { readonly [group in 'changed' | 'others']: readonly AgentCalls[] };

/** With fewer agents to compare with, their scatter says too little about what is ordinary. */
export const LEAST_OTHERS = 8;
/** Agents with fewer calls are left out. */
const LEAST_CALLS = { before: 20, after: 5 };

/**
 * In points or percent; the ends are infinite with too few others. `others`: how many there are to compare with, and by
 * how much they moved. `odd`: agents that are drawn in.
 */
export type Estimate = {
  readonly [of in 'effect' | 'low' | 'high' | 'others' | 'moved']: number;
} & {
  readonly levels: Levels;
  readonly odd: readonly Address[];
};

type Levels = Pick<Rollouts.Measure, 'before' | 'after' | 'others_before' | 'others_after'>;

/** Null where there is nothing to compare. The noise of others whom cohorts share does not average out. */
export function estimate(
  measure: Measure,
  cohorts: readonly Cohort[],
  alpha: number,
): Estimate | null {
  const parts = cohorts.flatMap((cohort) => compare(measure, cohort) ?? []);
  if (parts.length === 0) return null;
  const total = sum(parts.map(({ changed }) => changed.precision));
  const mean = (of: (part: Compared) => number) =>
    sum(parts.map((part) => (part.changed.precision / total) * of(part)));
  const [moved, effect] = [
    mean(({ rest }) => rest.mean),
    mean((one) => one.changed.mean - one.rest.mean),
  ];
  const variance =
    mean(({ scatter }) => scatter) / total +
    mean(({ scatter, rest }) => Math.sqrt(scatter / rest.precision)) ** 2;
  const others = Math.min(...parts.map(({ rest }) => rest.agents.length));
  const level = (group: 'changed' | 'rest', span: Span) =>
    getLevel(span, ...parts.map((part) => part[group].agents));
  const scale = openScale(measure, level('changed', 'before'), moved);
  const half = halfWidth(variance, others - 1, scale.margin, alpha);
  const isBounded = Number.isFinite(half) && others >= LEAST_OTHERS;
  const unit = measure.name === 'duration' ? 1 : 100;
  return {
    effect: scale.show(effect),
    low: isBounded ? scale.show(effect - half) : Number.NEGATIVE_INFINITY,
    high: isBounded ? scale.show(effect + half) : Number.POSITIVE_INFINITY,
    others,
    moved: openScale(measure, level('rest', 'before'), 0).show(moved),
    levels: {
      before: unit * level('changed', 'before'),
      after: unit * level('changed', 'after'),
      others_before: unit * level('rest', 'before'),
      others_after: unit * level('rest', 'after'),
    },
    odd: parts.flatMap(({ odd }) => odd),
  };
}

type Unit = AgentCalls & { readonly moved: number; readonly variance: number };
type Group = { readonly agents: readonly Unit[] } & {
  readonly [of in 'mean' | 'precision']: number;
};
type Compared = { readonly [group in 'changed' | 'rest']: Group } & Pick<Estimate, 'odd'> & {
    readonly scatter: number;
  };

function compare(measure: Measure, cohort: Cohort): Compared | null {
  const [treated, others] = [listUnits(measure, cohort.changed), listUnits(measure, cohort.others)];
  if (treated.length === 0 || others.length < 2) return null;
  const middle = (agents: readonly Unit[]) => median(agents.map(({ moved }) => moved));
  const away = others.map((one) => Math.abs(one.moved - middle(others)) / Math.sqrt(one.variance));
  const most = 3 * (1 + 6 / others.length) * 1.4826 * median(away);
  const drawIn = (agents: readonly Unit[]) => {
    const around = middle(agents);
    return agents.map((one) => {
      const reach = most * Math.sqrt(one.variance);
      return { ...one, moved: Math.max(around - reach, Math.min(around + reach, one.moved)) };
    });
  };
  const [changed, rest] = [weigh(drawIn(treated)), weigh(drawIn(others))];
  const squares = rest.agents.map((one) => (one.moved - rest.mean) ** 2 / one.variance);
  const scatter = sum(squares) / (squares.length - 1);
  // Figures that do not vary at all cannot be measurements.
  if (scatter < 1e-12) return null;
  const drawn = [...changed.agents, ...rest.agents];
  const odd = [...treated, ...others].filter((one, index) => one.moved !== drawn[index]?.moved);
  return { changed, rest, scatter, odd: odd.map(({ address }) => address) };
}

function median(list: readonly number[]): number {
  const sorted = list.toSorted((a, b) => a - b);
  return ((sorted[(list.length - 1) >> 1] ?? 0) + (sorted[list.length >> 1] ?? 0)) / 2;
}

function listUnits({ name }: Measure, agents: readonly AgentCalls[]): readonly Unit[] {
  const usable = agents.filter(
    ({ before, after }) => before.calls >= LEAST_CALLS.before && after.calls >= LEAST_CALLS.after,
  );
  const level = getLevel('before', usable);
  return usable.flatMap((agent) => {
    const { before, after, weeks } = agent;
    const variance = 16 * (1 + 1 / weeks) + 2100 * (1 / before.calls + 1 / after.calls);
    if (name === 'duration') {
      const moved = Math.log((after.sum * before.calls) / (after.calls * before.sum));
      return Number.isFinite(moved) ? [{ ...agent, variance, moved }] : [];
    }
    // Two calls more, as they were on average before: what never happened is not impossible, and few calls move little.
    const was = (before.sum + 2 * level + 1e-3) / (before.calls + 2 + 2e-3);
    const is = (after.sum + 2 * was) / (after.calls + 2);
    return [{ ...agent, variance, moved: logit(is) - logit(was) }];
  });
}

function weigh(agents: readonly Unit[]): Group {
  const precision = sum(agents.map(({ variance }) => 1 / variance));
  return {
    agents,
    precision,
    mean: sum(agents.map((one) => one.moved / one.variance)) / precision,
  };
}

function getLevel(span: Span, ...groups: readonly (readonly AgentCalls[])[]): number {
  const agents = groups.flat();
  return sum(agents.map((one) => one[span].sum)) / sum(agents.map((one) => one[span].calls));
}

/** Effects in points or percent of what agents would have had that were at `level` and moved with the others. */
function openScale({ name, better, margin }: Measure, level: number, moved: number) {
  const least = 1e-3;
  if (name === 'duration')
    return { show: (one: number) => 100 * (Math.exp(one) - 1), margin: Math.log(1 + margin / 100) };
  const expected = logit(Math.min(1 - least, Math.max(least, level))) + moved;
  const show = (one: number) => 100 * (logistic(expected + one) - logistic(expected));
  const end = logistic(expected) + ((better === 'higher' ? -1 : 1) * margin) / 100;
  return { show, margin: Math.abs(expected - logit(Math.min(1 - least, Math.max(least, end)))) };
}

/** Half of the interval: where the mixed likelihood ratio of Student's t reaches 1/(2α). */
function halfWidth(variance: number, freedom: number, margin: number, alpha: number): number {
  const spread = 1 + (2 * margin ** 2) / variance;
  const growth = (Math.sqrt(spread) / (2 * alpha)) ** (2 / (freedom + 1));
  if (growth >= spread) return Number.POSITIVE_INFINITY;
  return Math.sqrt((variance * freedom * (growth - 1)) / (1 - growth / spread));
}

function logit(share: number): number {
  return Math.log(share / (1 - share));
}

function logistic(odds: number): number {
  return 1 / (1 + Math.exp(-odds));
}

/**
 * Half of the interval, in points or percent, that agents with a change will have after so many days, and whether the
 * margin is wider. `week`: all agents with their last week as if it were the time since the step. Null without enough
 * others, or where nothing can be compared.
 */
export function forecast(
  measure: Measure,
  week: readonly AgentCalls[],
  changed: ReadonlySet<Address>,
  days: number,
  alpha: number,
): { readonly half: number; readonly isNarrow: boolean } | null {
  const all = compare(measure, { changed: week, others: week });
  if (all === null) return null;
  const then = all.rest.agents.map((one) => ({
    ...one,
    variance:
      16 * (1 + 1 / one.weeks) + 2100 * (1 / one.before.calls + 7 / (days * one.after.calls)),
  }));
  const group = (isOne: boolean) => then.filter(({ address }) => changed.has(address) === isOne);
  const [treated, others] = [group(true), group(false)];
  if (treated.length === 0 || others.length < LEAST_OTHERS) return null;
  const { scatter } = all;
  const variance = scatter * (1 / weigh(treated).precision + 1 / weigh(others).precision);
  const scale = openScale(measure, getLevel('before', treated), 0);
  const half = halfWidth(variance, others.length - 1, scale.margin, alpha);
  return { half: Math.abs(scale.show(-half)), isNarrow: half <= scale.margin };
}
