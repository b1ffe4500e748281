import pLimit from 'p-limit';
import type { WireAnswer } from './transport.ts';

/** How many calls run at once, and how many of their requests are under way. */
export type Limiter = {
  /** Runs a task when there is room for it: as many as were asked for, waiting ones included. */
  readonly run: <T>(task: () => Promise<T>) => Promise<T>;
  /**
   * Sends one request of a running task when there is room for it, and learns from its answer. What is sent
   * again takes its turn like any other, so that a cut holds for requests that were turned away, too.
   * Undefined, which `send` may give, is no answer: nothing was sent.
   */
  readonly learn: <A extends WireAnswer | undefined>(send: () => Promise<A>) => Promise<A>;
};

/**
 * One limiter for reads and writes. Starts with `most` at once, halves on 429 and adds one more after
 * as many other answers as run at once. What was sent before a cut cannot cause another one: when a limit
 * is hit, all requests in flight are told so.
 */
export function createLimiter(most: number): Limiter {
  const tasks = pLimit(most);
  const limit = pLimit(most);
  let cuts = 0;
  let answers = 0;

  function cut(): void {
    cuts += 1;
    answers = 0;
    limit.concurrency = Math.max(1, Math.floor(limit.concurrency / 2));
  }

  function recover(): void {
    if (limit.concurrency >= most) return;
    answers += 1;
    if (answers < limit.concurrency) return;
    answers = 0;
    limit.concurrency += 1;
  }

  return {
    run: (task) => tasks(task),
    learn: (send) =>
      limit(async () => {
        const before = cuts;
        const answer = await send();
        if (answer === undefined) return answer;
        if (answer.status !== 429) recover();
        else if (before === cuts) cut();
        return answer;
      }),
  };
}
