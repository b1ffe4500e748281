import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { ID } from './ids.ts';
import { answers, coded, expectReply, type Row, reads, section, writes } from './suite.ts';
import { type Reply, record, records, type World } from './world.ts';

const SOURCES = `/v1/knowledge-bases/${ID.base}/sources`;
const TEXT = expect.stringMatching(/\S/);

const MIMES: { readonly [kind: string]: string } = {
  PDF: 'application/pdf',
  DOCX: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  TXT: 'text/plain',
  HTML: 'text/html',
  CSV: 'text/csv',
  Markdown: 'text/markdown',
};

/** A document that the platform takes. */
export function document(fields: JsonObject = {}): JsonObject {
  return {
    sourceType: 'file',
    fileName: 'care.txt',
    fileMime: 'text/plain',
    fileSize: 5,
    ...fields,
  };
}

const page = (fields: JsonObject = {}): JsonObject => ({
  sourceType: 'url',
  url: 'https://harbor.example.test/care',
  ...fields,
});

/** Adds a source to the clinic's knowledge base. */
export function add({ post }: World, body: JsonObject): Promise<Reply> {
  return post(SOURCES, { body });
}

const without = (fields: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));

const refused = (rule: string, body: JsonObject) =>
  reads(rule, async (world) => {
    expect((await add(world, body)).status).toBe(400);
  });

const seeded = async ({ get }: World, sourceType: string): Promise<JsonObject> => {
  const found = records(await get(SOURCES)).find(({ source_type }) => source_type === sourceType);
  if (found === undefined) throw new Error('the seed has one');
  return found;
};

export const knowledge: readonly Row[] = [
  ...section(
    'Endpoints · Knowledge base sources · List',
    reads('sources of the knowledge base stand under data', async ({ get }) => {
      const reply = await get(SOURCES);
      expect(records(reply).map((source) => source.knowledge_base_id)).toEqual([ID.base, ID.base]);
      expect(Object.keys(reply.body)).toEqual(['data']);
    }),
    reads(
      'an unknown knowledge base is not found',
      answers(
        ({ get }) => get(`/v1/knowledge-bases/${ID.nobody}/sources`),
        404,
        coded('not_found'),
      ),
    ),
    reads(
      'a knowledge base outside the scope is not found',
      answers(({ get }) => get(SOURCES, { as: 'north-key' }), 404, coded('not_found')),
    ),
  ),
  ...section(
    'Endpoints · Knowledge base sources · Page',
    writes('a page is taken, and its ingestion is named', async (world) => {
      expectReply(await add(world, page()), 201, { data: { sourceId: TEXT, jobId: TEXT } });
    }),
    writes('the page stands in the list', async (world) => {
      const { sourceId } = record(await add(world, page()));
      const listed = records(await world.get(SOURCES)).find(({ id }) => id === sourceId);
      expect(listed).toMatchObject({
        source_type: 'url',
        url: 'https://harbor.example.test/care',
      });
    }),
    refused('sourceType is required', without(page(), 'sourceType')),
    refused('sourceType is url or file', page({ sourceType: 'feed' })),
    refused('url is required', without(page(), 'url')),
    refused('url is text', page({ url: 7 })),
    reads('a page that is there is an error', async (world) => {
      const reply = await add(world, page({ url: 'https://harbor.example.test/faq' }));
      expect(reply.status).toBe(409);
      expect(reply.body.error).toBe('duplicate_source');
    }),
    reads('forceReingest set to false changes nothing about that', async (world) => {
      const url = 'https://harbor.example.test/faq';
      expect((await add(world, page({ url, forceReingest: false }))).status).toBe(409);
    }),
    writes('forceReingest ingests the existing source again', async (world) => {
      const { id } = await seeded(world, 'url');
      const body = page({ url: 'https://harbor.example.test/faq', forceReingest: true });
      expectReply(await add(world, body), 201, { data: { sourceId: id, jobId: TEXT } });
      expect(records(await world.get(SOURCES))).toHaveLength(2);
    }),
    refused('forceReingest is a boolean', page({ forceReingest: 'yes' })),
  ),
  ...section(
    'Endpoints · Knowledge base sources · Document',
    writes('a document is announced, and told where its bytes go', async (world) => {
      expectReply(await add(world, document()), 201, {
        data: { presignedUrl: TEXT, fileKey: TEXT, sourceId: TEXT, jobId: TEXT },
      });
    }),
    Object.entries(MIMES).map(([kind, fileMime]) =>
      writes(`a document can be ${kind}`, async (world) => {
        expect((await add(world, document({ fileMime }))).status).toBe(201);
      }),
    ),
    refused('a document of another type is refused', document({ fileMime: 'image/png' })),
    ...['fileName', 'fileMime', 'fileSize'].map((field) =>
      refused(`${field} is required`, without(document(), field)),
    ),
    refused('fileSize is a number', document({ fileSize: '5' })),
    writes('contentHash is optional', async (world) => {
      expect((await add(world, document({ contentHash: 'hash-of-care' }))).status).toBe(201);
    }),
    reads('a known hash is a duplicate, and the source is named', async (world) => {
      const { id, name, status } = await seeded(world, 'file');
      const reply = await add(world, document({ contentHash: 'hash-of-prices' }));
      expectReply(reply, 409, {
        ...coded('duplicate_source'),
        details: { existingSource: { id, name, status } },
      });
    }),
    writes('forceReingest lets a known hash pass', async (world) => {
      const body = document({ contentHash: 'hash-of-prices', forceReingest: true });
      expect((await add(world, body)).status).toBe(201);
    }),
    writes('the bytes are PUT to the address with their type and no token', async (world) => {
      const { presignedUrl } = record(await add(world, document()));
      const { status } = await world.put(String(presignedUrl), {
        raw: 'Floss',
        headers: { 'content-type': 'text/plain' },
        authorization: null,
      });
      expect(status).toBe(200);
    }),
    writes('after bytes and enqueueing the document becomes active', async (world) => {
      const { presignedUrl, sourceId } = record(await add(world, document()));
      await world.put(String(presignedUrl), {
        raw: 'Floss',
        headers: { 'content-type': 'text/plain' },
        authorization: null,
      });
      await world.post(`${SOURCES}/${String(sourceId)}/enqueue`);
      const listed = records(await world.get(SOURCES)).find(({ id }) => id === sourceId);
      expect(listed).toMatchObject({ name: 'care.txt', status: 'active' });
    }),
    writes('before that nothing says that it was ingested', async (world) => {
      const { sourceId } = record(await add(world, document()));
      const source = records(await world.get(SOURCES)).find(({ id }) => id === sourceId);
      expect(source?.status).toEqual(expect.any(String));
      expect([source?.chunk_count ?? 0, source?.last_synced_at ?? null]).toEqual([0, null]);
    }),
  ),
  ...section(
    'Endpoints · Knowledge base sources · Errors',
    reads('an unknown knowledge base is not found', async ({ post }) => {
      const reply = await post(`/v1/knowledge-bases/${ID.nobody}/sources`, { body: page() });
      expectReply(reply, 404, coded('not_found'));
    }),
    reads('a knowledge base outside the scope is not found', async ({ post }) => {
      const reply = await post(SOURCES, { as: 'north-key', body: page() });
      expectReply(reply, 404, coded('not_found'));
    }),
  ),
];
