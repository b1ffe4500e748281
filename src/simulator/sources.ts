import type { JsonObject } from '../core/value.ts';
import type { Dialect } from './dialect.ts';
import { type Inventions, inventionsOf } from './inventions.ts';
import type { Platform } from './platform.ts';
import type { KnowledgeBase, Source, Upload } from './store.ts';

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
export function viewSource({ dialect }: Platform, { record }: Source): JsonObject {
  const { states, nothing } = inventionsOf(dialect.inventions);
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

/** A page that nobody named has its address for a name, or its title, or none. */
function sourceName({ pageNames }: Dialect, { name = null, url }: JsonObject) {
  if (url === undefined || name !== url || pageNames === 'url') return name;
  return pageNames === 'title' ? `Page at ${String(url)}` : null;
}

export function sourcesOf({ store }: Platform, baseId: string): readonly Source[] {
  return [...store.sources.values()].filter(({ knowledgeBaseId }) => knowledgeBaseId === baseId);
}

/** A new source of a base, stored, with nothing ingested. */
export function addSource(
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
export function ingest({ dialect, faults }: Platform, source: Source): void {
  source.record = { ...source.record, status: '#working' satisfies State };
  source.pendingReads = dialect.ingestionReads;
  const path = `/v1/knowledge-bases/${source.knowledgeBaseId}/sources/${source.id}`;
  const fault = faults.strike({ operation: 'ingestion', method: '', path });
  source.isDoomed = fault !== undefined || !isReadable(source);
}

/** An ingestion that runs ends when it has been looked at often enough. */
export function settle(platform: Platform, source: Source): void {
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
