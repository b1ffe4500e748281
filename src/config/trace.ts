import { identityText, isIdentity, type Path, writtenSegments } from '../core/path.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { Blob, Ref, Secret } from '../core/value.ts';
import { Failed, isResolvedList, isResolvedObject, type Resolved } from './resolved.ts';
import type { Place } from './source.ts';
import type { Written } from './written.ts';

/** One node of a document: what it became, what its schema says and where it was written. */
export type Spot = {
  readonly path: Path;
  readonly value: Resolved | undefined;
  readonly schema: FieldSchema;
  /** Undefined below a value form: the members of a `$file` are not written out. */
  readonly written: Written | undefined;
  /** Where its key stands; of a list's element, the element itself. */
  readonly keyPlace: Place | undefined;
};

/** Whether a value is a form's outcome or a hole, so that a schema has nothing to say about it. */
function isSpecial(value: Resolved | undefined): boolean {
  return (
    value instanceof Ref ||
    value instanceof Secret ||
    value instanceof Blob ||
    value instanceof Failed
  );
}

function memberSpot(root: FieldSchema, spot: Spot, key: string): Spot | undefined {
  if (!isResolvedObject(spot.value) || !Object.hasOwn(spot.value, key)) return undefined;
  const member = spot.written?.type === 'map' ? spot.written.members.get(key) : undefined;
  return {
    path: [...spot.path, key],
    value: spot.value[key],
    schema: memberSchema(root, spot.schema, key),
    written: member?.value,
    keyPlace: member?.keyPlace,
  };
}

/** The identity of a list's element: the member its schema names, or a set's text itself. */
function identityOf(list: FieldSchema, element: Resolved | undefined): unknown {
  const key = list['x-identity'];
  if (key !== undefined) return isResolvedObject(element) ? element[key] : undefined;
  return list['x-set'] === true ? element : undefined;
}

function segmentsIn(list: FieldSchema, items: readonly Resolved[]): readonly string[] {
  // Nearly all lists have elements without a name.
  const isNamed = list['x-identity'] !== undefined || list['x-set'] === true;
  return writtenSegments(
    isNamed ? items.map((item) => identityOf(list, item)) : items.map(() => undefined),
  );
}

function elementSpot(root: FieldSchema, spot: Spot, index: number): Spot | undefined {
  if (!isResolvedList(spot.value) || !(index in spot.value)) return undefined;
  const items = spot.value;
  const written = spot.written?.type === 'list' ? spot.written.items[index] : undefined;
  return {
    path: [...spot.path, segmentsIn(spot.schema, items)[index] ?? ''],
    value: items[index],
    schema: itemSchema(root, spot.schema),
    written,
    keyPlace: written?.place,
  };
}

/** The spot of a whole document. */
export function rootSpot(
  schema: FieldSchema,
  value: Resolved,
  written: Written,
  keyPlace: Place,
): Spot {
  return { path: [], value, schema: dereference(schema, schema), written, keyPlace };
}

/** Follows a JSON pointer as far as it leads; a form's outcome is not entered. */
export function followPointer(start: Spot, pointer: string): Spot {
  let spot = start;
  for (const part of pointer.split('/').slice(1)) {
    if (isSpecial(spot.value)) return spot;
    const key = plainKey(part);
    const next = isResolvedList(spot.value)
      ? elementSpot(start.schema, spot, Number(key))
      : memberSpot(start.schema, spot, key);
    if (next === undefined) break;
    spot = next;
  }
  return spot;
}

/** Whether a JSON pointer leads to or through a form's outcome: `followPointer` without the way there. */
export function isBelowSpecial(value: Resolved, pointer: string): boolean {
  let at: Resolved | undefined = value;
  for (const part of pointer.split('/').slice(1)) {
    if (isSpecial(at)) return true;
    if (isResolvedList(at)) at = at[Number(part)];
    else at = isResolvedObject(at) ? at[plainKey(part)] : undefined;
  }
  return isSpecial(at);
}

function plainKey(part: string): string {
  return part.includes('~') ? part.replaceAll('~1', '/').replaceAll('~0', '~') : part;
}

/** A spot and every one below it; what stands for one value, as a form does, is not entered. */
export function* spotsBelow(root: FieldSchema, spot: Spot): Iterable<Spot> {
  yield spot;
  const { value } = spot;
  if (isResolvedList(value)) {
    for (const index of value.keys()) {
      const inner = elementSpot(root, spot, index);
      if (inner !== undefined) yield* spotsBelow(root, inner);
    }
  } else if (isResolvedObject(value)) {
    for (const key of Object.keys(value)) {
      const inner = memberSpot(root, spot, key);
      if (inner !== undefined) yield* spotsBelow(root, inner);
    }
  }
}

/** Follows a path whose list elements are named by identity; undefined where it leads nowhere. */
export function followPath(start: Spot, path: Path): Spot | undefined {
  let spot: Spot | undefined = start;
  for (const segment of path) {
    if (spot === undefined) return undefined;
    const here: Spot = spot;
    if (isIdentity(segment) && isResolvedList(here.value)) {
      const index = segmentsIn(here.schema, here.value).indexOf(segment);
      spot = elementSpot(start.schema, here, index < 0 ? Number(identityText(segment)) : index);
    } else spot = memberSpot(start.schema, here, segment);
  }
  return spot;
}
