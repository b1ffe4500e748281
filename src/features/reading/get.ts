import type { Context } from '../../console/context.ts';
import { type ReadFlags, show, stampDocument, streamCsv, streamJson } from '../../console/show.ts';
import { getKind, nameInWords } from '../../core/address.ts';
import { quoted } from '../../core/command-line.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import { mask } from '../../core/redact.ts';
import { type FieldSchema, memberSchema } from '../../core/schema.ts';
import type { JsonObject } from '../../core/value.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind, Unready } from '../../kinds/kind.ts';
import { getData } from '../../kinds/making.ts';
import { renderRecordsText, renderRecordText } from '../../render/read/records.ts';
import type { CsvColumn, Field, Form } from '../../render/read/table.ts';
import { kindTitle } from '../../render/wording.ts';
import { type PlatformSession, withPlatform } from '../../run/platform-session.ts';
import {
  type Found,
  findResource,
  type Listed,
  listAll,
  listScopes,
  namingFields,
  onPlatform,
  organizationNames,
  readAddress,
  type ScopeFlags,
} from './find.ts';

export type GetFlags = ReadFlags & ScopeFlags;

type UnreadyRecord = Unready & { readonly id: string };

/**
 * `callsheet get KIND [ID|ADDRESS|NAME]`, `get ADDRESS`: what the platform has of a kind, or one of it whole. `others`:
 * what else `get` reads, by commands of their own.
 */
export async function get(
  what: string,
  resource: string | undefined,
  flags: GetFlags,
  context: Context,
  others: readonly string[] = [],
): Promise<ExitCode> {
  const { kind, wanted } = askedFor(what, resource, others);
  return withPlatform(flags, context, async (session) => {
    if (wanted === undefined) await showList(kind, flags, session, context);
    else await showOne(kind, wanted, flags, session, context);
    return EXIT.done;
  });
}

async function showList(
  kind: Kind,
  { format, ...flags }: GetFlags,
  session: PlatformSession,
  context: Context,
): Promise<void> {
  const listed = await listAll(kind, await listScopes(kind, flags, session), session);
  const unready = listed.flatMap(({ item }) => findUnready(kind, item));
  // One at a time: a fleet as a single text would take as much memory again.
  const records = maskedRecords(kind, listed);
  if (format === 'json') {
    const head = stampDocument('callsheet-records', {
      kind: kind.name,
      ...unreadyPart(kind, unready),
    });
    return streamJson(head, records, context);
  }
  if (format === 'csv') return streamCsv(csvColumns(kind), records, context);
  const list = {
    kind: kind.name,
    fields: listFields(kind),
    records: [...records],
    groupedBy: kind.scope[0],
    names: organizationNames(session),
    unready,
  };
  const { terminal } = context;
  terminal.out(renderRecordsText(list, terminal.render));
}

function* maskedRecords(kind: Kind, listed: readonly Listed[]): Generator<JsonObject> {
  for (const { item, scope } of listed) yield mask(kind.schema, { ...scope, ...item });
}

async function showOne(
  kind: Kind,
  wanted: string,
  flags: GetFlags,
  session: PlatformSession,
  context: Context,
): Promise<void> {
  const found = await findResource(kind, wanted, flags, session);
  const noun = nameInWords(kind.name);
  const whole = await onPlatform(noun, found, () => readWhole(kind, found, session));
  const record: JsonObject = mask(kind.schema, whole);
  const unready = findUnready(kind, whole);
  const part = unreadyPart(kind, unready);
  const document = stampDocument('callsheet-record', { kind: kind.name, data: record, ...part });
  const table = { columns: csvColumns(kind), records: [record] };
  // In the order of its schema.
  const members = Object.keys(kind.schema.properties ?? {});
  show(flags, document, (to) => renderRecordText(record, members, to, unready), context, table);
}

/** That a record is not ready, as documents have it, and in words. */
function findUnready(kind: Kind, record: JsonObject): readonly UnreadyRecord[] {
  const found = kind.unready?.(record);
  return found === undefined ? [] : [{ id: String(record.id), ...found }];
}

/** Kinds that are ready once they are made have no such member. */
function unreadyPart({ unready: find }: Kind, records: readonly UnreadyRecord[]) {
  return find === undefined ? {} : { unready: records.map(({ says: _, ...one }) => one) };
}

/**
 * The columns of a list of a kind: what names a resource, its id, and what tells it from others, under the
 * names that the configuration uses too.
 */
function listFields(kind: Kind): readonly Field[] {
  const [name = 'name', ...aliases] = namingFields(kind);
  const others = kind.columns.map((path, index): Field => {
    const form = getForm(memberSchema(kind.schema, kind.schema, path));
    const field = { path, title: path, form, drop: index + 1 };
    return form === 'text' ? { ...field, least: 12 } : field;
  });
  return [
    { path: name, title: name, least: 24 },
    { path: 'id', title: 'id' },
    ...others,
    ...aliases.map((path): Field => ({ path, title: path, least: 24, drop: others.length + 1 })),
  ];
}

/** The same in CSV, with the owner. */
function csvColumns(kind: Kind): readonly CsvColumn[] {
  return [...listFields(kind), ...kind.scope.map((path) => ({ path }))];
}

function getForm({ type, format }: FieldSchema): Form {
  const types = [type ?? []].flat();
  if (format === 'date-time') return 'time';
  return types.includes('integer') || types.includes('number') ? 'number' : 'text';
}

/** Returns the kind and, if one resource is asked for, that resource. */
function askedFor(what: string, resource: string | undefined, others: readonly string[]) {
  const address = readAddress(what);
  if (address === undefined) return { kind: kindCalled(what, others), wanted: resource };
  if (resource === undefined)
    return { kind: kindCalled(getKind(address), others), wanted: address };
  throw new CallsheetError('usage', `${what} is one resource, and ${resource} another`, {
    hint: `Name one of them: \`callsheet get ${quoted(what)}\``,
  });
}

/**
 * A kind by any name that it goes by: `agent`, `agents`, `retry-policies`, `voices`. Throws
 * `CallsheetError('usage')` where there is none.
 */
function kindCalled(given: string, readable: readonly string[]): Kind {
  const wanted = given.toLowerCase().replaceAll('-', '_');
  const named = kinds.find((kind) => listNames(kind).includes(wanted));
  if (named !== undefined) return named;
  // The last word is enough where it is one kind's alone: `voices`, but not `templates`.
  const [ending, ...others] = kinds.filter((kind) =>
    listNames(kind).some((name) => name.endsWith(`_${wanted}`)),
  );
  if (ending !== undefined && others.length === 0) return ending;
  const near = CALLED[wanted] ?? nearest(wanted, [...kinds.flatMap(listNames), ...readable]);
  const all = [...kinds.map(formatPlural), ...readable].join(', ');
  const meant = near === undefined ? `it reads ${all}.` : `did you mean ${near}?`;
  throw new CallsheetError(
    'usage',
    `\`callsheet get\` does not know ${JSON.stringify(given)}: ${meant}`,
  );
}

/** Other names of theirs. */
const CALLED: Readonly<Record<string, string>> = {
  bills: 'usage',
  billing: 'usage',
  logs: 'calls',
  call_logs: 'calls',
  stt: 'stt_providers',
  llm_models: 'models',
};

function listNames(kind: Kind): readonly string[] {
  return [kind.name, kind.section, formatPlural(kind)];
}

/** `knowledge_sources` of `knowledge_source`. */
function formatPlural({ name }: Kind): string {
  return kindTitle(name).replaceAll(' ', '_');
}

/** Reads a resource whole. Throws `CallsheetError('api')` where it is not there. */
async function readWhole(
  kind: Kind,
  { id, scope, item }: Found,
  { client }: PlatformSession,
): Promise<JsonObject> {
  if (kind.get === undefined) {
    const record = item ?? (await client.list(kind.list(scope))).find((one) => one.id === id);
    if (record !== undefined) return record;
    throw new CallsheetError('api', `the platform has no ${kind.name} ${id} in its list`);
  }
  return getData(await client.call(kind.get(id)));
}
