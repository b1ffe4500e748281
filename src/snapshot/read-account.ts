import { nameInWords } from '../core/address.ts';
import { UnreadError } from '../core/errors.ts';
import { fieldIn } from '../core/path.ts';
import { type Redacted, redact } from '../core/redact.ts';
import { isObject, type Json, type JsonObject, textOrNull } from '../core/value.ts';
import { listLeaves } from '../diff/leaves.ts';
import { buildFeaturesCall, catalogues } from '../kinds/catalogues.ts';
import { kindNamed, kinds } from '../kinds/index.ts';
import { type Call, isListedWithin, type Kind, type Scope } from '../kinds/kind.ts';
import { readOrganizations } from '../live/entitlements.ts';
import { getScope } from '../plan/natural-key.ts';
import {
  type HistoryEntry,
  historyIfShown,
  type ListedResource,
  type LiveResource,
  type Reader,
} from '../plan/reader.ts';
import { isReadAfterStamp } from '../plan/refresh.ts';
import type { Client } from '../platform/client.ts';
import { getEndpoint } from '../platform/endpoints.ts';
import { ApiError, describeApiError } from '../platform/errors.ts';
import { kindTitle } from '../render/wording.ts';
import type { ResourceState, State } from '../state/model.ts';
import type { ContentRecord, GapRecord, ResourceRecord } from './format.ts';
import { type Earlier, facetsInDoubt, openUnchanged, type Settled } from './unchanged.ts';

type AccountInput = Given & {
  /** True if the resource was read already. */
  readonly hasRead: (kind: string, id: string) => boolean;
};

type Given = ReadOne & {
  readonly client: Pick<Client, 'call' | 'each'>;
  readonly reader: Reader;
  /** The answer of `/v1/me`. */
  readonly me: Json;
  /** The one organization that is wanted; undefined: all that can be found. */
  readonly organization: string | undefined;
  /** Organizations and knowledge bases from the stack and the command line: the platform lists neither. */
  readonly known: {
    readonly organizations: readonly string[];
    readonly knowledgeBases: readonly string[];
    /** Ids in the state, for kinds that cannot be listed. */
    readonly ids: (kind: string) => readonly string[];
  };
  /** Resources that are read at once. */
  readonly ahead: number;
  readonly now: Date;
  /** An earlier snapshot of the account, kept in the same way, of which is taken over what the lists prove to be live. */
  readonly earlier?: Earlier | undefined;
};

/**
 * Everything readable of an account, record by record. What cannot be read is said so in its place: a refusal
 * leaves a gap, but no answer at all is an error, since half a backup is worse than none.
 */
export async function* readAccount(given: Given): AsyncGenerator<ContentRecord> {
  const places = createPlaces(given);
  const input: AccountInput = { ...given, hasRead: places.hasRead };
  yield answer('getMe', {}, input.me, input);
  for await (const record of readEachOrganization(input)) yield places.see(record);
  for await (const record of listedResources(input)) yield places.see(record);
  yield* placedResources(input, places.ids());
  const { organization_id: organizations = [] } = places.ids();
  const calls = questionsAbout(organizations, input.organization ? [] : places.resellers());
  yield* mapAhead(calls, input.ahead, ({ call, about }) => ask(call, about, input));
}

/** Learns from what goes by where else to look: the platform lists neither organizations nor resellers. */
function createPlaces({ organization, known }: Given) {
  const owners = new Set<string>();
  const resellers = new Set<string>();
  /** Resources that others refer to without a stamp: there are few. */
  const read = new Set<string>();
  return {
    see(record: ContentRecord): ContentRecord {
      if (record.type === 'organization') {
        owners.add(record.id);
        if (record.reseller_id !== null) resellers.add(record.reseller_id);
      }
      if (record.type === 'resource' && record.scope.organization_id)
        owners.add(record.scope.organization_id);
      if (record.type === 'resource' && kindNamed(record.kind).stamp === undefined)
        read.add(`${record.kind} ${record.id}`);
      return record;
    },
    hasRead: (kind: string, id: string): boolean => read.has(`${kind} ${id}`),
    resellers: (): readonly string[] => [...resellers],
    /** Ids by the scope field that they stand in. */
    ids: (): Readonly<Record<string, readonly string[]>> => ({
      organization_id:
        organization === undefined
          ? [...new Set([...owners, ...known.organizations])]
          : [organization],
      knowledge_base_id: known.knowledgeBases,
    }),
  };
}

/** Resources whose list needs no place; where it is refused, those whose ids are known otherwise. */
async function* listedResources(input: AccountInput): AsyncGenerator<ContentRecord> {
  const references = createReferences();
  const unlisted: { readonly kind: Kind; readonly read: ReadonlySet<string> }[] = [];
  for (const kind of kinds.filter((one) => !isListedWithin(one))) {
    const { organization: wanted } = input;
    const isNarrowed = wanted !== undefined && kind.scope.includes('organization_id');
    const scope = isNarrowed ? { organization_id: wanted } : {};
    const read = new Set<string>();
    const onRefused = () => unlisted.push({ kind, read });
    for await (const record of resourcesIn(kind, scope, input, onRefused)) {
      if (record.type === 'resource') read.add(record.id);
      if (record.type === 'resource' && unlisted.length > 0) references.see(record);
      yield record;
    }
  }
  for (const { kind, read } of unlisted) {
    const ids = new Set([...input.known.ids(kind.name), ...references.listIds(kind.name)]);
    // The part of a list before it broke off is in the snapshot already.
    const unread = [...ids].filter((id) => !read.has(id));
    const found = unread.map((id) => ({ id, scope: {}, record: {} }));
    yield* withoutOthers(mapResources(kind, found, input), input);
  }
}

/** Resources that are listed within an organization or a knowledge base. */
async function* placedResources(
  input: AccountInput,
  places: Readonly<Record<string, readonly string[]>>,
): AsyncGenerator<ContentRecord> {
  for (const kind of kinds.filter(isListedWithin)) {
    const [field = ''] = kind.scope;
    const ids = places[field] ?? [];
    if (ids.length === 0) yield { type: 'gap', of: kindTitle(kind.name), why: unnamed(field) };
    for (const id of ids) yield* withoutOthers(resourcesIn(kind, { [field]: id }, input), input);
  }
}

/**
 * Without what is another organization's than the one that is wanted: whose an id or a knowledge base is only its
 * resource tells. A list that was left out of was not read to its end.
 */
async function* withoutOthers(
  records: AsyncIterable<ContentRecord>,
  { organization: wanted }: AccountInput,
): AsyncGenerator<ContentRecord> {
  let isLess = false;
  for await (const record of records) {
    const owner =
      record.type === 'resource' && (record.scope.organization_id || record.record.organization_id);
    const isOthers = wanted !== undefined && typeof owner === 'string' && owner !== wanted;
    isLess ||= isOthers;
    if (!isOthers && !(isLess && record.type === 'list')) yield record;
  }
}

/** Organizations without an agent are only in the billing report, which scoped keys may not read. */
async function* readEachOrganization(input: AccountInput): AsyncGenerator<ContentRecord> {
  const { client, now, organization: wanted } = input;
  const found = await readOrganizations(client, now);
  if (found.type === 'unanswered') {
    const why = `${found.why}; those of its agents and of the stack are in it`;
    yield { type: 'gap', of: 'names of organizations', why };
    return;
  }
  for (const one of found.value)
    if (wanted === undefined || one.id === wanted) yield { type: 'organization', ...one };
}

/** Why nothing of a kind is there that the platform lists only within a place. */
function unnamed(field: string): string {
  const place = `${nameInWords(field)}s`;
  return `the platform does not list ${place}, and none is known here`;
}

/** Every resource of a kind in a scope, and the gap that its list leaves. */
async function* resourcesIn(
  kind: Kind,
  scope: Scope,
  input: AccountInput,
  onRefused: () => void = () => {},
): AsyncGenerator<ContentRecord> {
  const refusals: string[] = [];
  yield* mapResources(
    kind,
    listed(kind, scope, input, (why) => refusals.push(why)),
    input,
  );
  const [why] = refusals;
  if (why === undefined) yield { type: 'list', kind: kind.name, scope };
  else {
    onRefused();
    yield { type: 'gap', of: formatScope(kind, scope), why };
  }
}

async function* mapResources(
  kind: Kind,
  items: AsyncIterable<ListedResource> | Iterable<ListedResource>,
  input: AccountInput,
): AsyncGenerator<ContentRecord> {
  const { ahead, earlier, sensitive, hasRead } = input;
  const read = (item: ListedResource) => readResource(kind, item, input);
  if (earlier === undefined || kind.stamp === undefined) {
    for await (const records of mapAhead(items, ahead, read)) yield* records;
    return;
  }
  const keep = (document: JsonObject) => redactKept(kind, document, sensitive);
  const unchanged = openUnchanged(kind, earlier, { keep, hasRead });
  for await (const records of mapAhead(unchanged.changed(items), ahead, read)) yield* records;
  const takeOver = ({ item, record }: Settled) =>
    record === undefined ? read(item) : takeOverRecord(kind, record, input);
  for await (const records of mapAhead(unchanged.others(), ahead, takeOver)) yield* records;
}

/**
 * Items page by page where the list is certain to be there; an assumed one is tried as planning does. Ends where the
 * platform refuses the list, or does not have it: earlier items count.
 */
async function* listed(
  kind: Kind,
  scope: Scope,
  { client, reader }: AccountInput,
  onRefused: (why: string) => void,
): AsyncGenerator<ListedResource> {
  const call = kind.list(scope);
  if (!getEndpoint(call.operation).documented) {
    const items = await reader.list(kind, scope);
    if (items === undefined) onRefused('the platform has no list of them');
    else yield* items;
    return;
  }
  try {
    for await (const record of client.each(call)) {
      if (typeof record.id === 'string') yield { id: record.id, scope, record };
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
    onRefused(describeApiError(error));
  }
}

/** `sources of knowledge base 0d0e…`, `custom voices of organization 3c6e…`. */
function formatScope({ name }: Kind, scope: Scope): string {
  const [place] = Object.entries(scope);
  const what = nameInWords(name);
  if (place === undefined) return `the list of kind ${what}`;
  return `the list of kind ${what} in ${nameInWords(place[0])} ${place[1]}`;
}

type About = { readonly organization_id?: string; readonly reseller_id?: string };

/** Features, models and providers, of the account and of everything below it. */
function* questionsAbout(
  organizations: readonly string[],
  resellers: readonly string[],
): Generator<{ readonly call: Call; readonly about: About }> {
  const lists = Object.values(catalogues);
  yield { call: buildFeaturesCall(null), about: {} };
  for (const { list } of lists) yield { call: list(null), about: {} };
  for (const id of resellers) {
    const call = { operation: buildFeaturesCall(null).operation, query: { reseller_id: id } };
    yield { call, about: { reseller_id: id } };
  }
  for (const id of organizations) {
    const about = { organization_id: id };
    yield { call: buildFeaturesCall(id), about };
    for (const { list, isOrganizations } of lists)
      if (isOrganizations) yield { call: list(id), about };
  }
}

async function ask(call: Call, about: About, input: AccountInput): Promise<ContentRecord> {
  const response = await orRefusal(input.client.call(call));
  if (!(response instanceof ApiError)) return answer(call.operation, about, response, input);
  const [place] = Object.entries(about);
  const where = place === undefined ? '' : ` of ${nameInWords(place[0])} ${place[1]}`;
  return { type: 'gap', of: `${call.operation}${where}`, why: describeApiError(response) };
}

function answer(
  operation: string,
  about: About,
  response: Json,
  { sensitive }: ReadOne,
): ContentRecord {
  const { organization_id = null, reseller_id = null } = about;
  const kept =
    sensitive || !isObject(response)
      ? response
      : redact({}, response, { how: 'withhold' }).document;
  return { type: 'answer', operation, organization_id, reseller_id, answer: kept };
}

/** Returns the answer, or the error of a refusal; throws every other error. */
async function orRefusal(asking: Promise<Json>): Promise<Json | ApiError> {
  try {
    return await asking;
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}

/** A key that is no longer taken is refused everything: that is no gap. */
function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status !== 401;
}

/**
 * Yields the result of each item, in their order, while up to `ahead` of them are worked on: so that requests
 * overlap, and no more is held in memory than those.
 */
async function* mapAhead<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const begun: Promise<R>[] = [];
  const next = () => begun.shift() as Promise<R>;
  for await (const item of items) {
    const working = work(item);
    // Its failure is thrown when its turn comes.
    working.catch(() => {});
    begun.push(working);
    if (begun.length >= ahead) yield await next();
  }
  while (begun.length > 0) yield await next();
}

/** Remembers which resources others refer to: where a kind has no list, they are found so (DESIGN §9). */
function createReferences() {
  const ids = new Map<string, Set<string>>();
  return {
    see({ kind, record }: ResourceRecord): void {
      const { schema } = kindNamed(kind);
      for (const leaf of listLeaves(schema, record).leaves.values()) {
        const referred = leaf.schema['x-ref'];
        if (referred === undefined || typeof leaf.value !== 'string' || leaf.value === '') continue;
        const known = ids.get(referred) ?? new Set();
        ids.set(referred, known.add(leaf.value));
      }
    },
    listIds: (kind: string): readonly string[] => [...(ids.get(kind) ?? [])],
  };
}

/** How one resource is kept. */
type ReadOne = {
  /** True if sensitive values are kept, as in an encrypted file. */
  readonly sensitive: boolean;
  /** The stack's address of a resource, and its state. */
  readonly owner: (
    kind: string,
    id: string,
  ) => { readonly address: string; readonly state: ResourceState } | undefined;
};

/** A resource whole, or what of it could not be read. Nothing where it went away meanwhile. */
async function readResource(
  kind: Kind,
  item: ListedResource,
  input: AccountInput,
): Promise<readonly ContentRecord[]> {
  const { reader } = input;
  const named = `${kind.name} ${item.id}`;
  const gaps: GapRecord[] = [];
  const apart = new Set(kind.facets.flatMap(({ field, get }) => (get ? [field] : [])));
  const live = await reader.read(kind, item, apart).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status === 401) throw error;
    gaps.push({ type: 'gap', of: named, why: describeApiError(error) });
  });
  if (live === undefined) return gaps;
  gaps.push(...unreadParts(live, named));
  if (live.extent === 'nothing') {
    return [{ type: 'gap', of: named, why: 'the platform cannot be asked for it' }];
  }
  const { history, unread } = await readVersion(kind, live.id, reader);
  if (unread !== undefined) gaps.push({ type: 'gap', of: `history of ${named}`, why: unread });
  return [...gaps, toRecord(kind, live, apart, history, input)];
}

function unreadParts({ unread = {} }: LiveResource, named: string): readonly GapRecord[] {
  return Object.entries(unread).map(([field, why]) => ({
    type: 'gap',
    of: `${field} of ${named}`,
    why,
  }));
}

/** The newest history entry, unless its time tells later which one it was (`updated_at`). */
async function readVersion(
  kind: Kind,
  id: string,
  reader: Reader,
): Promise<{ readonly history: HistoryEntry | null; readonly unread?: string | undefined }> {
  if (kind.history === undefined) return { history: null };
  try {
    if (await reader.isHistoryDated(kind, id)) return { history: null };
  } catch (error) {
    // The history that was asked may be another one's.
    if (!(error instanceof UnreadError)) throw error;
  }
  const { entries, unread } = await historyIfShown(reader, kind, id, 1);
  return { history: entries[0] ?? null, unread };
}

/** An earlier record that is still live, with the parts that may be otherwise read again. */
async function takeOverRecord(
  kind: Kind,
  earlier: ResourceRecord,
  { reader, sensitive, owner }: AccountInput,
): Promise<readonly ContentRecord[]> {
  const { id, scope, record } = earlier;
  const known = owner(kind.name, id);
  const own = { address: known?.address ?? null, state: known?.state ?? null };
  const inDoubt = facetsInDoubt(kind, earlier);
  if (inDoubt.size === 0) return [{ ...earlier, ...own }];
  const live = await reader.read(kind, { id, scope, record, isKnown: true }, inDoubt);
  const isInDoubt = (path: string) => inDoubt.has(fieldIn(path));
  const parts = Object.entries(live?.document ?? {}).filter(([field]) => inDoubt.has(field));
  const kept = redactKept(kind, Object.fromEntries(parts), sensitive);
  const others = Object.entries(earlier.facets).filter(([field]) => !inDoubt.has(field));
  const withheld = earlier.withheld.filter((path) => !isInDoubt(path));
  return [
    ...(live === undefined ? [] : unreadParts(live, `${kind.name} ${id}`)),
    {
      ...earlier,
      ...own,
      facets: { ...Object.fromEntries(others), ...kept.document },
      withheld: [...withheld, ...kept.withheld],
    },
  ];
}

/** A document as a snapshot keeps it. */
function redactKept({ schema }: Kind, document: JsonObject, sensitive: boolean): Redacted {
  return sensitive ? { document, withheld: [] } : redact(schema, document, { how: 'withhold' });
}

function toRecord(
  kind: Kind,
  live: LiveResource,
  apart: ReadonlySet<string>,
  history: HistoryEntry | null,
  { sensitive, owner }: ReadOne,
): ResourceRecord {
  const { id, scope, extent, record, document } = live;
  const parts = Object.entries(document).filter(([field]) => apart.has(field));
  const kept = redactKept(kind, record, sensitive);
  const secret = redactKept(kind, Object.fromEntries(parts), sensitive);
  const isCertain =
    kind.stamp !== undefined &&
    extent === 'whole' &&
    isReadAfterStamp(live, textOrNull(record.updated_at));
  const known = owner(kind.name, id);
  return {
    type: 'resource',
    kind: kind.name,
    id,
    scope: getScope(kind, { ...scope, ...record }),
    extent: extent === 'listed' ? 'listed' : 'whole',
    record: kept.document,
    ...(isCertain && { certain: true }),
    facets: secret.document,
    history,
    withheld: [...kept.withheld, ...secret.withheld],
    address: known?.address ?? null,
    state: known?.state ?? null,
  };
}

/** Looks up the resources of a state by kind and id, and its ids of a kind. */
export function recordedIn({ resources }: Pick<State, 'resources'>) {
  const recorded = Object.entries(resources);
  const owners = new Map(
    recorded.map(([address, state]) => [`${state.kind} ${state.id}`, { address, state }]),
  );
  return {
    owner: (kind: string, id: string) => owners.get(`${kind} ${id}`),
    ids: (kind: string) => recorded.flatMap(([, one]) => (one.kind === kind ? [one.id] : [])),
  };
}
