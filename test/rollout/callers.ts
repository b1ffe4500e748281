import type { Measure } from '../../src/core/rollout.ts';
import {
  type AgentCalls,
  type Cohort,
  judge,
  type Seen,
  type Tally,
} from '../../src/rollout/judge.ts';
import { type Chance, seedChance } from '../../src/simulator/ids.ts';

/**
 * A fleet and its callers, hour by hour, to play rollouts on. They know nothing of the judgement: agents have volumes
 * and shares of their own, and wander from week to week and from day to day; weekdays and hours differ; some days are
 * good or bad for all, and now and then an outage spoils some hours for all.
 */
export type Scenario = {
  readonly agents: number;
  /** Calls on a working day of the quietest agent and of the busiest one; between them they are spread evenly. */
  readonly volume: readonly [quietest: number, busiest: number];
  readonly first: 'busiest' | 'random';
  readonly measures: readonly Measure[];
  /** Of the good outcomes, the part that the change costs. */
  readonly cost: number;
  /** How much an agent wanders, next to the ordinary. */
  readonly drift: number;
  /** Agents with the change after each step. After one that is all of them there is nobody to compare with. */
  readonly steps: readonly number[];
  /** Hours from one look to the next. */
  readonly every: number;
};

/** How a rollout ended, with how many agents, after how many hours. */
export type Outcome = {
  readonly end: 'stopped' | 'finished' | 'waiting';
  readonly agents: number;
  readonly hours: number;
};

export const MEASURES: readonly Measure[] = [
  { name: 'resolved', margin: 5, better: 'higher' },
  { name: 'errors', margin: 3, better: 'lower' },
  { name: 'duration', margin: 20, better: 'lower' },
];

export const ORDINARY: Scenario = {
  agents: 40,
  volume: [10, 80],
  first: 'busiest',
  measures: MEASURES.slice(0, 1),
  cost: 0,
  drift: 1,
  steps: [3, 4, 20, 40],
  every: 1,
};

const TERMS = { confidence: 95, minCalls: 200, minHours: 24 };

const [DAY, WEEK] = [24, 7 * 24];
const BASELINE = 4 * WEEK;
/** After so many hours nobody waits any longer. */
const PATIENCE = 8 * WEEK;

/** Calls from hour to hour of a day, and from Monday to Sunday, next to each other. */
const HOURS = [0, 0, 0, 0, 0, 0, 1, 3, 8, 11, 12, 11, 9, 10, 11, 10, 8, 5, 3, 2, 1, 1, 0, 0];
const WEEKDAYS = [1.2, 1.05, 1, 0.95, 0.8, 0.15, 0.05];
const CALLS_A_DAY = HOURS.reduce((sum, one) => sum + one, 0);

/** The share of good outcomes. What moves it is in log odds, of which a tenth is about two points. */
const RESOLVED = 0.71;
const WEEKDAY_SHIFTS = [-0.12, 0, 0.04, 0.05, -0.02, 0.15, 0.1];
const EVENING_SHIFT = -0.2;
const DEVIATIONS = { agent: 0.3, week: 0.08, day: 0.12, shock: 0.1, volume: 0.2 };
/** What an agent's week has of the week before. */
const MEMORY = 0.7;
const OUTAGE = { daily: 0.04, hours: 4, shift: -0.8 };

/** The share of calls with an error. */
const ERRORS = 0.05;
const SECONDS = { median: 150, deviation: 0.7 };

type Counting = { -readonly [key in keyof Tally]: Tally[key] };

/** Plays one rollout: it goes on with `better` and `no_worse`, and stops with `worse`. */
export function playRollout(scenario: Scenario, seed: number): Outcome {
  const { agents, measures, steps, every } = scenario;
  const play = openCallers(scenario, seed);
  const before = tallies(scenario);
  let hour = 0;
  while (hour < BASELINE) play(hour++, 0, [before]);

  // Somebody starts it on a working day, while calls come. Weeks before are whole, so the hours until then do not count.
  const chance = seedChance(seed, 1);
  const start = hour + chance.between(0, 4) * DAY + chance.between(8, 17);
  while (hour < start) play(hour++, 0, []);

  const cohorts: { readonly from: number; readonly to: number; readonly after: Counting[][] }[] =
    [];
  const afters: Counting[][][] = [];
  let [changed, since, seen] = [0, start, [] as readonly Seen[]];
  const apply = (next: number) => {
    const after = tallies(scenario);
    afters.push(after);
    cohorts.push({ from: changed, to: next, after });
    [changed, since] = [next, hour];
    seen = measures.map((measure, index) => ({
      measure,
      cohorts: cohorts.map(({ from, to, after }): Cohort => {
        const all = (after[index] ?? []).flatMap((one, agent): AgentCalls[] => {
          const its = before[index]?.[agent];
          return its === undefined ? [] : [{ address: `agent.a${agent}`, before: its, after: one }];
        });
        return { changed: all.slice(from, to), others: all.slice(changed) };
      }),
    }));
  };

  let step = 0;
  apply(steps[step] ?? agents);
  while (hour < start + PATIENCE) {
    const calls = play(hour++, changed, afters);
    const hours = hour - since;
    if ((hour - start) % every !== 0 || (calls === 0 && hours !== TERMS.minHours)) continue;
    const { verdict } = judge(seen, { ...TERMS, hours });
    if (verdict === 'worse') return { end: 'stopped', agents: changed, hours: hour - start };
    if (verdict !== 'better' && verdict !== 'no_worse') continue;
    step++;
    apply(steps[step] ?? agents);
    if (changed === agents) return { end: 'finished', agents, hours: hour - start };
  }
  return { end: 'waiting', agents: changed, hours: hour - start };
}

/** A tally for each measure of each agent. */
function tallies({ measures, agents }: Scenario): Counting[][] {
  return measures.map(() => Array.from({ length: agents }, () => ({ calls: 0, sum: 0 })));
}

/**
 * Gives the calls of an hour, counted into each of the tallies; says how many they were. Hours are asked for in order.
 * The first so many agents have the change.
 */
function openCallers(scenario: Scenario, seed: number) {
  const { agents, measures, cost, drift } = scenario;
  const chance = seedChance(seed);
  const normal = () => gauss(chance);
  const volumes = volumesOf(scenario, chance);
  const own = Array.from({ length: agents }, () => logit(RESOLVED) + DEVIATIONS.agent * normal());
  const errors = Array.from({ length: agents }, () => logit(ERRORS) + DEVIATIONS.agent * normal());
  const lengths = Array.from({ length: agents }, () => SECONDS.median * Math.exp(0.25 * normal()));
  const weeks = Array.from({ length: agents }, () => DEVIATIONS.week * normal());
  const days = new Float64Array(agents);
  const busy = new Float64Array(agents);
  let [shock, outage] = [0, -1];
  const sums = new Float64Array(measures.length);

  const beginDay = () => {
    shock = DEVIATIONS.shock * normal();
    outage = chance.isLikely(OUTAGE.daily) ? chance.between(7, 17) : -1;
    for (let agent = 0; agent < agents; agent++) {
      days[agent] = drift * DEVIATIONS.day * normal();
      busy[agent] = Math.exp(DEVIATIONS.volume * normal());
    }
  };
  const beginWeek = () => {
    const fresh = Math.sqrt(1 - MEMORY ** 2) * DEVIATIONS.week;
    for (const [agent, last] of weeks.entries()) weeks[agent] = MEMORY * last + fresh * normal();
  };

  return (hour: number, changed: number, into: readonly (readonly Counting[][])[]): number => {
    const time = hour % DAY;
    const weekday = Math.floor(hour / DAY) % 7;
    if (hour % WEEK === 0) beginWeek();
    if (time === 0) beginDay();
    const volume = ((HOURS[time] ?? 0) * (WEEKDAYS[weekday] ?? 0)) / CALLS_A_DAY;
    if (volume === 0) return 0;
    const isOut = outage >= 0 && time >= outage && time < outage + OUTAGE.hours;
    const shift =
      shock +
      (WEEKDAY_SHIFTS[weekday] ?? 0) +
      (time >= 17 ? EVENING_SHIFT : 0) +
      (isOut ? OUTAGE.shift : 0);
    let total = 0;
    for (let agent = 0; agent < agents; agent++) {
      const calls = poisson((volumes[agent] ?? 0) * volume * (busy[agent] ?? 1), chance);
      if (calls === 0) continue;
      total += calls;
      const wander = drift * (weeks[agent] ?? 0) + (days[agent] ?? 0) + shift;
      const share = logistic((own[agent] ?? 0) + wander) * (agent < changed ? 1 - cost : 1);
      const failing = measures.length > 1 ? logistic((errors[agent] ?? 0) - wander) : 0;
      sums.fill(0);
      for (let call = 0; call < calls; call++) {
        if (chance.next() < share) sums[0] = (sums[0] ?? 0) + 1;
        if (measures.length > 1 && chance.next() < failing) sums[1] = (sums[1] ?? 0) + 1;
        if (measures.length > 2)
          sums[2] =
            (sums[2] ?? 0) +
            (lengths[agent] ?? 0) * Math.exp(SECONDS.deviation * normal() - 0.5 * wander);
      }
      for (const measured of into) {
        for (let index = 0; index < measured.length; index++) {
          const tally = measured[index]?.[agent];
          if (tally === undefined) continue;
          tally.calls += calls;
          tally.sum += sums[index] ?? 0;
        }
      }
    }
    return total;
  };
}

function volumesOf({ agents, volume: [least, most], first }: Scenario, chance: Chance): number[] {
  const volumes = Array.from(
    { length: agents },
    (_, index) => most - ((most - least) * index) / Math.max(1, agents - 1),
  );
  if (first === 'busiest') return volumes;
  for (let index = agents - 1; index > 0; index--) {
    const other = chance.between(0, index);
    const [a, b] = [volumes[index] ?? 0, volumes[other] ?? 0];
    [volumes[index], volumes[other]] = [b, a];
  }
  return volumes;
}

function logit(share: number): number {
  return Math.log(share / (1 - share));
}

function logistic(odds: number): number {
  return 1 / (1 + Math.exp(-odds));
}

function gauss({ next }: Chance): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

function poisson(mean: number, { next }: Chance): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = next(); product > limit; product *= next()) count++;
  return count;
}
