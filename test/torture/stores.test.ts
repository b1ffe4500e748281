import { setTimeout as sleep } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { inventory, WHOLE } from '../e2e/clinic.ts';
import type { Hold } from '../e2e/gate.ts';
import { longScenario, told, type World } from '../e2e/harness.ts';
import type { Outcome, Running } from '../e2e/process.ts';
import { type Door, openDoor } from '../features/stores/bad/door.ts';
import * as http from '../features/stores/http-server.ts';
import {
  HTTP_SERVERS,
  type OthersServer,
  S3_KEY_ID,
  S3_SECRET,
  S3_SERVERS,
  startOthers,
} from '../features/stores/others-servers.ts';
import * as postgres from '../features/stores/postgres-server.ts';
import * as s3 from '../features/stores/s3-server.ts';
import { writeResult } from './result.ts';

// Every kind of store × what befalls it, by whole commands. What came of each stands in docs/contributing/reliability.md.

type Env = Readonly<Record<string, string>>;

/** A state of its own in a store, behind a door that can be shut. */
type Place = {
  readonly env: Env;
  /** None before a file. */
  readonly door?: Door;
  /** The same place with credentials that are not its own, where it has any. */
  readonly wrong?: Env;
  /** A bucket or a database that is not there. */
  readonly missing?: Env;
};

const STORES = ['file', 'HTTP', 'HTTP, by others', 'S3', 'S3, by others', 'PostgreSQL'] as const;
type StoreName = (typeof STORES)[number];

let servers: Awaited<ReturnType<typeof startAll>>;
beforeAll(async () => {
  servers = await startAll();
});
afterAll(async () => {
  await writeResult('stores', results);
  for (const server of started) await server.stop();
});

/** Those that run, also where another one did not start. */
const started: { readonly stop: () => Promise<unknown> }[] = [];

async function startAll() {
  const [web, othersWeb, bucket, othersBucket, database] = await Promise.all([
    noted(http.startHttpServer()),
    noted(startOthers(HTTP_SERVERS)),
    noted(s3.startS3()),
    noted(startOthers(S3_SERVERS)),
    noted(postgres.startPostgres()),
  ]);
  if (othersBucket !== undefined) await makeBucket(othersBucket);
  return { web, othersWeb, bucket, othersBucket, database };
}

async function noted<S extends { readonly stop: () => Promise<unknown> } | undefined>(
  starting: Promise<S>,
): Promise<S> {
  const server = await starting;
  if (server !== undefined) started.push(server);
  return server;
}

async function makeBucket({ port }: OthersServer): Promise<void> {
  const client = new AwsClient({
    accessKeyId: S3_KEY_ID,
    secretAccessKey: S3_SECRET,
    service: 's3',
    region: 'us-east-1',
  });
  const made = await client.fetch(`http://127.0.0.1:${port}/${s3.BUCKET}`, { method: 'PUT' });
  if (!made.ok) throw new Error(`no bucket: ${made.status} ${await made.text()}`);
}

let count = 0;

/** Opens a place; undefined where nobody here has such a server. */
async function openPlace(store: StoreName): Promise<Place | undefined> {
  count += 1;
  const name = `state-${count}`;
  const { web, othersWeb, bucket, othersBucket, database } = servers;
  switch (store) {
    case 'file':
      return { env: {} };
    case 'HTTP':
      return overHttp(web.port, `/plain/${name}`, http.USERNAME, true);
    case 'HTTP, by others':
      return (
        othersWeb && overHttp(othersWeb.port, `/state/project/${name}`, 'basic', othersWeb.isStrict)
      );
    case 'S3':
      return inBucket(bucket.port, name, true);
    case 'S3, by others':
      return othersBucket && inBucket(othersBucket.port, name, othersBucket.isStrict);
    case 'PostgreSQL': {
      // Tests that run beside this one count on while it waits.
      const database_ = `stores_${count}`;
      const door = await openDoor(database.port);
      await database.createDatabase(database_);
      const at = (one: string) =>
        `postgres://${postgres.USER}@127.0.0.1:${door.port}/${one}?stack=desk`;
      const env = {
        CALLSHEET_STATE: at(database_),
        CALLSHEET_STATE_PASSWORD: postgres.PASSWORD,
      };
      return {
        env,
        door,
        wrong: { ...env, CALLSHEET_STATE_PASSWORD: 'another' },
        missing: { ...env, CALLSHEET_STATE: at('nowhere') },
      };
    }
  }
}

async function overHttp(
  port: number,
  path: string,
  username: string,
  isStrict: boolean,
): Promise<Place> {
  const door = await openDoor(port);
  const env = {
    CALLSHEET_STATE: `http://127.0.0.1:${door.port}${path}`,
    CALLSHEET_STATE_USERNAME: username,
    CALLSHEET_STATE_PASSWORD: http.PASSWORD,
  };
  return { env, door, ...(isStrict && { wrong: { ...env, CALLSHEET_STATE_PASSWORD: 'another' } }) };
}

async function inBucket(port: number, name: string, isStrict: boolean): Promise<Place> {
  const door = await openDoor(port);
  const at = (bucket: string) =>
    `s3://${bucket}/${name}.json?endpoint=http://127.0.0.1:${door.port}`;
  const env = {
    CALLSHEET_STATE: at(s3.BUCKET),
    AWS_ACCESS_KEY_ID: S3_KEY_ID,
    AWS_SECRET_ACCESS_KEY: S3_SECRET,
  };
  return {
    env,
    door,
    missing: { ...env, CALLSHEET_STATE: at('no-such-bucket') },
    ...(isStrict && { wrong: { ...env, AWS_SECRET_ACCESS_KEY: 'another' } }),
  };
}

const APPLY = ['apply', '--auto-approve', '--concurrency', '1'];

/** What befalls a store. It resolves to what came of it, or to nothing where the store cannot meet with it. */
type Case = readonly [
  name: string,
  body: (world: World, place: Place) => Promise<string | undefined>,
];

const CASES: readonly Case[] = [
  [
    'apply, plan, change, rollback',
    async (world, { env }) => {
      await world.apply([], { env });
      const before = greeting(world);
      await world.edit('agents.yaml', 'how can I help?', 'good day!');
      await world.apply([], { env });
      expect(greeting(world)).not.toBe(before);
      await world.run(['rollback', '--auto-approve'], { env });
      expect(greeting(world)).toBe(before);
      return 'right';
    },
  ],
  [
    'eight applies at once',
    async (world, { env }) => {
      const racing = Array.from({ length: 8 }, () =>
        world.start(['apply', '--auto-approve'], { env }),
      );
      const ends = await Promise.all(racing.map(({ ended }) => ended));
      const exits = ends.map(({ exit }) => exit);
      expect(exits, ends.map(told).join('\n')).toContain(0);
      expect([0, 5, 6], ends.map(told).join('\n')).toEqual(expect.arrayContaining(exits));
      return settled(world, env);
    },
  ],
  [
    'killed six times, and gone on with',
    async (world, { env }) => {
      const gate = await world.gate();
      for (let nth = 1; nth <= 6; nth += 1) {
        const hold = gate.hold(nth % 2 === 0 ? 'answer' : 'request', {
          method: 'POST',
          path: /^\/v1\//,
        });
        const running = world.start(APPLY, { env });
        await reached(hold, running);
        running.signal('SIGKILL');
        await running.ended;
        hold.release();
      }
      return settled(world, env);
    },
  ],
  [
    'every connection reset in mid-run',
    (world, place) =>
      inMidRun(world, place, async ({ turn }) => {
        await turn('shut');
        await turn('open');
      }),
  ],
  ...[0.5, 3, 10].map(
    (seconds): Case => [
      `away for ${seconds} s in mid-run`,
      (world, place) =>
        inMidRun(world, place, async ({ turn }) => {
          await turn('shut');
          await sleep(seconds * 1_000);
          await turn('open');
        }),
    ],
  ),
  ['wrong credentials', (world, { wrong }) => refused(world, wrong)],
  ['no such bucket or database', (world, { missing }) => refused(world, missing)],
];

const results = Object.fromEntries(
  STORES.map((store): [StoreName, { [what: string]: string }] => [
    store,
    Object.fromEntries(CASES.map(([name]) => [name, 'not run'])),
  ]),
);

for (const store of STORES)
  describe(store, () => {
    for (const [name, body] of CASES)
      longScenario(name, async (world) => {
        const place = await openPlace(store);
        const came = results[store];
        if (place === undefined || came === undefined) return;
        came[name] = 'failed';
        try {
          came[name] = (await body(world, place)) ?? '–';
        } finally {
          await place.door?.close();
        }
      });
  });

/** Breaks the store while a request is on its way: the run waits for it, and comes to its end. */
async function inMidRun(
  world: World,
  { env, door }: Place,
  befall: (door: Door) => Promise<void>,
): Promise<string | undefined> {
  if (door === undefined) return undefined;
  const gate = await world.gate();
  const hold = gate.hold('answer', { method: 'POST', path: /retry-policies/ });
  const running = world.start(APPLY, { env });
  await reached(hold, running);
  const befallen = befall(door);
  hold.release();
  const [outcome] = await Promise.all([running.ended, befallen]);
  expect(outcome.exit, told(outcome)).toBe(0);
  await settled(world, env);
  return 'goes on';
}

/** Waits for a run to come that far; throws where it ends before. */
async function reached(hold: Hold, { ended }: Running): Promise<void> {
  const early = ended.then((outcome) => {
    throw new Error(`it ended before: ${told(outcome)}`);
  });
  await Promise.race([hold.reached, early]);
  early.catch(() => {});
}

async function refused(world: World, env: Env | undefined): Promise<string | undefined> {
  if (env === undefined) return undefined;
  const before = world.writes().length;
  expectTold(await world.start(APPLY, { env }).ended);
  expect(world.writes().length).toBe(before);
  return 'refused';
}

function expectTold(outcome: Outcome): void {
  expect(outcome.exit, told(outcome)).toBe(1);
  expect(outcome.err).toMatch(/^Error: /m);
  expect(outcome.err).not.toMatch(/\n\s+at /);
}

async function settled(world: World, env: Env): Promise<string> {
  await world.apply([], { env });
  expect(inventory(world.sim)).toEqual(WHOLE);
  return 'right';
}

function greeting({ sim, agent }: World) {
  return sim.store.agents.get(agent('Front desk'))?.record.greeting_message;
}
