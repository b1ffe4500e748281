import type { Address } from '../core/address.ts';
import { formatPath, type Path, startsWith, toPath } from '../core/path.ts';
import { type Change, isWritten, type PlannedOperation } from '../core/plan-document.ts';
import { type FieldSchema, namesField } from '../core/schema.ts';
import { getOwn, isNothing, type JsonObject, type Value, type ValueObject } from '../core/value.ts';
import { isRecorded, listFollowers, schemasAlong, withoutValue } from '../core/walk.ts';
import { hollowObjects } from '../diff/compare.ts';
import { fieldSchema, type Leaf, listLeaves } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import type { State } from '../state/model.ts';
import type { Identity } from './identify.ts';
import type { Reader } from './reader.ts';

/**
 * The steps that write the given top-level fields of an existing resource, in their order: a revert to `version` for
 * what a history revert restores, one update for the rest, and one step per facet.
 *
 * The fields that a revert restores are a fact in the schema (`x-revert`). It only decides whether a revert is worth
 * making: the executor looks at what the revert really did and updates whatever is left.
 */
export function updateSteps(
  kind: Kind,
  fields: readonly string[],
  version: number | undefined,
): readonly PlannedOperation[] {
  const own = ownFields(kind, fields);
  const reverted =
    kind.history && version !== undefined
      ? own.filter((field) => isRecorded(kind.schema, [field]))
      : [];
  const rest = own.filter((field) => !reverted.includes(field));
  return [
    ...(reverted.length > 0 && version !== undefined
      ? [{ step: 'revert' as const, fields: reverted, version }]
      : []),
    ...(rest.length > 0
      ? [{ step: kind.update ? ('update' as const) : ('again' as const), fields: rest }]
      : []),
    ...facetSteps(kind, fields),
  ];
}

/** The steps that make a resource. A value that a new one cannot have (`x-created-as`) follows by an update. */
export function createSteps(
  kind: Kind,
  fields: readonly string[],
  document: ValueObject,
): readonly PlannedOperation[] {
  const isLater = (field: string) => {
    const { 'x-created-as': taken } = fieldSchema(kind.schema, field);
    const value = document[field];
    return taken !== undefined && typeof value === 'string' && !taken.includes(value);
  };
  const own = ownFields(kind, fields);
  const later = kind.update === undefined ? [] : own.filter(isLater);
  return [
    { step: 'create', fields: own.filter((field) => !later.includes(field)) },
    ...(later.length === 0 ? [] : [{ step: 'update' as const, fields: later }]),
    ...facetSteps(kind, fields),
  ];
}

/** Those of some top-level fields that the resource's own endpoint writes. */
export function ownFields(
  { facets }: Pick<Kind, 'facets'>,
  fields: readonly string[],
): readonly string[] {
  return fields.filter((field) => facets.every((facet) => facet.field !== field));
}

/** The operations that a change's steps call, by name; those that only read are not among them. */
export function listWrites({ operations }: Change, kind: Kind): readonly string[] {
  return operations.flatMap(({ step, fields }) => {
    if (step === 'facet') {
      return kind.facets.flatMap((facet) => (fields.includes(facet.field) ? facet.operations : []));
    }
    const own = step === 'again' ? kind.operations.create : kind.operations[step];
    return [
      ...own,
      ...fields.flatMap((field) => fieldSchema(kind.schema, field)['x-operations'] ?? []),
    ];
  });
}

/**
 * Paths of what is live in the fields that a change writes and goes back with it: nested objects are sent whole, so
 * that a platform that replaces them loses nothing. A replacement goes back with what it keeps.
 */
export function carriedPaths(
  { operations, action, fields: shown }: Change,
  kind: Kind,
  { document, live }: { readonly document: ValueObject; readonly live: JsonObject },
): readonly string[] {
  const { schema } = kind;
  if (action === 'replace')
    return [...listLeaves(schema, carryOver(kind, document, live).document).leaves.keys()];
  const fields = new Set(
    operations.flatMap(({ step, fields }) => (step === 'update' || step === 'again' ? fields : [])),
  );
  const sent = Object.entries(live).filter(([field]) => fields.has(field));
  const written = shown.filter(isWritten).map(({ path }) => toPath(path));
  const followers = new Set(listFollowers(schema, written).map(({ path }) => formatPath(path)));
  const carried = [...listLeaves(schema, Object.fromEntries(sent)).leaves.keys()];
  return carried.filter((text) => !followers.has(text));
}

/** Live fields that a replacement keeps beside the configured ones. */
export type CarriedOver = {
  /** The live document without the paths in `left`. */
  readonly document: JsonObject;
  /** Top-level fields that the configuration has nothing of. */
  readonly fields: readonly string[];
  /** Paths of what has a value and cannot be written into a new resource. */
  readonly left: readonly string[];
};

/**
 * Returns what goes along into a new resource (DESIGN §7): all that an update could write. Left out are ids, which are
 * those of the old organization, objects whose secrets the platform does not return, and facets, each of which is
 * switched on for one resource.
 */
export function carryOver(kind: Kind, wanted: ValueObject, live: JsonObject): CarriedOver {
  const { schema: root, facets, scope, update } = kind;
  if (update === undefined) return { document: {}, fields: [], left: [] };
  const own = Object.entries(live).filter(([field, value]) => {
    const schema = fieldSchema(root, field);
    const isOurs = !schema.readOnly && !schema['x-local'] && !schema['x-immutable'];
    return isOurs && namesField(root, field) && !scope.includes(field) && !isNothing(value);
  });
  const owned = listLeaves(root, wanted).leaves;
  const isFacet = (field: string) => facets.some((one) => one.field === field);
  const [taken, facetsLeft] = [
    own.filter(([field]) => !isFacet(field)),
    own.filter(([field]) => isFacet(field) && getOwn(wanted, field) === undefined),
  ];
  const found = [...listLeaves(root, Object.fromEntries(taken)).leaves.values()];
  // An object that may hold secrets and shows nothing is left with them.
  const hollow = new Set(hollowObjects(root, Object.fromEntries(taken)).withSecrets);
  const isOwn = ({ path, text }: Leaf) =>
    hollow.has(text)
      ? [...owned.values()].some((one) => startsWith(one.path, path))
      : owned.has(text);
  const left = found.filter(
    (leaf) =>
      (!isNothing(leaf.value) || hollow.has(leaf.text)) &&
      !isOwn(leaf) &&
      staysBehind(root, leaf.path, leaf.value),
  );
  const document = left.reduce<JsonObject>(
    (all, { path }) => withoutValue(root, all, path),
    Object.fromEntries(taken),
  );
  const kept = Object.entries(document).filter(([, value]) => !isNothing(value));
  return {
    document: Object.fromEntries(kept),
    fields: kept.flatMap(([field]) => (getOwn(wanted, field) === undefined ? [field] : [])),
    left: [...facetsLeft.map(([field]) => field), ...left.map(({ text }) => text)],
  };
}

/** Tells whether a value means nothing to another resource, or is refused on creation. */
function staysBehind(root: FieldSchema, path: Path, value: Value): boolean {
  const along = schemasAlong(root, path);
  const taken = along.at(-1)?.['x-created-as'];
  if (taken !== undefined && !taken.some((one) => one === value)) return true;
  return along.some(
    (one) =>
      one['x-ref'] !== undefined || one['x-secrets-inside'] === true || one.writeOnly === true,
  );
}

/** The usable operations of the platform. */
export type Support = {
  readonly findLack: Reader['findLack'];
  /** The assumption that an operation rests on; undefined where the specification or the stack shows it. */
  readonly findAssumption: (operation: string) => string | undefined;
  /** False if fields whose form is only assumed must not be written (`platform.assume`). */
  readonly assume: boolean;
};

export function getSupport({
  reader,
  findAssumption,
  assume = true,
}: {
  readonly reader: Pick<Reader, 'findLack'>;
  readonly findAssumption: Support['findAssumption'];
  readonly assume?: boolean;
}): Support {
  return { findLack: reader.findLack, findAssumption, assume };
}

/**
 * Gives the verdict `unsupported` to a change whose steps take an operation that cannot be used, or whose bodies
 * have a form that is not to be assumed. `carried` are the paths that go back with it as they were read.
 */
export function withSupport(
  change: Change,
  identity: Identity,
  support: Support,
  carried: readonly string[],
): Change {
  const { kind, isListed } = identity;
  if (change.action === 'create' && !isListed && !kind.refusesTwins) {
    const lack = lackIn(kind.operations.read, support);
    const reason = `Callsheet cannot tell whether it exists: ${lack?.words}; ${ADOPT}`;
    return unsupported(change, reason);
  }
  const lack =
    lackIn(listWrites(change, kind), support) ?? assumedField(change, kind, support, carried);
  if (lack === undefined) return change;
  const advice = change.action === 'create' && !isListed ? ADOPT : DASHBOARD;
  const way = lack.canBeMoved ? `. ${OVERRIDE}` : '';
  return unsupported(change, `${change.reason}; ${lack.words}${way}; ${advice}`);
}

/** Why a resource cannot be read, or not all of it. */
export function unreadReason(kind: Kind, support: Support): string {
  const lack = lackIn(kind.operations.read, support);
  return `${lack?.words ?? 'the platform does not return it'}. ${OVERRIDE}`;
}

/**
 * Ids of the assumptions that reading and carrying out the changes relies on (DESIGN §9), sorted, and those that
 * make reading needless for resources of the kinds `unread`. `carried`: paths that go back as they were read. What is
 * unsupported is not carried out, and an operation that is known not to be usable is not called.
 */
export function listAssumptions(
  changes: readonly Change[],
  unread: readonly Kind[],
  carried: ReadonlyMap<Address, readonly string[]>,
  { findAssumption, findLack }: Support,
): readonly string[] {
  const found = new Set(unread.flatMap(({ stamp }) => (stamp ? [stamp.assumption] : [])));
  for (const change of changes) {
    const kind = kindNamed(change.kind);
    const isDone = change.verdict !== 'unsupported';
    const operations = [...kind.operations.read, ...(isDone ? listWrites(change, kind) : [])];
    for (const operation of operations) {
      const assumption = findLack(operation) === undefined ? findAssumption(operation) : undefined;
      if (assumption !== undefined) found.add(assumption);
    }
    if (!isDone) continue;
    const paths = [
      ...change.fields.map(({ path }) => path),
      ...(carried.get(change.address) ?? []),
    ];
    for (const path of paths) {
      for (const assumption of assumptionsAlong(kind.schema, path)) found.add(assumption);
    }
  }
  return [...found].sort();
}

/**
 * Finds the assumptions that the state's resources rest on already: the plans which made it reported them. A state that
 * no run wrote, such as that of an export, reported none.
 */
export function rememberedAssumptions(
  assumptions: readonly string[],
  { last_run: lastRun, resources }: Pick<State, 'last_run' | 'resources'>,
  { findAssumption }: Support,
): readonly string[] {
  if (lastRun === null || assumptions.length === 0) return [];
  const unreported = new Set(assumptions);
  function* remembered() {
    for (const { kind, leaves } of Object.values(resources))
      yield { kind, paths: Object.keys(leaves) };
  }
  for (const assumption of eachAssumption(remembered(), findAssumption)) {
    unreported.delete(assumption);
    // Most fleets rest on few, and the first resource names them.
    if (unreported.size === 0) break;
  }
  return assumptions.filter((one) => !unreported.has(one));
}

/** The assumptions that reading and writing resources rests on, by their kinds and the fields that they set. */
export function assumptionsBehind(
  ...given: Parameters<typeof eachAssumption>
): ReadonlySet<string> {
  return new Set(eachAssumption(...given));
}

/** The same one by one; some come more than once. */
function* eachAssumption(
  resources: Iterable<{ readonly kind: string; readonly paths: Iterable<string> }>,
  findAssumption: Support['findAssumption'],
): Iterable<string> {
  const seen = new Set<string>();
  const isNew = (key: string) => !seen.has(key) && seen.add(key) !== undefined;
  for (const { kind, paths } of resources) {
    const { schema, operations, stamp, facets } = kindNamed(kind);
    if (isNew(kind)) {
      const called = [
        ...operations.read,
        ...operations.create,
        ...operations.update,
        ...facets.flatMap((facet) => facet.operations),
      ];
      for (const assumption of [...called.map(findAssumption), stamp?.assumption])
        if (assumption !== undefined) yield assumption;
    }
    for (const path of paths) if (isNew(`${kind} ${path}`)) yield* assumptionsAlong(schema, path);
  }
}

/** The assumptions that writing a field rests on: its own, and those of what it is in. */
export function assumptionsAlong(root: FieldSchema, path: string): readonly string[] {
  return schemasAlong(root, toPath(path)).flatMap(
    ({ 'x-assumption': assumption }) => assumption ?? [],
  );
}

/** In the kind's order, so that the order of keys in the configuration decides nothing. */
function facetSteps({ facets }: Kind, fields: readonly string[]): readonly PlannedOperation[] {
  return facets
    .filter(({ field }) => fields.includes(field))
    .map(({ field }) => ({ step: 'facet' as const, fields: [field] }));
}

/** A change that apply leaves out, since the platform cannot be asked for it. */
function unsupported(change: Change, reason: string): Change {
  return { ...change, verdict: 'unsupported', reason, operations: [] };
}

const OVERRIDE = 'If the platform has it, set its path under platform.endpoints';

const ADOPT = 'if the resource exists, name its id in lifecycle.adopt';

const DASHBOARD = 'otherwise make the change in the dashboard';

/** The reason why a change cannot be made, in words, and if naming the path of the operation would help. */
type Missing = { readonly words: string; readonly canBeMoved: boolean };

/** The first of the operations that cannot be used. */
function lackIn(
  operations: readonly string[],
  { findLack, findAssumption }: Support,
): Missing | undefined {
  const operation = operations.find((name) => findLack(name) !== undefined);
  if (operation === undefined) return undefined;
  const assumption = findAssumption(operation);
  const named = assumption === undefined ? operation : `${operation} (assumption ${assumption})`;
  switch (findLack(operation)) {
    case 'refused':
      return { words: `it needs ${named}, which ${UNSHOWN}`, canBeMoved: true };
    case 'unshown':
      return { words: `it needs ${named}, whose request ${UNSHOWN}`, canBeMoved: false };
    default:
      return {
        words: `it needs ${named}, which this platform does not have`,
        canBeMoved: true,
      };
  }
}

const UNSHOWN = 'the specification does not show and platform.assume: false refuses';

/** The first field that would be written in a form that is only assumed, where nothing may be. */
function assumedField(
  change: Change,
  kind: Kind,
  { assume }: Support,
  carried: readonly string[],
): Missing | undefined {
  if (assume || change.operations.length === 0) return undefined;
  const shown = new Set(change.fields.map(({ path }) => path));
  for (const path of [...shown, ...carried]) {
    const [assumption] = assumptionsAlong(kind.schema, path);
    if (assumption === undefined) continue;
    const verb = shown.has(path) ? 'writes' : 'sends back';
    const words = `it ${verb} ${path} (assumption ${assumption}), whose form ${UNSHOWN}`;
    return { words, canBeMoved: false };
  }
  return undefined;
}
