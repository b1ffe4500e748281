import { fetch } from 'undici';
import { expect } from 'vitest';
import { drawInventions } from '../../src/simulator/dialect.ts';
import { INVENTIONS as DRAWN } from '../inventions.ts';
import { IDS, locked, type Reply, section, type World } from './world.ts';

const path = { knowledgeBaseId: IDS.base };
const add = ({ call }: World, body: object) => call('createKnowledgeSource', { path, body });
const page = { sourceType: 'url', url: 'https://harbor.example.test/faq' };
const bytes = 'Cleaning: 90';
const file = {
  sourceType: 'file',
  fileName: 'prices.txt',
  fileMime: 'text/plain',
  fileSize: bytes.length,
  contentHash: 'hash-1',
};
const list = ({ call }: World) => call('listKnowledgeSources', { path });
const dataOf = ({ body }: Reply) => Object(body.data);

const put = (url: string, headers: Record<string, string>, body = bytes) =>
  fetch(url, { method: 'PUT', headers, body: Buffer.from(body) });
const upload = async (world: World, created: Reply) => {
  const response = await put(dataOf(created).presignedUrl, { 'content-type': 'text/plain' });
  expect(response.status).toBe(200);
  return world.call('enqueueKnowledgeSource', {
    path: { ...path, sourceId: dataOf(created).sourceId },
  });
};

section('Knowledge base sources', [
  {
    rule: 'a page is created with a job',
    does: (world) => add(world, page),
    status: 201,
    also: async (world, reply) => {
      expect(dataOf(reply)).toEqual({ sourceId: expect.any(String), jobId: expect.any(String) });
      expect((await list(world)).body.data).toMatchObject([
        {
          id: dataOf(reply).sourceId,
          knowledge_base_id: IDS.base,
          organization_id: IDS.harbor,
          source_type: 'url',
          url: page.url,
          status: 'active',
          chunk_count: expect.any(Number),
          last_synced_at: expect.any(String),
          created_at: expect.any(String),
        },
      ]);
    },
  },
  {
    rule: 'an ingestion may take a while',
    options: { dialect: { ingestionReads: 1, inventions: DRAWN } },
    does: async (world) => {
      await add(world, page);
      return list(world);
    },
    status: 200,
    body: {
      data: [{ status: drawInventions(DRAWN).states.working, ...drawInventions(DRAWN).nothing }],
    },
    also: async (world) =>
      expect((await list(world)).body).toMatchObject({ data: [{ status: 'active' }] }),
  },
  {
    rule: 'a page that is there already is a duplicate',
    does: async (world) => {
      await add(world, page);
      await list(world);
      return add(world, page);
    },
    status: 409,
    body: {
      error: 'duplicate_source',
      error_description: expect.any(String),
      details: { existingSource: { id: expect.any(String), name: page.url, status: 'active' } },
    },
  },
  {
    rule: 'forceReingest takes the existing page again',
    does: async (world) => {
      const first = await add(world, page);
      const [before] = [(await list(world)).body.data].flat();
      const again = await add(world, { ...page, forceReingest: true });
      expect(dataOf(again).sourceId).toBe(dataOf(first).sourceId);
      expect(dataOf(again).jobId).not.toBe(dataOf(first).jobId);
      const [after] = [(await list(world)).body.data].flat();
      expect(Object(after).last_synced_at > Object(before).last_synced_at).toBe(true);
      return list(world);
    },
    status: 200,
    also: (_, { body }) => expect(body.data).toHaveLength(1),
  },
  {
    rule: 'a document is announced, uploaded and enqueued',
    does: async (world) => upload(world, await add(world, file)),
    status: 202,
    body: { success: true },
    also: async (world) => {
      expect((await list(world)).body).toMatchObject({
        data: [{ source_type: 'file', name: 'prices.txt', status: 'active', chunk_count: 1 }],
      });
      const [source] = [...world.sim.store.sources.values()];
      expect(source?.upload?.bytes?.toString()).toBe(bytes);
    },
  },
  {
    rule: 'a document whose bytes are missing cannot be enqueued',
    does: async (world) => {
      const created = await add(world, file);
      return world.call('enqueueKnowledgeSource', {
        path: { ...path, sourceId: dataOf(created).sourceId },
      });
    },
    status: 400,
    body: { error: 'invalid_request' },
  },
  {
    rule: 'a page is not enqueued',
    does: async (world) => {
      const created = await add(world, page);
      return world.call('enqueueKnowledgeSource', {
        path: { ...path, sourceId: dataOf(created).sourceId },
      });
    },
    status: 400,
  },
  {
    rule: 'an unknown source is not enqueued',
    does: ({ call }) => call('enqueueKnowledgeSource', { path: { ...path, sourceId: IDS.nobody } }),
    status: 404,
  },
  {
    rule: 'a document with a known hash is a duplicate',
    does: async (world) => {
      await upload(world, await add(world, file));
      await list(world);
      return add(world, { ...file, fileName: 'other.txt' });
    },
    status: 409,
    body: {
      error: 'duplicate_source',
      details: { existingSource: { name: 'prices.txt', status: 'active' } },
    },
  },
  {
    rule: 'forceReingest takes a document with a known hash',
    does: async (world) => {
      await add(world, file);
      return add(world, { ...file, forceReingest: true });
    },
    status: 201,
  },
  ...(
    [
      ['fileSize', { ...file, fileSize: 50 * 1024 * 1024 + 1 }],
      ['fileMime', { ...file, fileMime: 'image/png' }],
      ['fileName', { ...file, fileName: undefined }],
      ['url', { sourceType: 'url' }],
      ['sourceType', {}],
    ] as const
  ).map(([field, body]) => ({
    rule: `a body is refused for its ${field}`,
    does: (world: World) => add(world, body),
    status: 400,
    body: { error: 'invalid_request', details: [{ path: field }] },
  })),
  {
    rule: 'an unknown knowledge base is not found',
    does: ({ call }) => call('listKnowledgeSources', { path: { knowledgeBaseId: IDS.nobody } }),
    status: 404,
    body: { error: 'not_found' },
  },
  {
    rule: 'a locked knowledge base takes nothing new',
    seed: locked('reseller', 'knowledge_base'),
    does: (world) => add(world, page),
    status: 403,
    body: { error: 'forbidden' },
  },
]);

/** An upload that does not go as it should, and what is stored then. */
const refusals = [
  {
    rule: 'with the bearer token as well',
    headers: { authorization: 'Bearer x', 'content-type': 'text/plain' },
    status: 400,
  },
  {
    rule: 'with another content type',
    headers: { 'content-type': 'application/pdf' },
    status: 403,
  },
  { rule: 'without a content type', headers: {}, status: 403 },
  {
    rule: 'of another size',
    headers: { 'content-type': 'text/plain' },
    body: 'more than was announced',
    status: 400,
  },
  {
    rule: 'to a forged address',
    headers: { 'content-type': 'text/plain' },
    forge: true,
    status: 403,
  },
  {
    rule: 'after the address expired',
    headers: { 'content-type': 'text/plain' },
    late: true,
    status: 403,
  },
];
const clock = { now: new Date('2026-01-01T00:00:00Z') };

section(
  'Knowledge base sources, upload',
  refusals.map(({ rule, headers, body, forge, late, status }) => ({
    rule: `bytes ${rule} are refused`,
    options: { now: () => clock.now, dialect: { inventions: DRAWN } },
    does: async (world: World) => {
      clock.now = new Date('2026-01-01T00:00:00Z');
      const created = await add(world, file);
      const url: string = dataOf(created).presignedUrl;
      if (late) clock.now = new Date('2026-01-01T01:00:00Z');
      const response = await put(
        forge ? url.replace('type=text', 'type=test') : url,
        headers as Record<string, string>,
        body,
      );
      expect(response.status).toBe(status);
      clock.now = new Date('2026-01-01T00:00:00Z');
      return list(world);
    },
    status: 200,
    body: { data: [{ status: drawInventions(DRAWN).states.waiting }] },
    also: ({ sim }: World) => {
      expect([...sim.store.sources.values()][0]?.upload?.bytes).toBeUndefined();
      expect(sim.requests.find(({ operation }) => operation === 'upload')).toMatchObject({
        status,
      });
    },
  })),
);
