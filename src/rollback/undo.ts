import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import {
  formatPath,
  isIdentity,
  isWithin,
  overlaps,
  parsePath,
  parsePaths,
  toPath,
} from '../core/path.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { type FieldSchema, isEchoed, namesField } from '../core/schema.ts';
import {
  getOwn,
  isObject,
  type Json,
  type JsonObject,
  plainId,
  Ref,
  type Value,
  type ValueObject,
} from '../core/value.ts';
import {
  ANY_KIND,
  isElementName,
  isFieldReturned,
  listDependents,
  listFollowers,
  mapIds,
  pickLeaves,
  pickReturned,
  placeValue,
  schemaAt,
  valueAt,
  withoutValue,
} from '../core/walk.ts';
import { compareWhole, hollowObjects, type LeafChange, liveKey } from '../diff/compare.ts';
import type { World } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import { type Facet, facetsSetUpElsewhere, type Kind, withoutIdleFacets } from '../kinds/kind.ts';
import { fieldChange } from '../plan/change.ts';
import { getScope } from '../plan/natural-key.ts';
import { type LiveResource, listFields } from '../plan/reader.ts';
import {
  type Difference,
  findLateEntries,
  type Interleaved,
  type JournalEntry,
  type LedgerLine,
  ledgerOfDeadRun,
  listLedger,
  type NotUndone,
  type SnapshotTaken,
} from '../state/journal.ts';
import { getIdentity, ownersIn, type ResourceState, type State } from '../state/model.ts';
import {
  restoredState,
  secretsIntroduced,
  unrecoverablePaths,
  unrecoverableValues,
} from './prior.ts';

/**
 * `rollback/` turns what a run found before it touched anything into a desired side, which then goes
 * through the ordinary diff, plan and apply. It is pure.
 */

/** The changes that bring resources back to what they were, such as before a run. */
export type Undo = {
  /** Resources that are to be there again. One that the run made is absent, and so is planned away. */
  readonly desired: readonly DesiredResource[];
  /** Every address that the run changed. */
  readonly addresses: readonly Address[];
  /** The history entry that was newest before the run, for those that have one. */
  readonly versions: ReadonlyMap<Address, number>;
  /** The history entry that the run itself made, or one before it, of what something is put back in. */
  readonly produced: ReadonlyMap<Address, Produced>;
  /** Resources that were there before and get values back. */
  readonly rewritten: readonly Address[];
  /** Resources that the run made and a rollback deletes, as the run left them. */
  readonly made: ReadonlyMap<Address, ResourceState>;
  /** Entries that others made while the run wrote: undoing the run undoes those too. */
  readonly interleaved: ReadonlyMap<Address, readonly Interleaved[]>;
  /** The state's former records. */
  readonly restored: ReadonlyMap<Address, ResourceState | null>;
  /** The whole that each resource is to be; the result is compared with it. */
  readonly wanted: ReadonlyMap<Address, Wanted>;
  readonly impossible: readonly NotUndone[];
};

/** The run's place in the history of a resource. */
type Produced = {
  readonly id: string;
  readonly entry: number;
  /** True if the run may have made newer entries that were not recorded. */
  readonly isBefore?: true;
};

/**
 * A resource as it was at some time, which is what a rollback goes back to. The journal of a run holds one
 * of each resource that it touched, a snapshot file one of each that it has.
 */
export type PriorState = Pick<
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
 * Reads a run's journal backwards. Only what the run really did is undone. What is `gone` since is to be created again,
 * as a whole: what the run changed in it is not enough to create it.
 */
export function undoRun(
  entries: readonly JournalEntry[],
  gone: ReadonlySet<Address> = new Set(),
): Undo {
  // A run that died has no ledger, but its intents say as much. Only what was written to has a line there.
  const written = new Map(ledgerOfDeadRun(entries).map((line) => [line.address, line] as const));
  const lines = new Map([
    ...written,
    ...listLedger(entries).map((line) => [line.address, line] as const),
  ]);
  const snapshots = new Map(
    entries.flatMap((entry) =>
      entry.type === 'snapshot' ? [[entry.address, entry] as const] : [],
    ),
  );
  const recorded = new Map(
    entries.flatMap((entry) =>
      entry.type === 'resource' ? [[entry.address, entry.resource] as const] : [],
    ),
  );
  const attempted = [...snapshots.values()].flatMap((snapshot) => {
    const { address, document } = snapshot;
    const line = written.has(address) ? lines.get(address) : undefined;
    if (line === undefined || line.status === 'not_attempted') return [];
    // If there was nothing and nothing was made, a resource that is there by now is a later run's.
    const isNothing = document === null && !recorded.get(address);
    return isNothing ? [] : [{ snapshot, line }];
  });
  const isLate = findLateEntries(entries);
  const priors = attempted.map(({ snapshot }) => snapshot);
  const findAddress = indexOwners(priors);
  const touched = attempted.map(({ snapshot, line }) => {
    const { address } = snapshot;
    const one = undoOne(snapshot, line, recorded.get(address), findAddress, gone.has(address));
    return { ...one, snapshot, line };
  });
  const each = <V>(pick: (one: (typeof touched)[number]) => V | undefined) =>
    new Map(
      touched.flatMap((one) => {
        const value = pick(one);
        return value === undefined ? [] : [[one.address, value] as const];
      }),
    );
  return {
    desired: touched.flatMap(({ desired }) => (desired ? [desired] : [])),
    addresses: priors.map(({ address }) => address),
    versions: indexVersions(priors),
    produced: each(({ snapshot, line, isWritten }) =>
      isWritten ? producedBy(line, snapshot, isLate(snapshot.address)) : undefined,
    ),
    rewritten: touched.flatMap(({ address, isWritten, snapshot }) =>
      isWritten && snapshot.document !== null ? [address] : [],
    ),
    made: each(({ address, snapshot: { kind, document } }) => {
      const goes = document === null && kindNamed(kind).delete !== undefined;
      return goes ? (recorded.get(address) ?? undefined) : undefined;
    }),
    interleaved: each(({ line, isWritten }) => (isWritten ? line.interleaved : undefined)),
    restored: each(({ restored }) => restored),
    wanted: each(({ wanted }) => wanted),
    impossible: touched.flatMap(({ impossible }) => impossible),
  };
}

/**
 * Returns the undo that brings these resources back to exactly what they were, whatever changed them: what is live
 * beside it counts as removed. A document of null takes the resource away: it was made since. Undoing a run is
 * `undoRun`; what becomes of either goes through `carryOutUndo` (run/undo.ts).
 */
export function undoTo(priors: readonly PriorState[]): Undo {
  const findAddress = indexOwners(priors);
  const wanted = priors.map((prior) => [prior, wantedFrom(prior, findAddress)] as const);
  return {
    desired: wanted.flatMap(([prior, { remapped }]) =>
      remapped === undefined ? [] : [desiredFrom(prior, remapped, { isExact: true })],
    ),
    addresses: priors.map(({ address }) => address),
    versions: indexVersions(priors),
    produced: new Map(),
    rewritten: [],
    made: new Map(),
    interleaved: new Map(),
    restored: new Map(priors.map(({ address, resource }) => [address, resource])),
    wanted: new Map(wanted.map(([{ address }, one]) => [address, one.wanted])),
    impossible: priors.flatMap(({ address, kind, document }) =>
      document === null && kindNamed(kind).delete === undefined
        ? [undeletable(address, kind, 'it was created since the snapshot')]
        : [],
    ),
  };
}

/** The part of an undo that concerns some addresses. */
export function narrowUndo(undo: Undo, isChosen: (address: Address) => boolean): Undo {
  const only = <V>(map: ReadonlyMap<Address, V>): ReadonlyMap<Address, V> =>
    new Map([...map].filter(([address]) => isChosen(address)));
  return {
    desired: undo.desired.filter(({ address }) => isChosen(address)),
    addresses: undo.addresses.filter(isChosen),
    versions: only(undo.versions),
    produced: only(undo.produced),
    rewritten: undo.rewritten.filter(isChosen),
    made: only(undo.made),
    interleaved: only(undo.interleaved),
    restored: only(undo.restored),
    wanted: only(undo.wanted),
    impossible: undo.impossible.filter(({ address }) => isChosen(address)),
  };
}

/** Finds resources of which a part is to be undone, and that a plan would create again: they are gone since. */
export function goneSince({ wanted }: Undo, { changes }: Pick<PlanDocument, 'changes'>) {
  const made = changes.filter(({ action }) => action === 'create').map(({ address }) => address);
  return new Set(made.filter((address) => wanted.get(address)?.changed !== undefined));
}

/** A journal under the addresses of now. */
type Readdressed = {
  readonly entries: readonly JournalEntry[];
  /** Addresses whose own resource is gone while another one of the run has them: nothing of theirs is left in it. */
  readonly displaced: readonly Address[];
};

/**
 * A journal under the addresses that its resources have by now, which `moved:` and `state mv` change: under those of
 * then it would tell of nothing or, worse, of what took an address since. What the state no longer knows keeps its own.
 *
 * @param rebind what the state said of a resource, for another address
 * @param rollbacks journals of what rolled the run back in part. An address keeps what one of them made there, though
 *   what it was made in the place of is still live under another
 */
export function underAddressesOfNow(
  entries: readonly JournalEntry[],
  { resources }: Pick<State, 'resources'>,
  rebind: (resource: ResourceState, from: Address, to: Address) => ResourceState,
  rollbacks: readonly (readonly JournalEntry[])[] = [],
): Readdressed {
  const ids = new Map<Address, string>();
  for (const entry of entries) {
    if (entry.type === 'snapshot' && entry.id !== null)
      ids.set(entry.address, `${entry.kind} ${entry.id}`);
    if (entry.type === 'resource' && entry.resource !== null)
      ids.set(entry.address, `${entry.resource.kind} ${entry.resource.id}`);
  }
  const owners = ownersIn({ resources });
  const remade = new Set(
    rollbacks.flat().flatMap((entry) => {
      if (entry.type !== 'resource' || entry.resource === null) return [];
      return getOwn(resources, entry.address)?.id === entry.resource.id ? entry.address : [];
    }),
  );
  const others = [...ids].flatMap(([address, id]) => {
    const now = owners.get(id) ?? address;
    return now === address ? [] : [[address, now] as const];
  });
  const moved = new Map(others.filter(([address]) => !remade.has(address)));
  const left = new Map(others.filter(([address]) => remade.has(address)));
  if (others.length === 0) return { entries, displaced: [] };
  const taken = new Set(moved.values());
  // Drops resources whose address another one has by now: they are gone, or were never made.
  const isKept = ({ address }: { readonly address: Address }) =>
    moved.has(address) || !taken.has(address);
  const named = <T extends { readonly address: Address }>(one: T): T => {
    return { ...one, address: moved.get(one.address) ?? one.address };
  };
  const rebound = ({ address }: { readonly address: Address }, resource: ResourceState | null) => {
    const to = moved.get(address);
    return resource === null || to === undefined ? resource : rebind(resource, address, to);
  };
  return {
    displaced: [...ids.keys()].filter((address) => !isKept({ address })),
    entries: entries.flatMap((entry): readonly JournalEntry[] => {
      if (entry.type === 'ended') {
        const lines = entry.ledger.filter(isKept);
        const apart = lines.flatMap((line): readonly LedgerLine[] => {
          const address = left.get(line.address);
          return address === undefined ? [] : [{ ...line, address, action: 'create' }];
        });
        return [{ ...entry, ledger: [...lines.map(named), ...apart] }];
      }
      if (!('address' in entry)) return [entry];
      if (!isKept(entry)) return [];
      const at = left.get(entry.address);
      const more = at === undefined ? [] : madeApart(entry, at, ids.get(entry.address), rebind);
      if (entry.type === 'intent') return [named(entry), ...more];
      return [{ ...named(entry), resource: rebound(entry, entry.resource) }, ...more];
    }),
  };
}

/**
 * Says of what a run made in the place of another resource that it was made at an address of its own: a rollback made the
 * other one again, and died before it deleted this one.
 */
function madeApart(
  entry: Extract<JournalEntry, { readonly address: Address }>,
  address: Address,
  identity: string | undefined,
  rebind: (resource: ResourceState, from: Address, to: Address) => ResourceState,
): readonly JournalEntry[] {
  switch (entry.type) {
    case 'snapshot':
      return [{ ...entry, address, id: null, document: null, pin: null, resource: null }];
    case 'intent':
      return entry.step === 'create' ? [{ ...entry, address }] : [];
    case 'resource':
      return entry.resource !== null && getIdentity(entry.resource) === identity
        ? [{ ...entry, address, resource: rebind(entry.resource, entry.address, address) }]
        : [];
  }
}

/**
 * Tells if what a copy keeps encrypted goes back to the resource it was taken of: the state has that one, or it has none
 * at the address, or the run itself took it away. What the address stands for otherwise must not get its values.
 */
export function goesBack(
  entries: readonly JournalEntry[],
  { resources }: Pick<State, 'resources'>,
): (copy: Pick<SnapshotTaken, 'address' | 'kind' | 'id'>) => boolean {
  const owners = ownersIn({ resources });
  const ledger = new Map(listLedger(entries).map(({ address, action }) => [address, action]));
  return ({ address, kind, id }) => {
    const action = ledger.get(address);
    if (resources[address] === undefined || action === 'delete' || action === 'replace')
      return true;
    return id !== null && owners.has(`${kind} ${id}`);
  };
}

/** The copies of a journal with what they keep encrypted, as far as it opens. */
export function unseal(
  entries: readonly JournalEntry[],
  open: Open | undefined,
): readonly JournalEntry[] {
  if (open === undefined) return entries;
  return entries.map((entry) =>
    entry.type === 'snapshot' && entry.sealed !== undefined ? unsealOne(entry, open) : entry,
  );
}

/** Opens what a copy keeps encrypted; undefined where it does not open. */
type Open = (copy: SnapshotTaken, path: string, text: string) => Json | undefined;

function unsealOne(snapshot: SnapshotTaken, open: Open): SnapshotTaken {
  const { kind, sealed = {} } = snapshot;
  const { schema } = kindNamed(kind);
  const opened = new Set<string>();
  const document = Object.entries(sealed).reduce((whole, [text, kept]) => {
    const [value, path] = [open(snapshot, text, kept), parsePath(text)];
    if (whole === null || value === undefined || path === undefined) return whole;
    opened.add(text);
    return placeValue(schema, whole, path, value);
  }, snapshot.document);
  const withheld = snapshot.withheld.filter((text) => !opened.has(text));
  return { ...snapshot, document, withheld };
}

function producedBy(
  { id: own, history }: LedgerLine,
  { id: prior, pin }: SnapshotTaken,
  isLate: boolean,
): Produced | undefined {
  const id = own ?? prior;
  if (id === null) return undefined;
  if (history?.after) return { id, entry: history.after, ...(isLate ? { isBefore: true } : {}) };
  // A run that died may not have come to see its own entry.
  return pin?.history_id ? { id, entry: pin.history_id, isBefore: true } : undefined;
}

function undoOne(
  taken: SnapshotTaken,
  line: LedgerLine,
  recorded: ResourceState | null | undefined,
  findAddress: (kind: string, id: string) => Address | undefined,
  isGone: boolean,
) {
  const { address, kind: name, document } = taken;
  const { action, fields: changed } = line;
  const kind = kindNamed(name);
  // A document that was uploaded again is another source, which nothing deletes: the address goes on standing for it.
  const isOther = action === 'update' && kind.update === undefined;
  const snapshot = isOther && recorded ? { ...taken, id: recorded.id } : taken;
  if (document === null) {
    const impossible = kind.delete ? [] : [undeletable(address, name, 'the run created it')];
    const { wanted } = wantedFrom(snapshot, findAddress);
    const { resource: restored } = snapshot;
    return { address, desired: undefined, impossible, restored, wanted, isWritten: true };
  }
  const isWhole = isGone || action === 'delete' || action === 'replace';
  // A resource that the run replaced and could not delete is as it was.
  const isKept = action === 'replace' && kind.delete === undefined;
  const touched = isKept
    ? { snapshot, changed: [], isWhole: false, recorded }
    : { snapshot, changed, isWhole, recorded };
  const { secrets, files, unread } = unrecoverablePaths(kind.schema, touched);
  // Values that no snapshot holds stay as they are: they are not put back, and not emptied either.
  const along = secretsIntroduced(kind.schema, touched);
  const stays = new Set([...snapshot.withheld, ...secrets, ...files, ...unread, ...along]);
  const back = [...changed, ...listCompanions(kind.schema, document, changed)];
  const paths = parsePaths(back.filter((text) => !stays.has(text))).filter((path) =>
    isFieldReturned(kind.schema, schemaAt(kind.schema, path), document),
  );
  const prior = withUnreturned(kind, document, snapshot.resource?.leaves ?? {});
  const elsewhere = isWhole ? facetsSetUpElsewhere(kind, document) : [];
  const hollow = isWhole ? hollowObjects(kind.schema, document) : { withSecrets: [], bare: [] };
  const nameless = namelessElements(kind, snapshot);
  const gone = nameless.filter(({ element }) => isWhole || changed.includes(element));
  const bare = [
    ...bareElements(kind, snapshot),
    ...gone.map(({ element }) => element),
    ...elsewhere.map(({ field }) => field),
    ...hollow.withSecrets,
    ...hollow.bare,
  ];
  const source = isWhole ? creatable(kind, snapshot, document, bare) : snapshot;
  const { wanted, remapped } = wantedFrom(source, findAddress, isWhole ? undefined : back);
  // Values that are not returned are sent again, and cannot be verified.
  const anew = isWhole
    ? wantedFrom(creatable(kind, snapshot, prior, bare), findAddress).remapped
    : undefined;
  const whole = remapped?.document;
  return {
    address,
    restored: restoredState(kind.schema, touched),
    wanted: { ...wanted, withheld: [...wanted.withheld, ...bare] },
    isWritten: isWhole || paths.length > 0,
    desired: desiredFrom(
      snapshot,
      anew ?? remapReferences(kind.schema, pickLeaves(kind.schema, prior, paths), findAddress),
      {
        ...(whole && { whole: { document: whole, withheld: [...snapshot.withheld, ...bare] } }),
        // It stays where it is still there, and is not made again where it is not.
        ignore: [...bare, ...nameless.map(({ name }) => name)],
      },
    ),
    impossible: [
      ...unrecoverableValues(kind.schema, touched),
      ...(isWhole ? unknownFields(snapshot).map((field) => unknownStays(address, field)) : []),
      ...elsewhere.map((facet) => wentWith(address, facet)),
      ...hollow.withSecrets
        .filter((path) => !parsePaths(secrets).some((secret) => isWithin(secret, [toPath(path)])))
        .map((path) => hadSecretsAlone(address, path)),
      ...(isKept ? [replacedStays(address, name, line.id)] : []),
      ...(snapshot.id === taken.id || files.length > 0
        ? []
        : [undeletable(address, name, `the run created it again (${snapshot.id})`)]),
    ],
  };
}

/**
 * Lists values that come back with what a run changed: the platform drops the one with a flag (`x-told-while`), and
 * sets the other with what it follows (`x-follows`).
 */
function listCompanions(
  root: FieldSchema,
  prior: JsonObject,
  changed: readonly string[],
): readonly string[] {
  const paths = parsePaths(changed);
  return listDependents(root).flatMap(({ path, leader }) => {
    const text = formatPath(path);
    const isThere = (valueAt(root, prior, path) ?? null) !== null;
    return isThere && isWithin(leader, paths) && !isWithin(path, paths) ? [text] : [];
  });
}

/**
 * Elements of which nothing is left but what they are known by, such as a header without its value: sent like that
 * they would be broken.
 */
function bareElements({ schema }: Kind, { document, withheld }: SnapshotTaken): readonly string[] {
  const elements = withheld.flatMap((text) => {
    const path = toPath(text);
    const at = path.findLastIndex(isIdentity);
    return at < 0 ? [] : [path.slice(0, at + 1)];
  });
  const bare = elements.filter((path) => {
    const element = document === null ? undefined : valueAt(schema, document, path);
    const { 'x-identity': identity } = schemaAt(schema, path.slice(0, -1));
    const members = isObject(element) ? Object.keys(element) : [];
    return members.every((name) => name === identity);
  });
  return [...new Set(bare.map(formatPath))];
}

/** Elements whose name is not all there, since it holds a credential: the paths of both. */
function namelessElements({ schema }: Kind, { withheld }: SnapshotTaken) {
  return withheld.flatMap((name) => {
    const path = toPath(name);
    if (!isElementName(schema, path)) return [];
    return [{ name, element: formatPath(path.slice(0, -1)) }];
  });
}

/** Copies what can be created again. If nothing of a facet was on, sending it would make defaults its own. */
function creatable(
  kind: Kind,
  snapshot: SnapshotTaken,
  prior: JsonObject,
  without: readonly string[],
): SnapshotTaken {
  // From the last one on: each keeps its number while one after it, of the same identity, goes.
  const document = without.reduceRight(
    (whole, text) => withoutValue(kind.schema, whole, toPath(text)),
    withoutIdleFacets(kind, prior),
  );
  return { ...snapshot, document };
}

/** Adds values that were written once and are not returned, as the state remembers them. */
function withUnreturned(
  { schema }: Kind,
  document: JsonObject,
  leaves: ResourceState['leaves'],
): JsonObject {
  return Object.entries(leaves).reduce((whole, [text, leaf]) => {
    const path = toPath(text);
    const [field = ''] = path;
    if (isEchoed(schema, field, document) || !('value' in leaf)) return whole;
    const known = path.reduceRight<Json>((value, key) => ({ [key]: value }), leaf.value);
    return pickLeaves(schema, isObject(known) ? known : {}, [path], whole);
  }, document);
}

function unknownStays(address: Address, path: string): NotUndone {
  const why =
    'is a field that this version of Callsheet does not know; the resource is restored without it';
  return { address, path, why, advice: 'Set it in the dashboard.' };
}

function wentWith(address: Address, { field: path, goes = path }: Facet): NotUndone {
  const why = `is not restored: the delete also removed ${goes}`;
  return { address, path, why, advice: 'Set it up in the dashboard.' };
}

function hadSecretsAlone(address: Address, path: string): NotUndone {
  const why = 'showed nothing but may have had secrets, which no snapshot holds: it is left out';
  return { address, path, why, advice: 'Apply writes it if it is configured.' };
}

/** A voice of another name is another voice: the old one is taken up again, and the new one stays. */
function replacedStays(address: Address, kind: string, id: string | null): NotUndone {
  const which = id === null ? 'the one' : `the one (${id})`;
  const why = `${which} that the run created in its place stays, because the platform has no endpoint that deletes a ${kind}`;
  return { address, path: null, why, advice: 'Delete it in the dashboard.' };
}

/** The history entries that were newest then. */
function indexVersions(priors: readonly PriorState[]): ReadonlyMap<Address, number> {
  return new Map(
    priors.flatMap(({ address, pin }) =>
      pin?.history_id ? [[address, pin.history_id] as const] : [],
    ),
  );
}

/** Finds which of these resources had an id, of a kind or of `ANY_KIND`. */
export function indexOwners(
  priors: readonly Pick<PriorState, 'kind' | 'id' | 'address'>[],
): (kind: string, id: string) => Address | undefined {
  const owners = new Map(
    priors.flatMap(({ kind, id, address }) =>
      id === null
        ? []
        : [kind, ANY_KIND].map((name) => [`${name} ${plainId(id)}`, address] as const),
    ),
  );
  return (kind, id) => owners.get(`${kind} ${plainId(id)}`);
}

/** The whole of a resource as it is to be again, and what it refers to. */
function wantedFrom(
  { kind, id, document: prior, withheld, resource }: PriorState,
  findAddress: (kind: string, id: string) => Address | undefined,
  changed?: readonly string[],
): { readonly wanted: Wanted; readonly remapped: Remapped | undefined } {
  const { schema } = kindNamed(kind);
  const remapped =
    prior === null
      ? undefined
      : remapReferences(
          schema,
          pickReturned(schema, knownPart(kindNamed(kind), prior, resource)),
          findAddress,
        );
  const wanted = { kind, id, document: remapped?.document ?? null, withheld, changed };
  return { wanted, remapped };
}

/**
 * Returns the top-level fields that can be written again. A field that is not in the schema and that Callsheet never
 * wrote has an unknown write name.
 */
function knownPart(kind: Kind, document: JsonObject, resource: PriorState['resource']): JsonObject {
  const own = listFields(kind, undefined, resource?.leaves);
  return Object.fromEntries(
    Object.entries(document).filter(([field]) => namesField(kind.schema, field) || own.has(field)),
  );
}

/** Lists the other fields of a prior resource, which do not come back with it. */
function unknownFields({ kind, document, resource }: PriorState): readonly string[] {
  const known = knownPart(kindNamed(kind), document ?? {}, resource);
  return Object.entries(document ?? {}).flatMap(([field, value]) =>
    value === null || Object.hasOwn(known, field) ? [] : [field],
  );
}

/** A desired side for the ordinary plan. */
function desiredFrom(
  prior: PriorState,
  { document, references }: Remapped,
  {
    ignore = [],
    ...more
  }: Pick<DesiredResource, 'isExact' | 'whole'> & {
    readonly ignore?: readonly string[];
  },
): DesiredResource {
  const scope = getScope(kindNamed(prior.kind), prior.document ?? {});
  const name = prior.document?.name;
  return {
    address: prior.address,
    kind: prior.kind,
    document: { ...scope, ...(typeof name === 'string' ? { name } : {}), ...document },
    lifecycle: {
      protect: prior.resource?.protect ?? false,
      // Values that no snapshot holds are neither compared nor written.
      ignore: more.isExact === true ? prior.withheld : ignore,
      ...(prior.id === null ? {} : { adopt: prior.id }),
    },
    isPartial: true,
    ...more,
    references,
    position: undefined,
    locate: () => undefined,
  };
}

/** Why what was made since stays. */
function undeletable(address: Address, kind: string, made: string): NotUndone {
  const why = `${made}, and the platform has no endpoint that deletes a ${kind}`;
  return { address, path: null, why, advice: 'Delete it in the dashboard.' };
}

/** A document whose ids of the run's own resources are references, and the addresses that it refers to. */
type Remapped = {
  readonly document: ValueObject;
  readonly references: readonly Address[];
};

/**
 * Turns ids that a snapshot holds into references to the resources that had them, in settings and texts, too. What the
 * run deleted comes back under another id, and whatever refers to it has to wait for that (DESIGN §6). `findAddress` is
 * asked for `ANY_KIND` where no field says of which kind an id is.
 */
export function remapReferences(
  root: FieldSchema,
  document: ValueObject,
  findAddress: (kind: string, id: string) => Address | undefined,
): Remapped {
  const references = new Set<Address>();
  const linked = mapIds(root, document, ({ kind, id }) => {
    const address = findAddress(kind, id);
    if (address === undefined) return undefined;
    references.add(address);
    return new Ref(address);
  });
  return { document: linked, references: [...references] };
}

/** The readings of a resource before and after a rollback. */
export type Seen = {
  /** Right before the rollback wrote to it; undefined where it did not. */
  readonly before: JsonObject | null | undefined;
  readonly after: LiveResource | undefined;
};

/** A live resource that names something by the id which that had, and the paths where it does. */
export type Naming = {
  readonly address: Address;
  readonly kind: Kind;
  readonly live: LiveResource;
  readonly paths: readonly string[];
  /** The state's entry. */
  readonly recorded: ResourceState;
};

/**
 * An undo that also puts the new ids of what comes back into other resources, which still have the old ones.
 * `findAddress`: what had an id.
 */
export function withRelinked(
  undo: Undo,
  naming: readonly Naming[],
  findAddress: (kind: string, id: string) => Address | undefined,
): Undo {
  const desired = new Map(undo.desired.map((one) => [one.address, one]));
  const wanted = new Map(undo.wanted);
  const restored = new Map(undo.restored);
  for (const { address, kind, live, paths, recorded } of naming) {
    const { schema } = kind;
    const before = desired.get(address);
    const known = before?.document ?? {};
    const part = pickLeaves<Value>(schema, live.document, paths.map(toPath), known);
    const linked = remapReferences(schema, part, findAddress);
    const base =
      before ??
      desiredFrom(
        {
          address,
          kind: kind.name,
          id: live.id,
          document: live.document,
          pin: null,
          resource: recorded,
          withheld: [],
        },
        linked,
        {},
      );
    const references = [...new Set([...base.references, ...linked.references])];
    const document = { ...base.document, ...linked.document };
    desired.set(address, { ...base, document, references });
    const now = wanted.get(address) ?? {
      kind: kind.name,
      id: live.id,
      document: pickReturned(schema, knownPart(kind, live.document, recorded)),
      withheld: [],
      changed: [],
    };
    const whole = now.document && remapReferences(schema, now.document, findAddress).document;
    wanted.set(address, { ...now, document: whole, changed: [...(now.changed ?? []), ...paths] });
    if (!restored.has(address)) restored.set(address, recorded);
  }
  const addresses = [...new Set([...undo.addresses, ...naming.map(({ address }) => address)])];
  return { ...undo, addresses, desired: [...desired.values()], wanted, restored };
}

/**
 * Holds a resource against what it was, leaf by leaf. A leaf counts where it is to be undone, or where the
 * rollback moved it; what somebody edited elsewhere in the resource since is theirs. Values that no snapshot
 * holds are not compared, and what has no endpoint was named before.
 */
export function listDifferences(
  address: Address,
  wanted: Wanted,
  { before, after }: Seen,
  world: World,
): readonly Difference[] {
  const kind = kindNamed(wanted.kind);
  const presence = (isWanted: boolean): Difference => ({
    address,
    path: null,
    wanted: isWanted ? 'there' : 'gone',
    found: isWanted ? 'gone' : 'there',
  });
  if (wanted.document === null)
    return after === undefined || kind.delete === undefined ? [] : [presence(false)];
  if (after === undefined) return [presence(true)];
  const whole = { document: wanted.document, withheld: wanted.withheld };
  const differ = (live: JsonObject) =>
    compareWhole(kind.schema, whole, live, { address }, world).filter(
      ({ cause }) => cause !== 'unknown_secret' && cause !== 'unknown_content',
    );
  const stood = new Set(before ? differ(before).map(liveKey) : []);
  // The platform set it with what was put back.
  const followers = listFollowers(kind.schema, parsePaths(wanted.changed ?? []));
  const follows = (leaf: LeafChange) =>
    followers.some(({ path }) => formatPath(path) === leaf.text);
  return differ(after.document)
    .filter(
      (leaf) => isToUndo(leaf, wanted) || (before && !stood.has(liveKey(leaf)) && !follows(leaf)),
    )
    .map((leaf) => {
      const { path, before: found, after: value } = fieldChange(kind, leaf);
      return { address, path, wanted: value, found };
    });
}

function isToUndo({ path }: LeafChange, { changed }: Wanted): boolean {
  if (changed === undefined) return true;
  return parsePaths(changed).some((one) => overlaps(path, one));
}
