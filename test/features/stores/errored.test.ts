import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { apply } from '../../../src/console/apply.ts';
import type { Context } from '../../../src/console/context.ts';
import { splitCommands } from '../../../src/core/command-line.ts';
import { Origin } from '../../../src/core/origin.ts';
import { openDatabase } from '../../../src/features/stores/postgres/database.ts';
import { realDisk } from '../../../src/state/file/disk.ts';
import { openStage, type Stage } from '../../apply/stage.ts';
import { STATE, stateCommands } from '../../cli/state-stage.ts';
import { CANARIES, FINGERPRINT_KEY } from '../../e2e/clinic.ts';
import { runHere } from '../../e2e/in-process.ts';
import { coveringRows } from '../../long.ts';
import { type Servers, startServers } from '../../state/tamper/places.ts';
import { PASSWORD as HTTP_PASSWORD, type StoreFault, USERNAME } from './http-server.ts';
import { PASSWORD as PG_PASSWORD } from './postgres-server.ts';
import { BUCKET, KEY_ID, SECRET } from './s3-server.ts';

/** Stores that fail in a write of a run: each store × the write × how it fails × the way on that is taken. */

let servers: Servers;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers.stop());

/** The last write of a run has its state; a batch before it has what became of a request. */
type Write = 'last write' | 'batch';

type Failing = {
  readonly env: Readonly<Record<string, string>>;
  readonly outside?: Pick<Context, 'disk'>;
  /** From now on that write fails; undefined: none does. */
  readonly fail: (what: Write | undefined, how: StoreFault) => Promise<void>;
};

let count = 0;
const nextName = (): string => {
  count += 1;
  return `errored_${count}`;
};

const OUTCOME = '"type":"outcome"';
const FULL = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });

const STORES: Readonly<Record<string, (stage: Stage) => Promise<Failing>>> = {
  async file({ folder }) {
    let failing: Write | undefined;
    const path = join(folder, STATE);
    const disk = {
      ...realDisk,
      rename: async (from: string, to: string) => {
        if (failing === 'last write' && to === path) throw FULL;
        await realDisk.rename(from, to);
      },
      openEnd: async (...given: Parameters<typeof realDisk.openEnd>) => {
        const end = await realDisk.openEnd(...given);
        return {
          ...end,
          append: async (text: string) => {
            if (failing === 'batch' && text.includes(OUTCOME)) throw FULL;
            await end.append(text);
          },
        };
      },
    };
    return {
      env: {},
      outside: { disk: disk as typeof realDisk },
      async fail(what) {
        failing = what;
      },
    };
  },

  async http() {
    const path = `/plain/${nextName()}`;
    const shelf = servers.http.shelfOf(path);
    const stateIn = (text: string) => JSON.stringify(JSON.parse(text).state);
    return {
      env: {
        CALLSHEET_STATE: `${servers.http.origin}${path}`,
        CALLSHEET_STATE_USERNAME: USERNAME,
        CALLSHEET_STATE_PASSWORD: HTTP_PASSWORD,
      },
      async fail(what, how) {
        const before = what && stateIn(shelf.text ?? '');
        const isMeant = (text: string) =>
          what === 'batch'
            ? text.includes(JSON.stringify(OUTCOME).slice(1, -1))
            : stateIn(text) !== before;
        shelf.fails = what && ((text) => (isMeant(text) ? how : undefined));
      },
    };
  },

  async s3() {
    const key = `${nextName()}/state.json`;
    const { s3 } = servers;
    return {
      env: {
        CALLSHEET_STATE: `s3://${BUCKET}/${key}?endpoint=${s3.endpoint}`,
        AWS_ACCESS_KEY_ID: KEY_ID,
        AWS_SECRET_ACCESS_KEY: SECRET,
        AWS_REGION: 'eu-central-1',
      },
      async fail(what, how) {
        s3.fails = (name, text) => {
          if (!name.startsWith(`${key}.parts/`)) return undefined;
          const isMeant =
            what === 'batch' ? text.includes(OUTCOME) : text.startsWith('{"checksum":');
          return what !== undefined && isMeant ? how : undefined;
        };
      },
    };
  },

  async postgres() {
    const stack = nextName();
    await servers.postgres.createDatabase(stack);
    const url = servers.postgres.url(stack);
    const env = { CALLSHEET_STATE_PASSWORD: PG_PASSWORD };
    const database = await openDatabase(Origin.given(url), env, 30_000);
    onTestFinished(() => database.close());
    const run = (text: string) => database.query(text, []);
    return {
      env: { ...env, CALLSHEET_STATE: `${url}?stack=${stack}` },
      async fail(what, how) {
        await run('drop trigger if exists fail on callsheet.stack');
        await run('drop trigger if exists fail on callsheet.journal');
        if (what === undefined) return;
        const code = how === 'cuts' ? '57P01' : '53100';
        await run(
          `create or replace function fail() returns trigger language plpgsql as
             'begin raise exception ''no'' using errcode = ''${code}''; end'`,
        );
        const on = {
          'last write': 'update on callsheet.stack for each row when (new.head <> old.head)',
          batch: `insert on callsheet.journal for each row when (new.text like '%${OUTCOME}%')`,
        };
        await run(`create trigger fail before ${on[what]} execute function fail()`);
      },
    };
  },
};

/** A database and a file keep what they had; of a server's only copy a full disk leaves half. */
const FAULTS: Readonly<Record<string, readonly StoreFault[]>> = {
  file: ['refuses'],
  http: ['refuses', 'cuts', 'truncates'],
  s3: ['refuses', 'cuts'],
  postgres: ['refuses', 'cuts'],
};

const ROWS = Object.entries(FAULTS).flatMap(([store, faults]) =>
  faults.flatMap((fault) =>
    (['last write', 'batch'] as const).flatMap((write) =>
      (['push', 'again'] as const).map((way) => ({ store, fault, write, way })),
    ),
  ),
);

const TAKEN = coveringRows(ROWS, ({ store, fault, write, way }) => [
  `${store} ${fault}`,
  write,
  way,
]);

test.each(TAKEN)('$store that $fault the $write of a run loses no state: $way', async (row) => {
  const { store, fault, write, way } = row;
  const stage = await openStage();
  onTestFinished(() => stage.close());
  const { env: own, outside = {}, fail } = (await STORES[store]?.(stage)) ?? raise(store);
  const env = { ...own, CALLSHEET_STATE_TIMEOUT: '1' };
  await stage.apply({}, { env, outside });
  const before = JSON.parse((await stateCommands(stage).pull({ env })).out);
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await fail(write, fault);
  const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
  const { err } = await stage.run((to) => apply(undefined, flags, to), { env, outside, exit: 1 });
  await fail(undefined, fault);
  expect(await copies(stage)).toEqual(['errored.callsheet-state']);
  const told = commandIn(err);
  expect(told, err).toMatch(/^callsheet state push --overwrite .*errored\.callsheet-state/);
  const isLost = fault === 'truncates';
  // The next run refuses a store that lost its state, with the same way on, and recovers in any other.
  if (isLost || way === 'push') {
    if (isLost) {
      const next = await stage.run((to) => apply(undefined, flags, to), { env, outside, exit: 1 });
      expect(commandIn(next.err), next.err).toBe(told);
    }
    const { exit, err: pushed } = await type(told, stage, env);
    expect([exit, pushed]).toEqual([0, expect.anything()]);
    expect(await copies(stage)).toEqual([]);
  }
  await stage.apply({}, { env, outside });
  const kept = JSON.parse((await stateCommands(stage).pull({ env })).out);
  expect(kept.lineage).toBe(before.lineage);
  expect(kept.serial).toBeGreaterThan(before.serial);
  expect(Object.keys(kept.resources)).toEqual(Object.keys(before.resources));
  expect(await copies(stage)).toEqual([]);
  const sent = stage.writes().length;
  await stage.apply({}, { env, outside });
  expect(stage.writes().length).toBe(sent);
});

test('a copy that is later than the store is not passed over', async () => {
  const stage = await openStage();
  onTestFinished(() => stage.close());
  const { env, fail } = (await STORES.http?.(stage)) ?? raise('http');
  await stage.apply({}, { env });
  const shelf = servers.http.shelfOf(new URL(env.CALLSHEET_STATE ?? '').pathname);
  const earlier = shelf.text;
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await fail('last write', 'refuses');
  const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
  await stage.run((to) => apply(undefined, flags, to), { env, exit: 1 });
  await fail(undefined, 'refuses');
  shelf.text = earlier;
  const { err } = await stage.run((to) => apply(undefined, flags, to), { env, exit: 1 });
  expect(err).toMatch(/has serial 1; serial 2 is kept in/);
  expect((await type(commandIn(err), stage, env)).exit).toBe(0);
  await stage.apply({}, { env });
});

const copies = async ({ folder }: Stage) =>
  (await readdir(folder)).filter((name) => name.endsWith('.callsheet-state'));

const commandIn = (text: string): string =>
  splitCommands(text).find(({ isCommand, text: one }) => isCommand && one.includes('push'))?.text ??
  '';

const type = (command: string, { folder }: Stage, env: Readonly<Record<string, string>>) =>
  runHere(command.replaceAll("'", '').split(' ').slice(1), {
    cwd: folder,
    env: {
      ...CANARIES,
      PATH: process.env.PATH,
      CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
      ...env,
    },
  });

function raise(name: string): never {
  throw new Error(`no store ${name}`);
}
