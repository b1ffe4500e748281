import { expect } from 'vitest';
import { ID } from './ids.ts';
import { locking, withAgent } from './seed.ts';
import { answers, coded, expectReply, type Row, reads, section, writes } from './suite.ts';
import { record, records } from './world.ts';

const DESK = `/v1/agents/${ID.desk}`;
const NEW = { name: 'New', organizationId: ID.harbor };

const CREATED: { readonly [write: string]: readonly [value: unknown, read: string] } = {
  name: ['New', 'name'],
  organizationId: [ID.harbor, 'organization_id'],
  greetingMessage: ['Hello.', 'greeting_message'],
  systemPrompt: ['You help.', 'system_prompt'],
  agentType: ['message_taker', 'agent_type'],
  sttModel: ['voxc', 'stt_model'],
  ttsModel: ['cartx', 'tts_model'],
  voiceSettings: [{ voice_id: 'builtin-3', speed: 1 }, 'voice_settings'],
  placeId: ['listing-9', 'place_id'],
};

/** What turns a locked feature on, and the feature. */
const LOCKED: readonly (readonly [feature: string, body: object])[] = [
  ['llm.beta-3-fast', { model: 'beta-3-fast' }],
  ['custom_voices', { voiceSettings: { voice_id: ID.voice } }],
  ['warm_transfer', { warmTransferHandoffInstructions: 'Be brief.' }],
  ['knowledge_base', { knowledgebaseLinks: ['https://harbor.example.test/x'] }],
  ['integration.pbxProvider', { integrations: { pbxProvider: { client_id: 'x' } } }],
  ['template.translator', { agentType: 'translator' }],
];

export const agents: readonly Row[] = [
  ...section(
    'Endpoints · Agents · List',
    reads('all agents of the account are listed', async ({ get }) => {
      expect(records(await get('/v1/agents'))).toHaveLength(5);
    }),
    reads('organization_id narrows the list', async ({ get }) => {
      const items = records(await get(`/v1/agents?organization_id=${ID.north}`));
      expect(items.map(({ id }) => id)).toEqual([ID.recall]);
    }),
    reads('limit and page choose a page', async ({ get }) => {
      const all = records(await get('/v1/agents'));
      const page = records(await get('/v1/agents?limit=2&page=2'));
      expect(page).toEqual(all.slice(2, 4));
    }),
    reads(
      'data and pagination are all there is',
      answers(({ get }) => get('/v1/agents'), 200, {
        data: expect.any(Array),
        pagination: expect.any(Object),
      }),
    ),
    reads(
      'an organization without access is forbidden',
      answers(({ get }) => get(`/v1/agents?organization_id=${ID.nobody}`), 403, coded('forbidden')),
    ),
  ),
  ...section(
    'Endpoints · Agents · Get',
    reads('an agent is returned under data', async ({ get }) => {
      expect(record(await get(DESK))).toMatchObject({ id: ID.desk, name: 'Front desk' });
    }),
    reads(
      'an agent that does not exist is not found',
      answers(({ get }) => get(`/v1/agents/${ID.nobody}`), 404, coded('not_found')),
    ),
    reads(
      'an agent outside the scope of the key is not found',
      answers(({ get }) => get(DESK, { as: 'north-key' }), 404, coded('not_found')),
    ),
    reads('an agent inside the scope of the key is returned', async ({ get }) => {
      const agent = record(await get(`/v1/agents/${ID.recall}`, { as: 'north-key' }));
      expect(agent.id).toBe(ID.recall);
    }),
  ),
  ...section(
    'Endpoints · Agents · Create',
    Object.entries(CREATED).map(([write, [value, read]]) =>
      writes(`${write} is taken on creation`, async ({ get, post }) => {
        const { id } = record(await post('/v1/agents', { body: { ...NEW, [write]: value } }));
        expect(record(await get(`/v1/agents/${String(id)}`))[read]).toEqual(value);
      }),
    ),
    writes('a new agent stands in the list', async ({ get, post }) => {
      const { id } = record(await post('/v1/agents', { body: NEW }));
      expect(records(await get('/v1/agents')).map((agent) => agent.id)).toContain(id);
    }),
    reads('an organization outside the account is not found', async ({ post }) => {
      const body = { name: 'New', organizationId: ID.nobody };
      expectReply(await post('/v1/agents', { body }), 404, coded('not_found'));
    }),
    reads('an organization outside the scope is forbidden', async ({ post }) => {
      const reply = await post('/v1/agents', { as: 'north-key', body: NEW });
      expectReply(reply, 403, coded('forbidden'));
    }),
    LOCKED.map(([feature, body]) =>
      writes(
        `a creation cannot turn on what ${feature} locks`,
        async ({ post }) => {
          expect((await post('/v1/agents', { body: { ...NEW, ...body } })).status).toBe(403);
        },
        locking('organization', feature),
      ),
    ),
  ),
  ...section(
    'Endpoints · Agents · Update',
    writes('fields that are left out stay', async ({ get, put }) => {
      const before = record(await get(DESK));
      await put(DESK, { body: { name: 'Renamed' } });
      const after = record(await get(DESK));
      expect(after).toEqual({ ...before, name: 'Renamed', updated_at: after.updated_at });
    }),
    reads(
      'an agent that does not exist is not found',
      answers(({ put }) => put(`/v1/agents/${ID.nobody}`, { body: {} }), 404, coded('not_found')),
    ),
    reads(
      'an agent outside the scope is not found',
      answers(({ put }) => put(DESK, { as: 'north-key', body: {} }), 404, coded('not_found')),
    ),
    reads('an agent on another provider is not updated', async ({ put }) => {
      const { status } = await put(`/v1/agents/${ID.elsewhere}`, { body: { name: 'No' } });
      expect(status).toBe(403);
    }),
    LOCKED.map(([feature, body]) =>
      writes(`an update cannot turn on what ${feature} locks`, async ({ get, put, sim }) => {
        sim.lock('organization', ID.harbor, feature);
        const before = record(await get(`/v1/agents/${ID.bare}`));
        expect((await put(`/v1/agents/${ID.bare}`, { body })).status).toBe(403);
        expect(record(await get(`/v1/agents/${ID.bare}`))).toEqual(before);
      }),
    ),
    ...(
      [
        ['llm.beta-3-fast', { model: 'beta-3-fast' }, { model: 'beta-3-fast' }],
        [
          'knowledge_base',
          { knowledgebase_links: ['https://harbor.example.test/faq'] },
          { knowledgebaseLinks: ['https://harbor.example.test/faq'] },
        ],
        [
          'custom_voices',
          { voice_settings: { voice_id: ID.voice, language: 'fr' } },
          { voiceSettings: { voice_id: ID.voice, language: 'fr' } },
        ],
      ] as const
    ).map(([feature, fields, body]) =>
      writes(
        `an update may keep on what ${feature} locked later`,
        async ({ put, sim }) => {
          sim.lock('organization', ID.harbor, feature);
          const reply = await put(`/v1/agents/${ID.bare}`, { body: { ...body, name: 'Kept' } });
          expectReply(reply, 200);
        },
        withAgent(ID.bare, fields),
      ),
    ),
  ),
  ...section(
    'Endpoints · Agents · History',
    writes('a change makes an entry', async ({ get, put }) => {
      const before = records(await get(`${DESK}/history`)).length;
      await put(DESK, { body: { name: 'Renamed' } });
      expect(records(await get(`${DESK}/history`))).toHaveLength(before + 1);
    }),
    writes('limit bounds the entries', async ({ get, put }) => {
      for (const name of ['One', 'Two', 'Three']) await put(DESK, { body: { name } });
      expect(records(await get(`${DESK}/history?limit=2`))).toHaveLength(2);
    }),
    reads(
      'an agent that does not exist has none',
      answers(({ get }) => get(`/v1/agents/${ID.nobody}/history`), 404, coded('not_found')),
    ),
    reads(
      'an agent outside the scope has none',
      answers(({ get }) => get(`${DESK}/history`, { as: 'north-key' }), 404, coded('not_found')),
    ),
  ),
];
