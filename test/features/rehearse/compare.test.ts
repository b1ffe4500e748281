import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/value.ts';
import { compareDumps } from '../../../src/features/rehearse/compare.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

function agent(id: string, record: JsonObject, payments: JsonObject = {}): JsonObject {
  const whole = { id, organization_id: HARBOR, name: 'Desk', ...record };
  return { id, organizationId: HARBOR, record: whole, payments };
}

/** Differences between two dumps as `address path: before > after`. */
function told(before: JsonObject, after: JsonObject, secrets: readonly string[] = []) {
  const words = {
    findAddress: (kind: string, id: string) => (id === 'a1' ? `${kind}.desk` : null),
    secrets,
  };
  return compareDumps(before, after, words).map(
    ({ address, name, path, before: was, after: is, secret }) =>
      `${address ?? name} ${path ?? '-'}: ${JSON.stringify(was)} > ${JSON.stringify(is)}${secret ? ' secret' : ''}`,
  );
}

const agents = (...all: readonly JsonObject[]): JsonObject => ({
  agents: Object.fromEntries(all.map((one) => [String(one.id), one])),
});

describe('two dumps are compared leaf by leaf', () => {
  const rows: readonly (readonly [string, JsonObject, JsonObject, readonly string[]])[] = [
    ['the same', agents(agent('a1', { model: 'x' })), agents(agent('a1', { model: 'x' })), []],
    [
      'a leaf that differs is named with both values',
      agents(agent('a1', { voice_settings: { speed: 1 } })),
      agents(agent('a1', { voice_settings: { speed: 2 } })),
      ['agent.desk voice_settings.speed: 1 > 2'],
    ],
    [
      'times, versions and empty values do not count',
      agents(agent('a1', { updated_at: '2026', version: 1, email: [], description: null })),
      agents(agent('a1', { updated_at: '2027', version: 2, greeting_message: '' })),
      [],
    ],
    [
      'a resource that was made anew is the one of its name, and its new id may be used',
      {
        ...agents(agent('a1', { default_retry_policy_id: 'p1' })),
        retryPolicies: { p1: { id: 'p1', name: 'Gentle' } },
      },
      {
        ...agents(agent('a1', { default_retry_policy_id: 'p9' })),
        retryPolicies: { p9: { id: 'p9', name: 'Gentle' } },
      },
      [],
    ],
    [
      'the id of some other resource may not',
      {
        ...agents(agent('a1', { default_retry_policy_id: 'p1' })),
        retryPolicies: { p1: { id: 'p1', name: 'Gentle' }, p2: { id: 'p2', name: 'Other' } },
      },
      {
        ...agents(agent('a1', { default_retry_policy_id: 'p2' })),
        retryPolicies: { p9: { id: 'p9', name: 'Gentle' }, p2: { id: 'p2', name: 'Other' } },
      },
      ['agent.desk default_retry_policy_id: "p1" > "p2"'],
    ],
    [
      'what is gone and what is left behind',
      agents(agent('a1', {})),
      agents(agent('a2', { name: 'Recall' })),
      ['agent.desk -: "there" > null', 'Recall -: null > "there"'],
    ],
    [
      'what the payment tool was told',
      agents(agent('a1', {}, { enabled: false, limits: {} })),
      agents(agent('a1', {}, { enabled: true, limits: {} })),
      ['agent.desk payments.enabled: false > true'],
    ],
    [
      'a secret is masked on both sides',
      agents(agent('a1', { integrations: { smsProvider: { auth_token: 'one' } } })),
      agents(agent('a1', { integrations: { smsProvider: { auth_token: 'two' } } })),
      ['agent.desk integrations.smsProvider.auth_token: "(secret)" > "(secret)" secret'],
    ],
    [
      'an element of a list goes by its name',
      agents(agent('a1', { extensions: { tools: [{ name: 'crm', url: 'https://a.test' }] } })),
      agents(agent('a1', { extensions: { tools: [{ name: 'crm', url: 'https://b.test' }] } })),
      ['agent.desk extensions.tools[crm].url: "https://a.test" > "https://b.test"'],
    ],
  ];
  test.each(rows)('%s', (_, before, after, expected) => {
    expect(told(before, after)).toEqual(expected);
  });

  test('a text that holds a secret of the configuration is masked wherever it stands', () => {
    const secret = 'pass"word\\';
    const before = agents(agent('a1', { integrations: { ownCrm: { key: `x ${secret}` } } }));
    expect(told(before, agents(agent('a1', { integrations: {} })), [secret])).toEqual([
      'agent.desk integrations: "(secret)" > {} secret'.replace(
        'integrations: "(secret)" > {}',
        'integrations.ownCrm: {"key":"(secret)"} > null',
      ),
    ]);
  });
});
