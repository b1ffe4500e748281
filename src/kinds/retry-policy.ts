import schema from '../../schemas/kinds/retry_policy.schema.json' with { type: 'json' };
import type { Kind } from './kind.ts';
import { restCalls } from './making.ts';

/** Retry policies belong to the account, so there is one list of them. */
export const retryPolicy: Kind = {
  name: 'retry_policy',
  section: 'retry_policies',
  schema,
  naturalKey: [['name']],
  tie: 'error',
  refusesTwins: true,
  scope: [],
  columns: ['on_exhausted', 'reschedule_out_of_window', 'updated_at'],
  ...restCalls({
    list: 'listRetryPolicies',
    get: 'getRetryPolicy',
    create: 'createRetryPolicy',
    update: 'updateRetryPolicy',
    delete: 'deleteRetryPolicy',
    id: 'policyId',
  }),
  document: (record) => record,
  facets: [],
};
