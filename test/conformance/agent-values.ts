import { expect } from 'vitest';
import { ID } from './ids.ts';
import { withAgent } from './seed.ts';
import { expectReply, type Row, reads, section, writes } from './suite.ts';
import { record, type World } from './world.ts';

const STATUSES = ['active', 'inactive', 'cancelled', 'pending'];
const VALUES: { readonly [write: string]: readonly [read: string, values: readonly string[]] } = {
  status: ['status', STATUSES],
  agentType: [
    'agent_type',
    [
      'simple',
      'advanced',
      'custom',
      'appointment_scheduler',
      'receptionist',
      'message_taker',
      'blank_slate',
      'outbound',
      'opentable_reservation',
      'translator',
    ],
  ],
  language: ['language', ['en-US', 'es-US', 'multi']],
  ttsModel: ['tts_model', ['cartx', 'minx', 'voxc']],
  sttModel: ['stt_model', ['voxc']],
};

const BARE = `/v1/agents/${ID.bare}`;
const INTERPRETER = { first: 'en', second: 'es' };

const stored = async ({ get }: World, id: string = ID.bare): Promise<unknown> =>
  record(await get(`/v1/agents/${id}`)).interpreter_config;

export const agentValues: readonly Row[] = [
  ...section(
    'Resources · Agent · Values',
    Object.entries(VALUES).flatMap(([write, [read, values]]) => [
      ...values.map((value) =>
        writes(`${read} takes ${value}`, async ({ get, put }) => {
          expectReply(await put(BARE, { body: { [write]: value } }), 200);
          expect(record(await get(BARE))[read]).toBe(value);
        }),
      ),
      reads(`${read} takes nothing else`, async ({ put }) => {
        expect((await put(BARE, { body: { [write]: 'something-else' } })).status).toBe(400);
      }),
    ]),
    STATUSES.map((status) =>
      writes(
        `is_active is ${status === 'active'} for status ${status}`,
        async ({ get }) => {
          expect(record(await get(BARE)).is_active).toBe(status === 'active');
        },
        withAgent(ID.bare, { status }),
      ),
    ),
    reads('the time zone has the form of an IANA zone', async ({ put }) => {
      expect((await put(BARE, { body: { timezone: 'New York' } })).status).toBe(400);
    }),
    reads('config.user_timezone has the form of an IANA zone', async ({ put }) => {
      const { status } = await put(BARE, { body: { config: { user_timezone: 'New York' } } });
      expect(status).toBe(400);
    }),
    ...[
      { name: 7 },
      { systemPrompt: ['no'] },
      { transferEnabled: 'yes' },
      { email: 'desk@harbor.example.test' },
      { knowledgebaseLinks: [7] },
      { voiceSettings: 'fast' },
      { voiceSettings: { speed: 'fast' } },
      { config: { inactivity_timeout: 'long' } },
      { extensions: { tools: {} } },
      { integrations: [] },
    ].map((body) =>
      reads(`a value of another type is refused: ${JSON.stringify(body)}`, async ({ put }) => {
        expect((await put(BARE, { body })).status).toBe(400);
      }),
    ),
  ),
  ...section(
    'Resources · Agent · Interpreter settings',
    writes('they are stored on an agent that is no translator', async (world) => {
      await world.put(BARE, { body: { interpreterConfig: INTERPRETER } });
      expect(await stored(world)).toEqual(INTERPRETER);
    }),
    writes('they are stored on a translator', async (world) => {
      await world.put(BARE, { body: { agentType: 'translator', interpreterConfig: INTERPRETER } });
      expect(await stored(world)).toEqual(INTERPRETER);
    }),
    writes('they are stored by a creation', async (world) => {
      const { id } = record(
        await world.post('/v1/agents', {
          body: { name: 'New', organizationId: ID.harbor, interpreterConfig: INTERPRETER },
        }),
      );
      expect(await stored(world, String(id))).toEqual(INTERPRETER);
    }),
    writes('an agent that stops being a translator keeps its last ones', async (world) => {
      await world.put(BARE, { body: { agentType: 'translator', interpreterConfig: INTERPRETER } });
      await world.put(BARE, { body: { agentType: 'simple' } });
      expect(await stored(world)).toEqual(INTERPRETER);
    }),
    writes('null clears them on an agent that is no translator', async (world) => {
      await world.put(BARE, { body: { interpreterConfig: INTERPRETER } });
      expectReply(await world.put(BARE, { body: { interpreterConfig: null } }), 200);
      expect(await stored(world)).toBeNull();
    }),
    writes(
      'null clears them also where other nulls are refused',
      async (world) => {
        await world.put(BARE, { body: { interpreterConfig: INTERPRETER } });
        expectReply(await world.put(BARE, { body: { interpreterConfig: null } }), 200);
        expect(await stored(world)).toBeNull();
      },
      { dialect: { nulls: 'rejected' } },
    ),
    ...['voice', 'both'].map((value) =>
      writes(`speaker_identification is returned when it is ${value}`, async (world) => {
        await world.put(BARE, {
          body: { interpreterConfig: { ...INTERPRETER, speaker_identification: value } },
        });
        expect(await stored(world)).toEqual({ ...INTERPRETER, speaker_identification: value });
      }),
    ),
    writes('speaker_identification is absent for any other value', async (world) => {
      await world.put(BARE, {
        body: { interpreterConfig: { ...INTERPRETER, speaker_identification: 'none' } },
      });
      expect(await stored(world)).toEqual(INTERPRETER);
    }),
  ),
];
