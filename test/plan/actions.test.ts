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
      because: ['no longer configured, and gone from the platform'],
      steps: [],
    },
  ]);
});
