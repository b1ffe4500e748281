import { describe, expect, test } from 'vitest';
import { mask, maskUnknown } from '../../src/core/redact.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';

const agent = kindNamed('agent').schema;

describe('what a record of an agent hides', () => {
  const rows: readonly (readonly [string, JsonObject, JsonObject])[] = [
    [
      'values of webhook headers',
      { extensions: { tools: [{ name: 'crm', headers: [{ key: 'X-Key', value: 'canary' }] }] } },
      { extensions: { tools: [{ name: 'crm', headers: [{ key: 'X-Key', value: '(secret)' }] }] } },
    ],
    [
      'headers of tool servers',
      { extensions: { mcp_servers: [{ auth_headers: { Authorization: 'canary' } }] } },
      { extensions: { mcp_servers: [{ auth_headers: { Authorization: '(secret)' } }] } },
    ],
    [
      'secrets of integrations, should the platform ever return them',
      { integrations: { smsProvider: { account_sid: 'AC01', auth_token: 'canary' } } },
      { integrations: { smsProvider: { account_sid: 'AC01', auth_token: '(secret)' } } },
    ],
    [
      'what an integration calls by a name that the schema does not know',
      {
        integrations: { ehrProvider: { username: 'desk', privateApiKey: 'canary', pin_secret: 7 } },
      },
      {
        integrations: {
          ehrProvider: { username: 'desk', privateApiKey: '(secret)', pin_secret: '(secret)' },
        },
      },
    ],
    [
      'what an integration keeps that the schema does not know, but when it was connected',
      {
        integrations: {
          ehrProvider: { pass: 'canary', connected_at: '2026-01-01T09:00:00.5Z', is_live: true },
        },
      },
      {
        integrations: {
          ehrProvider: {
            pass: '(secret)',
            connected_at: '2026-01-01T09:00:00.5Z',
            is_live: true,
          },
        },
      },
    ],
    [
      'the SIP password',
      { sip_registration_data: { username: 'desk', password: 'canary', port: 5060 } },
      { sip_registration_data: { username: 'desk', password: '(secret)', port: 5060 } },
    ],
    [
      'nothing that the platform owns',
      { id: 'a1', created_at: '2026-01-01T00:00:00Z', place_data: { rating: 5 }, is_active: true },
      { id: 'a1', created_at: '2026-01-01T00:00:00Z', place_data: { rating: 5 }, is_active: true },
    ],
    [
      'no limit that is called after tokens',
      { config: { max_tokens: 400, token_type: 'x' } },
      { config: { max_tokens: 400, token_type: 'x' } },
    ],
  ];
  test.each(rows)('%s', (_, record, shown) => {
    expect(mask(agent, record)).toEqual(shown);
  });
});

test('a record without a schema hides by name', () => {
  const entry = {
    id: 7,
    actor: { id: 'api:1' },
    settings: {
      headers: [{ key: 'X-Key', value: 'canary' }],
      authHeaders: { 'X-Key': 'canary' },
      system_prompt: 'You answer.',
    },
  };
  expect(maskUnknown(entry)).toEqual({
    id: 7,
    actor: { id: 'api:1' },
    settings: {
      headers: [{ key: 'X-Key', value: '(secret)' }],
      authHeaders: { 'X-Key': '(secret)' },
      system_prompt: 'You answer.',
    },
  });
});
