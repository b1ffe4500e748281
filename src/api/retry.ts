import { setTimeout as sleep } from 'node:timers/promises';
import { CallsheetError } from '../core/errors.ts';
import type { Ask, Sent } from './limiter.ts';
import { NetworkError } from './network-error.ts';
import type { WireAnswer } from './transport.ts';

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

export type Pace = {
  readonly pause: Pause;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Aborted when the client closes: nothing is sent again then. */
  readonly stop: AbortSignal;
};

/** One try, as the limiter takes it. */
type Try = Pick<Ask, 'pauseAfter' | 'patience'>;

/** Attempts for one request, the first included. */
const MOST_ATTEMPTS = 6;
/** The same for one that took as long as it may: a platform that stays silent is given up after a minute. */
const MOST_ATTEMPTS_SLOW = 2;
/** Rates are limited by the minute or so, which the attempts for passing faults would not outlast. */
const MOST_ATTEMPTS_LIMITED = 10;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 20_000;
/** All the waiting for one request, for the sake of others included. A `Retry-After` beyond it is an error at once: a pipeline should not hang. */
const LONGEST_WAIT_MS = 300_000;

/** Nothing was saved (503), or something between here and the platform failed (502, 504). */
const PASSING_STATUS = new Set([502, 503, 504]);

type Outcome = { readonly answer: WireAnswer } | { readonly error: unknown };

/**
 * Sends until there is an answer that is not a passing fault, and gives the last one.
 *
 * | outcome                               | is sent again                     |
 * |---------------------------------------|-----------------------------------|
 * | 429: it was turned away               | always                            |
 * | 502, 503, 504                         | if repeating is harmless          |
 * | a network fault after it was sent     | if repeating is harmless          |
 * | a timeout                             | once, if repeating is harmless    |
 * | a network fault before it was sent    | unless nothing ever answered there |
 *
 * So a create is never sent twice blindly (`isRepeatable` is false). Waits for a full-jitter exponential
 * time, and at least as long as `Retry-After` asks (Limits, Errors). After a 429 every request to the
 * host waits as long, not only this one.
 *
 * @param send takes the request's turn and sends it
 */
export async function sendWithRetries(
  send: (one: Try) => Promise<Sent>,
  isRepeatable: boolean,
  { pause, now, stop }: Pace,
): Promise<WireAnswer> {
  let waited = 0;
  let last: Outcome | undefined;

  for (let attempt = 1; ; attempt += 1) {
    let delay: number | undefined;
    const isOver = (outcome: Outcome, milliseconds: number) =>
      attempt >= attemptsFor(outcome, isRepeatable) ||
      waited + milliseconds > LONGEST_WAIT_MS ||
      stop.aborted;

    /** What the host refuses for good is no reason to let others wait. */
    const pauseAfter: Ask['pauseAfter'] = (answer, { refusals, held }) => {
      delay = delayAfter(Math.max(attempt, refusals), { answer }, pause.random, now);
      return isOver({ answer }, held + delay) ? 0 : delay;
    };

    const outcome = await outcomeOf(async () => {
      const { answer, held } = await send({ pauseAfter, patience: LONGEST_WAIT_MS - waited });
      waited += held;
      return answer;
    });
    if (outcome === undefined) return settled(last ?? { error: closed() });
    last = outcome;
    delay ??= delayAfter(attempt, outcome, pause.random, now);
    if (isOver(outcome, delay)) return settled(outcome);
    waited += delay;
    await pause.sleep(delay, stop);
    if (stop.aborted) return settled(outcome);
  }
}

/** The client closed before a request was sent at all. */
function closed(): CallsheetError {
  return new CallsheetError('interrupted', 'the client was closed');
}

function settled(outcome: Outcome): WireAnswer {
  if ('error' in outcome) throw outcome.error;
  return outcome.answer;
}

async function outcomeOf(
  send: () => Promise<WireAnswer | undefined>,
): Promise<Outcome | undefined> {
  try {
    const answer = await send();
    return answer === undefined ? undefined : { answer };
  } catch (error) {
    return { error };
  }
}

/** How often a request may be sent that came to this. */
function attemptsFor(outcome: Outcome, isRepeatable: boolean): number {
  if ('answer' in outcome) {
    const { status } = outcome.answer;
    if (status === 429) return MOST_ATTEMPTS_LIMITED;
    return PASSING_STATUS.has(status) && isRepeatable ? MOST_ATTEMPTS : 1;
  }
  const { error } = outcome;
  if (!(error instanceof NetworkError) || error.isLasting) return 1;
  if (!isRepeatable && !error.isUnsent) return 1;
  return error.isTimeout ? MOST_ATTEMPTS_SLOW : MOST_ATTEMPTS;
}

/** Milliseconds to wait after an attempt. */
function delayAfter(
  attempt: number,
  outcome: Outcome,
  random: () => number,
  now: () => number,
): number {
  const asked = 'answer' in outcome ? askedDelay(outcome.answer.retryAfter, now) : 0;
  return Math.max(asked, fullJitter(attempt, random));
}

/** Anywhere between nothing and a time that doubles with each attempt. */
export function fullJitter(attempt: number, random: () => number): number {
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return Math.round(random() * ceiling);
}

/** `Retry-After` in milliseconds: it is a number of seconds or a date. */
export function askedDelay(text: string | undefined, now: () => number): number {
  if (text === undefined) return 0;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
  const milliseconds = seconds === undefined ? Date.parse(text) - now() : seconds * 1000;
  return Number.isNaN(milliseconds) ? 0 : Math.max(0, milliseconds);
}
