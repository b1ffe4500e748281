import { Origin } from '../../../src/core/origin.ts';
import type { HttpPlace, PostgresPlace, S3Place } from '../../../src/core/stores.ts';
import { openStateStore } from '../../../src/state/open.ts';
import type { StateStore } from '../../../src/state/store.ts';

/** Lets every server have credentials. */
export const admitAll = async ({ url }: { readonly url: string }) => Origin.given(url);

/** Opens the store of a place that the environment names. */
export function openGiven(
  place:
    | { readonly http: HttpPlace }
    | { readonly postgres: PostgresPlace }
    | { readonly s3: S3Place },
  env: Readonly<Record<string, string>>,
): StateStore {
  return openStateStore({ ...place, by: 'operator' }, { env, admit: admitAll });
}
