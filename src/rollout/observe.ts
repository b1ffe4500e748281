/**
 * Counts the calls that a rollout is judged by. Figures come from metrics, which give every agent's at once; call logs of
 * some agents tell in which calls something failed. Nothing of it is written down but what was before the rollout.
 */
import { computeDigest } from '../core/digest.ts';
import type { Rollouts } from '../core/documents.generated.ts';
import { CallsheetError } from '../core/errors.ts';
import {
  agentsReached,
  type LoggedCalls,
  listUnderWay,
  type RolloutRecord,
  type RolloutSettings,
} from '../core/rollout.ts';
import { inTurns, isList, isObject, type Json, type JsonObject, sum } from '../core/value.ts';
import {
  agentFiguresIn,
  buildMetricsCall,
  findTime,
  type Span,
  wantedCalls,
} from '../live/calls.ts';
import { ApiError, describeApiError, isNotFound } from '../platform/errors.ts';
import type { Session } from '../run/session.ts';
import { type Agent, assess, type Count, DAY, type Figures, type Watched, WEEK } from './assess.ts';
import { type DayOfCalls, isBad } from './rails.ts';

export type Platform = Pick<Session, 'client' | 'state'>;

type Named = Pick<Agent, 'address' | 'id'>;

/** Why the platform tells nothing. */
type Untold = { readonly why: string };

/** The calls of a rollout as they are at a time of the platform, and what follows from them. */
export async function lookAtCalls(
  record: RolloutRecord,
  session: Platform,
  now: number,
): Promise<Rollouts.Look> {
  const { groups, others } = listAgents(record, session);
  const { judge: judging, guardRails } = record.settings;
  const since = groups[0]?.since ?? now;
  const changed = groups.flatMap((group) => group.changed);
  const logs = await readLogs(record, [...changed, ...others], since, now, session);
  const watched: Watched = {
    ...{ now, groups, others, judge: judging, guardRails },
    start: Date.parse(record.started_at),
    logs: 'why' in logs ? null : { before: record.logs ?? {}, since: logs.days },
  };
  const figures = await readFigures(spansFor(watched), [...changed, ...others], session);
  const isTold = !('why' in figures);
  const look = assess(watched, isTold ? figures.count : () => NO_CALLS, isTold);
  const untold = 'why' in figures ? figures.why : 'why' in logs && logs.why;
  return {
    at: isoTime(now),
    step: record.steps.findLastIndex(({ at }) => at !== null) + 1,
    ...look,
    ...(look.verdict === 'no_figures' && untold ? { why: untold } : {}),
    broken: await withoutDeleted(look.broken, changed, session),
  };
}

/** The spans that an assessment counts in. */
function spansFor(watched: Watched): readonly Span[] {
  const spans = new Map<string, Span>();
  assess(watched, (_, from, until) => {
    spans.set(`${from} ${until}`, { from, until });
    return NO_CALLS;
  });
  return [...spans.values()];
}

/**
 * Agents by the step with which they got the change, and all else that the stack has, but for agents that another rollout
 * changes.
 */
function listAgents(
  record: RolloutRecord,
  { state }: Platform,
): Pick<Watched, 'groups' | 'others'> {
  const { agents, steps, step, judged_from: first, name } = record;
  const reached = steps.slice(0, step + 1);
  // A run that failed in part may have changed any agent of its step.
  const changed = new Set(agentsReached({ agents, steps: reached }).map(({ id }) => id));
  const elsewhere = new Set(
    listUnderWay(state, name).flatMap((one) => one.agents.map(({ id }) => id)),
  );
  const others = Object.entries(state.resources).flatMap(([address, { kind, id, pin }]) =>
    kind !== 'agent' || changed.has(id) || elsewhere.has(id)
      ? []
      : [{ address, id, changedAt: toTime(pin?.updated_at) }],
  );
  const groups = reached.flatMap(({ at, agents: count }, index) => {
    const added = agents.slice(steps[index - 1]?.agents ?? 0, count);
    if (at === null || index < first) return [];
    const changed = added.map((one) => ({ ...one, changedAt: toTime(one.changed_at) }));
    return [{ since: Date.parse(at), changed }];
  });
  return { groups, others };
}

export function toTime(text: string | null | undefined): number | null {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? null : time;
}

const NO_CALLS: Figures = { calls: 0, resolved: 0, seconds: 0 };

/** The figures of all agents in each span, one request a span. */
export async function readFigures(
  spans: readonly Span[],
  agents: readonly Named[],
  { client, state }: Platform,
): Promise<{ readonly count: Count } | Untold> {
  const scopes = new Set(
    agents.map(({ address }) => state.resources[address]?.scope.organization_id),
  );
  // One organization is asked for alone; several are one answer.
  const [organization] = scopes.size === 1 ? scopes : [];
  const found = new Map<string, ByAgent>();
  try {
    let partial: Untold | undefined;
    await inTurns(spans, AT_ONCE, async (span) => {
      const figures = figuresIn(await client.call(buildMetricsCall(span, organization)));
      if ('why' in figures) partial = figures;
      else found.set(`${span.from} ${span.until}`, figures.agents);
    });
    if (partial !== undefined) return partial;
  } catch (error) {
    return untold(error);
  }
  return { count: (id, from, until) => found.get(`${from} ${until}`)?.get(id) ?? NO_CALLS };
}

/** An answer that refuses or fails is no figure; where there is no answer at all the command fails. */
function untold(error: unknown): Untold {
  if (error instanceof ApiError)
    return { why: `The platform gives no figures: ${describeApiError(error)}.` };
  throw error;
}

type ByAgent = ReadonlyMap<string, Figures>;

function figuresIn(answer: Json): { readonly agents: ByAgent } | Untold {
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

/**
 * Reading call logs takes a request for each hundred calls of each agent: of agents with the change, of others, and of
 * the calls of one agent no more than these are read, the newest.
 */
const MOST_CHANGED = 50;
const MOST_OTHERS = 24;
const MOST_CALLS = 500;
/** Agents whose calls are read at once: each has a page of transcripts in memory, and some more. */
const AT_ONCE = 8;

/** Milliseconds after which the log of a call is there. */
const SETTLED = 30 * 60_000;

type Logged = { readonly days: ReadonlyMap<string, ReadonlyMap<number, DayOfCalls>> };
type LogSettings = Pick<RolloutSettings, 'judge' | 'guardRails'>;

function needsLogs({ judge, guardRails }: LogSettings): boolean {
  return guardRails.errors !== undefined || judge.measures.some(({ name }) => name === 'errors');
}

/** The call logs of the agents of a rollout from a time on, of the same agents as before it. */
async function readLogs(
  { logs, settings }: RolloutRecord,
  agents: readonly Agent[],
  since: number,
  now: number,
  session: Platform,
): Promise<Logged | Untold> {
  if (!needsLogs(settings)) return { why: '' };
  if (logs === null) return { why: 'The platform gave no call logs when the rollout was started.' };
  const chosen = agents.filter(({ id }) => Object.hasOwn(logs, id));
  return countDays(chosen, since, now - SETTLED, settings, session);
}

/** Reads the call logs of the weeks before a rollout; null where they are not asked, or where there are none. */
export async function readLogsBefore(
  agents: readonly Named[],
  settings: LogSettings,
  session: Platform,
  now: number,
): Promise<LoggedCalls | null> {
  if (!needsLogs(settings)) return null;
  const { judge, guardRails } = settings;
  const ids = new Set(agents.map(({ id }) => id));
  const all = Object.entries(session.state.resources).flatMap(([address, { kind, id }]) =>
    kind === 'agent' && !ids.has(id) ? [{ address, id }] : [],
  );
  // The first to get the change, and those that have it last or never.
  const others = shuffled([...agents.slice(MOST_CHANGED), ...all], now).slice(0, MOST_OTHERS);
  const chosen = [...agents.slice(0, MOST_CHANGED), ...others];
  const told = await countDays(chosen, now - judge.baselineWeeks * WEEK, now, settings, session);
  if ('why' in told) return null;
  const { errors: limit = 100 } = guardRails;
  const total = (days: readonly DayOfCalls[]) => ({
    calls: sum(days.map(({ calls }) => calls)),
    errors: sum(days.map(({ errors }) => errors)),
    days: days.length,
    badDays: days.filter((day) => isBad(day, limit)).length,
  });
  return Object.fromEntries([...told.days].map(([id, days]) => [id, total([...days.values()])]));
}

async function countDays(
  agents: readonly Named[],
  since: number,
  until: number,
  { guardRails }: LogSettings,
  { client }: Platform,
): Promise<Logged | Untold> {
  const words = guardRails.errorWords.map((word) => word.toLowerCase());
  const days = new Map<string, Map<number, { calls: number; errors: number }>>();
  const read = async ({ id }: Named) => {
    const own = new Map<number, { calls: number; errors: number }>();
    days.set(id, own);
    const listed = client.each({ operation: 'listCallLogs', path: { agentId: id } });
    for await (const call of wantedCalls(listed, { since, until, limit: MOST_CALLS })) {
      const begin = Math.floor((findTime(call) ?? 0) / DAY) * DAY;
      const day = own.get(begin) ?? { calls: 0, errors: 0 };
      day.calls += 1;
      if (hasWord(call, words)) day.errors += 1;
      own.set(begin, day);
    }
  };
  try {
    await inTurns(agents, AT_ONCE, (agent) =>
      read(agent).catch((error: unknown) => {
        // An agent that was deleted meanwhile has no more calls.
        if (!isNotFound(error)) throw error;
      }),
    );
    return { days };
  } catch (error) {
    return untold(error);
  }
}

function shuffled<T extends Named>(agents: readonly T[], seed: string | number): readonly T[] {
  const keyed = agents.map((agent) => ({ agent, key: computeDigest([seed, agent.address]) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ agent }) => agent);
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

/** An agent that somebody deleted has no calls: that is drift, and no fault of the change. */
async function withoutDeleted(
  broken: Rollouts.Look['broken'],
  changed: readonly Named[],
  { client }: Platform,
): Promise<Rollouts.Look['broken']> {
  const there = await Promise.all(
    broken.map(async ({ address }) => {
      const agentId = changed.find((one) => one.address === address)?.id ?? '';
      try {
        await client.call({ operation: 'getAgent', path: { agentId } });
        return true;
      } catch (error) {
        return !isNotFound(error);
      }
    }),
  );
  return broken.filter((_, index) => there[index]);
}

/** Agents in the order in which they get the change. Throws where nobody tells how busy they are. */
export async function chooseOrder<T extends Named>(
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
      const from = now - judging.baselineWeeks * WEEK;
      const figures = await readFigures([{ from, until: now }], agents, session);
      if ('why' in figures)
        throw new CallsheetError('api', `rollouts.${name}.first is volume. ${figures.why}`, {
          hint: 'Choose the first agents without figures: first: spread.',
        });
      const calls = ({ id }: Named) => figures.count(id, from, now).calls;
      return drawnOrder.toSorted((a, b) => calls(b) - calls(a));
    }
  }
}

/** One agent of each organization, then the second of each, and so on. */
function inTurnOver<T extends Named>(agents: readonly T[], { state }: Platform): readonly T[] {
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
