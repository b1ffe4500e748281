import type { Pause } from '../../api/retry.ts';

/** Why a pass begins. */
export type Wake = 'start' | 'interval' | 'hook';

/** Wakes who waits for the next pass. */
export type Bell = {
  /** Asks for a pass; during one, for another after it. */
  readonly ring: () => void;
  /** Waits for a ring, at most so many milliseconds. Ends at once when it is to stop. */
  readonly wait: (milliseconds: number) => Promise<Exclude<Wake, 'start'>>;
};

/** A push, a merge and a pipeline ring within moments: they are one pass, once it has been quiet for this long. */
export const QUIET_MS = 2_000;
/** Whoever rings on and on is not waited for any longer than this. */
export const LONGEST_BURST_MS = 30_000;

/** A bell that hears everything that is rung between two waits. */
export function createBell({ sleep }: Pick<Pause, 'sleep'>, stop: AbortSignal): Bell {
  let isRung = false;
  let waiting: AbortController | undefined;
  stop.addEventListener('abort', () => waiting?.abort(), { once: true });

  /** Sleeps until the time is over, it rings, or it is to stop. */
  async function rest(milliseconds: number): Promise<void> {
    if (stop.aborted || isRung) return;
    waiting = new AbortController();
    await sleep(milliseconds, waiting.signal);
    waiting = undefined;
  }

  async function untilQuiet(): Promise<void> {
    for (let waited = 0; isRung && waited < LONGEST_BURST_MS; waited += QUIET_MS) {
      isRung = false;
      // A ring in between does not end it: it only makes for another.
      await sleep(QUIET_MS, stop);
    }
    isRung = false;
  }

  return {
    ring() {
      isRung = true;
      waiting?.abort();
    },
    async wait(milliseconds) {
      await rest(milliseconds);
      if (!isRung) return 'interval';
      await untilQuiet();
      return 'hook';
    },
  };
}
