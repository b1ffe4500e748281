import { type Admit, Origin } from '../core/origin.ts';
import { placeAddress, type StatePlace, sealPlace } from '../core/stores.ts';
import { openFileStore, type StoreEffects } from './file/store.ts';
import { realEffects } from './lock.ts';
import { openRetries, timeoutFrom } from './remote/failures.ts';
import { openSeals, type Seals, type Vouching } from './seal.ts';
import type { StateStore } from './store.ts';

type OpenOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Decides which servers get the credentials of the environment. */
  readonly admit: Admit;
  /** Told in a sentence that a store which is away is waited for, and that it is back. */
  readonly warn?: ((text: string) => void) | undefined;
  readonly vouches?: Vouching | undefined;
  /** What the file store does on the disk; tests stop it at each step. */
  readonly disk?: StoreEffects['disk'] | undefined;
};

/** The store of a place. What a store needs is loaded when it is used: most stacks keep their state in a file. */
export function openStateStore(place: StatePlace, options: OpenOptions): StateStore {
  const { disk } = options;
  const seals = sealsOf(place, options);
  if ('file' in place) return openFileStore(place.file, { seals, ...(disk && { disk }) });
  return whenUsed(placeAddress(place), () => load(place, options, seals));
}

/** The seals of what is kept in a place, with the key of the environment. */
export function sealsOf(
  place: StatePlace,
  { env, vouches }: Pick<OpenOptions, 'env' | 'vouches'>,
): Seals {
  return openSeals({ key: env.CALLSHEET_FINGERPRINT_KEY, place: sealPlace(place), vouches });
}

async function load(
  place: Exclude<StatePlace, { readonly file: string }>,
  { env, admit, warn }: OpenOptions,
  seals: Seals,
): Promise<StateStore> {
  const admitOne = (url: string, by = place.by) => admit({ url, by, credentials: 'of the state' });
  const effects = realEffects();
  const timeout = timeoutFrom(env);
  const retries = openRetries(timeout, effects, warn);
  const { openRemoteStore } = await import('./remote/store.ts');
  if ('http' in place) {
    const [{ documentRemote }, { listAddresses, httpPlace }, { openExchange }] = await Promise.all([
      import('./remote/document.ts'),
      import('./http/store.ts'),
      import('./remote/exchange.ts'),
    ]);
    const credentials = {
      username: env.CALLSHEET_STATE_USERNAME,
      password: env.CALLSHEET_STATE_PASSWORD,
    };
    // One after the other: a person is asked one thing at a time.
    const origins: Origin[] = [];
    for (const [index, url] of listAddresses(place.http).entries())
      origins.push(await admitOne(url, index === 0 ? place.by : place.lock_by));
    const exchange = openExchange(timeout, origins);
    const http = httpPlace(place.http, credentials, exchange, effects, retries);
    return openRemoteStore(documentRemote(http, seals), effects);
  }
  if ('postgres' in place) {
    const [{ postgresRemote }, { openDatabase }] = await Promise.all([
      import('./postgres/store.ts'),
      import('./postgres/database.ts'),
    ]);
    const { url, stack } = place.postgres;
    const database = await openDatabase(await admitOne(url), env, timeout);
    const remote = postgresRemote(database, stack, placeAddress(place), retries, seals);
    return openRemoteStore(remote, effects);
  }
  const [{ documentRemote }, { isAmazon, getRoot, s3Place }, { openExchange }, aws] =
    await Promise.all([
      import('./remote/document.ts'),
      import('./s3/store.ts'),
      import('./remote/exchange.ts'),
      import('./s3/credentials.ts'),
    ]);
  const region = place.s3.region ?? (await aws.findRegion(env)) ?? 'us-east-1';
  const root = getRoot(place.s3, region);
  // Amazon is who the credentials are for, and a signature says nothing of the key.
  const origin = isAmazon(root) ? Origin.given(root) : await admitOne(root);
  const exchange = openExchange(timeout, [origin]);
  const location = placeAddress(place);
  const credentials = aws.openAwsCredentials({ env, location, region, timeout, effects });
  const s3 = s3Place(place.s3, credentials, exchange, retries, region);
  return openRemoteStore(documentRemote(s3, seals), effects);
}

/** A store that is opened with the first thing that is asked of it. */
function whenUsed(location: string, open: () => Promise<StateStore>): StateStore {
  let opened: Promise<StateStore> | undefined;
  const store = () => {
    opened ??= open();
    return opened;
  };
  return {
    location,
    trust: async () => (await store()).trust(),
    load: async () => (await store()).load(),
    overlaps: async (...asked) => (await store()).overlaps(...asked),
    salvage: async () => (await store()).salvage(),
    acquire: async (holder) => (await store()).acquire(holder),
    lock: async () => (await store()).lock(),
    unlock: async (lease, by) => (await store()).unlock(lease, by),
    runIds: async () => (await store()).runIds(),
    runs: async () => (await store()).runs(),
    run: async (id) => (await store()).run(id),
    // What could not be opened has told so already.
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
