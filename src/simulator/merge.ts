import type { Json, JsonObject } from '../core/value.ts';
import { isRecord } from './json.ts';

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

/** A record with members of a patch set; null stays null. For records whose nested values are replaced whole. */
export function assign(
  record: JsonObject,
  patch: JsonObject,
  names: readonly string[],
): JsonObject {
  const given = Object.entries(patch).filter(([name]) => names.includes(name));
  return { ...record, ...Object.fromEntries(given) };
}
