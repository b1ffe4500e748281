import { computeDigest } from '../../../core/digest.ts';
import { type FieldSchema, memberSchema } from '../../../core/schema.ts';
import {
  compareTexts,
  isList,
  isObject,
  type Value,
  type ValueObject,
} from '../../../core/value.ts';
import { placeValue, valueAt } from '../../../core/walk.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { distinct } from '../../../live/names.ts';
import type { Organization } from '../../../live/organizations.ts';
import type { WritableBase } from '../edit/write.ts';
import { without } from './live-document.ts';

/** A value at a place in a document that a base can hold. */
type Leaf = { readonly path: readonly string[]; readonly value: Value };

/** A field of which there are more values than this has nothing that resources share. */
const MOST_VALUES = 500;
/** Lines that a base must save before it is worth looking up. */
const FEWEST_LINES_SAVED = 4;
/** The least share of the resources that must have a value before it is a common setting. */
const LEAST_SHARE = 2 / 3;
const COMMON = 'common';

/** The values of one place, and how many have each. */
type Tally = {
  readonly path: readonly string[];
  readonly counts: Map<string, { count: number; readonly value: Value }>;
  present: number;
  isVaried: boolean;
};

type Group = { size: number; readonly tallies: Map<string, Tally> };

/** The values that resources of one kind share, counted as they come, in any order. */
export type Census = {
  readonly count: (organization: string, document: ValueObject) => void;
  readonly bases: () => Bases;
};

/** Bases of a kind, and what is left of a document that stands on them. */
export type Bases = {
  readonly all: readonly WritableBase[];
  readonly layOver: (
    organization: string,
    document: ValueObject,
  ) => { readonly base: string | undefined; readonly document: ValueObject };
};

/** Takes the census of a kind's resources. Lists whose elements have an identity are never shared: they merge. */
export function openCensus(kind: Kind, organizations: readonly Organization[]): Census {
  // With one organization, the owner goes without saying.
  const own = kind.naturalKey
    .flat()
    .filter((field) => organizations.length < 2 || !kind.scope.includes(field));
  const whole: Group = { size: 0, tallies: new Map() };
  const groups = new Map<string, Group>();
  return {
    count(organization, document) {
      const group = groups.get(organization) ?? { size: 0, tallies: new Map() };
      groups.set(organization, group);
      const leaves = listLeaves(kind, document, new Set(own));
      for (const one of [whole, group]) {
        one.size += 1;
        for (const leaf of leaves) add(leaf, one.tallies);
      }
    },
    bases: () => chooseBases(kind, whole, groups, organizations),
  };
}

function add({ path, value }: Leaf, tallies: Map<string, Tally>): void {
  const key = JSON.stringify(path);
  const tally = tallies.get(key) ?? { path, counts: new Map(), present: 0, isVaried: false };
  tallies.set(key, tally);
  tally.present += 1;
  if (tally.isVaried) return;
  const text = getKey(value);
  const known = tally.counts.get(text);
  if (known !== undefined) known.count += 1;
  else tally.counts.set(text, { count: 1, value });
  if (tally.counts.size <= MOST_VALUES) return;
  tally.isVaried = true;
  tally.counts.clear();
}

function getKey(value: Value): string {
  return computeDigest(JSON.parse(JSON.stringify(value)));
}

/** The places of a document that a base can hold. What names a resource is its own. */
function listLeaves(
  { schema: root }: Kind,
  document: ValueObject,
  own: ReadonlySet<string>,
): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (schema: FieldSchema, value: Value, path: readonly string[]): void => {
    if (isList(value) && schema['x-identity'] !== undefined) return;
    if (!isObject(value) || schema['x-whole'] === true) leaves.push({ path, value });
    // A map that looks like a value form is not taken apart, and not shared either.
    else if (!Object.keys(value).some((key) => key.startsWith('$'))) {
      for (const [key, member] of Object.entries(value)) {
        visit(memberSchema(root, schema, key), member, [...path, key]);
      }
    }
  };
  for (const [field, value] of Object.entries(document)) {
    if (!own.has(field)) visit(memberSchema(root, root, field), value, [field]);
  }
  return leaves;
}

/** The leaves that all of a group have, and at least two thirds of them alike, with how many those are. */
function sharedIn({ size, tallies }: Group): readonly (Leaf & { readonly count: number })[] {
  return [...tallies.values()].flatMap(({ path, counts, present }) => {
    if (present < size) return [];
    const [first] = [...counts].sort(
      ([a, one], [b, other]) => other.count - one.count || compareTexts(a, b),
    );
    const [, most] = first ?? [];
    return most === undefined || most.count < 2 || most.count < size * LEAST_SHARE
      ? []
      : [{ path, value: most.value, count: most.count }];
  });
}

function chooseBases(
  kind: Kind,
  whole: Group,
  groups: ReadonlyMap<string, Group>,
  organizations: readonly Organization[],
): Bases {
  const names = distinct(
    organizations.map(({ id, name }) => [id, name]),
    [COMMON],
  );
  const isMany = organizations.length > 1;
  const common = paying(sharedIn(whole));
  const known = new Map(common.map((leaf) => [JSON.stringify(leaf.path), leaf.value]));
  const buildTree = (leaves: readonly Leaf[]) =>
    leaves.reduce<ValueObject>(
      (tree, { path, value }) => placeValue(kind.schema, tree, path, value),
      {},
    );
  const all: WritableBase[] = [];
  const below = common.length === 0 ? undefined : COMMON;
  if (below !== undefined) all.push({ name: COMMON, kind, document: buildTree(common) });
  const ownBases = new Map<string, { readonly base: string; readonly leaves: readonly Leaf[] }>();
  for (const { id } of organizations) {
    const group = groups.get(id);
    const name = names.get(id) ?? id;
    if (group === undefined || !isMany) continue;
    const own = paying(
      sharedIn(group).filter(({ path, value }) => {
        const other = known.get(JSON.stringify(path));
        return other === undefined || getKey(other) !== getKey(value);
      }),
    );
    if (own.length === 0) continue;
    all.push({ name, kind, base: below, document: buildTree(own) });
    ownBases.set(id, { base: name, leaves: own });
  }
  return {
    all,
    layOver(organization, document) {
      const own = ownBases.get(organization);
      const laid = new Map(
        [...common, ...(own?.leaves ?? [])].map((leaf) => [JSON.stringify(leaf.path), leaf]),
      );
      const base = own?.base ?? below;
      const rest = [...laid.values()].reduce((left, { path, value }) => {
        const held = valueAt(kind.schema, left, path);
        const isGiven = held !== undefined && getKey(held) === getKey(value);
        return isGiven ? without(kind.schema, left, path) : left;
      }, document);
      return { base, document: rest };
    },
  };
}

/** All of it, or nothing where it would save too little. */
function paying<T extends { readonly count: number }>(leaves: readonly T[]): readonly T[] {
  const saved = leaves.reduce((sum, { count }) => sum + count - 1, 0);
  return saved >= FEWEST_LINES_SAVED ? leaves : [];
}
