/** Forecasts what the steps of a rollout take, by the calls of the weeks before it. */
import type { Address } from '../../core/address.ts';
import { formatCount } from '../../core/errors.ts';
import { type Agent, countBefore, tally, WEEK } from './assess.ts';
import {
  type AgentCalls,
  compare,
  computeVariance,
  getLevel,
  halfWidth,
  LEAST_OTHERS,
  openScale,
  shareAlpha,
  weigh,
} from './judge.ts';
import { type Platform, readFigures, toTime } from './observe.ts';
import { listUnderWay, type Measure, type RolloutAgent, type RolloutSettings } from './record.ts';

/** A step that takes longer cannot tell the margin. */
const MOST_DAYS = 28;

/** `refused`: the first step that cannot tell the margin, and which can. */
type Forecast = {
  readonly texts: readonly string[];
  readonly refused?: { readonly message: string; readonly hint: string };
};

/** `counts`: how many of the agents have the change after each step. */
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
      : [{ address, id, changedAt: own.get(id) ?? toTime(pin?.updated_at) }],
  );
  const spans = Array.from({ length: judge.baselineWeeks + 1 }, (_, week) => ({
    from: now - (week + 1) * WEEK,
    until: now - week * WEEK,
  }));
  const figures = await readFigures(spans, all, session);
  if ('why' in figures) return { texts: [figures.why] };
  const { count } = figures;
  const measures = judge.measures.filter((measure) => measure.name !== 'errors');
  if (measures.length === 0) return { texts: [] };
  if (all.every(({ id }) => count(id, now - WEEK, now).calls === 0))
    return { texts: ['No agent had a call in the last week, so nothing is known of its steps.'] };
  // The last week stands for the time since a step.
  const known = measures.map((measure) => {
    const week = all.map((agent) => ({
      address: agent.address,
      ...countBefore(measure.name, aWeekEarlier(agent), now - WEEK, judge, count),
      after: tally(measure.name, count(agent.id, now - WEEK, now)),
    }));
    return { measure, week };
  });
  const alpha = shareAlpha(judge.measures.length, guardRails.errors === undefined ? 0 : 1);
  const addresses = new Map(all.map(({ id, address }) => [id, address]));
  const look = (agentsBy: number, days: number) => {
    const chosen = agents.slice(0, agentsBy).map((one) => addresses.get(one.id) ?? one.address);
    const changed = new Set<Address>(chosen);
    return known.map(({ measure, week }) => forecast(measure, week, changed, days, alpha));
  };
  const isEnough = (count: number, days: number) => look(count, days).every((one) => one.isNarrow);
  const texts: string[] = [];
  for (const [index, count] of counts.entries()) {
    const left = all.length - count;
    // After the last step there may be no agents left to compare with, and no step waits for a verdict.
    if (index === counts.length - 1 && left < LEAST_OTHERS) break;
    const step = `step ${index + 1} of the rollout ${name} (${count} of ${formatCount(agents.length, 'agent')})`;
    if (left < LEAST_OTHERS) {
      const others = formatCount(left, 'agent');
      texts.push(
        `Left to compare with by ${step}: ${others}, and a verdict needs ${LEAST_OTHERS}. It will wait for rollout promote.`,
      );
      continue;
    }
    let days = Math.max(1, judge.minDays);
    while (days < MOST_DAYS && !isEnough(count, days)) days += 1;
    const intervals = look(count, days).map(({ half }, at) => {
      const { name = '', margin = 0 } = measures[at] ?? {};
      return `${name} ${Number.isFinite(half) ? `±${half.toFixed(1)}` : 'no interval'}, margin ${margin}`;
    });
    const expected = `${intervals.join('; ')}, after ${formatCount(days, 'day')}`;
    if (!isEnough(count, days)) {
      let next = count + 1;
      const most = Math.min(agents.length, all.length - LEAST_OTHERS);
      while (next <= most && !isEnough(next, MOST_DAYS)) next = Math.ceil(1.1 * next);
      const hint =
        next > most
          ? 'No step can: widen the margin, or wait until the agents had whole weeks of calls since they were changed.'
          : `A step of ${formatCount(next, 'agent')} can: steps: [${formatCount(next, 'agent')}, 100%].`;
      return { texts, refused: { message: `${step} cannot tell the margin: ${expected}`, hint } };
    }
    texts.push(`By the calls of the weeks before, ${step} takes: ${expected}.`);
  }
  return { texts };
}

/**
 * An agent as if it had been changed a week earlier. The last week may be the only whole one since its change: how agents
 * scatter then shows against the week before, which moved all that were changed alike.
 */
function aWeekEarlier(agent: Agent): Agent {
  return { ...agent, changedAt: agent.changedAt === null ? null : agent.changedAt - WEEK };
}

/** Half of the interval after so many days, in points or percent; infinite without enough agents that can be compared. */
function forecast(
  measure: Measure,
  week: readonly AgentCalls[],
  changed: ReadonlySet<Address>,
  days: number,
  alpha: number,
): { readonly half: number; readonly isNarrow: boolean } {
  const all = compare(measure, { changed: week, others: week });
  const then = (all?.rest.agents ?? []).map((one) => {
    const { weeks, before, after } = one;
    return {
      ...one,
      variance: computeVariance(weeks, 1 / before.calls + 7 / (days * after.calls)),
    };
  });
  const treated = then.filter(({ address }) => changed.has(address));
  const others = then.filter(({ address }) => !changed.has(address));
  if (all === null || treated.length === 0 || others.length < LEAST_OTHERS)
    return { half: Number.POSITIVE_INFINITY, isNarrow: false };
  const variance = all.scatter * (1 / weigh(treated).precision + 1 / weigh(others).precision);
  const scale = openScale(measure, getLevel('before', treated), 0);
  const half = halfWidth(variance, others.length - 1, scale.margin, alpha);
  return { half: Math.abs(scale.show(-half)), isNarrow: half <= scale.margin };
}
