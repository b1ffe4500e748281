/**
 * Callers that call as the platform's clock moves on, and react to how their agent is set. What is drawn depends on
 * the seed, the agent and the hour alone, never on who looks when: each call has its draws whatever the settings are,
 * and settings only decide what comes of them. So a fleet with another greeting gets the same calls, of which some end
 * otherwise.
 */
import type { Json, JsonObject } from '../../core/value.ts';
import type { Simulation } from '../documents.generated.ts';
import { type Chance, makeUuid, seedChance, weightedIndex } from '../ids.ts';
import type { Callers, Platform } from '../platform.ts';
import type { Agent } from '../store.ts';
import {
  type AgentOnCall,
  type Call,
  type CallBook,
  getEnd,
  OUTCOMES,
  type Outcome,
} from './call.ts';
import {
  agentOnCall,
  createCall,
  DAY,
  drawDuration,
  HOUR,
  isRecorded,
  MEAN_UNEVENNESS,
  openBook,
  shareOfDay,
  sharesOfOutcomes,
  sortCalls,
  unevenness,
  zoneOffset,
} from './generate.ts';

/** Who calls where nobody asked for callers. */
export const NOBODY: Callers = { callUntilNow: () => {} };

/** What settings do to callers. */
type Effects = {
  readonly isCalled: boolean;
  /** Share of callers who hang up during the greeting. */
  readonly leaving: number;
  /** Share of callers in a language that the agent does not speak who hang up. */
  readonly strangers: number;
  readonly isTransferred: boolean;
  /** Share of calls that would be resolved and are not. */
  readonly lost: number;
  /** Of resolved and transferred calls. */
  readonly longer: number;
  /** Share of calls in which a broken webhook fails. */
  readonly failing: number;
};

const NONE: Effects = {
  isCalled: true,
  leaving: 0,
  strangers: 0,
  isTransferred: true,
  lost: 0,
  longer: 1,
  failing: 0,
};

/** Of 100 callers who want a person and cannot have one: those that hang up. The others end as `other`. */
const GIVING_UP = 0.6;

/** A setting that callers notice. */
type Rule = {
  /** Name of the field, and in words when its value counts and what it does. */
  readonly setting: string;
  readonly when: string;
  readonly effect: string;
  readonly holds: (record: JsonObject, book: CallBook) => boolean;
  readonly does: Partial<Effects>;
};

/**
 * Everything that callers notice; of rules about the same thing the last one counts. Texts count by their words, so
 * that a word in place of another one is never noticed.
 */
export const RULES: readonly Rule[] = [
  {
    setting: 'status',
    when: 'is not `active`',
    effect: 'nobody calls',
    holds: ({ status }) => status !== 'active',
    does: { isCalled: false },
  },
  {
    setting: 'greeting_message',
    when: 'has more than 40 words',
    effect: '20 of 100 callers hang up within 10 seconds (`abandoned`)',
    holds: ({ greeting_message: text }) => countWords(text) > 40,
    does: { leaving: 0.2 },
  },
  {
    setting: 'language',
    when: 'leaves out a language of the callers: those it had at first, both for `multi`',
    effect: '70 of 100 callers in that language hang up (`abandoned`)',
    holds: (record, { languages }) => {
      const spoken = agentOnCall(record).languages;
      return languages.some((language) => !spoken.includes(language));
    },
    does: { strangers: 0.7 },
  },
  {
    setting: 'transfer_rules',
    when: 'is empty, or `transfer_enabled` is not true',
    effect: 'nobody is transferred: of 100 who want it 60 hang up (`abandoned`), 40 end as `other`',
    holds: ({ transfer_enabled: isOn, transfer_rules: rules }) =>
      isOn !== true || countWords(rules) === 0,
    does: { isTransferred: false },
  },
  {
    setting: 'system_prompt',
    when: 'has fewer than 20 words',
    effect: '10 of 100 calls that would be `resolved` end as `other`',
    holds: ({ system_prompt: text }) => countWords(text) < 20,
    does: { lost: 0.1 },
  },
  {
    setting: 'system_prompt',
    when: 'is empty',
    effect: '60 of 100 calls that would be `resolved` end as `other`',
    holds: ({ system_prompt: text }) => countWords(text) === 0,
    does: { lost: 0.6 },
  },
  {
    setting: 'system_prompt',
    when: 'has more than 400 words',
    effect: 'calls that are `resolved` or `transferred` take 30 % longer',
    holds: ({ system_prompt: text }) => countWords(text) > 400,
    does: { longer: 1.3 },
  },
  {
    setting: 'extensions.tools',
    when: 'has a webhook whose `url` is not https, or whose host begins with `broken.`',
    effect: 'in 40 of 100 calls it fails, and a system entry of the transcript says so',
    holds: (record) => agentOnCall(record).webhooks.some(({ isBroken }) => isBroken),
    does: { failing: 0.4 },
  },
];

function countWords(text: Json | undefined): number {
  return typeof text === 'string' ? text.split(/\s+/).filter(Boolean).length : 0;
}

/** An agent's telephone. */
type Line = {
  readonly book: CallBook;
  readonly habits: Habits;
  /** Up to when it was called, in milliseconds since the epoch. */
  until: number;
  /** Calls that began and were not over by then: reports know of calls that are over. */
  open: readonly Call[];
};

/** What the callers of one agent are like, whatever it is set to. */
type Habits = {
  readonly seed: number;
  /** Calls on an average day. */
  readonly perDay: number;
  /** Weights of `OUTCOMES`. */
  readonly shares: readonly number[];
  /** A factor of durations. */
  readonly pace: number;
  /** How their number and their luck come and go over some weeks. */
  readonly drift: { readonly size: number; readonly period: number; readonly phase: number };
};

/** Starts callers of all agents, those of weeks before now included. */
export function startCallers(
  { store, now }: Pick<Platform, 'store' | 'now'>,
  { perDay = 40, weeks = 9, seed = 1 }: Simulation.Callers,
): Callers {
  const lines = new Map<string, Line>();
  const offsetAt = zoneOffsets();
  const connect = (agent: Agent, until: number): Line => {
    const book = openBook(store, agent);
    const line = { book, habits: drawHabits(seed, book, perDay), until, open: [] };
    lines.set(agent.id, line);
    return line;
  };
  const days = new Map<number, CommonDay>();
  const dayOf = (local: number): CommonDay => {
    const number = Math.floor(local / DAY);
    const known = days.get(number) ?? drawDay(seed, number);
    days.set(number, known);
    return known;
  };

  /** Calls of a line that begin after `from` and no later than `to`, as its agent is set. */
  function drawCalls({ book, habits }: Line, { record }: Agent, from: number, to: number): Call[] {
    const effects = getEffects(record, book);
    const calls: Call[] = [];
    if (!effects.isCalled) return calls;
    const meeting = { book, habits, effects, record, agent: agentOnCall(record) };
    for (let hour = Math.floor(from / HOUR); hour <= Math.floor(to / HOUR); hour += 1) {
      const at = hour * HOUR;
      const local = at + offsetAt(book.timezone, at);
      const day = dayOf(local);
      const swing = driftAt(habits, at);
      const expected = habits.perDay * (1 + swing) * day.volume * shareOfDay(local, book);
      const luck = Math.exp(swing + day.luck);
      const endingOf = weightedIndex(
        habits.shares.map((share, ending) => (ending === RESOLVED ? share * luck : share)),
      );
      const chance = seedChance(habits.seed, hour);
      for (let left = drawCount(chance, expected); left > 0; left -= 1) {
        // Many more numbers than calls, so that none comes twice however the hours are looked at.
        const number = chance.between(1, 2 ** 20) * 2 ** 32 + chance.between(0, 2 ** 32 - 1);
        const caller = seedChance(number, CALLER);
        const startedAt = at + Math.floor(caller.next() * HOUR);
        if (startedAt > from && startedAt <= to)
          calls.push(meet(meeting, { number, startedAt, chance: caller, endingOf }));
      }
    }
    return calls;
  }

  function advance(line: Line, time: number): void {
    if (time <= line.until) return;
    const agent = store.agents.get(line.book.agentId);
    const began = agent === undefined ? [] : drawCalls(line, agent, line.until, time);
    line.until = time;
    const open: Call[] = [];
    const before = line.book.calls.length;
    for (const calls of [line.open, began])
      for (const call of calls) (getEnd(call) <= time ? line.book.calls : open).push(call);
    line.open = open;
    if (line.book.calls.length > before) sortCalls(line.book);
  }

  for (const agent of store.agents.values()) connect(agent, now().getTime() - weeks * 7 * DAY);
  const callers: Callers = {
    callUntilNow: (agentId) => {
      const time = now().getTime();
      const named = agentId === undefined ? undefined : store.agents.get(agentId);
      // What is not known yet was created since the start, and nobody changed it before.
      for (const agent of agentId === undefined ? store.agents.values() : named ? [named] : [])
        if (!lines.has(agent.id)) connect(agent, Date.parse(String(agent.record.created_at)));
      for (const line of agentId === undefined ? lines.values() : [lines.get(agentId)])
        if (line !== undefined) advance(line, time);
    },
  };
  callers.callUntilNow();
  return callers;
}

/** Offsets of zones, each as it is when the day begins in UTC, whatever hour is asked for first. */
function zoneOffsets(): (zone: string, at: number) => number {
  const known = new Map<string, number>();
  return (zone, at) => {
    const day = Math.floor(at / DAY);
    const key = `${zone} ${day}`;
    const offset = known.get(key) ?? zoneOffset(zone, day * DAY);
    known.set(key, offset);
    return offset;
  };
}

function getEffects(record: JsonObject, book: CallBook): Effects {
  let effects = NONE;
  for (const { holds, does } of RULES) if (holds(record, book)) effects = { ...effects, ...does };
  return effects;
}

function drawHabits(seed: number, book: CallBook, perDay: number): Habits {
  const own = Number.parseInt(makeUuid(`callers ${seed} of ${book.agentId}`).slice(0, 8), 16);
  const chance = seedChance(own);
  const { next } = chance;
  return {
    seed: own,
    perDay: (perDay * unevenness(chance)) / MEAN_UNEVENNESS,
    shares: sharesOfOutcomes(book).map((share) => share * Math.exp(0.4 * (next() + next() - 1))),
    pace: 0.85 + 0.3 * next(),
    drift: {
      size: 0.04 + 0.08 * next(),
      period: (5 + 8 * next()) * 7 * DAY,
      phase: 2 * Math.PI * next(),
    },
  };
}

function driftAt({ drift: { size, period, phase } }: Habits, at: number): number {
  return size * Math.sin((2 * Math.PI * at) / period + phase);
}

/**
 * What a day does to the callers of all agents, such as weather, holidays and news: a factor of their number, and
 * the logarithm of a factor of the odds that a call is resolved.
 */
type CommonDay = { readonly volume: number; readonly luck: number };

function drawDay(seed: number, day: number): CommonDay {
  const { next } = seedChance(seed, day);
  return { volume: 0.85 + 0.3 * next(), luck: 0.5 * (next() - 0.5) };
}

/** How many of independent events happen of which so many are expected (Poisson). */
function drawCount({ next }: Chance, expected: number): number {
  if (expected > 50) {
    let normal = -6;
    for (let left = 12; left > 0; left -= 1) normal += next();
    return Math.max(0, Math.round(expected + Math.sqrt(expected) * normal));
  }
  const least = Math.exp(-expected);
  let count = 0;
  for (let product = next(); product > least; product *= next()) count += 1;
  return count;
}

/** Who is called, and how it is set. */
type Meeting = {
  readonly book: CallBook;
  readonly habits: Habits;
  readonly effects: Effects;
  readonly record: JsonObject;
  readonly agent: AgentOnCall;
};

/** Somebody who calls. */
type Caller = {
  readonly number: number;
  readonly startedAt: number;
  readonly chance: Chance;
  /** Draws an index of `OUTCOMES`, as calls end in that hour. */
  readonly endingOf: (chance: Pick<Chance, 'next'>) => number;
};

const CALLER = 20;
const RESOLVED = OUTCOMES.indexOf('resolved');

/** A call, as it comes about. Every caller takes the same draws in the same order, whatever becomes of them. */
function meet({ book, habits, effects, record, agent }: Meeting, caller: Caller): Call {
  const { number, startedAt, endingOf, chance } = caller;
  const { next } = chance;
  const wanted = OUTCOMES[endingOf(chance)] ?? 'other';
  const patience = next();
  const language = chance.pick(book.languages);
  const foreign = next();
  const need = next();
  const length = next();
  const fails = next();
  const broken = agent.webhooks.filter(({ isBroken }) => isBroken);
  const failed = broken[Math.floor(next() * broken.length)]?.name;

  const isStranger = !agent.languages.includes(language) && foreign < effects.strangers;
  const isLeaving = patience < effects.leaving;
  const outcome = isLeaving || isStranger ? 'abandoned' : chooseOutcome(effects, wanted, need);
  const isTalk = outcome === 'resolved' || outcome === 'transferred';
  const factor = habits.pace * (isTalk ? effects.longer : 1);
  const duration = isLeaving
    ? 3 + Math.floor(7 * length)
    : Math.max(1, Math.round(factor * drawDuration({ next: () => length }, outcome)));
  return createCall(book, number, {
    startedAt,
    duration,
    outcome,
    isRecorded: isRecorded(record),
    agent,
    failed: fails < effects.failing ? failed : undefined,
  });
}

/** How a call ends that would have ended as `wanted`; `need` is from 0 up to 1. */
function chooseOutcome({ isTransferred, lost }: Effects, wanted: Outcome, need: number): Outcome {
  if (wanted === 'transferred' && !isTransferred) return need < GIVING_UP ? 'abandoned' : 'other';
  return wanted === 'resolved' && need < lost ? 'other' : wanted;
}
