import type { JsonObject } from '../../core/value.ts';
import { type Answer, coded, data, missing, Refusal } from '../answer.ts';
import { organizationLocks } from '../locks.ts';
import { ordered } from '../pages.ts';
import type { Input, Platform, Routes } from '../platform.ts';
import { forbidden, organizationOf, ownedBy } from '../reach.ts';
import { addSource, ingest, settle, sourcesOf, viewSource } from '../sources.ts';
import type { KnowledgeBase, Source, Upload } from '../store.ts';
import { presign } from '../uploads.ts';

/** What agents answer from (Knowledge base sources). */
export const knowledge: Routes<
  'listKnowledgeSources' | 'createKnowledgeSource' | 'enqueueKnowledgeSource'
> = {
  listKnowledgeSources: (input, platform) => {
    const { id } = reachedBase(platform, input);
    const sources = sourcesOf(platform, id);
    for (const source of sources) settle(platform, source);
    const all = ordered(platform.dialect, sources, ({ record }) => record.name);
    return data(all.map((source) => viewSource(platform, source)));
  },

  createKnowledgeSource: (input, platform) => {
    const base = writableBase(platform, input);
    return input.body.sourceType === 'url'
      ? createPage(platform, base, input.body)
      : createDocument(platform, base, input.body);
  },

  enqueueKnowledgeSource: (input, platform) => {
    const base = writableBase(platform, input);
    const { dialect, store } = platform;
    const source = store.sources.get(input.path.sourceId ?? '');
    if (source === undefined || source.knowledgeBaseId !== base.id) throw missing('Source');
    if (source.upload === undefined)
      throw coded(400, 'invalid_request', 'The source is a page; there is nothing to enqueue');
    if (source.upload.bytes === undefined && dialect.emptyEnqueue === 'refused')
      throw coded(400, 'invalid_request', 'The bytes of the source have not been uploaded');
    ingest(platform, source);
    return { status: dialect.enqueuedStatus, body: { success: true } };
  },
};

function createPage(platform: Platform, base: KnowledgeBase, body: JsonObject): Answer {
  const { url = null } = body;
  const same = sourcesOf(platform, base.id).find(({ record }) => record.url === url);
  if (same !== undefined && body.forceReingest !== true) throw duplicate(platform, same);
  const source = same ?? addSource(platform, base, { source_type: 'url', name: url, url });
  ingest(platform, source);
  return data({ sourceId: source.id, jobId: platform.ids.uuid('job') }, 201);
}

function createDocument(platform: Platform, base: KnowledgeBase, body: JsonObject): Answer {
  const same = sameDocument(platform, base, body);
  if (same !== undefined && body.forceReingest !== true) throw duplicate(platform, same);
  const upload: Upload = {
    fileKey: `documents/${platform.ids.uuid('file')}`,
    mime: String(body.fileMime),
    size: Number(body.fileSize),
    contentHash: hashOf(body),
    bytes: undefined,
  };
  const { id } =
    same !== undefined && platform.dialect.reingestedFile === 'replaced'
      ? replaceDocument(same, body, upload)
      : addSource(platform, base, { source_type: 'file', name: body.fileName ?? null }, upload);
  const answer = { fileKey: upload.fileKey, sourceId: id, jobId: platform.ids.uuid('job') };
  return data({ presignedUrl: presign(platform, upload), ...answer }, 201);
}

/** The document that has the same hash, if the caller sent one: duplicates are told by it alone. */
function sameDocument(
  platform: Platform,
  base: KnowledgeBase,
  body: JsonObject,
): Source | undefined {
  const hash = hashOf(body);
  const counts = ({ bytes }: Upload) =>
    platform.dialect.duplicates === 'announced' || bytes !== undefined;
  return sourcesOf(platform, base.id).find(
    ({ upload }) =>
      hash !== undefined && upload !== undefined && upload.contentHash === hash && counts(upload),
  );
}

/** A known document takes new bytes; until they come it stays as it is. */
function replaceDocument(source: Source, { fileName = null }: JsonObject, upload: Upload): Source {
  source.upload = upload;
  source.record = { ...source.record, name: fileName };
  return source;
}

function hashOf({ contentHash: hash }: JsonObject): string | undefined {
  return typeof hash === 'string' ? hash : undefined;
}

function duplicate(platform: Platform, source: Source): Refusal {
  const { id = null, name = null, status = null } = viewSource(platform, source);
  return new Refusal(409, {
    error: 'duplicate_source',
    error_description: 'The knowledge base has this source already',
    details: { existingSource: { id, name, status } },
  });
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
