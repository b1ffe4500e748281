import type { Client } from '../../api/client.ts';
import { ApiError, describeApiError } from '../../api/errors.ts';
import { CallsheetError } from '../../core/errors.ts';
import { isList, isObject } from '../../core/value.ts';
import { featuresOf } from '../../kinds/catalogues.ts';
import { kindNamed } from '../../kinds/index.ts';
import type { ListedResource, Reader } from '../../plan/reader.ts';
import { type Held, type Places, placeIn, placeOf, scopeAt } from '../../restore/held.ts';
import type { Choice } from './choice.ts';

/** Organizations of the target by name, as the billing report tells them; a scoped key may not read it. */
export async function organizationsOf(
  client: Pick<Client, 'call'>,
  now: Date,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const day = now.toISOString().slice(0, 10);
  const query = { start_date: day, end_date: day };
  const told = await client.call({ operation: 'getBillingReport', query }).catch((error) => {
    if (error instanceof ApiError && error.status !== 401) return null;
    throw error;
  });
  const rows = isObject(told) && isList(told.data) ? told.data : [];
  const names = new Map<string, readonly string[]>();
  for (const row of rows) {
    if (!isObject(row)) continue;
    const { organization_id: id, organization_name: name } = row;
    if (typeof id === 'string' && typeof name === 'string')
      names.set(name, [...new Set([...(names.get(name) ?? []), id])]);
  }
  return names;
}

/**
 * Refuses where an organization is not there: the platform has no endpoint that makes one, so whoever
 * restores has to say where its resources go.
 */
export async function checkOrganizations(
  { targets, places }: Choice,
  client: Pick<Client, 'call'>,
  nameOf: (id: string) => string | null,
): Promise<void> {
  const missing: string[] = [];
  await Promise.all(
    [...targets].map(async ([id, old]) => {
      const why = await client.call(featuresOf(id)).then(
        () => undefined,
        (error: unknown) => {
          if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 403))
            throw error;
          return describeApiError(error);
        },
      );
      if (why === undefined) return;
      const name = nameOf(old);
      const whose = `${name === null ? old : `${name} (${old})`}`;
      missing.push(places.has(old) ? `${whose} is mapped to ${id}: ${why}` : `${whose}: ${why}`);
    }),
  );
  if (missing.length === 0) return;
  const lines = missing.sort().map((one) => `  ${one}`);
  throw new CallsheetError(
    'usage',
    `organizations of the snapshot are not there, or out of reach of this key:\n${lines.join('\n')}`,
    {
      hint: 'Make them in the dashboard and name them with --map-organization OLD=NEW, or choose others with --organization.',
    },
  );
}

/** Why nothing can be put into a place, by the id that it has in the snapshot. */
export async function findObstacles(
  { chosen, places }: Choice,
  reader: Reader,
): Promise<ReadonlyMap<string, string>> {
  const obstacles = new Map<string, string>();
  const seen = new Set<string>();
  await Promise.all(
    chosen.map(async (held) => {
      const place = placeOf(held);
      if (place === undefined || seen.has(place) || place === held.organization) return;
      seen.add(place);
      const [field = 'place'] = kindNamed(held.kind).scope;
      const what = field.replace(/_id$/, '').replaceAll('_', ' ');
      const flag = `--map-${field.replace(/_id$/, '').replaceAll('_', '-')} ${place}=NEW`;
      const owner = held.organization;
      if (owner !== undefined && placeIn(places, owner) !== owner && !places.has(place)) {
        const why = `its ${what} belongs to another organization; make one in the dashboard and name it with ${flag}`;
        obstacles.set(place, why);
        return;
      }
      const why = await refusalOf(held, places, reader);
      if (why === undefined) return;
      if (places.has(place)) {
        throw new CallsheetError(
          'usage',
          `the ${what} ${places.get(place)}, which ${place} is mapped to, is not there: ${why}`,
          { hint: 'Check the id: the dashboard shows it.' },
        );
      }
      obstacles.set(
        place,
        `its ${what} ${place} is not there; make one in the dashboard and name it with ${flag}`,
      );
    }),
  );
  return obstacles;
}

async function refusalOf(held: Held, places: Places, reader: Reader): Promise<string | undefined> {
  const kind = kindNamed(held.kind);
  try {
    await reader.list(kind, scopeAt(held, places));
    return undefined;
  } catch (error) {
    const cause = error instanceof CallsheetError ? error.cause : undefined;
    if (cause instanceof ApiError && (cause.status === 403 || cause.status === 404))
      return describeApiError(cause);
    throw error;
  }
}

/** What the target has beside what is restored, in the places that are restored to. */
export async function findStrangers(
  { chosen, places }: Choice,
  obstacles: ReadonlyMap<string, string>,
  reader: Reader,
  isOurs: (kind: string, id: string) => boolean,
): Promise<readonly (ListedResource & { readonly kind: string })[]> {
  const lists = new Map<string, Held>();
  for (const held of chosen) {
    const place = placeOf(held);
    // What belongs to the account as a whole is shared with those that nobody asked about.
    if (place === undefined || obstacles.has(place)) continue;
    lists.set(`${held.kind} ${placeIn(places, place)}`, held);
  }
  const found = await Promise.all(
    [...lists.values()].map(async (held) => {
      const kind = kindNamed(held.kind);
      const items = (await reader.list(kind, scopeAt(held, places))) ?? [];
      return items
        .filter(({ id }) => !isOurs(held.kind, id))
        .map((item) => ({ ...item, kind: held.kind }));
    }),
  );
  return found.flat();
}
