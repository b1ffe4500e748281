import type { JsonObject } from '../../core/value.ts';
import { type Answer, coded, data, missing, Refusal } from '../answer.ts';
import { organizationLocks } from '../locks.ts';
import type { Input, Platform, Routes } from '../platform.ts';
import { forbidden, organizationOf, ownedBy } from '../reach.ts';
import type { KnowledgeBase, Source } from '../store.ts';
import { presign } from '../uploads.ts';

/** Bytes of a document that make one chunk. A page has the same count always. */
const CHUNK_BYTES = 1000;
const PAGE_CHUNKS = 12;

/** What agents answer from (Knowledge base sources). */
export const knowledge: Routes<
  'listKnowledgeSources' | 'createKnowledgeSource' | 'enqueueKnowledgeSource'
> = {
  listKnowledgeSources: (input, platform) => {
    const { id } = reachedBase(platform, input);
    const sources = sourcesOf(platform, id);
    for (const source of sources) settle(platform, source);
    return data(sources.map(({ record }) => record));
  },

  createKnowledgeSource: (input, platform) => {
    const base = writableBase(platform, input);
    return input.body.sourceType === 'url'
      ? createPage(platform, base, input.body)
      : createDocument(platform, base, input.body);
  },

  enqueueKnowledgeSource: (input, platform) => {
    const base = writableBase(platform, input);
    const source = platform.store.sources.get(input.path.sourceId ?? '');
    if (source === undefined || source.knowledgeBaseId !== base.id) throw missing('Source');
    if (source.upload === undefined)
      throw coded(400, 'invalid_request', 'The source is a page; there is nothing to enqueue');
    if (source.upload.bytes === undefined)
      throw coded(400, 'invalid_request', 'The bytes of the source have not been uploaded');
    ingest(platform, source);
    return { status: 202, body: { success: true } };
  },
};

function createPage(platform: Platform, base: KnowledgeBase, body: JsonObject): Answer {
  const same = sourcesOf(platform, base.id).find(({ record }) => record.url === body.url);
  if (same !== undefined && body.forceReingest !== true) throw duplicate(same);
  const source =
    same ??
    addSource(platform, base, {
      source_type: 'url',
      name: body.url ?? null,
      url: body.url ?? null,
    });
  ingest(platform, source);
  return data({ sourceId: source.id, jobId: platform.ids.uuid('job') }, 201);
}

/** A document that was announced before counts as its duplicate, uploaded or not. */
function createDocument(platform: Platform, base: KnowledgeBase, body: JsonObject): Answer {
  const hash = typeof body.contentHash === 'string' ? body.contentHash : undefined;
  const same = sourcesOf(platform, base.id).find(
    ({ upload }) => hash !== undefined && upload?.contentHash === hash,
  );
  if (same !== undefined && body.forceReingest !== true) throw duplicate(same);
  const fileKey = `documents/${platform.ids.uuid('file')}`;
  const upload = {
    fileKey,
    mime: String(body.fileMime),
    size: Number(body.fileSize),
    contentHash: hash,
    bytes: undefined,
  };
  const source = addSource(
    platform,
    base,
    { source_type: 'file', name: body.fileName ?? null },
    upload,
  );
  const answer = { sourceId: source.id, jobId: platform.ids.uuid('job') };
  return data({ presignedUrl: presign(platform, upload), fileKey, ...answer }, 201);
}

function addSource(
  platform: Platform,
  base: KnowledgeBase,
  fields: JsonObject,
  upload?: Source['upload'],
): Source {
  const id = platform.ids.uuid('source');
  const source: Source = {
    id,
    knowledgeBaseId: base.id,
    record: {
      id,
      knowledge_base_id: base.id,
      organization_id: base.organizationId,
      ...fields,
      status: 'awaiting_upload',
      chunk_count: 0,
      last_synced_at: null,
      created_at: platform.stamp(),
    },
    ...(upload === undefined ? {} : { upload }),
    pendingReads: undefined,
  };
  platform.store.sources.set(id, source);
  return source;
}

function ingest({ dialect }: Platform, source: Source): void {
  source.record.status = 'processing';
  source.pendingReads = dialect.ingestionReads;
}

/** An ingestion that runs ends when it has been looked at often enough. */
function settle(platform: Platform, source: Source): void {
  if (source.pendingReads === undefined) return;
  if (source.pendingReads > 0) {
    source.pendingReads -= 1;
    return;
  }
  source.pendingReads = undefined;
  const bytes = source.upload?.bytes?.length;
  Object.assign(source.record, {
    status: 'active',
    chunk_count: bytes === undefined ? PAGE_CHUNKS : Math.ceil(bytes / CHUNK_BYTES),
    last_synced_at: platform.stamp(),
  });
}

function duplicate({ record }: Source): Refusal {
  const { id = null, name = null, status = null } = record;
  return new Refusal(409, {
    error: 'duplicate_source',
    error_description: 'The knowledge base has this source already',
    details: { existingSource: { id, name, status } },
  });
}

function sourcesOf({ store }: Platform, baseId: string): readonly Source[] {
  return [...store.sources.values()].filter(({ knowledgeBaseId }) => knowledgeBaseId === baseId);
}

function reachedBase(platform: Platform, { key, path }: Input): KnowledgeBase {
  const base = platform.store.knowledgeBases.get(path.knowledgeBaseId ?? '');
  if (base === undefined || !ownedBy(platform, key, base.organizationId))
    throw missing('Knowledge base');
  return base;
}

function writableBase(platform: Platform, input: Input): KnowledgeBase {
  const base = reachedBase(platform, input);
  const locks = organizationLocks(platform, organizationOf(platform, base.organizationId));
  if (locks.has('knowledge_base')) throw forbidden('RAG is not enabled for this organization.');
  return base;
}
