import type { Pause } from '../../api/retry.ts';
import type { Bell, Wake } from './bell.ts';
import type { Log } from './events.ts';
import { isPassing } from './failures.ts';
import type { Health } from './health.ts';
import type { PassEnd, Watched } from './watched.ts';

type LoopDeps = {
  /** Milliseconds between the end of a pass and the next. */
  readonly interval: number;
  readonly bell: Pick<Bell, 'wait'>;
  readonly health: Pick<Health, 'passBegan' | 'passEnded'>;
  readonly random: Pause['random'];
  readonly now: () => Date;
  readonly log: Log;
  readonly stop: AbortSignal;
};

/** A platform that is down for long is asked this seldom, or as seldom as the interval says. */
const LONGEST_DELAY_MS = 1_800_000;
/** Of the interval, each way: so that many who began at once do not ask at once for ever. */
const JITTER = 0.1;

/** Passes over the stacks, one after the other, again and again, until it is to stop. Says whether it cut a healing short. */
export async function watchLoop(
  stacks: readonly Watched[],
  { interval, bell, health, random, now, log, stop }: LoopDeps,
): Promise<{ readonly isCut: boolean }> {
  let because: Wake = 'start';
  let isCut = false;
  let isSlow = false;
  while (!stop.aborted) {
    health.passBegan();
    const began = now().getTime();
    const ends: (PassEnd & { readonly stack: string })[] = [];
    for (const { name, pass } of stacks) {
      if (!stop.aborted) ends.push({ stack: name, ...(await pass(because)) });
    }
    isCut = ends.some((end) => end.isCut);
    if (stop.aborted) break;
    const took = now().getTime() - began;
    // Once for as long as it is so: a short interval would fill the log with it.
    if (took > interval && !isSlow)
      log({ event: 'pass_slow', stack: namesOf(stacks), seconds: took / 1000 });
    isSlow = took > interval;
    const delay = Math.round(delayAfter(ends, interval) * (1 + JITTER * (2 * random() - 1)));
    const failures = ends.flatMap(({ stack, streak }) =>
      streak === undefined ? [] : [{ stack, kind: streak.kind, passes: streak.passes }],
    );
    health.passEnded(failures, delay);
    because = await bell.wait(delay);
  }
  return { isCut };
}

/** The interval; twice as long after each pass in which nothing could be read of any stack. */
export function delayAfter(ends: readonly PassEnd[], interval: number): number {
  const streaks = ends.map(({ streak }) =>
    streak !== undefined && isPassing(streak) ? streak.passes : 0,
  );
  const least = Math.min(...streaks);
  // The first failure may be a blip.
  const doubled = interval * 2 ** Math.min(Math.max(least - 1, 0), 20);
  return Math.min(doubled, Math.max(interval, LONGEST_DELAY_MS));
}

function namesOf(stacks: readonly Watched[]): string {
  return stacks.map(({ name }) => name).join(', ');
}
