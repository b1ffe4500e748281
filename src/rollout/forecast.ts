/** Forecasts what the steps of a rollout take, by the calls of the weeks before it. */
import type { Address } from '../core/address.ts';
import { formatCount } from '../core/errors.ts';
import {
  listUnderWay,
  type Measure,
  type RolloutAgent,
  type RolloutSettings,
} from '../core/rollout.ts';
import { sum } from '../core/value.ts';
import { WEEK } from './assess.ts';
import { type AgentCalls, forecast, LEAST_OTHERS } from './effect.ts';
import { shareAlpha } from './judge.ts';
import { type Platform, readFigures, toTime } from './observe.ts';

/** A step that takes longer cannot tell the margin. */
const MOST_DAYS = 28;

/** `refused`: the first step that cannot tell the margin, and which can. */
type Forecast = {
  readonly texts: readonly string[];
  readonly refused?: { readonly message: string; readonly hint: string };
};

export async function forecastSteps(
  { name, judge, guardRails }: RolloutSettings,
  agents: readonly RolloutAgent[],
  counts: readonly number[],
  session: Platform,
  now: number,
): Promise<Forecast> {
  const own = new Map(agents.map(({ id, changed_at: at }) => [id, toTime(at)]));
  const elsewhere = new Set(
    listUnderWay(session.state, name).flatMap((one) => one.agents.map(({ id }) => id)),
  );
  const all = Object.entries(session.state.resources).flatMap(([address, { kind, id, pin }]) =>
    kind !== 'agent' || elsewhere.has(id)
      ? []
      : [{ address, id, changedAt: own.get(id) ?? toTime(pin?.updated_at) ?? 0 }],
  );
  const spans = Array.from({ length: judge.baselineWeeks + 1 }, (_, week) => ({
    from: now - (week + 1) * WEEK,
    until: now - week * WEEK,
  }));
  const figures = await readFigures(spans, all, session);
  if ('why' in figures) return { texts: [figures.why] };
  const addressOf = new Map(all.map(({ id, address }) => [id, address]));
  const tallies = (measure: Measure): readonly AgentCalls[] =>
    all.map(({ address, id, changedAt }) => {
      const weeks = Math.min(
        judge.baselineWeeks,
        Math.max(0, Math.floor((now - changedAt) / WEEK)),
      );
      const [last, ...before] = spans.slice(0, weeks + 1).map(({ from, until }) => {
        const { calls, resolved, seconds } = figures.count(id, from, until);
        return { calls, sum: measure.name === 'duration' ? seconds : resolved };
      });
      const add = (of: 'calls' | 'sum') => sum(before.map((one) => one[of]));
      return {
        address,
        weeks,
        before: { calls: add('calls'), sum: add('sum') },
        after: last ?? { calls: 0, sum: 0 },
      };
    });
  const alpha = shareAlpha(judge.measures.length, guardRails.errors === undefined ? 0 : 1);
  const measured = judge.measures
    .filter((measure) => measure.name !== 'errors')
    .map((measure) => ({ measure, week: tallies(measure) }));
  const forecastAll = (count: number, days: number) => {
    const changed = new Set<Address>(
      agents.slice(0, count).map(({ id, address }) => addressOf.get(id) ?? address),
    );
    return measured.map(({ measure, week }) => forecast(measure, week, changed, days, alpha));
  };
  const look = (count: number) => {
    for (let days = Math.max(1, judge.minDays); days <= MOST_DAYS; days += 1) {
      const halves = forecastAll(count, days);
      if (halves.every((one) => one?.isNarrow === true)) return { days, halves };
    }
    return { days: null, halves: forecastAll(count, MOST_DAYS) };
  };
  if (measured.length === 0) return { texts: [] };
  if (measured.every(({ week }) => week.every(({ after }) => after.calls === 0)))
    return { texts: ['No agent had a call in the last week, so nothing is known of its steps.'] };
  const texts: string[] = [];
  for (const [index, count] of counts.entries()) {
    const left = all.length - count;
    // Once all have it there may be nobody to compare with, and nothing that waits for a verdict.
    if (index === counts.length - 1 && left < LEAST_OTHERS) break;
    const step = `step ${index + 1} of the rollout ${name} (${count} of ${formatCount(agents.length, 'agent')})`;
    if (left < LEAST_OTHERS) {
      // A small fleet is promoted by people alone.
      texts.push(
        `Left to compare with by ${step}: ${formatCount(left, 'agent')}, and a verdict needs ${LEAST_OTHERS}. It will wait for rollout promote.`,
      );
      continue;
    }
    const { days, halves } = look(count);
    const intervals = measured.map(({ measure }, at) => {
      const half = halves[at]?.half ?? Number.POSITIVE_INFINITY;
      const told = Number.isFinite(half) ? `±${half.toFixed(1)}` : 'no interval';
      return `${measure.name} ${told}, margin ${measure.margin}`;
    });
    const told = `${intervals.join('; ')}, after ${formatCount(days ?? MOST_DAYS, 'day')}`;
    if (days !== null) {
      texts.push(`By the calls of the weeks before, ${step} takes: ${told}.`);
      continue;
    }
    const next = findLarger(count, Math.min(agents.length, all.length - LEAST_OTHERS), (one) =>
      forecastAll(one, MOST_DAYS).every((found) => found?.isNarrow === true),
    );
    return {
      texts,
      refused: {
        message: `${step} cannot tell the margin: ${told}`,
        hint:
          next === undefined
            ? 'No step can: widen the margin, or wait until the agents had whole weeks of calls since they were changed.'
            : `A step of ${formatCount(next, 'agent')} can: steps: [${formatCount(next, 'agent')}, 100%].`,
      },
    };
  }
  return { texts };
}

/** About the smallest number of agents above one, up to a most, that will do. */
function findLarger(
  count: number,
  most: number,
  isEnough: (count: number) => boolean,
): number | undefined {
  for (let one = count + 1; one <= most; one = Math.ceil(1.1 * one)) if (isEnough(one)) return one;
  return undefined;
}
