import { relative } from 'node:path';
import type { Address } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { normalise, type World } from '../diff/leaves.ts';
import { kinds } from '../kinds/index.ts';
import { getText, recordIn } from '../kinds/making.ts';
import { openRecentCalls } from '../live/calls.ts';
import { createReader } from '../live/reader.ts';
import type { Planned } from '../plan/make.ts';
import { listAhead } from '../plan/natural-key.ts';
import type { Reader, RecentCalls } from '../plan/reader.ts';
import type { Client } from '../platform/client.ts';
import { type Endpoints, readEndpoints } from '../platform/endpoints.ts';
import { isInside, posixPath } from '../stack/folder.ts';
import type { Stack } from '../stack/index.ts';
import { type Claimant, checkOwner, Unanswered } from '../state/failures.ts';
import {
  countFingerprints,
  createFingerprinter,
  createSealer,
  type Fingerprinter,
  type Sealer,
} from '../state/fingerprint.ts';
import type { State } from '../state/model.ts';
import { openStateStore } from '../state/open.ts';
import { emptyState, replay } from '../state/replay.ts';
import type { Vouching } from '../state/seal.ts';
import {
  type Claim,
  formatOverlap,
  type Lease,
  overlapping,
  type StateStore,
} from '../state/store.ts';
import { findOwner, nameStack } from './actor.ts';
import { admitIn, DEFAULT_CONCURRENCY, type FileSource, openClient } from './client.ts';
import { type RunContext, type StackOptions, stage } from './context.ts';
import { refuseErrored } from './errored.ts';
import { NOTHING_RECALLED, type Recalled, recallFormer } from './recall.ts';
import { awaitLock, findUnfinished, type Unfinished } from './recover.ts';
import { type LoadedStack, openStack, type SecretsWanted } from './stack.ts';

/** Everything that a command needs which looks at the platform. */
export type Session = LoadedStack & {
  readonly client: Client;
  /** Requests in flight at once. */
  readonly concurrency: number;
  readonly reader: Reader;
  readonly recentCalls: RecentCalls;
  readonly store: StateStore;
  /** Without one it has no lineage, and of resources those that `recalled` has. */
  readonly state: State;
  /** The commits that had what no state knows, by its address (`recall.ts`). */
  readonly recalled: ReadonlyMap<Address, Pick<Recalled, 'commit'>>;
  /** The run that has not committed what it did, if there is one: it died, or it is at work. */
  readonly unfinished: Unfinished | undefined;
  readonly platform: PlanDocument['platform'];
  /**
   * The owner of the state, or its future one; undefined on a simulated platform, whose state belongs to nothing
   * else.
   */
  readonly claimant: Claimant | undefined;
  readonly world: Omit<World, 'findId'>;
  readonly fingerprints: Fingerprinter;
  /** From now on an interrupt no longer ends requests that are under way. */
  readonly beginWriting: () => void;
  readonly close: () => Promise<void>;
};

/** The part of a session that needs no answer of the platform. */
type Opened = LoadedStack &
  Pick<Session, 'store' | 'state'> & {
    /** The run that has not committed yet. */
    readonly pendingRun: string | undefined;
  };

/** Throws where a command line names something that there is not. */
export type CheckNamed = (opened: Opened) => void | Promise<void>;

/**
 * Opens a session: configuration first, then credentials, then state, what the command line names of both (`check`), and
 * only then the platform, so that nothing is sent while something is wrong here.
 */
export async function openSession(
  options: StackOptions,
  context: RunContext,
  {
    secrets,
    chooseStore = (stack) => openStore(stack, context),
    freeBy,
    check,
    evenBroken,
    openFile,
    plans,
  }: {
    readonly secrets?: SecretsWanted;
    readonly chooseStore?: (stack: Stack) => StateStore;
    /** Until when to wait for another run that holds the state, in milliseconds since the epoch; unset: not at all. */
    readonly freeBy?: number | undefined;
    readonly check?: CheckNamed | undefined;
    /** True if a configuration with errors is replaced by what was recorded. */
    readonly evenBroken?: boolean;
    /** Files that lie elsewhere than in the folder of the stack. */
    readonly openFile?: FileSource | undefined;
    /** True if the configuration is planned next: its lists are read beside the account, which saves a round trip. */
    readonly plans?: boolean;
  } = {},
): Promise<Session> {
  context.emit({ type: 'loading' });
  try {
    return await stage(context, 'read', async () => {
      await describeTask(options, context);
      const loaded = await openStack(options, context, secrets, evenBroken);
      const store = chooseStore(loaded.stack);
      if (freeBy !== undefined)
        await closingOnFailure(store, () => awaitLock(store, freeBy, context));
      const session = await openSessionOn(loaded, store, options, context, {
        check,
        openFile,
        plans,
      });
      if (session.state.lineage === NO_LINEAGE && context.sandbox === undefined)
        context.emit({ type: 'no_state', location: placeIn(loaded.stack.dir, store.location) });
      if (isShared(loaded.stack)) announceUnsealed(context);
      return session;
    });
  } finally {
    context.emit({ type: 'loaded' });
  }
}

async function describeTask({ dir, env }: StackOptions, { telemetry }: RunContext): Promise<void> {
  telemetry?.describe({
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
  { concurrency = DEFAULT_CONCURRENCY }: Pick<StackOptions, 'concurrency'>,
  context: RunContext,
  {
    openFile,
    check,
    plans = false,
  }: {
    readonly openFile?: FileSource | undefined;
    readonly check?: CheckNamed | undefined;
    readonly plans?: boolean | undefined;
  },
): Promise<Session> {
  const { stack, findSecret } = loaded;
  const source = { ...stack, openFile };
  const client = await openClient(source, context, concurrency, endpointsFor(stack, context));
  // While nothing is written an interrupt ends whatever is being read.
  const interrupt = () => void client.close();
  context.stop.addEventListener('abort', interrupt);
  const close = async () => {
    context.stop.removeEventListener('abort', interrupt);
    await client.close();
    await store.close();
  };
  try {
    const { state: found, pending } = await loadOrRefuse(store, loaded, context);
    const replayed = replay(found, pending);
    const known = replayed.state ?? emptyState(NO_LINEAGE);
    await check?.({ ...loaded, store, state: known, pendingRun: replayed.began?.run });
    const claimant = context.sandbox === undefined ? await findOwner(stack) : undefined;
    if (claimant !== undefined) await checkOwner(known, claimant, store.location);
    const fingerprints = fingerprintsFor(known, context);
    const asking = client.call({ operation: 'getMe' });
    const reader = createReader(client, asking);
    // How long it takes to learn that a run is at work is unknown, and lists would be as old.
    if (plans && replayed.began === undefined) listAhead(reader, stack.resources, known);
    const [me] = await Promise.all([
      asking,
      hasFingerprints(known) && compareSecrets(fingerprints, loaded, context),
    ]);
    const account = getText(recordIn(me), 'account_id');
    // Lists may be under way. Nothing is recorded, compared or recovered before this.
    checkAccount(known, account, store.location);
    const world = { findSecret, fingerprints };
    const unfinished = await findUnfinished(pending, replayed, { store, reader, world });
    const isLost = known.lineage === NO_LINEAGE && context.sandbox === undefined;
    const there = { reader, account, world, now: context.now() };
    const { recalled, gone } = isLost ? await recallFormer(loaded, there) : NOTHING_RECALLED;
    const entries = [...recalled].map(([address, { entry }]) => [address, entry] as const);
    return {
      ...loaded,
      client,
      concurrency,
      reader,
      recentCalls: openRecentCalls(client, context.now),
      store,
      state: unfinished?.recovery?.state ?? {
        ...known,
        resources: { ...known.resources, ...Object.fromEntries(entries) },
        ...(Object.keys(gone).length > 0 && { deleted: gone }),
      },
      recalled,
      unfinished,
      platform: { base_url: client.baseUrl, account_id: account },
      claimant,
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

/** Loads the state. Throws where a run left a later one beside its stack than the store has (`errored.ts`). */
async function loadOrRefuse(store: StateStore, { stack }: LoadedStack, { sandbox }: RunContext) {
  const isOwn = sandbox === undefined;
  const found = await store.load().catch(async (error: unknown) => {
    const isRead = error instanceof CallsheetError && error.code === 'state';
    if (isOwn && isRead && !(error instanceof Unanswered))
      await refuseErrored(stack, undefined, store.location, error);
    throw error;
  });
  // An open journal is recovered as ever.
  if (isOwn && found.pending.length === 0) await refuseErrored(stack, found.state, store.location);
  return found;
}

/** A simulated platform has every operation where the specification has it. */
function endpointsFor({ platform }: Stack, { sandbox }: RunContext): Endpoints {
  if (sandbox === undefined) return readEndpoints(platform);
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

/** Others can write to the place of the state: it is not in the folder of its stack. */
function isShared({ dir, state }: Pick<Stack, 'dir' | 'state'>): boolean {
  return !('file' in state && isInside(dir, state.file));
}

/** Says that a state has no seal, where there is no key. Of many stacks in one process none says so. */
export function announceUnsealed({ env, sandbox, connections, emit }: RunContext): void {
  if (env.CALLSHEET_FINGERPRINT_KEY || sandbox !== undefined || connections !== undefined) return;
  emit({ type: 'not_sealed' });
}

/** A state inside the stack folder is named from there. */
function placeIn(dir: string, location: string): string {
  return isInside(dir, location) ? posixPath(relative(dir, location)) : location;
}

/**
 * Opens the state alone, for commands that ask nothing of the platform. `vouches`: what is not sealed is taken all the
 * same; a rehearsal made its copy itself.
 */
export function openStore(
  stack: Pick<Stack, 'state'>,
  {
    features,
    disk,
    sandbox,
    env,
    emit,
    confirm,
    timed = (store) => store,
  }: Pick<RunContext, 'features' | 'disk' | 'sandbox' | 'env' | 'emit' | 'confirm' | 'timed'>,
  {
    vouches = sandbox === undefined ? undefined : 'everything',
  }: { readonly vouches?: Vouching | undefined } = {},
): StateStore {
  const place = sandbox === undefined ? stack.state : { file: sandbox.stateFile };
  const warn = (text: string) => emit({ type: 'notice', text });
  const admit = admitIn({ env, confirm });
  return timed(openStateStore(place, { features, env, disk, admit, warn, vouches }));
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
  context: RunContext,
): Promise<void> {
  await prepareSecrets(fingerprints, loaded, (secrets) => {
    if (secrets >= MANY_SECRETS) context.emit({ type: 'comparing_secrets', secrets });
  });
}

/** Has the fingerprints of all secrets at hand, in the form in which leaves are compared. */
async function prepareSecrets(
  fingerprints: Fingerprinter,
  { secretValues }: Pick<LoadedStack, 'secretValues'>,
  begin?: (count: number) => void,
): Promise<void> {
  await fingerprints.prepare(
    secretValues.map((value) => normalise({}, value)),
    begin,
  );
}

/** Fingerprints for what a run writes: those of the session, unless the run is the stack's first. */
export async function fingerprintsForRun(
  state: State,
  session: Session,
  context: RunContext,
): Promise<Fingerprinter> {
  const { salt, lineage } = session.state;
  const isSame = state.salt === salt && state.lineage === lineage;
  const fingerprints = isSame ? session.fingerprints : fingerprintsFor(state, context);
  await prepareSecrets(fingerprints, session);
  return fingerprints;
}

/** Encrypts what rollback copies keep of sensitive values; undefined without a key. */
export function sealerFor(
  { lineage }: Pick<State, 'lineage'>,
  { platform }: Pick<Session, 'platform'>,
  { env }: RunContext,
): Sealer | undefined {
  const key = env.CALLSHEET_FINGERPRINT_KEY;
  return key ? createSealer(key, { stack: lineage, account: platform.account_id }) : undefined;
}

/** Fingerprints of one state. */
export function fingerprintsFor(state: State, context: RunContext): Fingerprinter {
  const key = context.env.CALLSHEET_FINGERPRINT_KEY;
  return createFingerprinter({
    ...(key === undefined ? {} : { key }),
    salt: state.salt,
    stack: state.lineage,
    stretched: state.stretched,
  });
}

/** Kinds whose resources can be changed or deleted. What cannot be, several stacks may have in common. */
const FOUGHT_OVER = new Set(
  kinds.filter((kind) => kind.update ?? kind.delete).map(({ name }) => name),
);

/** Lists the live resources that a run of a plan writes or remembers as its own. */
function listClaims({ plan, refresh }: Pick<Planned, 'plan' | 'refresh'>): readonly Claim[] {
  const changed = plan.changes.flatMap(({ address, kind, id, action, verdict }) =>
    id === null || action === 'forget' || verdict !== 'ok' ? [] : [{ address, kind, id }],
  );
  const remembered = [...refresh].map(([address, { kind, id }]) => ({ address, kind, id }));
  const byAddress = new Map([...remembered, ...changed].map((one) => [one.address, one]));
  return contested([...byAddress.values()]);
}

function contested(claims: readonly Claim[]): readonly Claim[] {
  return claims.filter(({ kind }) => FOUGHT_OVER.has(kind));
}

/**
 * Claims what a run is going to write, before its first write. Throws `CallsheetError('refused')` where another
 * stack in the same store manages some of it.
 */
export async function claimForRun(
  lease: Lease,
  what: Pick<Planned, 'plan' | 'refresh'> | readonly Claim[],
  { store, platform }: Pick<Session, 'store' | 'platform'>,
): Promise<void> {
  const claims = 'plan' in what ? listClaims(what) : contested(what);
  const overlaps = await lease.claim(platform.account_id, claims);
  if (overlaps.length > 0) throw overlapping(store.location, overlaps);
}

/** Finds the resources that other stacks of the same store manage as well, a line each: apply would refuse. */
export async function findOverlaps(
  planned: Pick<Planned, 'plan' | 'refresh'>,
  { store, platform }: Pick<Session, 'store' | 'platform'>,
): Promise<readonly string[]> {
  const claims = listClaims(planned);
  return (await store.overlaps(platform.account_id, claims)).map(formatOverlap);
}
