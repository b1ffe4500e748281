import { describe, expect, test } from 'vitest';
import { HARBOR } from '../world.ts';
import { changeOf, plans } from './rows.ts';

const DESK = { name: 'Desk', greeting_message: 'Hello' };
const LIVE = { id: 'a1', ...DESK };
const desk = (more: object = {}) => ({ 'agent.desk': { ...DESK, ...more } });

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
      because: ['a9', 'no longer on the platform'],
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
      title: 'what took the name of one that is gone, of which nothing was sent to it',
      desired: { 'agent.desk': { name: 'Desk' } },
      live: { agent: [LIVE] },
      applied: { 'agent.desk': { id: 'a9', ...DESK } },
      says: 'adopt',
      because: ['found by its name'],
    },
    {
      title: 'what the state has under another address, and say which',
      desired: desk(),
      live: { agent: [LIVE] },
      applied: { 'agent.old': { id: 'a1', ...DESK } },
      says: 'adopt',
      because: ['it was agent.old before'],
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

const PAGE = 'knowledge_source.kb.faq';
const page = { knowledge_base_id: 'kb1', url: 'https://x.test/faq' };
const crawled = {
  id: 's1',
  ...page,
  status: 'active',
  chunk_count: 3,
  last_synced_at: '2026-01-02T00:00:00Z',
};

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
      because: ['changed outside Callsheet', 'the author is unknown'],
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
      because: ['the configuration and the platform both changed'],
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
      because: ['sent again (--resend-secrets)'],
      steps: ['update integrations'],
    },
    {
      title: 'a secret that is to be sent again together with those of others',
      desired: desk({ integrations: { smsProvider: { auth_token: { $secret: 'env:TOKEN' } } } }),
      live: { agent: [{ ...LIVE, integrations: { smsProvider: {} } }] },
      applied,
      options: { resend_secrets: ['agent.other', 'agent.desk'] },
      having: (made) => made.secrets({ 'env:TOKEN': 'canary' }),
      says: 'update',
      because: ['sent again (--resend-secrets)'],
    },
    {
      title: 'what drifted, though something is to be ignored that is no path',
      desired: desk({ lifecycle: { ignore: ['[', 'status'] } }),
      live: { agent: [{ ...LIVE, greeting_message: 'Hi', status: 'inactive' }] },
      applied,
      says: 'update',
      steps: ['update greeting_message'],
    },
    {
      title: 'a field that is newer than the schema',
      address: 'sms_template.hi',
      desired: { 'sms_template.hi': { name: 'Hi', mood: 'calm' } },
      live: { sms_template: [{ id: 't1', name: 'Hi', mood: 'brisk' }] },
      applied: { 'sms_template.hi': { id: 't1', name: 'Hi', mood: 'brisk' } },
      says: 'update',
      steps: ['update mood'],
    },
    {
      title: 'a field that is newer than the schema by making a voice anew, which is never updated',
      address: 'custom_voice.harbor',
      desired: { 'custom_voice.harbor': { name: 'New', mood: 'calm' } },
      live: { custom_voice: [{ id: 'v1', name: 'Old', mood: 'brisk' }] },
      applied: { 'custom_voice.harbor': { id: 'v1', name: 'Old', mood: 'brisk' } },
      says: 'replace',
      because: ['name, mood cannot be changed'],
      steps: ['create organization_id name mood'],
    },
    {
      title: 'a field that is newer than the schema by ingesting a page again',
      address: PAGE,
      desired: { [PAGE]: { ...page, mood: 'calm' } },
      live: { knowledge_source: [{ ...crawled, mood: 'brisk' }] },
      applied: { [PAGE]: { id: 's1', ...page, mood: 'brisk' } },
      says: 'update',
      because: ['the configuration changed'],
      steps: ['again mood'],
    },
    {
      title: 'a page that is due, all of it',
      address: PAGE,
      desired: { [PAGE]: { ...page, reingest_after: '7d' } },
      live: { knowledge_source: [crawled] },
      applied: { [PAGE]: { id: 's1', ...page, reingest_after: '7d' } },
      says: 'update',
      because: ['last ingested 2026-01-02T00:00:00Z, which is more than 7d ago'],
      steps: ['again knowledge_base_id url reingest_after'],
    },
    {
      title: 'a page that changed and is due because it changed',
      address: PAGE,
      desired: { [PAGE]: { ...page, reingest_after: '7d', mood: 'calm' } },
      live: { knowledge_source: [{ ...crawled, mood: 'brisk' }] },
      applied: { [PAGE]: { id: 's1', ...page, reingest_after: '7d', mood: 'brisk' } },
      says: 'update',
      because: ['the configuration changed'],
      steps: ['again mood'],
    },
    {
      title: 'no element of a list of which there are two',
      desired: desk({ extensions: { tools: [{ name: 'crm', url: 'https://new.test' }] } }),
      live: {
        agent: [
          {
            ...LIVE,
            extensions: {
              tools: [
                { name: 'crm', url: 'https://one.test' },
                { name: 'crm', url: 'https://two.test' },
              ],
            },
          },
        ],
      },
      applied,
      says: 'update refused',
      because: [
        'the platform has 2 entries of extensions.tools whose name is "crm"',
        'rename or delete one of them in the dashboard',
      ],
      steps: [],
    },
    {
      title: 'no element of several lists of which there are two, and say it of each',
      desired: desk({
        extensions: {
          tools: [{ name: 'crm', url: 'https://new.test' }],
          mcp_servers: [{ connection_name: 'C', mcp_endpoint_url: 'https://new.test' }],
        },
      }),
      live: {
        agent: [
          {
            ...LIVE,
            extensions: {
              tools: [{ name: 'crm' }, { name: 'crm' }],
              mcp_servers: [{ connection_name: 'C' }, { connection_name: 'C' }],
            },
          },
        ],
      },
      applied,
      says: 'update refused',
      because: [
        'entries of extensions.tools whose name is "crm"',
        'lifecycle.ignore: [extensions.tools]; the platform has 2 entries of extensions.mcp_servers',
      ],
      steps: [],
    },
  ]);

  test('shows nothing of a secret that is written already', async () => {
    const sms = { integrations: { smsProvider: { auth_token: { $secret: 'env:TOKEN' } } } };
    const change = await changeOf({
      title: '',
      desired: desk({ greeting_message: 'Good day', ...sms }),
      live: { agent: [{ ...LIVE, integrations: { smsProvider: {} } }] },
      applied: { 'agent.desk': { id: 'a1', ...DESK, ...sms } },
      having: (made) => made.secrets({ 'env:TOKEN': 'canary' }),
      says: '',
    });
    expect(change?.fields.map(({ path }) => path)).toEqual(['greeting_message']);
  });

  test.each([
    ['an update', { agent: [LIVE] }],
    ['a create', {}],
  ])('shows nothing after %s of what the platform owns', async (_title, live) => {
    const change = await changeOf({
      title: '',
      desired: desk({ greeting_message: 'Good day', created_at: '2026-01-01T00:00:00Z' }),
      live,
      says: '',
    });
    expect(change?.after).toEqual({
      organization_id: HARBOR,
      name: 'Desk',
      greeting_message: 'Good day',
    });
  });

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
      pin: { updated_at: '2026-03-01T00:00:00Z', history_id: null },
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

function entry(id: number, actor: string) {
  const at = `2026-03-01T${id - 33}:00:00Z`;
  return { id, action: 'updated', actor, source: 'dashboard', at, reverted_from_id: null };
}

describe('forget', () => {
  plans([
    {
      title: 'an address whose resource is gone',
      desired: { 'agent.other': { name: 'Other' } },
      applied: { 'agent.desk': { id: 'a1', ...DESK } },
      says: 'forget',
      because: ['no longer configured, and no longer on the platform'],
      steps: [],
    },
  ]);
});
