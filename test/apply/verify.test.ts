import { describe, expect, test } from 'vitest';
import { checkBody, judgeCarried } from '../../src/apply/verify.ts';
import type { Evidence } from '../../src/apply/work.ts';
import type { Change } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { agent } from '../../src/kinds/agent.ts';
import { desiredResource, fingerprinter, KEY, type Written } from '../world.ts';

/** What is live unless a row says otherwise. */
const LIVE: JsonObject = {
  name: 'Desk',
  greeting_message: 'Hello',
  voice_settings: { voice_id: 'v1', speed: 1 },
  config: { user_timezone: 'Europe/Vienna' },
  integrations: { smsProvider: { account_sid: 'AC1', fromNumber: '+15550100' }, ehrProvider: {} },
  extensions: {
    tools: [
      { type: 'webhook', name: 'a', url: 'https://a.test' },
      { type: 'webhook', name: 'b', url: 'https://b.test' },
    ],
    mcp_servers: [{ id: 'm1', connection_name: 'Records', mcp_endpoint_url: 'https://m.test' }],
  },
};

const TOOLS = [
  { type: 'webhook', name: 'a', url: 'https://a.test' },
  { type: 'webhook', name: 'b', url: 'https://b.test' },
];
const SERVER = { id: 'm1', connectionName: 'Records', mcpEndpointUrl: 'https://m.test' };
const SMS = { account_sid: 'AC1', fromNumber: '+15550100' };

/** A body that is sent where the plan shows these paths of what is desired. */
function check(
  desired: Written,
  shown: readonly string[],
  body: JsonObject,
  more: Partial<Evidence> = {},
) {
  const resource = desiredResource('agent.desk', desired);
  const fields = shown.map((path) => ({
    path,
    before: null,
    after: null,
    secret: false,
    cause: 'changed' as const,
  }));
  const world = {
    findId: (address: string) => (address === 'custom_voice.v' ? 'v2' : undefined),
    findSecret: (source: string) => (source === 'env:TOKEN' ? 'the token' : undefined),
    fingerprints: fingerprinter(KEY),
  };
  const change = { address: 'agent.desk', fields } as unknown as Change;
  return checkBody(
    { operation: 'updateAgent', body },
    { live: LIVE, ...more },
    { change, kind: agent, desired: resource, world, before: LIVE },
  );
}

/** Title, what is desired, the paths that the plan shows, the body, and what else it is made from. */
type Sent = readonly [string, Written, readonly string[], JsonObject, Partial<Evidence>];
/** And why it is refused. */
type Refused = readonly [...Sent, string];

describe('a body is sent', () => {
  test.each<Sent>([
    [
      'that says what the plan shows',
      { greeting_message: 'Hi' },
      ['greeting_message'],
      { greetingMessage: 'Hi' },
      {},
    ],
    [
      'with what stands beside it as it was read',
      { voice_settings: { speed: 2 } },
      ['voice_settings.speed'],
      { voiceSettings: { voice_id: 'v1', speed: 2 } },
      {},
    ],
    [
      'with the id that a reference stands for',
      { voice_settings: { voice_id: { $ref: 'custom_voice.v' } } },
      ['voice_settings.voice_id'],
      { voiceSettings: { voice_id: 'v2', speed: 1 } },
      {},
    ],
    [
      'with the secret that the plan shows',
      { integrations: { smsProvider: { auth_token: { $secret: 'env:TOKEN' } } } },
      ['integrations.smsProvider.auth_token'],
      { integrations: { smsProvider: { ...SMS, auth_token: 'the token' }, ehrProvider: {} } },
      {},
    ],
    [
      'without an element that the plan takes away',
      { extensions: { tools: [{ ...TOOLS[0] }] } },
      ['extensions.tools[b]'],
      { extensions: { tools: [TOOLS[0] ?? {}], mcp_servers: [SERVER] } },
      {},
    ],
    ['with null for what the plan clears', {}, ['greeting_message'], { greetingMessage: null }, {}],
    [
      'with an empty text among secrets, as it was read',
      { integrations: { smsProvider: { fromNumber: '+15550199' } } },
      ['integrations.smsProvider.fromNumber'],
      { integrations: { smsProvider: { note: '', fromNumber: '+15550199' } } },
      { live: { integrations: { smsProvider: { note: '', fromNumber: '+15550100' } } } },
    ],
    [
      'of a facet, with what is declared',
      { payments: { tool_enabled: true } },
      ['payments.tool_enabled'],
      { enabled: true },
      { facet: 'payments' },
    ],
    [
      'with a field that is newer than the schema',
      { brandNew: { a: 1 } },
      ['brandNew.a'],
      { brandNew: { a: 1 } },
      {},
    ],
  ])('%s', (_, desired, shown, body, more) => {
    expect(() => check(desired, shown, body, more)).not.toThrow();
  });
});

describe('a body is not sent', () => {
  test.each<Refused>([
    [
      'that has a field beside',
      { greeting_message: 'Hi' },
      ['greeting_message'],
      { greetingMessage: 'Hi', status: 'cancelled' },
      {},
      'would write status',
    ],
    [
      'under the name that it is read by',
      { greeting_message: 'Hi' },
      ['greeting_message'],
      { greeting_message: 'Ho' },
      {},
      'would write greeting_message',
    ],
    [
      'with another value than was reviewed',
      { greeting_message: 'Hi' },
      ['greeting_message'],
      { greetingMessage: 'Ho' },
      {},
      'would write greeting_message',
    ],
    [
      'with a leaf that is not what was read',
      { voice_settings: { speed: 2 } },
      ['voice_settings.speed'],
      { voiceSettings: { voice_id: 'v9', speed: 2 } },
      {},
      'would write voice_settings.voice_id',
    ],
    [
      'that leaves out what was read',
      { voice_settings: { speed: 2 } },
      ['voice_settings.speed'],
      { voiceSettings: { speed: 2 } },
      {},
      'would remove voice_settings.voice_id',
    ],
    [
      'with null over what nobody clears',
      { voice_settings: { speed: 2 } },
      ['voice_settings.speed'],
      { voiceSettings: { voice_id: null, speed: 2 } },
      {},
      'would remove voice_settings.voice_id',
    ],
    [
      'with null where a secret may be',
      { integrations: { smsProvider: { account_sid: 'AC2' } } },
      ['integrations.smsProvider.account_sid'],
      {
        integrations: {
          smsProvider: { ...SMS, account_sid: 'AC2', auth_token: null },
          ehrProvider: {},
        },
      },
      {},
      'would write integrations.smsProvider.auth_token',
    ],
    [
      'with a secret that the plan does not write',
      {
        integrations: { smsProvider: { account_sid: 'AC2', auth_token: { $secret: 'env:TOKEN' } } },
      },
      ['integrations.smsProvider.account_sid'],
      {
        integrations: {
          smsProvider: { ...SMS, account_sid: 'AC2', auth_token: 'the token' },
          ehrProvider: {},
        },
      },
      {},
      'would write integrations.smsProvider.auth_token',
    ],
    [
      'without an element that stays',
      { extensions: { tools: [{ ...TOOLS[0], url: 'https://x.test' }] } },
      ['extensions.tools[a].url'],
      { extensions: { tools: [{ ...TOOLS[0], url: 'https://x.test' }], mcp_servers: [SERVER] } },
      {},
      'would remove extensions.tools[b].type, extensions.tools[b].name, extensions.tools[b].url',
    ],
    [
      'with an element that is there twice',
      { extensions: { tools: TOOLS } },
      [],
      {
        extensions: {
          tools: TOOLS,
          mcp_servers: [SERVER, { ...SERVER, mcpEndpointUrl: 'https://n.test' }],
        },
      },
      {},
      'extensions.mcp_servers[Records#2].mcp_endpoint_url',
    ],
    [
      'with the id of another element',
      { extensions: { tools: TOOLS } },
      [],
      { extensions: { tools: TOOLS, mcp_servers: [{ ...SERVER, id: 'm2' }] } },
      {},
      'would write extensions.mcp_servers[Records].id',
    ],
    [
      'of a facet, with what was only read',
      { payments: { tool_enabled: true } },
      ['payments.tool_enabled'],
      { enabled: true, max_per_call_cents: 7 },
      { facet: 'payments' },
      'would write payments.max_per_call_cents',
    ],
    [
      'of a facet, with null',
      { sip: { registration_enabled: true } },
      [],
      { registrationEnabled: null },
      { facet: 'sip', live: { sip: { registration_enabled: true } } },
      'would write sip.registration_enabled',
    ],
  ])('%s', (_, desired, shown, body, more, why) => {
    expect(() => check(desired, shown, body, more)).toThrow(why);
  });
});

test('what was sent back as it was read is compared afterwards', () => {
  const body = { voiceSettings: { voice_id: 'v1', speed: 2 } };
  const { carried } = check({ voice_settings: { speed: 2 } }, ['voice_settings.speed'], body);
  const judge = (text: string, live: JsonObject, isOwned = false) => {
    const one = carried.get(text);
    return one && judgeCarried(one, agent.schema, live, { isOwned, hasOthers: false });
  };
  const voice = 'voice_settings.voice_id';
  expect(judge(voice, { voice_settings: { voice_id: 'v1', speed: 3 } })).toBe('kept');
  expect(judge(voice, { voice_settings: { voice_id: 'v2', speed: 2 } })).toBe('moved');
  expect(judge(voice, { voice_settings: { voice_id: 'v2', speed: 2 } }, true)).toBe('stored_as');
  expect(judge(voice, { voice_settings: { speed: 2 } })).toBe('lost');
  expect(judge('voice_settings.speed', {})).toBeUndefined();
});
