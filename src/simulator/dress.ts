import type { JsonObject } from '../core/value.ts';
import type { Dialect } from './dialect.ts';
import { isRecord } from './json.ts';

/** A record as it is returned: texts that were emptied come back as the dialect has them. */
export function dress({ emptyText }: Dialect, record: JsonObject): JsonObject {
  if (emptyText === 'kept') return record;
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => {
      if (value !== '') return [[name, value] as const];
      return emptyText === 'null' ? [[name, null] as const] : [];
    }),
  );
}

/** Members that a platform may fill in where an agent has the object around them. */
const FILLED: { readonly [field: string]: JsonObject } = {
  voice_settings: { speed: 1, language: 'en' },
  config: { inactivity_timeout: 30, enable_recording: false },
};

/** An agent's record with what the platform fills in, if it does. */
export function fill({ nestedDefaults }: Dialect, record: JsonObject): JsonObject {
  if (!nestedDefaults) return record;
  const filled = Object.entries(FILLED).flatMap(([name, defaults]) => {
    const value = record[name];
    return isRecord(value) ? [[name, { ...defaults, ...value }] as const] : [];
  });
  return { ...record, ...Object.fromEntries(filled) };
}
