import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Context } from '../../src/console/context.ts';
import { features } from '../../src/features/index.ts';
import { parsePlace } from '../../src/stack/index.ts';
import type { State } from '../../src/state/model.ts';
import { openStateStore } from '../../src/state/open.ts';
import type { KeptRun, Lease, StateStore } from '../../src/state/store.ts';
import { FINGERPRINT_KEY } from '../e2e/clinic.ts';
import * as http from '../features/stores/http-server.ts';
import { admitAll } from '../features/stores/open-given.ts';
import * as postgres from '../features/stores/postgres-server.ts';
import * as s3 from '../features/stores/s3-server.ts';
import { holder } from '../state/sample.ts';
import { temporaryFolder } from '../temporary.ts';

/** What a killed command is stopped by. From then on nothing of it reaches a store. */
class Killed extends Error {}

/**
 * Stores of a command that dies before or after a change of one of them, by its number; without one the command only
 * counts them. A lease of the dead is free at once, as it is where the process is gone.
 */
export function mortalStores(at?: number) {
  const moments: string[] = [];
  const leases: Lease[] = [];
  let isDead = false;

  function come(name: string): void {
    if (isDead) throw new Killed();
    moments.push(name);
    if (moments.length - 1 !== at) return;
    isDead = true;
    throw new Killed();
  }

  async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
    come(`before ${name}`);
    const done = await work();
    come(`after ${name}`);
    return done;
  }

  function mortalLease(lease: Lease, of: string): Lease {
    leases.push(lease);
    return {
      ...lease,
      append: (entry) => step(`${of} append ${entry.type}`, () => lease.append(entry)),
      commit: (state) => step(`${of} commit`, () => lease.commit(state)),
      receive: (...given) => step(`${of} receive`, () => lease.receive(...given)),
      refile: (receipt) => step(`${of} refile`, () => lease.refile(receipt)),
    };
  }

  let opened = 0;
  const timed = (store: StateStore): StateStore => {
    const of = opened === 0 ? 'source' : 'target';
    opened += 1;
    return {
      ...store,
      acquire: (holder) =>
        step(`${of} acquire`, async () => mortalLease(await store.acquire(holder), of)),
      async close() {
        for (const lease of leases) await lease.release();
        await store.close();
      },
    };
  };
  return { timed, moments, isDead: () => isDead };
}

/** A place of a state as `--to` names it, and what signs in there. */
export type Place = { readonly to: string; readonly env: Context['env'] };

export const STORES = ['file', 'http', 's3', 'postgres'] as const;
export type StoreName = (typeof STORES)[number];

/** One server of each store for a test file, and new places in them. */
export function servedPlaces(): (store: StoreName) => Place {
  let servers: [
    Awaited<ReturnType<typeof http.startHttpServer>>,
    Awaited<ReturnType<typeof s3.startS3>>,
    Awaited<ReturnType<typeof postgres.startPostgres>>,
  ];
  beforeAll(async () => {
    servers = await Promise.all([http.startHttpServer(), s3.startS3(), postgres.startPostgres()]);
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));
  let count = 0;
  return (store) => {
    const [web, bucket, database] = servers;
    const name = `place-${count++}`;
    switch (store) {
      case 'file':
        return { to: join(temporaryFolder(), name, 'state.json'), env: {} };
      case 'http':
        return {
          to: `${web.origin}/plain/${name}`,
          env: { CALLSHEET_STATE_USERNAME: http.USERNAME, CALLSHEET_STATE_PASSWORD: http.PASSWORD },
        };
      case 's3':
        return {
          to: `s3://${s3.BUCKET}/${name}.json?endpoint=${bucket.endpoint}`,
          env: { AWS_ACCESS_KEY_ID: s3.KEY_ID, AWS_SECRET_ACCESS_KEY: s3.SECRET },
        };
      case 'postgres':
        return {
          to: `${database.url()}?stack=${name}`,
          env: { CALLSHEET_STATE_PASSWORD: postgres.PASSWORD },
        };
    }
  };
}

/** The environment of a command whose state is at one place, and that takes something to another. */
export function envBetween(from: Place, to?: Place): Context['env'] {
  const theirs = Object.entries(to?.env ?? {}).map(([name, value]) => [`${name}_TO`, value]);
  return { ...from.env, CALLSHEET_STATE: from.to, ...Object.fromEntries(theirs) };
}

/** The state and the receipts of a place, the oldest receipt first. */
export type Stock = { readonly state: State | undefined; readonly runs: readonly KeptRun[] };

export function openAt({ to, env }: Place): StateStore {
  return openStateStore(parsePlace(to, '/'), {
    features,
    env: { CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY, ...env },
    admit: admitAll,
  });
}

export async function readStock(place: Place): Promise<Stock> {
  const store = openAt(place);
  try {
    const { state, pending } = await store.load();
    expect(pending).toEqual([]);
    const ids = (await store.runs()).map(({ run }) => run).toReversed();
    const runs = await Promise.all(
      ids.map(async (run) => ({ run, entries: (await store.run(run)) ?? [] })),
    );
    return { state, runs };
  } finally {
    await store.close();
  }
}

/** Puts a state and its receipts at an empty place, as that of a stack of that name. */
export async function putStock(place: Place, { state, runs }: Stock, stack: string): Promise<void> {
  if (state === undefined) return;
  const store = openAt(place);
  try {
    const lease = await store.acquire(holder(''));
    await lease.receive({ ...state, owner: { stack, environment: null } }, runs);
  } finally {
    await store.close();
  }
}
