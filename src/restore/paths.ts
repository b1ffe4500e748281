import type { Path } from '../core/path.ts';
import { elementSegments, isIdentity } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { isList, isObject, type Value, type ValueObject } from '../core/value.ts';

/**
 * A document with another value at a path; undefined takes away what is there. Elements of lists are found by
 * what names them, and where one is not there nothing is made.
 */
export function withValueAt(
  root: FieldSchema,
  document: ValueObject,
  path: Path,
  value: Value | undefined,
): ValueObject {
  function put(schema: FieldSchema, at: Value | undefined, rest: Path): Value | undefined {
    const [segment, ...below] = rest;
    if (segment === undefined) return value;
    if (value === undefined && at === undefined) return undefined;
    if (isList(at)) return putInto(schema, at, segment, below);
    if (isIdentity(segment)) return at;
    const members = isObject(at) ? at : {};
    const inner = put(memberSchema(root, schema, segment), members[segment], below);
    const { [segment]: _, ...others } = members;
    return inner === undefined ? others : { ...others, [segment]: inner };
  }

  function putInto(
    schema: FieldSchema,
    list: readonly Value[],
    segment: string,
    below: Path,
  ): Value {
    const segments = elementSegments(schema['x-identity'] ?? '', list);
    return list.flatMap((item, index) => {
      if (segments[index] !== segment) return [item];
      const inner = put(itemSchema(root, schema), item, below);
      return inner === undefined ? [] : [inner];
    });
  }

  const changed = put(root, document, path);
  return isObject(changed) ? changed : document;
}

/** The list element whose own member a path leads to; undefined where that is no element's. */
export function elementOf(path: Path): Path | undefined {
  const above = path.slice(0, -1);
  return isIdentity(above.at(-1) ?? '') ? above : undefined;
}
