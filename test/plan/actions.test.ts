import { describe, expect, test } from 'vitest';
import { Blob } from '../../src/core/value.ts';
import { BAY, HARBOR, world } from '../world.ts';
import { changeOf, plans } from './rows.ts';

const DESK = { name: 'Desk', greeting_message: 'Hello' };
const LIVE = { id: 'a1', ...DESK };
const desk = (more: object = {}) => ({ 'agent.desk': { ...DESK, ...more } });
const clip = (sha256: string) => new Blob('voices/harbor.wav', sha256, 9, 'audio/wav');

describe('create', () => {
  plans([
    {
      title: 'what is not there',
      desired: desk(),
      says: 'create',
      because: ['not on the platform yet'],
      steps: ['create organization_id name greeting_message'],
    },
    {
      title: 'what the state names and is gone',
      desired: desk(),
      applied: { 'agent.desk': { id: 'a9', ...DESK } },
      says: 'create',
      because: ['a9', 'gone from the platform'],
    },
    {
      title: 'with its facets after it',
      desired: desk({ payments: { tool_enabled: true } }),
      says: 'create',
      steps: ['create organization_id name greeting_message', 'facet payments'],
    },
    {
      title: 'not with a SIP flag, since no registration can exist yet',
      desired: desk({ sip: { registration_enabled: true } }),
      says: 'create refused',
      because: ['SIP registration'],
    },
  ]);

  test('shows every field, and no secret', async () => {
    const change = await changeOf({
      title: '',
      desired: desk({
        description: null,
        default_retry_policy_id: { $ref: 'retry_policy.gentle' },
        integrations: { smsProvider: { auth_token: { $secret: 'env:TOKEN' } } },
        extensions: {
          tools: [{ name: 'crm', headers: [{ key: 'X', value: 'canary' }] }],
          mcp_servers: [{ connection_name: 'C', auth_headers: { A: 'canary' } }],
        },
      }),
      having: (made) => made.secrets({ 'env:TOKEN': 'canary' }),
      says: '',
    });
    const shown = Object.fromEntries(
      (change?.fields ?? []).map(({ path, after }) => [path, after]),
    );
    expect(shown).toEqual({
      organization_id: HARBOR,
      name: 'Desk',
      greeting_message: 'Hello',
      default_retry_policy_id: { $ref: 'retry_policy.gentle' },
      'integrations.smsProvider.auth_token': { $secret: 'env:TOKEN' },
      'extensions.tools[crm].name': 'crm',
      'extensions.tools[crm].headers[X].key': 'X',
      'extensions.tools[crm].headers[X].value': '(secret)',
      'extensions.mcp_servers[C].connection_name': 'C',
      'extensions.mcp_servers[C].auth_headers.A': '(secret)',
    });
    expect(change).toMatchObject({ before: null, id: null, pin: null, source: 'stack.yaml:3' });
    expect(JSON.stringify(change)).not.toContain('canary');
  });
});

describe('adopt', () => {
  plans([
    {
      title: 'what equals the configuration',
      desired: desk(),
      live: { agent: [LIVE] },
      says: 'adopt',
      because: ['found by its name'],
      steps: [],
    },
    {
      title: 'what lifecycle.adopt names',
      desired: desk({ lifecycle: { adopt: 'a1' } }),
      live: { agent: [LIVE] },
      says: 'adopt',
      because: ['found by lifecycle.adopt'],
    },
    {
      title: 'and update what differs',
      desired: desk({ greeting_message: 'Good day' }),
      live: { agent: [LIVE] },
      says: 'update',
      because: ['found by its name and differs'],
      steps: ['update greeting_message'],
    },
    {
      title: 'what was made anew by hand',
      desired: desk(),
      live: { agent: [LIVE] },
      applied: { 'agent.desk': { id: 'a9', ...DESK } },
      says: 'adopt',
    },
  ]);
});

describe('update', () => {
  const applied = { 'agent.desk': { id: 'a1', ...DESK } };
  plans([
    {
      title: 'nothing where nothing differs',
      desired: desk(),
      live: { agent: [LIVE] },
      applied,
      says: 'no_op',
    },
    {
      title: 'what the configuration changed',
      desired: desk({ greeting_message: 'Good day', status: 'inactive' }),
      live: { agent: [LIVE] },
      applied,
      says: 'update',
      because: ['the configuration changed'],
      steps: ['update greeting_message status'],
    },
    {
      title: 'what drifted, and say that nobody is known where there is no history',
      desired: desk(),
      live: { agent: [{ ...LIVE, greeting_message: 'Hi' }] },
      applied,
      says: 'update',
      because: ['changed outside Callsheet', 'by whom is unknown'],
    },
    {
      title: 'what drifted, and say by whom, through what and when',
      desired: desk(),
      live: { agent: [{ ...LIVE, greeting_message: 'Hi' }] },
      applied: { 'agent.desk': { id: 'a1', history_id: 41, ...DESK } },
      having: (made) =>
        made.history({
          a1: [entry(41, 'api:account-1'), entry(43, 'user:kim'), entry(42, 'user:lee')],
        }),
      says: 'update',
      because: [
        'changed outside Callsheet',
        'last by user:kim via dashboard at 2026-03-01T10:00:00Z, history entry 43, 1 earlier',
      ],
    },
    {
      title: 'not where both sides changed',
      desired: desk({ greeting_message: 'Good day' }),
      live: { agent: [{ ...LIVE, greeting_message: 'Hi' }] },
      applied,
      says: 'update refused',
      because: ['the configuration and the platform both changed', '--accept-conflicts'],
      steps: ['update greeting_message'],
    },
    {
      title: 'where both sides changed and that is accepted',
      desired: desk({ greeting_message: 'Good day' }),
      live: { agent: [{ ...LIVE, greeting_message: 'Hi' }] },
      applied,
      options: { accept_conflicts: true },
      says: 'update',
      because: ['the configuration and the platform both changed'],
    },
    {
      title: 'what is no longer configured',
      desired: { 'agent.desk': { name: 'Desk' } },
      live: { agent: [LIVE] },
      applied,
      says: 'update',
      because: ['the configuration changed'],
      steps: ['update greeting_message'],
    },
    {
      title: 'nothing where a value is only let go',
      desired: { 'agent.desk': { name: 'Desk' } },
      live: { agent: [{ id: 'a1', name: 'Desk', model: 'alpha-4o' }] },
      applied: { 'agent.desk': { id: 'a1', name: 'Desk', model: 'alpha-4o' } },
      says: 'no_op',
    },
    {
      title: 'a facet by its own endpoint',
      desired: desk({ sip: { registration_enabled: false }, status: 'inactive' }),
      live: { agent: [{ ...LIVE, sip_registration_data: { registrationEnabled: true } }] },
      applied,
      says: 'update',
      steps: ['update status', 'facet sip'],
    },
    {
      title: 'not a SIP flag where there is no registration',
      desired: desk({ sip: { registration_enabled: true } }),
      live: { agent: [{ ...LIVE, sip_registration_data: null }] },
      applied,
      says: 'update refused',
      because: ['no SIP registration'],
    },
    {
      title: 'a secret that is to be sent again',
      desired: desk({ integrations: { smsProvider: { auth_token: { $secret: 'env:TOKEN' } } } }),
      live: { agent: [{ ...LIVE, integrations: { smsProvider: {} } }] },
      applied,
      options: { resend_secrets: ['agent.desk'] },
      having: (made) => made.secrets({ 'env:TOKEN': 'canary' }),
      says: 'update',
      because: ['sent again, as asked'],
      steps: ['update integrations'],
    },
  ]);

  test('shows both sides of what it owns, and pins what is live', async () => {
    const change = await changeOf({
      title: '',
      desired: desk({ greeting_message: 'Good day' }),
      live: { agent: [{ ...LIVE, description: 'not ours', updated_at: '2026-03-01T00:00:00Z' }] },
      applied,
      having: (made) => made.history({ a1: [entry(40, 'user:kim'), entry(44, 'user:kim')] }),
      says: '',
    });
    expect(change).toMatchObject({
      id: 'a1',
      before: { name: 'Desk', greeting_message: 'Hello' },
      after: { name: 'Desk', greeting_message: 'Good day' },
      adopted: false,
      fields: [
        {
          path: 'greeting_message',
          before: 'Hello',
          after: 'Good day',
          secret: false,
          cause: 'changed',
        },
      ],
      pin: { updated_at: '2026-03-01T00:00:00Z', history_id: 44 },
    });
    expect(JSON.stringify(change)).not.toContain('not ours');
  });

  test.each([
    ['a header that is no text', { auth_headers: { A: 4242424242 } }],
    ['a header that is a list', { auth_headers: { A: ['4242424242'] } }],
  ])('masks %s, as no platform should return it', async (_title, live) => {
    const server = { connection_name: 'C', mcp_endpoint_url: 'https://x.test' };
    const change = await changeOf({
      title: '',
      desired: desk({ extensions: { mcp_servers: [{ ...server, auth_headers: { A: 'x' } }] } }),
      live: { agent: [{ ...LIVE, extensions: { mcp_servers: [{ ...server, ...live }] } }] },
      says: '',
    });
    expect(change?.action).toBe('update');
    expect(JSON.stringify(change)).not.toContain('4242424242');
  });

  test('masks what is live where the configuration has a secret of a name that no schema knows', async () => {
    const change = await changeOf({
      title: '',
      desired: desk({
        greeting_message: 'Good day',
        integrations: { ehrProvider: { pass_phrase: { $secret: 'env:TOKEN' } } },
      }),
      live: { agent: [{ ...LIVE, integrations: { ehrProvider: { pass_phrase: 'canary' } } }] },
      having: (made) => made.secrets({ 'env:TOKEN': 'canary' }),
      says: '',
    });
    expect(change?.action).toBe('update');
    expect(JSON.stringify(change)).not.toContain('canary');
  });
});

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
      because: ['SIP registration'],
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
      because: ['clip', 'new name'],
      steps: [],
    },
  ]);
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
      because: ['gone from the platform'],
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

describe('a knowledge source', () => {
  const address = 'knowledge_source.kb.faq';
  const FAQ = { knowledge_base_id: 'kb1', url: 'https://x.test/faq' };
  const live = (last: string) => ({
    knowledge_source: [{ id: 's1', ...FAQ, last_synced_at: last }],
  });
  const desired = { [address]: { ...FAQ, reingest_after: '7d' } };
  const file = (sha256: string) => new Blob('docs/prices.pdf', sha256, 9, 'application/pdf');
  const PRICES = { knowledge_base_id: 'kb1', name: 'prices.pdf' };
  plans([
    {
      title: 'is ingested again when it is too old',
      address,
      desired,
      live: live('2026-02-01T00:00:00Z'),
      applied: { [address]: { id: 's1', ...FAQ } },
      says: 'update',
      because: ['last ingested 2026-02-01T00:00:00Z', '7d'],
      steps: ['again'],
    },
    {
      title: 'is left alone while it is fresh',
      address,
      desired,
      live: live('2026-03-01T00:00:00Z'),
      applied: { [address]: { id: 's1', ...FAQ } },
      says: 'no_op',
    },
    {
      title: 'is uploaded again when its file changed',
      address,
      desired: { [address]: { ...PRICES, file: file('bb') } },
      live: { knowledge_source: [{ id: 's1', ...PRICES }] },
      applied: { [address]: { id: 's1', ...PRICES, file: file('aa') } },
      says: 'update',
      steps: ['again file'],
    },
    {
      title: 'of another address is another source; the old one stays',
      address,
      desired: { [address]: { ...FAQ, url: 'https://x.test/new' } },
      live: live('2026-03-01T00:00:00Z'),
      applied: { [address]: { id: 's1', ...FAQ } },
      says: 'replace',
      because: ['url cannot be changed', 's1', 'stays'],
      steps: ['create knowledge_base_id url'],
    },
  ]);
});

describe('a reference', () => {
  const agents = {
    'agent.desk': { name: 'Desk', default_retry_policy_id: { $ref: 'retry_policy.p' } },
  };
  plans([
    {
      title: 'to what does not exist yet is a change',
      desired: { 'retry_policy.p': { name: 'P' }, ...agents },
      live: { agent: [{ id: 'a1', name: 'Desk', default_retry_policy_id: 'p0' }] },
      says: 'update',
      steps: ['update default_retry_policy_id'],
    },
    {
      title: 'is equal where the id is the one of the resource',
      desired: { 'retry_policy.p': { name: 'P' }, ...agents },
      live: {
        agent: [{ id: 'a1', name: 'Desk', default_retry_policy_id: 'p1' }],
        retry_policy: [{ id: 'p1', name: 'P' }],
      },
      says: 'adopt',
    },
    {
      title: 'is looked up although what it refers to is not targeted',
      desired: { 'retry_policy.p': { name: 'P' }, ...agents },
      live: {
        agent: [{ id: 'a1', name: 'Desk', default_retry_policy_id: 'p1' }],
        retry_policy: [{ id: 'p1', name: 'P', on_exhausted: 'x' }],
      },
      options: { target: ['agent.desk'] },
      says: 'adopt',
    },
    {
      title: 'to what is neither there nor part of the plan is refused',
      desired: { 'retry_policy.p': { name: 'P' }, ...agents },
      options: { target: ['agent.desk'] },
      says: 'create refused',
      because: ['retry_policy.p'],
    },
    {
      title: 'to a voice that stays, since it cannot be replaced, is unchanged',
      desired: {
        'custom_voice.v': { name: 'V', clip: clip('bb'), consent: true },
        'agent.desk': { name: 'Desk', voice_settings: { voice_id: { $ref: 'custom_voice.v' } } },
      },
      live: {
        custom_voice: [{ id: 'v1', name: 'V' }],
        agent: [{ id: 'a1', name: 'Desk', voice_settings: { voice_id: 'v1' } }],
      },
      applied: { 'custom_voice.v': { id: 'v1', name: 'V', clip: clip('aa'), consent: true } },
      says: 'adopt',
    },
    {
      title: 'to a voice that is made anew is a change',
      desired: {
        'custom_voice.v': { name: 'New', clip: clip('aa'), consent: true },
        'agent.desk': { name: 'Desk', voice_settings: { voice_id: { $ref: 'custom_voice.v' } } },
      },
      live: {
        custom_voice: [{ id: 'v1', name: 'V' }],
        agent: [{ id: 'a1', name: 'Desk', voice_settings: { voice_id: 'v1' } }],
      },
      applied: { 'custom_voice.v': { id: 'v1', name: 'V', clip: clip('aa'), consent: true } },
      says: 'update',
      steps: ['update voice_settings'],
    },
  ]);
});

describe('a target', () => {
  const desired = {
    'agent.a': { name: 'A' },
    'agent.b': { name: 'B' },
    'retry_policy.p': { name: 'P' },
  };
  test.each([
    [{ target: ['agent.a'] }, ['agent.a']],
    [{ target: ['agent'] }, ['agent.a', 'agent.b']],
    [{ exclude: ['agent'] }, ['retry_policy.p']],
    [{ target: ['agent'], exclude: ['agent.b'] }, ['agent.a']],
    [{}, ['retry_policy.p', 'agent.a', 'agent.b']],
  ])('%j leaves %j', async (options, expected) => {
    const { plan } = await world().desired(desired).options(options).plan();
    expect(plan.changes.map(({ address }) => address)).toEqual(expected);
  });
});

test('several resources of one name are an error that says what to do', async () => {
  const made = world()
    .desired(desk())
    .live({ agent: [LIVE, { ...LIVE, id: 'a2' }] });
  await expect(made.plan()).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining('a1, a2'),
    hint: expect.stringContaining('lifecycle: { adopt: <id> }'),
  });
});

function entry(id: number, actor: string) {
  const at = `2026-03-01T${id - 33}:00:00Z`;
  return { id, action: 'updated', actor, source: 'dashboard', at, reverted_from_id: null };
}
