import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { ownOf } from '../core/own.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Exception } from './exceptions.ts';
import { type Held, placeOf } from './held.ts';
import { type Links, rebuildOne } from './rebuild-one.ts';
import type { Need } from './secrets.ts';
import type { Site } from './site.ts';

/** A desired side for the ordinary plan, and what it lacks. */
export type Rebuilt = {
  readonly desired: readonly DesiredResource[];
  readonly exceptions: readonly Exception[];
  /** Secrets that nobody supplied, of what is to be made. */
  readonly needs: readonly Need[];
  /** Resources whose texts name ids that are others now, and the fields. */
  readonly mentions: ReadonlyMap<Address, readonly string[]>;
};

/**
 * What resources of a snapshot are to be at a site, together with those that they refer to. Texts may name any
 * of `all`.
 */
export function rebuild(
  addresses: ReadonlyMap<Held, Address>,
  site: Site,
  all: ReadonlyMap<Held, Address> = addresses,
): Rebuilt {
  const exceptions: Exception[] = [];
  const needs: Need[] = [];
  const mentions = new Map<Address, readonly string[]>();
  const owners = new Map<string, Address>();
  const absent = new Set<string>();
  const makeable: (readonly [Held, Address])[] = [];
  for (const [held, address] of addresses) {
    const obstacle = obstacleTo(held, address, site);
    if (obstacle === undefined) {
      makeable.push([held, address]);
      owners.set(`${held.kind} ${held.id}`, address);
    } else {
      absent.add(`${held.kind} ${held.id}`);
      exceptions.push({ ...obstacle, address });
    }
  }
  const idOf = newIds(all, site);
  const desired = makeable.map(([held, address]) => {
    const one = rebuildOne(held, address, site, {
      ownerOf: (kind, id) => owners.get(`${kind} ${id}`),
      isAbsent: (kind, id) => absent.has(`${kind} ${id}`),
      idOf,
    });
    exceptions.push(...one.exceptions);
    needs.push(...one.needs);
    if (one.mentioning.length > 0) mentions.set(address, one.mentioning);
    return one.desired;
  });
  return { desired, exceptions, needs, mentions };
}

/** Why a resource cannot be there at all. */
function obstacleTo(
  held: Held,
  address: Address,
  site: Site,
): Pick<Exception, 'what' | 'message'> | undefined {
  const place = placeOf(held);
  const why = place === undefined ? undefined : site.obstacleAt(place);
  if (why !== undefined) return { what: 'place', message: `not restored: ${why}` };
  if (site.exists(address)) return undefined;
  const field = fileField(held);
  if (field === undefined || site.fileFor(held, address, field) !== undefined) return undefined;
  return {
    what: 'file',
    message: `not restored: it was made of a file (${field}) that is not at hand; --media names a folder that has it`,
  };
}

/** The field of a file that a resource cannot be made without. */
function fileField(held: Held): string | undefined {
  const { schema } = kindNamed(held.kind);
  if (Object.values(schema.properties ?? {}).every((field) => field['x-file'] === undefined))
    return undefined;
  const document = held.document();
  const ways = (schema.oneOf ?? [{}]).map(({ required = [] }) => [
    ...(schema.required ?? []),
    ...required,
  ]);
  const isFile = (name: string) => ownOf(schema.properties, name)?.['x-file'] !== undefined;
  const lacks = (name: string) =>
    isFile(name) ||
    (ownOf(schema.properties, name)?.writeOnly !== true && (document[name] ?? null) === null);
  if (ways.some((names) => !names.some(lacks))) return undefined;
  return ways.flat().find(isFile);
}

/** The new id of an old one, as far as it is known: texts are rewritten once it is. */
function newIds(addresses: ReadonlyMap<Held, Address>, site: Site): Links['idOf'] {
  const byId = new Map([...addresses].map(([{ id }, address]) => [id.toLowerCase(), address]));
  return (id) => {
    const place = site.places.get(id);
    if (place !== undefined) return place;
    const address = byId.get(id);
    if (address === undefined) return undefined;
    return site.recorded(address)?.id ?? null;
  };
}
