import { CallsheetError } from '../core/errors.ts';
import type { Admit } from '../core/origin.ts';
import { placeAddress, type StatePlace, sealPlace } from '../core/stores.ts';
import { openFileStore, type StoreEffects } from './file/store.ts';
import { openSeals, type Seals, type Vouching } from './seal.ts';
import type { StateStore } from './store.ts';

type RemotePlace = Exclude<StatePlace, { readonly file: string }>;

/** A scheme of places beside files, and the store that keeps states in them. */
export type StoreScheme<Place extends RemotePlace = RemotePlace> = {
  readonly has: (place: RemotePlace) => place is Place;
  /** Loads what the store needs. */
  open(place: Place, world: StoreWorld): Promise<StateStore>;
};

/** A store is opened with these effects and settings. */
export type StoreWorld = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Decides which servers get the credentials of the environment. */
  readonly admit: Admit;
  /** Gets a sentence when a lost store is waited for, and when it is back. */
  readonly warn?: ((text: string) => void) | undefined;
  readonly seals: Seals;
};

type OpenOptions = Omit<StoreWorld, 'seals'> & {
  /** Has the schemes beside files. */
  readonly features: readonly { readonly stores?: readonly StoreScheme[] }[];
  readonly vouches?: Vouching | undefined;
  /** The file store's disk operations; tests stop it at each step. */
  readonly disk?: StoreEffects['disk'] | undefined;
};

/**
 * The store of a place. What a store needs is loaded when it is used: most stacks keep their state in a file. Throws
 * `CallsheetError('usage')` for a place of a scheme that no feature has.
 */
export function openStateStore(place: StatePlace, options: OpenOptions): StateStore {
  const { disk, features } = options;
  const seals = openStateSeals(place, options);
  if ('file' in place) return openFileStore(place.file, { seals, ...(disk && { disk }) });
  const scheme = features.flatMap(({ stores = [] }) => stores).find(({ has }) => has(place));
  if (scheme === undefined)
    throw new CallsheetError(
      'usage',
      `this Callsheet has no store for a state in ${placeAddress(place)}`,
      {
        hint: 'Keep the state in a file, or use a Callsheet that has a store for this place.',
      },
    );
  return whenUsed(placeAddress(place), () => scheme.open(place, { ...options, seals }));
}

/** The seals of what is kept in a place, with the key of the environment. */
export function openStateSeals(
  place: StatePlace,
  { env, vouches }: Pick<OpenOptions, 'env' | 'vouches'>,
): Seals {
  return openSeals({ key: env.CALLSHEET_FINGERPRINT_KEY, place: sealPlace(place), vouches });
}

/** A store that is opened with the first thing that is asked of it. */
function whenUsed(location: string, open: () => Promise<StateStore>): StateStore {
  let opened: Promise<StateStore> | undefined;
  let used: StateStore | undefined;
  const store = async () => {
    opened ??= open();
    used = await opened;
    return used;
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
    traffic: () => used?.traffic(),
    estimate: async (expected) => (await store()).estimate(expected),
    mostRuns: async () => (await store()).mostRuns(),
    runIds: async () => (await store()).runIds(),
    runs: async () => (await store()).runs(),
    run: async (id) => (await store()).run(id),
    // A failure to open was reported already.
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
