import { elementSegments, identityText, isIdentity, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';

/** The schemas along a path, from the top-level field down to what the path leads to. */
export function schemasAlong(root: FieldSchema, path: Path): readonly FieldSchema[] {
  const along: FieldSchema[] = [];
  let schema = root;
  for (const segment of path) {
    schema = isIdentity(segment) ? itemSchema(root, schema) : memberSchema(root, schema, segment);
    along.push(schema);
  }
  return along;
}

/** What a document has at a path, be it a leaf or not; undefined where it has nothing there. */
export function valueAt(root: FieldSchema, document: JsonObject, path: Path): Json | undefined {
  let value: Json | undefined = document;
  const along = [root, ...schemasAlong(root, path)];
  for (const [index, segment] of path.entries()) {
    const key = along[index]?.['x-identity'];
    if (isObject(value)) value = Object.hasOwn(value, segment) ? value[segment] : undefined;
    else if (isList(value) && key !== undefined) value = elementOf(value, key, segment);
    else return undefined;
  }
  return value;
}

function elementOf(list: readonly Json[], key: string, segment: string): Json | undefined {
  return list[elementSegments(key, list).indexOf(segment)];
}

/** Elements of a keyed list that nobody can tell apart. */
export type Twins = {
  readonly list: Path;
  /** The member that they are recognised by. */
  readonly key: string;
  readonly name: string;
  readonly elements: readonly Json[];
};

/**
 * The elements that a path may lead to, where the identity that it names must be unique and several have it: nobody
 * can tell which of them is meant.
 */
export function twinsOn(root: FieldSchema, document: JsonObject, path: Path): Twins | undefined {
  const along = [root, ...schemasAlong(root, path)];
  for (const [index, segment] of path.entries()) {
    const { 'x-identity': key, 'x-repeats': repeats } = along[index] ?? {};
    if (!isIdentity(segment) || key === undefined || repeats === true) continue;
    const list = path.slice(0, index);
    const name = identityText(segment);
    const found = valueAt(root, document, list);
    const elements = isList(found)
      ? found.filter((element) => isObject(element) && String(element[key] ?? '') === name)
      : [];
    if (elements.length > 1) return { list, key, name, elements };
  }
  return undefined;
}
