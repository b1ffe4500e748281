import { describe, expect, test } from 'vitest';
import { compares, findingsOf } from './rows.ts';

const SECRET = { $secret: 'env:TOKEN' };
const TOOL = { type: 'webhook', condition: 'during_call', method: 'GET' };
const CRM = { ...TOOL, name: 'crm', url: 'https://crm.example.test' };

describe('an explicit null', () => {
  compares([
    {
      title: 'takes a value away',
      desired: { greeting_message: null },
      live: { greeting_message: 'Hello' },
      finds: { greeting_message: 'changed' },
    },
    {
      title: 'takes an object away',
      desired: { contact_policy: null },
      live: { contact_policy: { require_consent_basis: true } },
      finds: { contact_policy: 'changed' },
    },
    {
      title: 'takes a list of elements away',
      desired: { extensions: { tools: null } },
      live: { extensions: { tools: [CRM] } },
      finds: { 'extensions.tools': 'changed' },
    },
    {
      title: 'takes away what holds a list',
      desired: { extensions: null },
      live: { extensions: { tools: [CRM] } },
      finds: { extensions: 'changed' },
    },
    {
      title: 'that was written before sees drift',
      applied: { contact_policy: null },
      desired: { contact_policy: null },
      live: { contact_policy: { require_consent_basis: true } },
      finds: { contact_policy: 'drifted' },
    },
    {
      title: 'over an object that was written is a change of the configuration',
      applied: { interpreter_config: { pair: 'en-es' } },
      desired: { interpreter_config: null },
      live: { interpreter_config: { pair: 'en-es' } },
      finds: { interpreter_config: 'changed' },
    },
    {
      title: 'over an object that somebody edited meanwhile is a conflict',
      applied: { interpreter_config: { pair: 'en-es' } },
      desired: { interpreter_config: null },
      live: { interpreter_config: { pair: 'en-fr' } },
      finds: { interpreter_config: 'conflict' },
    },
    {
      title: 'does not mind what somebody edited elsewhere',
      applied: { interpreter_config: { pair: 'en-es' }, description: 'one' },
      desired: { interpreter_config: null, description: 'one' },
      live: { interpreter_config: { pair: 'en-es' }, description: 'another' },
      finds: { interpreter_config: 'changed', description: 'drifted' },
    },
    {
      title: 'over an object that somebody took a member out of is a conflict',
      applied: { contact_policy: { require_consent_basis: true, abandon_rate_alert_threshold: 3 } },
      desired: { contact_policy: null },
      live: { contact_policy: { require_consent_basis: true } },
      finds: { contact_policy: 'conflict' },
    },
    {
      title: 'over an object that held a secret is none: nobody can see whether that moved',
      applied: { integrations: { smsProvider: { account_sid: 'AC1', auth_token: SECRET } } },
      desired: { integrations: null },
      live: { integrations: { smsProvider: { account_sid: 'AC1' } } },
      having: (made) => made.secrets({ 'env:TOKEN': 'canary' }),
      finds: { integrations: 'changed' },
    },
    {
      title: 'takes away an object that shows nothing, where it may have secrets',
      desired: { integrations: { smsProvider: null } },
      live: { integrations: { smsProvider: {} } },
      finds: { 'integrations.smsProvider': 'changed' },
    },
    {
      title: 'takes away what holds such an object',
      applied: { integrations: { smsProvider: { auth_token: SECRET } } },
      desired: { integrations: null },
      live: { integrations: { smsProvider: {} } },
      having: (made) => made.secrets({ 'env:TOKEN': 'canary' }),
      finds: { integrations: 'changed' },
    },
    {
      title: 'that was written is all that can be said of such an object',
      applied: { integrations: { smsProvider: null } },
      desired: { integrations: { smsProvider: null } },
      live: { integrations: { smsProvider: {} } },
      finds: {},
    },
    {
      title: 'over an object that shows nothing and has no secrets finds nothing',
      desired: { contact_policy: null, integrations: null },
      live: { contact_policy: {}, integrations: {} },
      finds: {},
    },
    {
      title: 'over a list that somebody edited meanwhile is a conflict',
      applied: { extensions: { tools: [CRM] } },
      desired: { extensions: { tools: null } },
      live: { extensions: { tools: [{ ...CRM, method: 'POST' }] } },
      finds: { 'extensions.tools': 'conflict' },
    },
    {
      title: 'over what is gone already finds nothing',
      applied: { interpreter_config: { pair: 'en-es' } },
      desired: { interpreter_config: null },
      live: {},
      finds: {},
    },
  ]);

  test.each([
    ['contact_policy', null, { require_consent_basis: true, calling_windows: [{ from: 9 }] }],
    ['extensions', { tools: null }, { tools: [CRM] }],
    ['voice_settings', { voice_id: null }, { voice_id: { id: 'v1' } }],
  ])('shows what it takes away from %s', async (field, desired, live) => {
    const [found] = await findingsOf({
      title: '',
      desired: { [field]: desired },
      live: { [field]: live },
      finds: {},
    });
    const [expected] = desired === null ? [live] : Object.values(live);
    expect(found?.before).toEqual(expected);
    expect(found?.after).toBeNull();
  });
});
