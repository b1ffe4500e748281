import { NetworkError, type WireAnswer } from './transport.ts';

/** Effects that retrying needs, so that tests can do without time. */
export type Pause = {
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
};

/** Attempts for one request, the first included. */
const MOST_ATTEMPTS = 6;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 20_000;

/**
 * Sends until there is an answer that is not a passing fault. 429 is retried always, since nothing was
 * done; 503 and network faults only where repeating is harmless (`isRepeatable`), so a create is never
 * sent twice blindly. Waits as `Retry-After` says, else a full-jitter exponential time (Limits, Errors).
 */
export async function sendWithRetries(
  send: () => Promise<WireAnswer>,
  isRepeatable: boolean,
  pause: Pause,
): Promise<WireAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt >= MOST_ATTEMPTS;
    let retryAfter: string | undefined;
    try {
      const answer = await send();
      const isPassing = answer.status === 429 || (answer.status === 503 && isRepeatable);
      if (!isPassing || isLast) return answer;
      retryAfter = answer.retryAfter;
    } catch (error) {
      const isHarmless = error instanceof NetworkError && isRepeatable && !error.isUnsent;
      if (!isHarmless || isLast) throw error;
    }
    await pause.sleep(delayBefore(attempt + 1, retryAfter, pause.random));
  }
}

/** Milliseconds to wait before an attempt. */
function delayBefore(
  attempt: number,
  retryAfter: string | undefined,
  random: () => number,
): number {
  const asked = retryAfter === undefined ? Number.NaN : Number(retryAfter) * 1000;
  if (Number.isFinite(asked) && asked >= 0) return Math.min(asked, LONGEST_DELAY_MS * 3);
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 2));
  return Math.round(random() * ceiling);
}
