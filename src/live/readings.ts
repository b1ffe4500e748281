import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { findText, isSameJson, type JsonObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import { findItem, getScope, listKnown } from '../plan/natural-key.ts';
import type { ListedResource, LiveResource, Reader } from '../plan/reader.ts';
import { isListedAsRead, isReadAfterStamp } from '../plan/refresh.ts';
import { PAGE_SIZE } from '../platform/pages.ts';

/**
 * Readings of whole resources, for commands that look at one several times: a restore plans, writes, and proves by
 * another plan; a rollback plans, checks, writes, and verifies. A reading is taken again only where nothing was written
 * to the resource here and the list shows the same `updated_at` and the same values since. What this rests on is what a
 * fast refresh rests on (decision 8): stamps that two changes cannot share, facets and fields that move the stamp.
 */
export type Readings = {
  /** A reader that keeps what it reads, and gives a reading again where the list's record, which is at hand, allows. */
  readonly keeping: (reader: Reader) => Reader;
  /**
   * Gives a resource as it was read some seconds ago, or as a list of some seconds ago shows that it still was.
   * Undefined: it is to be read.
   */
  readonly recent: (reader: Reader) => Reader['read'];
  /** A reader for once everything is written: it reads what was not read or listed since the last write. */
  readonly afterWrites: (reader: Reader) => Reader;
  /** Forgets a resource that is about to be written; null: one that is about to be made. */
  readonly beginWrite: (kind: string, id: string | null) => void;
  readonly endWrite: () => void;
};

/** A reading, packed, since a restoration holds as many as it has resources. */
type Kept = {
  readonly live: Pick<LiveResource, 'scope' | 'readAt'>;
  readonly packed: Buffer;
  readonly facets: ReadonlySet<string>;
  readonly begunAt: number;
  readonly isSure: boolean;
};

/** A reading that is older is not believed before a write without a list that confirms it. */
const RECENT_MS = 5_000;
/** A list may be as old as it is long, since listing costs requests, too, and never older than this. */
const RECENT_MS_A_PAGE = 2_500;
const RECENT_MS_OF_LIST = 30_000;

/** Readings beyond as many bytes are not kept: they are read again. */
const MOST_BYTES = 64 * 1024 * 1024;

/** @param assume false where `updated_at` says nothing (`platform.assume`): then every resource is read each time */
export function openReadings(
  { assume }: { readonly assume: boolean },
  now: () => number = () => performance.now(),
): Readings {
  const all = new Map<string, Kept>();
  /** Ids of resources that were read at least once, by place. */
  const seen = new Map<string, Set<string>>();
  const sizes = new Map<string, number>();
  const lists = new Map<string, { readonly begunAt: number; readonly items: Listing }>();
  let bytes = 0;
  let writtenAt = 0;

  function forget(key: string): void {
    bytes -= all.get(key)?.packed.length ?? 0;
    all.delete(key);
  }

  function keep(kind: Kind, live: LiveResource, facets: ReadonlySet<string>, begunAt: number) {
    const { id, scope, readAt } = live;
    const packed = pack(kind, live);
    if (bytes + packed.length > MOST_BYTES) return;
    bytes += packed.length;
    const place = toPlace(kind, scope);
    seen.set(place, (seen.get(place) ?? new Set()).add(id));
    const isSure = isReadAfterStamp(live, findText(live.record.updated_at) ?? null);
    all.set(toKey(kind, id), { live: { scope, readAt }, packed, facets, begunAt, isSure });
  }

  async function read(
    reader: Reader,
    kind: Kind,
    at: Parameters<Reader['read']>[1],
    facets: ReadonlySet<string>,
  ): Promise<LiveResource | undefined> {
    const begunAt = now();
    const live = await reader.read(kind, at, facets);
    if (kind.stamp === undefined) return live;
    forget(toKey(kind, at.id));
    if (live?.extent === 'whole' && live.unread === undefined) keep(kind, live, facets, begunAt);
    return live;
  }

  /** A reading that has what is asked for. */
  function find(
    kind: Kind,
    { id, scope }: Pick<LiveResource, 'id' | 'scope'>,
    facets: ReadonlySet<string>,
  ): Kept | undefined {
    const kept = all.get(toKey(kind, id));
    if (kept === undefined || !isSameJson(kept.live.scope, scope)) return undefined;
    return isSameJson([...kept.facets].sort(), [...facets].sort()) ? kept : undefined;
  }

  /** The reading of a resource of which a list has this record, if the resource cannot have changed in between. */
  async function confirm(
    reader: Reader,
    kind: Kind,
    id: string,
    kept: Kept,
    record: JsonObject,
  ): Promise<LiveResource | undefined> {
    const isStamped = ({ field, isStamped }: Kind['facets'][number]) =>
      isStamped || !kept.facets.has(field);
    if (!assume || !kept.isSure || !kind.facets.every(isStamped)) return undefined;
    const live = unpack(kind, id, kept);
    if (typeof record.updated_at !== 'string' || !isListedAsRead(kind, record, live))
      return undefined;
    return (await isReferredThere(kind, live, reader)) ? live : undefined;
  }

  /** The list of a place as it was begun to be read at a time or later. */
  function listSince(reader: Reader, kind: Kind, scope: Scope, oldest: number): Listing {
    const place = toPlace(kind, scope);
    const known = lists.get(place);
    if (known !== undefined && known.begunAt >= oldest) return known.items;
    const items = listKnown(reader, kind, scope, true);
    lists.set(place, { begunAt: now(), items });
    return items;
  }

  async function findSince(
    reader: Reader,
    kind: Kind,
    at: Pick<LiveResource, 'id' | 'scope'>,
    facets: ReadonlySet<string>,
    oldestReading: number,
    getOldest: (pages: number) => number = () => oldestReading,
  ): Promise<LiveResource | undefined> {
    const kept = find(kind, at, facets);
    if (kept === undefined) return undefined;
    const place = toPlace(kind, at.scope);
    const pages = Math.max(1, Math.ceil((sizes.get(place) ?? 0) / PAGE_SIZE));
    const oldest = getOldest(pages);
    if (kept.begunAt >= oldestReading) return unpack(kind, at.id, kept);
    // A few of a large fleet are read sooner than it is listed.
    if (!assume || (seen.get(place)?.size ?? 0) < pages) return undefined;
    const items = await listSince(reader, kind, at.scope, oldest);
    const item = items && findItem(items, at.id);
    return item && confirm(reader, kind, at.id, kept, item.record);
  }

  return {
    keeping: (reader) => ({
      ...reader,
      async list(kind, scope, ...how) {
        const items = await reader.list(kind, scope, ...how);
        sizes.set(toPlace(kind, scope), items?.length ?? 0);
        return items;
      },
      async read(kind, at, facets) {
        const kept = at.record && find(kind, at, facets);
        const again = kept && (await confirm(reader, kind, at.id, kept, at.record ?? {}));
        return again ?? read(reader, kind, at, facets);
      },
    }),
    recent: (reader) => (kind, at, facets) =>
      findSince(reader, kind, at, facets, now() - RECENT_MS, (pages) => {
        const age = Math.max(RECENT_MS, RECENT_MS_A_PAGE * pages);
        return now() - Math.min(RECENT_MS_OF_LIST, age);
      }),
    afterWrites: (reader) => ({
      ...reader,
      read: async (kind, at, facets) =>
        (await findSince(reader, kind, at, facets, writtenAt)) ?? reader.read(kind, at, facets),
    }),
    beginWrite(kind, id) {
      if (id !== null) forget(toKey({ name: kind }, id));
    },
    endWrite() {
      writtenAt = now();
    },
  };
}

/** A reader that asks for each history once, for as many of the newest entries, and again only where that was cut short. */
export function askingOnce(reader: Reader, most: number): Reader {
  type Asked = { readonly limit: number; readonly entries: ReturnType<Reader['history']> };
  const asked = new Map<string, Asked>();
  return {
    ...reader,
    async history(kind, id, limit) {
      const key = toKey(kind, id);
      const known = asked.get(key);
      const isEnough =
        known !== undefined && (known.limit >= limit || (await known.entries).length < known.limit);
      const wide = Math.max(most, limit);
      const now = isEnough ? known : { limit: wide, entries: reader.history(kind, id, wide) };
      asked.set(key, now);
      return (await now.entries).slice(0, limit);
    },
  };
}

type Listing = Promise<readonly ListedResource[] | undefined>;

function toKey({ name }: Pick<Kind, 'name'>, id: string): string {
  return `${name} ${id}`;
}

function toPlace({ name }: Kind, scope: Scope): string {
  return `${name} ${JSON.stringify(scope)}`;
}

function pack({ facets }: Kind, { document, record }: LiveResource): Buffer {
  const read = facets.flatMap(({ field }) => {
    const value = document[field];
    return value === undefined ? [] : [[field, value] as const];
  });
  return deflateRawSync(JSON.stringify({ record, facets: Object.fromEntries(read) }));
}

function unpack(kind: Kind, id: string, { packed, live }: Kept): LiveResource {
  const { record, facets } = JSON.parse(inflateRawSync(packed).toString());
  const document = { ...kind.document(record, live.scope), ...facets };
  return { ...live, id, extent: 'whole', document, record };
}

/** True if all are there to which the resource refers in fields that the platform may clear without a stamp. */
async function isReferredThere(
  { schema }: Kind,
  { document }: LiveResource,
  reader: Pick<Reader, 'list'>,
): Promise<boolean> {
  for (const [field, own] of Object.entries(schema.properties ?? {})) {
    const id = document[field] ?? null;
    if (own['x-stamped'] !== false || id === null || id === '') continue;
    const { 'x-ref': referred } = own;
    if (referred === undefined || typeof id !== 'string') return false;
    const kind = kindNamed(referred);
    const items = await listKnown(reader, kind, getScope(kind, document));
    if (items === undefined || findItem(items, id) === undefined) return false;
  }
  return true;
}
