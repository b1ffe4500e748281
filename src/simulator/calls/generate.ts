import { CallsheetError } from '../../core/errors.ts';
import { type JsonObject, objectsIn, sum } from '../../core/value.ts';
import { type Chance, seedChance, weightedIndex } from '../ids.ts';
import { inside } from '../json.ts';
import type { Platform } from '../platform.ts';
import type { Agent, Store } from '../store.ts';
import {
  type AgentOnCall,
  type Call,
  type CallBook,
  type CalledWebhook,
  type Language,
  OUTCOMES,
  type Outcome,
  type Sentiment,
  type Trade,
} from './call.ts';

/** How calls of an agent end, of 100: resolved, transferred, abandoned, other. */
const SHARES = { inbound: [71, 14, 9, 6], outbound: [48, 6, 12, 34] };
const ENDINGS = {
  inbound: weightedIndex(SHARES.inbound),
  outbound: weightedIndex(SHARES.outbound),
};

/** Seconds that calls take: the shortest, the longest, and how rare long ones are. */
const DURATIONS: { readonly [outcome in Outcome]: readonly [number, number, number] } = {
  resolved: [40, 210, 1.8],
  transferred: [35, 240, 1.8],
  abandoned: [3, 40, 1.4],
  other: [9, 70, 1.5],
};

/** How many calls agents of a type take, and those of a status. */
const BUSY: { readonly [typeOrStatus: string]: number } = {
  receptionist: 3,
  appointment_scheduler: 2,
  outbound: 2,
  translator: 0.4,
  inactive: 0.2,
  cancelled: 0.1,
  pending: 0.01,
};

/**
 * Enters that many calls into the books of the agents, deleted ones with a book included: the same calls for
 * the same agents and the same clock. Throws a `CallsheetError` (`usage`) where there is nobody to take them.
 */
export function generateCalls({ store, now }: Platform, count: number): void {
  if (count === 0) return;
  const deleted = [...store.calls.values()].filter(({ agentId }) => !store.agents.has(agentId));
  const agents = [...store.agents.values()];
  if (agents.length + deleted.length === 0)
    throw new CallsheetError('usage', 'there is no agent to take calls', {
      hint: 'Say how many agents there are, too.',
    });
  const chance = seedChance(count);
  const taker = weightedIndex([
    ...agents.map((agent) => activity(agent) * unevenness(chance)),
    ...deleted.map(() => unevenness(chance)),
  ]);
  const timeOf = callTimes(now().getTime());
  const first = countCalls(store);
  for (let number = first; number < first + count; number += 1) {
    const index = taker(chance);
    const agent = agents[index];
    const book = agent === undefined ? deleted[index - agents.length] : openBook(store, agent);
    if (book === undefined) throw new Error('an index of a weight belongs to an agent');
    const ending = ENDINGS[chooseDirection(book)](chance);
    const outcome = OUTCOMES[ending] ?? 'other';
    const startedAt = timeOf(chance, getRhythm(book), book.timezone);
    const duration = Math.round(drawDuration(chance, outcome));
    book.calls.push(createCall(book, number, { startedAt, duration, outcome }));
  }
  for (const book of store.calls.values()) sortCalls(book);
}

function chooseDirection({ trade }: CallBook): keyof typeof SHARES {
  return trade === 'outbound' ? 'outbound' : 'inbound';
}

/** How calls of an agent end, as weights of `OUTCOMES`. */
export function sharesOfOutcomes(book: CallBook): readonly number[] {
  return SHARES[chooseDirection(book)];
}

function activity({ record }: Agent): number {
  return (BUSY[String(record.agent_type)] ?? 1) * (BUSY[String(record.status)] ?? 1);
}

/** Some agents are busier than others of their kind: around a mean of `MEAN_UNEVENNESS`. */
export function unevenness({ next }: Chance): number {
  return 0.3 + 5 * next() ** 4;
}
export const MEAN_UNEVENNESS = 1.3;

function getRhythm({ trade, agentName }: CallBook): Rhythm {
  return trade === 'hotline' || /after hours/i.test(agentName) ? 'always' : 'office';
}

/** Seconds, not rounded. */
export function drawDuration({ next }: Pick<Chance, 'next'>, outcome: Outcome): number {
  const [shortest, longest, rarity] = DURATIONS[outcome];
  return shortest + (longest - shortest) * next() ** rarity;
}

/** Why calls are handed to a person, with how often. */
const REASONS = [
  ['Caller asked for a person', 38],
  ['Question about a bill', 20],
  ['Needs professional advice', 18],
  ['Complaint', 11],
  ['Outside what the agent may do', 9],
  ['Caller was not understood', 4],
] as const;
const reasonIndex = weightedIndex(REASONS.map(([, weight]) => weight));

/** Shares of Positive, Neutral and Negative where somebody talked to the agent. */
const MOODS = {
  resolved: [0.62, 0.94],
  transferred: [0.22, 0.68],
} as const;

/** Area codes; with 555-01xx behind them nobody has the number. */
const AREAS = ['206', '212', '305', '312', '415', '512', '617', '713'];

const DRAWN = 3;

/** What must be said of a call, and what may be; the rest is drawn from its number. */
type CallSpec = {
  readonly startedAt: number;
  readonly duration: number;
  readonly outcome: Outcome;
  readonly id?: string | undefined;
  readonly sentiment?: Sentiment | undefined;
  readonly reason?: string | undefined;
  readonly callerId?: string | undefined;
  readonly isRecorded?: boolean | undefined;
  readonly agent?: AgentOnCall | undefined;
  readonly failed?: string | undefined;
};

/** A call of an agent with a book. */
export function createCall(book: CallBook, number: number, spec: CallSpec): Call {
  const chance = seedChance(number, DRAWN);
  const { outcome } = spec;
  return {
    number,
    id: spec.id,
    startedAt: spec.startedAt,
    duration: spec.duration,
    outcome,
    sentiment: spec.sentiment ?? drawSentiment(chance, outcome),
    reason: outcome === 'transferred' ? (spec.reason ?? drawReason(chance)) : undefined,
    callerId: spec.callerId ?? `+1${chance.pick(AREAS)}55501${twoDigits(chance.between(0, 99))}`,
    isRecorded: spec.isRecorded ?? book.isRecorded,
    agent: spec.agent,
    failed: spec.failed,
  };
}

function drawSentiment({ next }: Chance, outcome: Outcome): Sentiment {
  if (outcome !== 'resolved' && outcome !== 'transferred') return 'Neutral';
  const [positive, neutral] = MOODS[outcome];
  const drawn = next();
  if (drawn < positive) return 'Positive';
  return drawn < neutral ? 'Neutral' : 'Negative';
}

function drawReason(chance: Chance): string {
  const [reason] = REASONS[reasonIndex(chance)] ?? REASONS[0];
  return reason;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** Milliseconds. */
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Days before the clock in which generated calls lie. */
export const DAYS_OF_CALLS = 90;

/** How busy a day of the week is, Sunday first. */
const WEEKDAYS = [0.15, 1.15, 1.05, 1, 0.98, 0.9, 0.35];

/** How busy an hour of the day is where people work, and where somebody answers at any time. */
const HOURS = {
  office: [
    0.2, 0.1, 0.1, 0.1, 0.1, 0.3, 0.8, 2, 6, 9, 10, 9, 7, 8, 9, 8.5, 7, 5, 3, 2, 1.5, 1, 0.6, 0.3,
  ],
  always: [
    3, 2.5, 2, 1.5, 1.5, 2, 3, 4, 4.5, 4, 3.5, 3.5, 3.5, 3.5, 3.5, 4, 4.5, 6, 7, 7.5, 7.5, 7, 6, 4,
  ],
};
type Rhythm = keyof typeof HOURS;

/** Draws when a call begins: more on weekdays, at the hours of its rhythm, never after `now`. */
function callTimes(now: number): (chance: Chance, rhythm: Rhythm, timezone: string) => number {
  const today = Math.floor(now / DAY);
  const day = weightedIndex(
    Array.from({ length: DAYS_OF_CALLS }, (_, ago) => busyness(today - ago, ago)),
  );
  const hour = { office: weightedIndex(HOURS.office), always: weightedIndex(HOURS.always) };
  const offsets = new Map<string, number>();
  const offsetOf = (timezone: string): number => {
    const known = offsets.get(timezone) ?? zoneOffset(timezone, now);
    offsets.set(timezone, known);
    return known;
  };
  return (chance, rhythm, timezone) => {
    const local = (today - day(chance)) * DAY + hour[rhythm](chance) * HOUR;
    const at = local + Math.floor(chance.next() * HOUR) - offsetOf(timezone);
    return intoWindow(at, now);
  };
}

/** A whole week away, so that the weekday stays: calls are over by now, and no older than the window. */
function intoWindow(at: number, now: number): number {
  const week = 7 * DAY;
  if (at > now - HOUR) return at - week;
  return at < now - DAYS_OF_CALLS * DAY ? at + week : at;
}

/** Weekdays carry most of it; business grows slowly, and no day is like another. */
function busyness(day: number, ago: number): number {
  // The first of January 1970 was a Thursday.
  const weekday = WEEKDAYS[(day + 4) % 7] ?? 1;
  const growth = 1 - (0.25 * ago) / DAYS_OF_CALLS;
  return weekday * growth * (0.85 + 0.3 * seedChance(day).next());
}

/** What part of an average day's calls an agent gets in the hour of a local time. */
export function shareOfDay(local: number, book: CallBook): number {
  const rhythm = getRhythm(book);
  const day = (WEEKDAYS[(Math.floor(local / DAY) + 4) % 7] ?? 1) * 7;
  const hour = HOURS[rhythm][Math.floor(local / HOUR) % 24] ?? 0;
  return (day * hour) / (WEEK_TOTAL * DAY_TOTALS[rhythm]);
}

const WEEK_TOTAL = sum(WEEKDAYS);
const DAY_TOTALS = { office: sum(HOURS.office), always: sum(HOURS.always) };

/** Milliseconds that a zone is ahead of UTC then; none where there is no such zone. */
export function zoneOffset(timeZone: string, now: number): number {
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
    const name = parts.formatToParts(now).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    const size = Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * 60_000;
    return sign === '-' ? -size : size;
  } catch {
    return 0;
  }
}

/** The book of an agent; a new one where it had no calls yet. */
export function openBook(store: Store, agent: Agent): CallBook {
  const known = store.calls.get(agent.id);
  if (known !== undefined) return known;
  const { record } = agent;
  const company = store.organizations.get(agent.organizationId)?.name ?? '';
  const book: CallBook = {
    agentId: agent.id,
    agentName: String(record.name),
    organizationId: agent.organizationId,
    company,
    trade: record.agent_type === 'outbound' ? 'outbound' : chooseTrade(company),
    ...agentOnCall(record),
    timezone: typeof record.timezone === 'string' ? record.timezone : 'UTC',
    isRecorded: isRecorded(record),
    calls: [],
  };
  store.calls.set(agent.id, book);
  return book;
}

/** Calls in all books together. */
export function countCalls({ calls }: Store): number {
  let count = 0;
  for (const book of calls.values()) count += book.calls.length;
  return count;
}

/** Puts the newest calls first, which is the order in which they are read. */
export function sortCalls({ calls }: CallBook): void {
  calls.sort((a, b) => b.startedAt - a.startedAt || a.number - b.number);
}

/** Words in a company's name that tell its trade. */
const TRADES: readonly (readonly [Trade, RegExp])[] = [
  ['clinic', /dental|clinic|clínica|physio|vets|pharmacy|health/i],
  ['hotline', /line\b|helpdesk|support/i],
  ['property', /homes|property|estates|lettings/i],
  ['restaurant', /kitchen|restaurant|grill|bistro|kettle/i],
  ['shop', /hardware|shop|store|books|garage|cycles/i],
];

function chooseTrade(company: string): Trade {
  return TRADES.find(([, words]) => words.test(company))?.[0] ?? 'office';
}

/** What callers notice of an agent with that record. */
export function agentOnCall(record: JsonObject): AgentOnCall {
  return { languages: listLanguages(record), webhooks: listWebhooks(record) };
}

function listLanguages({ language }: JsonObject): readonly Language[] {
  if (language === 'multi') return ['en', 'es'];
  return language === 'es-US' ? ['es'] : ['en'];
}

function listWebhooks({ extensions }: JsonObject): readonly CalledWebhook[] {
  return objectsIn(inside(extensions, 'tools')).map(({ name, condition, method, url }) => ({
    name: String(name),
    condition: String(condition),
    method: String(method),
    isBroken: !/^https:\/\/(?!broken\.)/i.test(String(url)),
  }));
}

export function isRecorded({ enable_recording: own, config }: JsonObject): boolean {
  return (own ?? inside(config, 'enable_recording')) === true;
}
