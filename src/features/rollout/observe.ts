/**
 * Counts the calls that a rollout is judged by. Figures come from metrics, which give every agent's at once; call logs of
 * some agents tell in which calls something failed. Nothing of it is written down but what was before the rollout.
 */
import { computeDigest } from '../../core/digest.ts';
import type { Rollouts } from '../../core/documents.generated.ts';
import { CallsheetError } from '../../core/errors.ts';
import { inTurns, isList, isObject, type JsonObject, sum } from '../../core/value.ts';
import {
  type AgentFigures,
  agentFiguresIn,
  buildMetricsCall,
  findTime,
  type Span,
  wantedCalls,
} from '../../live/calls.ts';
import { ApiError, describeApiError, isNotFound } from '../../platform/errors.ts';
import type { Session } from '../../run/session.ts';
import {
  type Agent,
  assess,
  type Count,
  DAY,
  type DayOfCalls,
  isBad,
  type Watched,
  WEEK,
} from './assess.ts';
import {
  agentsReached,
  type LoggedCalls,
  listUnderWay,
  type RolloutRecord,
  type RolloutSettings,
} from './record.ts';

export type Platform = Pick<Session, 'client' | 'state'>;

type Named = Pick<Agent, 'address' | 'id'>;

/** Why the platform gives nothing. */
type Unreadable = { readonly why: string };

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
  const look = 'why' in figures ? assess(watched, NONE, false) : assess(watched, figures.count);
  const missing = 'why' in figures ? figures.why : 'why' in logs && logs.why;
  return {
    at: isoTime(now),
    step: record.steps.findLastIndex(({ at }) => at !== null) + 1,
    ...look,
    ...(look.verdict === 'no_figures' && missing ? { why: missing } : {}),
    broken: await withoutDeleted(look.broken, changed, session),
  };
}

/** The spans that an assessment counts in. */
function spansFor(watched: Watched): readonly Span[] {
  const spans = new Map<string, Span>();
  assess(watched, (_, from, until) => {
    spans.set(`${from} ${until}`, { from, until });
    return NONE();
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

const NONE = () => ({ calls: 0, resolved: 0, seconds: 0 });

/** The figures of all agents in each span, one request a span. */
export async function readFigures(
  spans: readonly Span[],
  agents: readonly Named[],
  { client, state }: Platform,
): Promise<{ readonly count: Count } | Unreadable> {
  const scopes = new Set(
    agents.map(({ address }) => state.resources[address]?.scope.organization_id),
  );
  // One organization is asked for alone; several are one answer.
  const [organization] = scopes.size === 1 ? scopes : [];
  const found = new Map<string, AgentFigures['agents']>();
  const whys: string[] = [];
  try {
    await inTurns(spans, AT_ONCE, async (span) => {
      const figures = agentFiguresIn(await client.call(buildMetricsCall(span, organization)));
      if (figures === undefined) whys.push('The metrics of the platform have no agentPerformance.');
      const { listed = 0, total = listed } = figures ?? {};
      if (listed < total)
        whys.push(`The figures are incomplete: agents have ${listed} of ${total} calls.`);
      found.set(`${span.from} ${span.until}`, figures?.agents ?? new Map());
    });
  } catch (error) {
    return unreadable(error);
  }
  const [why] = whys;
  if (why !== undefined) return { why };
  return {
    count(id, from, until) {
      const row = found.get(`${from} ${until}`)?.get(id) ?? {};
      const number = (name: string) => (typeof row[name] === 'number' ? row[name] : 0);
      const calls = number('totalCalls');
      return { calls, resolved: number('resolved'), seconds: number('avgDuration') * calls };
    },
  };
}

/** An answer that refuses or fails is no figure; where there is no answer at all the command fails. */
function unreadable(error: unknown): Unreadable {
  if (error instanceof ApiError)
    return { why: `The platform gives no figures: ${describeApiError(error)}.` };
  throw error;
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
): Promise<Logged | Unreadable> {
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
  const read = await countDays(chosen, now - judge.baselineWeeks * WEEK, now, settings, session);
  if ('why' in read) return null;
  const { errors: limit = 100 } = guardRails;
  const total = (days: readonly DayOfCalls[]) => ({
    calls: sum(days.map(({ calls }) => calls)),
    errors: sum(days.map(({ errors }) => errors)),
    days: days.length,
    badDays: days.filter((day) => isBad(day, limit)).length,
  });
  return Object.fromEntries([...read.days].map(([id, days]) => [id, total([...days.values()])]));
}

async function countDays(
  agents: readonly Named[],
  since: number,
  until: number,
  { guardRails }: LogSettings,
  { client }: Platform,
): Promise<Logged | Unreadable> {
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
    return unreadable(error);
  }
}

function shuffled<T extends Named>(agents: readonly T[], seed: string | number): readonly T[] {
  const keyed = agents.map((agent) => ({ agent, key: computeDigest([seed, agent.address]) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ agent }) => agent);
}

/** Returns true if a system entry of the transcript has one of the words (Call log, transcript_json). */
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
  const isThere = broken.map(({ address }) => {
    const agentId = changed.find((one) => one.address === address)?.id ?? '';
    const read = client.call({ operation: 'getAgent', path: { agentId } });
    return read.then(
      () => true,
      (error: unknown) => !isNotFound(error),
    );
  });
  const there = await Promise.all(isThere);
  return broken.filter((_, index) => there[index]);
}

/** Returns agents in the order in which they get the change. Throws if `first` is `volume` and there are no metrics. */
export async function chooseOrder<T extends Named>(
  { first, name, judge: judging }: RolloutSettings,
  agents: readonly T[],
  session: Platform,
  now: number,
): Promise<readonly T[]> {
  const drawn = shuffled(agents, 0);
  const inOrder = (keys: ReadonlyMap<string, number>) =>
    drawn.toSorted((a, b) => (keys.get(a.id) ?? 0) - (keys.get(b.id) ?? 0));
  if (first === 'spread') {
    // One agent of each organization, then the second of each, and so on.
    const scope = ({ address }: Named) =>
      session.state.resources[address]?.scope.organization_id ?? '';
    const groups = [...Map.groupBy(drawn, scope).values()];
    return inOrder(new Map(groups.flatMap((own) => own.map(({ id }, round) => [id, round]))));
  }
  const from = now - judging.baselineWeeks * WEEK;
  const figures = await readFigures([{ from, until: now }], agents, session);
  if ('why' in figures)
    throw new CallsheetError('api', `rollouts.${name}.first is volume. ${figures.why}`, {
      hint: 'Choose the first agents without figures: first: spread.',
    });
  return inOrder(new Map(agents.map(({ id }) => [id, -figures.count(id, from, now).calls])));
}

export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
