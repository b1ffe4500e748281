import { ApiError, describeApiError } from '../api/errors.ts';
import { type Redacted, redact } from '../core/redact.ts';
import type { JsonObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { scopeOf } from '../plan/natural-key.ts';
import type { HistoryEntry, ListedResource, LiveResource, Reader } from '../plan/reader.ts';
import type { ResourceState } from '../state/model.ts';
import type { ContentRecord, GapRecord, ResourceRecord } from './format.ts';

/** How one resource is kept. */
export type ReadOne = {
  /** Whether sensitive values are kept: the file is encrypted. */
  readonly sensitive: boolean;
  /** What the stack calls a resource. */
  readonly owner: (
    kind: string,
    id: string,
  ) => { readonly address: string; readonly state: ResourceState } | undefined;
};

/** Whether the list's call lacks something as long as nothing says within what. */
export function isListedWithin(kind: Kind): boolean {
  const { path = {}, query = {} } = kind.list({});
  return [...Object.values(path), ...Object.values(query)].includes('');
}

/** A resource whole, or what of it could not be read. Nothing where it went away meanwhile. */
export async function readResource(
  kind: Kind,
  item: ListedResource,
  reader: Reader,
  how: ReadOne,
): Promise<readonly ContentRecord[]> {
  const named = `${kind.name} ${item.id}`;
  const gaps: GapRecord[] = [];
  const gap = (of: string, error: unknown) => {
    if (!(error instanceof ApiError) || error.status === 401) throw error;
    gaps.push({ type: 'gap', of, why: describeApiError(error) });
  };
  const apart = new Set(kind.facets.flatMap(({ field, get }) => (get ? [field] : [])));
  const live = await reader.read(kind, item, apart).catch((error: unknown) => {
    gap(apart.size > 0 ? `${[...apart].join(' and ')} of ${named}` : named, error);
    return apart.size > 0 ? reader.read(kind, item, new Set()) : undefined;
  });
  if (live === undefined) return gaps;
  if (live.extent === 'nothing') {
    return [{ type: 'gap', of: named, why: 'the platform cannot be asked for it' }];
  }
  const [history = null] = await reader.history(kind, live.id, 1).catch((error: unknown) => {
    gap(`history of ${named}`, error);
    return [];
  });
  return [...gaps, recordOf(kind, live, apart, history, how)];
}

function recordOf(
  kind: Kind,
  { id, scope, extent, record, document }: LiveResource,
  apart: ReadonlySet<string>,
  history: HistoryEntry | null,
  { sensitive, owner }: ReadOne,
): ResourceRecord {
  const parts = Object.entries(document).filter(([field]) => apart.has(field));
  const keep = (document: JsonObject): Redacted =>
    sensitive ? { document, withheld: [] } : redact(kind.schema, document, { how: 'withhold' });
  const kept = keep(record);
  const facets = Object.fromEntries(parts);
  const secret = keep(facets);
  const known = owner(kind.name, id);
  return {
    type: 'resource',
    kind: kind.name,
    id,
    scope: scopeOf(kind, { ...scope, ...record }),
    extent: extent === 'listed' ? 'listed' : 'whole',
    record: kept.document,
    facets: secret.document,
    history,
    withheld: [...kept.withheld, ...secret.withheld],
    address: known?.address ?? null,
    state: known?.state ?? null,
  };
}

/** What was kept of a resource, in the shape of the configuration, facets included. */
export function documentOf({ kind: name, record, scope, facets }: ResourceRecord): JsonObject {
  const kind = kindNamed(name);
  const own = kind.facets.map((facet) => {
    const value = facet.get ? facets[facet.field] : facet.read(record);
    return value === undefined ? {} : { [facet.field]: value };
  });
  return Object.assign({}, kind.document(record, scope), ...own);
}
