import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { apply } from '../../../src/console/apply.ts';
import type { Context } from '../../../src/console/context.ts';
import { splitCommands } from '../../../src/core/command-line.ts';
import { Origin } from '../../../src/core/origin.ts';
import { openDatabase } from '../../../src/features/stores/postgres/database.ts';
import { realDisk } from '../../../src/state/file/disk.ts';
import { RELEASED } from '../../../src/state/lock.ts';
import { openStage, type Stage } from '../../apply/stage.ts';
import { STATE, stateCommands } from '../../cli/state-stage.ts';
import { CANARIES, FINGERPRINT_KEY } from '../../e2e/clinic.ts';
import { runHere } from '../../e2e/in-process.ts';
import { type Servers, startServers } from '../../state/tamper/places.ts';
import { PASSWORD as HTTP_PASSWORD, USERNAME } from './http-server.ts';
import { PASSWORD as PG_PASSWORD } from './postgres-server.ts';
import { BUCKET, KEY_ID, SECRET } from './s3-server.ts';

/** Stores that answer each write as done and keep nothing: all writes, or those of a new state. */

let servers: Servers;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers.stop());

type Lost = 'every write' | 'new states';

type Forgetful = {
  readonly env: Readonly<Record<string, string>>;
  readonly outside?: Pick<Context, 'disk'>;
  /** From now on it keeps nothing of that; undefined: it keeps everything. */
  readonly lose: (what: Lost | undefined) => Promise<void>;
  /** How often its document was read so far; undefined where that is not counted. */
  readonly reads?: () => number;
};

let count = 0;
const nextName = (): string => {
  count += 1;
  return `unkept_${count}`;
};

const readsOf = (requests: readonly string[], path: string) =>
  requests.filter((one) => one === `GET ${path}`).length;

/** A document as if the release of its lock had been kept: the process that held it goes on here. */
function released(text = '{}'): string {
  const { ticket, ...document } = JSON.parse(text);
  return JSON.stringify({ ...document, ticket: ticket && { ...ticket, beat: RELEASED } });
}

/** Loses documents. One with another state than the document before it is a new state. */
function documentLoser(what: Lost | undefined, current: () => string | undefined) {
  if (what === undefined) return () => false;
  const stateIn = (text: string) => JSON.stringify(JSON.parse(text).state);
  return (text: string) =>
    what === 'every write' || stateIn(text) !== stateIn(current() ?? '{"state":null}');
}

const STORES: Readonly<Record<string, (stage: Stage) => Promise<Forgetful>>> = {
  async file({ folder }) {
    let lost: Lost | undefined;
    const path = join(folder, STATE);
    const disk = {
      ...realDisk,
      rename: async (from: string, to: string) =>
        lost !== undefined && (to === path || lost === 'every write')
          ? realDisk.remove(from)
          : realDisk.rename(from, to),
      openEnd: async (...given: Parameters<typeof realDisk.openEnd>) => {
        const end = await realDisk.openEnd(...given);
        return {
          ...end,
          append: async (text: string) => lost === 'every write' || end.append(text),
        };
      },
    };
    return {
      env: {},
      outside: { disk: disk as typeof realDisk },
      async lose(what) {
        lost = what;
      },
    };
  },

  async HTTP() {
    const path = `/plain/${nextName()}`;
    const shelf = servers.http.shelfOf(path);
    return {
      env: {
        CALLSHEET_STATE: `${servers.http.origin}${path}`,
        CALLSHEET_STATE_USERNAME: USERNAME,
        CALLSHEET_STATE_PASSWORD: HTTP_PASSWORD,
      },
      async lose(what) {
        shelf.forgets = documentLoser(what, () => shelf.text);
        if (what === undefined) shelf.text = released(shelf.text);
      },
      reads: () => readsOf(servers.http.requests, path),
    };
  },

  async S3() {
    const key = `${nextName()}/state.json`;
    const { s3 } = servers;
    return {
      env: {
        CALLSHEET_STATE: `s3://${BUCKET}/${key}?endpoint=${s3.endpoint}`,
        AWS_ACCESS_KEY_ID: KEY_ID,
        AWS_SECRET_ACCESS_KEY: SECRET,
        AWS_REGION: 'eu-central-1',
      },
      async lose(what) {
        s3.forgets.set(
          key,
          documentLoser(what, () => s3.objects.get(key)),
        );
        if (what === undefined) s3.objects.set(key, released(s3.objects.get(key)));
      },
      reads: () => readsOf(s3.requests, `/${BUCKET}/${key}`),
    };
  },

  async PostgreSQL() {
    const stack = nextName();
    // Stages have the same ids: in one database their stacks would overlap.
    await servers.postgres.createDatabase(stack);
    const url = servers.postgres.url(stack);
    const env = { CALLSHEET_STATE_PASSWORD: PG_PASSWORD };
    const database = await openDatabase(Origin.given(url), env, 30_000);
    onTestFinished(() => database.close());
    const run = (text: string) => database.query(text, []);
    return {
      env: { ...env, CALLSHEET_STATE: `${url}?stack=${stack}` },
      async lose(what) {
        await run(`drop trigger if exists lose on callsheet.stack`);
        if (what === undefined) return;
        await run(
          `create or replace function lose() returns trigger language plpgsql as
             'begin return old; end'`,
        );
        const when = what === 'new states' ? 'new.head is distinct from old.head' : 'true';
        await run(
          `create trigger lose before update on callsheet.stack
             for each row when (${when}) execute function lose()`,
        );
      },
    };
  },
};

/** A change of these is one write: what a lost one replaces is still there. */
const DOCUMENTS: Readonly<Record<string, true>> = { HTTP: true, S3: true };

const ROWS = Object.entries(STORES).flatMap(([store, open]) =>
  (['every write', 'new states'] as const).map((lost) => [store, lost, open] as const),
);

test.each(ROWS)('a store (%s) that keeps nothing of %s is found out', async (store, lost, open) => {
  const stage = await openStage();
  onTestFinished(() => stage.close());
  const { env, outside = {}, lose } = await open(stage);
  await stage.apply({}, { env, outside });
  const before = await stateCommands(stage).pull({ env });
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await lose(lost);
  const sent = stage.writes().length;
  const { err: reported } = await applyOnce(stage, { env, outside, exit: [1, 6] });
  await lose(undefined);
  if (store in DOCUMENTS) expect((await stateCommands(stage).pull({ env })).out).toBe(before.out);
  const command = splitCommands(reported).find(({ isCommand }) => isCommand)?.text ?? '';
  if (stage.writes().length === sent) {
    // It was found out before anything was sent to the platform.
    await stage.apply({}, { env });
    return;
  }
  expect(command, reported).toMatch(/^callsheet state push --overwrite /);
  const { exit, err } = await runHere(command.split(' ').slice(1), {
    cwd: stage.folder,
    env: {
      ...CANARIES,
      PATH: process.env.PATH,
      CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
      ...env,
    },
  });
  expect([exit, err]).toEqual([0, expect.anything()]);
  const kept = JSON.parse((await stateCommands(stage).pull({ env })).out);
  expect(kept.serial).toBeGreaterThan(JSON.parse(before.out).serial);
  const sentAgain = stage.writes().length;
  expect((await stage.plan({}, { env })).changes).toEqual([]);
  await stage.apply({}, { env });
  expect(stage.writes().length).toBe(sentAgain);
});

/** Applies without the second plan, which reads the store, too. */
function applyOnce(stage: Stage, options: Parameters<Stage['run']>[1]): ReturnType<Stage['run']> {
  const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
  return stage.run((to) => apply(undefined, flags, to), options);
}

test.each(['HTTP', 'S3'])('an apply asks an honest store (%s) once more', async (store) => {
  const stage = await openStage();
  onTestFinished(() => stage.close());
  const { env, reads = () => 0 } = (await STORES[store]?.(stage)) ?? { env: {} };
  await stage.apply({}, { env });
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  const before = reads();
  await applyOnce(stage, { env });
  expect(reads() - before).toBe(6);
});
