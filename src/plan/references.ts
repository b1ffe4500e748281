import { type Address, nameInWords } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { formatFirst, formatNumber } from '../core/errors.ts';
import { type Change, isWritten } from '../core/plan-document.ts';
import type { FieldSchema } from '../core/schema.ts';
import { isObject, type Json } from '../core/value.ts';
import { listLeaves } from '../diff/leaves.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import type { State } from '../state/model.ts';
import { isDelete, refuse } from './document.ts';
import { listKnown, listScopes } from './natural-key.ts';
import type { Reader } from './reader.ts';

/**
 * Takes in the ids that are written where something refers to what changes. What is replaced has none until the new
 * one is made; what a guard keeps from being replaced keeps its own.
 */
export function bindIds(ids: Map<Address, string>, changes: readonly Change[]): void {
  for (const { address, id, action, verdict } of changes) {
    if (id === null || (action === 'replace' && verdict === 'ok')) ids.delete(address);
    else ids.set(address, id);
  }
}

/** Ids of resources as a plan finds them: those of a state, and those of its changes. */
export function idsWith(
  { resources }: Pick<State, 'resources'>,
  changes: readonly Change[],
): Map<Address, string> {
  const ids = new Map(Object.entries(resources).map(([address, { id }]) => [address, id]));
  bindIds(ids, changes);
  return ids;
}

/** A resource that is planned, and what it is on the platform. */
type Planned = {
  readonly kind: Kind;
  readonly address: Address;
  readonly found: { readonly id: string } | undefined;
};

/**
 * Refuses to delete what live resources would still refer to afterwards, whether the stack has them or
 * not. Which fields refer to which kind is in the schemas. It takes a read of every resource of the kinds
 * that may refer to it, and so it is only asked where something is about to go. `chosen`: what is
 * planned, whether it changes or not.
 */
export async function refuseReferenced(
  changes: readonly Change[],
  { chosen = [], ...surroundings }: Surroundings & { readonly chosen?: readonly Planned[] },
): Promise<readonly Change[]> {
  const leaving = new Set(changes.filter((change) => change.verdict === 'ok' && isDelete(change)));
  if (leaving.size === 0) return changes;
  const uses = await indexUses(new Set([...leaving].map(({ kind }) => kind)), surroundings);
  const planned = new Map(changes.map((change) => [`${change.kind} ${change.id}`, change]));
  const addresses = new Map([
    ...changes.map(({ kind, id, address }) => [`${kind} ${id}`, address] as const),
    ...chosen.map(({ kind, found, address }) => [`${kind.name} ${found?.id}`, address] as const),
  ]);
  return changes.map((change) => {
    if (!leaving.has(change)) return change;
    const all = uses.get(`${change.kind} ${change.id}`) ?? [];
    const left = all.filter((use) => remains(use, planned.get(`${use.kind.name} ${use.id}`)));
    return left.length === 0
      ? change
      : refuse(change, `${change.reason}; ${usesMessage(left, addresses)}`, 'force');
  });
}

/**
 * Refuses changes that would write the id of a resource which neither exists nor comes to exist by this
 * plan: it is left out with `--target`, or refused itself. Where it is unsupported, so is what refers to
 * it. Changes stand in an order in which what is referred to comes first.
 */
export function refuseUnresolved(
  changes: readonly Change[],
  desired: readonly DesiredResource[],
  ids: ReadonlyMap<Address, string>,
): readonly Change[] {
  const references = new Map(
    desired
      .filter((one) => one.references.length > 0)
      .map((one) => [one.address, one.references] as const),
  );
  const born = new Set<Address>();
  const unsupported = new Set<Address>();
  const refused = new Set<Address>();
  return changes.map((change) => {
    if (change.verdict === 'unsupported') unsupported.add(change.address);
    if (change.verdict === 'refused') refused.add(change.address);
    const unresolved = (references.get(change.address) ?? []).find(
      (address) => !ids.has(address) && !born.has(address) && writesReference(change, address),
    );
    const isOk = change.verdict === 'ok';
    if (isOk && unresolved === undefined && isMade(change)) born.add(change.address);
    if (!isOk || unresolved === undefined) return change;
    const why = refused.has(unresolved) ? 'is refused too' : 'which this plan does not create';
    const reason = `${change.reason}; it refers to ${unresolved}, which does not exist and ${why}`;
    if (!unsupported.has(unresolved)) {
      refused.add(change.address);
      return { ...change, verdict: 'refused', reason };
    }
    unsupported.add(change.address);
    return { ...change, verdict: 'unsupported', reason, operations: [] };
  });
}

/** The kinds whose ids a kind's documents may hold. */
export function referredKinds(schema: FieldSchema): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (field: FieldSchema): void => {
    if (field['x-ref'] !== undefined) found.add(field['x-ref']);
    for (const member of Object.values(field.properties ?? {})) visit(member);
    for (const definition of Object.values(field.$defs ?? {})) visit(definition);
    if (field.items) visit(field.items);
  };
  visit(schema);
  return found;
}

/** A live resource that holds the id of another. */
type Use = {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  /** The field that holds it. */
  readonly path: string;
  readonly to: { readonly kind: string; readonly id: string };
};

/** Where uses are looked for. */
type Surroundings = {
  readonly desired: readonly DesiredResource[];
  readonly state: State;
  readonly reader: Reader;
};

/** Resources that are named in a refusal; the others are counted. */
const NAMED = 3;

/** Whether a resource still holds the id once its own change is carried out. */
function remains({ path }: Use, change: Change | undefined): boolean {
  if (change === undefined || change.verdict !== 'ok') return true;
  const isRewritten = change.fields.some((field) => field.path === path && isWritten(field));
  return !isDelete(change) && !isRewritten;
}

/** The live resources that refer to those of some kinds, by the kind and id that they refer to. */
async function indexUses(
  names: ReadonlySet<string>,
  { desired, state, reader }: Surroundings,
): Promise<ReadonlyMap<string, readonly Use[]>> {
  const found = await Promise.all(
    kinds
      .filter(({ schema }) => [...referredKinds(schema)].some((name) => names.has(name)))
      .map((kind) => usesBy(kind, kind.listsAll ? [{}] : listScopes(kind, desired, state), reader)),
  );
  return Map.groupBy(found.flat(), ({ to }) => `${to.kind} ${to.id}`);
}

/** What the live resources of a kind refer to. List items need not show every field, so each is read. */
export async function usesBy(
  kind: Kind,
  scopes: readonly Scope[],
  reader: Reader,
): Promise<readonly Use[]> {
  const lists = await Promise.all(scopes.map((scope) => listKnown(reader, kind, scope)));
  const items = new Map(lists.flatMap((list) => list ?? []).map((item) => [item.id, item]));
  const uses = [...items.values()].map(async (item): Promise<readonly Use[]> => {
    const live = await reader.read(kind, item, new Set());
    if (live === undefined) return [];
    const { id } = item;
    const name = typeof live.document.name === 'string' ? live.document.name : id;
    return [...listLeaves(kind.schema, live.document).leaves.values()].flatMap((leaf) => {
      const { schema, value, text: path } = leaf;
      const target = schema['x-ref'];
      if (target === undefined || typeof value !== 'string' || value === '') return [];
      return [{ kind, id, name, path, to: { kind: target, id: value } }];
    });
  });
  return (await Promise.all(uses)).flat();
}

function usesMessage(uses: readonly Use[], addresses: ReadonlyMap<string, Address>): string {
  const users = [...new Map(uses.map((use) => [`${use.kind.name} ${use.id}`, use])).values()];
  const named = users.map(({ kind, id, name }): Address | string => {
    return addresses.get(`${kind.name} ${id}`) ?? `${name} (${id})`;
  });
  const [noun = ''] = users.map(({ kind }) => (users.length === 1 ? kind.name : kind.section));
  const what = `${formatNumber(users.length)} live ${nameInWords(noun)} still`;
  const verb = users.length === 1 ? 'uses' : 'use';
  return `${what} ${verb} it: ${formatFirst(named, NAMED)}; give them another one first, or plan with --delete-used`;
}

function isMade({ action }: Change): boolean {
  return action === 'create' || action === 'replace';
}

function writesReference({ fields, operations }: Change, address: Address): boolean {
  return operations.length > 0 && fields.some(({ after }) => refersTo(after, address));
}

/** Whether a value as a plan shows it is a reference to an address. */
function refersTo(value: Json, address: Address): boolean {
  return isObject(value) && value.$ref === address;
}
