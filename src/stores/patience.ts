import { setTimeout as sleepFor } from 'node:timers/promises';
import { CallsheetError } from '../core/errors.ts';
import { NoAnswer } from './failures.ts';

/** How long a store may take, and how often it is asked again. */

const SECONDS = 30;
const MOST_SECONDS = 600;
const VARIABLE = 'CALLSHEET_STATE_TIMEOUT';

/**
 * Milliseconds in which a store must answer; one that does not is taken for gone. Throws `CallsheetError('usage')`
 * where the environment says something else than a number of seconds.
 */
export function patienceFrom(env: Readonly<Record<string, string | undefined>>): number {
  const text = env[VARIABLE];
  if (text === undefined || text === '') return SECONDS * 1_000;
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds >= 1 && seconds <= MOST_SECONDS) return seconds * 1_000;
  throw new CallsheetError('usage', `${VARIABLE} is ${JSON.stringify(text)}`, {
    hint: `It is the number of seconds in which the store of the state must answer: 1 to ${MOST_SECONDS}, ${SECONDS} where it is not set.`,
  });
}

/** The most that is waited before the second try and those after it: short, as a run stands still meanwhile. */
const PAUSES = [200, 800, 2_000];
export const TRIES = PAUSES.length + 1;

type Sleep = (milliseconds: number) => Promise<void>;

/** Waits before a further try, counted from 1: anything up to the pause, so that many who failed at once spread out. */
export function pauseAfter(attempt: number, sleep: Sleep = sleepFor): Promise<void> {
  const most = PAUSES[Math.min(attempt, PAUSES.length) - 1] ?? 0;
  return sleep(Math.round(Math.random() * most));
}

/**
 * Does again, after a while, what may be done twice and got no answer. A store that let its whole time pass is not
 * asked again: nobody would wait for that four times over.
 */
export async function again<T>(sleep: Sleep | undefined, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof NoAnswer) || error.isTimeout || attempt === TRIES) throw error;
      await pauseAfter(attempt, sleep);
    }
  }
}
