import schema from '../../schemas/kinds/knowledge_source.schema.json' with { type: 'json' };
import { ConflictError } from '../core/errors.ts';
import { inSeconds, isObject, type Json, type JsonObject, millisecondsIn } from '../core/value.ts';
import type { Begun, Created, Draft, Io, Kind } from './kind.ts';
import { getData, getText } from './making.ts';

/** The requests of a document after its declaration, in their order. */
const UPLOAD = 'upload';
const ENQUEUE = 'enqueueKnowledgeSource';

/** Path parameters of a knowledge base. */
type Place = Readonly<Record<string, string>>;

/** What tells a page from a document, and of a document what it is (Knowledge base sources). */
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

/** What the platform has already is taken over (`duplicate_source`), unless it is another resource of the stack. */
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
 * A source is ingested where it is `active` and has chunks or a time of ingestion: the specification shows no other
 * status, nor when a source gets this one (Knowledge base source).
 */
function lacking({ status, chunk_count: chunks, last_synced_at: last }: JsonObject) {
  const hasChunks = typeof chunks === 'number' && chunks > 0;
  if (status === 'active' && (hasChunks || typeof last === 'string')) return undefined;
  const seen = [
    `status ${typeof status === 'string' ? `"${status}"` : 'not told'}`,
    hasChunks ? `${chunks} chunks` : 'no chunks',
    typeof last === 'string' ? `ingested ${inSeconds(last)}` : 'no time of ingestion',
  ];
  return `the platform does not confirm its ingestion (${seen.join(', ')})`;
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
  lacking,
  due: ({ last_synced_at: last }, { reingest_after: limit }, now) => {
    if (typeof limit !== 'string' || typeof last !== 'string') return undefined;
    const allowed = millisecondsIn(limit) ?? 0;
    return now.getTime() - Date.parse(last) > allowed
      ? `last ingested ${inSeconds(last)}, which is more than ${limit} ago`
      : undefined;
  },
  facets: [],
};
