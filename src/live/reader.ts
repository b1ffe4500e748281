import { CallsheetError, UnreadError } from '../core/errors.ts';
import { parseTime } from '../core/moment.ts';
import { isObject, type Json, type JsonObject, textOrNull } from '../core/value.ts';
import { canonicaliseRecord } from '../core/walk.ts';
import { type Call, type Facet, facetsRuledOut, type Kind, type Scope } from '../kinds/kind.ts';
import { getData, listIn, recordIn } from '../kinds/making.ts';
import { type Edits, editsSince, isAhead, type Since } from '../plan/drift.ts';
import type {
  Extent,
  HistoryEntry,
  Lack,
  ListedResource,
  LiveResource,
  Reader,
} from '../plan/reader.ts';
import type { Client } from '../platform/client.ts';
import { type Endpoints, findRefusal, getEndpoint } from '../platform/endpoints.ts';
import { ApiError, describeApiError, isNotFound, NOT_THE_PLATFORM } from '../platform/errors.ts';
import { createEntitlements } from './entitlements.ts';

/**
 * `live/` reads what is on the platform: lists, whole resources, facets and history, in the shape that
 * planning compares. It writes nothing.
 */

/** The part of one resource that was found. */
type Found = { readonly record: JsonObject; readonly extent: Extent };

const NOTHING: Found = { record: {}, extent: 'nothing' };

/**
 * A reader over a client. Lists are read once and kept; everything else is read afresh. Where a call that
 * only an assumption puts there is refused or turns out to be absent, it makes do without.
 *
 * @param me what `/v1/me` answered, or is going to, where it was asked already
 */
export function createReader(client: Client, me?: Json | Promise<Json>): Reader {
  let entitlements = createEntitlements(client, me);
  const lists = new Map<string, Promise<readonly ListedResource[] | undefined>>();
  const lacks = openLacks(client.endpoints);

  const list: Reader['list'] = (kind, scope, fresh = false, fields = undefined) => {
    const call = kind.list(scope);
    if (lacks.of(call.operation) !== undefined) return Promise.resolve(undefined);
    const key = JSON.stringify([call, fields]);
    const known = lists.get(key);
    if (known !== undefined && !fresh) return known;
    const reading = client.list(call, fields).then(
      (items) => listed(kind, scope, items),
      (error: unknown) => {
        if (lacks.learn(call.operation, error)) return undefined;
        throw outOfReach(kind, scope, error) ?? error;
      },
    );
    lists.set(key, reading);
    // A failed reading is not kept.
    reading.catch(() => lists.delete(key));
    return reading;
  };

  /** A resource's record: through its own endpoint or, where there is none, from its list. */
  async function find(kind: Kind, at: Parameters<Reader['read']>[1]): Promise<Found | undefined> {
    if (kind.get === undefined) return findListed(kind, at, 'whole');
    const call = kind.get(at.id);
    if (lacks.of(call.operation) !== undefined) return findListed(kind, at, 'listed');
    try {
      return { record: getData(await client.call(call)), extent: 'whole' };
    } catch (error) {
      if (lacks.mayBeLack(call.operation, error)) return findInList(kind, at, call, error);
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function findListed(
    kind: Kind,
    { id, scope, record, isUnlisted = false }: Parameters<Reader['read']>[1],
    extent: Extent,
  ): Promise<Found | undefined> {
    if (isUnlisted) return undefined;
    if (lacks.of(kind.list(scope).operation) !== undefined) return NOTHING;
    // If the kind has a read of its own, the list was read for a part of its fields alone.
    if (record !== undefined && kind.get === undefined) return { record, extent };
    const items = await list(kind, scope, record === undefined);
    if (items === undefined) return NOTHING;
    const item = items.find((one) => one.id === id);
    return item && { record: item.record, extent };
  }

  /** After a 404 or 405 that means either that the resource is gone or that there is no such endpoint. */
  async function findInList(
    kind: Kind,
    { id, scope, isUnread = false, isUnlisted = false }: Parameters<Reader['read']>[1],
    { operation }: Call,
    error: unknown,
  ): Promise<Found | undefined> {
    if (isUnlisted) return undefined;
    const items = await list(kind, scope, true);
    if (items === undefined) {
      if (isNotFound(error) && !isUnread) return undefined;
      lacks.learn(operation, error);
      return NOTHING;
    }
    const item = items.find((one) => one.id === id);
    if (item === undefined) return undefined;
    lacks.learn(operation, error);
    return { record: item.record, extent: 'listed' };
  }

  let isDated: boolean | undefined;
  let asking: Promise<unknown> | undefined;
  const history: Reader['history'] = async (kind, id, limit) => {
    const entries = await readHistory(client, kind, id, limit).catch((error: unknown) => {
      throw new UnreadError(`its history cannot be read: ${describeAnswer(error)}`, error);
    });
    if (entries.length > 0) isDated = entries.every(({ at }) => at !== null);
    return entries;
  };

  return {
    list,
    async read(kind, at, facets) {
      // The reading that follows is no older than the platform's last answer.
      const readAt = client.platformTime();
      const { isFrugal = false, isKnown = false, record: given } = at;
      const found: Found | undefined =
        isKnown && given !== undefined ? { record: given, extent: 'whole' } : await find(kind, at);
      if (found === undefined) return undefined;
      const { extent } = found;
      const record = canonicaliseRecord(kind.schema, found.record);
      const { id, scope } = at;
      if (extent === 'nothing') return { id, scope, extent, document: {}, record };
      const ruledOut =
        isFrugal && extent === 'whole' ? facetsRuledOut(kind, record) : new Set<string>();
      const wanted = kind.facets.filter(({ field }) => facets.has(field));
      const chosen = wanted.filter(({ field }) => !ruledOut.has(field));
      const unread: Record<string, string> = {};
      const values = await Promise.all(
        chosen.map(async (facet) => {
          try {
            return await readFacet(client, facet, id, record);
          } catch (error) {
            unread[facet.field] = describeAnswer(error);
            return {};
          }
        }),
      );
      const document = Object.assign({}, kind.document(record, scope), ...values);
      const lacking = {
        ...(Object.keys(unread).length > 0 && { unread }),
        ...(chosen.length < wanted.length && { unasked: [...ruledOut] }),
      };
      return { id, scope, extent, document, record, readAt, ...lacking } satisfies LiveResource;
    },
    history,
    async isHistoryDated(kind, id) {
      if (isDated !== undefined) return isDated;
      asking ??= history(kind, id, FEWEST);
      // After a failure the next call asks again.
      await asking.finally(() => {
        asking = undefined;
      });
      return isDated;
    },
    findLack: lacks.of,
    entitlements(fresh = false) {
      if (fresh) entitlements = createEntitlements(client);
      return entitlements;
    },
  };
}

/** The platform's answer to a request about a part of one resource. Throws whatever is no such answer. */
function describeAnswer(error: unknown): string {
  if (!(error instanceof ApiError) || error.status === 401) throw error;
  return describeApiError(error);
}

/** A refused list most often means a wrong id in the configuration, so the error says which one. */
function outOfReach(kind: Kind, scope: Scope, error: unknown): CallsheetError | undefined {
  const [place] = Object.entries(scope);
  if (place === undefined || !(error instanceof ApiError)) return undefined;
  if (error.status !== 403 && error.status !== 404) return undefined;
  const [field, id] = place;
  const message = `${kind.section} of ${field} ${id} cannot be listed: ${describeApiError(error)}`;
  const hint = 'Check that id in the configuration, and that the key has access to it.';
  return new CallsheetError('api', message, { hint, cause: error });
}

function listed(kind: Kind, scope: Scope, items: readonly JsonObject[]): readonly ListedResource[] {
  return items.map((record) => {
    const { id } = record;
    if (typeof id !== 'string' || id === '') {
      throw new CallsheetError('api', `the list of kind ${kind.name} has an item without an id`);
    }
    return { id, scope, record };
  });
}

async function readFacet(
  client: Client,
  facet: Facet,
  id: string,
  record: JsonObject,
): Promise<JsonObject> {
  const source = facet.get ? recordIn(await client.call(facet.get(id))) : record;
  const value = facet.read(source);
  return value === undefined ? {} : { [facet.field]: value };
}

/** Which operations cannot be used: those that the stack refuses, and those that turned out to be absent. */
type Lacks = {
  readonly of: (operation: string) => Lack | undefined;
  /** True if an error may mean that the platform does not have the operation. */
  readonly mayBeLack: (operation: string, error: unknown) => boolean;
  /** Remembers that it does not, where the error may mean so; says whether it did. */
  readonly learn: (operation: string, error: unknown) => boolean;
};

/** Only what no more than an assumption puts somewhere can be absent; the rest the specification promises. */
function openLacks(endpoints: Endpoints): Lacks {
  const absent = new Set<string>();
  const mayBeLack = (operation: string, error: unknown) => {
    const isAssumed =
      !getEndpoint(operation).documented && endpoints.overrides[operation] === undefined;
    const isMissing = error instanceof ApiError && (error.status === 404 || error.status === 405);
    return isAssumed && isMissing;
  };
  return {
    of: (operation) =>
      findRefusal(operation, endpoints) ?? (absent.has(operation) ? 'absent' : undefined),
    mayBeLack,
    learn(operation, error) {
      const isLack = mayBeLack(operation, error);
      if (isLack) absent.add(operation);
      return isLack;
    },
  };
}

/**
 * The newest history entries, newest first. The specification gives no order, so an answer that is full
 * and rises holds the oldest entries: then more are asked for.
 */
async function readHistory(
  client: Pick<Client, 'call'>,
  kind: Kind,
  id: string,
  limit: number,
): Promise<readonly HistoryEntry[]> {
  const { history } = kind;
  if (history === undefined) return [];
  const read = async (count: number) => {
    const call = history.list(id, count);
    return listIn(await client.call(call)).map((entry) => historyEntry(call, entry));
  };
  const asked = Math.max(limit, FEWEST);
  const first = await read(asked);
  const entries =
    asked < MOST && first.length >= asked && rises(first) ? await readMore(read, first) : first;
  return entries.toSorted((a, b) => b.id - a.id).slice(0, limit);
}

/** Returns the edits of a resource since Callsheet last wrote it. */
export async function readEdits(edited: Edited, deps: EditsDeps): Promise<Edits> {
  const { since, updatedAt } = edited;
  const few = edited.history ?? (await readNewest(edited, deps, FEW));
  const history = await reachBack(few, edited, deps);
  const edits = editsSince(history, since, deps.author);
  if (edits.doubt !== null || !isAhead(updatedAt, history)) return edits;
  const later = await awaitEntry(edited, deps);
  const again = editsSince(later, since, deps.author);
  // Past its few seconds, a change without an entry is one that makes none: of what history does not record.
  return isYoung(updatedAt, deps) && isAhead(updatedAt, later)
    ? { ...again, doubt: 'late' }
    : again;
}

/** A resource whose edits are asked for. */
export type Edited = {
  readonly kind: Kind;
  readonly id: string;
  readonly since: Since;
  /** `updated_at` as it was compared; null where it is gone or the platform does not say. */
  readonly updatedAt: string | null;
  /** Its newest entries, where they were read already: as many as a plan reads. */
  readonly history?: readonly HistoryEntry[] | undefined;
};

export type EditsDeps = {
  readonly reader: Pick<Reader, 'history'>;
  /** How changes through the API are signed. */
  readonly author: string | undefined;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** Converts an entry as the platform returned it. */
export function historyEntry(call: Call, entry: JsonObject): HistoryEntry {
  if (typeof entry.id !== 'number') {
    throw new CallsheetError('api', `${call.operation} answered an entry without a numeric id`, {
      hint: NOT_THE_PLATFORM,
    });
  }
  const actor = isObject(entry.actor) ? entry.actor.id : undefined;
  return {
    id: entry.id,
    action: textOrNull(entry.action),
    actor: textOrNull(actor),
    source: textOrNull(entry.source),
    at: textOrNull(entry.created_at),
    reverted_from_id: typeof entry.reverted_from_id === 'number' ? entry.reverted_from_id : null,
  };
}

/** Entries that are asked for at least: the order of fewer says nothing. */
const FEWEST = 2;

/** Asked for where fewer do not tell enough: the largest page that other lists give (Limits). */
const MOST = 100;

/** A platform that refuses so many keeps its first answer. */
async function readMore(
  read: (count: number) => Promise<readonly HistoryEntry[]>,
  first: readonly HistoryEntry[],
): Promise<readonly HistoryEntry[]> {
  try {
    return await read(MOST);
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return first;
    throw error;
  }
}

function rises(entries: readonly HistoryEntry[]): boolean {
  return entries.every(({ id }, index) => index === 0 || id > (entries[index - 1]?.id ?? 0));
}

/** Entries that are read first, as many as a plan reads. */
const FEW = 20;

/** A change without an entry is waited for while it is this young: one appears "within a few seconds" (revert rule 5). */
const YOUNG_MS = 30_000;

const LONGEST_WAIT_MS = 5_000;

const FIRST_WAIT_MS = 250;

/** The newest entries, back to the last run where there are so many. */
async function reachBack(
  few: readonly HistoryEntry[],
  edited: Edited,
  deps: EditsDeps,
): Promise<readonly HistoryEntry[]> {
  const { doubt } = editsSince(few, edited.since, deps.author);
  const isCut = few.length === FEW && (doubt === 'retention' || doubt === 'no_beginning');
  return isCut ? readNewest(edited, deps, MOST) : few;
}

/** The newest entries of what may be gone, and have taken its history along. */
export async function readNewest(
  { kind, id }: Pick<Edited, 'kind' | 'id'>,
  { reader }: Pick<EditsDeps, 'reader'>,
  limit: number,
): Promise<readonly HistoryEntry[]> {
  try {
    return await reader.history(kind, id, limit);
  } catch (error) {
    if (error instanceof UnreadError && isNotFound(error.cause)) return [];
    throw error;
  }
}

async function awaitEntry(edited: Edited, deps: EditsDeps): Promise<readonly HistoryEntry[]> {
  const read = async () => reachBack(await readNewest(edited, deps, FEW), edited, deps);
  let history = await read();
  let waited = 0;
  for (let wait = FIRST_WAIT_MS; waited + wait <= LONGEST_WAIT_MS; wait *= 2) {
    if (!isAhead(edited.updatedAt, history) || !isYoung(edited.updatedAt, deps)) break;
    await deps.sleep(wait);
    waited += wait;
    history = await read();
  }
  return history;
}

/** True if the entry of a change may still appear. */
function isYoung(updatedAt: string | null, { now }: Pick<EditsDeps, 'now'>): boolean {
  return updatedAt !== null && now().getTime() - parseTime(updatedAt) < YOUNG_MS;
}
