/**
 * The course of the rate at which a host is spoken to: a pure function of what it answered. A host that never said
 * 429 is not held back at all. After that the rate is what the host was seen to take, a little less at first:
 *
 * ```
 * rate  ceiling × 1.3 ┤                                  ╱  429: the next ceiling is what was
 *                     │                                ╱    let in since the last one, per second
 *             ceiling ┤          ___________--------‾‾
 *      ceiling × 0.95 ┤      ⟋
 *                     └──────┬────────────┬────────────┬──
 *                            0           span         2 × span
 * ```
 *
 * It is plain data, so that several processes of one account may keep it in a database. Times are milliseconds of one
 * clock.
 */
export type RateCourse = {
  /** Requests per second that the host was seen to take; null before it refused any. */
  readonly ceiling: number | null;
  /** Seconds at the rate until it is the ceiling again. */
  readonly span: number;
  /** Seconds at the rate so far: time in which fewer are sent counts less. */
  readonly progress: number;
  /** Refused in a row, those sent together counted as one; 0 where the host takes requests. */
  readonly refusals: number;
  /** When the first of the last row of them was refused; null before that. */
  readonly refusedAt: number | null;
  /** What was let in per second from the row of refusals before to this one; null before there were two. */
  readonly between: number | null;
  /** What was let in since `refusedAt`. */
  readonly letIn: number;
  /** Where the host began to take requests after the row before, and what it let in since; null before the first. */
  readonly since: number | null;
  readonly taken: number;
  /** Nothing is to be sent before. */
  readonly until: number;
  /** When the next may be sent as far as the rate is concerned. */
  readonly next: number;
};

/** How a request ended. */
export type Heard = {
  readonly sentAt: number;
  readonly at: number;
  /** For a 429: for how many milliseconds nothing is to be sent. Anything else was let in. */
  readonly pause?: number;
};

/** Of a host that nothing is known of. */
export const NEW_COURSE: RateCourse = {
  ceiling: null,
  span: 0,
  progress: 0,
  refusals: 0,
  refusedAt: null,
  between: null,
  letIn: 0,
  since: null,
  taken: 0,
  until: 0,
  next: 0,
};

/** How far below the ceiling the rate begins. */
const DIP = 0.05;
/** Seconds of `span` after the first refusal, and where nothing speaks for the ceiling. */
const FIRST_SPAN = 2;
/** It doubles while refusals come at about the same rate, up to so many seconds, */
const LONGEST_SPAN = 15;
/** or to as many times the wait that the last refusal cost, */
const SPANS_PER_WAIT = 10;
/** and lasts for so many requests at least: each look for more costs some that are refused. */
const FEWEST_IN_SPAN = 60;
/** Ceilings so close are taken for one. */
const ALIKE = 0.25;
/** Fewer say nothing about a rate. */
const FEWEST = 10;
/** Milliseconds until another request is risked where one was sent to see whether the host takes any again. */
const TURNS = 2;
const PROBE_MS = 1000;
/** A timer that fires late is made up for, within so many milliseconds. */
const SLACK_MS = 20;

/** Requests per second that may be sent; null where nothing speaks against any number. */
export function rateOf({ ceiling, span, progress }: RateCourse): number | null {
  if (ceiling === null) return null;
  return ceiling * (1 + DIP * ((progress - span) / span) ** 3);
}

/**
 * Takes a turn to send one request: `wait` is how many milliseconds it is too early. Where that is 0 the request is
 * to be sent now; otherwise the course is as it was, and the turn is to be asked for again.
 */
export function takeTurn(
  course: RateCourse,
  at: number,
): { readonly course: RateCourse; readonly wait: number } {
  const free = Math.max(course.until, course.next);
  if (free > at) return { course, wait: free - at };
  if (course.refusals > 0) return { course: { ...course, next: at + PROBE_MS }, wait: 0 };
  const rate = rateOf(course);
  if (rate === null) return { course, wait: 0 };
  const next = Math.max(course.next, at - SLACK_MS) + 1000 / rate;
  return { course: { ...course, next }, wait: 0 };
}

/** The course after a request ended. What ended without an answer says nothing, and is not to be told. */
export function heed(course: RateCourse, { sentAt, at, pause }: Heard): RateCourse {
  const begun = course.since === null ? { ...course, since: sentAt } : course;
  if (pause === undefined) return letIn(begun, sentAt, at);
  const rate = rateOf(begun);
  const least = rate === null ? 1 : (TURNS * 1000) / rate;
  const held = { ...begun, until: Math.max(begun.until, at + Math.max(least, pause)) };
  // Those that were under way at the first refusal are refused for the same reason.
  if (held.refusedAt !== null && sentAt <= held.refusedAt) return held;
  return held.refusals > 0
    ? { ...held, refusals: held.refusals + 1, next: at }
    : refuse(held, at, held.refusedAt);
}

function refuse(course: RateCourse, at: number, before: number | null): RateCourse {
  const between = before === null ? null : perSecond(course.letIn, at - before);
  return { ...course, refusals: 1, refusedAt: at, between, letIn: 0, next: at };
}

function letIn(course: RateCourse, sentAt: number, at: number): RateCourse {
  const { refusals, refusedAt } = course;
  const rate = rateOf(course);
  const counted = { ...course, letIn: course.letIn + 1, taken: course.taken + 1 };
  if (refusals === 0) {
    return rate === null ? counted : { ...counted, progress: course.progress + 1 / rate };
  }
  return refusedAt !== null && sentAt <= refusedAt ? counted : recover(counted, at);
}

/** The host takes requests again. */
function recover(course: RateCourse, at: number): RateCourse {
  const { taken, since, span, refusedAt, between } = course;
  const free = { ...course, refusals: 0, progress: 0, next: at };
  const rate = rateOf(course);
  const measured = Math.max(between ?? 0, perSecond(taken, at - (since ?? at)));
  if (taken < FEWEST) {
    // What was measured goes on, and says more the next time.
    if (rate === null) return free;
    return { ...free, ceiling: clamp(measured, rate / 2, rate * 0.85), span: Math.max(firstSpan(rate), span / 2) };
  }
  const waited = (at - (refusedAt ?? at)) / 1000;
  const trust = Math.max(0.5, waited / (waited + 1));
  const ceiling = rate === null ? measured : rate * Math.min(1, measured / rate) ** trust;
  const isKnown = rate !== null && Math.abs(ceiling / (course.ceiling ?? 0) - 1) < ALIKE;
  const longest = Math.max(LONGEST_SPAN, SPANS_PER_WAIT * waited);
  const first = Math.max(firstSpan(ceiling), waited / 2);
  const seconds = isKnown ? spanOf(Math.max(first,Math.min(longest, span * 2)), ceiling) : Math.max(first, span / 2);
  return { ...free, ceiling, span: seconds, since: at, taken: 0, next: at + 1000 / ceiling };
}

function firstSpan(rate: number): number {
  return Math.max(FIRST_SPAN, 8 / rate);
}

function spanOf(seconds: number, rate: number): number {
  return Math.max(seconds, FEWEST_IN_SPAN / rate);
}

function perSecond(count: number, milliseconds: number): number {
  return count / (Math.max(1, milliseconds) / 1000);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
