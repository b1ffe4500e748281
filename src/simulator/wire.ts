import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../core/value.ts';
import type { Dialect } from './dialect.ts';
import { inventionsOf } from './inventions.ts';
import { isList, isRecord } from './json.ts';

/** The text of an answer's body, in the notation that the dialect has. */
export function wireText(dialect: Dialect, body: Json): string {
  const { timestamps, unknownFields, keyOrder, numbers } = dialect;
  const told = timestamps === 'milliseconds' && !unknownFields ? body : recast(dialect, body);
  return keyOrder === 'stable' && numbers === 'plain' ? JSON.stringify(told) : write(dialect, told);
}

/**
 * A body with its instants and unknown members as the dialect has them. Only the body's own members and
 * those of its records are the platform's to change; what lies deeper may be a customer's own data.
 */
function recast(dialect: Dialect, body: Json): Json {
  if (!isRecord(body)) return body;
  const { data } = body;
  return {
    ...recastRecord(dialect, body),
    ...(isList(data) ? { data: data.map((record) => recastMember(dialect, record)) } : {}),
    ...(isRecord(data) ? { data: recastRecord(dialect, data) } : {}),
  };
}

function recastMember(dialect: Dialect, value: Json): Json {
  return isRecord(value) ? recastRecord(dialect, value) : value;
}

function recastRecord(
  { timestamps, unknownFields, inventions }: Dialect,
  record: JsonObject,
): JsonObject {
  const entries = Object.entries(record).map(([name, value]) => [
    name,
    name.endsWith('_at') && typeof value === 'string' ? recastInstant(timestamps, value) : value,
  ]);
  return {
    ...Object.fromEntries(entries),
    ...(unknownFields ? inventionsOf(inventions).unknown : {}),
  };
}

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{3})Z$/;

function recastInstant(timestamps: Dialect['timestamps'], text: string): string {
  switch (timestamps) {
    case 'milliseconds':
      return text;
    case 'microseconds':
      return text.replace(INSTANT, '$1$2000Z');
    case 'seconds':
      return text.replace(INSTANT, '$1Z');
    case 'offset':
      return text.replace(INSTANT, '$1$2+00:00');
  }
}

function write(dialect: Dialect, value: Json): string {
  if (isList(value)) return `[${value.map((member) => write(dialect, member)).join()}]`;
  if (isRecord(value)) {
    const names = Object.keys(value);
    const ordered = dialect.keyOrder === 'stable' ? names : shuffled(names);
    return `{${ordered.map((name) => `${JSON.stringify(name)}:${write(dialect, value[name] ?? null)}`).join()}}`;
  }
  return dialect.numbers === 'decimal' && Number.isSafeInteger(value)
    ? `${String(value)}.0`
    : JSON.stringify(value);
}

/** In an order that looks like none and is the same for the same names. */
function shuffled(names: readonly string[]): readonly string[] {
  const mark = (name: string) => createHash('sha1').update(`${names.length}:${name}`).digest('hex');
  return names
    .map((name) => [mark(name), name] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, name]) => name);
}
