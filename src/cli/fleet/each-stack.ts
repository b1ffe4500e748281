import pLimit from 'p-limit';
import { renderFleetProgress } from '../../render/fleet.ts';
import type { RenderOptions } from '../../render/terminal.ts';
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
  { verb, concurrency = MOST_AT_ONCE }: { readonly verb: string; readonly concurrency?: number },
  context: Context,
  work: (stack: S, onProgress: (line: string) => void) => Promise<T>,
  take: (result: T) => Promise<void> | void,
): Promise<void> {
  const limit = pLimit(Math.max(1, Math.min(MOST_AT_ONCE, concurrency)));
  const running = new Map<string, string>();
  let ended = 0;
  let isOver = false;
  const stopDrawing = drawEvery(context, (options) =>
    renderFleetProgress(verb, { ended, total: stacks.length, running: [...running] }, options),
  );
  const waiting = stacks.map((stack) =>
    limit(async () => {
      if (isOver) throw new Error(`${stack.path} was not begun`);
      running.set(stack.path, '');
      try {
        return await work(stack, (line) => void running.set(stack.path, line));
      } finally {
        running.delete(stack.path);
        ended += 1;
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
    isOver = true;
    stopDrawing();
    await Promise.allSettled(waiting);
  }
}

/** How often the display is drawn anew: fast enough to see that it moves. */
const EVERY_MS = 120;

/** Draws on a terminal until the result is called. */
function drawEvery({ terminal }: Context, render: (options: RenderOptions) => string): () => void {
  const { live } = terminal;
  if (live === undefined) return () => undefined;
  const draw = () => live.draw(render(terminal.renderErr));
  const timer = setInterval(draw, EVERY_MS).unref();
  draw();
  return () => {
    clearInterval(timer);
    live.end();
  };
}
