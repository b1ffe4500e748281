/**
 * The course of the rate at which a host is spoken to: a pure function of what it answered. A host that never said
 * 429 is not held back at all. After that the rate goes by what the host was seen to take, a little less at first:
 *
 * ```
 *                     │                                ╱  429: the ceiling is set anew
 * rate        ceiling ┤          ___________-------‾‾‾
 *      ceiling × 0.95 ┤      ╱
 *                     └──────┬────────────┬────────────┬──
 *                            0           span         2 × span
 * ```
 *
 * It is plain data, so that several processes of one account may keep one course in a database. Times are milliseconds
 * of one clock, rates are requests per second.
 */
export type RateCourse = {
  /** What the host was seen to take; null before it refused any. */
  readonly ceiling: number | null;
  /** Seconds of `progress` until the rate is the ceiling again; 0 while the ceiling is a guess. */
  readonly span: number;
  /** Seconds that what was let in takes at the rate: where fewer are sent, the rate rises as much later. */
  readonly progress: number;
  /** Refused in a row, those under way together counted as one; 0 where the host takes requests. */
  readonly refusals: number;
  /** Refusals since the host last took requests for a while: the longer the row, the longer the next pause. */
  readonly strikes: number;
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
export type Heard = {
  readonly sentAt: number;
  readonly at: number;
  /** For a 429: for how many milliseconds nothing is to be sent. Anything else was let in. */
  readonly pause?: number;
  /** Its answer ends a row of refusals that came of too many at once, and that say nothing about a rate. */
  readonly wasCrowd?: boolean;
};

/** Of a host that nothing is known of. */
export const NEW_COURSE: RateCourse = {
  ceiling: null,
  span: 0,
  progress: 0,
  refusals: 0,
  strikes: 0,
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
/** The span is that of so many seconds or requests while the ceiling is found, */
const FIRST_SPAN = { seconds: 2, requests: 8 };
/** and doubles whenever it was found again, up to so many seconds, */
const LONGEST_SPAN = 15;
/** or so many times what the last refusal cost. */
const SPANS_PER_WAIT = 10;
/** It has so many requests at least by then: each look for more costs some that are refused. */
const FEWEST_IN_SPAN = 60;
/** Ceilings that differ by less are taken for one. */
const ALIKE = 0.25;
/** Fewer, let in before a short first wait, are what the host had saved up, and its rate is a guess. */
const FEWEST_SAVED = 20;
/** Fewer requests say nothing about a rate. It begins at this guess then, unless they came faster; */
const FEWEST = 10;
const GUESS = 10;
/** a rate that was found again before falls by this much, since waiting helps more, */
const FALL_OF_KNOWN = 0.97;
/** whatever is let in for less than so many seconds; */
const FEWEST_SECONDS = 3;
/** and any other by so much at least, and further to what they say, but not by more than half. */
const FALL = 0.85;
/** After a refusal the host has time to make room for so many. */
const TURNS_AFTER_REFUSAL = 2;
/** Milliseconds until another request is risked where the one that asks whether the host takes any has no answer. */
const PROBE_MS = 1000;
/** A timer that fires late, as on a busy machine, is made up for within so many milliseconds, or by one request. */
const SLACK_MS = 50;

/** Requests per second that may be sent; null where nothing speaks against any number. */
export function rateOf({ ceiling, span, progress }: RateCourse): number | null {
  if (ceiling === null) return null;
  // A guess may be far too low, and a few hundred requests are all that most commands send.
  if (span === 0) return ceiling * 2 ** progress;
  return ceiling * (1 + DIP * ((progress - span) / span) ** 3);
}

/** What comes of asking for a turn: it has come where `wait`, in milliseconds, is 0; otherwise the course is as it was. */
export type Turn = { readonly course: RateCourse; readonly wait: number };

/** Takes the turn to send one request. */
export function takeTurn(course: RateCourse, at: number): Turn {
  const free = Math.max(course.until, course.next);
  if (free > at) return { course, wait: free - at };
  if (course.refusals > 0) return { course: { ...course, next: at + PROBE_MS }, wait: 0 };
  const rate = rateOf(course);
  if (rate === null) return { course, wait: 0 };
  const apart = 1000 / rate;
  const next = Math.max(course.next, at - Math.max(SLACK_MS, apart)) + apart;
  return { course: { ...course, next }, wait: 0 };
}

/** Whether a request was under way when the host began to refuse: what becomes of it is no news. */
function isOld({ refusedAt }: RateCourse, sentAt: number): boolean {
  return refusedAt !== null && sentAt <= refusedAt;
}

/** How many refusals it is with that of one more request, since the host last took some for a while. */
export function strikesWith(course: RateCourse, sentAt: number): number {
  return isOld(course, sentAt) ? Math.max(1, course.strikes) : course.strikes + 1;
}

/** Whether an answer to a request that was sent then is the first after a row of refusals. */
export function endsRefusals(course: RateCourse, sentAt: number): boolean {
  return course.refusals > 0 && !isOld(course, sentAt);
}

/** The course after a request was answered. */
export function heed(course: RateCourse, heard: Heard): RateCourse {
  const known = course.since === null ? { ...course, since: heard.sentAt } : course;
  return heard.pause === undefined ? letIn(known, heard) : refuse(known, heard, heard.pause);
}

function refuse(course: RateCourse, { sentAt, at }: Heard, pause: number): RateCourse {
  const rate = rateOf(course);
  const least = rate === null ? 1 : (TURNS_AFTER_REFUSAL * 1000) / rate;
  const held = { ...course, until: Math.max(course.until, at + Math.max(least, pause)) };
  if (isOld(course, sentAt)) return held;
  const refused = { ...held, refusals: course.refusals + 1, strikes: course.strikes + 1, next: at };
  if (course.refusals > 0) return refused;
  const { refusedAt } = course;
  const between = refusedAt === null ? null : perSecond(course.letIn, at - refusedAt);
  return { ...refused, refusedAt: at, between, letIn: 0 };
}

function letIn(course: RateCourse, heard: Heard): RateCourse {
  const counted = { ...course, letIn: course.letIn + 1, taken: course.taken + 1 };
  if (course.refusals > 0) return isOld(course, heard.sentAt) ? counted : recover(counted, heard);
  const rate = rateOf(course);
  const strikes = course.letIn < FEWEST ? course.strikes : 0;
  return { ...counted, strikes, progress: rate === null ? 0 : course.progress + 1 / rate };
}

/** The host takes requests again: what it took since it did so the last time is its rate, or close to it. */
function recover(course: RateCourse, heard: Heard): RateCourse {
  const { at } = heard;
  const free = { ...course, refusals: 0, next: at };
  if (heard.wasCrowd === true) return { ...free, since: at, taken: 0 };
  const found = course.taken < fewest(course) ? assume(course, at) : measure(course, at);
  return { ...free, ...found, progress: 0, next: at + 1000 / found.ceiling };
}

/** Whether the ceiling was found again at least once. */
function isKnown({ span }: RateCourse, rate: number): boolean {
  return span > 1.5 * firstSpan(rate);
}

/** Requests that have to be let in to say something about the rate. */
function fewest(course: RateCourse): number {
  const rate = rateOf(course);
  if (rate === null || !isKnown(course, rate)) return FEWEST;
  return Math.max(FEWEST, rate * FEWEST_SECONDS);
}

type Found = Pick<RateCourse, 'since' | 'taken' | 'span'> & { readonly ceiling: number };

/** What is made of too few answers. Measuring goes on, and says more the next time. */
function assume(course: RateCourse, at: number): Found {
  const { since, taken, span } = course;
  const ceiling = assumedCeiling(course, takenPerSecond(course, at));
  const isGuess = course.ceiling === null;
  return { ceiling, span: isGuess ? 0 : Math.max(firstSpan(ceiling), span / 2), since, taken };
}

function assumedCeiling(course: RateCourse, measured: number): number {
  const { ceiling } = course;
  const rate = rateOf(course);
  if (ceiling === null || rate === null) return Math.max(measured, GUESS);
  if (isKnown(course, rate)) return ceiling * FALL_OF_KNOWN;
  return Math.min(rate * FALL, Math.max(rate / 2, measured));
}

function measure(course: RateCourse, at: number): Found {
  const { refusedAt, span } = course;
  const waited = (at - (refusedAt ?? at)) / 1000;
  const rate = rateOf(course);
  const measured = takenPerSecond(course, at);
  const ceiling = rate === null ? measured : ceilingOf(measured, rate, waited);
  const isFound = rate !== null && Math.abs(ceiling / (course.ceiling ?? 0) - 1) < ALIKE;
  if (rate === null && course.taken < FEWEST_SAVED && waited < FEWEST_SECONDS)
    return { ceiling, span: 0, since: at, taken: 0 };
  const first = Math.max(firstSpan(ceiling), waited / 2);
  const next = isFound ? longerSpan(span, ceiling, waited) : span / 2;
  return { ceiling, span: Math.max(first, next), since: at, taken: 0 };
}

/** What was let in per second, waits included, from recovery to recovery or from refusal to refusal. */
function takenPerSecond({ taken, since, between }: RateCourse, at: number): number {
  return Math.max(between ?? 0, perSecond(taken, at - (since ?? at)));
}

/**
 * A ceiling from what was let in per second and from the rate that was refused. The rate is too high where the host had
 * saved up room; the other is too low where it rose a lot meanwhile, or where a short wait weighs much. After a long
 * wait the host counts over long times, and what it let in is what it takes.
 */
function ceilingOf(measured: number, rate: number, waited: number): number {
  const trust = Math.max(0.5, waited / (waited + 1));
  return rate * Math.min(1, measured / rate) ** trust;
}

function firstSpan(rate: number): number {
  return Math.max(FIRST_SPAN.seconds, FIRST_SPAN.requests / rate);
}

function longerSpan(span: number, ceiling: number, waited: number): number {
  const longest = Math.max(LONGEST_SPAN, SPANS_PER_WAIT * waited);
  return Math.max(Math.min(longest, span * 2), FEWEST_IN_SPAN / ceiling);
}

function perSecond(count: number, milliseconds: number): number {
  return count / (Math.max(1, milliseconds) / 1000);
}
