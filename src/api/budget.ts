import pLimit from 'p-limit';
import type { Limiter } from './limiter.ts';

/** A rate that several processes of one account keep together. */
export type Budget = {
  /**
   * Resolves when one request may be sent, with the milliseconds that it was held up because the host refused
   * requests; after `patience` of those it is sent whatever comes of it. Rejects where nobody can say so any more.
   */
  readonly turn: (patience: number) => Promise<number>;
  /** How many refusals in a row it is with one more. */
  readonly refusals: () => number;
  /** Told of each answer. `pause`: it was a 429, and for so many milliseconds nothing is to be sent. */
  readonly heard: (answer: {
    readonly sentAt: number;
    readonly at: number;
    readonly pause?: number;
  }) => void;
};

export type BudgetedOptions = {
  /** Whose requests the budget is for. Presigned addresses are somebody else's. */
  readonly host: string;
  readonly budget: Budget;
  /** Most requests in flight at once. */
  readonly most: number;
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
};

/**
 * A limiter whose requests to a host go by a budget, instead of by what this process alone has heard: a process that
 * held itself to its own share would not notice that the others are gone.
 */
export function budgetedLimiter(
  others: Limiter,
  { host, budget, most, now }: BudgetedOptions,
): Limiter {
  const requests = pLimit(most);
  return {
    run: others.run,
    send: (to, ask) =>
      to !== host
        ? others.send(to, ask)
        : requests(async () => {
            const held = await budget.turn(ask.patience);
            const sentAt = now();
            const answer = await ask.send();
            const refusals = budget.refusals();
            const pause =
              answer.status === 429 ? ask.pauseAfter(answer, { refusals, held }) : undefined;
            budget.heard({ sentAt, at: now(), ...(pause === undefined ? {} : { pause }) });
            return { answer, held };
          }),
  };
}
