import { expect } from 'vitest';
import { at, create, desk, IDS, SEED, section, update, type World } from './world.ts';

section('Agents, list', [
  {
    rule: 'items carry a part of the fields',
    does: ({ call }) => call('listAgents'),
    status: 200,
    also: (_, { body }) => {
      expect(JSON.stringify(body)).not.toMatch(
        /system_prompt|extensions|integrations|voice_settings|sip_/,
      );
      expect(body.data).toMatchObject([
        { id: IDS.desk, name: 'Front desk', updated_at: expect.any(String) },
        {},
        {},
      ]);
    },
  },
  {
    rule: 'updated_at may be missing from items',
    options: { dialect: { listUpdatedAt: false } },
    does: ({ call }) => call('listAgents'),
    status: 200,
    also: (_, { body }) => expect(JSON.stringify(body)).not.toContain('updated_at'),
  },
  {
    rule: 'organization_id filters',
    does: ({ call }) => call('listAgents', { query: { organization_id: IDS.north } }),
    status: 200,
    body: { data: [{ id: IDS.recall }], pagination: { total: 1 } },
  },
  {
    rule: 'an organization outside the account is forbidden',
    does: ({ call }) => call('listAgents', { query: { organization_id: IDS.nobody } }),
    status: 403,
    body: { error: 'forbidden' },
  },
  {
    rule: 'page and limit cut the list, and pagination says where',
    does: ({ call }) => call('listAgents', { query: { page: '2', limit: '2' } }),
    status: 200,
    body: {
      data: [{ id: IDS.foreign }],
      pagination: { page: 2, limit: 2, total: 3, totalPages: 2, hasNext: false, hasPrev: true },
    },
  },
  {
    rule: 'without page and limit it is the first of 50',
    options: { agents: 60 },
    does: ({ call }) => call('listAgents'),
    status: 200,
    body: {
      pagination: { page: 1, limit: 50, total: 63, totalPages: 2, hasNext: true, hasPrev: false },
    },
  },
  ...[{ limit: '101' }, { limit: '0' }, { page: '0' }, { page: 'x' }].map((query) => ({
    rule: `${JSON.stringify(query)} is out of bounds`,
    does: ({ call }: World) => call('listAgents', { query }),
    status: 400,
    body: { error: 'invalid_request' },
  })),
]);

section('Agents, get', [
  {
    rule: 'the whole agent comes under data',
    does: ({ call }) => call('getAgent', at()),
    status: 200,
    body: {
      data: {
        id: IDS.desk,
        system_prompt: 'You answer the phone.',
        is_active: true,
        interpreter_config: null,
      },
    },
  },
  {
    rule: 'secrets are omitted, not masked; what is beside them is returned',
    does: ({ call }) => call('getAgent', at()),
    status: 200,
    also: (_, { body }) => {
      const text = JSON.stringify(body);
      expect(text).not.toMatch(/sms-token|ehr-password|pbx-secret|"access"|"refresh"|sip-password/);
      expect(text).not.toMatch(/auth_token|"password"|client_secret|access_token|refresh_token/);
      expect(body.data).toMatchObject({
        integrations: {
          smsProvider: { account_sid: 'AC01', fromNumber: '+15550100' },
          ehrProvider: { username: 'desk' },
          calendarA: { calendar_name: 'Desk' },
        },
        sip_registration_data: { username: 'desk', registrationEnabled: true },
      });
    },
  },
  {
    rule: 'MCP connections come as they are stored',
    does: ({ call }) => call('getAgent', at()),
    status: 200,
    body: {
      data: {
        extensions: {
          mcp_servers: [{ id: IDS.server, connection_name: 'Calendar', fingerprint: 'tested' }],
        },
      },
    },
  },
  ...[IDS.nobody, 'not-a-uuid'].map((id) => ({
    rule: `${id} is not found`,
    does: ({ call }: World) => call('getAgent', at(id)),
    status: 404,
    body: { error: 'not_found' },
  })),
  {
    rule: 'is_active follows status',
    does: async (world) => {
      await update({ status: 'pending' })(world);
      return world.call('getAgent', at());
    },
    status: 200,
    body: { data: { status: 'pending', is_active: false } },
  },
  ...(
    [
      ['voice', { speaker_identification: 'voice' }],
      ['both', { speaker_identification: 'both' }],
      ['keypad', {}],
    ] as const
  ).map(([value, echoed]) => ({
    rule: `speaker_identification ${value} reads as ${JSON.stringify(echoed)}`,
    does: update({ interpreterConfig: { speaker_identification: value } }),
    status: 200,
    also: (world: World, { body }: { body: object }) => {
      expect(body).toHaveProperty('data.interpreter_config', echoed);
      expect(desk(world)).toHaveProperty('interpreter_config.speaker_identification', value);
    },
  })),
]);

section('Agents, create', [
  {
    rule: 'write names become read names, and a new agent has the floor model',
    does: create({ greetingMessage: 'Hi', voiceSettings: { voice_id: 'v', speed: 1.1 } }),
    status: 201,
    body: {
      data: {
        name: 'New',
        organization_id: IDS.harbor,
        greeting_message: 'Hi',
        model: 'alpha-4.1',
        voice_settings: { voice_id: 'v', speed: 1.1 },
        created_at: expect.any(String),
      },
    },
  },
  {
    rule: 'the answer leaves secrets out and the store has them',
    does: create({ integrations: { smsProvider: { account_sid: 'A', auth_token: 'hidden' } } }),
    status: 201,
    also: ({ sim }, { body }) => {
      expect(JSON.stringify(body)).not.toContain('hidden');
      expect(JSON.stringify(sim.dump())).toContain('hidden');
    },
  },
  ...['name', 'organizationId'].map((name) => ({
    rule: `${name} is required`,
    does: create({ [name]: undefined }),
    status: 400,
    body: { error: 'invalid_request', details: [{ path: name }] },
  })),
  {
    rule: 'an organization outside the account is not found',
    does: create({ organizationId: IDS.nobody }),
    status: 404,
    body: { error: 'not_found' },
  },
  {
    rule: 'a type, a model or a language that does not exist is refused',
    does: create({ agentType: 'robot', language: 'tlh' }),
    status: 400,
    body: { details: [{ path: 'agentType' }, { path: 'language' }] },
  },
  {
    rule: 'an unknown model is refused',
    does: create({ model: 'omega-9' }),
    status: 400,
    body: { details: [{ path: 'model' }] },
  },
  {
    rule: 'an unknown retry policy is refused',
    does: create({ defaultRetryPolicyId: IDS.nobody }),
    status: 400,
    body: { details: [{ path: 'defaultRetryPolicyId' }] },
  },
  {
    rule: 'read names are no write names',
    does: create({ greeting_message: 'Hi', is_active: false }),
    status: 201,
    also: (_, { body }) => expect(body).not.toHaveProperty('data.greeting_message'),
  },
  {
    rule: 'a field newer than the schema is kept',
    does: create({ whisperMode: 'soft' }),
    status: 201,
    body: { data: { whisper_mode: 'soft' } },
  },
]);

section('Agents, delete', [
  { rule: 'it answers 204', does: ({ call }) => call('deleteAgent', at()), status: 204 },
  {
    rule: 'afterwards the agent is not found',
    does: async ({ call }) => {
      await call('deleteAgent', at());
      return call('getAgent', at());
    },
    status: 404,
  },
  {
    rule: 'an operation that this platform does not have answers 404',
    options: { dialect: { absent: ['deleteAgent'] } },
    does: ({ call }) => call('deleteAgent', at()),
    status: 404,
    also: ({ sim }) => expect(sim.store.agents.size).toBe(SEED.agents?.length),
  },
]);
