import { describe, expect, test } from 'vitest';
import type { FieldSchema } from '../../src/core/schema.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { compare } from '../../src/diff/compare.ts';
import { agent } from '../../src/kinds/agent.ts';
import type { AppliedLeaf } from '../../src/state/model.ts';
import { world } from '../world.ts';
import { compares, findingsOf } from './rows.ts';

const TOKEN = { $secret: 'env:TOKEN' };
const sms = <T>(smsProvider: T) => ({ integrations: { smsProvider } });
const SMS = { account_sid: 'AC1' };
const PATH = 'integrations.smsProvider.auth_token';
const tool = <T extends object>(fields: T) => ({
  extensions: {
    tools: [
      { type: 'webhook', name: 'crm', condition: 'during_call', url: 'https://x.test', ...fields },
    ],
  },
});
const server = <T>(auth_headers: T) => ({
  extensions: { mcp_servers: [{ connection_name: 'Calendar', auth_headers }] },
});
const HEADERS = [{ key: 'x-key', value: TOKEN }];
const known = { 'env:TOKEN': 'one' };

describe('what was written once, is no longer configured and cannot be seen live', () => {
  compares([
    {
      title: 'a secret of an integration that stays is let go of',
      applied: sms({ ...SMS, auth_token: TOKEN }),
      desired: sms(SMS),
      live: sms(SMS),
      having: (world) => world.secrets(known),
      finds: { [PATH]: 'released' },
    },
    {
      title: 'a secret of an integration that is gone as well is nothing',
      applied: sms({ auth_token: TOKEN }),
      desired: {},
      live: {},
      having: (world) => world.secrets(known),
      finds: {},
    },
    {
      title: 'so is one beside which another integration is still there',
      applied: sms({ auth_token: TOKEN }),
      desired: {},
      live: { integrations: { ehrProvider: { username: 'frontdesk' } } },
      having: (world) => world.secrets(known),
      finds: {},
    },
    {
      title: 'a secret in a field that the platform would return is gone',
      applied: { greeting_message: TOKEN },
      desired: {},
      live: {},
      having: (world) => world.secrets(known),
      finds: {},
    },
    {
      title: 'a secret that no schema names is let go of',
      applied: sms({ ...SMS, code: TOKEN }),
      desired: sms(SMS),
      live: sms(SMS),
      having: (world) => world.secrets(known),
      finds: { 'integrations.smsProvider.code': 'released' },
    },
    {
      title: 'a value beside it that is no secret is gone',
      applied: sms({ ...SMS, is_live: true }),
      desired: sms(SMS),
      live: sms(SMS),
      finds: {},
    },
    {
      title: 'a sensitive value, which would be returned, is gone',
      applied: tool({ headers: HEADERS }),
      desired: tool({}),
      live: tool({}),
      having: (world) => world.secrets(known),
      finds: {},
    },
    {
      title: 'so is one whose neighbours are still returned',
      applied: server({ Authorization: TOKEN, Other: 'x' }),
      desired: server({ Other: 'x' }),
      live: server({ Other: 'x' }),
      having: (world) => world.secrets(known),
      finds: {},
    },
    {
      title: 'so is a secret where the platform returns the field',
      applied: { greeting_message: TOKEN },
      desired: {},
      live: { greeting_message: null },
      having: (world) => world.secrets(known),
      finds: {},
    },
    {
      title: 'a secret in clear is one all the same: what is not returned is not missing',
      applied: sms({ ...SMS, auth_token: 'in clear' }),
      desired: sms({ ...SMS, auth_token: 'in clear' }),
      live: sms(SMS),
      finds: {},
    },
    {
      title: 'a facet that nothing configures any more, and that is not read, is let go of',
      applied: { sip: { registration_enabled: true } },
      desired: {},
      live: {},
      finds: { 'sip.registration_enabled': 'released' },
    },
    {
      title: 'a field that is empty live is gone',
      applied: { greeting_message: 'Hello' },
      desired: {},
      live: { greeting_message: null },
      finds: {},
    },
    {
      title: 'an element of a list that is gone live is gone',
      applied: tool({ description: 'Looks it up' }),
      desired: {},
      live: {},
      finds: {},
    },
    {
      title: 'an element that was added where nothing of the list is owned stays',
      applied: { greeting_message: 'Hello' },
      desired: { greeting_message: 'Hello' },
      live: { greeting_message: 'Hello', ...tool({}) },
      finds: {},
    },
  ]);
});

test('a secret that is let go of is hidden, and its facet is not', async () => {
  const [secret] = await findingsOf({
    title: 'secret',
    applied: sms({ ...SMS, auth_token: TOKEN }),
    desired: sms(SMS),
    live: sms(SMS),
    having: (world) => world.secrets(known),
    finds: {},
  });
  expect(secret).toMatchObject({ sensitive: true, unreadable: true, schema: { writeOnly: true } });
  const [flag] = await findingsOf({
    title: 'facet',
    applied: { sip: { registration_enabled: true } },
    desired: {},
    live: {},
    finds: {},
  });
  expect(flag).toMatchObject({ sensitive: false, unreadable: false });
});

const SIDES = { address: 'agent.desk', ignore: [], isPartial: false, resend: false };

function removes(
  root: FieldSchema,
  live: JsonObject,
  applied: Readonly<Record<string, AppliedLeaf>>,
) {
  return compare(root, {}, live, { ...SIDES, applied }, world().given());
}

describe('of what the state has a fingerprint and the platform returns nothing', () => {
  const FINGERPRINT = { fingerprint: 'hmac:1' };
  const root: FieldSchema = {
    properties: {
      box: {
        properties: {
          pin: { writeOnly: true },
          shown: { 'x-sensitive': true },
          text: {},
        },
      },
      vault: {
        'x-secrets-inside': true,
        properties: { shown: { 'x-sensitive': true }, code: {} },
      },
    },
  };
  test.each<[string, string, readonly string[]]>([
    ['a write-only field is let go of', 'box.pin', ['released']],
    ['a sensitive field is gone', 'box.shown', []],
    ['any other field is gone', 'box.text', []],
    ['a secret among secrets is let go of', 'vault.code', ['released']],
    ['a sensitive field among secrets is gone', 'vault.shown', []],
  ])('%s', (_what, path, causes) => {
    const found = removes(root, { box: {}, vault: {} }, { [path]: FINGERPRINT });
    expect(found.map(({ cause }) => cause)).toEqual(causes);
  });
});

describe('what was written once and is no longer configured', () => {
  test('is gone where its facet was read and does not have it', () => {
    const applied = { 'sip.registration_enabled': { value: true } };
    expect(removes(agent.schema, { sip: {} }, applied)).toEqual([]);
  });

  test('is skipped where the state names no path', () => {
    const applied = { 'voice_settings..': { value: 1 }, greeting_message: { value: 'Hello' } };
    const found = removes(agent.schema, { greeting_message: 'Hello' }, applied);
    expect(found).toMatchObject([{ text: 'greeting_message', cause: 'cleared' }]);
  });

  test('is cleared unseen in a field that is newer than the schema and not returned', () => {
    expect(removes(agent.schema, { name: 'Desk' }, { shard: { value: 7 } })).toMatchObject([
      { text: 'shard', before: undefined, after: undefined, cause: 'cleared', unreadable: true },
    ]);
  });

  test('is gone in such a field where the platform returns the field without it', () => {
    const applied = { 'shard.b': { value: 7 } };
    expect(removes(agent.schema, { shard: { a: 1 } }, applied)).toEqual([]);
  });
});
