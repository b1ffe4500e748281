import { type Address, nameInWords } from '../../core/address.ts';
import type { DesiredResource } from '../../core/desired.ts';
import { formatFirst } from '../../core/errors.ts';
import type { FieldSchema } from '../../core/schema.ts';
import { plainId, type ValueObject } from '../../core/value.ts';
import { ANY_KIND, idsAt, mapIds, pickReturned, placeValue } from '../../core/walk.ts';
import { listLeaves } from '../../diff/leaves.ts';
import { kindNamed, kinds } from '../../kinds/index.ts';
import { fileMissing, withoutIdleFacets } from '../../kinds/kind.ts';
import { indexOwners, remapReferences } from '../../rollback/undo.ts';
import { type Exception, findPlace, type Held, mappedId, moved, type Target } from './held.ts';
import { fillSecrets, type Need } from './secrets.ts';

/** A desired side for the ordinary plan, and what it lacks. */
export type Rebuilt = {
  readonly desired: readonly DesiredResource[];
  readonly exceptions: readonly Exception[];
  /** Secrets that were not supplied, of resources that will be created. */
  readonly needs: readonly Need[];
  /** All secrets that were not supplied: existing resources may have their own. */
  readonly missing: readonly Need[];
  /** Resources whose texts name ids that are others now, and the fields. */
  readonly mentions: ReadonlyMap<Address, readonly string[]>;
  /** Fields that can be written only once their resource, or one that they name, exists. */
  readonly deferred: ReadonlyMap<Address, readonly string[]>;
};

/**
 * Builds the desired side of resources of a snapshot and of those that they refer to. Texts may name any of `all`.
 */
export function rebuild(
  addresses: ReadonlyMap<Held, Address>,
  target: Target,
  all: ReadonlyMap<Held, Address> = addresses,
): Rebuilt {
  const exceptions: Exception[] = [];
  const needs: Need[] = [];
  const missing: Need[] = [];
  const mentions = new Map<Address, readonly string[]>();
  const deferred = new Map<Address, readonly string[]>();
  const owners: { readonly kind: string; readonly id: string; readonly address: Address }[] = [];
  const absent = new Set<string>();
  const makeable: (readonly [Held, Address])[] = [];
  for (const [held, address] of addresses) {
    const obstacle = obstacleTo(held, address, target);
    if (obstacle === undefined) {
      makeable.push([held, address]);
      owners.push({ kind: held.kind, id: held.id, address });
    } else {
      absent.add(`${held.kind} ${plainId(held.id)}`);
      exceptions.push({ ...obstacle, address });
    }
  }
  const findId = newIds(all, target);
  const findOwner = indexOwners(owners);
  const desired = makeable.map(([held, address]) => {
    const one = rebuildOne(held, address, target, {
      // Ids that no field says the kind of stand in what people wrote.
      findOwner: (kind, id) =>
        kind !== ANY_KIND || target.rewritesTexts ? findOwner(kind, id) : undefined,
      absentKind: (kind, id) => {
        if (kind === ANY_KIND && !target.rewritesTexts) return undefined;
        const named = kind === ANY_KIND ? kinds.map(({ name }) => name) : [kind];
        return named.find((name) => absent.has(`${name} ${plainId(id)}`));
      },
      findId,
    });
    exceptions.push(...one.exceptions);
    needs.push(...one.needs);
    missing.push(...one.missing);
    if (one.mentioning.length > 0) mentions.set(address, one.mentioning);
    if (one.deferred.length > 0) deferred.set(address, one.deferred);
    return one.desired;
  });
  return { desired, exceptions, needs, missing, mentions, deferred };
}

/** Why a resource cannot be there at all. */
function obstacleTo(
  held: Held,
  address: Address,
  target: Target,
): Pick<Exception, 'what' | 'message'> | undefined {
  const place = findPlace(held);
  const why = place === undefined ? undefined : target.obstacleAt(place);
  if (why !== undefined) return { what: 'place', message: `not restored: ${why}` };
  if (target.exists(address)) return undefined;
  const field = fileMissing(kindNamed(held.kind).schema, held.document);
  if (field === undefined || target.fileFor(held, address, field) !== undefined) return undefined;
  return { what: 'file', message: `not restored: its file (${field}) ${whyNoFile(held, target)}` };
}

function whyNoFile(held: Held, { sharedFile }: Target): string {
  const shared = sharedFile(held);
  if (shared === undefined) return 'is missing; set --media to a folder that has it';
  const { file, wantedBy, place = held.id } = shared;
  return `is missing: ${file} is wanted by ${wantedBy.length} (${formatFirst(wantedBy, MOST_WANTING)}), and its name does not tell whose it is; put its own into the folder ${place} of --media`;
}

/** Resources that are named where several want one file. */
const MOST_WANTING = 3;

/** The new id of an old one, as far as it is known: texts are rewritten once it is. */
function newIds(addresses: ReadonlyMap<Held, Address>, target: Target): Links['findId'] {
  const byId = new Map([...addresses].map(([{ id }, address]) => [id.toLowerCase(), address]));
  return (id) => {
    const place = target.places.get(id);
    if (place !== undefined) return place;
    const address = byId.get(id);
    if (address === undefined) return undefined;
    return target.recorded(address)?.id ?? null;
  };
}

/** How resources of one snapshot find each other. */
type Links = {
  readonly findOwner: (kind: string, id: string) => Address | undefined;
  /** The kind of a resource that is in the snapshot and will not be there; undefined for any other id. */
  readonly absentKind: (kind: string, id: string) => string | undefined;
  /** The new id of an old one: null while it is not known, undefined for what is not restored. */
  readonly findId: (id: string) => string | null | undefined;
};

/** The desired side of one resource, with its differences from the snapshot. */
type RebuiltOne = {
  readonly desired: DesiredResource;
  readonly exceptions: readonly Exception[];
  readonly needs: readonly Need[];
  readonly missing: readonly Need[];
  readonly mentioning: readonly string[];
  readonly deferred: readonly string[];
};

/** A document on its way, with what was left out of it. */
type Draft = {
  readonly document: ValueObject;
  readonly ignore: readonly string[];
  readonly deferred: readonly string[];
  readonly exceptions: readonly Exception[];
};

function rebuildOne(held: Held, address: Address, target: Target, links: Links): RebuiltOne {
  const kind = kindNamed(held.kind);
  const { schema } = kind;
  const isFresh = !target.exists(address) || target.isMade(address);
  const document = held.document();
  // A part with an endpoint of its own is off in what was just made, and nobody need ask.
  const own = pickReturned(schema, isFresh ? withoutIdleFacets(kind, document) : document);
  const start: Draft = {
    document: moved(held.kind, own, target.places),
    ignore: held.unknown,
    deferred: [],
    exceptions: listLimits(held, address),
  };
  const parted = withoutParts(start, held, address, target);
  const linked = withoutAbsent(parted, held, address, links);
  const filled = fillSecrets({ held, address, own }, linked.document, target);
  const filed = withFile(filled.document, held, address, target);
  const rewritten = rewriteTexts(schema, filed, links.findId);
  const said = target.rewritesTexts ? rewritten.document : filed;
  const remapped = remapReferences(schema, said, links.findOwner);
  const isUnknown = target.recorded(address) === undefined;
  const isNew = isUnknown && !target.exists(address);
  const isLost = ({ paths }: Need) =>
    isNew || paths.every((path) => target.isPlaceGone(address, path));
  const lost = filled.missing.filter(isLost);
  // A resource that is there still has the secrets that it had.
  const unfilled = target.isOriginal(held, address) ? lost : filled.missing;
  return {
    desired: {
      address,
      kind: held.kind,
      document: remapped.document,
      lifecycle: {
        protect: held.protect || (target.recorded(address)?.protect ?? false),
        ignore: [...new Set([...linked.ignore, ...filled.ignore])],
        ...(isSameResource(held, target) ? { adopt: held.id } : {}),
      },
      isPartial: true,
      isExact: held.isWhole,
      references: remapped.references,
      position: undefined,
      locate: () => undefined,
    },
    exceptions: [
      ...linked.exceptions,
      ...unfilled.map((need) => ({
        what: 'secret' as const,
        address,
        message: `${need.paths.join(' or ')} ${isUnknown && !isLost(need) ? 'will not be changed: it was not supplied, and no snapshot holds it' : describeNeed(target)}`,
      })),
    ],
    needs: lost,
    missing: filled.missing,
    mentioning: rewritten.mentioning,
    deferred: target.rewritesTexts ? [...linked.deferred, ...rewritten.awaiting] : linked.deferred,
  };
}

function describeNeed({ hasStack }: Target): string {
  const writer = hasStack
    ? 'the next `callsheet apply` writes it where the stack configures it'
    : 'the same restore writes it once it is supplied';
  return `was not supplied, and no snapshot holds it; ${writer}`;
}

/** Lists the parts of a resource that the snapshot lacks or that this version cannot write. */
function listLimits({ unknown, isWhole }: Held, address: Address): readonly Exception[] {
  const fields = `${unknown.join(', ')}: this version of Callsheet does not know the field, so it is not written`;
  const listed = 'the snapshot contains only the fields in its list';
  return [
    ...(unknown.length > 0 ? [{ what: 'field' as const, address, message: fields }] : []),
    ...(isWhole ? [] : [{ what: 'unread' as const, address, message: listed }]),
  ];
}

/** Removes the parts that the resource cannot have, and those that can be written only once it exists. */
function withoutParts(draft: Draft, held: Held, address: Address, target: Target): Draft {
  const kind = kindNamed(held.kind);
  return kind.facets.reduce((one, { field, absent, byHand }) => {
    if (one.document[field] === undefined) return one;
    const isAbsent = isBeyond(held, address, field, target);
    const why = isAbsent ? absent : target.leftOut(address, field);
    if (why === undefined && target.exists(address)) return one;
    const message = `${field} is left out: ${why}`;
    return {
      document: placeValue(kind.schema, one.document, [field], undefined),
      ignore: [...one.ignore, field],
      deferred: why === undefined ? [...one.deferred, field] : one.deferred,
      exceptions:
        why === undefined
          ? one.exceptions
          : [
              ...one.exceptions,
              {
                what: 'part' as const,
                address,
                ...(isAbsent && byHand && { part: byHand }),
                message,
              },
            ],
    };
  }, draft);
}

/**
 * True if a part is known to be absent: a part without a read of its own is in the resource's record, where only
 * the platform can put it. A recreated resource does not have it.
 */
function isBeyond(held: Held, address: Address, field: string, target: Target): boolean {
  const facet = kindNamed(held.kind).facets.find((one) => one.field === field);
  if (facet === undefined || facet.get !== undefined) return false;
  if (!target.exists(address)) return true;
  const recorded = target.recorded(address);
  if (recorded === undefined) return false;
  return !Object.keys(recorded.leaves).some((path) => path.startsWith(`${field}.`));
}

/** Without ids of what is in the snapshot and will not be there. */
function withoutAbsent(draft: Draft, held: Held, address: Address, { absentKind }: Links): Draft {
  const { schema } = kindNamed(held.kind);
  let { document, ignore, exceptions } = draft;
  const { deferred } = draft;
  for (const { node, value, path, text } of listLeaves(schema, document).leaves.values()) {
    const absent = idsAt(node, value).flatMap(({ kind, id, isValue }) =>
      isValue ? (absentKind(kind, id) ?? []) : [],
    );
    const [referred] = absent;
    if (referred === undefined) continue;
    const name = nameInWords(referred);
    const message = `${text} is left out, because its ${name} is not restored`;
    document = placeValue(schema, document, path, undefined);
    ignore = [...ignore, text];
    exceptions = [...exceptions, { what: 'part', address, message }];
  }
  return { document, ignore, deferred, exceptions };
}

function withFile(
  document: ValueObject,
  held: Held,
  address: Address,
  { fileFor }: Target,
): ValueObject {
  const file = fileMissing(kindNamed(held.kind).schema, held.document);
  const blob = file && fileFor(held, address, file);
  return file && blob ? { ...document, [file]: blob } : document;
}

/** True if the id in the snapshot may still be the id of the resource. */
function isSameResource(held: Held, { places, isSameAccount }: Target): boolean {
  const place = findPlace(held);
  return isSameAccount && (place === undefined || mappedId(places, place) === place);
}

/** A document after its texts were rewritten. */
type Rewritten = {
  readonly document: ValueObject;
  /** Top-level fields whose texts name an id that is another one now, or is going to be. */
  readonly mentioning: readonly string[];
  /** Those of them whose new id is not known yet. */
  readonly awaiting: readonly string[];
};

/**
 * Puts new ids in the place of old ones in what people wrote: prompts, rules for transfers, contact policies.
 * `findId` gives null for a resource that has no new id yet, and undefined for an id of nothing that is
 * restored.
 */
function rewriteTexts(
  root: FieldSchema,
  document: ValueObject,
  findId: (id: string) => string | null | undefined,
): Rewritten {
  const mentioning = new Set<string>();
  const awaiting = new Set<string>();
  const rewritten = mapIds(root, document, ({ kind, id, field }) => {
    const now = kind === ANY_KIND ? findId(id) : undefined;
    if (now === undefined || now === id) return undefined;
    mentioning.add(field);
    if (now === null) awaiting.add(field);
    return now ?? undefined;
  });
  return { document: rewritten, mentioning: [...mentioning], awaiting: [...awaiting] };
}
