import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';

/** Returns the member at a path of names; undefined if there is none. */
export function inside(value: Json | undefined, ...names: readonly string[]): Json | undefined {
  return names.reduce((at, name) => (isObject(at) ? at[name] : undefined), value);
}

/** The texts of a list; nothing where there is no list. */
export function listTexts(value: Json | undefined): readonly string[] {
  return isList(value) ? value.filter((member) => typeof member === 'string') : [];
}

/** A copy without the members named. */
export function without(record: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

/** A copy without the members that are undefined. */
export function compact(record: { readonly [key: string]: Json | undefined }): JsonObject {
  const entries: [string, Json][] = [];
  for (const [key, value] of Object.entries(record))
    if (value !== undefined) entries.push([key, value]);
  return Object.fromEntries(entries);
}

/** A nested value after an update: objects are merged member by member, null removes, lists are replaced. */
export function mergeDeep(before: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged: { [key: string]: Json } = isObject(before) ? { ...before } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergeDeep(merged[key], value);
  }
  return merged;
}

/** A nested value that replaces what was there; members that are null are not stored. */
export function replaceWhole(patch: Json): Json {
  return mergeDeep(undefined, patch);
}
