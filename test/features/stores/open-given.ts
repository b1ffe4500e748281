import { Origin } from '../../../src/core/origin.ts';
import type { StatePlace } from '../../../src/core/stores.ts';
import { stores } from '../../../src/features/stores/index.ts';
import { openStateStore } from '../../../src/state/open.ts';
import type { StateStore } from '../../../src/state/store.ts';

/** Lets every server have credentials. */
export const admitAll = async ({ url }: { readonly url: string }) => Origin.given(url);

/** A place of any store beside files, whoever names it. */
type Given<Place> = Place extends { readonly by: unknown } ? Omit<Place, 'by'> : never;

/** Opens the store of a place that the environment names. */
export function openGiven(
  place: Given<StatePlace>,
  env: Readonly<Record<string, string>>,
): StateStore {
  return openStateStore(
    { ...place, by: 'operator' },
    {
      features: [stores],
      env,
      admit: admitAll,
    },
  );
}
