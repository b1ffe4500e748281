import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { ownOf } from '../core/own.ts';
import { formatPath, parsePath } from '../core/path.ts';
import type { FieldSchema } from '../core/schema.ts';
import type { Blob, Secret, ValueObject } from '../core/value.ts';
import { leavesOf } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import { relink } from '../rollback/relink.ts';
import type { ResourceState } from '../state/model.ts';
import type { Exception } from './exceptions.ts';
import type { Held } from './held.ts';
import { elementOf, withValueAt } from './paths.ts';
import { moved, type Places, placeOf } from './places.ts';
import { type Need, needsOf } from './secrets.ts';
import { rewriteTexts } from './texts.ts';

/** What is known of where a snapshot is restored to. */
export type Site = {
  readonly places: Places;
  /** Whether it is the account that the snapshot is of, so that its ids may still mean something. */
  readonly isSameAccount: boolean;
  /** Why nothing can be put into a place; undefined where it can. */
  readonly obstacleAt: (place: string) => string | undefined;
  /** Whether the platform has it already. */
  readonly exists: (address: Address) => boolean;
  /** What the state of the restoration says of it. */
  readonly recorded: (address: Address) => ResourceState | undefined;
  /** The secret of a path, where it is at hand. */
  readonly secretAt: (address: Address, path: string) => Secret | undefined;
  /** The file that a resource was made of, where it is at hand. */
  readonly fileFor: (held: Held, address: Address, field: string) => Blob | undefined;
  /** Why a part with an endpoint of its own is left out, by address and field. */
  readonly leftOut: (address: Address, field: string) => string | undefined;
  /** Whether ids are replaced in what people wrote. */
  readonly rewritesTexts: boolean;
};

/** A desired side for the ordinary plan, and what it lacks. */
export type Rebuilt = {
  readonly desired: readonly DesiredResource[];
  readonly exceptions: readonly Exception[];
  /** Secrets that nobody supplied, of what is to be made. */
  readonly needs: readonly Need[];
  /** Resources whose texts name ids that are others now, and the fields. */
  readonly mentions: ReadonlyMap<Address, readonly string[]>;
};

/** What the resources of a snapshot are to be at a site. */
export function rebuild(addresses: ReadonlyMap<Held, Address>, site: Site): Rebuilt {
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
  const idOf = newIds(addresses, site);
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
function fileField({ kind, document }: Held): string | undefined {
  const { schema } = kindNamed(kind);
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

type Links = {
  readonly ownerOf: (kind: string, id: string) => Address | undefined;
  /** Whether it is in the snapshot and will not be there. */
  readonly isAbsent: (kind: string, id: string) => boolean;
  readonly idOf: (id: string) => string | null | undefined;
};

function rebuildOne(held: Held, address: Address, site: Site, links: Links) {
  const kind = kindNamed(held.kind);
  const { schema } = kind;
  const exceptions: Exception[] = [];
  const except = (what: Exception['what'], message: string) =>
    exceptions.push({ what, address, message });
  const ignore = [...held.unknown];
  let document: ValueObject = moved(held, site.places);

  for (const { field, absent } of kind.facets) {
    if (document[field] === undefined) continue;
    const why = facetObstacle(held, address, field, site) ? absent : site.leftOut(address, field);
    const isLate = !site.exists(address);
    if (why !== undefined) except('part', `${field} is left out: ${why}`);
    if (why === undefined && !isLate) continue;
    ignore.push(field);
    document = withValueAt(schema, document, [field], undefined);
  }
  for (const leaf of leavesOf(schema, document).leaves.values()) {
    const referred = leaf.schema['x-ref'];
    if (referred === undefined || typeof leaf.value !== 'string') continue;
    if (!links.isAbsent(referred, leaf.value)) continue;
    except('part', `${leaf.text} is left out: the ${referred} that it names is not restored`);
    ignore.push(leaf.text);
    document = withValueAt(schema, document, leaf.path, undefined);
  }
  const needs: Need[] = [];
  for (const need of needsOf(held, address)) {
    const given = need.paths.flatMap((path) => {
      const secret = site.secretAt(address, path);
      return secret === undefined ? [] : [[path, secret] as const];
    });
    for (const [path, secret] of given) document = withSecret(schema, document, path, secret);
    if (given.length > 0) continue;
    const isThere = hasElement(need.paths[0] ?? '', address, site);
    for (const path of need.paths) {
      document = withoutSecret(schema, document, path, isThere);
      ignore.push(elementText(path, isThere));
    }
    const name = need.paths.join(' or ');
    if (site.recorded(address) === undefined && !site.exists(address)) needs.push(need);
    except('secret', `${name} was not supplied, and no snapshot holds it`);
  }
  const file = Object.keys(schema.properties ?? {}).find(
    (name) => ownOf(schema.properties, name)?.['x-file'] !== undefined,
  );
  const blob =
    file === undefined || typeof document.url === 'string'
      ? undefined
      : site.fileFor(held, address, file);
  if (file !== undefined && blob !== undefined) document = { ...document, [file]: blob };
  if (held.unknown.length > 0) {
    except('field', `${held.unknown.join(', ')}: not known to this version, so not written`);
  }
  if (!held.isWhole) except('unread', 'only what its list shows is in the snapshot');
  const rewritten = rewriteTexts(schema, document, links.idOf);
  if (site.rewritesTexts) document = rewritten.document;
  const { document: linked, references } = relink(schema, document, links.ownerOf);
  const desired: DesiredResource = {
    address,
    kind: held.kind,
    document: linked,
    lifecycle: {
      protect: held.protect || (site.recorded(address)?.protect ?? false),
      ignore: [...new Set(ignore)],
      ...(isSameResource(held, site) ? { adopt: held.id } : {}),
    },
    isPartial: true,
    isExact: held.isWhole,
    unchecked: {},
    references,
    position: undefined,
    locate: () => undefined,
  };
  return { desired, exceptions, needs, mentioning: rewritten.mentioning };
}

/** Whether an id of the snapshot may still be that of the resource. */
function isSameResource(held: Held, { places, isSameAccount }: Site): boolean {
  const place = placeOf(held);
  return isSameAccount && (place === undefined || (places.get(place) ?? place) === place);
}

/**
 * Whether a part is known not to be there: what has no read of its own is in the resource's record, which
 * the platform alone can put it into. Whoever made the resource anew finds nothing there.
 */
function facetObstacle(held: Held, address: Address, field: string, site: Site): boolean {
  const facet = kindNamed(held.kind).facets.find((one) => one.field === field);
  if (facet === undefined || facet.get !== undefined) return false;
  if (!site.exists(address)) return true;
  const recorded = site.recorded(address);
  if (recorded === undefined) return false;
  return !Object.keys(recorded.leaves).some((path) => path.startsWith(`${field}.`));
}

function withSecret(
  schema: FieldSchema,
  document: ValueObject,
  text: string,
  secret: Secret,
): ValueObject {
  const path = parsePath(text);
  return path === undefined ? document : withValueAt(schema, document, path, secret);
}

/** An element of a list that lacks its value says nothing; one that is there already keeps it. */
function withoutSecret(
  schema: FieldSchema,
  document: ValueObject,
  text: string,
  isThere: boolean,
): ValueObject {
  const path = parsePath(elementText(text, isThere));
  return path === undefined ? document : withValueAt(schema, document, path, undefined);
}

function elementText(text: string, isThere: boolean): string {
  const element = elementOf(parsePath(text) ?? []);
  return element === undefined || isThere ? text : formatPath(element);
}

/** Whether the platform has the element that lacks its value here. */
function hasElement(text: string, address: Address, { recorded, exists }: Site): boolean {
  const known = recorded(address);
  if (known === undefined) return exists(address);
  const element = elementText(text, false);
  return element !== text && Object.keys(known.leaves).some((path) => path.startsWith(element));
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
