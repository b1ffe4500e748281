/**
 * Counts the calls that a rollout is judged by. Figures come from metrics, which give every agent's at once; what they
 * do not tell, whether something failed in a call, comes from the call logs of some agents.
 */
import type { Address } from '../core/address.ts';
import { findEnd, stretchesWithin } from '../core/calendar.ts';
import { computeDigest } from '../core/digest.ts';
import type { Rollouts } from '../core/documents.generated.ts';
import { CallsheetError, formatCount } from '../core/errors.ts';
import {
  agentsReached,
  type CallCounts,
  type CountedHours,
  type GuardRails,
  type Judging,
  type LoggedCalls,
  listUnderWay,
  type Measure,
  type RolloutRecord,
  type RolloutSettings,
} from '../core/rollout.ts';
import { inSeconds, inTurns, isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import {
  agentFiguresIn,
  buildMetricsCall,
  findTime,
  type Span,
  wantedCalls,
} from '../live/calls.ts';
import { ApiError, describeApiError, isNotFound } from '../platform/errors.ts';
import type { Session } from '../run/session.ts';
import { type Cohort, findErrors, findSilence, judge, type Seen, type Tally } from './judge.ts';

type Platform = Pick<Session, 'client' | 'state'>;

/** Milliseconds. */
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

type Agent = { readonly address: Address; readonly id: string };

/** The agents that got the change with one step, and those that do not have it. */
type Group = {
  /** The number of the step, from 1. */
  readonly part: number;
  readonly since: number;
  readonly changed: readonly Agent[];
  readonly others: readonly Agent[];
};

/** Why the platform tells nothing. */
type Untold = { readonly why: string };

/** What came of looking; `others`: agents that there are to compare with. */
type Looked = Pick<RolloutRecord, 'logs'> & {
  readonly look: Rollouts.Look;
  readonly others: number;
};

/** The calls of a rollout as they are at a time of the platform, and what follows from them. */
export async function lookAtCalls(
  record: RolloutRecord,
  session: Platform,
  now: number,
): Promise<Looked> {
  const { judge: judging, guardRails } = record.settings;
  const groups = listGroups(record, session);
  const started = Date.parse(record.started_at);
  const weeks = { from: started - judging.baselineWeeks * WEEK, until: started };
  // The weeks before, the time since each step, and the last day.
  const begins = [...groups.map(({ since }) => since), now - DAY];
  const spans = [weeks, ...begins.map((from) => ({ from, until: now }))];
  const figures = await readFigures(spans, judging.counted, groups, session);
  const logs = needsLogs(judging, guardRails) ? await readLogs(record, groups, now, session) : null;
  const countedIn = (name: MetricName): Seen['cohorts'] =>
    'why' in figures
      ? null
      : tallyCohorts(groups, (id, index) => toTally(name, figures.spans[index]?.get(id)));
  const cohortsFor = ({ name }: Measure): Seen['cohorts'] => {
    if (name !== 'errors') return countedIn(name);
    return logs === null || 'why' in logs ? null : errorCohorts(logs, groups);
  };
  const newest = groups.at(-1)?.since ?? now;
  const { confidence, minCalls, minHours } = judging;
  const hours = (now - newest) / HOUR;
  const seen = judging.measures.map((measure) => ({ measure, cohorts: cohortsFor(measure) }));
  const judged = judge(seen, { confidence, minCalls, minHours, hours });
  const untold = logs !== null && 'why' in logs ? logs : figures;
  const volumes = countedIn('resolved');
  const others = groups.at(-1)?.others.length ?? 0;
  const look: Rollouts.Look = {
    at: isoTime(now),
    step: record.steps.findLastIndex(({ at }) => at !== null) + 1,
    ...judged,
    ...(judged.verdict === 'no_figures' && 'why' in untold ? { why: untold.why } : {}),
    calls: countCalls(volumes),
    agents: groups.flatMap(({ changed }) => changed).length,
    others,
    broken: [
      ...(await withoutDeleted(silentIn(groups, figures, guardRails), groups, session)),
      ...failingIn(groups, logs, judging, guardRails),
    ],
  };
  return { look, others, logs: logs !== null && 'why' in logs ? record.logs : logs };
}

function countCalls(volumes: Seen['cohorts']): number {
  return (volumes ?? [])
    .flatMap(({ changed }) => changed)
    .reduce((sum, { after }) => sum + after.calls, 0);
}

/**
 * Agents by the step with which they got the change. They are compared with what else the stack has, but for agents
 * that another rollout changes.
 */
function listGroups(record: RolloutRecord, { state }: Platform): readonly Group[] {
  const { agents, steps, step, judged_from: first, name } = record;
  const reached = steps.slice(0, step + 1);
  // A run that failed in part may have changed any agent of its step.
  const changed = new Set(agentsReached({ agents, steps: reached }).map(({ id }) => id));
  const elsewhere = new Set(
    listUnderWay(state, name).flatMap((one) => one.agents.map(({ id }) => id)),
  );
  const others = Object.entries(state.resources)
    .filter(([, { kind, id }]) => kind === 'agent' && !changed.has(id) && !elsewhere.has(id))
    .map(([address, { id }]) => ({ address, id }));
  return reached.flatMap(({ at, agents: count }, index): readonly Group[] => {
    const changed = agents.slice(steps[index - 1]?.agents ?? 0, count);
    return at === null || index < first
      ? []
      : [{ part: index + 1, since: Date.parse(at), changed, others }];
  });
}

/** `tally`: the calls of an agent in a span; 0 is the weeks before, then there is one for each group. */
function tallyCohorts(
  groups: readonly Group[],
  tally: (id: string, span: number, group: Group) => Tally,
): readonly Cohort[] {
  return groups.map((group, index) => {
    const { changed, others } = group;
    const callsOf = ({ address, id }: Agent) => ({
      address,
      before: tally(id, 0, group),
      after: tally(id, index + 1, group),
    });
    return { changed: changed.map(callsOf), others: others.map(callsOf) };
  });
}

/** What metrics tell of one agent (Metrics, agentPerformance), of one that nobody called. */
const NO_CALLS = { calls: 0, resolved: 0, seconds: 0 };

type Figures = Readonly<typeof NO_CALLS>;

/** Measures that metrics give. */
type MetricName = Exclude<Measure['name'], 'errors'>;

function toTally(name: MetricName, figures: Figures = NO_CALLS): Tally {
  return { calls: figures.calls, sum: name === 'duration' ? figures.seconds : figures.resolved };
}

type AllFigures = {
  readonly spans: readonly ReadonlyMap<string, Figures>[];
  /** When each of them begins. */
  readonly from: readonly number[];
};

/** The figures of all agents in each span; one request for each stretch of hours that count. */
async function readFigures(
  spans: readonly Span[],
  counted: CountedHours,
  groups: readonly Group[],
  { client, state }: Platform,
): Promise<AllFigures | Untold> {
  const scopes = new Set(
    groups
      .flatMap(({ changed, others }) => [...changed, ...others])
      .map(({ address }) => state.resources[address]?.scope.organization_id),
  );
  // One organization is asked for alone; several are one answer.
  const [organization] = scopes.size === 1 ? scopes : [];
  const read = async (span: Span) => {
    const parts = await Promise.all(
      stretchesWithin(counted, span).map(async ({ from, until }) => {
        const call = buildMetricsCall({ from, until }, organization);
        return figuresIn(await client.call(call));
      }),
    );
    return addUp(parts);
  };
  try {
    const found = await Promise.all(spans.map(read));
    const partial = found.find((one): one is Untold => 'why' in one);
    if (partial !== undefined) return partial;
    return {
      spans: found.flatMap((one) => ('why' in one ? [] : [one.agents])),
      from: spans.map(({ from }) => from),
    };
  } catch (error) {
    return untold(error);
  }
}

/** An answer that refuses or fails is no figure; where there is no answer at all the command fails. */
function untold(error: unknown): Untold {
  if (error instanceof ApiError)
    return { why: `The platform gives no figures: ${describeApiError(error)}.` };
  throw error;
}

type Part = { readonly agents: ReadonlyMap<string, Figures> };

function figuresIn(answer: Json): Part | Untold {
  const found = agentFiguresIn(answer);
  if (found === undefined) return { why: 'The metrics of the platform have no agentPerformance.' };
  const { listed, total = listed } = found;
  if (listed < total)
    return {
      why: `The figures are incomplete: agents have ${listed} of ${total} calls.`,
    };
  return { agents: new Map([...found.agents].map(([id, row]) => [id, toFigures(row)])) };
}

function toFigures(row: JsonObject): Figures {
  const calls = numberIn(row, 'totalCalls');
  return {
    calls,
    resolved: numberIn(row, 'resolved'),
    seconds: numberIn(row, 'avgDuration') * calls,
  };
}

function numberIn(row: JsonObject, name: string): number {
  const value = row[name];
  return typeof value === 'number' ? value : 0;
}

function addUp(parts: readonly (Part | Untold)[]): Part | Untold {
  const agents = new Map<string, Figures>();
  for (const part of parts) {
    if ('why' in part) return part;
    for (const [id, more] of part.agents) {
      const known = agents.get(id);
      agents.set(id, known === undefined ? more : addFigures(known, more));
    }
  }
  return { agents };
}

function addFigures(a: Figures, b: Figures): Figures {
  return {
    calls: a.calls + b.calls,
    resolved: a.resolved + b.resolved,
    seconds: a.seconds + b.seconds,
  };
}

function needsLogs({ measures }: Judging, { errors }: GuardRails): boolean {
  return errors !== undefined || measures.some(({ name }) => name === 'errors');
}

/**
 * Reading call logs takes a request for each hundred calls of each agent: of agents with the change, of others, and of
 * the calls of one agent between two looks no more than these are read.
 */
const MOST_CHANGED = 50;
const MOST_OTHERS = 24;
const MOST_CALLS = 500;
/** Agents whose calls are read at once: each has a page of transcripts in memory, and some more. */
const AT_ONCE = 8;

/** Milliseconds after which the log of a call is there: calls are counted once. */
const SETTLED = HOUR / 2;

/** Adds what call logs tell since the last look to what they told before, of the same agents each time. */
async function readLogs(
  { id: rollout, agents, settings, steps, logs: known, ...record }: RolloutRecord,
  groups: readonly Group[],
  now: number,
  { client }: Platform,
): Promise<LoggedCalls | Untold> {
  const { judge: judging, guardRails } = settings;
  const started = Date.parse(record.started_at);
  // The first to get the change, and those that have it last or never.
  const last = agents.slice(MOST_CHANGED);
  const others = [...last, ...(groups.at(-1)?.others ?? []).filter(isOther(agents))];
  const chosen =
    known === null
      ? [...agents.slice(0, MOST_CHANGED), ...shuffled(others, rollout).slice(0, MOST_OTHERS)]
      : Object.keys(known.agents).map((id) => ({ id }));
  const from = known === null ? started - judging.baselineWeeks * WEEK : Date.parse(known.until);
  const until = now - SETTLED;
  const begins = [started, ...steps.flatMap(({ at }) => (at === null ? [] : [Date.parse(at)]))];
  const words = guardRails.errorWords.map((word) => word.toLowerCase());
  const counted = new Map<string, readonly CallCounts[]>();
  const read = async ({ id }: { readonly id: string }) => {
    const counts = begins.map((_, part) => ({ ...(known?.agents[id]?.[part] ?? NO_COUNTS) }));
    counted.set(id, counts);
    const listed = client.each({ operation: 'listCallLogs', path: { agentId: id } });
    for await (const call of wantedCalls(listed, { since: from, limit: MOST_CALLS })) {
      const at = findTime(call);
      if (at === undefined || at < from || at >= until || !isCounted(at, judging.counted)) continue;
      // Before the rollout is the first part; what lies between its start and its first step counts nowhere.
      const part =
        at < started ? 0 : begins.findLastIndex((begin, index) => index > 0 && at >= begin);
      const count = counts[part];
      if (count === undefined) continue;
      count.calls += 1;
      if (hasWord(call, words)) count.errors += 1;
    }
  };
  if (until <= from) return known ?? { until: isoTime(from), agents: {} };
  try {
    await inTurns(chosen, AT_ONCE, (agent) =>
      read(agent).catch((error: unknown) => {
        // An agent that was deleted meanwhile has no more calls.
        if (!isNotFound(error)) throw error;
      }),
    );
    return { until: isoTime(until), agents: Object.fromEntries(counted) };
  } catch (error) {
    return untold(error);
  }
}

const NO_COUNTS: CallCounts = { calls: 0, errors: 0 };

function isOther(agents: readonly Agent[]): (agent: Agent) => boolean {
  const ids = new Set(agents.map(({ id }) => id));
  return ({ id }) => !ids.has(id);
}

function shuffled<T extends Agent>(agents: readonly T[], seed: string | number): readonly T[] {
  const keyed = agents.map((agent) => ({ agent, key: computeDigest([seed, agent.address]) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ agent }) => agent);
}

function isCounted(at: number, { hours, weekdays, zone }: CountedHours): boolean {
  if (hours === undefined && weekdays === undefined) return true;
  return (
    findEnd({ zone, ...(hours && { hours }), ...(weekdays && { weekdays }) }, at) !== undefined
  );
}

/** Whether a system entry of the transcript has one of the words (Call log, transcript_json). */
function hasWord({ transcript_json: entries }: JsonObject, words: readonly string[]): boolean {
  if (!isList(entries)) return false;
  return entries.some((entry) => {
    if (!isObject(entry) || entry.speaker !== 'system') return false;
    const text = String(entry.text).toLowerCase();
    return words.some((word) => text.includes(word));
  });
}

/** Cohorts of the agents whose call logs are read. */
function errorCohorts({ agents }: LoggedCalls, groups: readonly Group[]): readonly Cohort[] {
  const read = groups.map((group) => mergeLogged(group, agents));
  return tallyCohorts(read, (id, span, { part }) => {
    const counts = agents[id] ?? [];
    // Since a step is since it and all that followed it.
    const parts = span === 0 ? counts.slice(0, 1) : counts.slice(part);
    const add = (count: (one: CallCounts) => number) =>
      parts.reduce((sum, one) => sum + count(one), 0);
    return { calls: add(({ calls }) => calls), sum: add(({ errors }) => errors) };
  });
}

function mergeLogged(group: Group, agents: LoggedCalls['agents']): Group {
  const isRead = ({ id }: Agent) => Object.hasOwn(agents, id);
  const { changed, others } = group;
  return { ...group, changed: changed.filter(isRead), others: others.filter(isRead) };
}

type Broken = Rollouts.Look['broken'];

/** Agents that got no call where many were expected, and others did: since their step, or in the last day of it. */
function silentIn(
  groups: readonly Group[],
  figures: AllFigures | Untold,
  { silence }: GuardRails,
): Broken {
  if ('why' in figures) return [];
  const recent = figures.spans.length - 1;
  const told = new Set<Address>();
  return groups.flatMap((group, index) =>
    [index + 1, recent].flatMap((span) => {
      const from = figures.from[span] ?? 0;
      const [cohort] = tallyCohorts([group], (id, part) =>
        toTally('resolved', figures.spans[part === 0 ? 0 : span]?.get(id)),
      );
      if (cohort === undefined || from < group.since) return [];
      const { isTelling, silent } = findSilence(cohort, silence);
      if (!isTelling) return [];
      return silent.flatMap(({ address, expected }) => {
        if (told.has(address)) return [];
        told.add(address);
        const message = `${address} got no call since ${inSeconds(isoTime(from))}; ${Math.round(expected)} were expected`;
        return [{ rail: 'silence' as const, address, message }];
      });
    }),
  );
}

/** Whom somebody deleted nobody calls: that is drift, and no fault of the change. */
async function withoutDeleted(
  broken: Broken,
  groups: readonly Group[],
  { client }: Platform,
): Promise<Broken> {
  // By the addresses of the rollout: the state may have others by now.
  const ids = new Map(
    groups.flatMap(({ changed }) => changed).map(({ address, id }) => [address, id]),
  );
  const isThere = async ({ address }: Broken[number]) => {
    try {
      const agentId = ids.get(address) ?? '';
      await client.call({ operation: 'getAgent', path: { agentId } });
      return true;
    } catch (error) {
      return !isNotFound(error);
    }
  };
  const there = await Promise.all(broken.map(isThere));
  return broken.filter((_, index) => there[index]);
}

/** Agents whose calls have more errors than allowed. */
function failingIn(
  groups: readonly Group[],
  logs: LoggedCalls | Untold | null,
  { confidence }: Judging,
  { errors: limit }: GuardRails,
): Broken {
  if (limit === undefined || logs === null || 'why' in logs) return [];
  return errorCohorts(logs, groups).flatMap((cohort) => {
    const found = findErrors(cohort, limit, confidence);
    if (found === null) return [];
    const { addresses } = found;
    const [address] = addresses;
    if (address === undefined) return [];
    const whose = addresses.length === 1 ? address : formatCount(addresses.length, 'agent');
    const message = `${found.errors} of ${found.calls} calls of ${whose} have an error; ${round(found.allowed)} % are tolerated`;
    return [{ rail: 'errors' as const, address, message }];
  });
}

function round(percent: number): number {
  return Math.round(percent * 10) / 10;
}

/** Agents in the order in which they get the change. Throws where nobody tells how busy they are. */
export async function chooseOrder<T extends Agent>(
  { first, name, judge: judging }: RolloutSettings,
  agents: readonly T[],
  session: Platform,
  now: number,
): Promise<readonly T[]> {
  const drawnOrder = shuffled(agents, 0);
  switch (first) {
    case 'spread':
      return inTurnOver(drawnOrder, session);
    case 'volume': {
      const span = { from: now - judging.baselineWeeks * WEEK, until: now };
      const groups = [{ part: 1, since: now, changed: agents, others: [] }];
      const figures = await readFigures([span], judging.counted, groups, session);
      if ('why' in figures)
        throw new CallsheetError('api', `rollouts.${name}.first is volume. ${figures.why}`, {
          hint: 'Choose the first agents without figures: first: spread.',
        });
      const calls = ({ id }: Agent) => figures.spans[0]?.get(id)?.calls ?? 0;
      return drawnOrder.toSorted((a, b) => calls(b) - calls(a));
    }
  }
}

/** One agent of each organization, then the second of each, and so on. */
function inTurnOver<T extends Agent>(agents: readonly T[], { state }: Platform): readonly T[] {
  const rounds = new Map<string, number>();
  const keyed = agents.map((agent) => {
    const organization = state.resources[agent.address]?.scope.organization_id ?? '';
    const round = rounds.get(organization) ?? 0;
    rounds.set(organization, round + 1);
    return { agent, round };
  });
  return keyed.toSorted((a, b) => a.round - b.round).map(({ agent }) => agent);
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
