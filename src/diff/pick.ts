import { ownOf } from '../core/own.ts';
import { isIdentity, type Path } from '../core/path.ts';
import { isObject, type Value, type ValueObject } from '../core/value.ts';

/**
 * A document's values at the given paths, put into another document. What it has nothing at becomes null,
 * and a list that is keyed by identity goes whole.
 */
export function pickLeaves(
  document: ValueObject,
  paths: readonly Path[],
  into: ValueObject = {},
): ValueObject {
  let picked = into;
  for (const path of paths) {
    const at = path.findIndex(isIdentity);
    const target = at < 0 ? path : path.slice(0, at);
    const value = valueAt(document, target) ?? (at < 0 ? null : []);
    picked = withValue(picked, target, value);
  }
  return picked;
}

function valueAt(document: Value | undefined, path: Path): Value | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return document;
  return isObject(document) ? valueAt(ownOf(document, key), rest) : undefined;
}

function withValue(document: ValueObject, path: Path, value: Value): ValueObject {
  const [key, ...rest] = path;
  if (key === undefined) return document;
  const member = ownOf(document, key);
  const inner = rest.length === 0 ? value : withValue(isObject(member) ? member : {}, rest, value);
  return { ...document, [key]: inner };
}
