import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../api/client.ts';
import { type Endpoints, readEndpoints } from '../api/endpoints.ts';
import { findingsOf, type Settlement, settleRun } from '../apply/settle.ts';
import type { Stack } from '../config/index.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { Diagnostic } from '../core/diagnostics.ts';
import { CallsheetError } from '../core/errors.ts';
import type { SettledRun } from '../core/plan-document.ts';
import { normalise } from '../diff/leaves.ts';
import type { World } from '../diff/world.ts';
import { recordIn, textOf } from '../kinds/answer.ts';
import { createReader } from '../live/reader.ts';
import type { Planned } from '../plan/make.ts';
import type { Reader } from '../plan/reader.ts';
import { renderDiagnosticsBeside } from '../render/diagnostics.ts';
import { renderProse } from '../render/prose.ts';
import { formatNumber } from '../render/wording.ts';
import { lockedState } from '../state/failures.ts';
import {
  countFingerprints,
  createFingerprinter,
  type Fingerprinter,
} from '../state/fingerprint.ts';
import type { JournalEntry, RunEnded } from '../state/journal.ts';
import type { State } from '../state/model.ts';
import { emptyState, nextState, type Replayed, replay } from '../state/replay.ts';
import { createSealer, type Sealer } from '../state/seal.ts';
import type { Holder, Lease, StateStore } from '../state/store.ts';
import { openStateStore } from '../stores/open.ts';
import { nameStack } from './actor.ts';
import type { CommonFlags, Context } from './context.ts';
import { stage, type Telemetry } from './monitor/telemetry.ts';
import { DEFAULT_CONCURRENCY, type FileSource, openClient } from './open-client.ts';
import { admitIn } from './origins.ts';
import { type LoadedStack, openStack, type SecretsWanted } from './stack.ts';
import type { Terminal } from './terminal.ts';

/** Everything that a command needs which looks at the platform. */
export type Session = LoadedStack & {
  readonly client: Client;
  /** Where operations lie and which may be used, as the stack says. */
  readonly endpoints: Endpoints;
  /** Requests in flight at once. */
  readonly concurrency: number;
  readonly reader: Reader;
  readonly store: StateStore;
  readonly state: State;
  /** The run that has not committed what it did, if there is one: it died, or it is at work. */
  readonly unfinished: Unfinished | undefined;
  readonly platform: { readonly base_url: string; readonly account_id: string };
  readonly world: Omit<World, 'idOf'>;
  readonly fingerprints: Fingerprinter;
  /** From now on an interrupt no longer ends requests that are under way. */
  readonly beginWriting: () => void;
  readonly close: () => Promise<void>;
};

/**
 * Opens a session: configuration first, then credentials, then state, and only then the platform, so
 * that nothing is sent while something is wrong here.
 */
export async function openSession(
  flags: CommonFlags & { readonly concurrency?: number },
  context: Context,
  {
    secrets,
    storeOf = (stack) => openStore(stack, context),
    freeBy,
  }: {
    readonly secrets?: SecretsWanted;
    readonly storeOf?: (stack: Stack) => StateStore;
    /** Until when to wait for another run that holds the state, in milliseconds since the epoch; unset: not at all. */
    readonly freeBy?: number | undefined;
  } = {},
): Promise<Session> {
  const { live } = context.terminal;
  // Of a large stack this takes a second in which nothing else is seen.
  live?.draw('Reading the stack');
  try {
    return await stage(context, 'read', async () => {
      if (context.telemetry !== undefined) await describeTask(flags, context.telemetry);
      const loaded = await openStack(flags, context, secrets);
      const store = storeOf(loaded.stack);
      if (freeBy !== undefined)
        await closingOnFailure(store, () => awaitLock(store, freeBy, context));
      return openSessionOn(loaded, store, flags, context);
    });
  } finally {
    live?.end();
  }
}

async function describeTask({ dir, env }: CommonFlags, { describe }: Telemetry): Promise<void> {
  describe({
    'callsheet.stack': await nameStack(dir),
    ...(env === undefined ? {} : { 'callsheet.environment': env }),
  });
}

async function closingOnFailure(store: StateStore, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The same for a stack that is loaded already, with the state of a store. */
export async function openSessionOn(
  loaded: LoadedStack,
  store: StateStore,
  flags: { readonly concurrency?: number },
  context: Context,
  openFile?: FileSource,
): Promise<Session> {
  const { stack, secretOf } = loaded;
  const concurrency = flags.concurrency ?? DEFAULT_CONCURRENCY;
  const endpoints = endpointsFor(stack, context);
  const client = await openClient({ ...stack, openFile }, context, concurrency, endpoints);
  // While nothing is written an interrupt ends whatever is being read.
  const interrupt = () => void client.close();
  context.stop.addEventListener('abort', interrupt);
  const close = async () => {
    context.stop.removeEventListener('abort', interrupt);
    await client.close();
    await store.close();
  };
  try {
    const { state: found, pending } = await store.load();
    const replayed = replay(found, pending);
    const known = replayed.state ?? emptyState(NO_LINEAGE);
    const fingerprints = fingerprintsFor(known, context);
    const [me] = await Promise.all([
      client.call({ operation: 'getMe' }),
      hasFingerprints(known) && compareSecrets(fingerprints, loaded, context),
    ]);
    const account = textOf(recordIn(me), 'account_id');
    checkAccount(known, account, store.location);
    const reader = createReader(client, endpoints, me);
    const world = { secretOf, fingerprints };
    const unfinished = await findUnfinished(pending, replayed, { store, reader, world });
    return {
      ...loaded,
      client,
      concurrency,
      endpoints,
      reader,
      store,
      state: unfinished?.settlement?.state ?? known,
      unfinished,
      platform: { base_url: client.baseUrl, account_id: account },
      world,
      fingerprints,
      beginWriting: () => context.stop.removeEventListener('abort', interrupt),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A simulated platform has every operation where the specification has it. */
function endpointsFor({ platform }: Stack, { copy }: Context): Endpoints {
  if (copy === undefined) return readEndpoints(platform);
  const names = Object.keys(platform.endpoints);
  return readEndpoints({
    ...platform,
    endpoints: Object.fromEntries(names.map((name) => [name, {}])),
  });
}

/** A state says which resource is whose; on another account it would make everything look deleted. */
function checkAccount({ account_id: known }: State, account: string, location: string): void {
  if (known === undefined || known === account) return;
  const message = `the state ${location} belongs to account ${known}; these credentials are for account ${account}`;
  throw new CallsheetError('state', message, {
    hint: 'Check the credentials and base_url, or keep a state of its own for each account (CALLSHEET_STATE).',
  });
}

/** Opens the state alone, for commands that ask nothing of the platform. */
export function openStore(
  stack: Pick<Stack, 'state'>,
  {
    disk,
    copy,
    env,
    terminal,
    timed = (store) => store,
  }: Pick<Context, 'disk' | 'copy' | 'env' | 'terminal' | 'timed'>,
): StateStore {
  const place = copy === undefined ? stack.state : { file: copy.stateFile };
  const warn = (text: string) => say(terminal, text);
  return timed(openStateStore(place, { env, disk, admit: admitIn({ env, terminal }), warn }));
}

/** Stands in plans for the lineage of a state that no run has made yet. */
export const NO_LINEAGE = '';

/** The state with what a dead run still recorded. A stack that has none yet has no lineage either. */
export async function readState(
  store: StateStore,
): Promise<{ readonly state: State; readonly unfinished: string | undefined }> {
  const { state, pending } = await store.load();
  const replayed = replay(state, pending);
  return {
    state: replayed.state ?? emptyState(NO_LINEAGE),
    unfinished: replayed.began?.run,
  };
}

function hasFingerprints({ resources }: State): boolean {
  return Object.values(resources).some((resource) => countFingerprints(resource) > 0);
}

/** From this many on, stretching secrets takes so long that people wonder what is going on. */
const MANY_SECRETS = 40;

/** Has fingerprints at hand to compare with. Says so where that takes a while. */
async function compareSecrets(
  fingerprints: Fingerprinter,
  loaded: LoadedStack,
  context: Context,
): Promise<void> {
  const { length } = loaded.secretValues;
  if (length >= MANY_SECRETS && !context.env.CALLSHEET_FINGERPRINT_KEY) {
    say(
      context.terminal,
      `Comparing ${length} secrets with what was written last. Without CALLSHEET_FINGERPRINT_KEY that takes a while (docs/secrets.md).`,
    );
  }
  await prepareSecrets(fingerprints, loaded);
}

/** Has the fingerprints of all secrets at hand, in the form in which leaves are compared. */
async function prepareSecrets(
  fingerprints: Fingerprinter,
  { secretValues }: Pick<LoadedStack, 'secretValues'>,
): Promise<void> {
  await fingerprints.prepare(secretValues.map((value) => normalise({}, value)));
}

/** Fingerprints for what a run writes: those of the session, unless the run is the stack's first. */
export async function fingerprintsForRun(
  state: State,
  session: Session,
  context: Context,
): Promise<Fingerprinter> {
  const { salt, lineage } = session.state;
  const isSame = state.salt === salt && state.lineage === lineage;
  const fingerprints = isSame ? session.fingerprints : fingerprintsFor(state, context);
  await prepareSecrets(fingerprints, session);
  return fingerprints;
}

/** Encrypts what rollback copies keep of sensitive values; undefined without a key. */
export function sealerFor({ lineage }: State, { env }: Context): Sealer | undefined {
  const key = env.CALLSHEET_FINGERPRINT_KEY;
  return key ? createSealer(key, lineage) : undefined;
}

/** Fingerprints of one state. */
export function fingerprintsFor(state: State, context: Context): Fingerprinter {
  const key = context.env.CALLSHEET_FINGERPRINT_KEY;
  return createFingerprinter({
    ...(key === undefined ? {} : { key }),
    salt: state.salt,
    stack: state.lineage,
  });
}

/** A sentence beside the results: broken to the width on a terminal, whole in a pipe. */
export function say({ err, wrapsErr, renderErr }: Terminal, text: string): void {
  err(wrapsErr ? renderProse(text, renderErr) : text);
}

/** Shows the configuration's warnings beside the results. */
export function tellWarnings(warnings: readonly Diagnostic[], { terminal }: Context): void {
  if (warnings.length > 0) terminal.err(renderDiagnosticsBeside(warnings, terminal.renderErr));
}

/** With `--verbose`, says how much was not read. */
export function tellUnread(
  { unread, plan }: Planned,
  { verbose }: CommonFlags,
  { terminal }: Context,
): void {
  if (verbose !== true || unread === 0) return;
  const all = plan.changes.length + plan.summary.no_op;
  const left = `${formatNumber(unread)} of ${formatNumber(all)} resources were not read`;
  say(terminal, `${left}: nothing changed them since the last run. --refresh full reads them all.`);
}

/** Says how many secrets were not compared, where no plan is shown that does. */
export function tellUncompared({ uncompared }: Planned, { terminal }: Context): void {
  if (uncompared !== undefined) say(terminal, uncompared);
}

/** Says that a run is at work. One that died is settled, and the plan shows it. */
export function tellRunning(unfinished: Unfinished | undefined, { terminal }: Context): void {
  if (unfinished === undefined || unfinished.settlement !== undefined) return;
  say(
    terminal,
    `Run ${unfinished.run} is at work: what it has not written down yet is taken as it is on the platform now.`,
  );
}

/** Says that a run is open, and that it is taken into account. */
export function tellUnfinished(run: string | undefined, { terminal }: Context): void {
  if (run === undefined) return;
  say(
    terminal,
    `Run ${run} has not finished: it is still at work, or it died. What it did is taken from its journal and from the platform; the next apply settles it.`,
  );
}

/** Says what a rollback means for what comes next: a pipeline that applies the same again is stopped. */
export function tellHeld({ terminal }: Context): void {
  say(
    terminal,
    'What it undid is held: plan and apply refuse to write the same values again until they change. Take the change back in Git, or pass --release-hold to write them again.',
  );
}

/** Says that a run before was to be undone, and is not. */
export function tellOwed(run: string, { terminal }: Context): void {
  say(
    terminal,
    `Run ${run} was to be rolled back should it fail, and it failed or died. callsheet rollback undoes it.`,
  );
}

/** Says how undoing a run that failed came out. `isEarlier`: it was an earlier run, and nothing was applied. */
export function tellUndone(
  run: string,
  isUndone: boolean,
  isEarlier: boolean,
  { terminal }: Context,
): void {
  const then = isEarlier ? ' Nothing else was applied: apply again.' : '';
  const leave = isEarlier ? ' apply without --rollback-on-failure leaves it as it is.' : '';
  say(
    terminal,
    isUndone
      ? `Run ${run} is rolled back; the platform is as it was before it.${then}`
      : `Run ${run} is not rolled back, or only in part; see above. callsheet rollback goes on with it.${leave}`,
  );
}

/** A run that began and did not commit. */
type Unfinished = {
  readonly run: string;
  readonly entries: readonly JournalEntry[];
  /** What became of it. Undefined while it is at work. */
  readonly settlement: Settlement | undefined;
};

const PLAN_AGAIN = 'Plan again, review, and apply the new plan.';

/** Looks whether a run died, and finds out what became of what it asked for. Nothing is written. */
async function findUnfinished(
  pending: readonly JournalEntry[],
  replayed: Replayed,
  deps: {
    readonly store: StateStore;
    readonly reader: Reader;
    readonly world: Omit<World, 'idOf'>;
  },
): Promise<Unfinished | undefined> {
  const run = replayed.began?.run;
  if (run === undefined) return undefined;
  const settlement = (await isAtWork(run, deps.store))
    ? undefined
    : await settleRun(pending, replayed, deps);
  return { run, entries: pending, settlement };
}

/** Nothing is undone beside a run that is at work: what it has not done yet would be taken for nothing. */
export async function refuseBeside({ unfinished, store }: Session): Promise<void> {
  if (unfinished === undefined || unfinished.settlement !== undefined) return;
  const held = await store.lock();
  if (held?.holder.run === unfinished.run)
    throw lockedState(store.location, held.holder, held.lease);
}

/** Milliseconds between looks at a lock that one waits for. */
const LOOK_MS = 1_000;

/**
 * Waits until no live run holds the state, at most until a time (milliseconds since the epoch). Throws
 * `CallsheetError('locked')` where one still does then.
 */
async function awaitLock(store: StateStore, until: number, context: Context): Promise<void> {
  for (let told = false; ; ) {
    const held = await store.lock();
    if (held === undefined || !(await isAtWork(held.holder.run, store))) return;
    await waitFor(lockedState(store.location, held.holder, held.lease), until, told, context);
    told = true;
  }
}

/** Takes the state, and waits for it until a time where another run has it. */
export async function acquireUntil(
  store: StateStore,
  holder: Holder,
  until: number,
  context: Context,
): Promise<Lease> {
  for (let told = false; ; told = true) {
    try {
      return await store.acquire(holder);
    } catch (error) {
      if (!(error instanceof CallsheetError) || error.code !== 'locked') throw error;
      await waitFor(error, until, told, context);
    }
  }
}

async function waitFor(
  locked: CallsheetError,
  until: number,
  isTold: boolean,
  { stop, terminal }: Context,
): Promise<void> {
  const left = until - Date.now();
  if (left <= 0 || stop.aborted) throw locked;
  if (!isTold) terminal.err(`Waiting: ${locked.message}.`);
  await sleep(Math.min(LOOK_MS, left), undefined, { signal: stop }).catch(() => undefined);
}

/** How often a holder is looked at while one waits for its heartbeat: whoever is silent is taken for dead. */
const GLANCES = 60;

/** Whether a run goes on. On another machine that is seen by its heartbeat, never by comparing clocks. */
async function isAtWork(run: string, store: StateStore): Promise<boolean> {
  const held = await store.lock();
  if (held === undefined || held.holder.run !== run) return false;
  if (held.owner !== 'elsewhere') return held.owner === 'running';
  for (let glance = 0; glance < GLANCES; glance += 1) {
    await sleep(held.watch / GLANCES);
    const now = await store.lock();
    if (now?.lease !== held.lease) return false;
    if (now.beat !== held.beat) return true;
  }
  return false;
}

/** What a plan says of it. */
export function settledBy(unfinished: Unfinished | undefined): SettledRun | undefined {
  const { run, settlement } = unfinished ?? {};
  if (run === undefined || settlement === undefined) return undefined;
  return { run, findings: findingsOf(settlement) };
}

/** The journal of a run as it will be once it is settled. */
export function entriesOf({ entries, settlement }: Unfinished): readonly JournalEntry[] {
  if (settlement === undefined) return entries;
  return [...entries, ...settlement.records, settledEnd(settlement, '')];
}

/**
 * The state to start from: the one of the plan, with a run that died settled in it for good. Throws `stale`
 * where another run wrote since, or died since: the plan knew nothing of that.
 */
export async function recordSettlement(
  lease: Lease,
  session: Session,
  context: Context,
): Promise<State> {
  const { store, state: planned, unfinished, platform } = session;
  const { state: found, pending } = await store.load();
  const replayed = replay(found, pending);
  const known = replayed.state ?? emptyState(randomUUID());
  const now: State = { ...known, account_id: platform.account_id };
  if (now.serial !== planned.serial) {
    const what = `another run wrote the state since the plan (serial ${planned.serial}, now ${now.serial})`;
    throw new CallsheetError('stale', what, { hint: PLAN_AGAIN });
  }
  if (replayed.began === undefined) return now;
  const { run } = replayed.began;
  const isKnown = unfinished?.run === run && unfinished.entries.length === pending.length;
  const settlement = isKnown ? unfinished.settlement : undefined;
  const file = (one: Settlement) => {
    refuseUnclear(one, session.stack.resources);
    return fileSettlement(lease, one, platform.account_id, context);
  };
  if (settlement !== undefined) {
    const settled = await file(settlement);
    context.terminal.err(`Run ${run}, which died, is settled: callsheet runs ${run}`);
    return settled;
  }
  // A reader of its own: what was listed for the plan is older than what the run did last.
  const reader = createReader(session.client, session.endpoints);
  const fresh = await settleRun(pending, replayed, { reader, world: session.world });
  if (fresh === undefined) return now;
  await file(fresh);
  throw new CallsheetError(
    'stale',
    `run ${run} was at work when this was planned, and died since`,
    {
      hint: `It is settled now: callsheet runs ${run}. ${PLAN_AGAIN}`,
    },
  );
}

/** Writes down what became of a dead run, and files its journal. */
export async function fileSettlement(
  lease: Lease,
  settlement: Settlement,
  account: string | undefined,
  context: Context,
): Promise<State> {
  for (const record of settlement.records) await lease.append(record);
  await lease.append(settledEnd(settlement, context.now().toISOString()));
  const { state, run } = settlement;
  const settled = nextState(account === undefined ? state : { ...state, account_id: account }, run);
  await lease.commit(settled);
  return settled;
}

function settledEnd({ ledger }: Settlement, at: string): RunEnded {
  return { type: 'ended', at, status: 'settled', verified: false, ledger };
}

/**
 * Of several resources that a dead run may have made, a person must say which one it is. Throws
 * `CallsheetError('refused')` that lists them, unless the configuration does say.
 */
export function refuseUnclear(
  { run, settled }: Settlement,
  configured: readonly Pick<DesiredResource, 'address' | 'lifecycle'>[],
): void {
  const unclear = settled.filter(({ address, candidates = [] }) => {
    const adopt = configured.find((one) => one.address === address)?.lifecycle.adopt;
    return candidates.length > 0 && (adopt === undefined || !candidates.includes(adopt));
  });
  if (unclear.length === 0) return;
  const lines = unclear.map(({ address, message }) => `${address} ${message}`);
  throw new CallsheetError('refused', `run ${run} died:\n${lines.join('\n')}`, {
    hint: 'Nothing was written. Plan again once that is done.',
  });
}
