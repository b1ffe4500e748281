import { type Recovery, recoverRun } from '../../apply/recover.ts';
import type { CommonFlags, Context } from '../../console/context.ts';
import { type Address, isChosen, matchesAddress } from '../../core/address.ts';
import { redactText } from '../../core/credentials.ts';
import { CallsheetError } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { isSameJson, Secret } from '../../core/value.ts';
import { hasOtherSource, matchesApplied, rememberLeaf } from '../../diff/applied.ts';
import { type Leaf, listLeaves, normalise, type World } from '../../diff/leaves.ts';
import { kindNamed } from '../../kinds/index.ts';
import { createReader } from '../../live/reader.ts';
import { withLetGo } from '../../plan/state-entry.ts';
import { readEndpoints } from '../../platform/endpoints.ts';
import type { LedgerAction } from '../../render/runs.ts';
import { describeActor, findOwner, holderFor, runId } from '../../run/actor.ts';
import { DEFAULT_CONCURRENCY, openClient } from '../../run/client.ts';
import { fileRecovery, refuseUnclear } from '../../run/recover.ts';
import { fingerprintsFor, openStore } from '../../run/session.ts';
import { type LoadedStack, openSettings } from '../../run/stack.ts';
import type { StackSettings } from '../../stack/index.ts';
import { checkOwner } from '../../state/failures.ts';
import type { JournalEntry, LedgerLine, RunBegan, StateEdit } from '../../state/journal.ts';
import type { AppliedLeaf, Owner, ResourceState, State } from '../../state/model.ts';
import { nextState, type Replayed, replay } from '../../state/replay.ts';
import { isDamage } from '../../state/runs.ts';
import type { Lease, RunSummary, StateStore } from '../../state/store.ts';

/** One edit of the state by hand. */
export type Edit = {
  /** The records in their order: cut short anywhere, nothing may be lost. Null: no longer remembered. */
  readonly records: readonly (readonly [Address, ResourceState | null])[];
  readonly ledger: readonly LedgerLine[];
};

export type Edited = {
  readonly run: RunSummary['run'];
  readonly serial: number;
  readonly ledger: readonly LedgerLine[];
};

/** The outcome of an edit that had nothing to do. */
export const NO_EDIT = { run: null, serial: null, ledger: [] } as const;

/**
 * Edits the state under its lock, as a run of its own with a journal, so that `runs` shows it and a plan
 * that was made before it is stale. Nothing is asked of the platform.
 */
export function editState(
  purpose: StateEdit,
  flags: CommonFlags,
  context: Context,
  make: (state: State) => Edit | Promise<Edit>,
): Promise<Edited> {
  return withStore(flags, context, async (open) => {
    const { began, lease } = await beginEdit(purpose, open, context);
    const state = await settledState(open, lease, context);
    if (state === undefined) throw noState(open.store.location);
    return recordEdit(lease, began, state, await make(state), context);
  });
}

/**
 * Records this stack and environment as those that the state belongs to, where it was renamed or moved, and seals what
 * has no seal, where there is a key. Without an edit it was so already.
 */
export function adoptState(flags: CommonFlags, context: Context): Promise<Adopted> {
  const adopt = async (open: OpenState): Promise<Adopted> => {
    const { began, lease } = await beginEdit('state adopt', open, context);
    const { owner } = await findOwner(open.settings);
    const state = await settledState(open, lease, context, { isOwned: false });
    if (state === undefined) throw noState(open.store.location);
    const { owner: from } = state;
    const isSealed = (await open.store.trust()) === 'sealed';
    const seals = !isSealed && Boolean(context.env.CALLSHEET_FINGERPRINT_KEY);
    if (isSameJson(from, owner) && !seals) return { from, owner, sealed: null };
    const sealed = seals ? await sealReceipts(open.store, lease) : null;
    const edited = await recordEdit(
      lease,
      began,
      { ...state, owner },
      { records: [], ledger: [] },
      context,
    );
    return { from, owner, edited, sealed };
  };
  return withStore(flags, context, adopt, { vouches: 'everything' });
}

type Adopted = {
  readonly from: Owner | undefined;
  readonly owner: Owner;
  readonly edited?: Edited;
  /** How many receipts were sealed together with the state; null where it was not sealed. */
  readonly sealed: number | null;
};

/** Writes every receipt that can be read again, the oldest first: a store keeps the newest. */
async function sealReceipts(store: StateStore, lease: Lease): Promise<number> {
  let sealed = 0;
  for (const { run } of (await store.runs()).toReversed()) {
    const entries = await store.run(run).catch(() => undefined);
    if (entries === undefined) continue;
    await lease.refile({ run, entries });
    sealed += 1;
  }
  return sealed;
}

/** Writes an edit down under the lease: its journal, and then the state that comes of it. */
export async function recordEdit(
  lease: Lease,
  began: EditBegan,
  state: State,
  { records, ledger }: Edit,
  context: Context,
): Promise<Edited> {
  const { run } = began;
  const resources = new Map(Object.entries(state.resources));
  await lease.append({ ...began, ...getOrigin(state) });
  for (const [address, resource] of records) {
    await lease.append({ type: 'resource', address, resource });
    if (resource === null) resources.delete(address);
    else resources.set(address, resource);
  }
  await lease.append(ending(ledger, context));
  // An edit that takes an address out forgets also that it was deleted once.
  const taken = new Set(records.flatMap(([address, one]) => (one === null ? [address] : [])));
  const deleted = Object.entries(state.deleted ?? {}).filter(([address]) => !taken.has(address));
  const edited = { ...state, deleted: Object.fromEntries(deleted) };
  const left = Object.fromEntries(resources);
  const next = nextState(withLetGo(edited, state.resources, left), run, left);
  await lease.commit(next);
  return { run, serial: next.serial, ledger };
}

export type EditBegan = Omit<RunBegan, 'lineage' | 'serial' | 'account_id' | 'owner'>;

/** Takes the lease for an edit. Its journal is to begin so, but for the state that it starts from. */
export async function beginEdit(
  purpose: StateEdit,
  {
    store,
    settings,
  }: Pick<OpenState, 'store'> & {
    readonly settings: Pick<OpenState['settings'], 'dir' | 'platform'>;
  },
  context: Context,
): Promise<{ readonly began: EditBegan; readonly lease: Lease }> {
  const actor = await describeActor(settings.dir, context);
  const began: EditBegan = {
    type: 'began',
    run: runId(context.now()),
    at: context.now().toISOString(),
    purpose,
    actor,
    plan_digest: '',
    config_digest: '',
    base_url: context.env.CALLSHEET_BASE_URL ?? settings.platform.base_url ?? '',
  };
  const lease = await store.acquire(holderFor(began.run, purpose, actor, context));
  return { began, lease };
}

/** The state that an edit starts from, as its journal names it. */
export function getOrigin({ lineage, serial, account_id: account = '', owner }: State) {
  return { lineage, serial, account_id: account, ...(owner && { owner }) };
}

/** How the journal of an edit ends. */
export function ending(ledger: readonly LedgerLine[], { now }: Context) {
  return {
    type: 'ended',
    at: now().toISOString(),
    status: 'done',
    verified: false,
    ledger,
  } as const;
}

/** One line of an edit's ledger. */
export function editLine(
  address: Address,
  action: LedgerAction,
  id: string | null,
  message: string | null = null,
): LedgerLine {
  return { address, action, status: 'done', id, message, fields: [], history: null };
}

export function noState(location: string): CallsheetError {
  return new CallsheetError('usage', `there is no state yet at ${location}`, {
    hint: 'The first apply creates it. `callsheet state push FILE` writes one, and `callsheet state repair` builds one from the platform.',
  });
}

/** The commands that work on the state alone need this. */
export type OpenState = { readonly store: StateStore; readonly settings: StackSettings };

/**
 * Opens the state that `callsheet.yaml` names, works with it and closes it. The rest of the configuration
 * is not read: it may be broken while somebody mends the state.
 */
export async function withStore<T>(
  flags: CommonFlags,
  context: Context,
  work: (open: OpenState) => Promise<T>,
  options?: Parameters<typeof openStore>[2],
): Promise<T> {
  const settings = openSettings(flags, context);
  const store = openStore(settings, context, options);
  try {
    return await work({ store, settings });
  } finally {
    await store.close();
  }
}

/**
 * Receipts of runs, the newest first. One that cannot be read has no entries, and hides no other. A store that does not
 * answer says nothing of its receipts, and a state must not be moved without them.
 */
export async function* readReceipts(
  store: StateStore,
  most?: number,
): AsyncGenerator<{ readonly run: string; readonly entries?: readonly JournalEntry[] }> {
  for (const { run } of (await store.runs()).slice(0, most)) {
    const entries = await store.run(run).catch((error: unknown) => {
      if (isDamage(error)) return undefined;
      throw error;
    });
    yield entries === undefined ? { run } : { run, entries };
  }
}

/**
 * The state to edit, with a run that died before it could commit settled in it. The platform is asked only
 * where the run left something open. Throws `CallsheetError('refused')` for that of another stack, unless it is to be taken
 * over (`isOwned: false`).
 */
export async function settledState(
  { store, settings }: OpenState,
  lease: Lease,
  context: Context,
  { isOwned = true }: { readonly isOwned?: boolean } = {},
): Promise<State | undefined> {
  const { state, pending } = await store.load();
  const replayed = replay(state, pending);
  const { state: known } = replayed;
  if (isOwned && known !== undefined)
    await checkOwner(known, await findOwner(settings), store.location);
  const recovery = await settle(pending, replayed, settings, context);
  if (recovery === undefined) return replayed.state;
  refuseUnclear(recovery, []);
  const settled = await fileRecovery(lease, recovery, state?.resources ?? {}, undefined, context);
  const found = recovery.recovered.map(({ address, message }) => `${address} ${message}`);
  context.terminal.err([`Run ${recovery.run}, which died, is recovered.`, ...found].join('\n'));
  return settled;
}

async function settle(
  pending: readonly JournalEntry[],
  replayed: Replayed,
  settings: StackSettings,
  context: Context,
): Promise<Recovery | undefined> {
  const { state, open } = replayed;
  if (state === undefined) return undefined;
  // Nothing open: nothing is looked up, and no credentials are needed.
  if (open.length === 0) return recoverRun(pending, replayed, undefined);
  const world = { secretOf: () => undefined, fingerprints: fingerprintsFor(state, context) };
  const endpoints = readEndpoints(settings.platform);
  const client = await openClient(settings, context, DEFAULT_CONCURRENCY, endpoints);
  try {
    return await recoverRun(pending, replayed, { reader: createReader(client), world });
  } finally {
    await client.close();
  }
}

/**
 * The addresses of a state that a pattern names: itself, the rows of a fleet, or what stands in a block. With `isGone`,
 * also those that runs deleted. Throws `CallsheetError('usage')`, with the nearest address, where it names none.
 */
export function chooseAddresses(
  pattern: string,
  state: State | undefined,
  { isGone = false }: { readonly isGone?: boolean } = {},
): readonly Address[] {
  const { resources = {}, deleted = {} } = state ?? {};
  const known = Object.keys(isGone ? { ...deleted, ...resources } : resources).sort();
  const chosen = known.filter((address) => matchesAddress(pattern, address));
  if (chosen.length > 0) return chosen;
  throw new CallsheetError('usage', `the state holds no ${pattern}`, {
    hint: didYouMean(pattern, known, '`callsheet state list` shows its contents.'),
  });
}

/**
 * Has the state remember the secrets that are set here as what the platform has stored, where it does not know: those
 * that were taken over, and those whose fingerprint is of another key. Nothing is asked of the platform. Throws
 * `CallsheetError('usage')` where the state holds one of the addresses not at all.
 */
export async function trustSecrets(
  patterns: readonly Address[],
  { stack, secretOf, secretValues }: LoadedStack,
  state: State,
  context: Context,
): Promise<Edit> {
  for (const pattern of patterns) chooseAddresses(pattern, state);
  const fingerprints = fingerprintsFor(state, context);
  await fingerprints.prepare(secretValues.map((value) => normalise({}, value)));
  const world = { idOf: () => undefined, secretOf, fingerprints };
  const records: [Address, ResourceState][] = [];
  const ledger: Edit['ledger'][number][] = [];
  for (const { address, kind, document } of stack.resources) {
    const recorded = state.resources[address];
    if (recorded === undefined || !isChosen(address, { target: patterns })) continue;
    const unknown = [...listLeaves(kindNamed(kind).schema, document).leaves.values()].filter(
      (leaf) => isUnknown(leaf, recorded.leaves[leaf.text], address, world),
    );
    if (unknown.length === 0) continue;
    const known = unknown.flatMap((leaf): [string, AppliedLeaf][] => {
      const remembered = rememberLeaf(leaf, address, world);
      return remembered === undefined ? [] : [[leaf.text, remembered]];
    });
    const taken = new Set(known.map(([text]) => text));
    if (taken.size > 0) {
      const leaves = { ...recorded.leaves, ...Object.fromEntries(known) };
      records.push([address, { ...recorded, leaves }]);
    }
    const absent = unknown.filter(({ text }) => !taken.has(text));
    const message = [
      ...(taken.size === 0 ? [] : [`recorded as stored on the platform: ${[...taken].join(', ')}`]),
      ...(absent.length === 0 ? [] : [`not set here: ${absent.map(getSource).join(', ')}`]),
    ].join('; ');
    const line = editLine(address, 'trust', recorded.id, message);
    ledger.push(taken.size === 0 ? { ...line, status: 'not_attempted' } : line);
  }
  return { records, ledger };
}

/**
 * Returns true if a secret's value is unknown, or the value that was written has another source by now. A value that
 * was not written yet is for a plan to report.
 */
function isUnknown(
  leaf: Leaf,
  last: AppliedLeaf | undefined,
  address: Address,
  world: World,
): boolean {
  const { value, text, schema } = leaf;
  if (!(value instanceof Secret) || last === undefined) return false;
  const set = normalise(schema, world.secretOf(value.source, text));
  const match = matchesApplied(last, set, address, text, world);
  return match === 'unknown' || (match === 'equal' && hasOtherSource(leaf, last));
}

function getSource({ text, value }: Leaf): string {
  return value instanceof Secret ? `${text} (${redactText(value.source)})` : text;
}
