import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The rate at which a host is spoken to, as plain data: processes of one account may keep one state in a database. A host
 * that never said 429 is not held back. A row of refusals halves the rate, each request that is let in raises it:
 *
 * ```
 *                     │                       ╱  429: the ceiling is measured again, the rate is half of it
 * rate        ceiling ┤         ___-------‾‾‾
 *         ceiling / 2 ┤   ╱‾‾‾‾
 *                     └───┬──┬──────────┬──────  seconds of progress
 *                         0  1        1 + SPAN
 * ```
 *
 * Times are milliseconds of one clock, rates are requests per second.
 */
export type RateState = {
  /** The pace that the host was seen to take; null while nothing is held back. */
  readonly ceiling: number | null;
  /** The ceiling may be far too low: the rate doubles every second. */
  readonly isGuess: boolean;
  /** Seconds that the requests let in since the halving take at the rate: where fewer are sent, it rises later. */
  readonly progress: number;
  /** Refused in a row, those under way together counted as one; 0 where the host takes requests. */
  readonly refusals: number;
  /** When the last row of refusals began, and when it ended; null before the first. */
  readonly refusedAt: number | null;
  readonly resumedAt: number | null;
  /** Requests that were let in since it began. */
  readonly letIn: number;
  /** Halvings in a row after which the host refused as soon again. */
  readonly strays: number;
  /** Refusals that will be taken to have nothing to do with the rate, and how often that was wrong. */
  readonly free: number;
  readonly wrong: number;
  /** Nothing is to be sent before. */
  readonly until: number;
  /** When the next may be sent as far as the rate is concerned. */
  readonly next: number;
};

/** How a request ended. One that ended without an answer says nothing, and is not observed. */
export type Observation = {
  readonly sentAt: number;
  readonly at: number;
  /** For a 429: for how many milliseconds nothing is to be sent. Anything else was let in. */
  readonly pause?: number;
};

/** The rate of a host of which nothing is known. */
export const NEW_RATE: RateState = {
  ceiling: null,
  isGuess: false,
  progress: 0,
  refusals: 0,
  refusedAt: null,
  resumedAt: null,
  letIn: 0,
  strays: 0,
  free: 0,
  wrong: 0,
  until: 0,
  next: 0,
};

/** The share of the ceiling that the rate is a second after it was halved, and the seconds until it is the ceiling. */
const KNEE = 0.95;
const SPAN = 12;
/** Requests per second that no refusals bring the rate below. */
const FLOOR = 1;
/** Fewer requests say little about a ceiling: at first they are what the host had saved up. */
const FEWEST_AT_FIRST = 20;
const FEWEST = 10;
/** Ceilings that differ by less are taken for one. */
const ALIKE = 0.7;
/** A host with a limit refuses nothing for so many seconds of progress; one that refuses again sooner may do so at any rate. */
const SOON = 4;
const KEPT = 10;
/** After so many of the latter in a row it does, and so many refusals hold up nothing else. Then that is tried again. */
const MOST_STRAYS = 2;
const FREE = 32;
/** It does not where more are refused than let in. Fewer refusals do not say so. */
const FEWEST_WRONG = 12;
/** After a refusal the host has time to make room for so many. */
const TURNS_AFTER_REFUSAL = 2;
/** Milliseconds until another request is risked where the one that asks whether the host takes any has no answer. */
const PROBE_MS = 1000;
/** A timer that fires late, as on a busy machine, is made up for within so many milliseconds, or by one request. */
const SLACK_MS = 50;

/** Requests per second that may be sent; null where nothing speaks against any number. */
export function computeRate({ ceiling, isGuess, progress }: RateState): number | null {
  if (ceiling === null) return null;
  const isClimbing = isGuess || progress < 1;
  const share = isClimbing
    ? 2 ** (progress - 1)
    : 1 + (1 / KNEE - 1) * ((progress - 1) / SPAN) ** 3;
  return Math.max(FLOOR, ceiling * KNEE * share);
}

/** The outcome of asking for a turn: it has come if `wait`, in milliseconds, is 0; otherwise the state is as it was. */
type Turn = { readonly state: RateState; readonly wait: number };

/** Takes the turn to send one request. */
export function takeTurn(state: RateState, at: number): Turn {
  const free = Math.max(state.until, state.next);
  if (free > at) return { state, wait: free - at };
  if (state.refusals > 0) return { state: { ...state, next: at + PROBE_MS }, wait: 0 };
  const rate = computeRate(state);
  if (rate === null) return { state, wait: 0 };
  const apart = 1000 / rate;
  const next = Math.max(state.next, at - Math.max(SLACK_MS, apart)) + apart;
  return { state: { ...state, next }, wait: 0 };
}

/**
 * Returns true if a request was sent after the host began to refuse; the outcome of one that was under way is no
 * news.
 */
function isNews({ refusedAt }: RateState, sentAt: number): boolean {
  return refusedAt === null || sentAt > refusedAt;
}

/** How many refusals in a row it is with that of one more request. */
export function refusalsWith(state: RateState, sentAt: number): number {
  return isNews(state, sentAt) ? state.refusals + 1 : Math.max(1, state.refusals);
}

/** The state after a request was answered. */
export function observe(state: RateState, { sentAt, at, pause }: Observation): RateState {
  const rate = computeRate(state);
  if (pause === undefined) {
    const letIn = state.letIn + 1;
    if (state.refusals === 0)
      return { ...state, letIn, progress: state.progress + (rate === null ? 0 : 1 / rate) };
    const resumed = { refusals: 0, resumedAt: at, next: at };
    return { ...state, letIn, ...(isNews(state, sentAt) && resumed) };
  }
  if (state.free > 0) return ignore(state, at);
  const least = rate === null ? 1 : (TURNS_AFTER_REFUSAL * 1000) / rate;
  const held = { ...state, until: Math.max(state.until, at + Math.max(least, pause)) };
  if (!isNews(state, sentAt)) return held;
  const row = { ...held, refusals: state.refusals + 1, next: at };
  return state.refusals > 0 ? row : halve(row, rate, at);
}

/** The host takes what it took from one row of refusals to the next, waits included, or close to it. */
function halve(state: RateState, rate: number | null, at: number): RateState {
  const { ceiling, refusedAt, resumedAt, letIn, progress } = state;
  const begun = { ...state, refusedAt: at, letIn: 0, progress: 0 };
  // A single row may be a stray one, and what came before it says what the host had saved up.
  if (refusedAt === null || resumedAt === null) return begun;
  const isFirst = ceiling === null;
  const isSoon = !isFirst && progress < SOON;
  const strays = isSoon ? state.strays + 1 : progress < KEPT ? state.strays : 0;
  if (strays >= MOST_STRAYS * 2 ** state.wrong)
    return { ...begun, ceiling: null, strays, free: FREE, refusals: 0, resumedAt: at, until: 0 };
  const waited = (resumedAt - refusedAt) / 1000;
  const busy = Math.max(0.001, rate === null ? (at - resumedAt) / 1000 : progress);
  const most = rate ?? letIn / busy;
  const took = Math.min(most, letIn / (waited + busy));
  const isSure = letIn >= (isFirst ? FEWEST_AT_FIRST : FEWEST);
  const isGuess = !isSure && (isFirst || took < ALIKE * ceiling || ceiling < ALIKE * took);
  // That is too little where a short wait weighs much, and right where the host counts over long times.
  const trust = isSoon || (isFirst && isSure) ? 1 : Math.max(0.5, waited / (waited + 1));
  return {
    ...begun,
    ceiling: Math.max(FLOOR, most ** (1 - trust) * took ** trust),
    isGuess,
    strays,
  };
}

/** A refusal of one that come at any rate, for as long as less than half is refused. */
function ignore(state: RateState, at: number): RateState {
  const free = state.free - 1;
  const isWrong = FREE - free >= Math.max(FEWEST_WRONG, state.letIn + 1);
  if (free > 0 && !isWrong) return { ...state, free };
  const wrong = state.wrong + (isWrong ? 1 : 0);
  const took = (state.letIn * 1000) / Math.max(1, at - (state.resumedAt ?? at));
  const begun = { refusedAt: at, resumedAt: at, letIn: 0, progress: 1, isGuess: false };
  return { ...state, ...begun, ceiling: Math.max(FLOOR, took), strays: 0, wrong, free: 0 };
}

/** Effects that retrying needs, so that tests can do without time. */
export type Pause = {
  /** Ends early, without an error, when `stop` is aborted. */
  readonly sleep: (milliseconds: number, stop: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
};

/** Pauses of the machine's clock. */
export const realPause: Pause = {
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => {}),
  random: Math.random,
};

/** Milliseconds of a clock that is never set back. */
export function steadyTime(): number {
  return performance.timeOrigin + performance.now();
}
