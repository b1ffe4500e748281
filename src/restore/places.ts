import { CallsheetError } from '../core/errors.ts';
import type { JsonObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Scope } from '../kinds/kind.ts';
import type { Held } from './held.ts';

/** Ids of organizations and knowledge bases: what each was → where its resources go. */
export type Places = ReadonlyMap<string, string>;

/** Where what stands in a place goes: where it is mapped to, or where it was. */
export function placeIn(places: Places, id: string): string {
  return places.get(id) ?? id;
}

/** The place of a resource; undefined for what belongs to the account as a whole. */
export function placeOf({ kind, scope }: Pick<Held, 'kind' | 'scope'>): string | undefined {
  const [field = ''] = kindNamed(kind).scope;
  return scope[field] || undefined;
}

/** A document at its new place. */
export function moved(kind: string, document: JsonObject, places: Places): JsonObject {
  const fields = new Set([...kindNamed(kind).scope, 'organization_id']);
  return Object.fromEntries(
    Object.entries(document).map(([field, value]) => [
      field,
      fields.has(field) && typeof value === 'string' ? placeIn(places, value) : value,
    ]),
  );
}

/**
 * Refuses two places that come to be one where resources of both would get in each other's way: of one name,
 * or of names that only differ by case, which some lists take for one.
 */
export function refuseClashes(all: readonly Held[], places: Places): void {
  const clashes: string[] = [];
  const byName = Map.groupBy(
    all.filter((held) => placeOf(held) !== undefined),
    (held) =>
      JSON.stringify([
        held.kind,
        placeIn(places, placeOf(held) ?? ''),
        held.name.normalize('NFC').toLowerCase(),
      ]),
  );
  for (const sharing of byName.values()) {
    const origins = new Set(sharing.map(placeOf));
    if (origins.size < 2) continue;
    const names = [...new Set(sharing.map((held) => JSON.stringify(held.name)))];
    const kind = sharing[0]?.kind.replaceAll('_', ' ');
    const how = names.length > 1 ? ', which only differ by case' : '';
    clashes.push(`${kind} ${names.join(' and ')} of ${[...origins].join(' and ')}${how}`);
  }
  if (clashes.length === 0) return;
  const shown = clashes.slice(0, 10);
  const more = clashes.length - shown.length;
  throw new CallsheetError(
    'usage',
    `resources would get in each other's way once they are in one place:\n${shown.map((one) => `  ${one}`).join('\n')}${more > 0 ? `\n  and ${more} more` : ''}`,
    {
      hint: 'Restore one of them elsewhere, or one after the other with names changed in between.',
    },
  );
}

/** What the list of a resource is narrowed to, at its new place. */
export function scopeAt({ kind, scope }: Pick<Held, 'kind' | 'scope'>, places: Places): Scope {
  const fields = kindNamed(kind).scope;
  return Object.fromEntries(fields.map((field) => [field, placeIn(places, scope[field] ?? '')]));
}
