import fc, { type Arbitrary } from 'fast-check';
import type { Json } from '../../src/core/value.ts';
import { oneOf } from './choice.ts';
import type { Live, Pool } from './step.ts';

/** Ids of what is there, and now and then one of nothing. */
export function ids(pool: Pool): Arbitrary<Json> {
  return oneOf<Json>({ weight: 9, arbitrary: live(pool) }, { weight: 1, arbitrary: fc.uuid() });
}

export function live(pool: Pool): Arbitrary<Live> {
  return fc.record({ live: fc.constant(pool), nth: fc.nat(11) });
}

const few = (...values: readonly Json[]) => fc.constantFrom(...values);

/**
 * What fields of a name hold so that requests get somewhere: ids of what is there, names that collide,
 * and what only the platform's own lists allow.
 */
export const HINTS: { readonly [name: string]: Arbitrary<Json> } = {
  organization_id: ids('organization'),
  organizationId: ids('organization'),
  organization_ids: fc.array(ids('organization'), { maxLength: 3 }),
  'organization_ids[]': fc.array(ids('organization'), { maxLength: 3 }),
  reseller_id: ids('reseller'),
  resellerId: ids('reseller'),
  reseller_ids: fc.array(ids('reseller'), { maxLength: 2 }),
  'reseller_ids[]': fc.array(ids('reseller'), { maxLength: 2 }),
  defaultRetryPolicyId: oneOf(ids('records of retry_policy'), few(null)),
  voice_id: oneOf(ids('voice'), few('builtin-1')),
  profile_id: ids('profile'),
  claim_id: ids('claim'),
  audience: oneOf(
    { weight: 9, arbitrary: live('audience') },
    { weight: 1, arbitrary: few('https://x.test/') },
  ),
  // Two that belong together, most of the time.
  client_id: oneOf(
    { weight: 3, arbitrary: few('simulated-client') },
    { weight: 1, arbitrary: few('organization', 'reseller', 'nobody') },
  ),
  client_secret: oneOf(
    { weight: 3, arbitrary: few('simulated-secret') },
    { weight: 1, arbitrary: few('organization-secret', 'reseller-secret', 'wrong') },
  ),
  name: few('One', 'Two', 'Three', 'Four', 'Ünïcødé 🎈'),
  contentHash: few('hash-1', 'hash-2'),
  fileSize: oneOf({ weight: 4, arbitrary: few(5) }, { weight: 1, arbitrary: few(1, 52_428_800) }),
  model: few('alpha-4.1', 'alpha-4o', 'beta-3-fast', 'gamma/model-K2.6'),
  sttModel: few('voxc'),
};
