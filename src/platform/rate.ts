import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The rate at which a host is spoken to: a pure function of what it answered. A host that never said 429 is not held back
 * at all. After that the rate goes by what the host was seen to take, a little less at first:
 *
 * ```
 *                     │                                ╱  429: the ceiling is set anew
 * rate        ceiling ┤          ___________-------‾‾‾
 *      ceiling × 0.95 ┤      ╱
 *                     └──────┬────────────┬────────────┬──
 *                            0           span         2 × span
 * ```
 *
 * It is plain data, so that several processes of one account may keep one state in a database. Times are milliseconds
 * of one clock, rates are requests per second.
 */
export type RateState = {
  /** What the host was seen to take; null before it refused any. */
  readonly ceiling: number | null;
  /** Seconds of `progress` until the rate is the ceiling again; 0 while the ceiling is a guess. */
  readonly span: number;
  /** Seconds that what was let in takes at the rate: where fewer are sent, the rate rises as much later. */
  readonly progress: number;
  /** Refused in a row, those under way together counted as one; 0 where the host takes requests. */
  readonly refusals: number;
  /** When the last row of refusals began; null before the first. */
  readonly refusedAt: number | null;
  /** What was let in since then, */
  readonly letIn: number;
  /** and what came to a second between the row before and this one; null before there were two. */
  readonly between: number | null;
  /** Since when what the host takes is measured anew; null before its first answer. */
  readonly since: number | null;
  /** What it took since then. */
  readonly taken: number;
  /** Nothing is to be sent before. */
  readonly until: number;
  /** When the next may be sent as far as the rate is concerned. */
  readonly next: number;
};

/** How a request ended. What ended without an answer says nothing, and is not told. */
export type Observation = {
  readonly sentAt: number;
  readonly at: number;
  /** For a 429: for how many milliseconds nothing is to be sent. Anything else was let in. */
  readonly pause?: number;
  /** Its answer ends a row of refusals that came of too many at once, and that say nothing about a rate. */
  readonly wasCrowd?: boolean;
};

/** Of a host that nothing is known of. */
export const NEW_RATE: RateState = {
  ceiling: null,
  span: 0,
  progress: 0,
  refusals: 0,
  refusedAt: null,
  letIn: 0,
  between: null,
  since: null,
  taken: 0,
  until: 0,
  next: 0,
};

/** How far below the ceiling the rate begins. */
const DIP = 0.05;
/** How far above it the rate comes in two spans, at least: whoever has less of a limit that several share gains on the others. */
const LEAST_RISE = 0.08;
/** The span is that of so many seconds or requests while the ceiling is found, */
const FIRST_SPAN = { seconds: 2, requests: 8 };
/** and doubles whenever it was found again, up to so many seconds or requests: each look for more costs refusals; */
const LONGEST_SPAN = { seconds: 15, requests: 60 };
/** or up to so many times what the last refusal cost. */
const SPANS_PER_WAIT = 10;
/** A ceiling with a longer span was found again, and is known. */
const KNOWN_SPAN = 3;
/** Ceilings that differ by less are taken for one. */
const ALIKE = 0.25;
/** Fewer, let in before the first refusal, are what the host had saved up. The rate is a guess then: this, or faster. */
const FEWEST_AT_FIRST = 20;
const GUESS = 10;
/** Later, fewer say nothing about a rate, nor do fewer seconds about a known one: it falls by so much. */
const FEWEST = 10;
const FEWEST_SECONDS = 3;
const FALL = { known: 0.97, found: 0.85 };
/** After a refusal the host has time to make room for so many. */
const TURNS_AFTER_REFUSAL = 2;
/** Milliseconds until another request is risked where the one that asks whether the host takes any has no answer. */
const PROBE_MS = 1000;
/** A timer that fires late, as on a busy machine, is made up for within so many milliseconds, or by one request. */
const SLACK_MS = 50;

/** Requests per second that may be sent; null where nothing speaks against any number. */
export function computeRate({ ceiling, span, progress }: RateState): number | null {
  if (ceiling === null) return null;
  // A guess may be far too low, and a few hundred requests are all that most commands send.
  if (span === 0) return ceiling * 2 ** progress;
  const course = ((progress - span) / span) ** 3;
  return ceiling + course * Math.max(DIP * ceiling, course < 0 ? 0 : LEAST_RISE);
}

/** What comes of asking for a turn: it has come where `wait`, in milliseconds, is 0; otherwise the state is as it was. */
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

/** Whether a request was sent after the host began to refuse; what becomes of one that was under way is no news. */
function isNews({ refusedAt }: RateState, sentAt: number): boolean {
  return refusedAt === null || sentAt > refusedAt;
}

/** Whether an answer to a request that was sent then is the first after a row of refusals. */
export function endsRefusals(state: RateState, sentAt: number): boolean {
  return state.refusals > 0 && isNews(state, sentAt);
}

/** How many refusals in a row it is with that of one more request. */
export function refusalsWith(state: RateState, sentAt: number): number {
  return isNews(state, sentAt) ? state.refusals + 1 : Math.max(1, state.refusals);
}

/** The state after a request was answered. */
export function observe(before: RateState, observation: Observation): RateState {
  const { sentAt, at, pause, wasCrowd } = observation;
  const state = before.since === null ? { ...before, since: sentAt } : before;
  if (pause !== undefined) return refuse(state, observation, pause);
  const counted = { ...state, letIn: state.letIn + 1, taken: state.taken + 1 };
  if (state.refusals === 0) {
    const rate = computeRate(state);
    return { ...counted, progress: rate === null ? 0 : state.progress + 1 / rate };
  }
  if (!isNews(state, sentAt)) return counted;
  const free = { ...counted, refusals: 0, next: at };
  return wasCrowd === true ? { ...free, since: at, taken: 0 } : recover(free, at);
}

function refuse(state: RateState, { sentAt, at }: Observation, pause: number): RateState {
  const rate = computeRate(state);
  const least = rate === null ? 1 : (TURNS_AFTER_REFUSAL * 1000) / rate;
  const held = { ...state, until: Math.max(state.until, at + Math.max(least, pause)) };
  if (!isNews(state, sentAt)) return held;
  const refused = { ...held, refusals: state.refusals + 1, next: at };
  if (state.refusals > 0) return refused;
  const { refusedAt } = state;
  const between = refusedAt === null ? null : perSecond(state.letIn, at - refusedAt);
  return { ...refused, refusedAt: at, between, letIn: 0 };
}

/**
 * The host takes requests again. What it took since it did so the last time, waits included, or from refusal to refusal,
 * is its rate, or close to it.
 */
function recover(state: RateState, at: number): RateState {
  const { ceiling: before, span, since, taken, refusedAt } = state;
  const rate = computeRate(state);
  const waited = (at - (refusedAt ?? at)) / 1000;
  const measured = Math.max(state.between ?? 0, perSecond(taken, at - (since ?? at)));
  const first = (ceiling: number) =>
    Math.max(FIRST_SPAN.seconds, FIRST_SPAN.requests / ceiling, waited / 2);

  const begin = (ceiling: number, next: number): RateState => {
    const resumed = { ...state, ceiling, span: next, progress: 0, next: at + 1000 / ceiling };
    return { ...resumed, since: at, taken: 0 };
  };
  /** Measuring goes on, and says more the next time. */
  const assume = (ceiling: number, next: number) => ({ ...begin(ceiling, next), since, taken });

  if (before === null || rate === null) {
    // A single refusal may be a stray one. Where it is not, the next row is soon there, and says what fits in between.
    if (state.between === null) return { ...state, next: at, since: at, taken: 0 };
    if (taken >= FEWEST_AT_FIRST) return begin(measured, first(measured));
    const guess = Math.max(measured, GUESS);
    return taken < FEWEST ? assume(guess, 0) : begin(guess, 0);
  }
  const isKnown = span > KNOWN_SPAN;
  if (taken < Math.max(FEWEST, isKnown ? rate * FEWEST_SECONDS : 0)) {
    const ceiling = isKnown ? before * FALL.known : rate * FALL.found;
    return assume(ceiling, Math.max(first(ceiling), span / 2));
  }
  // The rate is too high where the host had saved up room; what was measured is too low where the rate rose a lot, or
  // where a short wait weighs much. After a long wait the host counts over long times, and what it took is what it takes.
  const trust = Math.max(0.5, waited / (waited + 1));
  const ceiling = rate * Math.min(1, measured / rate) ** trust;
  const { seconds, requests } = LONGEST_SPAN;
  const longest = Math.max(seconds, requests / ceiling, SPANS_PER_WAIT * waited);
  const isFoundAgain = Math.abs(ceiling / before - 1) < ALIKE;
  const next = isFoundAgain ? Math.min(longest, span * 2) : span / 2;
  return begin(ceiling, Math.max(first(ceiling), next));
}

function perSecond(count: number, milliseconds: number): number {
  return count / (Math.max(1, milliseconds) / 1000);
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

/** Milliseconds of a clock that nobody sets back. */
export function steadyTime(): number {
  return performance.timeOrigin + performance.now();
}
