import type { JsonObject } from '../src/core/value.ts';
import type { Kind, Scope } from '../src/kinds/kind.ts';
import type {
  Entitlements,
  Extent,
  HistoryEntry,
  Lack,
  ListedResource,
  LiveResource,
  Reader,
} from '../src/plan/reader.ts';

/** What a platform holds, as plain records. */
export type LiveRecords = {
  /** By kind. A record that does not say where it belongs is found wherever it is looked for. */
  readonly records?: { readonly [kind: string]: readonly JsonObject[] };
  /** By the resource's id. */
  readonly history?: Readonly<Record<string, readonly HistoryEntry[]>>;
  /** Answers of facets that have a read of their own, by the resource's id. */
  readonly facets?: Readonly<Record<string, JsonObject>>;
  /** Operations that cannot be used, and why. */
  readonly lacks?: Readonly<Record<string, Lack>>;
  /** What the platform takes; everything unless given. */
  readonly entitlements?: Partial<Entitlements>;
};

/** Terms of a platform that takes everything, but for what is given. */
function memoryEntitlements(said: Partial<Entitlements>): Entitlements {
  return {
    locks: async () => ({ type: 'answered', value: new Map() }),
    offers: async () => ({ type: 'answered', value: EVERYTHING }),
    about: async () => ({ type: 'answered', value: { can_enable: true } }),
    closedTo: async () => ({ type: 'answered', value: undefined }),
    ...said,
  };
}

const EVERYTHING: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true });

/** List items of a kind that has a read of its own carry no more than this (Agent). */
const LISTED = new Set(['id', 'organization_id', 'name', 'status', 'created_at', 'updated_at']);

/** A reader over records in memory: it lists, reads and tells history as `live/` does, without a network. */
export function memoryReader({
  records = {},
  history = {},
  facets = {},
  lacks = {},
  entitlements: said = {},
}: LiveRecords): Reader {
  const entitlements = memoryEntitlements(said);
  const extentOf = (kind: Kind, scope: Scope, id: string): Extent => {
    if (kind.get === undefined || lacks[kind.get(id).operation] === undefined) return 'whole';
    return lacks[kind.list(scope).operation] === undefined ? 'listed' : 'nothing';
  };
  const ofKind = (kind: Kind) => records[kind.name] ?? [];
  const readFacets = (kind: Kind, record: JsonObject, wanted: ReadonlySet<string>) =>
    kind.facets
      .filter(({ field }) => wanted.has(field))
      .flatMap((facet) => {
        const source = facet.get ? facets[String(record.id)] : record;
        const value = source && facet.read(source);
        return value === undefined ? [] : [{ [facet.field]: value }];
      });
  return {
    list: async (kind, scope) =>
      lacks[kind.list(scope).operation] === undefined
        ? ofKind(kind)
            .filter((record) => isWithin(record, scope))
            .map((record) => listed(kind, scope, record))
        : undefined,
    read: async (kind, at, wanted) => {
      const { id, scope } = at;
      const extent = extentOf(kind, scope, id);
      if (extent === 'nothing') return { id, scope, extent, document: {}, record: {} };
      const found = ofKind(kind).find((one) => one.id === id);
      if (found === undefined) return undefined;
      const whole = { ...scope, ...found };
      const record = extent === 'listed' ? listed(kind, scope, whole).record : whole;
      const parts = readFacets(kind, record, wanted);
      const document = Object.assign({}, kind.document(record, scope), ...parts);
      return { id, scope, extent, document, record } satisfies LiveResource;
    },
    history: async (kind, id, limit) =>
      kind.history === undefined
        ? []
        : [...(history[id] ?? [])].sort((a, b) => b.id - a.id).slice(0, limit),
    isHistoryDated: async (kind, id) => {
      const entries = kind.history === undefined ? [] : (history[id] ?? []);
      return entries.length === 0 ? undefined : entries.every(({ at }) => at !== null);
    },
    findLack: (operation) => lacks[operation],
    entitlements: () => entitlements,
  };
}

function isWithin(record: JsonObject, scope: Scope): boolean {
  return Object.entries(scope).every(([field, value]) => (record[field] ?? value) === value);
}

function listed(kind: Kind, scope: Scope, record: JsonObject): ListedResource {
  const kept = Object.entries(record).filter(
    ([name]) => kind.get === undefined || LISTED.has(name),
  );
  return { id: String(record.id), scope, record: { ...scope, ...Object.fromEntries(kept) } };
}
