import type { Json, JsonObject } from '../core/value.ts';

/** Whether a value of a document is an object. */
export function isRecord(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; nothing where there is no list. */
export function recordsOf(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isRecord) : [];
}

/** The texts of a list; nothing where there is no list. */
export function textsOf(value: Json | undefined): readonly string[] {
  return isList(value) ? value.filter((member) => typeof member === 'string') : [];
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
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
  if (!isRecord(patch)) return patch;
  const merged: { [key: string]: Json } = isRecord(before) ? { ...before } : {};
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
