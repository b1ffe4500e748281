import type { Limiter } from './limiter.ts';
import { askedDelay } from './retry.ts';

/** A rate that several processes of one account keep together. */
export type Budget = {
  /** Resolves when one request may be sent. Rejects where nobody can say so any more. */
  readonly turn: () => Promise<void>;
  /** Told of each answer. `pause`: it was a 429, and for so many milliseconds nothing is to be sent. */
  readonly heard: (answer: {
    readonly sentAt: number;
    readonly at: number;
    readonly pause?: number;
  }) => void;
};

/** Where a 429 does not say when to come again. */
const PAUSE_MS = 500;

/** A limiter that also asks a budget before each request. It waits in its turn, so its turn bounds what waits there. */
export function withBudget(limiter: Limiter, budget: Budget, now: () => number): Limiter {
  return {
    ...limiter,
    learn: (send) =>
      limiter.learn(async () => {
        await budget.turn();
        const sentAt = now();
        const answer = await send();
        if (answer === undefined) return answer;
        const pause =
          answer.status === 429
            ? Math.max(PAUSE_MS, askedDelay(answer.retryAfter, now))
            : undefined;
        budget.heard({ sentAt, at: now(), ...(pause === undefined ? {} : { pause }) });
        return answer;
      }),
  };
}
