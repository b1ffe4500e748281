import { elementSegments, isIdentity, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { isList, isObject, ownOf, type Value, type ValueObject } from '../core/value.ts';

/**
 * A document's values at the given paths, put into another document. What it has nothing at becomes null. A
 * list that is keyed by identity goes whole, as it is owned whole; in its elements, too, what the document
 * has nothing at becomes null, so that it is taken away.
 */
export function pickLeaves(
  root: FieldSchema,
  document: ValueObject,
  paths: readonly Path[],
  into: ValueObject = {},
): ValueObject {
  function place(
    schema: FieldSchema,
    from: Value | undefined,
    at: Value | undefined,
    [segment, ...rest]: Path,
  ): Value {
    if (segment === undefined) return from ?? null;
    if (isIdentity(segment)) return placeInList(schema, from, at, segment, rest);
    const object = isObject(at) ? at : {};
    const member = isObject(from) ? ownOf(from, segment) : undefined;
    const inner = memberSchema(root, schema, segment);
    return { ...object, [segment]: place(inner, member, ownOf(object, segment), rest) };
  }

  function placeInList(
    schema: FieldSchema,
    from: Value | undefined,
    into: Value | undefined,
    segment: string,
    rest: Path,
  ): Value {
    const former = isList(from) ? from : [];
    const list = isList(into) ? into : former;
    const key = schema['x-identity'] ?? '';
    const known = former[elementSegments(key, former).indexOf(segment)];
    const at = elementSegments(key, list).indexOf(segment);
    // An element that was not there is taken away by the list that does not have it.
    return list.map((element, index) =>
      index === at ? place(itemSchema(root, schema), known, element, rest) : element,
    );
  }

  return paths.reduce<ValueObject>((picked, path) => {
    const placed = place(root, document, picked, path);
    return isObject(placed) ? placed : picked;
  }, into);
}
