import { data, missing } from '../answer.ts';
import { billingRows, usDate } from '../calls/billing.ts';
import { viewCallLog } from '../calls/call-log.ts';
import { metricsOf } from '../calls/metrics.ts';
import { billedOrganizations, measuredOrganizations } from '../calls/selection.ts';
import { readSpan } from '../calls/span.ts';
import { page } from '../pages.ts';
import type { Routes } from '../platform.ts';
import { forbidden, ownedBy } from '../reach.ts';

/** What agents did, and what is charged for: all of it from the same calls (Metrics, Billing report, Call logs). */
export const reports: Routes<'getMetrics' | 'getBillingReport' | 'listCallLogs'> = {
  getMetrics: (input, platform) => {
    const span = readSpan('getMetrics', input, ['startDate', 'endDate']);
    const organizations = measuredOrganizations(platform, input);
    return data(metricsOf(platform.store, organizations, span));
  },

  getBillingReport: (input, platform) => {
    const span = readSpan('getBillingReport', input, ['start_date', 'end_date']);
    const { start_date: start, end_date: end } = input.query;
    return {
      status: 200,
      body: {
        data: billingRows(platform.store, billedOrganizations(platform, input), span),
        period: { start_date: usDate(String(start)), end_date: usDate(String(end)) },
      },
    };
  },

  /** An agent that is there but out of reach is 403 here, unlike everywhere else (Call logs). */
  listCallLogs: (input, platform) => {
    const agent = platform.store.agents.get(input.path.agentId ?? '');
    if (agent === undefined) throw missing('Agent');
    if (!ownedBy(platform, input.key, agent.organizationId))
      throw forbidden('No access to this agent');
    const book = platform.store.calls.get(agent.id);
    if (book === undefined) return page(platform.dialect, [], input, () => null);
    const { callLogOrder } = platform.dialect;
    const calls = callLogOrder === 'newest' ? book.calls : book.calls.toReversed();
    return page(platform.dialect, calls, input, (call) => viewCallLog(platform, book, call));
  },
};
