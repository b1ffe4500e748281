import { describe, expect, test } from 'vitest';
import type { FieldCause } from '../../src/core/plan-document.ts';
import { Secret } from '../../src/core/value.ts';
import { findingsOf, type Row } from './rows.ts';

/** An edit stays (`keepsEdits`) unless what is written beside it would end it or give it another meaning. */

type Both = Omit<Row, 'finds'> & {
  /** Causes by path: as edits are undone, and as they are kept. */
  readonly undone: Readonly<Record<string, FieldCause>>;
  readonly kept: Readonly<Record<string, FieldCause>>;
};

const tool = (more: object = {}) => ({
  type: 'webhook',
  name: 'crm',
  method: 'GET',
  url: 'https://crm.example.test',
  ...more,
});
const tools = (...all: readonly object[]) => ({ extensions: { tools: all } }) as never;
const sms = (more: object = {}) =>
  ({
    integrations: { smsProvider: { account_sid: 'AC01', fromNumber: '+1555', ...more } },
  }) as never;
const token = new Secret('env:TOKEN');
const payments = (more: object) => ({ payments: more }) as never;
const ELEMENT = 'extensions.tools[crm]';

const ROWS: readonly Both[] = [
  {
    title: 'a field is edited',
    applied: { greeting_message: 'a' },
    desired: { greeting_message: 'a' },
    live: { greeting_message: 'c' },
    undone: { greeting_message: 'drifted' },
    kept: { greeting_message: 'kept' },
  },
  {
    title: 'a field is emptied, and another one configured anew',
    applied: { greeting_message: 'a' },
    desired: { greeting_message: 'a', model: 'alpha-4o' },
    live: {},
    undone: { greeting_message: 'drifted', model: 'changed' },
    kept: { greeting_message: 'kept', model: 'changed' },
  },
  {
    title: 'both sides changed it',
    applied: { greeting_message: 'a' },
    desired: { greeting_message: 'b' },
    live: { greeting_message: 'c' },
    undone: { greeting_message: 'conflict' },
    kept: { greeting_message: 'conflict' },
  },
  {
    title: 'without a state nothing is an edit',
    desired: { greeting_message: 'a' },
    live: { greeting_message: 'c' },
    undone: { greeting_message: 'changed' },
    kept: { greeting_message: 'changed' },
  },
  {
    title: 'an element is edited, and another member of it configured anew',
    applied: tools(tool()),
    desired: tools(tool({ method: 'POST' })),
    live: tools(tool({ url: 'https://by-hand.example.test' })),
    undone: { [`${ELEMENT}.url`]: 'drifted', [`${ELEMENT}.method`]: 'changed' },
    kept: { [`${ELEMENT}.url`]: 'kept', [`${ELEMENT}.method`]: 'changed' },
  },
  {
    title: 'an element is removed by hand',
    applied: tools(tool()),
    desired: tools(tool()),
    live: tools(),
    undone: {
      [`${ELEMENT}.type`]: 'drifted',
      [`${ELEMENT}.name`]: 'drifted',
      [`${ELEMENT}.method`]: 'drifted',
      [`${ELEMENT}.url`]: 'drifted',
    },
    kept: {
      [`${ELEMENT}.type`]: 'kept',
      [`${ELEMENT}.name`]: 'kept',
      [`${ELEMENT}.method`]: 'kept',
      [`${ELEMENT}.url`]: 'kept',
    },
  },
  {
    title: 'an element is removed by hand, and a member of it configured anew',
    applied: tools(tool()),
    desired: tools(tool({ method: 'POST' })),
    live: tools(),
    undone: {
      [`${ELEMENT}.type`]: 'drifted',
      [`${ELEMENT}.name`]: 'drifted',
      [`${ELEMENT}.method`]: 'conflict',
      [`${ELEMENT}.url`]: 'drifted',
    },
    kept: {
      [`${ELEMENT}.type`]: 'conflict',
      [`${ELEMENT}.name`]: 'conflict',
      [`${ELEMENT}.method`]: 'conflict',
      [`${ELEMENT}.url`]: 'conflict',
    },
  },
  {
    title: 'an element is added by hand, and the last configured one goes',
    applied: tools(tool()),
    desired: tools(),
    live: tools(tool(), tool({ name: 'fax' })),
    undone: { [ELEMENT]: 'cleared', 'extensions.tools[fax]': 'drifted' },
    kept: { [ELEMENT]: 'cleared', 'extensions.tools[fax]': 'kept' },
  },
  {
    title: 'an account is edited, and nothing sent to it',
    applied: sms({ auth_token: token }),
    desired: sms({ auth_token: token }),
    live: sms({ account_sid: 'AC99' }),
    having: (world) => world.secrets({ 'env:TOKEN': 'old' }),
    undone: {
      'integrations.smsProvider.account_sid': 'drifted',
      'integrations.smsProvider.auth_token': 'secret_account_changed',
    },
    kept: { 'integrations.smsProvider.account_sid': 'kept' },
  },
  {
    title: 'an account is edited, and its secret is another one by now',
    applied: sms({ auth_token: token }),
    desired: sms({ auth_token: token }),
    live: sms({ account_sid: 'AC99' }),
    having: (world) => world.secrets({ 'env:TOKEN': 'new' }, { 'env:TOKEN': 'old' }),
    undone: {
      'integrations.smsProvider.account_sid': 'drifted',
      'integrations.smsProvider.auth_token': 'secret_changed',
    },
    kept: {
      'integrations.smsProvider.account_sid': 'conflict',
      'integrations.smsProvider.auth_token': 'secret_changed',
    },
  },
  {
    title: 'a destination is edited, and a secret that goes there is another one by now',
    applied: tools(tool({ headers: [{ key: 'K', value: token }] })),
    desired: tools(tool({ headers: [{ key: 'K', value: token }] })),
    live: tools(
      tool({ url: 'https://by-hand.example.test', headers: [{ key: 'K', value: 'old' }] }),
    ),
    having: (world) => world.secrets({ 'env:TOKEN': 'new' }, { 'env:TOKEN': 'old' }),
    undone: { [`${ELEMENT}.url`]: 'drifted', [`${ELEMENT}.headers[K].value`]: 'changed' },
    kept: { [`${ELEMENT}.url`]: 'conflict', [`${ELEMENT}.headers[K].value`]: 'changed' },
  },
  {
    title: 'a flag is switched off, with what is told while it is on',
    applied: payments({ tool_enabled: true, max_single_charge_cents: 1 }),
    desired: payments({ tool_enabled: true, max_single_charge_cents: 1 }),
    live: payments({ tool_enabled: false }),
    undone: { 'payments.tool_enabled': 'drifted', 'payments.max_single_charge_cents': 'drifted' },
    kept: { 'payments.tool_enabled': 'kept', 'payments.max_single_charge_cents': 'kept' },
  },
  {
    title: 'a flag is switched off, and what is told while it is on configured anew',
    applied: payments({ tool_enabled: true, max_single_charge_cents: 1 }),
    desired: payments({ tool_enabled: true, max_single_charge_cents: 2 }),
    live: payments({ tool_enabled: false }),
    undone: { 'payments.tool_enabled': 'drifted', 'payments.max_single_charge_cents': 'drifted' },
    kept: {
      'payments.tool_enabled': 'conflict',
      'payments.max_single_charge_cents': 'conflict',
    },
  },
  {
    title: 'what follows a field is edited, and that field configured anew',
    applied: { voice_settings: { voice_id: 'v1', language: 'en' } },
    desired: { voice_settings: { voice_id: 'v2', language: 'en' } },
    live: { voice_settings: { voice_id: 'v1', language: 'es' } },
    undone: { 'voice_settings.voice_id': 'changed', 'voice_settings.language': 'drifted' },
    kept: { 'voice_settings.voice_id': 'changed', 'voice_settings.language': 'conflict' },
  },
];

describe.each(ROWS)('$title', (row) => {
  test.each(['undone', 'kept'] as const)('%s', async (how) => {
    const having: Row['having'] = (world) =>
      (row.having ?? ((one) => one))(world).options({ keep_drift: how === 'kept' });
    const found = await findingsOf({ ...row, having, finds: {} });
    expect(Object.fromEntries(found.map(({ text, cause }) => [text, cause]))).toEqual(row[how]);
  });
});
