import { missing } from '../answer.ts';
import type { Routes } from '../platform.ts';

/** What agents did, and what is charged for (Metrics, Billing report, Call logs). */
export const reports: Routes<'getMetrics' | 'getBillingReport' | 'listCallLogs'> = {
  getMetrics: () => {
    throw missing('Metrics');
  },
  getBillingReport: () => {
    throw missing('Billing report');
  },
  listCallLogs: () => {
    throw missing('Call logs');
  },
};
