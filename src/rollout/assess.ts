/**
 * A look at the calls comes to a verdict and to guard rails, from counts alone. The worlds of
 * `test/rollout/worlds.ts` are played with it.
 */
import type { Address } from '../core/address.ts';
import type { Rollouts } from '../core/documents.generated.ts';
import { formatCount, formatFirst } from '../core/errors.ts';
import type { GuardRails, Judging, LoggedCalls, Measure } from '../core/rollout.ts';
import { inSeconds, sum } from '../core/value.ts';
import type { AgentCalls, Cohort, Tally } from './effect.ts';
import { judge, shareAlpha } from './judge.ts';
import { type DayOfCalls, findErrors, findSilence, isBad } from './rails.ts';

/** Milliseconds. */
export const DAY = 24 * 3_600_000;
export const WEEK = 7 * DAY;

/** `changedAt`: when it was last changed by anything else than the rollout, in milliseconds; null where unknown. */
export type Agent = {
  readonly address: Address;
  readonly id: string;
  readonly changedAt: number | null;
};

/** The calls of an agent, as metrics tell them (Metrics, agentPerformance). */
export type Figures = { readonly [of in 'calls' | 'resolved' | 'seconds']: number };

/** Days of calls since the first step, by the time at which each begins, and what was told of the weeks before. */
export type Logs = {
  readonly before: LoggedCalls;
  readonly since: ReadonlyMap<string, ReadonlyMap<number, DayOfCalls>>;
};

/** A rollout as it is looked at; times in milliseconds. `logs`: null where the platform tells nothing of them. */
export type Watched = {
  readonly now: number;
  readonly start: number;
  /** Agents by the step with which they got the change, and those that do not have it. */
  readonly groups: readonly { readonly since: number; readonly changed: readonly Agent[] }[];
  readonly others: readonly Agent[];
  readonly judge: Judging;
  readonly guardRails: GuardRails;
  readonly logs: Logs | null;
};

/** The figures of an agent from a time up to another. */
export type Count = (id: string, from: number, until: number) => Figures;

/** Late harm shows in a window of its own, and silence in a day or in as many. */
const LATE = 3 * DAY;
/** Silence is compared with so many weeks before. */
const SILENCE_WEEKS = 4;

/** `isTold`: whether the platform gives metrics at all; without them nothing is counted. */
export function assess(
  watched: Watched,
  count: Count,
  isTold = true,
): Omit<Rollouts.Look, 'at' | 'step'> {
  const { now, start, groups, judge: judging, guardRails, logs } = watched;
  // An agent that was changed since is no longer comparable.
  const others = watched.others.filter(({ changedAt }) => (changedAt ?? 0) <= start);
  const weeksOf = ({ changedAt }: Agent) =>
    Math.min(judging.baselineWeeks, Math.floor((start - (changedAt ?? 0)) / WEEK));
  const tallies = (name: Measure['name'], agent: Agent, since: number): AgentCalls => {
    const weeks = weeksOf(agent);
    const { address, id } = agent;
    if (name === 'errors') {
      const { calls = 0, errors = 0 } = logs?.before[id] ?? {};
      const days = listDays(logs, id, since);
      const after = {
        calls: sum(days.map((one) => one.calls)),
        sum: sum(days.map((one) => one.errors)),
      };
      return { address, weeks, before: { calls, sum: errors }, after };
    }
    const tally = (from: number, until: number): Tally => {
      const figures = count(id, from, until);
      return {
        calls: figures.calls,
        sum: name === 'duration' ? figures.seconds : figures.resolved,
      };
    };
    const before = Array.from({ length: weeks }, (_, week) =>
      tally(start - (week + 1) * WEEK, start - week * WEEK),
    );
    const [calls, total] = [sum(before.map((one) => one.calls)), sum(before.map((one) => one.sum))];
    return { address, weeks, before: { calls, sum: total }, after: tally(since, now) };
  };
  const compare = (name: Measure['name'], changed: readonly Agent[], since: number): Cohort => ({
    changed: changed.map((agent) => tallies(name, agent, since)),
    others: others.map((agent) => tallies(name, agent, since)),
  });
  const old = groups.filter(({ since }) => since < now - LATE);
  const seen = judging.measures.map((measure) => {
    const { name } = measure;
    if (name === 'errors' ? logs === null : !isTold) return { measure, cohorts: null, recent: [] };
    return {
      measure,
      cohorts: groups.map(({ changed, since }) => compare(name, changed, since)),
      recent: old.map(({ changed }) => compare(name, changed, now - LATE)),
    };
  });
  const rails = guardRails.errors === undefined ? 0 : 1;
  const days = (now - (groups.at(-1)?.since ?? now)) / DAY;
  const { isCalm, ...judged } = judge(seen, { ...judging, days, rails });
  const calls = groups.flatMap(({ changed, since }) =>
    changed.map(({ id }) => count(id, since, now).calls),
  );
  return {
    ...judged,
    calm: isCalm,
    calls: sum(calls),
    agents: calls.length,
    others: others.length,
    broken: [
      ...(isTold ? listSilent(watched, others, count) : []),
      ...listFailing(watched, others, shareAlpha(seen.length, rails)),
    ],
  };
}

type Broken = Rollouts.Look['broken'];

/** Agents that got no call for a day, or for some, in which they had calls in each of the weeks before their step. */
function listSilent(watched: Watched, others: readonly Agent[], count: Count): Broken {
  const { now, groups, guardRails } = watched;
  const told = new Set<Address>();
  return groups.flatMap(({ since, changed }) =>
    [DAY, LATE].flatMap((length) => {
      const from = Math.max(since, now - length);
      const first = Math.ceil((now - since) / WEEK);
      const stretch = ({ address, id }: Agent) => ({
        address,
        calls: count(id, from, now).calls,
        weeks: Array.from({ length: SILENCE_WEEKS }, (_, week) => {
          const back = (first + week) * WEEK;
          return count(id, from - back, now - back).calls;
        }),
      });
      const found = findSilence(changed.map(stretch), others.map(stretch), guardRails.silence);
      const agents = (found?.agents ?? []).filter(({ address }) => !told.has(address));
      for (const { address } of agents) told.add(address);
      return agents.map(({ address, expected }) => ({
        rail: 'silence' as const,
        does: found?.does ?? 'hold',
        address,
        message: `${address} got no call since ${isoTime(from)}; ${Math.round(expected)} were expected`,
      }));
    }),
  );
}

/** Agents with the change whose calls have more errors than agents have elsewhere. */
function listFailing(watched: Watched, others: readonly Agent[], alpha: number): Broken {
  const { groups, logs, guardRails } = watched;
  const { errors: limit } = guardRails;
  if (limit === undefined || logs === null) return [];
  const since = groups[0]?.since ?? watched.start;
  const before = Object.values(logs.before);
  const around = others.flatMap(({ id }) => listDays(logs, id, since));
  const usual = {
    days: sum(before.map(({ days }) => days)) + around.length,
    bad:
      sum(before.map(({ badDays }) => badDays)) + around.filter((day) => isBad(day, limit)).length,
  };
  const changed = groups.flatMap((group) =>
    group.changed.map(({ address, id }) => ({ address, days: listDays(logs, id, group.since) })),
  );
  const found = findErrors(
    changed.flatMap(({ days }) => days),
    usual,
    limit,
    alpha,
  );
  if (found === null) return [];
  const agents = changed.filter(({ days }) => days.some((day) => isBad(day, limit)));
  const names = formatFirst(
    agents.map(({ address }) => address),
    3,
  );
  const { does, calls, errors } = found;
  const message = `${errors} of ${formatCount(calls, 'call')} of agents with the change have an error; ${names} had days with more than ${limit} %`;
  return [{ rail: 'errors', does, address: agents[0]?.address ?? '', message }];
}

function listDays(logs: Logs | null, id: string, since: number): readonly DayOfCalls[] {
  const days = [...(logs?.since.get(id) ?? [])];
  return days.flatMap(([begin, day]) => (begin + DAY > since ? [day] : []));
}

/** A look is a reason to roll back, to hold as long as it says so, or for neither. */
export function findStop(look: Pick<Rollouts.Look, 'verdict' | 'calm' | 'broken'> | null) {
  if (look === null) return null;
  const isWorse = look.verdict === 'worse';
  if ((isWorse && look.calm) || look.broken.some(({ does }) => does === 'rollback'))
    return 'rollback';
  return isWorse || look.broken.length > 0 ? 'hold' : null;
}

/** In whole seconds. */
function isoTime(milliseconds: number): string {
  return inSeconds(new Date(milliseconds).toISOString());
}
