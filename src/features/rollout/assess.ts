/** A look at the calls comes to a verdict and to guard rails, from counts alone (`test/rollout/worlds.ts` plays them). */
import type { Address } from '../../core/address.ts';
import type { Rollouts } from '../../core/documents.generated.ts';
import { formatCount, formatFirst } from '../../core/errors.ts';
import { inSeconds, sum } from '../../core/value.ts';
import { type AgentCalls, judge, shareAlpha, type Tally } from './judge.ts';
import type { GuardRails, Judging, LoggedCalls, Measure } from './record.ts';

/** Milliseconds. */
export const DAY = 24 * 3_600_000;
export const WEEK = 7 * DAY;
/** Late harm shows in a window of its own, and silence in a day or in as many. */
const LATE = 3 * DAY;

/** `changedAt`: when it was last changed by anything else than the rollout, in milliseconds; null where unknown. */
export type Agent = {
  readonly address: Address;
  readonly id: string;
  readonly changedAt: number | null;
};

/** The calls of an agent, as metrics give them (Metrics, agentPerformance), and their counts from one time to another. */
export type Figures = { readonly [of in 'calls' | 'resolved' | 'seconds']: number };
export type Count = (id: string, from: number, until: number) => Figures;

/** Days of calls since the first step, by the time at which each begins, and the weeks before. */
export type Logs = {
  readonly before: LoggedCalls;
  readonly since: ReadonlyMap<string, ReadonlyMap<number, DayOfCalls>>;
};

/** A rollout as it is looked at; times in milliseconds. `logs`: null where the platform gives none. */
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

/** `hasMetrics`: false where the platform gives no metrics at all, so that nothing was counted. */
export function assess(
  watched: Watched,
  count: Count,
  hasMetrics = true,
): Omit<Rollouts.Look, 'at' | 'step'> {
  const { now, start, groups, judge: judging, guardRails, logs } = watched;
  // An agent that was changed since is no longer comparable.
  const others = watched.others.filter(({ changedAt }) => (changedAt ?? 0) <= start);
  const findCalls = (
    name: Measure['name'],
    { address, id }: Agent,
    since: number,
    { weeks, before }: Pick<AgentCalls, 'weeks' | 'before'>,
  ): AgentCalls => {
    if (name !== 'errors')
      return { address, weeks, before, after: tally(name, count(id, since, now)) };
    const { calls = 0, errors = 0 } = logs?.before[id] ?? {};
    const days = daysSince(logs, id, since);
    const after = {
      calls: sum(days.map((one) => one.calls)),
      sum: sum(days.map((one) => one.errors)),
    };
    return { address, weeks, before: { calls, sum: errors }, after };
  };
  const seen = judging.measures.map((measure) => {
    // Each agent is in several cohorts, and its weeks before are the same in all.
    const all = [...groups.flatMap(({ changed }) => changed), ...others];
    const before = new Map(
      all.map((agent) => [agent.id, countBefore(measure.name, agent, start, judging, count)]),
    );
    const compare = (changed: readonly Agent[], since: number) => {
      const list = (agents: readonly Agent[]) =>
        agents.flatMap((agent) => {
          const own = before.get(agent.id);
          return own === undefined ? [] : [findCalls(measure.name, agent, since, own)];
        });
      return { changed: list(changed), others: list(others) };
    };
    if (measure.name === 'errors' ? logs === null : !hasMetrics)
      return { measure, cohorts: null, recent: [] };
    const old = groups.filter(({ since }) => since < now - LATE);
    return {
      measure,
      cohorts: groups.map(({ changed, since }) => compare(changed, since)),
      recent: old.map(({ changed }) => compare(changed, now - LATE)),
    };
  });
  const rails = guardRails.errors === undefined ? 0 : 1;
  const days = (now - (groups.at(-1)?.since ?? now)) / DAY;
  const calls = groups.flatMap(({ changed, since }) =>
    changed.map(({ id }) => count(id, since, now).calls),
  );
  return {
    ...judge(seen, { ...judging, days, rails }),
    calls: sum(calls),
    agents: calls.length,
    others: others.length,
    broken: [
      ...(hasMetrics ? listSilent(watched, others, count) : []),
      ...listFailing(watched, others, shareAlpha(seen.length, rails)),
    ],
  };
}

/** The calls of an agent in the whole weeks before a time since it was last changed. */
export function countBefore(
  name: Measure['name'],
  { id, changedAt }: Agent,
  until: number,
  { baselineWeeks }: Pick<Judging, 'baselineWeeks'>,
  count: Count,
): Pick<AgentCalls, 'weeks' | 'before'> {
  const whole = Math.floor((until - (changedAt ?? 0)) / WEEK);
  const weeks = Math.max(0, Math.min(baselineWeeks, whole));
  const all = Array.from({ length: weeks }, (_, week) =>
    tally(name, count(id, until - (week + 1) * WEEK, until - week * WEEK)),
  );
  const before = { calls: sum(all.map((one) => one.calls)), sum: sum(all.map((one) => one.sum)) };
  return { weeks, before };
}

export function tally(name: Measure['name'], { calls, resolved, seconds }: Figures): Tally {
  return { calls, sum: name === 'duration' ? seconds : resolved };
}

function daysSince(logs: Logs | null, id: string, since: number): readonly DayOfCalls[] {
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

/* Guard rails, which stop a rollout without a verdict. */

type Broken = Rollouts.Look['broken'];

/** Calls of an agent in a stretch up to now, and in the same stretch of each of some weeks before it had the change. */
export type Stretch = {
  readonly address: Address;
  readonly calls: number;
  readonly weeks: readonly number[];
};

/** Silence is compared with so many weeks before. */
const SILENCE_WEEKS = 4;
/** So many of the others that would have calls may have none. Where it is more, figures are missing. */
const SILENT_SHARE = 0.15;

/** Agents without a call for a day, or for some, in which they had calls in each of the weeks before their step. */
function listSilent(
  { now, groups, guardRails }: Watched,
  others: readonly Agent[],
  count: Count,
): Broken {
  const named = new Set<Address>();
  return groups.flatMap(({ since, changed }) =>
    [DAY, LATE].flatMap((length) => {
      const from = Math.max(since, now - length);
      const weeks = Array.from(
        { length: SILENCE_WEEKS },
        (_, week) => (Math.ceil((now - since) / WEEK) + week) * WEEK,
      );
      const stretch = ({ address, id }: Agent) => ({
        address,
        calls: count(id, from, now).calls,
        weeks: weeks.map((back) => count(id, from - back, now - back).calls),
      });
      const found = findSilence(changed.map(stretch), others.map(stretch), guardRails.silence);
      const agents = found.agents.filter(({ address }) => !named.has(address));
      for (const { address } of agents) named.add(address);
      return agents.map(({ address, expected }) => ({
        ...{ rail: 'silence' as const, does: found.does, address },
        message: `${address} got no call since ${inSeconds(new Date(from).toISOString())}; ${Math.round(expected)} were expected`,
      }));
    }),
  );
}

type Silence = Pick<Broken[number], 'does'> & {
  readonly agents: readonly { readonly address: Address; readonly expected: number }[];
};

/**
 * Agents of one step that got no call in a stretch in which they had some in each of the weeks before: weekdays, closing
 * times and agents without calls are no silence. An agent with `least` expected calls holds; where half of the step
 * is silent, with as many calls expected of all together, it is rolled back.
 */
export function findSilence(
  changed: readonly Stretch[],
  others: readonly Stretch[],
  least: number,
): Silence {
  const isCalled = ({ weeks }: Stretch) => weeks.length > 0 && weeks.every((calls) => calls > 0);
  const called = others.filter(isCalled);
  const quiet = called.filter(({ calls }) => calls === 0).length;
  if (called.length === 0 || quiet > SILENT_SHARE * called.length)
    return { does: 'hold', agents: [] };
  const silent = changed
    .filter((one) => one.calls === 0 && isCalled(one))
    .map(({ address, weeks }) => ({ address, expected: sum(weeks) / weeks.length }));
  const isHalf = silent.length > 1 && silent.length >= changed.length / 2;
  return isHalf && sum(silent.map(({ expected }) => expected)) >= least
    ? { does: 'rollback', agents: silent }
    : { does: 'hold', agents: silent.filter(({ expected }) => expected >= least) };
}

/** Calls of an agent on one day, and how many of them have an error. */
export type DayOfCalls = { readonly calls: number; readonly errors: number };

/** Fewer errors make no bad day: one fault easily makes two, since a caller who is cut off calls again. */
const LEAST_ERRORS = 3;
/** Percent of calls with an error, from which on a broken rail rolls back. */
const MANY_ERRORS = 30;

export function isBad({ calls, errors }: DayOfCalls, limit: number): boolean {
  return errors >= LEAST_ERRORS && 100 * errors > limit * calls;
}

/** Agents with the change whose calls have more errors than agents have elsewhere. */
function listFailing(watched: Watched, others: readonly Agent[], alpha: number): Broken {
  const { groups, logs, guardRails } = watched;
  const { errors: limit } = guardRails;
  if (limit === undefined || logs === null) return [];
  const isOver = (day: DayOfCalls) => isBad(day, limit);
  const before = Object.values(logs.before);
  const around = others.flatMap(({ id }) => daysSince(logs, id, groups[0]?.since ?? watched.start));
  const usual = {
    days: sum(before.map(({ days }) => days)) + around.length,
    bad: sum(before.map(({ badDays }) => badDays)) + around.filter(isOver).length,
  };
  const changed = groups.flatMap((group) =>
    group.changed.map(({ address, id }) => ({ address, days: daysSince(logs, id, group.since) })),
  );
  const all = changed.flatMap(({ days }) => days);
  const does = judgeErrors(all, usual, limit, alpha);
  if (does === null) return [];
  const agents = changed.filter(({ days }) => days.some(isOver)).map(({ address }) => address);
  const [calls, errors] = [sum(all.map((one) => one.calls)), sum(all.map((one) => one.errors))];
  const message = `${errors} of ${formatCount(calls, 'call')} of agents with the change have an error; ${formatFirst(agents, 3)} had days with more than ${limit} %`;
  return [{ rail: 'errors', does, address: agents[0] ?? '', message }];
}

/**
 * Errors come in days: one fault fails many calls of a day. So the unit is an agent's day, which is bad where more than
 * `limit` percent of its calls have an error. The rail is broken where agents with the change have more bad days than
 * agents have elsewhere: the others, and all of them before. The share counts by the lower end of a confidence sequence
 * (Robbins 1970 with the mixture of Krichevsky and Trofimov 1981, exact for independent days).
 */
export function judgeErrors(
  days: readonly DayOfCalls[],
  usual: { readonly days: number; readonly bad: number },
  limit: number,
  alpha: number,
): Broken[number]['does'] | null {
  const found = days.filter((day) => isBad(day, limit)).length;
  const allowed = (usual.bad + 1) / (usual.days + 2);
  if (found === 0 || leastShare(found, days.length, alpha) <= allowed) return null;
  const errors = sum(days.map((one) => one.errors));
  return 100 * errors < MANY_ERRORS * sum(days.map((one) => one.calls)) ? 'hold' : 'rollback';
}

/** The least share that the mixture over all shares does not exclude. */
function leastShare(found: number, days: number, alpha: number): number {
  const missed = days - found;
  let mixed = 0;
  for (let at = 0; at < found; at++) mixed += Math.log((at + 0.5) / (at + 1));
  for (let at = 0; at < missed; at++) mixed += Math.log((at + 0.5) / (found + at + 1));
  let [low, high] = [0, found / days];
  for (let step = 0; step < 50; step++) {
    const share = (low + high) / 2;
    const none = missed === 0 ? 0 : missed * Math.log1p(-share);
    if (mixed - found * Math.log(share) - none >= -Math.log(alpha)) low = share;
    else high = share;
  }
  return low;
}
