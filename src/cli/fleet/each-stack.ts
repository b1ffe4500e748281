import pLimit from 'p-limit';
import { renderFleetProgress } from '../../render/fleet.ts';
import type { Context } from '../context.ts';
import type { FoundStack } from './find-stacks.ts';

/** Stacks at work at once, unless fewer requests are. One limiter holds all of them to the account's pace. */
const MOST_AT_ONCE = 4;

/**
 * Works on stacks, some at once, and hands what came of each on in the order in which they were given, as soon as it
 * and all before it are there. `verb`: what is seen meanwhile, such as `Planning`.
 */
export async function eachStack<S extends FoundStack, T>(
  stacks: readonly S[],
  { verb, concurrency }: { readonly verb: string; readonly concurrency: number },
  context: Context,
  work: (stack: S, onProgress: (line: string) => void) => Promise<T>,
  take: (result: T) => Promise<void> | void,
): Promise<void> {
  const limit = pLimit(Math.max(1, Math.min(MOST_AT_ONCE, concurrency)));
  const running = new Map<string, string>();
  let ended = 0;
  const { live } = context.terminal;
  const draw = () =>
    live?.draw(
      renderFleetProgress(
        verb,
        { ended, total: stacks.length, running: [...running] },
        context.terminal.renderErr,
      ),
    );
  const waiting = stacks.map((stack) =>
    limit(async () => {
      running.set(stack.path, '');
      draw();
      try {
        return await work(stack, (line) => {
          running.set(stack.path, line);
          draw();
        });
      } finally {
        running.delete(stack.path);
        ended += 1;
        draw();
      }
    }),
  );
  try {
    for (const [at, one] of waiting.entries()) {
      await take(await one);
      // What was shown need not be kept.
      delete waiting[at];
    }
  } finally {
    live?.end();
    await Promise.allSettled(waiting);
  }
}
