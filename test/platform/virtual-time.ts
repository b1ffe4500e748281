import type { Pause } from '../../src/platform/rate.ts';

/** Time that passes only when nobody has anything left to do, and then at once. */
export type VirtualTime = {
  readonly now: () => number;
  readonly pause: Pause;
  /** Waits in virtual time, for the far side of a test. */
  readonly after: (milliseconds: number) => Promise<void>;
  /** Lets time pass until a promise is settled. */
  readonly until: <T>(promise: Promise<T>) => Promise<T>;
};

type Timer = { readonly at: number; readonly wake: () => void };

/** Begins at 0. `random` is what draws give; the longest wait unless given. */
export function virtualTime(random: () => number = () => 1): VirtualTime {
  let clock = 0;
  let timers: readonly Timer[] = [];

  function after(milliseconds: number): Promise<void> {
    return new Promise((wake) => {
      timers = [...timers, { at: clock + milliseconds, wake }].sort((a, b) => a.at - b.at);
    });
  }

  async function until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    promise.then(
      () => {
        isSettled = true;
      },
      () => {
        isSettled = true;
      },
    );
    for (;;) {
      // Everything that can go on without time goes on first.
      await new Promise((resolve) => setImmediate(resolve));
      if (isSettled) return promise;
      const [next, ...others] = timers;
      if (next === undefined) throw new Error('everybody waits, and nobody for time to pass');
      timers = others;
      clock = next.at;
      next.wake();
    }
  }

  return { now: () => clock, pause: { sleep: after, random }, after, until };
}
