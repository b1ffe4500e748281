import { expect } from 'vitest';
import { isObject, objectsIn, sum } from '../../src/core/value.ts';
import { closed } from './authentication.ts';
import { MONTH } from './calls.ts';
import { ASSUMED } from './endpoints.ts';
import { ID } from './ids.ts';
import { add, document } from './knowledge.ts';
import { locking } from './seed.ts';
import { answers, coded, expectReply, type Row, reads, section, writes } from './suite.ts';
import { clone } from './voices.ts';
import { record, records, type World } from './world.ts';

const SOURCES = `/v1/knowledge-bases/${ID.base}/sources`;
const DESK = `/v1/agents/${ID.desk}`;

const upload = async (world: World, ask: { readonly bearer?: boolean; readonly raw?: string }) => {
  const { presignedUrl } = record(await add(world, document()));
  return world.put(String(presignedUrl), {
    raw: ask.raw ?? 'Floss',
    headers: { 'content-type': 'text/plain' },
    authorization: ask.bearer === true ? await world.bearer() : null,
  });
};

export const restAssumptions: readonly Row[] = [
  ...section(
    'Assumptions · Account',
    ASSUMED.flatMap((endpoint) => closed(endpoint)),
  ),
  ...section(
    'Assumptions · Retry policies',
    reads('retry_policy.list: policies in pages', async ({ get }) => {
      const reply = await get('/v1/retry-policies?limit=1');
      expect(records(reply)).toHaveLength(1);
      expect(reply.body.pagination).toMatchObject({ total: 2, totalPages: 2 });
    }),
    reads('retry_policy.list: a page out of range is refused', async ({ get }) => {
      expect((await get('/v1/retry-policies?limit=101')).status).toBe(400);
    }),
    writes('retry_policy.create: 201, and a name is enough', async ({ get, post }) => {
      const reply = await post('/v1/retry-policies', { body: { name: 'New' } });
      expect(reply.status).toBe(201);
      const path = `/v1/retry-policies/${String(record(reply).id)}`;
      expect(record(await get(path))).toEqual(record(reply));
    }),
    writes('retry_policy.rules: any outcome has a rule', async ({ patch }) => {
      const rules = { busy: { delay_seconds: 0, max_attempts: 2, quietly: true } };
      const reply = await patch(`/v1/retry-policies/${ID.gentle}`, { body: { rules } });
      expect(record(reply).rules).toEqual(rules);
    }),
    reads('retry_policy.rules: an outcome has no other shape', async ({ patch }) => {
      const body = { rules: { busy: { delay_seconds: 'soon' } } };
      expect((await patch(`/v1/retry-policies/${ID.gentle}`, { body })).status).toBe(400);
    }),
    reads('retry_policy.create: a name is needed', async ({ post }) => {
      const { status, body } = await post('/v1/retry-policies', { body: { rules: {} } });
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_request' });
    }),
    reads('retry_policy.errors: a taken name is coded', async ({ post, patch }) => {
      const create = await post('/v1/retry-policies', { body: { name: 'Brisk' } });
      const update = await patch(`/v1/retry-policies/${ID.gentle}`, { body: { name: 'Brisk' } });
      for (const reply of [create, update]) expectReply(reply, 409, coded('conflict'));
    }),
    writes('retry_policy.deleted-reference: the agent’s id is emptied', async (world) => {
      await world.delete(`/v1/retry-policies/${ID.gentle}`);
      expect(record(await world.get(DESK)).default_retry_policy_id ?? null).toBeNull();
    }),
  ),
  ...section(
    'Assumptions · Knowledge and voices',
    writes('limit.megabyte: a megabyte of a document is 1024 × 1024 bytes', async (world) => {
      expect((await add(world, document({ fileSize: 50 * 1024 * 1024 }))).status).toBe(201);
    }),
    writes('limit.megabyte: and of a clip', async (world) => {
      expect((await clone(world, {}, { size: 4 * 1024 * 1024 })).status).toBeLessThan(300);
    }),
    writes('knowledge_source.enqueue: 202 without a body', async (world) => {
      const { presignedUrl, sourceId } = record(await add(world, document()));
      await world.put(String(presignedUrl), {
        raw: 'Floss',
        headers: { 'content-type': 'text/plain' },
        authorization: null,
      });
      expect((await world.post(`${SOURCES}/${String(sourceId)}/enqueue`)).status).toBe(202);
    }),
    writes('knowledge_source.enqueue: without bytes it is refused', async (world) => {
      const { sourceId } = record(await add(world, document()));
      expect((await world.post(`${SOURCES}/${String(sourceId)}/enqueue`)).status).toBe(400);
    }),
    writes('knowledge_source.locked: enqueueing is refused', async (world) => {
      const { sourceId } = record(await add(world, document()));
      world.sim.lock('organization', ID.harbor, 'knowledge_base');
      const reply = await world.post(`${SOURCES}/${String(sourceId)}/enqueue`);
      expectReply(reply, 403, coded('forbidden'));
    }),
    reads('knowledge_source.enqueue: an unknown source is not found', async ({ post }) => {
      expectReply(await post(`${SOURCES}/${ID.nobody}/enqueue`), 404, coded('not_found'));
    }),
    ...[{ sourceType: 'url', url: 'https://harbor.example.test/new' }, document()].map((body) =>
      writes(
        `knowledge_source.locked: a ${body.sourceType === 'url' ? 'page' : 'document'} is refused`,
        async (world) => expectReply(await add(world, body), 403, coded('forbidden')),
        locking('organization', 'knowledge_base'),
      ),
    ),
    writes(
      'knowledge_source.states: a document without bytes shows nothing of an ingestion',
      async (world) => {
        const { sourceId } = record(await add(world, document()));
        const source = records(await world.get(SOURCES)).find(({ id }) => id === sourceId);
        expect(source?.chunk_count ?? 0).toBe(0);
        expect(source?.last_synced_at ?? null).toBeNull();
      },
    ),
    reads('knowledge_source.duplicate-page: told as a document is', async (world) => {
      const url = 'https://harbor.example.test/faq';
      const [page] = records(await world.get(SOURCES)).filter((one) => one.url === url);
      const { id, name, status } = page ?? {};
      expectReply(await add(world, { sourceType: 'url', url }), 409, {
        ...coded('duplicate_source'),
        details: { existingSource: { id, name, status } },
      });
    }),
    writes('knowledge_source.upload: a token is refused at the address', async (world) => {
      expect((await upload(world, { bearer: true })).status).toBeGreaterThanOrEqual(400);
    }),
    writes('knowledge_source.upload: other bytes than announced are refused', async (world) => {
      expect((await upload(world, { raw: 'Much more' })).status).toBeGreaterThanOrEqual(400);
    }),
    writes(
      'a voice may be answered with 200 as well as 201',
      async (world) => {
        expect((await clone(world)).status).toBe(200);
      },
      { dialect: { createdStatus: 200 } },
    ),
    reads('custom_voice.errors: a taken name is coded', async (world) => {
      expectReply(await clone(world, { name: 'Harbor' }), 409, coded('conflict'));
    }),
    ...[
      'tts.cartx',
      'tts.minx',
      'tts.voxc',
      'template.receptionist',
      'card_payments',
      'warm_transfer',
      'email_templates',
      'sms_templates',
    ].map((key) =>
      reads(`feature.keys: ${key} is a feature`, async ({ get }) => {
        expect(records(await get('/v1/features')).map((one) => one.key)).toContain(key);
      }),
    ),
  ),
  ...section(
    'Assumptions · Reports and sessions',
    reads('report.reversed-dates: nothing lies between', async ({ get }) => {
      const metrics = await get('/v1/metrics?startDate=2026-01-02&endDate=2026-01-01');
      expect(record(metrics)).toMatchObject({ metrics: { totalCalls: 0 }, dailyVolume: [] });
      const billing = await get('/v1/billing-report?start_date=2026-01-02&end_date=2026-01-01');
      expect(billing.status).toBe(200);
      expect(new Set(records(billing).map(({ voice_minutes: minutes }) => minutes))).toEqual(
        new Set([0]),
      );
    }),
    reads('metrics.errors: a missing date is coded', async ({ get }) => {
      const reply = await get('/v1/metrics?endDate=2026-01-02');
      expectReply(reply, 400, coded('invalid_request'));
    }),
    ...['organizationId', 'resellerId'].map((name) =>
      reads(`metrics.errors: an unknown ${name} is refused`, async ({ get }) => {
        const path = `/v1/metrics?startDate=2026-01-01&endDate=2026-01-02&${name}=${ID.nobody}`;
        expect([403, 404]).toContain((await get(path)).status);
      }),
    ),
    reads('metrics.agents: all calls are those of listed agents', async ({ get }) => {
      const reply = record(await get(`/v1/metrics?startDate=${MONTH.from}&endDate=${MONTH.to}`));
      const { metrics, agentPerformance: agents } = reply;
      if (!isObject(metrics)) throw new Error('metrics have no totals');
      const counts = objectsIn(agents).map((agent) => Number(agent.totalCalls));
      expect(counts.length).toBeGreaterThan(1);
      expect(sum(counts)).toBe(metrics.totalCalls);
    }),
    ...['organization_ids', 'reseller_ids'].map((name) =>
      reads(
        `billing.unknown-ids: one among ${name} is not found`,
        answers(
          ({ get }) =>
            get(
              `/v1/billing-report?start_date=2026-01-01&end_date=2026-01-02&${name}=${ID.nobody}`,
            ),
          404,
          coded('not_found'),
        ),
      ),
    ),
    reads(
      'session.errors: an unknown profile is coded',
      answers(
        ({ post }) => post('/api/v1/sessions', { body: { profile_id: ID.nobody } }),
        404,
        coded('not_found'),
      ),
    ),
    reads('call_log.order: newest first', async ({ get }) => {
      const starts = records(await get(`${DESK}/call-logs`)).map((one) =>
        String(one.call_started_at),
      );
      expect(starts).toEqual(starts.toSorted().reverse());
    }),
  ),
];
