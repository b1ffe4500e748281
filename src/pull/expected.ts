import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { elementSegments, formatPath, isIdentity, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { isList, isObject, Ref, type Value, type ValueObject } from '../core/value.ts';
import { isSpecial, leavesOf, normalise } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Wish } from './wish.ts';

/** A leaf that does not say what it should after the edits. */
export type Mismatch = { readonly address: Address; readonly path: string };

/**
 * What differs between the resources as they should be, those of before with the wishes fulfilled, and as
 * they are after the edits. That is how a change which nobody asked for is noticed.
 */
export function mismatches(
  before: readonly DesiredResource[],
  after: readonly DesiredResource[],
  wishes: readonly Wish[],
  idOf: (address: Address) => string | undefined,
): readonly Mismatch[] {
  const now = new Map(after.map((resource) => [resource.address, resource]));
  const wanted = Map.groupBy(wishes, ({ address }) => address);
  const known = new Set(before.map(({ address }) => address));
  const lost = after.flatMap(({ address }) => (known.has(address) ? [] : [{ address, path: '' }]));
  return before
    .flatMap((resource): readonly Mismatch[] => {
      const { address } = resource;
      const read = now.get(address);
      if (read === undefined) return [{ address, path: '' }];
      const { schema } = kindNamed(resource.kind);
      const document = (wanted.get(address) ?? []).reduce<ValueObject>(
        (given, wish) => fulfil(schema, given, wish),
        resource.document,
      );
      return differing(formOf(schema, document, idOf), formOf(schema, read.document, idOf)).map(
        (path) => ({ address, path }),
      );
    })
    .concat(lost);
}

function differing(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>) {
  const all = new Set([...a.keys(), ...b.keys()]);
  return [...all].filter((path) => a.get(path) !== b.get(path));
}

/** The leaves of a document in the form in which a plan compares them. */
function formOf(
  schema: FieldSchema,
  document: ValueObject,
  idOf: (address: Address) => string | undefined,
): ReadonlyMap<string, string> {
  const form = new Map<string, string>();
  for (const { text, value, schema: own } of leavesOf(schema, document).leaves.values()) {
    const id = value instanceof Ref ? idOf(value.address) : undefined;
    const plain = isSpecial(value) ? (id ?? JSON.stringify(value)) : normalise(own, value);
    if (plain !== null) form.set(text, JSON.stringify(plain));
  }
  return form;
}

/** A document with one wish fulfilled. */
function fulfil(root: FieldSchema, document: ValueObject, wish: Wish): ValueObject {
  return put(root, root, document, wish.path, wish.next) as ValueObject;
}

function put(
  root: FieldSchema,
  schema: FieldSchema,
  value: Value | undefined,
  [segment, ...rest]: Path,
  next: Value | undefined,
): Value | undefined {
  if (segment === undefined) return next;
  // A key of an object may begin with a bracket, too.
  if (isIdentity(segment) && (schema['x-identity'] !== undefined || isList(value))) {
    const items = isList(value) ? value : [];
    const key = schema['x-identity'] ?? '';
    const at = elementSegments(key, items).indexOf(segment);
    const made = put(root, itemSchema(root, schema), items[at], rest, next);
    if (made === undefined) return items.filter((_, index) => index !== at);
    return at < 0 ? [...items, made] : items.with(at, made);
  }
  const members: ValueObject = isObject(value) ? value : {};
  const made = put(root, memberSchema(root, schema, segment), members[segment], rest, next);
  const others = Object.fromEntries(Object.entries(members).filter(([key]) => key !== segment));
  return made === undefined ? others : { ...others, [segment]: made };
}

/** Whether a leaf is the one that a wish is about, or lies in it. */
export function isAbout({ path, text }: Wish, leaf: string): boolean {
  return leaf === text || leaf.startsWith(`${formatPath(path)}.`) || leaf.startsWith(`${text}[`);
}
