import schema from '../../schemas/kinds/knowledge_source.schema.json' with { type: 'json' };
import { ConflictError, clip } from '../core/errors.ts';
import { parseTime } from '../core/moment.ts';
import { inSeconds, isObject, type Json, type JsonObject, millisecondsIn } from '../core/value.ts';
import type { Begun, Created, Draft, Io, Kind, Unready } from './kind.ts';
import { getData, getText } from './making.ts';

/** The requests of a document after its declaration, in their order. */
const UPLOAD = 'upload';
const ENQUEUE = 'enqueueKnowledgeSource';

/** Path parameters of a knowledge base. */
type Place = Readonly<Record<string, string>>;

/** Returns the members that tell a page from a document, and describe the document (Knowledge base sources). */
function implied({ files: { file }, again }: Draft): JsonObject {
  const type: JsonObject =
    file === undefined
      ? { sourceType: 'url' }
      : {
          sourceType: 'file',
          fileName: file.path.split('/').at(-1) ?? file.path,
          fileMime: file.mime,
          fileSize: file.size,
          contentHash: file.sha256,
        };
  return again ? { ...type, forceReingest: true } : type;
}

/** The knowledge base stands in the path. */
function buildBody(draft: Draft): JsonObject {
  const { knowledge_base_id: _, ...fields } = draft.body;
  return { ...fields, ...implied(draft) };
}

/** A page: the platform crawls it. `forceReingest` ingests one that exists afresh (Knowledge base sources). */
async function createPage(draft: Draft, path: Place, io: Io): Promise<Created> {
  const answer = await io.call({
    operation: 'createKnowledgeSource',
    path,
    body: buildBody(draft),
  });
  return { id: getText(getData(answer), 'sourceId') };
}

/** A document: declared, uploaded to a presigned address, then queued for ingestion (Knowledge base sources). */
async function createDocument(draft: Draft, path: Place, io: Io): Promise<Created> {
  const file = draft.files.file;
  if (file === undefined) throw new Error('a document source needs its file');
  const body = buildBody(draft);
  const answer = getData(await io.call({ operation: 'createKnowledgeSource', path, body }));
  const id = getText(answer, 'sourceId');
  await io.upload(getText(answer, 'presignedUrl'), file);
  await io.call({ operation: ENQUEUE, path: { ...path, sourceId: id } });
  return { id };
}

/** Queues a document whose bytes have arrived: declared again it would stand beside itself. */
async function finishDocument({ id }: Begun, path: Place, io: Io): Promise<Created> {
  await io.call({ operation: ENQUEUE, path: { ...path, sourceId: id } });
  return { id };
}

/** Takes over what the platform has already (`duplicate_source`), unless it is another resource of the stack. */
async function create(draft: Draft, io: Io): Promise<Created> {
  const path = { knowledgeBaseId: draft.scope.knowledge_base_id ?? '' };
  const make = draft.files.file === undefined ? createPage : createDocument;
  if (draft.begun?.next === ENQUEUE) return finishDocument(draft.begun, path, io);
  try {
    return await make(draft, path, io);
  } catch (error) {
    const existing = error instanceof ConflictError ? existingIn(error.body) : undefined;
    if (existing === undefined) throw error;
    if (draft.isTaken(existing.id)) return make({ ...draft, again: true }, path, io);
    const remark = `the knowledge base already has its content, as ${existing.name}: that source is adopted`;
    return { id: existing.id, isFound: true, remark };
  }
}

/** The source that stands in the way, where the refusal names it. */
function existingIn(body: Json | undefined) {
  const details = isObject(body) && body.error === 'duplicate_source' ? body.details : undefined;
  const existing = isObject(details) ? details.existingSource : undefined;
  if (!isObject(existing) || typeof existing.id !== 'string') return undefined;
  const { id, name } = existing;
  return { id, name: typeof name === 'string' ? name : id };
}

/**
 * Words of a status, by what they are taken to say (assumption `knowledge_source.states`). The specification shows `active`
 * alone. A word that could also be said of a document whose bytes are awaited, such as `pending`, is not among them.
 */
const WORDS: Readonly<Record<'failed' | 'running', ReadonlySet<string>>> = {
  failed: new Set(['failed', 'failure', 'error', 'errored']),
  running: new Set([
    ...['processing', 'ingesting', 'indexing', 'crawling', 'embedding', 'syncing', 'running'],
    ...['progress', 'queued', 'enqueued'],
  ]),
};

/** Characters of a fact that the platform returns, since sentences quote it. */
const LONGEST_FACT = 100;

/** A status that says of both, or of neither, is not understood. */
function parsePhase(status: string): Unready['phase'] {
  const words = status.toLowerCase().split(/[^a-z]+/);
  const [isFailed, isRunning] = [WORDS.failed, WORDS.running].map((known) =>
    words.some((word) => known.has(word)),
  );
  if (isFailed === isRunning) return 'unknown';
  return isFailed === true ? 'failed' : 'running';
}

const CLAUSES: Readonly<Record<Unready['phase'], string>> = {
  failed: 'its ingestion failed',
  running: 'its ingestion is running',
  unknown: 'the platform does not confirm its ingestion',
};

/**
 * A source is ingested where it is `active` and has chunks or a time of ingestion: the specification shows no other
 * status, nor when a source gets this one (Knowledge base source).
 */
function unready(record: JsonObject): Unready | undefined {
  const { chunk_count: chunks } = record;
  const [status, last, made] = [record.status, record.last_synced_at, record.created_at].map(
    (value) => (typeof value === 'string' ? clip(value, LONGEST_FACT) : null),
  ) as [string | null, string | null, string | null];
  const hasChunks = typeof chunks === 'number' && chunks > 0;
  if (status === 'active' && (hasChunks || last !== null)) return undefined;
  const phase = parsePhase(status ?? '');
  const seen = [
    status === null ? 'status not returned' : `status "${status}"`,
    hasChunks ? `${chunks} chunks` : 'no chunks',
    ...(last === null ? ['no time of ingestion'] : [`last ingested ${inSeconds(last)}`]),
    ...(made === null ? [] : [`added ${inSeconds(made)}`]),
  ];
  return { phase, status, since: last ?? made, says: `${CLAUSES[phase]} (${seen.join(', ')})` };
}

/**
 * A source is due once it is older than `reingest_after`. One that was never ingested is as old as its record; one that a
 * run asked for since is as young as that, since the platform may show the earlier time until it is done.
 */
function due(
  { last_synced_at: last, created_at: made }: JsonObject,
  { reingest_after: limit }: JsonObject,
  now: Date,
  asked?: string,
): string | undefined {
  const at = [last, made].find((value) => typeof value === 'string');
  if (typeof limit !== 'string' || typeof at !== 'string') return undefined;
  const allowed = millisecondsIn(limit) ?? 0;
  const isOld = (time: string) => now.getTime() - parseTime(time) > allowed;
  if (!isOld(at) || (asked !== undefined && !isOld(asked))) return undefined;
  const what = at === last ? 'last ingested' : 'not ingested since it was added';
  return `${what} ${inSeconds(at)}, which is more than ${limit} ago`;
}

/**
 * Pages and documents of a knowledge base. There is no endpoint that changes or deletes one, so a
 * document that is uploaded again stands beside its older versions: the newest of a name is the source.
 */
export const knowledgeSource: Kind = {
  name: 'knowledge_source',
  section: 'knowledge_bases',
  nested: { key: 'sources', inherit: { id: 'knowledge_base_id' } },
  schema,
  operations: {
    read: ['listKnowledgeSources'],
    create: ['createKnowledgeSource'],
    update: [],
    delete: [],
    revert: [],
  },
  naturalKey: [
    ['knowledge_base_id', 'url'],
    ['knowledge_base_id', 'name'],
  ],
  tie: 'newest',
  refusesTwins: false,
  scope: ['knowledge_base_id'],
  columns: ['status', 'source_type', 'chunk_count', 'last_synced_at'],
  list: ({ knowledge_base_id = '' }) => ({
    operation: 'listKnowledgeSources',
    path: { knowledgeBaseId: knowledge_base_id },
  }),
  document: ({ name, url, ...record }, scope) =>
    url ? { ...record, ...scope, url } : { ...record, ...scope, name: name ?? null },
  implied,
  create,
  making: [
    {
      name: 'page',
      when: 'url',
      requests: [{ operation: 'createKnowledgeSource', resumed: 'it is ingested again' }],
    },
    {
      name: 'document',
      requests: [
        { operation: 'createKnowledgeSource', resumed: 'it is declared and uploaded again' },
        // The presigned address came with the declaration.
        { operation: UPLOAD, isBound: true, resumed: 'it is uploaded again' },
        { operation: ENQUEUE, resumed: 'it is queued for ingestion' },
      ],
    },
  ],
  unready,
  due,
  facets: [],
};
