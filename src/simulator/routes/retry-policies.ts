import schema from '../../../schemas/kinds/retry_policy.schema.json' with { type: 'json' };
import { type KindSchema, memberSchema } from '../../core/schema.ts';
import type { JsonObject } from '../../core/value.ts';
import { coded, data, GONE, missing } from '../answer.ts';
import { dress } from '../dress.ts';
import { without } from '../json.ts';
import { assign } from '../merge.ts';
import { refusedNulls } from '../nulls.ts';
import { assumedPage, ordered } from '../pages.ts';
import type { Input, Platform, Routes } from '../platform.ts';
import type { Fields } from '../store.ts';
import { invalid } from '../violations.ts';
import { created } from '../written.ts';

const kind: KindSchema = schema;
const FIELDS = Object.keys(kind.properties ?? {}).filter(
  (name) => memberSchema(kind, kind, name).readOnly !== true,
);

/** How outbound calls are tried again (Retry policies). They belong to the account. */
export const retryPolicies: Routes<
  | 'listRetryPolicies'
  | 'createRetryPolicy'
  | 'getRetryPolicy'
  | 'updateRetryPolicy'
  | 'deleteRetryPolicy'
> = {
  listRetryPolicies: (input, { store, dialect }) => {
    const all = ordered(dialect, store.retryPolicies.values(), ({ name }) => name);
    return assumedPage(dialect, all, input, (policy) => dress(dialect, policy));
  },

  createRetryPolicy: ({ body }, platform) => {
    refuseNulls(platform, body);
    refuseTaken(platform, body.name);
    const id = platform.ids.uuid('policy');
    const at = platform.stamp();
    const empty: JsonObject = {
      id,
      name: '',
      rules: {},
      contact_policy: null,
      on_exhausted: 'end',
      on_exhausted_target: null,
      reschedule_out_of_window: false,
    };
    const policy: Fields = { ...assign(empty, body, FIELDS), created_at: at, updated_at: at };
    platform.store.retryPolicies.set(id, policy);
    return created(platform.dialect, dress(platform.dialect, policy));
  },

  getRetryPolicy: (input, platform) => data(dress(platform.dialect, policyOf(platform, input))),

  updateRetryPolicy: (input, platform) => {
    const policy = policyOf(platform, input);
    refuseNulls(platform, input.body);
    if (input.body.name !== undefined) refuseTaken(platform, input.body.name, policy);
    Object.assign(policy, assign(policy, input.body, FIELDS), { updated_at: platform.stamp() });
    return data(dress(platform.dialect, policy));
  },

  /** Agents that followed the policy fall back to no retries (States and transitions). */
  deleteRetryPolicy: (input, platform) => {
    const { id } = policyOf(platform, input);
    platform.store.retryPolicies.delete(String(id));
    const { deletedPolicy } = platform.dialect;
    if (deletedPolicy === 'dangling') return GONE;
    for (const agent of platform.store.agents.values())
      if (agent.record.default_retry_policy_id === id)
        agent.record = {
          ...without(agent.record, 'default_retry_policy_id'),
          ...(deletedPolicy === 'emptied' ? { updated_at: platform.stamp() } : {}),
        };
    return GONE;
  },
};

function policyOf({ store }: Platform, { path }: Input): Fields {
  const policy = store.retryPolicies.get(path.policyId ?? '');
  if (policy === undefined) throw missing('Retry policy');
  return policy;
}

function refuseTaken({ store }: Platform, name: unknown, own?: Fields): void {
  for (const policy of store.retryPolicies.values())
    if (policy !== own && policy.name === name)
      throw coded(409, 'conflict', 'A retry policy with this name exists');
}

function refuseNulls(platform: Platform, body: JsonObject): void {
  const refused = refusedNulls(platform, body, (name) => memberSchema(kind, kind, name));
  if (refused.length > 0) throw invalid('details', refused);
}
