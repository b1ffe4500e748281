import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { ID, TIMESTAMP, UUID } from './ids.ts';
import { type Row, reads, section, writes } from './suite.ts';
import { record, records, type World } from './world.ts';

const TEXT = expect.any(String);
const DESK = `/v1/agents/${ID.desk}`;

type Read = (world: World) => Promise<JsonObject>;

/** One row per field of a record, and one for that there is no other. */
const fields = (read: Read, expected: { readonly [field: string]: unknown }) => [
  ...Object.entries(expected).map(([field, matcher]) =>
    reads(`${field} is returned, in its type`, async (world) => {
      expect((await read(world))[field]).toEqual(matcher);
    }),
  ),
  reads('no other field is returned', async (world) => {
    expect(Object.keys(await read(world)).sort()).toEqual(Object.keys(expected).sort());
  }),
];

const first = (
  items: readonly JsonObject[],
  matches: (item: JsonObject) => boolean,
): JsonObject => {
  const item = items.find(matches);
  if (item === undefined) throw new Error('no such record in the list');
  return item;
};

const entries = async ({ get }: World): Promise<readonly JsonObject[]> =>
  records(await get(`${DESK}/history`));

const changed = async (world: World): Promise<JsonObject> => {
  await world.put(DESK, { body: { systemPrompt: 'Changed.' } });
  return first(await entries(world), ({ action }) => action === 'updated');
};

const source =
  (sourceType: string): Read =>
  async ({ get }) =>
    first(
      records(await get(`/v1/knowledge-bases/${ID.base}/sources`)),
      ({ source_type }) => source_type === sourceType,
    );

const email: Read = async ({ get }) =>
  first(records(await get('/v1/email-templates')), ({ id }) => id === ID.email);

const policy: Read = async ({ get }) => record(await get(`/v1/retry-policies/${ID.gentle}`));

const voice: Read = async ({ get }) =>
  first(records(await get(`/v1/custom-voices?organizationId=${ID.harbor}`)), () => true);

const PROVIDERS = {
  'alpha-4.1': 'alpha',
  'alpha-4o': 'alpha',
  'alpha-4o-mini': 'alpha',
  'alpha-4.1-mini': 'alpha',
  'alpha-4.1-nano': 'alpha',
  'beta-3-fast': 'beta',
  'gamma/model-K2.6': 'gamma',
  'delta-sonnet-4-6': 'delta',
  'epsilon/model-4-31b-it': 'epsilon',
} as const;

export const agentRecords: readonly Row[] = [
  ...section(
    'Resources · Agent history entry',
    reads('id is an integer', async (world) => {
      expect((await entries(world)).map(({ id }) => Number.isInteger(id))).toEqual([true]);
    }),
    reads('version is a number for display', async (world) => {
      expect((await entries(world))[0]?.version).toEqual(expect.any(Number));
    }),
    reads('action says what was done', async (world) => {
      expect((await entries(world))[0]?.action).toEqual(TEXT);
    }),
    writes('a change through the API is signed with the account', async (world) => {
      expect((await changed(world)).actor).toMatchObject({ id: `api:${ID.account}` });
    }),
    writes('a change through the API has the source dashboard-api', async (world) => {
      expect((await changed(world)).source).toBe('dashboard-api');
    }),
    writes('a change in the dashboard is signed otherwise', async (world) => {
      world.sim.edit(ID.desk, { greeting_message: 'Edited.' });
      const edited = first(await entries(world), ({ action }) => action === 'updated');
      expect(edited.source).not.toBe('dashboard-api');
      expect(edited.actor).not.toMatchObject({ id: `api:${ID.account}` });
    }),
    writes('a revert names the entry that it restored', async (world) => {
      await changed(world);
      const [original] = (await entries(world)).toSorted((a, b) => Number(a.id) - Number(b.id));
      await world.post(`${DESK}/history/${String(original?.id)}/revert`);
      const revert = first(await entries(world), ({ action }) => action === 'reverted');
      expect(revert.reverted_from_id).toBe(original?.id);
    }),
    writes('the version number does not address an entry', async (world) => {
      const path = `/v1/agents/${ID.night}`;
      await world.put(path, { body: { name: 'Renamed' } });
      const all = records(await world.get(`${path}/history`));
      const entry = first(all, ({ version }) => all.every(({ id }) => id !== version));
      expect((await world.post(`${path}/history/${String(entry.version)}/revert`)).status).toBe(
        404,
      );
    }),
  ),
  ...section(
    'Resources · Knowledge base source',
    fields(source('url'), {
      id: expect.stringMatching(UUID),
      knowledge_base_id: ID.base,
      organization_id: ID.harbor,
      name: TEXT,
      source_type: 'url',
      status: 'active',
      url: 'https://harbor.example.test/faq',
      chunk_count: expect.toSatisfy(Number.isInteger),
      last_synced_at: expect.stringMatching(TIMESTAMP),
      created_at: expect.stringMatching(TIMESTAMP),
    }),
    reads('a document has the type file and its name', async (world) => {
      expect(await source('file')(world)).toMatchObject({
        source_type: 'file',
        name: 'prices.pdf',
        status: 'active',
      });
    }),
  ),
  ...section(
    'Resources · Email template',
    fields(email, {
      id: ID.email,
      organization_id: ID.harbor,
      name: 'Confirmation',
      subject: 'See you on {{date}}',
      body_html: '<p>Hello {{name|there}}</p>',
      from_name: 'Harbor Dental',
      status: 'active',
      version: 1,
    }),
    ['{{name}}', '{{name|there}}'].map((token) =>
      writes(`${token} is kept in subject and body`, async ({ post }) => {
        const texts = { subject: `For ${token}`, body_html: `<b>${token}</b>` };
        const body = { organization_id: ID.harbor, name: 'Tokens', ...texts };
        expect(record(await post('/v1/email-templates', { body }))).toMatchObject(texts);
      }),
    ),
  ),
  ...section(
    'Resources · SMS template',
    ...Object.entries({
      id: expect.stringMatching(UUID),
      name: 'Recall',
      status: 'draft',
      version: 1,
    }).map(([field, matcher]) =>
      writes(`${field} is returned on creation`, async ({ post }) => {
        const body = { organization_id: ID.harbor, name: 'Recall', message_type: 'sms' };
        expect(record(await post('/v1/sms-templates', { body }))[field]).toEqual(matcher);
      }),
    ),
  ),
  ...section(
    'Resources · Retry policy',
    fields(policy, {
      id: ID.gentle,
      name: 'Gentle',
      rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } },
      contact_policy: { max_per_day: 2 },
      on_exhausted: 'end',
      on_exhausted_target: null,
      reschedule_out_of_window: true,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    }),
    reads('contact_policy is null where there are no caps', async ({ get }) => {
      expect(record(await get(`/v1/retry-policies/${ID.brisk}`)).contact_policy).toBeNull();
    }),
  ),
  ...section(
    'Resources · Voice option',
    fields(voice, {
      id: ID.voice,
      name: 'Harbor',
      description: 'The voice of the desk.',
      provider: 'cartx',
      custom: true,
      language: 'fr',
    }),
    writes('its id is what an agent stores as voice_id', async ({ put }) => {
      const body = { voiceSettings: { voice_id: ID.voice } };
      expect(record(await put(DESK, { body })).voice_settings).toMatchObject({
        voice_id: ID.voice,
      });
    }),
  ),
  ...section(
    'Resources · LLM model option',
    Object.entries(PROVIDERS).map(([id, provider]) =>
      reads(`${id} is offered, of the provider ${provider}`, async ({ get }) => {
        expect(records(await get('/v1/llm-models'))).toContainEqual({
          id,
          name: TEXT,
          description: TEXT,
          provider,
        });
      }),
    ),
    reads('no other model is offered', async ({ get }) => {
      const ids = records(await get('/v1/llm-models')).map(({ id }) => id);
      expect(ids.sort()).toEqual(Object.keys(PROVIDERS).sort());
    }),
    writes('a new agent gets alpha-4.1', async ({ post }) => {
      const body = { name: 'New', organizationId: ID.harbor };
      expect(record(await post('/v1/agents', { body })).model).toBe('alpha-4.1');
    }),
    Object.keys(PROVIDERS).map((model) =>
      writes(`${model} can be assigned`, async ({ put }) => {
        expect(record(await put(DESK, { body: { model } })).model).toBe(model);
      }),
    ),
  ),
  ...section(
    'Resources · STT provider option',
    reads('voxc is offered, with name and description', async ({ get }) => {
      expect(records(await get('/v1/stt-providers'))).toContainEqual({
        id: 'voxc',
        name: TEXT,
        description: TEXT,
      });
    }),
  ),
];
