import type { Kind, Scope } from '../kinds/kind.ts';
import { recordKeyOf } from '../plan/natural-key.ts';
import type { ListedResource, Reader } from '../plan/reader.ts';

/** Clocks may differ by as much: what is older than a request by more was there before it. */
const CLOCK_SKEW_MS = 5 * 60_000;

type Sought = {
  readonly kind: Kind;
  readonly scope: Scope;
  readonly key: string | null | undefined;
  /** When the request left that made it, if any did. ISO 8601. */
  readonly since: string;
  /** The resource whose place it takes: never the one that is sought, and older than that. */
  readonly old: string | null;
  /** Whether something else is known of the resource of an id. */
  readonly isTaken: (id: string) => boolean;
};

/**
 * Live resources that a request whose answer was lost may have made: of its natural key, nobody else's, and
 * not older than the request, where the list tells. Of a kind whose resources have versions it is the
 * newest. Undefined: there is no list to look in.
 */
export async function lookFor(
  { kind, scope, key, since, old, isTaken }: Sought,
  list: Reader['list'],
  fresh = false,
): Promise<readonly ListedResource[] | undefined> {
  const listed = await list(kind, scope, fresh);
  if (listed === undefined || key === null || key === undefined) return listed && [];
  const before = createdAt(listed.find(({ id }) => id === old)?.record ?? {});
  const earliest = Math.max(Date.parse(since) - CLOCK_SKEW_MS, before || 0);
  const found = listed.filter(
    ({ id, record }) =>
      id !== old &&
      !isTaken(id) &&
      recordKeyOf(kind, record, scope) === key &&
      !(createdAt(record) < earliest),
  );
  if (kind.tie === 'error') return found;
  return found
    .toSorted((a, b) => (createdAt(b.record) || 0) - (createdAt(a.record) || 0))
    .slice(0, 1);
}

/** NaN where the record does not tell. */
function createdAt({ created_at: at }: ListedResource['record']): number {
  return typeof at === 'string' ? Date.parse(at) : Number.NaN;
}
