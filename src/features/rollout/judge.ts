/**
 * The verdict on a step, from counts of calls alone.
 *
 * **The effect.** The unit is the agent: D is its movement from the weeks before to the time since its step, of shares in
 * log odds, of durations in log ratios. The effect is the mean of D over the agents with the change less that over the
 * others in the same span (difference in differences), so that all that hits both alike cancels. An agent weighs by its
 * calls and never by its outcome, 1/(16 + 2100/n): agents wander by about 4 points by themselves, and one call has a
 * variance of 0.21. The variance is the scatter of D among the others as it is; an odd one is drawn in to 3 robust
 * deviations (Huber 1964; Hampel 1974) and named.
 *
 * **Looking every hour.** The interval is a confidence sequence: the normal mixture of Robbins (1970; Howard, Ramdas,
 * McAuliffe and Sekhon 2021, Annals of Statistics 49), with Student's t because the variance is estimated from J others
 * (Lai 1976, Annals of Statistics 4; Wang and Ramdas 2025, Sequential Analysis), effects mixed with a variance of twice the
 * margin's square. So `worse` needs no minimum of calls or days. **One α of 5 %**, one-sided, is shared by all measures,
 * both windows of each and the rail for errors (Bonferroni); the window of the last days moves and is tried again and
 * again, with a twentieth of a share. All cohorts are one estimate.
 *
 * **It stands on this**: without the change both groups would have moved alike on average; but for that, agents are
 * independent; D is about normal. `test/rollout/worlds.ts` measures the error in fleets where that does not hold.
 */
import type { Address } from '../../core/address.ts';
import type { Rollouts } from '../../core/documents.generated.ts';
import { formatCount } from '../../core/errors.ts';
import { sum } from '../../core/value.ts';
import type { Judging, Measure } from './record.ts';

/** Calls in a span. Of a share, `sum` is how many of them had the property; of a duration, the seconds of all. */
export type Tally = { readonly calls: number; readonly sum: number };
/** An agent in so many weeks before the rollout, and in a span since a step. */
export type AgentCalls = { readonly address: Address; readonly weeks: number } & {
  readonly [span in 'before' | 'after']: Tally;
};
/** Agents that got the change with one step, and agents that do not have it, in the same span. */
export type Cohort = { readonly [group in 'changed' | 'others']: readonly AgentCalls[] };
/** One measure since each step, and in the last days of older steps; `cohorts` is null without figures. */
export type Seen = { readonly measure: Measure; readonly recent: readonly Cohort[] } & {
  readonly cohorts: readonly Cohort[] | null;
};
/** `days`: the age of the newest step; `rails`: guard rails that have a part of α. */
export type Terms = Pick<Judging, 'minCalls' | 'minDays'> & { days: number; rails: number };
/** `calm`: the others moved no further than on ordinary days. `odd`: agents that are drawn in. */
export type Judgement = Pick<Rollouts.Look, 'verdict' | 'why' | 'measures' | 'calm' | 'odd'>;

const ALPHA = 0.05;
/** The part of an interval's α that the window of the last days has. */
const LATE = 0.05;
/** Points or percent that the others move by on ordinary days, where the margin is smaller. */
const CALM = 5;
/** With fewer agents to compare with, their scatter says too little about what is ordinary. */
export const LEAST_OTHERS = 8;
/** Agents with fewer calls are left out. */
const LEAST_CALLS = { before: 20, after: 5 };
/** The measure with the first of these verdicts decides among several. */
const VERDICTS = ['worse', 'no_figures', 'not_enough_calls', 'no_worse', 'better'] as const;

/** The α of one interval of a measure, and of one guard rail. */
export function shareAlpha(measures: number, rails: number): number {
  return ALPHA / (measures * (1 + LATE) + rails);
}

export function judge(seen: readonly Seen[], terms: Terms): Judgement {
  const alpha = shareAlpha(seen.length, terms.rails);
  const judged = seen.map((one) => judgeMeasure(one, terms, alpha));
  const measures = judged.map(({ calm: _, odd: __, ...measure }) => measure);
  const [first] = VERDICTS.flatMap((one) => measures.filter(({ verdict }) => verdict === one));
  return {
    ...{ verdict: first?.verdict ?? 'no_figures', why: first?.why ?? null, measures },
    calm: judged.every(({ calm }) => calm),
    odd: [...new Set(judged.flatMap(({ odd }) => odd))].sort(),
  };
}

function judgeMeasure({ measure, cohorts, recent }: Seen, terms: Terms, alpha: number) {
  const { name, better, margin } = measure;
  const whole = estimate(measure, cohorts ?? [], alpha);
  const late = estimate(measure, recent, alpha * LATE);
  const isCalm = whole === null || Math.abs(whole.moved) <= Math.max(CALM, margin);
  const end = (verdict: Rollouts.Measure['verdict'], why: string | null, one = whole) => {
    const { moved: _, others: __, odd = [], ...shown } = one ?? NOTHING;
    const [low, high] = [shown.low, shown.high].map((at) => (Number.isFinite(at) ? at : null));
    return {
      ...measure,
      ...shown,
      low: low ?? null,
      high: high ?? null,
      verdict,
      why,
      calm: isCalm,
      odd,
    };
  };
  if (cohorts === null) return end('no_figures', `The platform gives no figures for ${name}.`);
  if (whole === null) return end('not_enough_calls', 'No agent with the change can be compared.');
  // By how good they are: the ends of an interval, and the effect.
  const good = (value: number) => (better === 'higher' ? value : -value);
  const worst = (one: Estimate) => Math.min(good(one.low), good(one.high));
  const unit = name === 'duration' ? 'percent' : 'points';
  for (const one of [whole, late])
    if (one !== null && Math.max(good(one.low), good(one.high)) < 0 && worst(one) <= -margin) {
      const when = one === late ? ' in the last three days' : '';
      const why = `${name} moved by ${signed(one.effect)} ${unit} against the other agents${when} (${signed(one.low)} to ${signed(one.high)}); ${margin} are tolerated.`;
      return end('worse', why, one);
    }
  const calls = sum(cohorts.flatMap(({ changed }) => changed.map(({ after }) => after.calls)));
  const { minCalls, minDays, days } = terms;
  const others = formatCount(whole.others, 'other agent');
  const waits: readonly (readonly [boolean, string])[] = [
    [whole.others < LEAST_OTHERS, `${others} can be compared with; ${LEAST_OTHERS} are needed.`],
    [calls < minCalls, `${calls} of at least ${minCalls} calls so far.`],
    [days < minDays, `${Math.floor(days)} of at least ${formatCount(minDays, 'day')} have passed.`],
    [worst(whole) <= -margin, `The interval is too wide for the margin of ${margin}.`],
    [good(late?.effect ?? 0) < -margin, 'The last three days are worse than those before.'],
    [!isCalm, `The other agents moved by ${signed(whole.moved)} too.`],
  ];
  const wait = waits.find(([isDue]) => isDue);
  if (wait !== undefined) return end('not_enough_calls', wait[1]);
  return end(worst(whole) > 0 ? 'better' : 'no_worse', null);
}

/** With one digit and a true minus. */
function signed(value: number): string {
  const text = Math.abs(value).toFixed(1);
  return text === '0.0' ? text : `${value < 0 ? '−' : '+'}${text}`;
}

const LEVELS = { before: null, after: null, others_before: null, others_after: null };
const NOTHING = { ...LEVELS, effect: null, low: null, high: null, moved: 0, others: 0, odd: [] };

/** In points or percent; the ends are infinite with too few others. `moved`: by how much those moved themselves. */
type Estimate = { readonly odd: readonly Address[] } & {
  readonly [of in 'effect' | 'low' | 'high' | 'others' | 'moved' | keyof typeof LEVELS]: number;
};

/** Null where there is nothing to compare. The noise of others whom cohorts share does not average out. */
function estimate(measure: Measure, cohorts: readonly Cohort[], alpha: number): Estimate | null {
  const parts = cohorts.flatMap((cohort) => compare(measure, cohort) ?? []);
  if (parts.length === 0) return null;
  const total = sum(parts.map(({ changed }) => changed.precision));
  const mean = (of: (part: Compared) => number) =>
    sum(parts.map((part) => (part.changed.precision / total) * of(part)));
  const moved = mean(({ rest }) => rest.mean);
  const effect = mean((one) => one.changed.mean - one.rest.mean);
  const variance =
    mean(({ scatter }) => scatter) / total +
    mean(({ scatter, rest }) => Math.sqrt(scatter / rest.precision)) ** 2;
  const others = Math.min(...parts.map(({ rest }) => rest.agents.length));
  const level = (group: 'changed' | 'rest', span: 'before' | 'after') =>
    getLevel(span, ...parts.map((part) => part[group].agents));
  const scale = openScale(measure, level('changed', 'before'), moved);
  const half = halfWidth(variance, others - 1, scale.margin, alpha);
  const bound = Number.isFinite(half) && others >= LEAST_OTHERS ? half : Number.POSITIVE_INFINITY;
  const end = (at: number) => (Number.isFinite(at) ? scale.show(at) : at);
  const unit = measure.name === 'duration' ? 1 : 100;
  return {
    effect: scale.show(effect),
    ...{ low: end(effect - bound), high: end(effect + bound), others },
    moved: openScale(measure, level('rest', 'before'), 0).show(moved),
    before: unit * level('changed', 'before'),
    after: unit * level('changed', 'after'),
    others_before: unit * level('rest', 'before'),
    others_after: unit * level('rest', 'after'),
    odd: parts.flatMap(({ odd }) => odd),
  };
}

type Unit = AgentCalls & { readonly moved: number; readonly variance: number };
type Group = { readonly agents: readonly Unit[] } & {
  readonly [of in 'mean' | 'precision']: number;
};
type Compared = { readonly [group in 'changed' | 'rest']: Group } & {
  readonly scatter: number;
  readonly odd: readonly Address[];
};

/** Null without agents of both groups, or where figures do not vary at all, which no measurement does. */
export function compare(measure: Measure, cohort: Cohort): Compared | null {
  const [treated, others] = [listUnits(measure, cohort.changed), listUnits(measure, cohort.others)];
  if (treated.length === 0 || others.length < 2) return null;
  const middle = (agents: readonly Unit[]) => median(agents.map(({ moved }) => moved));
  const usual = middle(others);
  const away = others.map((one) => Math.abs(one.moved - usual) / Math.sqrt(one.variance));
  const most = 3 * (1 + 6 / others.length) * 1.4826 * median(away);
  const odd: Address[] = [];
  const drawIn = (agents: readonly Unit[]) => {
    const around = middle(agents);
    return agents.map((one) => {
      const reach = most * Math.sqrt(one.variance);
      const moved = Math.max(around - reach, Math.min(around + reach, one.moved));
      if (moved !== one.moved) odd.push(one.address);
      return { ...one, moved };
    });
  };
  const [changed, rest] = [weigh(drawIn(treated)), weigh(drawIn(others))];
  const squares = rest.agents.map((one) => (one.moved - rest.mean) ** 2 / one.variance);
  const scatter = sum(squares) / (squares.length - 1);
  return scatter < 1e-12 ? null : { changed, rest, scatter, odd };
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
    const variance = computeVariance(weeks, 1 / before.calls + 1 / after.calls);
    const ratio = Math.log((after.sum * before.calls) / (after.calls * before.sum));
    if (name === 'duration')
      return Number.isFinite(ratio) ? [{ ...agent, variance, moved: ratio }] : [];
    // Two calls more, as they were on average before: what never happened is not impossible, and few calls move little.
    const was = (before.sum + 2 * level + 1e-3) / (before.calls + 2 + 2e-3);
    const is = (after.sum + 2 * was) / (after.calls + 2);
    return [{ ...agent, variance, moved: logit(is) - logit(was) }];
  });
}

/** The variance of an agent's D, in squared points: `calls` is the sum of one over the calls of both spans. */
export function computeVariance(weeks: number, calls: number): number {
  return 16 * (1 + 1 / weeks) + 2100 * calls;
}

export function weigh(agents: readonly Unit[]): Group {
  const precision = sum(agents.map(({ variance }) => 1 / variance));
  return {
    ...{ agents, precision },
    mean: sum(agents.map((one) => one.moved / one.variance)) / precision,
  };
}

export function getLevel(
  span: 'before' | 'after',
  ...groups: readonly (readonly AgentCalls[])[]
): number {
  const agents = groups.flat();
  return sum(agents.map((one) => one[span].sum)) / sum(agents.map((one) => one[span].calls));
}

/** Effects in points or percent of what agents would have had that were at `level` and moved with the others. */
export function openScale({ name, better, margin }: Measure, level: number, moved: number) {
  if (name === 'duration')
    return { show: (one: number) => 100 * (Math.exp(one) - 1), margin: Math.log(1 + margin / 100) };
  const within = (share: number) => Math.min(0.999, Math.max(0.001, share));
  const expected = logit(within(level)) + moved;
  const show = (one: number) => 100 * (logistic(expected + one) - logistic(expected));
  const end = logistic(expected) + ((better === 'higher' ? -1 : 1) * margin) / 100;
  return { show, margin: Math.abs(expected - logit(within(end))) };
}

/** Half of the interval: where the mixed likelihood ratio of Student's t reaches 1/(2α). */
export function halfWidth(variance: number, freedom: number, margin: number, alpha: number) {
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
