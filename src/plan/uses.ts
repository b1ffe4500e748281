import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { Change } from '../core/plan-document.ts';
import { isWritten } from '../diff/finding.ts';
import { leavesOf } from '../diff/leaves.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import type { State } from '../state/model.ts';
import { isDelete, refuse } from './guard.ts';
import { listKnown } from './listed.ts';
import { scopesOf } from './natural-key.ts';
import type { ListedResource, Reader } from './reader.ts';
import { referredKinds } from './referred-kinds.ts';

/** A live resource that holds the id of another. */
type Use = {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  /** The field that holds it. */
  readonly path: string;
};

/** Where uses are looked for. */
type Surroundings = {
  readonly desired: readonly DesiredResource[];
  readonly state: State;
  readonly reader: Reader;
};

/** Resources that are named in a refusal; the others are counted. */
const NAMED = 3;

/**
 * Refuses to delete what live resources would still refer to afterwards, whether the stack has them or
 * not. Which fields refer to which kind is in the schemas. It takes a read of every resource of the kinds
 * that may refer to it, and so it is only asked where something is about to go.
 */
export async function refuseUsed(
  changes: readonly Change[],
  surroundings: Surroundings,
): Promise<readonly Change[]> {
  const leaving = new Set(changes.filter((change) => change.verdict === 'ok' && isDelete(change)));
  const uses = await usesOf(new Set([...leaving].map(({ kind }) => kind)), surroundings);
  const planned = new Map(changes.map((change) => [`${change.kind} ${change.id}`, change]));
  return changes.map((change) => {
    if (!leaving.has(change)) return change;
    const all = uses.get(`${change.kind} ${change.id}`) ?? [];
    const left = all.filter((use) => remains(use, planned.get(`${use.kind.name} ${use.id}`)));
    return left.length === 0 ? change : refuse(change, `${change.reason}; ${tell(left, planned)}`);
  });
}

/** Whether a resource still holds the id once its own change is carried out. */
function remains({ path }: Use, change: Change | undefined): boolean {
  if (change === undefined || change.verdict !== 'ok') return true;
  const isRewritten = change.fields.some((field) => field.path === path && isWritten(field));
  return !isDelete(change) && !isRewritten;
}

/** The live resources that refer to those of some kinds, by the kind and id that they refer to. */
async function usesOf(
  names: ReadonlySet<string>,
  surroundings: Surroundings,
): Promise<ReadonlyMap<string, readonly Use[]>> {
  const found = await Promise.all(
    kinds
      .filter(({ schema }) => [...referredKinds(schema)].some((name) => names.has(name)))
      .map((kind) => usesBy(kind, surroundings)),
  );
  const uses = new Map<string, Use[]>();
  for (const [target, use] of found.flat()) {
    const known = uses.get(target) ?? [];
    known.push(use);
    uses.set(target, known);
  }
  return uses;
}

async function usesBy(
  kind: Kind,
  { desired, state, reader }: Surroundings,
): Promise<readonly (readonly [string, Use])[]> {
  const scopes: readonly Scope[] = kind.listsAll ? [{}] : scopesOf(kind, desired, state);
  const lists = await Promise.all(scopes.map((scope) => listKnown(reader, kind, scope)));
  const items = new Map(lists.flatMap((list) => list ?? []).map((item) => [item.id, item]));
  const uses = await Promise.all([...items.values()].map((item) => usesIn(kind, item, reader)));
  return uses.flat();
}

/** List items need not show every field, so each is read. */
async function usesIn(
  kind: Kind,
  item: ListedResource,
  reader: Reader,
): Promise<readonly (readonly [string, Use])[]> {
  const live = await reader.read(kind, item, new Set());
  if (live === undefined) return [];
  const name = typeof live.document.name === 'string' ? live.document.name : item.id;
  return [...leavesOf(kind.schema, live.document).leaves.values()].flatMap((leaf) => {
    const target = leaf.schema['x-ref'];
    if (target === undefined || typeof leaf.value !== 'string') return [];
    return [[`${target} ${leaf.value}`, { kind, id: item.id, name, path: leaf.text }] as const];
  });
}

function tell(uses: readonly Use[], planned: ReadonlyMap<string, Change>): string {
  const users = [...new Map(uses.map((use) => [`${use.kind.name} ${use.id}`, use])).values()];
  const named = users.slice(0, NAMED).map(({ kind, id, name }): Address | string => {
    return planned.get(`${kind.name} ${id}`)?.address ?? `${name} (${id})`;
  });
  const more = users.length > NAMED ? ` and ${users.length - NAMED} more` : '';
  const [noun = ''] = users.map(({ kind }) => (users.length === 1 ? kind.name : kind.section));
  const what = `${users.length} live ${noun.replaceAll('_', ' ')} still`;
  const verb = users.length === 1 ? 'uses' : 'use';
  return `${what} ${verb} it: ${named.join(', ')}${more}; give them another one first, or plan with --force`;
}
