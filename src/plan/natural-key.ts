import type { DesiredResource } from '../core/desired.ts';
import type { JsonObject, ValueObject } from '../core/value.ts';
import type { Kind, Scope } from '../kinds/kind.ts';
import type { State } from '../state/model.ts';

/** The values of a kind's scope fields in a document. */
export function scopeOf(kind: Kind, document: ValueObject): Scope {
  return Object.fromEntries(kind.scope.map((field) => [field, String(document[field] ?? '')]));
}

/** The text that names a resource among its kind; undefined where it has none of the fields. */
export function naturalKeyOf(kind: Kind, document: ValueObject): string | undefined {
  const fields = kind.naturalKey.find((names) =>
    names.every((name) => typeof document[name] === 'string' && document[name] !== ''),
  );
  return fields && JSON.stringify(fields.map((name) => [name, document[name]]));
}

/** The natural key of a record as a list gives it, which may leave out what the scope says. */
export function recordKeyOf(kind: Kind, record: JsonObject, scope: Scope): string | undefined {
  return naturalKeyOf(kind, kind.document({ ...scope, ...record }, scope));
}

/** Where resources of a kind are that the stack has to do with. */
export function scopesOf(
  kind: Kind,
  desired: readonly DesiredResource[],
  state: State | undefined,
): readonly Scope[] {
  const scopes = [
    ...desired.filter((one) => one.kind === kind.name).map((one) => scopeOf(kind, one.document)),
    ...Object.values(state?.resources ?? {})
      .filter((one) => one.kind === kind.name)
      .map(({ scope }) => scope),
  ];
  return [...new Map(scopes.map((scope) => [JSON.stringify(scope), scope])).values()];
}
