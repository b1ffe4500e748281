/**
 * `live/` reads what is on the platform: lists, whole resources, facets and history, in the shape that
 * planning compares. It writes nothing.
 */

import type { Client } from '../api/client.ts';
import { ApiError, describeApiError, isNotFound } from '../api/errors.ts';
import { operationNamed } from '../api/request.ts';
import { NOT_THE_PLATFORM } from '../api/transport.ts';
import { CallsheetError } from '../core/errors.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import type { Call, Facet, Kind, Scope } from '../kinds/kind.ts';
import type { HistoryEntry, ListedResource, LiveResource, Reader } from '../plan/reader.ts';

/** A reader over a client. Lists are read once and kept; everything else is read afresh. */
export function createReader(client: Client): Reader {
  const lists = new Map<string, Promise<readonly ListedResource[]>>();

  return {
    list(kind, scope) {
      const call = kind.list(scope);
      const key = JSON.stringify(call);
      const known = lists.get(key);
      if (known !== undefined) return known;
      const reading = client.list(call).then(
        (items) => listed(kind, scope, items),
        (error: unknown) => {
          throw outOfReach(kind, scope, error) ?? error;
        },
      );
      lists.set(key, reading);
      // What failed is not kept.
      reading.catch(() => lists.delete(key));
      return reading;
    },
    async read(kind, at, facets) {
      const record = await readRecord(client, kind, at);
      if (record === undefined) return undefined;
      const chosen = kind.facets.filter(({ field }) => facets.has(field));
      const values = await Promise.all(
        chosen.map((facet) => readFacet(client, facet, at.id, record)),
      );
      const document = Object.assign({}, kind.document(record, at.scope), ...values);
      return { id: at.id, scope: at.scope, document, record } satisfies LiveResource;
    },
    async history(kind, id, limit) {
      if (kind.history === undefined) return [];
      const call = kind.history.list(id, limit);
      const answer = await client.call(call);
      if (!isObject(answer) || !isList(answer.data)) throw shapeless(call, 'list');
      return answer.data.map((entry) => historyEntry(call, entry)).sort((a, b) => b.id - a.id);
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

/** A resource's record: through its own endpoint, or from a fresh list where the kind has none. */
async function readRecord(
  client: Client,
  kind: Kind,
  { id, scope, record }: Parameters<Reader['read']>[1],
): Promise<JsonObject | undefined> {
  if (kind.get === undefined) {
    if (record !== undefined) return record;
    const items = await client.list(kind.list(scope));
    return items.find((item) => item.id === id);
  }
  const call = kind.get(id);
  try {
    const answer = await client.call(call);
    const data = isObject(answer) ? answer.data : undefined;
    if (isObject(data)) return data;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (operationNamed(call.operation).documented) return undefined;
    // Where the platform lacks the endpoint, every resource would look as if it were gone.
    const items = await client.list(kind.list(scope));
    if (items.some((item) => item.id === id)) throw error;
    return undefined;
  }
  throw shapeless(call, 'object');
}

function shapeless({ operation }: Call, wanted: 'object' | 'list'): CallsheetError {
  return new CallsheetError('api', `${operation} answered without a \`data\` ${wanted}`, {
    hint: NOT_THE_PLATFORM,
  });
}

async function readFacet(
  client: Client,
  facet: Facet,
  id: string,
  record: JsonObject,
): Promise<JsonObject> {
  const source = facet.get ? await client.call(facet.get(id)) : record;
  const value = isObject(source) ? facet.read(source) : undefined;
  return value === undefined ? {} : { [facet.field]: value };
}

function historyEntry(call: Call, entry: Json): HistoryEntry {
  if (!isObject(entry) || typeof entry.id !== 'number') {
    throw new CallsheetError('api', `${call.operation} answered an entry without a numeric id`, {
      hint: NOT_THE_PLATFORM,
    });
  }
  const actor = isObject(entry.actor) ? entry.actor.id : undefined;
  return {
    id: entry.id,
    action: text(entry.action),
    actor: text(actor),
    source: text(entry.source),
    at: text(entry.created_at),
    reverted_from_id: typeof entry.reverted_from_id === 'number' ? entry.reverted_from_id : null,
  };
}

function text(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
