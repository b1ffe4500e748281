import { formatPath, isIdentity, type Path, startsWith } from '../core/path.ts';
import { Secret } from '../core/value.ts';
import { schemasAlong } from '../diff/along.ts';
import type { LeafChange } from '../diff/compare.ts';
import type { Kind } from '../kinds/kind.ts';

/** What differs, with everything that is gone as a whole told once and not leaf by leaf. */
export function withGone(
  kind: Kind,
  leaves: readonly LeafChange[],
  adopted: boolean,
): readonly LeafChange[] {
  const gone = outermost([...goneElements(kind, leaves), ...goneObjects(kind, leaves, adopted)]);
  const told = new Set<Path>();
  return leaves.flatMap((leaf) => {
    const path = gone.find((one) => startsWith(leaf.path, one));
    if (path === undefined) return [leaf];
    if (told.has(path)) return [];
    told.add(path);
    return [asWhole(kind, path, leaves)];
  });
}

/** Whether a path leads to an element of a list that is keyed by identity. */
export function isElementPath(kind: Kind, path: Path): boolean {
  if (!isIdentity(path.at(-1) ?? '')) return false;
  return schemasAlong(kind.schema, path.slice(0, -1)).at(-1)?.['x-identity'] !== undefined;
}

function outermost(paths: readonly Path[]): readonly Path[] {
  const distinct = [...new Map(paths.map((path) => [formatPath(path), path])).values()];
  return distinct.filter(
    (path) => !distinct.some((other) => other.length < path.length && startsWith(path, other)),
  );
}

/** Elements of keyed lists that the configuration has and the platform no longer. */
function goneElements(kind: Kind, leaves: readonly LeafChange[]): readonly Path[] {
  return leaves.flatMap((leaf) => {
    const element = leaf.path.slice(0, -1);
    return isElementPath(kind, element) && isNameOf(kind, element, leaf) ? [element] : [];
  });
}

/** Whether a leaf is what its element is known by, and is not there any more. */
function isNameOf(kind: Kind, element: Path, { path, before, after }: LeafChange): boolean {
  if (after === undefined || (before !== undefined && before !== null)) return false;
  const list = schemasAlong(kind.schema, element.slice(0, -1)).at(-1);
  return list?.['x-identity'] === path.at(-1);
}

/**
 * Objects of which the platform has nothing, so that it cannot have their secrets either: nothing else
 * makes a secret drift, or differ where there is no state.
 */
function goneObjects(kind: Kind, leaves: readonly LeafChange[], adopted: boolean): readonly Path[] {
  return leaves.flatMap(({ path, after, unreadable, cause }) => {
    const isLost = cause === 'drifted' || (adopted && cause === 'changed');
    const object = path.slice(0, -1);
    const isObject = object.length > 0 && !isElementPath(kind, object);
    return unreadable && after instanceof Secret && isLost && isObject ? [object] : [];
  });
}

function asWhole(kind: Kind, path: Path, leaves: readonly LeafChange[]): LeafChange {
  const inside = leaves.filter((leaf) => startsWith(leaf.path, path));
  const has = (wanted: LeafChange['cause']) => inside.some(({ cause }) => cause === wanted);
  const isBoth = has('conflict') || (has('changed') && has('drifted'));
  return {
    path,
    text: formatPath(path),
    before: undefined,
    after: null,
    cause: isBoth ? 'conflict' : has('changed') ? 'changed' : 'drifted',
    sensitive: false,
    unreadable: false,
    schema: schemasAlong(kind.schema, path).at(-1) ?? {},
  };
}
