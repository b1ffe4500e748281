import { ApiError } from '../api/errors.ts';
import type { DesiredResource } from '../core/desired.ts';
import { isIdentity, type Path } from '../core/path.ts';
import type { FieldSchema } from '../core/schema.ts';
import { schemasAlong } from '../diff/along.ts';
import type { LeafChange } from '../diff/compare.ts';

/**
 * The leaves that a 400 says cannot be emptied, of those that a write was to empty: the specification does
 * not say where null is taken. None for any other error.
 */
export function refusedClears(
  error: unknown,
  root: FieldSchema,
  changes: readonly LeafChange[],
  { isPartial }: DesiredResource,
): readonly LeafChange[] {
  if (!(error instanceof ApiError) || error.status !== 400) return [];
  const clears = changes.filter((change) => isClear(change, isPartial));
  const named = error.issues.map(({ path }) => path).filter((path) => path !== '');
  // A body without issues does not say which field it means.
  return named.length === 0
    ? clears
    : clears.filter(({ path }) => named.some((name) => isSame(name, writeName(root, path))));
}

/**
 * Whether a change empties a leaf that nobody wants to be anything in particular. What the configuration
 * itself wants to be null is none, as it would want it again; what a rollback is to empty is one.
 */
export function isClear({ after, path }: LeafChange, isPartial: boolean): boolean {
  const isElement = isIdentity(path.at(-1) ?? '');
  return !isElement && (after === undefined || (isPartial && after === null));
}

/** Whether one of two dotted names lies in the other. */
function isSame(one: string, other: string): boolean {
  return `${one}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${one}.`);
}

/** The dotted name that a leaf is written under. */
function writeName(root: FieldSchema, path: Path): string {
  const along = schemasAlong(root, path);
  return path.map((segment, index) => along[index]?.['x-write'] ?? segment).join('.');
}
