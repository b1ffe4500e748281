import { resolve } from 'node:path';
import { type Recovery, recoverRun } from '../../apply/recover.ts';
import type { CommonFlags, Context } from '../../console/context.ts';
import { type Address, isChosen, matchesAddress } from '../../core/address.ts';
import { redactText } from '../../core/credentials.ts';
import { CallsheetError } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { envOfTarget, passwordVariable, type StatePlace } from '../../core/stores.ts';
import { getOwn, isSameJson, Secret } from '../../core/value.ts';
import { hasOtherSource, matchesApplied, rememberLeaf } from '../../diff/applied.ts';
import { type Leaf, listLeaves, normalise, type World } from '../../diff/leaves.ts';
import { kindNamed } from '../../kinds/index.ts';
import { createReader } from '../../live/reader.ts';
import { readEndpoints } from '../../platform/endpoints.ts';
import { findOwner } from '../../run/actor.ts';
import { DEFAULT_CONCURRENCY, openClient } from '../../run/client.ts';
import { beginEdit, type Edit, type Edited, editLine, recordEdit } from '../../run/edit.ts';
import { fileRecovery, refuseUnclear } from '../../run/recover.ts';
import { fingerprintsFor, openStore } from '../../run/session.ts';
import { type LoadedStack, openSettings } from '../../run/stack.ts';
import { parsePlace, type StackSettings } from '../../stack/index.ts';
import { checkOwner } from '../../state/failures.ts';
import type { JournalEntry, StateEdit } from '../../state/journal.ts';
import {
  type AppliedLeaf,
  isUnsettled,
  type Owner,
  type ResourceState,
  type State,
} from '../../state/model.ts';
import { type Replayed, replay } from '../../state/replay.ts';
import { isDamage } from '../../state/runs.ts';
import type { Holder, Lease, StateStore } from '../../state/store.ts';

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
 * The place that `--to` names, as CALLSHEET_STATE takes one. Throws `CallsheetError('usage')` where it has a password.
 */
export function parseTarget(to: string, { dir }: Pick<CommonFlags, 'dir'>): StatePlace {
  const place = parsePlace(to, resolve(dir));
  if (URL.parse(to)?.password)
    throw new CallsheetError('usage', 'the address of --to contains a password', {
      hint: `Other users can read a command line. Set ${passwordVariable(place)}_TO instead.`,
    });
  return place;
}

/** Opens the state that another one, or a part of it, goes to. It may have credentials of its own. */
export function openTarget(place: StatePlace, context: Context): StateStore {
  return openStore({ state: place }, { ...context, env: envOfTarget(place, context.env) });
}

/**
 * Takes the leases of two states in an order that is the same for whoever wants both: of two that go opposite ways one
 * gets them.
 */
export async function acquireBoth(
  source: StateStore,
  target: StateStore,
  holder: Holder,
): Promise<{ readonly source: Lease; readonly target: Lease }> {
  if (source.location < target.location)
    return { source: await source.acquire(holder), target: await target.acquire(holder) };
  const lease = await target.acquire(holder);
  return { source: await source.acquire(holder), target: lease };
}

/** Reports that a state cannot be moved yet. `then` says what to do once that is over. */
export function unsettled(location: string, then: string): CallsheetError {
  return new CallsheetError('refused', `${location} has a run that did not finish`, {
    hint: `Nothing was moved. Run \`callsheet apply\`, which recovers it, then ${then}.`,
  });
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
  const world = { findSecret: () => undefined, fingerprints: fingerprintsFor(state, context) };
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

/** Trust would record a hole as proven: nobody knows that such a secret was ever stored. */
const UNSETTLED = 'not known to be stored, so not recorded; the next `callsheet apply` writes it';

/**
 * Has the state remember the secrets that are set here as what the platform has stored, where it does not know: those
 * that were taken over, and those whose fingerprint is of another key. Those that a restore, a rollback or a dead run left open are named and stay so. Nothing is asked of the platform. Throws
 * `CallsheetError('usage')` where the state holds one of the addresses not at all.
 */
export async function trustSecrets(
  patterns: readonly Address[],
  { stack, findSecret, secretValues }: LoadedStack,
  state: State,
  context: Context,
): Promise<Edit & { readonly open: number }> {
  for (const pattern of patterns) chooseAddresses(pattern, state);
  const fingerprints = fingerprintsFor(state, context);
  await fingerprints.prepare(secretValues.map((value) => normalise({}, value)));
  const world = { findId: () => undefined, findSecret, fingerprints };
  const records: [Address, ResourceState][] = [];
  const ledger: Edit['ledger'][number][] = [];
  let unsettled = 0;
  for (const { address, kind, document } of stack.resources) {
    const recorded = state.resources[address];
    if (recorded === undefined || !isChosen(address, { target: patterns })) continue;
    const leaves = [...listLeaves(kindNamed(kind).schema, document).leaves.values()];
    const last = ({ text }: Leaf) => getOwn(recorded.leaves, text);
    const unknown = leaves.filter((leaf) => isUnknown(leaf, last(leaf), address, world));
    const open = leaves.filter((leaf) => isUnsettled(last(leaf)));
    unsettled += open.length;
    if (unknown.length + open.length === 0) continue;
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
      ...(open.length === 0 ? [] : [`${UNSETTLED}: ${open.map(({ text }) => text).join(', ')}`]),
    ].join('; ');
    const line = editLine(address, 'trust', recorded.id, message);
    ledger.push(taken.size === 0 ? { ...line, status: 'not_attempted' } : line);
  }
  return { records, ledger, open: unsettled };
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
  const set = normalise(schema, world.findSecret(value.source, text));
  const match = matchesApplied(last, set, address, text, world);
  return match === 'unknown' || (match === 'equal' && hasOtherSource(leaf, last));
}

function getSource({ text, value }: Leaf): string {
  return value instanceof Secret ? `${text} (${redactText(value.source)})` : text;
}
