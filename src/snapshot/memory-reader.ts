import { isObject } from '../core/value.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import type { ListedResource, Reader } from '../plan/reader.ts';
import type { Terms } from '../plan/terms.ts';
import type { ResourceRecord } from './format.ts';
import { documentOf } from './read-resource.ts';

const UNTOLD = { type: 'untold', why: 'a snapshot is not asked' } as const;

/** A platform that is not asked what it takes. */
const NO_TERMS: Terms = {
  locks: async () => UNTOLD,
  offers: async () => UNTOLD,
  about: async () => UNTOLD,
  closedTo: async () => UNTOLD,
};

/** Reads resources out of records, as `live/` reads them from the platform. */
export function readerOver(records: readonly ResourceRecord[]): Reader {
  const byId = new Map(records.map((record) => [`${record.kind} ${record.id}`, record]));
  const byKind = Map.groupBy(records, ({ kind }) => kind);
  const listed = ({ id, scope, record }: ResourceRecord): ListedResource => ({ id, scope, record });
  return {
    list: async (kind, scope) =>
      (byKind.get(kind.name) ?? []).filter((one) => isWithin(one, kind, scope)).map(listed),
    read: async (kind, { id }) => {
      const found = byId.get(`${kind.name} ${id}`);
      if (found === undefined) return undefined;
      const { scope, record } = found;
      // What a list shows alone is compared as it stands: both snapshots say as much.
      return { id, scope, extent: 'whole', document: documentOf(found), record };
    },
    history: async () => [],
    lackOf: () => undefined,
    terms: () => NO_TERMS,
  };
}

function isWithin({ scope: own, record }: ResourceRecord, kind: Kind, scope: Scope): boolean {
  const known = isObject(record) ? { ...own, ...record } : own;
  return kind.scope.every((field) => scope[field] === undefined || known[field] === scope[field]);
}
