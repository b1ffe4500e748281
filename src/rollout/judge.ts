/**
 * The verdict on a step, from the intervals of `effect.ts`.
 *
 * A step is `worse` where the whole interval is bad and reaches beyond the margin, whatever the calls and days: the
 * interval holds at every look. It is promoted where the bad end is within the margin, after enough calls and whole days,
 * while the others move as on ordinary days, and unless the last days are worse.
 *
 * **One α of 5 % is shared** by all measures, both windows of each and the guard rail for errors (Bonferroni). The window
 * of the last days moves, so that it is tried again and again; with a twentieth of an interval's share it costs nothing
 * that `test/rollout/worlds.ts` can measure.
 */
import type { Address } from '../core/address.ts';
import type { Rollouts } from '../core/documents.generated.ts';
import { formatCount } from '../core/errors.ts';
import type { Judging, Measure } from '../core/rollout.ts';
import { sum } from '../core/value.ts';
import { type Cohort, type Estimate, estimate, LEAST_OTHERS } from './effect.ts';

/** One measure: since each step, and in the last days of steps that are older; null without figures. */
export type Seen = {
  readonly measure: Measure;
  readonly cohorts: readonly Cohort[] | null;
  readonly recent: readonly Cohort[];
};

/** `days`: the age of the newest step; `rails`: guard rails that have a part of α. */
export type Terms = Pick<Judging, 'minCalls' | 'minDays'> & { days: number; rails: number };

/** `isCalm`: the others moved no further than on ordinary days. `odd`: agents that are drawn in. */
type Around = { readonly isCalm: boolean; readonly odd: readonly Address[] };
type Judged = Rollouts.Measure & Around;
export type Judgement = Pick<Rollouts.Look, 'verdict' | 'why' | 'measures'> & Around;

const ALPHA = 0.05;
/** Points or percent that the others move by on ordinary days, where the margin is smaller. */
const CALM = 5;

/** The last days have this part of an interval's α, since they are looked at as a window that moves. */
const LATE = 0.05;

/** The measure with the first of these verdicts decides among several. */
const VERDICTS = ['worse', 'no_figures', 'not_enough_calls', 'no_worse', 'better'] as const;

/** A rollout continues with `better` and `no_worse` alone. `worse` needs no minimum of calls or days. */
export function judge(seen: readonly Seen[], terms: Terms): Judgement {
  const alpha = shareAlpha(seen.length, terms.rails);
  const judged = seen.map((one) => judgeMeasure(one, terms, alpha));
  const order = VERDICTS.flatMap((one) => judged.filter(({ verdict }) => verdict === one));
  return {
    verdict: order[0]?.verdict ?? 'no_figures',
    why: order[0]?.why ?? null,
    measures: judged.map(({ isCalm: _, odd: __, ...measure }) => measure),
    isCalm: judged.every(({ isCalm }) => isCalm),
    odd: [...new Set(judged.flatMap(({ odd }) => odd))].sort(),
  };
}

/** The α of one interval of a measure, and of one guard rail. */
export function shareAlpha(measures: number, rails: number): number {
  return ALPHA / (measures * (1 + LATE) + rails);
}

function judgeMeasure({ measure, cohorts, recent }: Seen, terms: Terms, alpha: number): Judged {
  const { name, better, margin } = measure;
  const levels = { before: null, after: null, others_before: null, others_after: null };
  const bare = { name, better, margin, ...levels, effect: null, low: null, high: null };
  const end = (verdict: Judged['verdict'], why: string | null, one: Estimate | null = null) => ({
    ...bare,
    ...(one && { ...one.levels, effect: one.effect, low: finite(one.low), high: finite(one.high) }),
    isCalm: one === null || Math.abs(one.moved) <= Math.max(CALM, margin),
    odd: one?.odd ?? [],
    ...{ verdict, why },
  });
  if (cohorts === null) return end('no_figures', `The platform gives no figures for ${name}.`);
  const whole = estimate(measure, cohorts, alpha);
  const late = estimate(measure, recent, alpha * LATE);
  if (whole === null) return end('not_enough_calls', 'No agent with the change can be compared.');
  for (const one of [whole, late])
    if (one !== null && toBest(one, better) < 0 && toWorst(one, better) <= -margin)
      return end('worse', describe(measure, one, one === late), one);
  const calls = sum(cohorts.flatMap(({ changed }) => changed.map(({ after }) => after.calls)));
  const { minCalls, minDays, days } = terms;
  const others = formatCount(whole.others, 'other agent');
  const worst = toWorst(whole, better);
  const waits: readonly (readonly [boolean, string])[] = [
    [whole.others < LEAST_OTHERS, `${others} can be compared with; ${LEAST_OTHERS} are needed.`],
    [calls < minCalls, `${calls} of at least ${minCalls} calls so far.`],
    [days < minDays, `${Math.floor(days)} of at least ${formatCount(minDays, 'day')} have passed.`],
    [worst <= -margin, `The interval is too wide for the margin of ${margin}.`],
    [isBad(late, measure), 'The last three days are worse than those before.'],
    [!end('worse', null, whole).isCalm, `The other agents moved by ${signed(whole.moved)} too.`],
  ];
  const wait = waits.find(([isDue]) => isDue);
  if (wait !== undefined) return end('not_enough_calls', wait[1], whole);
  return end(worst > 0 ? 'better' : 'no_worse', null, whole);
}

/** The ends of an interval by how good they are. */
function toWorst({ low, high }: Estimate, better: Measure['better']): number {
  return better === 'higher' ? low : -high;
}

function toBest({ low, high }: Estimate, better: Measure['better']): number {
  return better === 'higher' ? high : -low;
}

function isBad(one: Estimate | null, { better, margin }: Measure): boolean {
  return one !== null && (better === 'higher' ? one.effect : -one.effect) < -margin;
}

function finite(end: number): number | null {
  return Number.isFinite(end) ? end : null;
}

function describe({ name, margin }: Measure, one: Estimate, isLate: boolean): string {
  const { effect, low, high } = one;
  const when = isLate ? ' in the last three days' : '';
  const unit = name === 'duration' ? 'percent' : 'points';
  return `${name} moved by ${signed(effect)} ${unit} against the other agents${when} (${signed(low)} to ${signed(high)}); ${margin} are tolerated.`;
}

/** With one digit and a sign: a true minus, as elsewhere in texts. */
function signed(value: number): string {
  const text = Math.abs(value).toFixed(1);
  return text === '0.0' ? text : `${value < 0 ? '−' : '+'}${text}`;
}
