import { isList, isObject, type Json } from '../core/value.ts';
import type { KeyLevel } from '../plan/terms.ts';
import type { SeedKey } from '../simulator/index.ts';

export type Scope = NonNullable<SeedKey['scope']>;

/** The key of a copy where the one of the platform is limited to a part of the account. */
export function keyFor(scope: Scope): SeedKey {
  return { client_id: 'scoped-client', client_secret: 'scoped-secret', scope };
}

/**
 * What the key is limited to. The platform's answer about it has the id somewhere (Authentication 5, where the
 * names of its members are not shown): one that is known, or else the only other one that is there.
 */
export function scopeOf(
  me: Json,
  level: KeyLevel | undefined,
  known: ReadonlySet<string>,
): Scope | undefined {
  if (level === undefined) return undefined;
  const account = isObject(me) ? (isObject(me.data) ? me.data : me).account_id : undefined;
  const ids = textsIn(me).filter((text) => text !== account && text !== level);
  const id = ids.find((text) => known.has(text)) ?? ids.find((text) => UUID.test(text));
  return id === undefined ? undefined : { level, id };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isList(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
