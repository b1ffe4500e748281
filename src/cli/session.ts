import type { Client } from '../api/client.ts';
import { type Endpoints, readEndpoints } from '../api/endpoints.ts';
import type { Stack } from '../config/index.ts';
import { CallsheetError } from '../core/errors.ts';
import { normalise } from '../diff/leaves.ts';
import type { World } from '../diff/world.ts';
import { recordIn, textOf } from '../kinds/answer.ts';
import { createReader } from '../live/reader.ts';
import type { Reader } from '../plan/reader.ts';
import {
  countFingerprints,
  createFingerprinter,
  type Fingerprinter,
} from '../state/fingerprint.ts';
import type { State } from '../state/model.ts';
import { emptyState, replay } from '../state/replay.ts';
import { createSealer, type Sealer } from '../state/seal.ts';
import type { StateStore } from '../state/store.ts';
import { openStateStore } from '../stores/open.ts';
import { nameStack } from './actor.ts';
import type { CommonFlags, Context } from './context.ts';
import { stage, type Telemetry } from './monitor/telemetry.ts';
import { DEFAULT_CONCURRENCY, type FileSource, openClient } from './open-client.ts';
import { admitIn } from './origins.ts';
import { type LoadedStack, openStack, type SecretsWanted } from './stack.ts';
import { say } from './tell.ts';
import { awaitLock, findUnfinished, type Unfinished } from './unfinished.ts';

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
  return timed(openStateStore(place, { env, disk, admit: admitIn({ env, terminal }) }));
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
