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
  const budgetAt = (baseUrl: string) => {
    const known = opened.get(baseUrl);
    if (known !== undefined) return known;
    const made = accountAt(baseUrl, context).then((account) =>
      openBudget(database, { baseUrl, account }),
    );
    opened.set(baseUrl, made);
    // The next request asks again.
    made.catch(() => opened.delete(baseUrl));
    return made;
  };
  return {
    at: (baseUrl) => ({
      turn: async () => (await budgetAt(baseUrl)).turn(),
      heard: (answer) => void opened.get(baseUrl)?.then((budget) => budget.heard(answer)),
    }),
    async close() {
      const budgets = await Promise.allSettled(opened.values());
      for (const budget of budgets) if (budget.status === 'fulfilled') await budget.value.close();
    },
  };
}

/** The account that the credentials of the environment are for. Two requests, which no budget counts. */
async function accountAt(baseUrl: string, { lanes: _, ...context }: Context): Promise<string> {
  const source = { dir: '.', platform: { base_url: baseUrl } };
  const client = openClient(source, { ...context, env: { ...context.env, CALLSHEET_BASE_URL: baseUrl } });
  try {
    return textOf(recordIn(await client.call({ operation: 'getMe' })), 'account_id');
  } finally {
    await client.close();
  }
}
