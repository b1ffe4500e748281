import { type Address, nameInWords } from '../core/address.ts';
import { findCircles } from '../core/circles.ts';
import type { DesiredResource } from '../core/desired.ts';
import { formatPosition } from '../core/diagnostics.ts';
import { formatFirst, formatNumber } from '../core/errors.ts';
import { type Change, isWritten, type PlannedOperation } from '../core/plan-document.ts';
import type { FieldSchema } from '../core/schema.ts';
import { isObject, type Json, oncePer, plainId, refsIn, valuesIn } from '../core/value.ts';
import { ANY_KIND, idsAt } from '../core/walk.ts';
import { listLeaves } from '../diff/leaves.ts';
import { kindNamed, kinds } from '../kinds/index.ts';
import { canFollowCreate, type Kind, type Scope } from '../kinds/kind.ts';
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
  const gone = new Set(
    [...leaving].flatMap(({ action, kind, id }) => (action === 'delete' ? [`${kind} ${id}`] : [])),
  );
  const targets = [...leaving].flatMap(({ kind, id }) => (id === null ? [] : [{ kind, id }]));
  const uses = await findUses(targets, surroundings, ({ kind, id }) => !gone.has(`${kind} ${id}`));
  const planned = new Map(changes.map((change) => [`${change.kind} ${change.id}`, change]));
  const addresses = new Map([
    ...changes.map(({ kind, id, address }) => [`${kind} ${id}`, address] as const),
    ...chosen.map(({ kind, found, address }) => [`${kind.name} ${found?.id}`, address] as const),
  ]);
  const configured = new Map(surroundings.desired.map((one) => [one.address, one]));
  const findPosition = (address: Address, path: string) => {
    const position = configured.get(address)?.locate(path);
    return position && formatPosition(position);
  };
  return changes.map((change) => {
    if (!leaving.has(change)) return change;
    const all = uses.get(`${change.kind} ${change.id}`) ?? [];
    const left = all.filter((use) => remains(use, planned.get(`${use.kind.name} ${use.id}`)));
    return left.length === 0
      ? change
      : refuse(change, `${change.reason}; ${usesMessage(left, addresses, findPosition)}`, 'force');
  });
}

/**
 * Refuses changes that would write the id of a resource which neither exists nor comes to exist by this
 * plan: it is left out with `--target`, or refused itself. Where it is unsupported, so is what refers to
 * it. Those that refer to each other exist together or not at all.
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
  // A resource that is created counts as existing until something that it needs is found to be missing.
  const missing = new Set<Address>();
  const made = new Map(
    changes.flatMap((change) =>
      change.verdict === 'ok' && isMade(change) ? [[change.address, change] as const] : [],
    ),
  );
  const findUnresolved = (change: Change) =>
    (references.get(change.address) ?? []).find(
      (address) =>
        !ids.has(address) &&
        (!made.has(address) || missing.has(address)) &&
        writesReference(change, address),
    );
  for (let isLeft = true; isLeft; ) {
    isLeft = false;
    for (const [address, change] of made) {
      if (missing.has(address) || findUnresolved(change) === undefined) continue;
      missing.add(address);
      isLeft = true;
    }
  }
  const unsupported = new Set<Address>();
  const refused = new Set<Address>();
  for (const { address, verdict } of changes) {
    if (verdict === 'unsupported') unsupported.add(address);
    if (verdict === 'refused') refused.add(address);
  }
  // A resource that refers to an unsupported one is unsupported, too, however many stand between.
  for (let isLeft = true; isLeft; ) {
    isLeft = false;
    for (const change of changes) {
      const { address } = change;
      const unresolved = change.verdict === 'ok' ? findUnresolved(change) : undefined;
      if (unresolved === undefined || unsupported.has(address)) continue;
      if (!unsupported.has(unresolved)) refused.add(address);
      else {
        unsupported.add(address);
        isLeft = true;
      }
    }
  }
  return changes.map((change) => {
    const unresolved = change.verdict === 'ok' ? findUnresolved(change) : undefined;
    if (unresolved === undefined) return change;
    const why =
      refused.has(unresolved) && !unsupported.has(unresolved)
        ? 'is refused too'
        : 'which this plan does not create';
    const reason = `${change.reason}; it refers to ${unresolved}, which does not exist and ${why}`;
    return unsupported.has(unresolved)
      ? { ...change, verdict: 'unsupported', reason, operations: [] }
      : { ...change, verdict: 'refused', reason };
  });
}

/**
 * Changes that make resources which refer to each other, in two steps: of each circle one is made without the fields
 * that lead into it, and an update writes those once the others exist. `ids`: those that are known before.
 */
export function deferInCircles(
  changes: readonly Change[],
  desired: readonly DesiredResource[],
  ids: ReadonlyMap<Address, string>,
): readonly Change[] {
  const documents = new Map(desired.map((one) => [one.address, one] as const));
  const made = new Map(
    changes.flatMap((change) => {
      const isUnborn = change.verdict === 'ok' && isMade(change) && !ids.has(change.address);
      const references = documents.get(change.address)?.references ?? [];
      return isUnborn && references.length > 0 ? [[change.address, change] as const] : [];
    }),
  );
  const later = new Map<Address, Set<string>>();
  const edges = new Map(
    [...made.keys()].map((address) => {
      const fields = Object.entries(documents.get(address)?.document ?? {});
      const leading = fields.flatMap(([field, value]) =>
        refsIn(value).flatMap((ref) => (made.has(ref.address) ? [{ field, to: ref.address }] : [])),
      );
      return [address, leading] as const;
    }),
  );
  const leadingFrom = (address: Address) =>
    (edges.get(address) ?? []).filter(({ field }) => later.get(address)?.has(field) !== true);
  for (let isLeft = edges.size > 0; isLeft; ) {
    isLeft = false;
    const circles = findCircles([...made.keys()], (one) => leadingFrom(one).map(({ to }) => to));
    const broken = new Set<Address | undefined>();
    for (const [address, { kind }] of made) {
      const circle = circles.get(address);
      const within = leadingFrom(address).filter(
        ({ to, field }) => circles.get(to) === circle && canFollowCreate(kindNamed(kind), field),
      );
      if (within.length === 0 || broken.has(circle)) continue;
      broken.add(circle);
      later.set(
        address,
        new Set([...(later.get(address) ?? []), ...within.map(({ field }) => field)]),
      );
      isLeft = true;
    }
  }
  if (later.size === 0) return changes;
  return changes.map((change) => {
    const fields = later.get(change.address);
    return fields === undefined
      ? change
      : { ...change, operations: withLater(change.operations, fields) };
  });
}

/** Steps of a making in which an update writes some fields after the create. */
function withLater(
  operations: readonly PlannedOperation[],
  later: ReadonlySet<string>,
): readonly PlannedOperation[] {
  const update = operations.find(({ step }) => step === 'update');
  return operations.flatMap((operation): readonly PlannedOperation[] => {
    if (operation === update) return [];
    if (operation.step !== 'create') return [operation];
    const { fields } = operation;
    return [
      { step: 'create', fields: fields.filter((field) => !later.has(field)) },
      {
        step: 'update',
        fields: [...(update?.fields ?? []), ...fields.filter((field) => later.has(field))],
      },
    ];
  });
}

/** The top-level fields that a change which makes a resource writes by an update after the create. */
export function laterFields({ operations }: Pick<Change, 'operations'>): ReadonlySet<string> {
  const isMaking = operations.some(({ step }) => step === 'create');
  return new Set(
    operations.flatMap(({ step, fields }) => (isMaking && step === 'update' ? fields : [])),
  );
}

/** Addresses of the resources that a document refers to, but for those of some top-level fields. */
export function referencesWithout(
  { document, references }: Pick<DesiredResource, 'document' | 'references'>,
  without: ReadonlySet<string>,
): readonly Address[] {
  if (without.size === 0) return references;
  const fields = Object.entries(document).filter(([field]) => !without.has(field));
  const found = fields.flatMap(([, value]) => refsIn(value).map(({ address }) => address));
  return [...new Set(found)];
}

/** The kinds whose ids a kind's documents may hold in fields of their own (`x-ref`). */
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

/** Tells whether ids may stand in texts or settings of a kind's documents (`x-ids-inside`, `x-prose`). */
const hasIdsInside = oncePer((schema: FieldSchema): 'yes' | 'no' => {
  const visit = (field: FieldSchema): boolean => {
    if (field['x-ids-inside'] === true || field['x-prose'] !== undefined) return true;
    const below = [...Object.values(field.properties ?? {}), ...Object.values(field.$defs ?? {})];
    return below.some(visit) || (field.items !== undefined && visit(field.items));
  };
  return visit(schema) ? 'yes' : 'no';
});

/** A live resource that holds the id of another. */
export type Use = {
  readonly kind: Kind;
  readonly id: string;
  readonly scope: Scope;
  readonly name: string;
  /** The field that holds it. */
  readonly path: string;
  /** `ANY_KIND` in the place of a kind: the id stands in settings or in a text. */
  readonly to: { readonly kind: string; readonly id: string };
};

/** The places in which uses are looked for. */
type Surroundings = {
  readonly desired: readonly DesiredResource[];
  readonly state: State;
  readonly reader: Reader;
};

/** Resources that are named in a refusal; the others are counted. */
const NAMED = 3;

/** True if a resource still holds the id once its own change is carried out. */
function remains({ path, to }: Use, change: Change | undefined): boolean {
  if (change === undefined || change.verdict !== 'ok') return true;
  if (change.action === 'delete') return false;
  // A replacement takes along what stands in settings and texts, and no id that a field holds.
  if (change.action === 'replace' && to.kind !== ANY_KIND) return holdsText(change.after, to.id);
  return !change.fields.some(
    (field) => field.path === path && isWritten(field) && !holdsText(field.after, to.id),
  );
}

function holdsText(value: Json, text: string): boolean {
  return valuesIn(value).some((one) => typeof one === 'string' && one.toLowerCase().includes(text));
}

/**
 * The live resources that hold one of some ids, by the kind and the id that each refers to (`retry_policy 2f0c…`). It
 * takes a read of every resource of the kinds that may refer to them. `isAsked`: whether the uses by one count.
 */
export async function findUses(
  targets: readonly { readonly kind: string; readonly id: string }[],
  { desired, state, reader }: Surroundings,
  isAsked: (user: { readonly kind: string; readonly id: string }) => boolean = () => true,
): Promise<ReadonlyMap<string, readonly Use[]>> {
  const names = new Set(targets.map(({ kind }) => kind));
  const wanted = new Map(targets.map((target) => [plainId(target.id), target]));
  const found = await Promise.all(
    kinds
      .filter(
        ({ schema }) =>
          hasIdsInside(schema) === 'yes' ||
          [...referredKinds(schema)].some((name) => names.has(name)),
      )
      .map((kind) =>
        usesBy(kind, listUserScopes(kind, desired, state), reader, ({ id }) =>
          isAsked({ kind: kind.name, id }),
        ),
      ),
  );
  const uses = found.flat().flatMap((use) => {
    const target = wanted.get(use.to.id);
    const isMeant = use.to.kind === ANY_KIND || use.to.kind === target?.kind;
    const isOwn = target?.id === use.id && target.kind === use.kind.name;
    return target === undefined || !isMeant || isOwn ? [] : [{ use, target }];
  });
  const grouped = Map.groupBy(uses, ({ target }) => `${target.kind} ${target.id}`);
  return new Map([...grouped].map(([key, all]) => [key, all.map(({ use }) => use)]));
}

/** Lists the scopes in which resources of a kind may refer to those of the stack: all of its sort in use. */
function listUserScopes(
  kind: Kind,
  desired: readonly DesiredResource[],
  state: State,
): readonly Scope[] {
  if (kind.listsAll === true || kind.scope.length === 0) return [{}];
  const alike = kinds.filter(({ scope }) => String(scope) === String(kind.scope));
  const scopes = alike.flatMap((other) => listScopes(other, desired, state));
  return [...new Map(scopes.map((scope) => [JSON.stringify(scope), scope])).values()];
}

/** Returns the references of the live resources of a kind. List items need not show every field, so each is read. */
export async function usesBy(
  kind: Kind,
  scopes: readonly Scope[],
  reader: Reader,
  isAsked: (item: { readonly id: string }) => boolean = () => true,
): Promise<readonly Use[]> {
  const lists = await Promise.all(scopes.map((scope) => listKnown(reader, kind, scope)));
  const items = new Map(lists.flatMap((list) => list ?? []).map((item) => [item.id, item]));
  const uses = [...items.values()].filter(isAsked).map(async (item): Promise<readonly Use[]> => {
    const live = await reader.read(kind, item, new Set());
    if (live === undefined) return [];
    const { id, scope } = live;
    const name = typeof live.document.name === 'string' ? live.document.name : id;
    return [...listLeaves(kind.schema, live.document).leaves.values()].flatMap((leaf) =>
      idsAt(leaf.node, leaf.value).map((to) => ({ kind, id, scope, name, path: leaf.text, to })),
    );
  });
  return (await Promise.all(uses)).flat();
}

function usesMessage(
  uses: readonly Use[],
  addresses: ReadonlyMap<string, Address>,
  findPosition: (address: Address, path: string) => string | undefined,
): string {
  const users = [...new Map(uses.map((use) => [`${use.kind.name} ${use.id}`, use])).values()];
  const named = users.map(({ kind, id, name, path, to }): Address | string => {
    const address = addresses.get(`${kind.name} ${id}`);
    const label = address ?? `${name} (${id})`;
    if (to.kind !== ANY_KIND) return label;
    const position = address && findPosition(address, path);
    return `${label} in ${path}${position === undefined ? '' : ` (${position})`}`;
  });
  const [first, ...others] = [...new Set(users.map(({ kind }) => kind))];
  const noun =
    first === undefined || others.length > 0
      ? 'resources'
      : nameInWords(users.length === 1 ? first.name : first.section);
  const what = `${formatNumber(users.length)} live ${noun} still`;
  const verb = users.length === 1 ? 'uses' : 'use';
  return `${what} ${verb} it: ${formatFirst(named, NAMED)}; give them another one first, or plan with --delete-used`;
}

function isMade({ action }: Change): boolean {
  return action === 'create' || action === 'replace';
}

function writesReference({ fields, operations }: Change, address: Address): boolean {
  return operations.length > 0 && fields.some(({ after }) => refersTo(after, address));
}

/** Tells whether a value as a plan shows it refers to an address: itself, in a list or as a part of a text. */
function refersTo(value: Json, address: Address): boolean {
  return valuesIn(value).some(
    (one) =>
      (isObject(one) && one.$ref === address) ||
      (typeof one === 'string' && one.includes(`\${${address}}`)),
  );
}
