import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/value.ts';
import { exportResource } from '../../../../src/features/writing/export/resource.ts';
import { kindNamed } from '../../../../src/kinds/index.ts';
import { openSecrets } from '../../../../src/live/secrets.ts';

const ID = '7d0c6f1e-54a3-4b0e-9b1c-2f6d8e9a0b11';
const OTHER = '0a000000-0000-4000-8000-00000000000a';
const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';

function exported(document: JsonObject, kind = 'agent', moving?: ReadonlySet<string>) {
  const live = {
    id: ID,
    scope: { organization_id: HARBOR },
    extent: 'whole' as const,
    document: { id: ID, organization_id: HARBOR, name: 'Desk', ...document },
    record: {},
  };
  const known = new Map([
    ['retry_policy p1', 'retry_policy.gentle'],
    [`agent ${OTHER}`, 'agent.other'],
  ]);
  const findAddress = (of: string, id: string) => known.get(`${of} ${id}`);
  const { one, remarks } = exportResource(live, {
    kind: kindNamed(kind),
    address: `${kind}.desk`,
    isTwin: false,
    findAddress,
    own: 'desk',
    organization: 'harbor',
    standIn: openSecrets().standIn,
    moving,
  });
  const { writable, secrets = [] } = one ?? {};
  const { organization_id: _, name: __, ...rest } = writable?.document ?? {};
  return {
    document: writable && JSON.parse(JSON.stringify(rest)),
    secrets: secrets.map(({ secret, destination, value }) => [secret.source, destination, value]),
    remarks: remarks.map(({ path, reason }) => `${path}: ${reason}`),
  };
}

const TOOL = {
  type: 'webhook',
  name: 'crm',
  condition: 'during_call',
  method: 'GET',
  url: 'https://a.example.test',
};

describe('what the stack says of an agent', () => {
  test.each<[string, JsonObject, JsonObject]>([
    [
      'nothing that is empty',
      { description: '', email: [], config: {}, greeting_message: null },
      {},
    ],
    [
      'nothing that the platform owns',
      { is_active: true, place_data: { a: 1 }, created_at: 'x' },
      {},
    ],
    [
      'null in a member of a list, which is written whole',
      { config: { rows: [{ a: null, b: 1 }], c: null } },
      { config: { rows: [{ a: null, b: 1 }] } },
    ],
    [
      'a reference by name',
      { default_retry_policy_id: 'p1' },
      { default_retry_policy_id: { $ref: 'retry_policy.gentle' } },
    ],
    [
      'the same in settings and their lists, and ids within texts as they are',
      { contact_policy: { fallback: OTHER, all: [OTHER, 'desk'] }, system_prompt: `Ask ${OTHER}.` },
      {
        contact_policy: {
          fallback: { $ref: 'agent.other' },
          all: [{ $ref: 'agent.other' }, 'desk'],
        },
        system_prompt: `Ask ${OTHER}.`,
      },
    ],
    ['what is off beside what is on', { enable_recording: false }, { enable_recording: false }],
    [
      'no payments that are off: they say what would be',
      { payments: { tool_enabled: false, max_attempts_per_call: 3 } },
      {},
    ],
    [
      'payments that are on',
      { payments: { tool_enabled: true, max_attempts_per_call: 3 } },
      { payments: { tool_enabled: true, max_attempts_per_call: 3 } },
    ],
    [
      'a registration that is off',
      { sip: { registration_enabled: false } },
      { sip: { registration_enabled: false } },
    ],
    [
      'no moments of a provider',
      {
        integrations: {
          calendarA: { calendar_name: 'Desk', connected_at: '2026-01-01T00:00:00Z' },
        },
      },
      { integrations: { calendarA: { calendar_name: 'Desk' } } },
    ],
  ])('%s', (_, live, document) => {
    expect(exported(live)).toEqual({ document, secrets: [], remarks: [] });
  });

  test('secrets are asked for, whether the platform returns them or not', () => {
    const { document, secrets, remarks } = exported({
      integrations: { smsProvider: { account_sid: 'AC1' }, pbxProvider: { region: 'eu' } },
      extensions: {
        tools: [
          {
            ...TOOL,
            headers: [
              { key: 'X-Key', value: 'canary' },
              { key: 'X-None', value: '' },
            ],
          },
        ],
      },
    });
    expect(document).toEqual({
      integrations: {
        smsProvider: {
          account_sid: 'AC1',
          auth_token: { $secret: 'env:SECRET_1' },
        },
      },
      extensions: {
        tools: [
          {
            ...TOOL,
            headers: [{ key: 'X-Key', value: { $secret: 'env:SECRET_2' } }, { key: 'X-None' }],
          },
        ],
      },
    });
    expect(secrets).toEqual([
      ['env:SECRET_1', 'smsProvider', undefined],
      ['env:SECRET_2', 'a.example.test', 'canary'],
    ]);
    expect(remarks).toEqual([
      'integrations.pbxProvider.region: it may be a secret: no schema says what it is',
    ]);
  });

  test('a field that no schema knows is owned where that is asked for, unless it is named like a secret', () => {
    const live = {
      call_limit: 3,
      partner_token: 'canary',
      nested_thing: { deep: { apiKey: 'canary' } },
      nothing_new: null,
    };
    for (const moving of [undefined, new Set<string>()]) {
      const { document, remarks } = exported(live, 'agent', moving);
      expect(document).toEqual(moving === undefined ? {} : { callLimit: 3 });
      expect(remarks.join('\n')).not.toContain('canary');
      expect(remarks).toHaveLength(3);
    }
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['another type', { transfer_rules: 7 }, {}],
    [
      'no zone, inside a field',
      { config: { user_timezone: 'Mars/Base', inactivity_timeout: 3 } },
      { config: { inactivity_timeout: 3 } },
    ],
    [
      'an element of a list that lacks what it needs',
      { extensions: { tools: [{ type: 'webhook', name: 'a' }] } },
      {},
    ],
    ['elements that cannot be told apart', { extensions: { tools: [TOOL, TOOL] } }, {}],
  ])('%s is never written where validate would refuse it', (_, live, document) => {
    const result = exported(live);
    expect(result).toMatchObject({ document });
    expect(result.remarks.length).toBeGreaterThan(0);
  });

  test.each<[string, JsonObject]>([
    ['a value', { language: 'fr-FR', agent_type: 'concierge' }],
    ['a token that is not closed', { greeting_message: 'Hi {{name' }],
    ['an address of another form', { extensions: { tools: [{ ...TOOL, url: 'no address' }] } }],
    ['a member', { extensions: { tools: [{ ...TOOL, retries: 2 }] } }],
    ['a tool of another type', { extensions: { tools: [{ type: 'sms', name: 'a', to: '+1' }] } }],
    ['a number', { voice_settings: { speed: -1 } }],
    ['an e-mail address', { email: ['Front Desk <desk@harbor.example.test>'] }],
  ])('%s that no rule of the specification forbids is written as it is', (_, live) => {
    expect(exported(live)).toMatchObject({ document: live, remarks: [] });
  });

  test('what cannot be said at all is left out, with the reason', () => {
    expect(exported({ name: '' })).toMatchObject({
      document: undefined,
      remarks: ['null: the configuration cannot say it: it has no name'],
    });
    expect(
      exported({ knowledge_base_id: HARBOR, name: 'prices.pdf' }, 'knowledge_source').remarks,
    ).toEqual(['null: it needs a file, which the platform does not give back']);
  });
});
