import { dereference, type FieldSchema, itemSchema, memberSchema } from '../../core/schema.ts';
import type { Kind } from '../../kinds/kind.ts';
import { blockSchema, isRefused, resourceSchema } from '../schema.ts';
import { settingsSchema } from '../settings-schema.ts';

/** In which order the members of a map stand, and what is known of what they hold. */
export type Shape = {
  /** What is not among them stays behind them, in the order in which it was written. */
  readonly keys: readonly string[];
  readonly member: (key: string) => Shape;
  /** Elements, where it is a list. The order of a list is its own. */
  readonly item: () => Shape;
};

/** What nothing is known of: everything stays where it stands. */
const ANY: Shape = { keys: [], member: () => ANY, item: () => ANY };

/** What says how a resource comes about stands before its fields. */
const COMPOSITION = ['base', 'for_each', 'key', 'allow_empty'];
const OWN_MEMBERS = ['lifecycle', 'unchecked'];
/** Sections beside settings and resources, in the order in which a stack is read. */
const OTHER_SECTIONS = ['environments', 'rules', 'moved', 'forget', 'bases'];

function shapeOf(root: FieldSchema, given: FieldSchema): Shape {
  const schema = dereference(root, given);
  const fields = Object.entries(schema.properties ?? {}).filter(([, field]) => !isRefused(field));
  return {
    keys: fields.map(([name]) => name),
    member: (key) => shapeOf(root, memberSchema(root, schema, key)),
    item: () => shapeOf(root, itemSchema(root, schema)),
  };
}

function resourceShape(kind: Kind): Shape {
  const schema = resourceSchema(kind);
  const shape = shapeOf(schema, schema);
  const fields = shape.keys.filter((key) => !OWN_MEMBERS.includes(key));
  return { ...shape, keys: [...COMPOSITION, ...fields, ...OWN_MEMBERS] };
}

/** A map from names, whose order is the author's, to things of one shape. */
function named(inner: () => Shape): Shape {
  return { keys: [], member: inner, item: () => ANY };
}

function sectionShape(kind: Kind): Shape {
  const resource = () => resourceShape(kind);
  const { nested } = kind;
  if (nested === undefined) return named(resource);
  const schema = blockSchema(kind);
  const block = shapeOf(schema, schema);
  return named(() => ({
    keys: [...block.keys, nested.key],
    member: (key) => (key === nested.key ? named(resource) : block.member(key)),
    item: () => ANY,
  }));
}

const keysOfKinds = new WeakMap<Kind, readonly string[]>();

/** The fields of a kind under the names of the configuration, in the order in which they are written. */
export function resourceKeys(kind: Kind): readonly string[] {
  const known = keysOfKinds.get(kind);
  if (known !== undefined) return known;
  const { keys } = resourceShape(kind);
  keysOfKinds.set(kind, keys);
  return keys;
}

/** The order of a whole file of a stack: settings, then the sections in the order of their kinds. */
export function fileShape(kinds: readonly Kind[]): Shape {
  const settings = shapeOf(settingsSchema, settingsSchema);
  const others = OTHER_SECTIONS.filter((key) => !settings.keys.includes(key));
  const sections = new Map(kinds.map((kind) => [kind.section, kind]));
  return {
    keys: [...settings.keys, ...others, ...sections.keys()],
    member: (key) => {
      const kind = sections.get(key);
      return kind === undefined ? settings.member(key) : sectionShape(kind);
    },
    item: () => ANY,
  };
}

/** Places in the canonical order; a stable order, so that what is not known keeps its own. */
export function inOrder<T>(
  items: readonly T[],
  keys: readonly string[],
  keyOf: (item: T) => string,
): T[] {
  if (items.length < 2) return [...items];
  const ranks = ranksOf(keys);
  const rank = (item: T) => ranks.get(keyOf(item)) ?? keys.length;
  return items.toSorted((a, b) => rank(a) - rank(b));
}

const ranksOfKeys = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

function ranksOf(keys: readonly string[]): ReadonlyMap<string, number> {
  const known = ranksOfKeys.get(keys);
  if (known !== undefined) return known;
  const ranks = new Map(keys.map((key, index) => [key, index]));
  ranksOfKeys.set(keys, ranks);
  return ranks;
}
