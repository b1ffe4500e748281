import type { Budget } from '../../api/budget.ts';
import { recordIn, textOf } from '../../kinds/answer.ts';
import { openBudget } from '../../queue/budget.ts';
import type { QueueDatabase } from '../../queue/database.ts';
import type { Context } from '../context.ts';
import { openClient } from '../open-client.ts';

export type Budgets = {
  /** The budget of the account that these credentials are for at a base address. */
  readonly at: (baseUrl: string) => Budget;
  readonly close: () => Promise<void>;
};

/** The budgets of a worker. Whose account it is is asked once for each base address, with the first request to it. */
export function openBudgets(database: QueueDatabase, context: Context): Budgets {
  const opened = new Map<string, Promise<ReturnType<typeof openBudget>>>();
  const known = new Map<string, Budget>();
  const budgetAt = (baseUrl: string) => {
    const before = opened.get(baseUrl);
    if (before !== undefined) return before;
    const made = accountAt(baseUrl, context).then((account) => {
      const budget = openBudget(database, { baseUrl, account });
      known.set(baseUrl, budget);
      return budget;
    });
    opened.set(baseUrl, made);
    // The next request asks again.
    made.catch(() => opened.delete(baseUrl));
    return made;
  };
  return {
    at: (baseUrl) => ({
      turn: async (patience) => (await budgetAt(baseUrl)).turn(patience),
      refusals: () => known.get(baseUrl)?.refusals() ?? 1,
      heard: (answer) => known.get(baseUrl)?.heard(answer),
    }),
    async close() {
      const budgets = await Promise.allSettled(opened.values());
      for (const budget of budgets) if (budget.status === 'fulfilled') await budget.value.close();
    },
  };
}

/** The account that the credentials of the environment are for. Two requests, which no budget counts. */
async function accountAt(baseUrl: string, { lanes: _, ...context }: Context): Promise<string> {
  // Only a client that was let have the credentials there asks for its budget.
  const platform = { base_url: baseUrl, by: 'operator' as const };
  const client = await openClient({ dir: '.', platform }, context);
  try {
    return textOf(recordIn(await client.call({ operation: 'getMe' })), 'account_id');
  } finally {
    await client.close();
  }
}
