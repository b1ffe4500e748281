import { describe, expect, test } from 'vitest';
import { MASK } from '../../src/core/credentials.ts';
import { mask, maskAt, withhold } from '../../src/core/redact.ts';
import type { ValueObject } from '../../src/core/value.ts';
import { knownSecrets } from '../../src/diff/applied.ts';
import { agent } from '../../src/kinds/agent.ts';
import { HARBOR, materialise, world } from '../world.ts';

/** Every place where a platform could hold something that nobody may see, each with a canary. */
const DOCUMENT = {
  id: 'a1',
  name: 'Desk',
  integrations: {
    ehrProvider: { username: 'u', password: 'canary-1' },
    calendarA: { calendar_name: 'Main', access_token: 'canary-2', refresh_token: 'canary-3' },
    calendarB: { access_token: 'canary-4' },
    smsProvider: { account_sid: 'AC1', auth_token: 'canary-5', api_key_secret: 'canary-6' },
    pbxProvider: { client_id: 'c', client_secret: 'canary-7' },
  },
  extensions: {
    tools: [
      {
        name: 'crm',
        headers: [{ key: 'X-Key', value: 'canary-8' }],
        parameters: [{ key: 'q', value: 'plain' }],
      },
    ],
    mcp_servers: [
      {
        id: 'm1',
        connection_name: 'C',
        // The second is not what the specification says; it is somebody's secret all the same.
        auth_headers: {
          Authorization: 'canary-9',
          Odd: ['canary-10', { deep: 'canary-11' }],
          Number: 12,
        },
        tools: [{ name: 'find', description: 'canary-12' }],
      },
    ],
  },
  sip_registration_data: { username: 'u', password: 'canary-13' },
} as const;

describe('a masked document', () => {
  const masked = () => mask(agent.schema, materialise(DOCUMENT) as ValueObject, { onlyOwn: true });

  test('holds no canary', () => {
    expect(JSON.stringify(masked())).not.toContain('canary');
  });

  test('still says where something is', () => {
    expect(masked()).toEqual({
      name: 'Desk',
      integrations: {
        ehrProvider: { username: 'u', password: MASK },
        calendarA: { calendar_name: 'Main', access_token: MASK, refresh_token: MASK },
        calendarB: { access_token: MASK },
        smsProvider: { account_sid: 'AC1', auth_token: MASK, api_key_secret: MASK },
        pbxProvider: { client_id: 'c', client_secret: MASK },
      },
      extensions: {
        tools: [
          {
            name: 'crm',
            headers: [{ key: 'X-Key', value: MASK }],
            parameters: [{ key: 'q', value: 'plain' }],
          },
        ],
        mcp_servers: [
          {
            connection_name: 'C',
            auth_headers: { Authorization: MASK, Odd: [MASK, { deep: MASK }], Number: MASK },
          },
        ],
      },
    });
  });

  test('is masked alike as a whole and in parts, whatever its names', () => {
    const config = { '[api_key]': 'canary', 'token[0]': 'canary', '[0]': 'shown' };
    const parts = Object.entries(config).map(([key, value]) => [
      key,
      maskAt(agent.schema, ['config', key], value),
    ]);
    expect(mask(agent.schema, { config })).toEqual({ config: Object.fromEntries(parts) });
    expect(JSON.stringify(parts)).not.toContain('canary');
  });

  test.each([
    ['masked', (document: ValueObject) => mask(agent.schema, document)],
    ['kept in a journal', (document: ValueObject) => withhold(agent.schema, document).document],
  ])('has every member when it is %s, whatever its name', (_, shown) => {
    const text = '{"config":{"__proto__":{"a":1},"constructor":2},"__proto__":"x"}';
    expect(JSON.stringify(shown(JSON.parse(text)))).toBe(text);
  });

  test('shows a reference and the source of a secret, which are no values', () => {
    const desired = materialise({
      default_retry_policy_id: { $ref: 'retry_policy.gentle' },
      integrations: { smsProvider: { auth_token: { $secret: 'env:TOKEN' } } },
    });
    expect(mask(agent.schema, desired as ValueObject, { onlyOwn: true })).toEqual({
      default_retry_policy_id: { $ref: 'retry_policy.gentle' },
      integrations: { smsProvider: { auth_token: { $secret: 'env:TOKEN' } } },
    });
  });
});

describe('a document to be kept', () => {
  const kept = () => withhold(agent.schema, DOCUMENT);

  test('holds no canary, nor what the platform owns', () => {
    const { document } = kept();
    expect(JSON.stringify(document)).not.toContain('canary');
    expect(document).toEqual({
      name: 'Desk',
      integrations: {
        ehrProvider: { username: 'u' },
        calendarA: { calendar_name: 'Main' },
        calendarB: {},
        smsProvider: { account_sid: 'AC1' },
        pbxProvider: { client_id: 'c' },
      },
      extensions: {
        tools: [
          { name: 'crm', headers: [{ key: 'X-Key' }], parameters: [{ key: 'q', value: 'plain' }] },
        ],
        mcp_servers: [{ connection_name: 'C', auth_headers: { Odd: [{}] } }],
      },
    });
  });

  test('says what it leaves out', () => {
    expect(kept().withheld).toEqual([
      'integrations.ehrProvider.password',
      'integrations.calendarA.access_token',
      'integrations.calendarA.refresh_token',
      'integrations.calendarB.access_token',
      'integrations.smsProvider.auth_token',
      'integrations.smsProvider.api_key_secret',
      'integrations.pbxProvider.client_secret',
      'extensions.tools[crm].headers[X-Key].value',
      'extensions.mcp_servers[C].auth_headers.Authorization',
      'extensions.mcp_servers[C].auth_headers.Odd[0]',
      'extensions.mcp_servers[C].auth_headers.Odd[1].deep',
      'extensions.mcp_servers[C].auth_headers.Number',
    ]);
  });

  test('says nothing of what is not there', () => {
    const kept = withhold(agent.schema, {
      extensions: { tools: [{ name: 'crm', headers: [{ key: 'X', value: null }] }] },
    });
    expect(kept.withheld).toEqual([]);
  });
});

describe('a secret that no schema names', () => {
  const live = {
    integrations: { ehrProvider: { username: 'u', pin: 'canary-1', door: { code: 'canary-2' } } },
    description: 'plain',
  };
  const given = materialise({ integrations: { ehrProvider: { pin: { $secret: 'env:PIN' } } } });
  const written = {
    'integrations.ehrProvider.door': { fingerprint: 'hmac:0:0' },
    'integrations.ehrProvider.username': { value: 'u' },
  };

  test('is known where the configuration gives one, and where the state has a fingerprint', () => {
    const secrets = knownSecrets(agent.schema, given as ValueObject, written);
    expect([...secrets].sort()).toEqual([
      'integrations.ehrProvider.door',
      'integrations.ehrProvider.pin',
    ]);
    expect(knownSecrets(agent.schema)).toEqual(new Set());
  });

  test('is masked whole where it is live, and nothing beside it', () => {
    const secrets = knownSecrets(agent.schema, given as ValueObject, written);
    expect(mask(agent.schema, live, { secrets, onlyOwn: true })).toEqual({
      integrations: { ehrProvider: { username: 'u', pin: MASK, door: MASK } },
      description: 'plain',
    });
    const gone = { integrations: { ehrProvider: { pin: null } } };
    expect(mask(agent.schema, gone, { secrets, onlyOwn: true })).toEqual(gone);
  });

  test('is not kept', () => {
    const { document, withheld } = withhold(
      agent.schema,
      live,
      new Set(['integrations.ehrProvider.pin', 'integrations.ehrProvider.door.code']),
    );
    expect(document).toEqual({
      integrations: { ehrProvider: { username: 'u', door: {} } },
      description: 'plain',
    });
    expect(withheld).toEqual([
      'integrations.ehrProvider.pin',
      'integrations.ehrProvider.door.code',
    ]);
  });

  const wrote = { integrations: { ehrProvider: { username: 'u', pin: { $secret: 'env:PIN' } } } };
  const then = () =>
    world()
      .live({ agent: [{ id: 'a1', name: 'Desk', organization_id: HARBOR, ...live }] })
      .applied({ 'agent.desk': { id: 'a1', name: 'Desk', ...wrote } })
      .secrets({ 'env:PIN': 'canary-1' });

  test.each([
    [
      'is given no longer',
      { 'agent.desk': { name: 'Desk', integrations: { ehrProvider: { username: 'u' } } } },
    ],
    ['goes with its resource', {}],
    [
      'is to be null',
      { 'agent.desk': { name: 'Desk', integrations: { ehrProvider: { pin: null } } } },
    ],
  ])('is in no plan where it %s', async (_, desired) => {
    const { plan } = await then().desired(desired).plan();
    expect(plan.changes).toHaveLength(1);
    expect(JSON.stringify(plan)).not.toContain('canary-1');
  });
});
