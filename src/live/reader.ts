/**
 * `live/` reads what is on the platform: lists, whole resources, facets and history, in the shape that
 * planning compares. It writes nothing.
 */
import type { Client } from '../api/client.ts';
import { DEFAULT_ENDPOINTS, type Endpoints, endpointOf, refusalOf } from '../api/endpoints.ts';
import { ApiError, describeApiError, isNotFound } from '../api/errors.ts';
import { NOT_THE_PLATFORM } from '../api/line.ts';
import { CallsheetError } from '../core/errors.ts';
import { isObject, type Json, type JsonObject } from '../core/value.ts';
import { recordIn } from '../kinds/answer.ts';
import type { Call, Facet, Kind, Scope } from '../kinds/kind.ts';
import type { Extent, Lack, ListedResource, LiveResource, Reader } from '../plan/reader.ts';
import { readHistory } from './history.ts';
import { createTerms } from './terms.ts';

/** What was found of one resource. */
type Found = { readonly record: JsonObject; readonly extent: Extent };

const NOTHING: Found = { record: {}, extent: 'nothing' };

/**
 * A reader over a client. Lists are read once and kept; everything else is read afresh. Where a call that
 * only an assumption puts there is refused or turns out to be absent, it makes do without.
 *
 * @param me what `/v1/me` answered, where it was asked already
 */
export function createReader(
  client: Client,
  endpoints: Endpoints = DEFAULT_ENDPOINTS,
  me?: Json,
): Reader {
  let terms = createTerms(client, me);
  const lists = new Map<string, Promise<readonly ListedResource[] | undefined>>();
  const lacks = openLacks(endpoints);

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
    // What failed is not kept.
    reading.catch(() => lists.delete(key));
    return reading;
  };

  /** A resource's record: through its own endpoint or, where there is none, from its list. */
  async function find(kind: Kind, at: Parameters<Reader['read']>[1]): Promise<Found | undefined> {
    if (kind.get === undefined) return findListed(kind, at, 'whole');
    const call = kind.get(at.id);
    if (lacks.of(call.operation) !== undefined) return findListed(kind, at, 'listed');
    try {
      const answer = await client.call(call);
      const data = isObject(answer) ? answer.data : undefined;
      if (isObject(data)) return { record: data, extent: 'whole' };
    } catch (error) {
      if (lacks.mayBeLack(call.operation, error)) return findUntold(kind, at, call, error);
      if (isNotFound(error)) return undefined;
      throw error;
    }
    throw shapeless(call);
  }

  async function findListed(
    kind: Kind,
    { id, scope, record }: Parameters<Reader['read']>[1],
    extent: Extent,
  ): Promise<Found | undefined> {
    if (lacks.of(kind.list(scope).operation) !== undefined) return NOTHING;
    // Of what has a read of its own the list was read for a part of its fields alone.
    if (record !== undefined && kind.get === undefined) return { record, extent };
    const items = await list(kind, scope, record === undefined);
    if (items === undefined) return NOTHING;
    const item = items.find((one) => one.id === id);
    return item && { record: item.record, extent };
  }

  /** After a 404 or 405 that means either that the resource is gone or that there is no such endpoint. */
  async function findUntold(
    kind: Kind,
    { id, scope, isUnread = false }: Parameters<Reader['read']>[1],
    { operation }: Call,
    error: unknown,
  ): Promise<Found | undefined> {
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

  return {
    list,
    async read(kind, at, facets) {
      // What is read from now on is no older than what the platform said last.
      const readAt = client.platformTime();
      const found = await find(kind, at);
      if (found === undefined) return undefined;
      const { record, extent } = found;
      const { id, scope } = at;
      if (extent === 'nothing') return { id, scope, extent, document: {}, record };
      const chosen = kind.facets.filter(({ field }) => facets.has(field));
      const values = await Promise.all(chosen.map((facet) => readFacet(client, facet, id, record)));
      const document = Object.assign({}, kind.document(record, scope), ...values);
      return { id, scope, extent, document, record, readAt } satisfies LiveResource;
    },
    history: (kind, id, limit) => readHistory(client, kind, id, limit),
    lackOf: lacks.of,
    terms(fresh = false) {
      if (fresh) terms = createTerms(client);
      return terms;
    },
  };
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

function shapeless({ operation }: Call): CallsheetError {
  return new CallsheetError('api', `${operation} answered without a \`data\` object`, {
    hint: NOT_THE_PLATFORM,
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
  /** Whether an error may mean that the platform does not have the operation. */
  readonly mayBeLack: (operation: string, error: unknown) => boolean;
  /** Remembers that it does not, where the error may mean so; says whether it did. */
  readonly learn: (operation: string, error: unknown) => boolean;
};

/** Only what no more than an assumption puts somewhere can be absent; the rest the specification promises. */
function openLacks(endpoints: Endpoints): Lacks {
  const absent = new Set<string>();
  const mayBeLack = (operation: string, error: unknown) => {
    const isAssumed =
      !endpointOf(operation).documented && endpoints.overrides[operation] === undefined;
    const isMissing = error instanceof ApiError && (error.status === 404 || error.status === 405);
    return isAssumed && isMissing;
  };
  return {
    of: (operation) =>
      refusalOf(operation, endpoints) ?? (absent.has(operation) ? 'absent' : undefined),
    mayBeLack,
    learn(operation, error) {
      const isLack = mayBeLack(operation, error);
      if (isLack) absent.add(operation);
      return isLack;
    },
  };
}
