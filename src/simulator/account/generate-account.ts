/**
 * `account/` makes up a whole account for the simulator: resellers and organizations with locks on every
 * level, agents in every state, and everything that agents use. The same numbers give the same account.
 */
import type { JsonObject } from '../../core/value.ts';
import { nth } from '../fleet.ts';
import { uuidOf } from '../ids.ts';
import type { SeedDocument, SeedKey } from '../seed.ts';
import { accountAgents } from './agents.ts';
import { belongings } from './belongings.ts';
import { type Company, companies } from './companies.ts';
import { RESELLERS } from './names.ts';
import { numbered } from './numbered.ts';

/** How much of everything an account has. */
type AccountSize = {
  readonly resellers: number;
  readonly organizations: number;
  readonly agents: number;
};

/** Locks of the levels; those who have none take a turn, too. */
const ACCOUNT_LOCKS = ['llm.epsilon/model-4-31b-it', 'secure_access'];
const RESELLER_LOCKS = [
  ['llm.gamma/model-K2.6', 'use_reseller_smtp'],
  ['card_payments', 'tts.minx'],
  [],
  ['custom_voices'],
];

/** An account of that size. Everything in it was made before `now`, in milliseconds. */
export function generateAccount(
  { resellers, organizations, agents }: AccountSize,
  accountId: string,
  now: number,
): SeedDocument {
  const sellers = Array.from({ length: resellers }, (_, index) => ({
    id: uuidOf(`reseller ${index + 1}`),
    name: numbered(RESELLERS, index),
    locks: nth(RESELLER_LOCKS, index),
  }));
  const owners = companies(organizations, sellers);
  return {
    locks: ACCOUNT_LOCKS,
    resellers: sellers,
    organizations: owners.map(({ seed }) => seed),
    keys: scopedKeys(sellers[0]?.id, owners[0]?.seed.id),
    retry_policies: POLICIES,
    ...belongings(owners),
    agents: accountAgents(
      agents,
      owners,
      POLICIES.map(({ id }) => String(id)),
      accountId,
      now,
    ),
    ...profiles(owners),
  };
}

const POLICIES: readonly JsonObject[] = [
  { name: 'Gentle redial', no_answer: [900, 3] },
  { name: 'Persistent redial', no_answer: [300, 6] },
  { name: 'One more try', no_answer: [3600, 1] },
].map(({ name, no_answer: [delay = 0, attempts = 0] }) => ({
  id: uuidOf(`policy ${name}`),
  name,
  rules: { no_answer: { delay_seconds: delay, max_attempts: attempts } },
}));

/** One key for the first reseller and one for the first organization. */
function scopedKeys(reseller?: string, organization?: string): readonly SeedKey[] {
  const key = (level: 'reseller' | 'organization', id: string | undefined) =>
    id === undefined
      ? []
      : [
          {
            client_id: `simulated-${level}-client`,
            client_secret: `simulated-${level}-secret`,
            scope: { level, id },
          },
        ];
  return [...key('reseller', reseller), ...key('organization', organization)];
}

/** A profile for each organization, which one user base of the PBX provider may use. */
function profiles(owners: readonly Company[]): SeedDocument {
  const ids = owners.map(({ seed }) => ({
    organization_id: seed.id,
    id: uuidOf(`profile of ${seed.id}`),
  }));
  return {
    profiles: ids,
    claims: ids.map(({ id }) => ({ id: uuidOf(`claim of ${id}`), profile_id: id })),
    pbx_api_keys: ['simulated-pbx-key'],
  };
}
