import { AsyncLocalStorage } from 'node:async_hooks';
import pLimit from 'p-limit';
import { createGate, type Gate, type Pass } from './gate.ts';
import type { Pause } from './retry.ts';
import type { WireAnswer } from './transport.ts';

/** How many calls run at once, and when their requests are sent. */
export type Limiter = {
  /** Runs a task when there is room for it: as many as were asked for, waiting ones included. */
  readonly run: <T>(task: () => Promise<T>) => Promise<T>;
  /**
   * Sends one request of a running task when its host has room for it, and learns from the answer. What is sent
   * again takes its turn like any other.
   */
  readonly send: (host: string, ask: Ask) => Promise<Sent>;
};

export type Ask = {
  readonly send: () => Promise<WireAnswer>;
  /**
   * For how many milliseconds nothing is to be sent to the host after a 429, the so-manyth in a row, of a request
   * that had been held up for so long before.
   */
  readonly pauseAfter: (
    answer: WireAnswer,
    after: { readonly refusals: number; readonly held: number },
  ) => number;
  /** Milliseconds that it may be held up because the host refuses requests; it is sent then whatever comes of it. */
  readonly patience: number;
};

export type Sent = {
  /** Undefined where it was not sent because the client closed. */
  readonly answer: WireAnswer | undefined;
  /** Milliseconds that it was held up because the host refused requests. */
  readonly held: number;
};

export type LimiterOptions = {
  /** Most requests in flight at once. */
  readonly most: number;
  readonly pause: Pause;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** Aborted when the client closes: nobody waits then. */
  readonly stop: AbortSignal;
};

/** Timers of the machine may wake so much too early. */
const TIMER_MS = 2;

/** One limiter for reads and writes. Holds nothing back before a host says 429, and then as its answers allow. */
export function createLimiter({ most, pause, now, stop }: LimiterOptions): Limiter {
  const tasks = pLimit(most);
  const gates = new Map<string, Gate>();
  // A pause counts as spent, however whoever gave it spends it: else nothing but asking again would pass the time.
  let ahead = 0;
  const clock = () => now() + ahead;

  async function spend(milliseconds: number): Promise<void> {
    const due = clock() + milliseconds;
    await pause.sleep(milliseconds, stop);
    const early = due - clock();
    if (early > TIMER_MS) ahead += early;
  }

  function gateOf(host: string): Gate {
    const known = gates.get(host);
    if (known !== undefined) return known;
    const later = (milliseconds: number, wake: () => void) =>
      void spend(milliseconds).then(() => stop.aborted || wake());
    const gate = createGate({ most, now: clock, later });
    gates.set(host, gate);
    stop.addEventListener('abort', gate.open, { once: true });
    if (stop.aborted) gate.open();
    return gate;
  }

  return {
    run: (task) => tasks(task),
    send: (host, { send, pauseAfter, patience }) =>
      new Promise((resolve, reject) => {
        // The answer to somebody else's request opens the gate; what is sent then is still sent for whoever asked.
        const go = AsyncLocalStorage.bind(({ held, isOpen, answered, lost }: Pass) => {
          if (isOpen) return resolve({ answer: undefined, held });
          send().then(
            (answer) => {
              const pause = (refusals: number) => pauseAfter(answer, { refusals, held });
              answered(answer.status === 429 ? pause : undefined);
              resolve({ answer, held });
            },
            (error: unknown) => {
              lost();
              reject(error);
            },
          );
        });
        gateOf(host).enter(patience, go);
      }),
  };
}
