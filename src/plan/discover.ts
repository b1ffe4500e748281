import type { DesiredResource } from '../core/desired.ts';
import type { FieldSchema } from '../core/schema.ts';
import { leavesOf } from '../diff/leaves.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import type { State } from '../state/model.ts';
import { listKnown } from './listed.ts';
import { scopesOf } from './natural-key.ts';
import type { ListedResource, Reader } from './reader.ts';
import { referredKinds } from './referred-kinds.ts';

/** Resources of a kind that the platform cannot be asked to list, as far as they can be known. */
export type Discover = (kind: Kind, scope: Scope) => Promise<readonly ListedResource[]>;

/**
 * Without a list, ids come from the state and from the resources that refer to them: agents hold the ids
 * of their retry policies (DESIGN §9). Each is then read on its own.
 */
export function createDiscovery(
  desired: readonly DesiredResource[],
  state: State | undefined,
  reader: Reader,
): Discover {
  const known = new Map<string, Promise<readonly string[]>>();

  async function idsOf(kind: Kind): Promise<readonly string[]> {
    const recorded = Object.values(state?.resources ?? {}).filter((one) => one.kind === kind.name);
    const referring = kinds.filter(({ schema }) => referredKinds(schema).has(kind.name));
    const referred = await Promise.all(
      referring.map((other) => idsReferredBy(other, kind, scopesOf(other, desired, state), reader)),
    );
    return [...new Set([...recorded.map(({ id }) => id), ...referred.flat()])];
  }

  return async (kind, scope) => {
    const ids = known.get(kind.name) ?? idsOf(kind);
    known.set(kind.name, ids);
    const found = await Promise.all((await ids).map((id) => lookUp(kind, { id, scope }, reader)));
    return found.filter((one) => one !== undefined);
  };
}

/** A resource by its id alone. What cannot be read is taken to exist. */
export async function lookUp(
  kind: Kind,
  at: { readonly id: string; readonly scope: Scope; readonly isUnread?: boolean },
  reader: Reader,
): Promise<ListedResource | undefined> {
  const live = await reader.read(kind, at, new Set());
  return live && { id: live.id, scope: live.scope, record: live.record };
}

/** The ids of a kind that live resources of another hold. List items need not show them. */
async function idsReferredBy(
  referring: Kind,
  kind: Kind,
  scopes: readonly Scope[],
  reader: Reader,
): Promise<readonly string[]> {
  const lists = await Promise.all(scopes.map((scope) => listKnown(reader, referring, scope)));
  const ids = lists
    .flatMap((items) => items ?? [])
    .map(async (item) => {
      const live = await reader.read(referring, item, new Set());
      return live === undefined ? [] : idsIn(referring.schema, live.document, kind);
    });
  return (await Promise.all(ids)).flat();
}

function idsIn(
  root: FieldSchema,
  document: Parameters<typeof leavesOf>[1],
  kind: Kind,
): readonly string[] {
  return [...leavesOf(root, document).leaves.values()].flatMap(({ schema, value }) =>
    schema['x-ref'] === kind.name && typeof value === 'string' && value !== '' ? [value] : [],
  );
}
