import { CallsheetError } from '../core/errors.ts';
import type { LockEffects } from '../state/lock.ts';
import { NoAnswer } from './failures.ts';

/** How long a store may take, and how often it is asked again. */

const SECONDS = 30;
const MOST_SECONDS = 600;
const VARIABLE = 'CALLSHEET_STATE_TIMEOUT';

/**
 * Milliseconds in which a store must answer, and for which one that is lost is asked again. Throws `CallsheetError('usage')`
 * where the environment says something else than a number of seconds.
 */
export function patienceFrom(env: Readonly<Record<string, string | undefined>>): number {
  const text = env[VARIABLE];
  if (text === undefined || text === '') return SECONDS * 1_000;
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds >= 1 && seconds <= MOST_SECONDS) return seconds * 1_000;
  throw new CallsheetError('usage', `${VARIABLE} is ${JSON.stringify(text)}`, {
    hint: `It is the number of seconds in which the state store must answer, and for which a run waits for one that is away: 1 to ${MOST_SECONDS}, ${SECONDS} where it is not set.`,
  });
}

/** The most that is waited before the second try and those after it: short, as a run stands still meanwhile. */
const PAUSES = [200, 800, 2_000];
/** Tries where a store has not answered yet. */
const TRIES = PAUSES.length + 1;
/** A run that stands still for so long says why. */
const UNTOLD_MS = 2_000;

/** Asks one store again. */
export type Retries = {
  /** Does again, after pauses, what may be done twice and got no answer. */
  readonly again: <T>(work: () => Promise<T>) => Promise<T>;
};

/**
 * Asks a store again for as long as somebody may wait for it.
 *
 *     before its first answer     four tries within seconds: its address may be misspelt
 *     after it                    until `most` milliseconds have passed since it was lost: a restart takes less
 *     its whole time passed       not again: that was as long as somebody may wait
 *
 * `warn`: told in a sentence that a store which answered is waited for, and that it answers again.
 */
export function openRetries(
  most: number,
  { now, sleep }: Pick<LockEffects, 'now' | 'sleep'>,
  warn: (text: string) => void = () => {},
): Retries {
  let hasAnswered = false;
  /** When it was lost: what is asked later waits no longer than what was asked first. */
  let lostAt: number | undefined;
  let isTold = false;

  function answered(): void {
    if (isTold && lostAt !== undefined)
      warn(`The state store answers again, after ${secondsOf(now() - lostAt)}.`);
    hasAnswered = true;
    lostAt = undefined;
    isTold = false;
  }

  function tell({ message, isTimeout }: NoAnswer, away: number): void {
    if (isTold || (away < UNTOLD_MS && !isTimeout)) return;
    isTold = true;
    warn(
      `Waiting for the state store: ${message}. It is asked again for up to ${secondsOf(most)} (${VARIABLE}).`,
    );
  }

  return {
    async again(work) {
      // Its own, too: a store may answer others and never this.
      let since: number | undefined;
      for (let attempt = 1; ; attempt += 1) {
        try {
          const result = await work();
          answered();
          return result;
        } catch (error) {
          if (!(error instanceof NoAnswer)) throw error;
          lostAt ??= now();
          since ??= lostAt;
          const away = now() - since;
          const isOver = hasAnswered
            ? away >= most || (error.isTimeout && !error.isAtDoor)
            : attempt === TRIES || error.isTimeout;
          if (isOver) throw error;
          if (hasAnswered) tell(error, away);
          await sleep(pauseAfter(attempt));
        }
      }
    },
  };
}

/** Anything up to the pause, so that many who failed at once spread out. */
function pauseAfter(attempt: number): number {
  const longest = PAUSES[Math.min(attempt, PAUSES.length) - 1] ?? 0;
  return Math.round(Math.random() * longest);
}

function secondsOf(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)} s`;
}
