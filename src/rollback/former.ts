import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { namesField } from '../core/schema.ts';
import type { JsonObject, ValueObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { scopeOf } from '../plan/natural-key.ts';
import { fieldsOf } from '../plan/reader.ts';
import type { NotUndone, SnapshotTaken } from '../state/journal.ts';
import { type Relinked, relink } from './relink.ts';
import type { Undo } from './undo.ts';

/**
 * A resource as it was at some time, which is what a rollback goes back to. The journal of a run holds one
 * of each resource that it touched, a snapshot file one of each that it has.
 */
export type Former = Pick<
  SnapshotTaken,
  'address' | 'kind' | 'id' | 'document' | 'pin' | 'resource' | 'withheld'
>;

/** A resource as it is to be as a whole, its references in the place of ids. */
export type Wanted = {
  readonly kind: string;
  /** The id that it had; null where it did not exist. */
  readonly id: string | null;
  /** Null: it is not to be there. */
  readonly document: ValueObject | null;
  /** Paths of values that no snapshot holds: nothing can be said of them. */
  readonly withheld: readonly string[];
  /** Paths that are to be undone; undefined: all there is. */
  readonly changed: readonly string[] | undefined;
};

/**
 * What it takes to bring these resources back to exactly what they were, whatever changed them: what is live
 * beside it counts as removed. A document of null takes the resource away. Undoing a run is `undoRun`;
 * what becomes of either goes through `carryOutUndo` (cli/carry-out-undo.ts).
 */
export function undoTo(formers: readonly Former[]): Undo {
  const addressOf = ownersOf(formers);
  const wanted = formers.map((former) => [former, wantedFrom(former, addressOf)] as const);
  return {
    desired: wanted.flatMap(([former, { relinked }]) =>
      relinked === undefined ? [] : [desiredFrom(former, relinked, { isExact: true })],
    ),
    addresses: formers.map(({ address }) => address),
    versions: versionsOf(formers),
    produced: new Map(),
    made: new Map(),
    interleaved: new Map(),
    restored: new Map(formers.map(({ address, resource }) => [address, resource])),
    wanted: new Map(wanted.map(([{ address }, one]) => [address, one.wanted])),
    impossible: formers.flatMap(({ address, kind, document }) =>
      document === null && kindNamed(kind).delete === undefined ? [undeletable(address, kind)] : [],
    ),
  };
}

/** The history entries that were newest then. */
export function versionsOf(formers: readonly Former[]): ReadonlyMap<Address, number> {
  return new Map(
    formers.flatMap(({ address, pin }) =>
      pin?.history_id ? [[address, pin.history_id] as const] : [],
    ),
  );
}

/** Finds which of these resources had an id. */
export function ownersOf(formers: readonly Former[]) {
  const owners = new Map(
    formers.flatMap(({ kind, id, address }) => (id === null ? [] : [[`${kind} ${id}`, address]])),
  );
  return (kind: string, id: string): Address | undefined => owners.get(`${kind} ${id}`);
}

/** The whole of a resource as it is to be again, and what it refers to. */
export function wantedFrom(
  { kind, id, document: former, withheld, resource }: Former,
  addressOf: (kind: string, id: string) => Address | undefined,
  changed?: readonly string[],
): { readonly wanted: Wanted; readonly relinked: Relinked | undefined } {
  const { schema } = kindNamed(kind);
  const relinked =
    former === null
      ? undefined
      : relink(schema, knownPart(kindNamed(kind), former, resource), addressOf);
  const wanted = { kind, id, document: relinked?.document ?? null, withheld, changed };
  return { wanted, relinked };
}

/**
 * The top-level fields that can be written again: nobody knows the name that a field is sent under which neither the
 * schema knows nor Callsheet ever wrote.
 */
function knownPart(kind: Kind, document: JsonObject, resource: Former['resource']): JsonObject {
  const own = fieldsOf(kind, undefined, resource?.leaves);
  return Object.fromEntries(
    Object.entries(document).filter(([field]) => namesField(kind.schema, field) || own.has(field)),
  );
}

/** What a former resource had in other fields, which do not come back with it. */
export function unknownFields({ kind, document, resource }: Former): readonly string[] {
  const known = knownPart(kindNamed(kind), document ?? {}, resource);
  return Object.entries(document ?? {}).flatMap(([field, value]) =>
    value === null || Object.hasOwn(known, field) ? [] : [field],
  );
}

/** A desired side for the ordinary plan. */
export function desiredFrom(
  former: Former,
  { document, references }: Relinked,
  {
    ignore = [],
    ...more
  }: Pick<DesiredResource, 'isExact' | 'whole'> & {
    readonly ignore?: readonly string[];
  },
): DesiredResource {
  const scope = scopeOf(kindNamed(former.kind), former.document ?? {});
  const name = former.document?.name;
  return {
    address: former.address,
    kind: former.kind,
    document: { ...scope, ...(typeof name === 'string' ? { name } : {}), ...document },
    lifecycle: {
      protect: former.resource?.protect ?? false,
      // What no snapshot holds is neither compared nor written.
      ignore: more.isExact === true ? former.withheld : ignore,
      ...(former.id === null ? {} : { adopt: former.id }),
    },
    isPartial: true,
    ...more,
    references,
    position: undefined,
    locate: () => undefined,
  };
}

/** Why what a run made stays. */
export function undeletable(address: Address, kind: string): NotUndone {
  const why = `it was made by the run, and the platform has no endpoint that deletes a ${kind}`;
  return { address, path: null, why, advice: 'Delete it in the dashboard.' };
}
