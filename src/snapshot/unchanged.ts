import { computeDigest } from '../core/digest.ts';
import type { Redacted } from '../core/redact.ts';
import type { JsonObject } from '../core/value.ts';
import { canonicaliseRecord } from '../core/walk.ts';
import { facetsRuledOut, isOn, type Kind } from '../kinds/kind.ts';
import type { ListedResource } from '../plan/reader.ts';
import type { ContentRecord, End, ResourceRecord } from './format.ts';

/**
 * The part of an earlier snapshot that is still live, by the lists alone. The stamp of a resource (`updated_at`) is the proof, as it
 * is of a fast plan (decision 8); what it does not cover needs one of its own:
 *
 * | part                         | is taken over where                                                          |
 * |------------------------------|------------------------------------------------------------------------------|
 * | the record                   | the list has the stamp, which was over when it was read, and contradicts nothing |
 * | an unstamped field           | it is empty, or refers to what this snapshot has read                        |
 * | a facet with its own read    | it was off, and the record rules out that anybody switched it on             |
 * | fields of the platform's own | with the record: what the platform moves without the stamp stays as it was   |
 */
export type Earlier = {
  /** The stamp that a resource was read with, where it was over by then; undefined: it proves nothing. */
  readonly stampOf: (kind: string, id: string) => string | undefined;
  /** All that the earlier snapshot holds, in a new pass. */
  readonly records: () => AsyncIterable<ContentRecord | End>;
};

/** A resource of a list, and its earlier record where that is still live. */
export type Settled = {
  readonly item: ListedResource;
  readonly record: ResourceRecord | undefined;
};

/** A resource as a list showed it: the names of its fields, and a digest of their values. */
type Shown = Pick<ListedResource, 'id' | 'scope'> & {
  readonly fields: readonly string[];
  readonly digest: string;
};

export function openUnchanged(
  kind: Kind,
  earlier: Earlier,
  {
    keep,
    hasRead,
  }: {
    /** How a record is kept: without sensitive values, unless the file is encrypted. */
    readonly keep: (document: JsonObject) => Redacted;
    /** True if this snapshot has read the resource. */
    readonly hasRead: (kind: string, id: string) => boolean;
  },
): {
  /** Those of a list that have another stamp; the others are kept in mind. */
  readonly changed: (
    items: AsyncIterable<ListedResource> | Iterable<ListedResource>,
  ) => AsyncGenerator<ListedResource>;
  /** The others, in one pass over the earlier snapshot. */
  readonly others: () => AsyncGenerator<Settled>;
} {
  const waiting = new Map<string, Shown>();
  let last: readonly string[] = [];

  function remember({ id, scope, record }: ListedResource): void {
    const shown = keep(canonicaliseRecord(kind.schema, record)).document;
    const names = Object.keys(shown);
    // The items of a list have the same fields: one copy of their names is enough.
    if (names.join() !== last.join()) last = names;
    waiting.set(id, { id, scope, fields: last, digest: digestFields(shown, last) });
  }

  return {
    async *changed(items) {
      for await (const item of items) {
        const stamp = earlier.stampOf(kind.name, item.id);
        if (stamp !== undefined && stamp === item.record.updated_at) remember(item);
        else yield item;
      }
    },
    async *others() {
      if (waiting.size === 0) return;
      for await (const record of earlier.records()) {
        if (record.type !== 'resource' || record.kind !== kind.name) continue;
        const shown = waiting.get(record.id);
        if (shown === undefined) continue;
        waiting.delete(record.id);
        const { id, scope, fields, digest } = shown;
        const isSame =
          digestFields(record.record, fields) === digest && isCovered(kind, record.record, hasRead);
        yield { item: { id, scope, record: {} }, record: isSame ? record : undefined };
      }
    },
  };
}

function digestFields(record: JsonObject, fields: readonly string[]): string {
  return computeDigest(fields.map((field) => record[field] ?? null));
}

/** True if no field of a record can have changed without its stamp. */
function isCovered(
  { schema }: Kind,
  record: JsonObject,
  hasRead: (kind: string, id: string) => boolean,
): boolean {
  return Object.entries(schema.properties ?? {}).every(([field, node]) => {
    const value = record[field] ?? null;
    if (node['x-stamped'] !== false || value === null) return true;
    const { 'x-ref': referred } = node;
    return referred !== undefined && typeof value === 'string' && hasRead(referred, value);
  });
}

/** The facets of an unchanged resource that may be otherwise by now, or were not read then. */
export function facetsInDoubt(
  kind: Kind,
  { record, facets }: Pick<ResourceRecord, 'record' | 'facets'>,
): ReadonlySet<string> {
  const ruledOut = facetsRuledOut(kind, record);
  const inDoubt = kind.facets.filter(({ field, get }) => {
    const isKnownOff = Object.hasOwn(facets, field) && !isOn(facets[field]);
    return get !== undefined && !(isKnownOff && ruledOut.has(field));
  });
  return new Set(inDoubt.map(({ field }) => field));
}
