/**
 * Callers that call as the platform's clock moves on, and react to how their agent is set. What is drawn depends on
 * the seed, the agent and the hour alone, never on who looks when. Settings only decide what comes of a call: a fleet
 * with another greeting gets the same calls, of which some end otherwise.
 */
import { offsetAt } from '../../core/calendar.ts';
import { CallsheetError } from '../../core/errors.ts';
import { type Json, type JsonObject, sum } from '../../core/value.ts';
import type { Simulation } from '../documents.generated.ts';
import { makeUuid, seedChance, weightedIndex } from '../ids.ts';
import type { Callers, Platform } from '../platform.ts';
import type { Agent, Store } from '../store.ts';
import { type CallBook, createCall, ENDINGS, isTalk, meetAgent, OUTCOMES } from './call.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Days before the clock in which generated calls lie. */
export const DAYS_OF_CALLS = 90;

/** The book of an agent; a new one where it had no calls yet. */
export function openBook(store: Store, { id, organizationId, record }: Agent): CallBook {
  const book = store.calls.get(id) ?? {
    agentId: id,
    organizationId,
    company: store.organizations.get(organizationId)?.name ?? '',
    timezone: String(record.timezone ?? 'UTC'),
    isOutbound: record.agent_type === 'outbound',
    first: meetAgent(record),
    calls: [],
  };
  store.calls.set(id, book);
  return book;
}

/** How many calls all books have together. */
export function countCalls({ calls }: Store): number {
  return sum([...calls.values()].map((book) => book.calls.length));
}

/** An agent's telephone, and the habits of its callers, whatever the agent is set to. */
type Line = ReturnType<typeof connect>;

function connect(book: CallBook, seed: number, until: number) {
  const own = Number.parseInt(makeUuid(`callers ${seed} of ${book.agentId}`).slice(0, 8), 16);
  const { next } = seedChance(own);
  return {
    book,
    seed: own,
    /** Calls on an average day, as a factor of the fleet's mean: what is drawn has a mean of 1.3. */
    volume: (0.3 + 5 * next() ** 4) / 1.3,
    /** Weights of `OUTCOMES`. */
    shares: OUTCOMES.map((outcome) => {
      const [inbound, outbound] = ENDINGS[outcome].shares;
      return (book.isOutbound ? outbound : inbound) * Math.exp(0.4 * (next() + next() - 1));
    }),
    /** Factor of durations. */
    pace: 0.85 + 0.3 * next(),
    /** How their number and their luck drift over some weeks. */
    drift: { size: 0.04 + 0.08 * next(), weeks: 5 + 8 * next(), phase: 2 * Math.PI * next() },
    offset: findOffset(book.timezone, until),
    /** Up to when it was called, in milliseconds since the epoch. */
    until,
  };
}

/** Milliseconds that a zone is ahead of UTC. A seed may name one that does not exist. */
function findOffset(zone: string, at: number): number {
  try {
    return offsetAt(zone, at);
  } catch {
    return 0;
  }
}

/** Starts callers of all agents, those of weeks before now included. */
export function startCallers(
  { store, now }: Pick<Platform, 'store' | 'now'>,
  { perDay = 40, weeks = 9, seed = 1 }: Simulation.Callers,
): Callers {
  const lines = new Map<string, Line>();

  /** Enters the calls of a line since it was called last, as its agent is set. */
  function advance(line: Line, { record }: Agent): void {
    const { book, drift, until: from } = line;
    const to = now().getTime();
    line.until = Math.max(from, to);
    // Each request asks, and most of them within one tick of the clock.
    if (to <= from || record.status !== 'active') return;
    const [effects, agent] = [getEffects(record), meetAgent(record)];
    for (let at = Math.floor(from / HOUR) * HOUR; at <= to; at += HOUR) {
      const local = at + line.offset;
      const day = seedChance(seed, Math.floor(local / DAY));
      // Weather, holidays and news: days are good and bad for all agents together.
      const [crowd, fortune] = [0.85 + 0.3 * day.next(), 0.5 * (day.next() - 0.5)];
      const swing =
        drift.size * Math.sin((2 * Math.PI * at) / (drift.weeks * 7 * DAY) + drift.phase);
      const expected = perDay * line.volume * (1 + swing) * crowd * shareOfDay(local);
      const luck = Math.exp(swing + fortune);
      const { next } = seedChance(line.seed, at / HOUR);
      const wait = () => (-HOUR * Math.log(1 - next())) / expected;
      for (let startedAt = at + wait(); startedAt < at + HOUR; startedAt += wait()) {
        // Beyond the numbers of seeds, and so many that none comes twice.
        const number = (1 + Math.floor(next() * 2 ** 20)) * 2 ** 32 + next() * 2 ** 32;
        if (startedAt > from && startedAt <= to)
          book.calls.push(meet(line, { number, startedAt }, luck, effects, agent));
      }
    }
  }

  const call = (agent: Agent, since: number) => {
    const line = lines.get(agent.id) ?? connect(openBook(store, agent), seed, since);
    lines.set(agent.id, line);
    advance(line, agent);
  };
  for (const agent of store.agents.values()) call(agent, now().getTime() - weeks * 7 * DAY);
  return {
    callUntilNow: (agentId) => {
      const named = agentId === undefined ? store.agents.values() : [store.agents.get(agentId)];
      // An agent that is not known yet was created since the start, and was not changed before.
      for (const agent of named)
        if (agent !== undefined) call(agent, Date.parse(String(agent.record.created_at)));
    },
  };
}

/**
 * Enters that many calls of the last 90 days into the books of active agents, and of deleted ones with a book. Throws a
 * `CallsheetError` (`usage`) where no agent can take them.
 */
export function generateCalls({ store, now: clock }: Platform, count: number): void {
  if (count === 0) return;
  for (const agent of store.agents.values())
    if (agent.record.status === 'active') openBook(store, agent);
  if (store.calls.size === 0)
    throw new CallsheetError('usage', 'there is no agent to take calls', {
      hint: 'Say how many agents there are, too.',
    });
  const [first, now] = [countCalls(store), clock().getTime()];
  const lines = [...store.calls.values()].map((book) => connect(book, count, now));
  const chance = seedChance(count);
  for (let number = first; number < first + count; number += 1) {
    // A telephone and a time are drawn until it is busy enough then: no hour of any has 0.7 of an average day's calls.
    let [line, startedAt] = [chance.pick(lines), now];
    do {
      line = chance.pick(lines);
      startedAt = now - HOUR - chance.next() * (DAYS_OF_CALLS * DAY - HOUR);
    } while (chance.next() * 0.7 > line.volume * shareOfDay(startedAt + line.offset));
    line.book.calls.push(meet(line, { number, startedAt }));
  }
}

/** How busy a day of the week is, Sunday first, and an hour of the day. */
const WEEKDAYS = [0.15, 1.15, 1.05, 1, 0.98, 0.9, 0.35];
const HOURS = [0, 0, 0, 0, 0, 0, 1, 2, 6, 9, 10, 9, 7, 8, 9, 9, 7, 5, 3, 2, 1, 1, 1, 0];

/** Share of an average day's calls in the hour of a local time. */
function shareOfDay(local: number): number {
  // The first of January 1970 was a Thursday.
  const day = WEEKDAYS[(Math.floor(local / DAY) + 4) % 7] ?? 1;
  const hour = HOURS[Math.floor(local / HOUR) % 24] ?? 0;
  return (7 * day * hour) / (sum(WEEKDAYS) * sum(HOURS));
}

type Effects = ReturnType<typeof getEffects>;
const NONE: Effects = { leaving: 0, lost: 0, longer: 1, isTransferred: true };

/** Settings act on callers. Texts count by their words, so that another word is not noticed. */
function getEffects(record: JsonObject) {
  const words = (text: Json | undefined) =>
    String(text ?? '')
      .split(/\s+/)
      .filter(Boolean).length;
  const prompt = words(record.system_prompt);
  return {
    /** Share of callers who hang up during the greeting. */
    leaving: words(record.greeting_message) > 40 ? 0.2 : 0,
    /** Share of calls that would be resolved and are not. */
    lost: prompt === 0 ? 0.6 : prompt < 20 ? 0.1 : 0,
    /** Factor of the durations of talks. */
    longer: prompt > 400 ? 1.3 : 1,
    isTransferred: record.transfer_enabled === true && words(record.transfer_rules) > 0,
  };
}

/**
 * A call, as it comes about. Every caller takes the same draws in the same order, whatever becomes of them. `luck` is a
 * factor of the odds that it is resolved.
 */
function meet(
  { book, shares: [resolved = 0, ...others], pace }: Line,
  { number, startedAt }: { readonly number: number; readonly startedAt: number },
  luck = 1,
  effects = NONE,
  agent = book.first,
) {
  const chance = seedChance(number, 20);
  const { next } = chance;
  const wanted = OUTCOMES[weightedIndex([resolved * luck, ...others])(chance)] ?? 'other';
  const language = chance.pick(book.first.languages);
  const [patience, foreign, need, length, fails] = [next(), next(), next(), next(), next()];
  const isLeaving = patience < effects.leaving;
  // 70 % of callers hang up if the agent does not speak their language.
  const isStranger = !agent.languages.includes(language) && foreign < 0.7;
  let outcome: (typeof OUTCOMES)[number] = wanted;
  if (isLeaving || isStranger) outcome = 'abandoned';
  // 60 % of callers hang up who want a person and cannot have one.
  else if (wanted === 'transferred' && !effects.isTransferred)
    outcome = need < 0.6 ? 'abandoned' : 'other';
  else if (wanted === 'resolved' && need < effects.lost) outcome = 'other';

  const [shortest, longest] = isLeaving ? [3, 10] : ENDINGS[outcome].seconds;
  const factor = isLeaving ? 1 : isTalk({ outcome }) ? pace * effects.longer : pace;
  const broken = agent.webhooks.filter(({ isBroken }) => isBroken);
  return createCall(book, {
    number,
    startedAt: Math.floor(startedAt),
    duration: Math.floor(factor * (shortest + (longest - shortest) * length ** 1.7)),
    outcome,
    agent,
    // A webhook fails in 40 % of the calls of an agent with broken ones.
    failed: fails < 0.4 ? broken[Math.floor((fails / 0.4) * broken.length)]?.name : undefined,
  });
}
