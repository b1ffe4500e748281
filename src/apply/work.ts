import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { CallsheetError } from '../core/errors.ts';
import { type Path, parsePaths, toPath } from '../core/path.ts';
import {
  type Change,
  isKept,
  type PlanDocument,
  type PlannedOperation,
  type PlanOptions,
} from '../core/plan-document.ts';
import { type JsonObject, Secret } from '../core/value.ts';
import { compare, isWritten, type LeafChange, listStored } from '../diff/compare.ts';
import type { Sides, World } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Draft, Facet, Io, Kind, Scope } from '../kinds/kind.ts';
import {
  type HistoryEntry,
  type LiveResource,
  listFields,
  type Reader,
  readWith,
} from '../plan/reader.ts';
import { isFieldRead } from '../plan/refresh.ts';
import { moveEntry } from '../plan/state-entry.ts';
import type { Client } from '../platform/client.ts';
import type { Sealer } from '../state/fingerprint.ts';
import type { Interleaved } from '../state/journal.ts';
import type { ResourceState, State } from '../state/model.ts';
import type { Lease } from '../state/store.ts';

/** One change being carried out. */
export type Work = {
  readonly change: Change;
  readonly kind: Kind;
  readonly desired: DesiredResource | undefined;
  readonly recorded: ResourceState | undefined;
  readonly options: PlanOptions;
  readonly world: World;
  readonly deps: RunDeps;
  /** Names of organizations, by id. */
  readonly organizations: PlanDocument['organizations'];
  /** True if another address has the resource of an id. */
  readonly isTaken: (id: string) => boolean;
  /** Has the change's address stand for the resource of an id from now on, unless another one does (`isTaken`). */
  readonly claim: (id: string) => void;
  /** Requests of a step, each checked before it leaves; without evidence none of them may have a body. */
  readonly io: (step: PlannedOperation['step'], id: string | null, evidence?: Evidence) => Io;
  /** The plan knows this to be refused and leaves it out: it is neither written nor expected. */
  readonly refused: readonly SkippedLeaf[];
};

/** Everything that a run acts through. */
export type RunDeps = {
  readonly run: string;
  readonly client: Pick<Client, 'writing' | 'backOff' | 'platformTime'>;
  readonly reader: Reader;
  /** Gives a resource as it was seen some seconds ago, where that is known; see `live/readings.ts`. */
  readonly recent?: Reader['read'];
  readonly lease: Pick<Lease, 'append' | 'note' | 'confirm' | 'unconfirmed' | 'gathers'>;
  readonly state: State;
  /** The desired side, which the plan's digest vouches for. */
  readonly desired: ReadonlyMap<Address, DesiredResource>;
  readonly world: Omit<World, 'findId'>;
  /** Entries that the state is to take over, of resources that are as configured. */
  readonly agreed?: ReadonlyMap<Address, ResourceState>;
  /** The records that the state goes back to, for a rollback; by address. Null: the state forgets the resource. */
  readonly restored?: ReadonlyMap<Address, ResourceState | null>;
  /** Encrypts what a rollback copy keeps of a sensitive value; absent where no key is given. */
  readonly seal?: Sealer['seal'];
  /** Changes that are worked on at once. */
  readonly concurrency: number;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Once aborted, no further change is begun. */
  readonly stop: AbortSignal;
  /** Gets the resources as far as they are known once the state cannot be written, and gives the failure to report. */
  readonly onBrokenOff?: (
    failure: unknown,
    resources: Readonly<Record<Address, ResourceState>>,
  ) => Promise<unknown>;
};

/** The sources of a request, beside the plan. */
export type Evidence = {
  /** The resource as it was last read; null where a new one is made. */
  readonly live: JsonObject | null;
  /** The facet whose endpoint is called; absent: the resource's own. */
  readonly facet?: string;
  /** The kind makes its body from it; absent if the body is sent as it is. */
  readonly draft?: Draft;
};

/** A leaf that a rollback leaves as it is, since the platform refuses it. */
export type SkippedLeaf = {
  readonly path: Path;
  readonly text: string;
  readonly why: string;
  /** True if the user agreed to that beforehand: its change is done without it. */
  readonly isAgreed?: boolean;
};

/** The progress of a change: the live resource after each step. */
export type Progress = {
  readonly live: LiveResource | undefined;
  /** The resource before the first step. */
  readonly found?: LiveResource | undefined;
  /** Leaves that were written, by path. */
  readonly written: ReadonlySet<string>;
  /** When the platform was asked to work on it, where its kind has it do so after its requests. ISO 8601. */
  readonly askedAt?: string;
  /** Messages about steps that were taken. */
  readonly remarks: readonly string[];
  /** The history after the last step; undefined before, and if there is none. */
  readonly history?: HistoryAfter | undefined;
  /** Leaves that a rollback had to leave as they were. */
  readonly left: readonly SkippedLeaf[];
};

/** The newest entry before and after a change, and the entries of others in between. */
export type HistoryAfter = {
  readonly before: number | null;
  readonly after: number | null;
  readonly interleaved: readonly Interleaved[];
  /** The newest entries, the change's own among them. */
  readonly entries: readonly HistoryEntry[];
};

/** Finds the state's record of a changed resource, under this address or its former one. */
export function findRecorded(
  { address, kind, moved_from: prior }: Change,
  desired: DesiredResource | undefined,
  { resources }: State,
  world: World,
): ResourceState | undefined {
  const known = resources[address];
  const before = prior === undefined ? undefined : resources[prior];
  if (known !== undefined || before === undefined || prior === undefined) return known;
  return desired === undefined ? before : moveEntry(kindNamed(kind), desired, before, prior, world);
}

/** Reads a resource as the plan did, through the run's reader unless another read is given. */
export function readLive(
  { kind, desired, recorded, deps }: Pick<Work, 'kind' | 'desired' | 'recorded' | 'deps'>,
  at: { readonly id: string; readonly scope: Scope; readonly isUnread?: boolean },
  read: Reader['read'] = deps.reader.read,
): ReturnType<Reader['read']> {
  return readWith({ read }, kind, at, listFields(kind, desired?.document, recorded?.leaves));
}

/**
 * Returns what differs from the configuration and is to be written, as far as the platform shows. `resend` counts
 * secrets that are to be sent again although nothing says that they changed; `isProof` does not count where secrets
 * came from. A secret that the plan does not write does not count.
 */
export function remaining(
  work: Work,
  live: LiveResource,
  { resend = false, isProof = false }: Partial<Pick<Sides, 'resend' | 'isProof'>> = {},
): readonly LeafChange[] {
  const { kind, desired, world, change, recorded } = work;
  if (desired === undefined) return [];
  const sides = {
    address: change.address,
    applied: change.adopted ? undefined : recorded?.leaves,
    sent: world.findContent?.(kind.name, live.id),
    ignore: ignoredPaths(work),
    isPartial: desired.isPartial,
    isExact: desired.isExact ?? false,
    resend,
    isProof,
    isSuccessor: change.adopted && change.missing_id !== null,
  };
  const isMeant = ({ after, text }: LeafChange) =>
    !(after instanceof Secret) || world.findSecret(after.source, text) !== undefined;
  // A proof also asks what became of a value that could not be written again.
  const counts = (leaf: LeafChange) => isWritten(leaf) || (isProof && leaf.cause === 'stored_as');
  return compare(kind.schema, desired.document, live.document, sides, world).filter(
    (change) => counts(change) && isMeant(change) && isFieldRead(live, change.path[0] ?? ''),
  );
}

/** Paths of leaves that go back as they were read: the platform stored them so when they were sent as configured. */
export function storedPaths(work: Work, live: LiveResource): readonly Path[] {
  const { kind, desired, world, change, recorded } = work;
  if (desired === undefined || change.adopted) return [];
  const sides = { address: change.address, applied: recorded?.leaves, ignore: [] };
  const rest = { isPartial: true, resend: false };
  return listStored(kind.schema, desired.document, live.document, { ...sides, ...rest }, world);
}

/** The resource after something was written to it. */
export async function reread(work: Work, live: LiveResource): Promise<LiveResource> {
  // Not the record that was read before: it is what was there.
  const { id, scope } = live;
  const after = await readLive(work, { id, scope });
  if (after !== undefined) return after;
  throw new CallsheetError(
    'api',
    `${work.change.address} (${live.id}) disappeared while it was written`,
  );
}

/** How long one waits between looks at what the platform may still be at work on: half a minute in all. */
const LOOKS_MS: readonly number[] = [1000, 2000, 4000, 8000, 15_000];

/**
 * Waits until a resource is as it is awaited, and gives it as it was read last: also where the time is over, the run is
 * stopped, or the resource is gone.
 */
export async function lookUntil(
  work: Pick<Work, 'kind' | 'desired' | 'recorded' | 'deps'>,
  first: LiveResource,
  isAwaited: (live: LiveResource) => boolean,
): Promise<LiveResource> {
  let live: LiveResource = first;
  for (const wait of LOOKS_MS) {
    if (isAwaited(live) || work.deps.stop.aborted) return live;
    await work.deps.sleep(wait);
    const next = await readLive(work, { id: live.id, scope: live.scope });
    if (next === undefined) return live;
    live = next;
  }
  return live;
}

/** The live resource that a step needs. */
export function required({ live }: Progress): LiveResource {
  if (live === undefined) throw new Error('a step that needs a live resource has none');
  return live;
}

/** The facet of a top-level field, if it is one. */
export function findFacet(kind: Kind, field: string | undefined): Facet | undefined {
  return kind.facets.find((facet) => facet.field === field);
}

export function clearedIn(changes: readonly LeafChange[]): ReadonlySet<string> {
  return new Set(changes.filter(({ after }) => (after ?? null) === null).map(({ text }) => text));
}

/** Paths that are neither compared nor written: `lifecycle.ignore`, kept edits, and what is known to be refused. */
export function ignoredPaths({
  desired,
  refused,
  change,
}: Pick<Work, 'desired' | 'refused' | 'change'>): readonly Path[] {
  const ignored = parsePaths(desired?.lifecycle.ignore ?? []);
  return [...ignored, ...keptPaths(change), ...refused.map(({ path }) => path)];
}

/** Paths of edits that the plan leaves as they are. */
export function keptPaths({ fields }: Pick<Change, 'fields'>): readonly Path[] {
  return fields.filter(isKept).map(({ path }) => toPath(path));
}
