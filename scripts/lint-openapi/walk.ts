import type { Document } from '../generate/document.ts';
import { isSchema, type Schema } from '../generate/schema.ts';

/** An object of the document and the keys that lead to it. */
export type Place = { readonly node: Schema; readonly path: readonly string[] };

/** Every object below one, itself first. References are not followed. */
export function placesBelow(node: unknown, path: readonly string[] = []): readonly Place[] {
  if (typeof node !== 'object' || node === null) return [];
  const below = Object.entries(node).flatMap(([key, member]) =>
    placesBelow(member, [...path, key]),
  );
  return isSchema(node) ? [{ node, path }, ...below] : below;
}

/** The target of a reference, or the object itself. */
export function follow(document: Document, { node, path }: Place): Place {
  if (typeof node.$ref !== 'string') return { node, path };
  const target = node.$ref.split('/').slice(1);
  let at: unknown = document;
  for (const key of target) at = isSchema(at) ? at[key] : undefined;
  if (!isSchema(at)) throw new Error(`nothing at ${node.$ref}`);
  return { node: at, path: target };
}

/** Every schema that one consists of, references followed, each once. */
export function schemasBelow(document: Document, roots: readonly Place[]): readonly Place[] {
  const found = new Map<string, Place>();
  const visit = (place: Place): void => {
    for (const one of placesBelow(place.node, place.path)) {
      const target = follow(document, one);
      const key = target.path.join('/');
      if (found.has(key)) continue;
      found.set(key, target);
      if (target.path !== one.path) visit(target);
    }
  };
  for (const root of roots) visit(root);
  return [...found.values()];
}

/** A member that is an object, and where it stands. */
export function memberOf({ node, path }: Place, ...keys: readonly string[]): Place | undefined {
  let at: unknown = node;
  for (const key of keys) at = isSchema(at) ? at[key] : undefined;
  return isSchema(at) ? { node: at, path: [...path, ...keys] } : undefined;
}
