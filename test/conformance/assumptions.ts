import { expect } from 'vitest';
import { connection, extend, webhook } from './extensions.ts';
import { ID, TIMESTAMP } from './ids.ts';
import { DESK, entriesOf, revert } from './revert-steps.ts';
import { answers, coded, expectReply, flat, type Row, reads, section, writes } from './suite.ts';
import { credentials, record, records } from './world.ts';

/*
 * What `schemas/platform.openapi.yaml` assumes where the specification is silent. These rows hold on the
 * simulator as it starts; its dialects take other readings.
 */

const BARE = `/v1/agents/${ID.bare}`;
const NEW = { name: 'New', organizationId: ID.harbor };
const SMS = { integrations: { smsProvider: { account_sid: 'AC0002' } } };
const ADDED = { field: 'Recorded.', language: 'es-US', timezone: 'Europe/Berlin' };

export const agentAssumptions: readonly Row[] = [
  ...section(
    'Assumptions · Account',
    ...['client_id', 'client_secret'].map((name) =>
      reads(`token.refused: a wrong ${name} is a 401`, async ({ post, sim }) => {
        const body = { ...credentials(sim), [name]: 'wrong' };
        expectReply(
          await post('/oauth/token', { authorization: null, body }),
          401,
          coded('unauthorized'),
        );
      }),
    ),
    reads('account.me-shape: members stand at the top', async ({ get }) => {
      expect((await get('/v1/me')).body).not.toHaveProperty('data');
    }),
    reads(
      'account.scope-shape: a scope has level and id',
      answers(({ get }) => get('/v1/me', { as: 'north-key' }), 200, {
        account_id: ID.account,
        scope: { level: 'organization', id: ID.north },
      }),
    ),
    ...['page=0', 'limit=0', 'limit=101', 'page=x'].map((query) =>
      reads(
        `page.out-of-range: ${query} is refused`,
        answers(({ get }) => get(`/v1/agents?${query}`), 400, coded('invalid_request')),
      ),
    ),
  ),
  ...section(
    'Assumptions · Agent',
    writes('agent.create-response: 201 with the whole agent', async ({ get, post }) => {
      const reply = await post('/v1/agents', { body: NEW });
      expect(reply.status).toBe(201);
      expect(record(reply)).toEqual(record(await get(`/v1/agents/${String(record(reply).id)}`)));
    }),
    ...['name', 'organizationId'].map((name) =>
      reads(`agent.create-response: ${name} is required`, async ({ post }) => {
        const body = Object.fromEntries(Object.entries(NEW).filter(([key]) => key !== name));
        const { status, body: error } = await post('/v1/agents', { body });
        expect({ status, error: error.error }).toEqual({ status: 400, error: 'invalid_request' });
      }),
    ),
    writes('agent.new-defaults: a new agent takes calls, in English', async ({ post }) => {
      expect(record(await post('/v1/agents', { body: NEW }))).toMatchObject({
        status: 'active',
        agent_type: 'simple',
        model: 'alpha-4.1',
        stt_model: 'voxc',
        tts_model: 'cartx',
        language: 'en-US',
      });
    }),
    writes('agent.update-response: 200 with the whole agent', async ({ get, put }) => {
      const reply = await put(DESK, { body: { name: 'Renamed' } });
      expect(reply.status).toBe(200);
      expect(record(reply)).toEqual(record(await get(DESK)));
    }),
    writes('agent.update-response: null clears', async ({ get, put }) => {
      await put(DESK, { body: { greetingMessage: null } });
      expect(record(await get(DESK)).greeting_message ?? null).toBeNull();
    }),
    writes('agent.null-inside: null clears a member of an object', async ({ get, put }) => {
      const body = { voiceSettings: { voice_id: 'v', speed: 1.5 } };
      await put(BARE, { body });
      await put(BARE, { body: { voiceSettings: { speed: null } } });
      const settings = Object(record(await get(BARE)).voice_settings);
      expect({ ...settings, speed: settings.speed ?? null }).toMatchObject({
        voice_id: 'v',
        speed: null,
      });
    }),
    ...['name', 'status', 'agentType', 'model', 'sttModel', 'ttsModel', 'language'].map((name) =>
      reads(`field.not-cleared: ${name} has a value`, async ({ put }) => {
        expect((await put(BARE, { body: { [name]: null } })).status).toBe(400);
      }),
    ),
    ...[
      { name: '' },
      { voiceSettings: { speed: 0 } },
      { config: { inactivity_timeout: -1 } },
      { extensions: { mcp_servers: [connection({ connectionName: '' })] } },
    ].map((body) =>
      reads(`field.minimums: ${JSON.stringify(body)} is too little`, async ({ put }) => {
        expect((await put(BARE, { body })).status).toBe(400);
      }),
    ),
    ...[
      { voicemailMessageAudioUrl: 'message.mp3' },
      { knowledgebaseLinks: ['faq'] },
      { email: ['desk'] },
      { extensions: { mcp_servers: [connection({ mcpEndpointUrl: 'ftp://rooms.example' })] } },
    ].map((body) =>
      reads(`field.addresses: ${JSON.stringify(body)} is none`, async ({ put }) => {
        expect((await put(BARE, { body })).status).toBe(400);
      }),
    ),
    writes('extensions.unique-names: keys of headers may repeat', async (world) => {
      const headers = ['a', 'b'].map((value) => ({ key: 'X-Way', value }));
      await extend(world, { tools: [webhook({ headers })] });
      expect(Object(record(await world.get(BARE)).extensions).tools[0].headers).toEqual(headers);
    }),
    ...(
      [
        ['feature.integrations', 'integration.smsProvider', SMS],
        ['feature.governed-fields', 'template.outbound', { agentType: 'outbound' }],
        ['feature.governed-fields', 'tts.minx', { ttsModel: 'minx' }],
        ['feature.governed-fields', 'warm_transfer', { warmTransferHandoffInstructions: 'Go on.' }],
        ['feature.governed-fields', 'knowledge_base', { knowledgebaseLinks: ['https://x.test/'] }],
        ['feature.governed-fields', 'secure_access', { config: { secure_access: true } }],
      ] as const
    ).map(([id, feature, body]) =>
      writes(`${id}: ${feature} locks ${JSON.stringify(body)}`, async ({ put, sim }) => {
        sim.lock('organization', ID.harbor, feature);
        expectReply(await put(BARE, { body }), 403, coded('forbidden'));
      }),
    ),
    reads('agent.stays: an agent does not move', async ({ put }) => {
      expect((await put(DESK, { body: { organizationId: ID.north } })).status).toBe(400);
    }),
    reads('agent.save-errors: another provider is forbidden', async ({ put }) => {
      const reply = await put(`/v1/agents/${ID.elsewhere}`, { body: { name: 'No' } });
      expectReply(reply, 403, coded('forbidden'));
    }),
    writes('agent.delete: 204, and the agent is gone', async (world) => {
      const { status, text } = await world.delete(BARE);
      expect({ status, text }).toEqual({ status: 204, text: '' });
      expectReply(await world.get(BARE), 404, coded('not_found'));
      expect(records(await world.get('/v1/agents')).map(({ id }) => id)).not.toContain(ID.bare);
    }),
    reads('agent.delete: an unknown agent is not found', async (world) => {
      expect((await world.delete(`/v1/agents/${ID.nobody}`)).status).toBe(404);
    }),
    reads('agent.delete: an agent on another provider is refused', async (world) => {
      expectReply(await world.delete(`/v1/agents/${ID.elsewhere}`), 403, coded('forbidden'));
    }),
    reads('agent.delete: an agent outside the scope is not found', async (world) => {
      expect((await world.delete(DESK, { as: 'north-key' })).status).toBe(404);
    }),
    reads('agent.list-subset: an item tells the agent apart', async ({ get }) => {
      for (const item of records(await get('/v1/agents')))
        expect(item).toMatchObject({
          id: expect.any(String),
          organization_id: expect.any(String),
          name: expect.any(String),
          updated_at: expect.stringMatching(TIMESTAMP),
        });
    }),
    writes('mcp.write-shape: a saved connection is named by its id', async (world) => {
      const { extensions } = record(await extend(world, { mcp_servers: [connection()] }));
      const [id] = JSON.stringify(extensions).match(/[0-9a-f]{8}-[0-9a-f-]{27}/) ?? [];
      const renamed = connection({ id: String(id), connectionName: 'Rooms and halls' });
      const reply = await extend(world, { mcp_servers: [renamed] });
      expect(record(reply).extensions).toMatchObject({
        mcp_servers: [{ id, connection_name: 'Rooms and halls' }],
      });
    }),
    reads('sip.unsupported-provider: another provider is forbidden', async ({ patch }) => {
      const path = `/v1/agents/${ID.elsewhere}/sip/registration`;
      const reply = await patch(path, { body: { registrationEnabled: true } });
      expectReply(reply, 403, coded('forbidden'));
    }),
  ),
  ...section(
    'Assumptions · History',
    writes('history.list-shape: newest first, each with its time', async ({ get, put }) => {
      for (const name of ['One', 'Two']) await put(DESK, { body: { name } });
      const entries = records(await get(`${DESK}/history`));
      const ids = entries.map(({ id }) => Number(id));
      expect(ids).toEqual(ids.toSorted((a, b) => b - a));
      for (const { created_at } of entries) expect(created_at).toMatch(TIMESTAMP);
    }),
    ...['0', '101'].map((limit) =>
      reads(`history.list-shape: a limit of ${limit} is refused`, async ({ get }) => {
        expect((await get(`${DESK}/history?limit=${limit}`)).status).toBe(400);
      }),
    ),
    writes('history.entries: an update that changes nothing makes one', async (world) => {
      const before = (await entriesOf(world)).length;
      await world.put(DESK, { body: { status: 'active' } });
      expect(await entriesOf(world)).toHaveLength(before + 1);
    }),
    writes('history.entries: the SIP flag and the payment tool make none', async (world) => {
      const before = (await entriesOf(world)).length;
      await world.patch(`${DESK}/sip/registration`, { body: { registrationEnabled: false } });
      await world.put(`${DESK}/payments/tool`, { body: { enabled: true } });
      expect(await entriesOf(world)).toHaveLength(before);
    }),
    ...Object.entries({
      name: ['Other', 'name'],
      description: [ADDED.field, 'description'],
      language: [ADDED.language, 'language'],
      timezone: [ADDED.timezone, 'timezone'],
      voiceModel: [ADDED.field, 'voice_model'],
      transferRules: [ADDED.field, 'transfer_rules'],
      enableRecording: [false, 'enable_recording'],
      echoDetection: [false, 'echo_detection'],
      callDetection: [true, 'call_detection'],
      email: [['other@harbor.example.test'], 'email'],
      emailToolEnabled: [false, 'email_tool_enabled'],
      emailToolInstructions: [ADDED.field, 'email_tool_instructions'],
      placeId: ['listing-2', 'place_id'],
      config: [{ inactivity_timeout: 5 }, 'config'],
      interpreterConfig: [{ first: 'de' }, 'interpreter_config'],
    }).map(([write, [value, read]]) =>
      writes(`history.recorded: ${String(read)} is restored`, async (world) => {
        const before = record(await world.get(DESK))[String(read)];
        await world.put(DESK, { body: { [write]: value } });
        await revert(world);
        expect(record(await world.get(DESK))[String(read)]).toEqual(before);
      }),
    ),
    writes('history.recorded: contact_policy stays', async (world) => {
      await world.put(DESK, {
        body: { contactPolicy: { require_consent_basis: false }, systemPrompt: 'Other' },
      });
      const before = record(await world.get(DESK)).contact_policy;
      await revert(world);
      expect(record(await world.get(DESK)).contact_policy).toEqual(before);
    }),
  ),
  ...section(
    'Assumptions · Payments',
    reads('payments.readiness-shape: members stand at the top', async ({ get }) => {
      expect((await get(`${DESK}/payments/readiness`)).body).not.toHaveProperty('data');
    }),
    writes('payments.tool-body: limits can be set, and the readiness answers', async (world) => {
      const limits = {
        success_url: 'https://harbor.example.test/thanks',
        max_single_charge_cents: 1000,
        max_per_call_cents: 2000,
        max_attempts_per_call: 1,
      };
      const reply = await world.put(`${DESK}/payments/tool`, {
        body: { enabled: true, ...limits },
      });
      expect(reply.body).toMatchObject({ payment_tool_enabled: true, ...limits });
      expect((await world.get(`${DESK}/payments/readiness`)).body).toEqual(reply.body);
    }),
    reads('payments.tool-refused: an agent that is not ready is a 400', async ({ put }) => {
      expect((await put(`${BARE}/payments/tool`, { body: { enabled: true } })).status).toBe(400);
    }),
    writes('payments.tool-refused: a lock is told flat', async (world) => {
      world.sim.lock('organization', ID.harbor, 'card_payments');
      const reply = await world.put(`${DESK}/payments/tool`, { body: { enabled: true } });
      expectReply(reply, 403, flat('Forbidden'));
    }),
    writes('payments.tool-body: a failing processor is told flat', async ({ put, sim }) => {
      sim.faults.add({ operation: 'setPaymentTool', status: 502 });
      const reply = await put(`${DESK}/payments/tool`, { body: { enabled: true } });
      expectReply(reply, 502, flat('Failed to load payment status'));
    }),
    reads(
      'payments.tool-body: an unknown agent is told flat',
      answers(
        ({ put }) => put(`/v1/agents/${ID.nobody}/payments/tool`, { body: { enabled: true } }),
        404,
        flat('Agent not found'),
      ),
    ),
  ),
];
