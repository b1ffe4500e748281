import type { Address } from '../core/address.ts';
import type { FieldSchema } from '../core/schema.ts';
import { getOwn, type JsonObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import { fileMissing } from '../kinds/kind.ts';
import { getScope } from '../plan/natural-key.ts';
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
  /** The newest history entry then. */
  readonly version: number | null;
  readonly withheld: readonly string[];
  /** What the state of this stack said of it then. */
  readonly state: ResourceState | null;
};

/** What there is now of a stack. */
export type Now = {
  readonly state: State;
  /** Whether the platform no longer has a resource, of the state or of the snapshot. */
  readonly isMissing: (kind: string, id: string) => boolean;
  /** Whether the snapshot would hold a resource if it had been there: then what it lacks was made since. */
  readonly covers: (address: Address, resource: ResourceState) => boolean;
};

/** What it takes to bring a stack back to a snapshot, and what the snapshot cannot tell. */
export type SnapshotUndo = {
  readonly undo: Undo;
  /** Resources of the stack that the snapshot says nothing of. */
  readonly untold: readonly Address[];
  /** How many resources of the snapshot are not the stack's. */
  readonly foreign: number;
};

/**
 * What the stack manages goes back to what the snapshot has of it. A resource is found by its id in the state
 * or, where the state has let go of it, by the address that it had.
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
  const lost = back.flatMap(({ impossible }) => impossible);
  return {
    undo: { ...undo, impossible: [...lost, ...undo.impossible] },
    untold: lacking.filter((one) => !now.covers(...one)).map(([address]) => address),
    foreign: kept.length - found.size,
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
  /** Whether it cannot be brought back at all. */
  readonly isLost: boolean;
};

function broughtBack(address: Address, kept: Kept, { state, isMissing }: Now): Back {
  const { kind, id, document, version } = kept;
  const { schema } = kindNamed(kind);
  const recorded = getOwn(state.resources, address);
  const isWhole = isMissing(kind, id) && (recorded === undefined || isMissing(kind, recorded.id));
  // A version is one of the resource that had that id, not of what took its place.
  const isSame = recorded === undefined || recorded.id === id;
  const pin =
    isSame && version !== null ? { digest: '', updated_at: null, history_id: version } : null;
  // Nobody can say how a field is written that the schema does not know.
  const unknown = Object.keys(document).filter(
    (name) => getOwn(schema.properties, name) === undefined,
  );
  const withheld = [...kept.withheld, ...unknown];
  const then = kept.state ?? recorded ?? null;
  const prior: SnapshotTaken = {
    type: 'snapshot',
    address,
    kind,
    id,
    document,
    pin,
    resource: then,
    withheld,
  };
  const changed = listLeaves(then, recorded);
  const resource = restoredState(schema, { snapshot: prior, changed, isWhole, recorded });
  const obstacle = isWhole ? obstacleTo(schema, document) : undefined;
  const lost = unrecoverableValues(schema, {
    snapshot: { ...prior, withheld: kept.withheld },
    changed: [],
    isWhole,
    recorded,
  });
  const unknownLost = unknown.map((path) => ({
    address,
    path,
    why: 'is a field that no schema knows; the resource is restored without it',
    advice: 'Set it in the dashboard.',
  }));
  const gone = obstacle === undefined ? [] : [{ address, path: null, ...obstacle }];
  const impossible = gone.length > 0 ? gone : isWhole ? [...lost, ...unknownLost] : [];
  return {
    prior: { ...prior, resource: resource ?? blank(kept, address) },
    impossible,
    isLost: obstacle !== undefined,
  };
}

/** Paths that the state speaks of, then or now. */
function listLeaves(then: ResourceState | null, now: ResourceState | undefined): readonly string[] {
  const paths = [...Object.keys(then?.leaves ?? {}), ...Object.keys(now?.leaves ?? {})];
  return [...new Set(paths)];
}

/** What the state is to say of a resource that no state has said anything of. */
function blank({ kind, id, document }: Kept, address: Address): ResourceState {
  const scope = getScope(kindNamed(kind), document);
  const name = typeof document.name === 'string' ? document.name : address;
  return { kind, id, scope, name, leaves: {}, pin: null, protect: false };
}

/** Why a resource cannot be made again from its document: a file that it was made of is in no document. */
function obstacleTo(
  schema: FieldSchema,
  document: JsonObject,
): Pick<NotUndone, 'why' | 'advice'> | undefined {
  const file = fileMissing(schema, () => document);
  if (file === undefined) return undefined;
  return {
    why: `it was deleted, and a snapshot holds no files (${file})`,
    advice: 'Apply creates it again if it is configured.',
  };
}
