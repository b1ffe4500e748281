import { type Address, nameInWords } from '../core/address.ts';
import { type Blob, getOwn, type JsonObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import { fileMissing } from '../kinds/kind.ts';
import { getNaturalKey, getRecordedKey, getScope } from '../plan/natural-key.ts';
import type { NotUndone, SnapshotTaken } from '../state/journal.ts';
import { getIdentity, ownersIn, type ResourceState, type State } from '../state/model.ts';
import { restoredState, unrecoverableValues } from './prior.ts';
import { type PriorState, type Undo, undoTo } from './undo.ts';

/** A resource as a snapshot holds it. */
export type Kept = {
  readonly kind: string;
  readonly id: string;
  /** Its address when the snapshot was made; null where it had none, or had it in another stack. */
  readonly address: Address | null;
  readonly document: JsonObject;
  /** The newest history entry then; null where its time is to tell. */
  readonly version: number | null;
  /** `updated_at` then. */
  readonly updatedAt: string | null;
  readonly withheld: readonly string[];
  /** The record in this stack's state at that time. */
  readonly state: ResourceState | null;
  /** Digests (`sha256:…`) of the files that it was made of, by field. */
  readonly files: { readonly [field: string]: string };
};

export type Now = {
  readonly state: State;
  /** True if the platform no longer has a resource, of the state or of the snapshot. */
  readonly isMissing: (kind: string, id: string) => boolean;
  /** True if the snapshot would hold the resource if it had been there: then what it lacks was made since. */
  readonly covers: (address: Address, resource: ResourceState) => boolean;
  /** The file that a resource was made of, where the snapshot holds its bytes. */
  readonly fileFor: (kept: Kept, field: string) => Blob | undefined;
  /** Ids of live resources of its name that were made since the snapshot, where the platform takes several of one name. */
  readonly namesakes: (kept: Kept) => readonly string[];
  /** A command as it is typed for this stack. */
  readonly typed: (command: string) => string;
};

/** The undo that brings a stack back to a snapshot, and what the snapshot does not say. */
export type SnapshotUndo = {
  readonly undo: Undo;
  /** Resources of the stack that the snapshot says nothing of. */
  readonly uncovered: readonly Address[];
  /** How many resources of the snapshot are not the stack's. */
  readonly foreign: number;
  /** `updated_at` then of those whose newest history entry is to be found by it. */
  readonly stamps: ReadonlyMap<Address, string>;
};

/**
 * Takes the stack's resources back to the snapshot. A resource is found by its id in the state or, if the state has
 * let go of it, by the address that it had.
 */
export function undoToSnapshot(kept: readonly Kept[], now: Now): SnapshotUndo {
  const { resources } = now.state;
  const owners = ownersIn(now.state);
  const found = new Map<Address, Kept>();
  for (const one of kept) {
    const owner = owners.get(getIdentity(one));
    if (owner !== undefined) found.set(owner, one);
  }
  // An id that the state knows says more than an address, which may stand for something else by now.
  for (const one of kept) {
    const { address, kind } = one;
    if (owners.has(getIdentity(one)) || address === null || found.has(address)) continue;
    const holder = getOwn(resources, address);
    if (holder === undefined || holder.kind === kind) found.set(address, one);
  }
  const lacking = Object.entries(resources).filter(([address]) => !found.has(address));
  const made = lacking.filter((one) => now.covers(...one));
  const back = [...found].map(([address, one]) => broughtBack(address, one, now));
  const makeable = back.filter(({ isLost }) => !isLost);
  const priors = [...makeable.map(({ prior }) => prior), ...made.map(madeSince)];
  const undo = undoTo(priors);
  const files = new Map(makeable.map(({ prior, file }) => [prior.address, file]));
  const desired = undo.desired.map((one) => {
    const { field, blob } = files.get(one.address) ?? {};
    return field && blob ? { ...one, document: { ...one.document, [field]: blob } } : one;
  });
  const lost = back.flatMap(({ impossible }) => impossible);
  return {
    undo: { ...undo, desired, impossible: [...lost, ...undo.impossible] },
    uncovered: lacking.filter((one) => !now.covers(...one)).map(([address]) => address),
    foreign: kept.length - found.size,
    stamps: new Map(
      [...found].flatMap(([address, { id, version, updatedAt }]) =>
        version === null && updatedAt !== null && (resources[address]?.id ?? id) === id
          ? [[address, updatedAt] as const]
          : [],
      ),
    ),
  };
}

function madeSince([address, resource]: readonly [Address, ResourceState]): PriorState {
  const { kind } = resource;
  // It has no place in the state any more once it is gone.
  return { address, kind, id: null, document: null, pin: null, resource: null, withheld: [] };
}

type Back = {
  readonly prior: PriorState;
  readonly impossible: Undo['impossible'];
  /** The file that it is made of, by its field. */
  readonly file: MadeOf | undefined;
  /** True if it cannot be brought back at all. */
  readonly isLost: boolean;
};

/** The file that a resource was made of. */
type MadeOf = {
  readonly field: string;
  /** Undefined where the snapshot does not hold its bytes. */
  readonly blob: Blob | undefined;
};

function broughtBack(address: Address, kept: Kept, now: Now): Back {
  const { kind, id, document, version } = kept;
  const { schema } = kindNamed(kind);
  const recorded = getOwn(now.state.resources, address);
  const place = classifyPlace(kept, recorded, now);
  const isWhole = place === 'empty';
  // A version is one of the resource that had that id, not of what took its place.
  const isSame = recorded === undefined || recorded.id === id;
  const pin =
    isSame && version !== null ? { digest: '', updated_at: null, history_id: version } : null;
  // It is unknown how to write a field that the schema does not have.
  const unknown = Object.keys(document).filter(
    (name) => getOwn(schema.properties, name) === undefined,
  );
  const withheld = [...kept.withheld, ...unknown];
  const field = fileMissing(schema, () => document);
  const file = field === undefined ? undefined : { field, blob: now.fileFor(kept, field) };
  const isHeld = file?.blob !== undefined;
  const filesBack = field !== undefined && (isHeld || place === 'taken') ? [field] : [];
  const then = withFiles(kept.state ?? recorded ?? null, kept, filesBack);
  const prior: SnapshotTaken = {
    type: 'snapshot',
    address,
    kind,
    id,
    document,
    pin,
    resource: then,
    withheld,
    intended: null,
  };
  const changed = listLeaves(then, recorded);
  const touched = { snapshot: prior, changed, isWhole, recorded, filesBack };
  const resource = restoredState(schema, touched);
  const lost = unrecoverableValues(schema, {
    ...touched,
    snapshot: { ...prior, withheld: kept.withheld },
    changed: [],
  });
  const unknownLost = unknown.map((path) => ({
    address,
    path,
    why: 'is a field that no schema knows; the resource is restored without it',
    advice: 'Set it in the dashboard.',
  }));
  const isLost = file !== undefined && !isHeld && (isWhole || place === 'other');
  const isOtherFile =
    file !== undefined && !isHeld && place === 'own' && !isSameFile(kept, recorded, file.field);
  const impossible = isLost
    ? [fileLost(address, file.field, isWhole ? undefined : recorded, now)]
    : [
        ...(isWhole ? [...lost, ...unknownLost] : []),
        ...(isOtherFile ? [fileLost(address, file.field, recorded, now)] : []),
        ...madeBeside(kept, recorded, place, now).map((other) => staysBeside(address, kind, other)),
      ];
  return {
    prior: { ...prior, resource: resource ?? blank(kept, address) },
    impossible,
    file,
    isLost,
  };
}

/** Gives the state's entry the digests of the files that come back. */
function withFiles(
  resource: ResourceState | null,
  { files }: Kept,
  back: readonly string[],
): ResourceState | null {
  const known = back.flatMap((field) => {
    const digest = getOwn(files, field);
    return digest === undefined ? [] : [[field, { digest }] as const];
  });
  return resource && { ...resource, leaves: { ...resource.leaves, ...Object.fromEntries(known) } };
}

/**
 * Tells what stands in the place of a resource of a snapshot.
 *
 * | place   | the resource itself | what the address stands for                  |
 * |---------|---------------------|----------------------------------------------|
 * | `own`   | is there            | it, or nothing that the state knows           |
 * | `taken` | is there            | another one, which was put in its place       |
 * | `alike` | is gone             | another one of the same name and file         |
 * | `other` | is gone             | another one                                   |
 * | `empty` | is gone             | nothing, or something that is gone, too       |
 */
type Place = 'own' | 'taken' | 'alike' | 'other' | 'empty';

function classifyPlace(kept: Kept, recorded: ResourceState | undefined, { isMissing }: Now): Place {
  const { kind, id, document } = kept;
  const isThere = recorded !== undefined && !isMissing(kind, recorded.id);
  const isOther = recorded !== undefined && recorded.id !== id;
  if (!isMissing(kind, id)) return isOther && isThere ? 'taken' : 'own';
  if (!isThere) return 'empty';
  const known = kindNamed(kind);
  const field = fileMissing(known.schema, () => document);
  const isNamed = getRecordedKey(known, recorded) === getNaturalKey(known, document);
  const isAlike = isNamed && (field === undefined || isSameFile(kept, recorded, field));
  return isAlike ? 'alike' : 'other';
}

/** True unless the state has written another file than the one of then. */
function isSameFile({ files }: Kept, recorded: ResourceState | undefined, field: string): boolean {
  const leaf = getOwn(recorded?.leaves ?? {}, field);
  const then = getOwn(files, field);
  return leaf === undefined || !('digest' in leaf) || leaf.digest === then;
}

/** Ids of what was made in the place of a resource, or beside it, and no endpoint deletes. */
function madeBeside(
  kept: Kept,
  recorded: ResourceState | undefined,
  place: Place,
  { namesakes }: Now,
): readonly string[] {
  if (kindNamed(kept.kind).delete !== undefined) return [];
  const isReplaced = place === 'taken' || place === 'other';
  const own = isReplaced && recorded !== undefined ? [recorded.id] : [];
  const others = namesakes(kept).filter((id) => place !== 'alike' || id !== recorded?.id);
  return [...new Set([...own, ...others])];
}

function staysBeside(address: Address, kind: string, id: string): NotUndone {
  const noun = nameInWords(kind);
  const why = `the one (${id}) that was made since the snapshot stays, because the platform has no endpoint that deletes a ${noun}`;
  return { address, path: null, why, advice: 'Delete it in the dashboard.' };
}

/** Paths that the state speaks of, then or now. */
function listLeaves(then: ResourceState | null, now: ResourceState | undefined): readonly string[] {
  const paths = [...Object.keys(then?.leaves ?? {}), ...Object.keys(now?.leaves ?? {})];
  return [...new Set(paths)];
}

/** Returns the state's record of a resource that no state has recorded. */
function blank({ kind, id, document }: Kept, address: Address): ResourceState {
  const scope = getScope(kindNamed(kind), document);
  const name = typeof document.name === 'string' ? document.name : address;
  return { kind, id, scope, name, leaves: {}, pin: null, protect: false };
}

/** Says that the bytes of then are not at hand. `other`: what stays as it is, made of other bytes. */
function fileLost(
  address: Address,
  field: string,
  other: ResourceState | undefined,
  { typed }: Now,
): NotUndone {
  const apply = `Put the file of then back into the stack, and apply: ${typed('apply')}`;
  return other === undefined
    ? {
        address,
        path: null,
        why: `it was deleted, and the snapshot does not hold its bytes (${field})`,
        advice: `${apply}. Snapshots hold them with --media.`,
      }
    : {
        address,
        path: field,
        why: `is another file since the snapshot, which does not hold its bytes; ${other.id} stays`,
        advice: `${apply}. Snapshots hold them with --media.`,
      };
}
