import type { JsonObject } from '../core/value.ts';
import { type Answer, coded, data, missing, ordered, Refusal } from './answer.ts';
import { checkPresigned, forbidden, getOrganization, ownedBy, presign } from './auth.ts';
import { organizationLocks } from './catalogue.ts';
import { type Dialect, drawInventions, type Inventions } from './dialect.ts';
import type { Input, Platform, Routes } from './platform.ts';
import type { KnowledgeBase, Source, Upload } from './store.ts';
import { invalid, violation } from './validation.ts';

/** Knowledge base sources. */
export const knowledge: Routes<
  'listKnowledgeSources' | 'createKnowledgeSource' | 'enqueueKnowledgeSource'
> = {
  listKnowledgeSources: (input, platform) => {
    const { id } = reachedBase(platform, input);
    const sources = listSources(platform, id);
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
  const same = listSources(platform, base.id).find(({ record }) => record.url === url);
  if (same !== undefined && body.forceReingest !== true) throw duplicate(platform, same);
  const source = same ?? addSource(platform, base, { source_type: 'url', name: url, url });
  ingest(platform, source);
  return data({ sourceId: source.id, jobId: platform.ids.uuid('job') }, 201);
}

/** Bytes of a document where a megabyte is a million; the contract has the wider limit. */
const DECIMAL_LIMIT = 50_000_000;

function createDocument(platform: Platform, base: KnowledgeBase, body: JsonObject): Answer {
  if (platform.dialect.megabyte === 'decimal' && Number(body.fileSize) > DECIMAL_LIMIT)
    throw invalid('details', [violation('fileSize', 'must be at most 50 MB')]);
  const same = sameDocument(platform, base, body);
  if (same !== undefined && body.forceReingest !== true) throw duplicate(platform, same);
  const upload: Upload = {
    fileKey: `documents/${platform.ids.uuid('file')}`,
    mime: String(body.fileMime),
    size: Number(body.fileSize),
    contentHash: findHash(body),
    bytes: undefined,
  };
  const { id } =
    same !== undefined && platform.dialect.reingestedFile === 'replaced'
      ? replaceDocument(same, body, upload)
      : addSource(platform, base, { source_type: 'file', name: body.fileName ?? null }, upload);
  const answer = { fileKey: upload.fileKey, sourceId: id, jobId: platform.ids.uuid('job') };
  const presignedUrl = presign(platform, `${UPLOAD_PATH}${upload.fileKey}`, LIFETIME, {
    type: upload.mime,
  });
  return data({ presignedUrl, ...answer }, 201);
}

/** The document that has the same hash, if the caller sent one: duplicates are recognised by it alone. */
function sameDocument(
  platform: Platform,
  base: KnowledgeBase,
  body: JsonObject,
): Source | undefined {
  const hash = findHash(body);
  const counts = ({ bytes }: Upload) =>
    platform.dialect.duplicates === 'announced' || bytes !== undefined;
  return listSources(platform, base.id).find(
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

function findHash({ contentHash: hash }: JsonObject): string | undefined {
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
  const locks = organizationLocks(platform, getOrganization(platform, base.organizationId));
  if (locks.has('knowledge_base')) throw forbidden('RAG is not enabled for this organization.');
  return base;
}

/** Bytes of a document that make one chunk. A page has the same count always. */
const CHUNK_BYTES = 1000;
const PAGE_CHUNKS = 12;

/**
 * The states of a source. Only `active` is specified (Knowledge base source): the others are returned under names
 * that are drawn for each start, see `inventions.ts`.
 *
 *     waiting ──enqueue──▶ working ──▶ active
 *           (a page starts here) ──▶    │   ◀──── enqueue or forceReingest, from any state
 *                                       └──────▶ failed
 */
type State = 'active' | `#${keyof Inventions['states']}`;

/** A source as it is returned. */
function viewSource({ dialect }: Platform, { record }: Source): JsonObject {
  const { states, nothing } = drawInventions(dialect.inventions);
  const { status, chunk_count, last_synced_at, ...rest } = record;
  const state = STATES.find((one) => `#${one}` === status);
  const facts = { chunk_count: chunk_count ?? null, last_synced_at: last_synced_at ?? null };
  const isEmpty = state !== undefined && facts.last_synced_at === null;
  return {
    ...rest,
    status: state === undefined ? (status ?? null) : states[state],
    ...(isEmpty ? nothing : facts),
    name: sourceName(dialect, record),
  };
}

const STATES = ['waiting', 'working', 'failed'] as const;

/** A page without a given name has its address for a name, or its title, or none. */
function sourceName({ pageNames }: Dialect, { name = null, url }: JsonObject) {
  if (url === undefined || name !== url || pageNames === 'url') return name;
  return pageNames === 'title' ? `Page at ${String(url)}` : null;
}

function listSources({ store }: Platform, baseId: string): readonly Source[] {
  return [...store.sources.values()].filter(({ knowledgeBaseId }) => knowledgeBaseId === baseId);
}

/** A new source of a base, stored, with nothing ingested. */
function addSource(
  platform: Platform,
  base: KnowledgeBase,
  fields: JsonObject,
  upload?: Upload,
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
      status: '#waiting' satisfies State,
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

/** Starts an ingestion. Whether it is going to fail is settled now; when it ends, by looking at it. */
function ingest({ dialect, faults }: Platform, source: Source): void {
  source.record = { ...source.record, status: '#working' satisfies State };
  const path = `/v1/knowledge-bases/${source.knowledgeBaseId}/sources/${source.id}`;
  const fault = faults.strike({ operation: 'ingestion', method: '', path });
  const isEndless = fault?.hang !== undefined;
  source.pendingReads = isEndless ? Number.POSITIVE_INFINITY : dialect.ingestionReads;
  source.isDoomed = fault !== undefined || !isReadable(source);
}

/** An ingestion that runs ends when it has been looked at often enough. */
function settle(platform: Platform, source: Source): void {
  if (source.pendingReads === undefined) return;
  if (source.pendingReads > 0) {
    source.pendingReads -= 1;
    return;
  }
  source.pendingReads = undefined;
  source.record = {
    ...source.record,
    ...(source.isDoomed === true ? FAILED : taken(platform, source)),
  };
}

const FAILED = { status: '#failed' satisfies State, chunk_count: 0 };

function taken(platform: Platform, { upload }: Source): JsonObject {
  const bytes = upload?.bytes?.length;
  return {
    status: 'active' satisfies State,
    chunk_count: bytes === undefined ? PAGE_CHUNKS : Math.ceil(bytes / CHUNK_BYTES),
    last_synced_at: platform.stamp(),
  };
}

/** Nothing can be made of a document without a letter or a digit, or of a page on a host that cannot exist. */
function isReadable({ upload, record }: Source): boolean {
  if (upload !== undefined) return /[\p{L}\p{N}]/u.test(upload.bytes?.toString('utf8') ?? '');
  const url = URL.parse(String(record.url));
  return url !== null && !url.hostname.endsWith('.invalid');
}

/** Path under which presigned addresses lie. It is no operation: only the platform hands it out. */
export const UPLOAD_PATH = '/uploads/';

/** Milliseconds that a presigned address holds. The specification gives no figure. */
const LIFETIME = 15 * 60_000;

/** A PUT to a presigned address, as an object store takes it. */
type Delivery = {
  readonly fileKey: string;
  readonly query: { readonly [name: string]: string | undefined };
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly bytes: Buffer;
};

/** Stores the bytes. The signature stands for the token: a request that brings both is refused. */
export function receiveUpload(platform: Platform, delivery: Delivery): Answer {
  const { fileKey, query, authorization, bytes } = delivery;
  const upload = [...platform.store.sources.values()].find(
    (source) => source.upload?.fileKey === fileKey,
  )?.upload;
  const isKnown = upload !== undefined;
  checkPresigned(platform, `${UPLOAD_PATH}${fileKey}`, query, { authorization, isKnown });
  if (!isKnown) throw missing('Source');
  if (delivery.contentType !== upload.mime)
    throw coded(403, 'signature_mismatch', `The content type must be ${upload.mime}`);
  if (bytes.length !== upload.size)
    throw coded(
      400,
      'size_mismatch',
      `${upload.size} bytes were announced and ${bytes.length} came`,
    );
  upload.bytes = bytes;
  return { status: 200 };
}
