import { type Context, stackOptions } from '../../console/context.ts';
import { refuseLinks, writeNamedFile } from '../../console/named-file.ts';
import type { Address } from '../../core/address.ts';
import { type DesiredResource, valuesInClear } from '../../core/desired.ts';
import { CallsheetError } from '../../core/errors.ts';
import { overlaps, toPath } from '../../core/path.ts';
import { Blob, getOwn, isSameJson, Secret, sum } from '../../core/value.ts';
import {
  compareApplied,
  digestOfApplied,
  digestSource,
  matchesApplied,
  rememberLeaf,
} from '../../diff/applied.ts';
import { listLeaves, normalise, type World } from '../../diff/leaves.ts';
import { kindNamed } from '../../kinds/index.ts';
import { renderCsv } from '../../render/read/table.ts';
import { formatCount } from '../../render/wording.ts';
import { bindAll } from '../../run/bind.ts';
import { beginEdit, editLine, recordEdit } from '../../run/edit.ts';
import { recordRecovery } from '../../run/recover.ts';
import { releasing } from '../../run/run.ts';
import {
  claimForRun,
  fingerprintsFor,
  fingerprintsForRun,
  openSession,
  openStore,
  type Session,
} from '../../run/session.ts';
import { openSettings } from '../../run/stack.ts';
import { listLedger } from '../../state/journal.ts';
import {
  type AppliedLeaf,
  getIdentity,
  isUnsettled,
  type ResourceState,
  type State,
} from '../../state/model.ts';
import type { StateStore } from '../../state/store.ts';
import type { Held } from './held.ts';
import type { Opened, OpenFlags } from './plan.ts';
import type { RestorationSummary } from './restoration.ts';

/** The part of a restoration that its trace in the state of the stack is made of. */
type Restored = Pick<Opened, 'addresses' | 'sparing' | 'supplies'>;

/** The outcome for the state of the stack: what was recorded, or why nothing was. */
type StackRecord = NonNullable<RestorationSummary['stack']>;

/** The next step where the state could not be written: the same restore again, after a repair, or with another state. */
export type Remedy = 'again' | 'repair' | 'own state';

type Recorded = { readonly stack: StackRecord | null; readonly remedy?: Remedy };

/** The trace of a restoration in its own state. */
type Written = {
  /** Its own state. */
  readonly state: State;
  /** Each live resource that it made or wrote, by identity. */
  readonly resources: ReadonlyMap<string, WrittenResource>;
};

type WrittenResource = {
  /** The address that the restoration gave it. */
  readonly address: Address;
  readonly isMade: boolean;
  readonly writes: readonly { readonly at: string; readonly fields: readonly string[] }[];
};

const WRITES = ['create', 'replace', 'update'];

/** The runs of a restoration that wrote something and were not taken back, the newest first. */
export async function listWritingRuns({
  store,
}: Pick<Opened, 'store'>): Promise<readonly string[]> {
  const runs = await closing(store(), (own) => own.runs());
  const undone = new Set(
    runs.flatMap(({ status, undoes }) => (status === 'done' ? (undoes ?? []) : [])),
  );
  const hasWritten = ({ outcomes = [] }: (typeof runs)[number]) =>
    outcomes.some(({ action, status }) => WRITES.includes(action) && status === 'done');
  return runs.flatMap((one) =>
    one.purpose === 'restore' && hasWritten(one) && !undone.has(one.run) ? [one.run] : [],
  );
}

/** Reads what all runs of a restoration made and wrote, also those that died. */
async function readWritten(store: StateStore): Promise<Written | undefined> {
  const { state } = await store.load();
  if (state === undefined) return undefined;
  const found = new Map<string, WrittenResource>();
  for (const { run, at } of await store.runs()) {
    for (const line of listLedger((await store.run(run)) ?? [])) {
      const recorded = getOwn(state.resources, line.address);
      const isOpen = line.status === 'done' || line.status === 'failed';
      if (!WRITES.includes(line.action) || !isOpen || recorded === undefined) continue;
      // A failed create may have left a resource under an id that only the state has.
      if (line.id !== null && line.action === 'update' && line.id !== recorded.id) continue;
      const identity = getIdentity(recorded);
      const known = found.get(identity);
      found.set(identity, {
        address: line.address,
        isMade: (known?.isMade ?? false) || line.action !== 'update',
        writes: [...(known?.writes ?? []), { at, fields: line.fields }],
      });
    }
  }
  return { state, resources: found };
}

/**
 * Records in the state of the stack what a restoration made or wrote, also after an interrupt: what was written is
 * live. A restoration ends as it did without this, so that nothing is thrown.
 */
export async function recordRestored(
  { hasStack, store: openOwn, ...opened }: Restored & Pick<Opened, 'hasStack' | 'store'>,
  flags: OpenFlags,
  context: Context,
): Promise<Recorded> {
  if (!hasStack) return { stack: null };
  const unstopped: Context = {
    ...context,
    stop: new AbortController().signal,
    // A lost state is no first run.
    emit: (event) => (event.type === 'no_state' ? undefined : context.emit(event)),
  };
  try {
    const written = await closing(openOwn(), readWritten);
    if (written === undefined || written.resources.size === 0) return { stack: null };
    return { stack: await recordInStack(written, opened, flags, unstopped) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const { location, isSound } = await describeState(flags, unstopped);
    const stack = { location, run: null, resources: 0, secrets: 0, problem };
    const code = error instanceof CallsheetError ? error.code : undefined;
    if (code === 'state') return { stack, remedy: isSound ? 'own state' : 'repair' };
    return { stack, remedy: error instanceof Foreign ? 'own state' : 'again' };
  }
}

const ID_COLUMNS = ['kind', 'address', 'name', 'id_in_snapshot', 'id'];

/**
 * Writes beside the state of a restoration the id that each resource had in the snapshot, and the one that it has now, for
 * everything else that names agents by id. A restoration ends as it did without this, so that nothing is thrown.
 *
 * @returns the path of the file, a CSV; null where nothing is there or it could not be written, which is said
 */
export async function writeIds(
  { addresses, state: file, store }: Pick<Opened, 'addresses' | 'state' | 'store'>,
  context: Context,
): Promise<string | null> {
  try {
    const { state } = await closing(store(), (own) => own.load());
    if (state === undefined) return null;
    const records = [...addresses].flatMap(([{ kind, id }, address]) => {
      const now = getOwn(state.resources, address);
      return now === undefined
        ? []
        : [{ kind, address, name: now.name, id_in_snapshot: id, id: now.id }];
    });
    if (records.length === 0) return null;
    const path = `${file.replace(/\.json$/, '')}.ids.csv`;
    const columns = ID_COLUMNS.map((column) => ({ path: column }));
    refuseLinks('the list of ids', path);
    await writeNamedFile('the list of ids', path, renderCsv(columns, records));
    return path;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    context.emit({ type: 'notice', text });
    return null;
  }
}

/** The state belongs to another stack, or to another environment of this one. */
class Foreign extends CallsheetError {}

async function closing<T>(store: StateStore, work: (store: StateStore) => Promise<T>): Promise<T> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The place of the stack's state; not sound where it cannot be read. */
async function describeState(
  flags: OpenFlags,
  context: Context,
): Promise<{ readonly location: string; readonly isSound: boolean }> {
  try {
    return await closing(
      openStore(openSettings(stackOptions(flags), context), context),
      async (store) => {
        const isSound = await store.load().then(
          () => true,
          () => false,
        );
        return { location: store.location, isSound };
      },
    );
  } catch {
    return { location: flags.dir, isSound: true };
  }
}

/**
 * Records in the state of the stack the resources that a restoration made or wrote. Every secret that the configuration
 * gives them is unsettled there, so that the next apply writes it (DESIGN §7), unless the restoration wrote that value.
 * Throws what stands against it: another run has the state, or it belongs to another stack or account.
 */
async function recordInStack(
  written: Written,
  { sparing, supplies, addresses }: Restored,
  flags: OpenFlags,
  context: Context,
): Promise<StackRecord> {
  const opened = await openSession(stackOptions(flags), context).catch((error: unknown) => {
    if (!(error instanceof CallsheetError) || error.code !== 'refused') throw error;
    throw new Foreign(error.code, error.message);
  });
  const reader = sparing(opened.reader, written.state.resources);
  const session = { ...opened, reader };
  const { location } = session.store;
  try {
    const place = { store: session.store, settings: session.stack };
    const lastBound = await findLastImport(session.store);
    const findSupplied = (address: Address, path: string) => {
      const given = supplies.secretAt(address, path);
      return given instanceof Secret ? supplies.findSecret(given.source) : given;
    };
    const { began, lease } = await beginEdit('import', place, context);
    return await releasing(lease, async () => {
      const before = await recordRecovery(lease, session, context);
      const stale = listStale(before, written, addresses);
      const state = { ...before, resources: without(before.resources, stale) };
      const fingerprints = await fingerprintsForRun(state, session, context);
      const own: Session = { ...session, state, world: { ...session.world, fingerprints } };
      const sources = {
        written,
        theirs: await openWritten(written, session, context),
        lastBound,
        findSupplied,
        snapshotLeaves: new Map(
          [...addresses].map(([held, address]) => [address, held.storedLeaves]),
        ),
      };
      const entries = await listEntries(sources, own, context);
      const changed = entries.filter(
        ({ entry }) => !isSameJson(before.resources[entry.address] ?? null, entry.resource),
      );
      const found = new Set(entries.map(({ entry }) => entry.address));
      const gone = [...stale].flatMap(([address, { id }]) =>
        found.has(address) ? [] : [{ address, id }],
      );
      const open = sum(entries.map(({ secrets }) => secrets));
      const counts = { location, resources: entries.length, secrets: open, problem: null };
      if (changed.length + gone.length === 0) return { ...counts, run: null };
      const claims = changed.map(({ entry: { address, resource } }) => {
        return { address, kind: resource.kind, id: resource.id };
      });
      await claimForRun(lease, claims, session);
      session.beginWriting();
      const { base_url } = session.platform;
      const edit = {
        records: [
          ...gone.map(({ address }) => [address, null] as const),
          ...changed.map(({ entry }) => [entry.address, entry.resource] as const),
        ],
        ledger: [
          ...gone.map(({ address, id }) => editLine(address, 'forget', id)),
          ...changed.map(({ entry: { address, resource }, secrets }) =>
            editLine(address, 'adopt', resource.id, describeOpen(secrets)),
          ),
        ],
      };
      const { run } = await recordEdit(lease, { ...began, base_url }, before, edit, context);
      return { ...counts, run };
    });
  } finally {
    await session.close();
  }
}

/**
 * Entries of the stack whose id the platform gave to another resource that the restoration made: what they were of is
 * gone. An id alone would bind an address to that other one.
 */
function listStale(
  { resources }: State,
  { state: own, resources: made }: Written,
  addresses: Opened['addresses'],
): ReadonlyMap<Address, ResourceState> {
  const then = new Map([...addresses].map(([held, address]) => [getIdentity(held), address]));
  return new Map(
    Object.entries(resources).filter(([, resource]) => {
      const identity = getIdentity(resource);
      const traces = made.get(identity);
      const before = then.get(identity);
      if (traces?.isMade !== true || before === undefined || before === traces.address)
        return false;
      return getOwn(own.resources, traces.address)?.name !== resource.name;
    }),
  );
}

function without(
  resources: State['resources'],
  left: ReadonlyMap<Address, ResourceState>,
): State['resources'] {
  return Object.fromEntries(Object.entries(resources).filter(([address]) => !left.has(address)));
}

function describeOpen(count: number): string {
  const restored = 'restored from a snapshot';
  if (count === 0) return restored;
  return `${restored}; the next apply writes ${formatCount(count, 'secret')}`;
}

/** The time of the newest edit that bound resources: writes of a restoration before it were taken into account then. */
async function findLastImport(store: StateStore): Promise<string | undefined> {
  return (await store.runs()).find(({ purpose }) => purpose === 'import')?.at;
}

/** Entries are made of the traces of the restoration and its fingerprints. */
type Sources = {
  readonly written: Written;
  readonly theirs: World;
  readonly lastBound: string | undefined;
  /** The value that somebody supplied for a secret of the restoration. */
  readonly findSupplied: (address: Address, path: string) => string | undefined;
  /** The entries that the snapshot keeps of values that were stored as others, by the address of the restoration. */
  readonly snapshotLeaves: ReadonlyMap<Address, Held['storedLeaves']>;
};

/** Compares with what the restoration wrote: its fingerprints are bound to its own state. */
async function openWritten(
  { state }: Written,
  { findSecret, secretValues }: Session,
  context: Context,
): Promise<World> {
  const fingerprints = fingerprintsFor(state, context);
  await fingerprints.prepare(secretValues.map((value) => normalise({}, value)));
  return { findSecret, fingerprints, findId: () => undefined };
}

type Entry = {
  readonly entry: { readonly address: Address; readonly resource: ResourceState };
  /** The number of its secrets that are unsettled. */
  readonly secrets: number;
};

/** The entries of all addresses that stand for a resource which the restoration made or wrote. */
async function listEntries(
  sources: Sources,
  session: Session,
  context: Context,
): Promise<readonly Entry[]> {
  const { resources } = sources.written;
  const { state, stack } = session;
  const isWritten = (kind: string, id: string) => resources.has(getIdentity({ kind, id }));
  const { bindings } = await bindAll(session, context, isWritten);
  const bound = new Map(bindings.map(({ address, resource }) => [address, resource]));
  return stack.resources.flatMap((desired): readonly Entry[] => {
    const resource = bound.get(desired.address) ?? getOwn(state.resources, desired.address);
    const traces = resource && resources.get(getIdentity(resource));
    if (resource === undefined || traces === undefined) return [];
    const isBound = bound.has(desired.address);
    const settled = settleLeaves(desired, { resource, traces, isBound }, sources, session);
    const stored = isBound ? findStored(desired, resource, traces, sources, session) : [];
    const leaves = { ...resource.leaves, ...Object.fromEntries([...stored, ...settled]) };
    const owned = listLeaves(kindNamed(desired.kind).schema, desired.document).leaves;
    const secrets = [...owned.values()].filter(
      ({ text, value, facts }) =>
        (facts.unreadable || value instanceof Secret) && isUnsettled(getOwn(leaves, text)),
    );
    const entry = { address: desired.address, resource: { ...resource, leaves } };
    return [{ entry, secrets: secrets.length }];
  });
}

/**
 * Leaves that the platform had stored as other values than the configured ones, and that the restoration wrote as they
 * were stored: the stack's entry of before tells what the one stands for, or the snapshot's where the state was lost.
 */
function findStored(
  desired: DesiredResource,
  { leaves }: ResourceState,
  { address }: WrittenResource,
  { written, snapshotLeaves }: Sources,
  { state, world }: Session,
): readonly (readonly [string, AppliedLeaf])[] {
  const then = snapshotLeaves.get(address);
  const before = getOwn(state.resources, desired.address)?.leaves;
  const restored = getOwn(written.state.resources, address)?.leaves;
  const owned = listLeaves(kindNamed(desired.kind).schema, desired.document).leaves;
  const stackWorld = { ...world, findId: () => undefined };
  return [...owned.values()].flatMap((leaf): (readonly [string, AppliedLeaf])[] => {
    const { text } = leaf;
    const [known, last] = [getOwn(before, text) ?? getOwn(then, text), getOwn(restored, text)];
    if (known === undefined || last === undefined || getOwn(leaves, text) !== undefined) return [];
    if (!('stored' in known) || known.stored !== digestOfApplied(last)) return [];
    return compareApplied(leaf, known, desired.address, stackWorld) === 'equal'
      ? [[text, known]]
      : [];
  });
}

/**
 * The leaves that the platform does not return, as far as a restoration changes what is known of them. Of those that are
 * no secrets only what it made counts: a resource that was there has its own.
 *
 * | the restoration                              | the stack's own entry of that resource | becomes              |
 * |----------------------------------------------|----------------------------------------|----------------------|
 * | wrote the configured value                   | any                                    | a fingerprint of it  |
 * | wrote a supplied value, the stack has none   | any                                    | a fingerprint of it  |
 * | wrote another value, or beside it, since     | any                                    | unsettled            |
 * | made the resource                            | has no fingerprint                     | unsettled            |
 * | wrote the resource, which was there          | none                                   | unsettled            |
 * | otherwise                                    |                                        | stays                |
 */
function settleLeaves(
  desired: DesiredResource,
  {
    resource,
    traces,
    isBound,
  }: {
    readonly resource: ResourceState;
    readonly traces: WrittenResource;
    readonly isBound: boolean;
  },
  { written, theirs, lastBound = '', findSupplied }: Sources,
  { world }: Session,
): readonly (readonly [string, AppliedLeaf])[] {
  const owned = listLeaves(kindNamed(desired.kind).schema, desired.document);
  const restored = getOwn(written.state.resources, traces.address)?.leaves;
  const fresh = traces.writes.filter(({ at }) => at > lastBound);
  const fields = fresh.flatMap((write) => write.fields.map(toPath));
  const stackWorld = { ...world, findId: () => undefined };
  return [...owned.leaves.values()].flatMap((leaf): (readonly [string, AppliedLeaf])[] => {
    const { text, path, value, facts } = leaf;
    const known = getOwn(resource.leaves, text);
    const isUnseen = traces.isMade && known !== undefined && 'unknown' in known;
    const isOpenNow = known !== undefined && isUnsettled(known);
    if (!(facts.unreadable || isUnseen || isOpenNow) || value === null || value instanceof Blob)
      return [];
    const isKnown = !isBound && known !== undefined && 'fingerprint' in known;
    const isNear = fields.some((field) => overlaps(field, path.slice(0, -1)));
    if (isKnown && !isNear) return [];
    const last = getOwn(restored, text);
    const isRestored = last !== undefined && !('unknown' in last || 'unsettled' in last);
    const verdict = isRestored ? compareApplied(leaf, last, traces.address, theirs) : undefined;
    if (verdict === 'unset' && last !== undefined) {
      const source = digestSource(value);
      const given = findSupplied(traces.address, text);
      const isProven =
        given !== undefined &&
        matchesApplied(last, given, traces.address, text, theirs) === 'equal';
      return isProven
        ? [[text, { fingerprint: world.fingerprints.of(desired.address, text, given), source }]]
        : [[text, { unknown: true, source }]];
    }
    if (verdict === 'equal') {
      const inClear = valuesInClear(desired);
      const remembered = rememberLeaf(leaf, desired.address, stackWorld, inClear);
      return remembered === undefined ? [] : [[text, remembered]];
    }
    const isOpen = isBound || traces.isMade || isKnown;
    return isOpen && known !== undefined && !isUnsettled(known)
      ? [[text, { unsettled: true }]]
      : [];
  });
}
