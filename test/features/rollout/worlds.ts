import { seedChance } from '../../../src/simulator/ids.ts';

/**
 * Fleets and their callers as numbers alone, to play rollouts on with all rails on. They know nothing of the judgement.
 * Each world is the calm one and something else that happens to fleets; it was written before the judge was tuned.
 */

/** Calls of an agent in a span: how many, how many were resolved, how many have an error. */
export type Counts = { readonly calls: number; readonly resolved: number; readonly errors: number };

/** Milliseconds. A world counts calls in slots of three hours, and is looked at after each that has some. */
const HOUR = 3_600_000;
const SLOT = 3 * HOUR;
const DAY = 8;
const WEEK = 7 * DAY;
export const BASELINE_WEEKS = 8;
const START_DAY = BASELINE_WEEKS * 7 + 7;
/** After so many days nobody waits any longer. */
const PATIENCE = 35;
const DAYS = START_DAY + 7 + PATIENCE;
const SLOTS = DAYS * DAY;

export const AGENTS = 40;
/** A fifth, half, all: the default steps. */
export const STEPS = [8, 20, 40];

type Draw = {
  readonly next: () => number;
  readonly normal: () => number;
  /** Draws whether something of that probability happens. */
  readonly is: (probability: number) => boolean;
};

/** A world changes calls. Odds are logarithms; a tenth is about two points of the outcomes. */
export type World = {
  readonly name: string;
  /** Calls of an agent on a day; 10 to 80 unless given. */
  readonly volume?: (agent: number, draw: Draw) => number;
  /** Agents that get the change first; at random unless given. */
  readonly isByVolume?: boolean;
  /** Factors of the number and of the odds of an agent's calls on each day. */
  readonly days?: (world: DayMaker) => void;
  /** The change does this besides, from a day after an agent's step on: a factor of the good outcomes. */
  readonly change?: (cost: number, days: number) => number;
  /** Half of the good outcomes are known a day later. */
  readonly isLate?: boolean;
  /** A change of 10 % is to be found before half of the fleet has it. */
  readonly isFeasible?: boolean;
};

type DayMaker = {
  readonly draw: Draw;
  /** The day on which the rollout is started. */
  readonly start: number;
  /** Agents in the order in which they get the change. */
  readonly order: readonly number[];
  /** By agent and day. */
  readonly volume: readonly Float64Array[];
  readonly odds: readonly Float64Array[];
  readonly errors: readonly Float64Array[];
  /** The part of the good outcomes that stays. */
  readonly share: readonly Float64Array[];
  /** When agents were last changed by others, before and after the start. */
  readonly changed: Map<number, number>;
};

function eachDay(
  { draw }: DayMaker,
  probability: number,
  then: (agent: number, day: number) => void,
) {
  for (let agent = 0; agent < AGENTS; agent++)
    for (let day = 0; day < DAYS; day++) if (draw.is(probability)) then(agent, day);
}

function set(of: readonly Float64Array[], agent: number, day: number, factor: number): void {
  const days = of[agent];
  if (days !== undefined && day >= 0 && day < DAYS) days[day] = (days[day] ?? 0) * factor;
}

export const WORLDS: readonly World[] = [
  { name: 'calm' },
  {
    name: 'wandering: agents move twice as much by themselves',
    days: ({ odds, draw }) => wander(odds, draw, 0.14, 0.2),
  },
  {
    name: 'closed weekdays: 10 % of agents',
    days(world) {
      for (let agent = 0; agent < AGENTS; agent++) {
        if (!world.draw.is(0.1)) continue;
        const weekday = Math.floor(5 * world.draw.next());
        for (let day = weekday; day < DAYS; day += 7) set(world.volume, agent, day, 0);
      }
    },
  },
  {
    name: 'closed weeks: 1 % of agent-weeks',
    days: (world) =>
      eachDay(world, 0.01 / 7, (agent, day) => {
        for (let more = 0; more < 7; more++) set(world.volume, agent, day + more, 0);
      }),
  },
  {
    name: 'campaigns: three days with four times the calls, of other people',
    days: ({ odds, ...world }) =>
      eachDay({ odds, ...world }, 0.01, (agent, day) => {
        for (let more = 0; more < 3; more++) {
          set(world.volume, agent, day + more, 4);
          add(odds, agent, day + more, -0.3);
        }
      }),
  },
  {
    name: 'hub and spokes: 4 agents have two thirds of the calls, and come first',
    isByVolume: true,
    volume: (agent) => (agent < 4 ? 300 : 15),
    days: ({ odds, draw }) => wander(odds.slice(0, 4), draw, 0.1, 0.1),
  },
  {
    name: 'correlated organizations: five, that move as one',
    days({ odds, draw }) {
      const own = Array.from({ length: 5 }, () => new Float64Array(DAYS));
      wander(own, draw, 0.12, 0.1);
      for (const [agent, days] of odds.entries())
        for (let day = 0; day < DAYS; day++)
          days[day] = (days[day] ?? 0) + (own[agent % 5]?.[day] ?? 0);
    },
  },
  {
    name: 'outages of the platform: outcomes halve for a day, unequally',
    days({ share, draw, start }) {
      const days = [start + Math.floor(6 * draw.next())];
      for (let day = 0; day < DAYS; day++) if (draw.is(1 / 30)) days.push(day);
      for (const day of days)
        for (let agent = 0; agent < AGENTS; agent++)
          set(share, agent, day, Math.min(0.9, 0.5 * Math.exp(0.3 * draw.normal())));
    },
  },
  {
    name: 'incidents of single agents: two days with half of the outcomes',
    days: (world) =>
      eachDay(world, 0.01, (agent, day) => {
        for (let more = 0; more < 2; more++) set(world.share, agent, day + more, 0.5);
      }),
  },
  {
    name: 'bad days: of 200 agent-days one has errors in 30 % of its calls',
    days: (world) => eachDay(world, 1 / 200, (agent, day) => set(world.errors, agent, day, 15)),
  },
  { name: 'late outcomes: half of them are known a day later', isLate: true },
  {
    name: 'novelty: for two days callers are 5 % better off',
    change: (cost, days) => (1 - cost) * (days < 2 ? 1.05 : 1),
  },
  {
    name: 'late harm: the change does nothing for three days',
    change: (cost, days) => (days < 3 ? 1 : 1 - cost),
    isFeasible: false,
  },
  {
    name: 'a previous bad change: three weeks with 15 % less, of those that come first',
    days({ share, start, order, changed }) {
      for (const agent of order.slice(0, STEPS[0])) {
        for (let day = start - 28; day < start - 7; day++) set(share, agent, day, 0.85);
        changed.set(agent, start - 7);
      }
    },
  },
  {
    name: 'a change of others: a third of them improves by 20 % on the second day',
    days({ share, start, order, changed }) {
      for (const agent of order.slice(-12)) {
        for (let day = start + 1; day < DAYS; day++) set(share, agent, day, 1.2);
        changed.set(agent, start + 1);
      }
    },
  },
];

function add(of: readonly Float64Array[], agent: number, day: number, more: number): void {
  const days = of[agent];
  if (days !== undefined && day < DAYS) days[day] = (days[day] ?? 0) + more;
}

/** An agent's week has so much of the week before. */
const MEMORY = 0.7;

/** Lets each wander from week to week and from day to day. */
function wander(odds: readonly Float64Array[], { normal }: Draw, week: number, day: number): void {
  for (const days of odds) {
    let own = week * normal();
    for (let at = 0; at < DAYS; at++) {
      if (at % 7 === 0 && at > 0) own = MEMORY * own + Math.sqrt(1 - MEMORY ** 2) * week * normal();
      days[at] = (days[at] ?? 0) + own + day * normal();
    }
  }
}

/** A rollout as somebody sees it who looks at it: agents are numbers, in the order in which they get the change. */
export type View = {
  /** Milliseconds, as all times. */
  readonly now: number;
  readonly start: number;
  /** Agents that got the change with each step so far, and since when. */
  readonly cohorts: readonly {
    readonly from: number;
    readonly to: number;
    readonly since: number;
  }[];
  /** When an agent was changed by others. */
  readonly changedAt: (agent: number) => number | undefined;
  readonly count: (agent: number, from: number, until: number) => Counts;
};

/** `pause`: it is held until a later look says otherwise. */
export type Decision = 'rollback' | 'pause' | 'go' | 'wait';

export type Outcome = {
  readonly end: 'rolled back' | 'held' | 'finished' | 'waiting';
  /** Agents that have the change by then; `hours` until it was held or rolled back for good. */
  readonly agents: number;
  readonly hours: number;
};

const WEEKDAYS = [1.2, 1.05, 1, 0.95, 0.8, 0.15, 0.05];
/** The part of a day's calls in each slot. */
const PARTS = [0, 0, 0.05, 0.3, 0.28, 0.25, 0.1, 0.02];
/** The share of good outcomes, and of calls with an error. */
const [RESOLVED, ERRORS] = [0.71, 0.02];

/** Plays one rollout of a change that costs a part of the good outcomes. */
export function play(
  world: World,
  cost: number,
  seed: number,
  decide: (view: View) => Decision,
): Outcome {
  const draw = openDraw(seed);
  const start = START_DAY + Math.floor(5 * draw.next());
  const volumes = Array.from({ length: AGENTS }, (_, agent) =>
    world.volume === undefined ? 10 * 8 ** draw.next() : world.volume(agent, draw),
  );
  if (world.isByVolume === true) volumes.sort((a, b) => b - a);
  const table = (value: () => number) =>
    Array.from({ length: AGENTS }, () => Float64Array.from({ length: DAYS }, value));
  const maker: DayMaker = {
    draw,
    start,
    order: volumes.map((_, agent) => agent),
    volume: table(() => Math.exp(0.2 * draw.normal())),
    odds: table(() => 0),
    errors: table(() => 1),
    share: table(() => 1),
    changed: new Map(),
  };
  wander(maker.odds, draw, 0.08, 0.12);
  const shocks = Float64Array.from({ length: DAYS }, () => 0.1 * draw.normal());
  const own = volumes.map(() => Math.log(RESOLVED / (1 - RESOLVED)) + 0.3 * draw.normal());
  world.days?.(maker);

  const [calls, resolved, errors] = [sums(), sums(), sums()];
  const stepDays = new Float64Array(AGENTS).fill(Number.POSITIVE_INFINITY);
  const playSlot = (slot: number) => {
    const day = Math.floor(slot / DAY);
    const part = (PARTS[slot % DAY] ?? 0) * (WEEKDAYS[day % 7] ?? 0);
    for (let agent = 0; agent < AGENTS; agent++) {
      const mean = (volumes[agent] ?? 0) * part * (maker.volume[agent]?.[day] ?? 0);
      const count = poisson(mean, draw);
      const age = (slot - (stepDays[agent] ?? 0)) / DAY;
      const kept = age < 0 ? 1 : (world.change?.(cost, age) ?? 1 - cost);
      const odds = (own[agent] ?? 0) + (maker.odds[agent]?.[day] ?? 0) + (shocks[day] ?? 0);
      const share = Math.min(1, kept * (maker.share[agent]?.[day] ?? 1)) / (1 + Math.exp(-odds));
      push(calls[agent], slot, count);
      push(resolved[agent], slot, binomial(count, Math.min(0.99, share), draw));
      push(errors[agent], slot, binomial(count, ERRORS * (maker.errors[agent]?.[day] ?? 1), draw));
    }
  };
  let slot = 0;
  // It is started before noon.
  const begin = start * DAY + 4;
  while (slot < begin) playSlot(slot++);

  const cohorts: { from: number; to: number; since: number }[] = [];
  let changed = 0;
  const apply = (next: number) => {
    cohorts.push({ from: changed, to: next, since: slot * SLOT });
    stepDays.fill(slot, changed, next);
    changed = next;
  };
  apply(STEPS[0] ?? AGENTS);
  let pausedAt: number | undefined;
  while (slot < begin + PATIENCE * DAY) {
    playSlot(slot++);
    if (PARTS[(slot - 1) % DAY] === 0) continue;
    const now = slot;
    const decision = decide({
      now: now * SLOT,
      start: begin * SLOT,
      cohorts,
      changedAt: (agent) => {
        const day = maker.changed.get(agent);
        return day === undefined || day * DAY > now ? undefined : day * DAY * SLOT;
      },
      count: (agent, from, until) => {
        const [a, b] = [Math.round(from / SLOT), Math.round(until / SLOT)];
        let found = span(resolved[agent], a, b);
        if (world.isLate === true)
          found -= Math.round(span(resolved[agent], Math.max(a, now - DAY), b) / 2);
        return {
          calls: span(calls[agent], a, b),
          resolved: found,
          errors: span(errors[agent], a, b),
        };
      },
    });
    const hours = ((slot - begin) * SLOT) / HOUR;
    pausedAt =
      decision === 'pause' ? (pausedAt ?? hours) : decision === 'rollback' ? pausedAt : undefined;
    if (decision === 'rollback')
      return { end: 'rolled back', agents: changed, hours: pausedAt ?? hours };
    if (decision !== 'go') continue;
    if (changed === AGENTS) return { end: 'finished', agents: changed, hours };
    apply(STEPS[cohorts.length] ?? AGENTS);
    // With nobody left to compare with, the last step is not judged.
    if (changed === AGENTS) return { end: 'finished', agents: changed, hours };
  }
  const end = pausedAt === undefined ? 'waiting' : 'held';
  return { end, agents: changed, hours: pausedAt ?? PATIENCE * 24 };
}

/** Sums by agent, from the beginning up to each slot. */
function sums(): readonly Float64Array[] {
  return Array.from({ length: AGENTS }, () => new Float64Array(SLOTS + 1));
}

function push(of: Float64Array | undefined, slot: number, count: number): void {
  if (of !== undefined) of[slot + 1] = (of[slot] ?? 0) + count;
}

function span(of: Float64Array | undefined, from: number, until: number): number {
  return until <= from ? 0 : (of?.[until] ?? 0) - (of?.[Math.max(0, from)] ?? 0);
}

function openDraw(seed: number): Draw {
  const { next } = seedChance(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return { next, normal, is: (probability) => next() < probability };
}

function poisson(mean: number, { next, normal }: Draw): number {
  if (mean <= 0) return 0;
  if (mean > 12) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = next(); product > limit; product *= next()) count++;
  return count;
}

function binomial(count: number, share: number, { next, normal }: Draw): number {
  if (count > 60 && share > 0.2)
    return Math.max(
      0,
      Math.min(
        count,
        Math.round(count * share + Math.sqrt(count * share * (1 - share)) * normal()),
      ),
    );
  let found = 0;
  for (let call = 0; call < count; call++) if (next() < share) found++;
  return found;
}

export const SPANS = { hour: HOUR, day: DAY * SLOT, week: WEEK * SLOT };
