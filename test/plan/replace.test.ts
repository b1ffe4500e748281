import { describe, expect, test } from 'vitest';
import { Blob } from '../../src/core/value.ts';
import { BAY, HARBOR, KEY } from '../world.ts';
import { changeOf, plans } from './rows.ts';

const DESK = { name: 'Desk', greeting_message: 'Hello' };
const LIVE = { id: 'a1', ...DESK };
const desk = (more: object = {}) => ({ 'agent.desk': { ...DESK, ...more } });
const clip = (sha256: string) => new Blob('voices/harbor.wav', sha256, 9, 'audio/wav');

describe('replace', () => {
  const template = { name: 'Hello', message_type: 'sms', body: 'Hi' };
  plans([
    {
      title: 'what moves to another organization: the new one first',
      desired: desk({ organization_id: BAY }),
      live: { agent: [{ ...LIVE, organization_id: HARBOR }] },
      applied: { 'agent.desk': { id: 'a1', ...DESK, organization_id: HARBOR } },
      options: { allow_delete: true },
      says: 'replace',
      because: ['organization_id cannot be changed'],
      steps: ['create organization_id name greeting_message', 'delete'],
    },
    {
      title: 'what keeps its name: the old one goes first, so that the name is free',
      address: 'sms_template.hello',
      desired: { 'sms_template.hello': { ...template, message_type: 'mms' } },
      live: { sms_template: [{ id: 's1', ...template }] },
      applied: { 'sms_template.hello': { id: 's1', ...template } },
      options: { allow_delete: true },
      says: 'replace',
      because: ['message_type cannot be changed'],
      steps: ['delete', 'create organization_id name message_type body'],
    },
    {
      title: 'not without --allow-delete, since the old one goes',
      desired: desk({ organization_id: BAY }),
      live: { agent: [{ ...LIVE, organization_id: HARBOR }] },
      applied: { 'agent.desk': { id: 'a1', ...DESK, organization_id: HARBOR } },
      says: 'replace held',
      because: ['--allow-delete'],
    },
    {
      title: 'not what has a SIP flag: the new one has no registration',
      desired: desk({ organization_id: BAY, sip: { registration_enabled: true } }),
      live: {
        agent: [
          {
            ...LIVE,
            organization_id: HARBOR,
            sip_registration_data: { registrationEnabled: true },
          },
        ],
      },
      applied: { 'agent.desk': { id: 'a1', ...DESK, organization_id: HARBOR } },
      options: { allow_delete: true },
      says: 'replace refused',
      because: ['SIP registration', 'remove sip from its block'],
    },
    {
      title: 'what cannot be deleted under a new name, and leave the old one',
      address: 'custom_voice.harbor',
      desired: { 'custom_voice.harbor': { name: 'New', clip: clip('aa'), consent: true } },
      live: { custom_voice: [{ id: 'v1', name: 'Old' }] },
      applied: {
        'custom_voice.harbor': { id: 'v1', name: 'Old', clip: clip('aa'), consent: true },
      },
      says: 'replace',
      because: ['v1', 'stays'],
      steps: ['create organization_id name clip consent'],
    },
    {
      title: 'not what cannot be deleted under the same name',
      address: 'custom_voice.harbor',
      desired: { 'custom_voice.harbor': { name: 'Harbor', clip: clip('bb'), consent: true } },
      live: { custom_voice: [{ id: 'v1', name: 'Harbor' }] },
      applied: {
        'custom_voice.harbor': { id: 'v1', name: 'Harbor', clip: clip('aa'), consent: true },
      },
      says: 'replace unsupported',
      because: ['clip', 'another name'],
      steps: [],
    },
  ]);
});

describe('what is made anew', () => {
  const token = { $secret: 'env:TOKEN' };
  const sms = (more: object = {}) => ({
    integrations: { smsProvider: { account_sid: 'AC1', auth_token: token, ...more } },
  });
  const TOKEN = 'integrations.smsProvider.auth_token';
  const live = {
    agent: [
      {
        ...LIVE,
        organization_id: HARBOR,
        integrations: { smsProvider: { account_sid: 'AC1' } },
      },
    ],
  };
  type Values = Readonly<Record<string, string>>;
  const rows: readonly {
    readonly title: string;
    readonly wanted?: object;
    readonly key?: string;
    /** Values of secrets when it was written, where they were others. */
    readonly before?: Values;
    readonly sent: readonly string[];
  }[] = [
    {
      title: 'is sent a secret that did not change',
      sent: [`${TOKEN} secret_resent`],
    },
    {
      title: 'is sent a secret of which nobody knows what is stored, once',
      key: 'a key that another team keeps',
      sent: [`${TOKEN} secret_resent`],
    },
    {
      title: 'is sent a secret that changed, once',
      before: { 'env:TOKEN': 'old' },
      sent: [`${TOKEN} secret_changed`],
    },
    {
      title: 'is sent no secret that is none',
      wanted: sms({ api_key_secret: null }),
      sent: [`${TOKEN} secret_resent`],
    },
  ];
  test.each(rows)('$title', async ({ wanted = sms(), key = KEY, before, sent }) => {
    const values = { 'env:TOKEN': 'canary' };
    const change = await changeOf({
      title: '',
      desired: desk({ organization_id: BAY, ...wanted }),
      live,
      applied: { 'agent.desk': { id: 'a1', ...DESK, organization_id: HARBOR, ...sms() } },
      options: { allow_delete: true },
      having: (made) => made.secrets(values, before ?? values).keys(key, KEY),
      says: '',
    });
    expect(change?.action).toBe('replace');
    const secrets = (change?.fields ?? []).filter(({ path }) => path.startsWith('integrations'));
    expect(secrets.map(({ path, cause }) => `${path} ${cause}`)).toEqual(sent);
    expect(JSON.stringify(change)).not.toContain('canary');
  });

  test('is sent its file, which is no secret', async () => {
    const voice = { clip: clip('aa'), consent: true };
    const change = await changeOf({
      title: '',
      address: 'custom_voice.harbor',
      desired: { 'custom_voice.harbor': { name: 'New', ...voice } },
      live: { custom_voice: [{ id: 'v1', name: 'Old' }] },
      applied: { 'custom_voice.harbor': { id: 'v1', name: 'Old', ...voice } },
      says: '',
    });
    expect(change?.fields.map(({ path, cause }) => `${path} ${cause}`)).toEqual([
      'name changed',
      'clip changed',
    ]);
  });
});

describe('delete and forget', () => {
  plans([
    {
      title: 'hold a delete until it is allowed',
      live: { agent: [LIVE] },
      desired: { 'agent.other': { name: 'Other' } },
      applied: { 'agent.desk': { id: 'a1', ...DESK } },
      says: 'delete held',
      because: ['no longer configured', '--allow-delete'],
      steps: ['delete'],
    },
    {
      title: 'delete where it is allowed',
      live: { agent: [LIVE] },
      desired: { 'agent.other': { name: 'Other' } },
      applied: { 'agent.desk': { id: 'a1', ...DESK } },
      options: { allow_delete: true },
      says: 'delete',
    },
    {
      title: 'forget what is gone already',
      desired: { 'agent.other': { name: 'Other' } },
      applied: { 'agent.desk': { id: 'a1', ...DESK } },
      says: 'forget',
      because: ['no longer on the platform'],
      steps: [],
    },
    {
      title: 'forget what the platform cannot delete',
      address: 'custom_voice.harbor',
      desired: desk(),
      live: { custom_voice: [{ id: 'v1', name: 'Harbor' }] },
      applied: { 'custom_voice.harbor': { id: 'v1', name: 'Harbor' } },
      says: 'forget',
      because: ['stays on the platform'],
      steps: [],
    },
    {
      title: 'leave alone what is not asked for where nothing is pruned',
      live: { agent: [LIVE] },
      applied: { 'agent.desk': { id: 'a1', ...DESK } },
      input: { prune: false },
      says: 'no_op',
    },
  ]);

  test('shows what goes, without its secrets', async () => {
    const change = await changeOf({
      title: '',
      desired: { 'agent.other': { name: 'Other' } },
      live: {
        agent: [
          {
            ...LIVE,
            extensions: { tools: [{ name: 'crm', headers: [{ key: 'X', value: 'canary' }] }] },
            sip_registration_data: { password: 'canary' },
          },
        ],
      },
      applied: { 'agent.desk': { id: 'a1', ...DESK } },
      says: '',
    });
    expect(change).toMatchObject({ id: 'a1', name: 'Desk', after: null, source: null });
    expect(change?.before).toMatchObject({ greeting_message: 'Hello' });
    expect(JSON.stringify(change)).not.toContain('canary');
  });
});

describe('a name that somebody else has where names are unique', () => {
  const ONE = 'retry_policy.one';
  const policy = (name: string, more: object = {}) => ({ name, on_exhausted: 'end', ...more });
  const live = {
    retry_policy: [
      { id: 'p1', ...policy('Own') },
      { id: 'p2', ...policy('Taken') },
    ],
  };
  const voice = (name: string) => ({ name, clip: clip('a'), language: 'en', consent: true });
  plans([
    {
      title: 'is not given to one that the state knows',
      address: ONE,
      desired: { [ONE]: policy('Taken') },
      live,
      applied: { [ONE]: { id: 'p1', ...policy('Own') } },
      says: 'update refused',
      because: ['its new name is taken by p2', 'callsheet state rm retry_policy.one'],
    },
    {
      title: 'is not given to one that the files name by its id',
      address: ONE,
      desired: { [ONE]: policy('Taken', { lifecycle: { adopt: 'p1' } }) },
      live,
      applied: { [ONE]: { id: 'p1', ...policy('Own') } },
      says: 'update refused',
      because: ['its new name is taken by p2'],
    },
    {
      title: 'is not given to one that is adopted by its id',
      address: ONE,
      desired: { [ONE]: policy('Taken', { lifecycle: { adopt: 'p1' } }) },
      live,
      says: 'update refused',
      because: ['its new name is taken by p2'],
    },
    {
      title: 'is not asked for where a rename means a new resource',
      address: 'custom_voice.one',
      desired: { 'custom_voice.one': voice('Taken') },
      live: {
        custom_voice: [
          { id: 'v1', name: 'Own', language: 'en' },
          { id: 'v2', name: 'Taken', language: 'en' },
        ],
      },
      applied: { 'custom_voice.one': { id: 'v1', ...voice('Own') } },
      says: 'replace refused',
      because: ['the name of the new one is taken by v2'],
    },
    {
      title: 'stands against nothing while the files leave the name to the dashboard',
      address: ONE,
      desired: {
        [ONE]: policy('Taken', { on_exhausted: 'notify', lifecycle: { ignore: ['name'] } }),
      },
      live,
      applied: { [ONE]: { id: 'p1', ...policy('Own') } },
      says: 'update',
    },
    {
      title: 'is given where it is the stack’s own and gets another one',
      address: ONE,
      desired: { [ONE]: policy('Taken'), 'retry_policy.two': policy('Own') },
      live,
      applied: {
        [ONE]: { id: 'p1', ...policy('Own') },
        'retry_policy.two': { id: 'p2', ...policy('Taken') },
      },
      says: 'update',
    },
  ]);
});
