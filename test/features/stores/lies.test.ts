import {
  Agent,
  createServer as createHttpServer,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CallsheetError } from '../../../src/core/errors.ts';
import { Origin } from '../../../src/core/origin.ts';
import { httpPlace } from '../../../src/features/stores/http/store.ts';
import { openDatabase } from '../../../src/features/stores/postgres/database.ts';
import { postgresRemote } from '../../../src/features/stores/postgres/store.ts';
import { documentRemote } from '../../../src/features/stores/remote/document.ts';
import {
  type Answer,
  type Ask,
  type Exchange,
  openExchange,
} from '../../../src/features/stores/remote/exchange.ts';
import { openRetries } from '../../../src/features/stores/remote/failures.ts';
import { openRemoteStore, type Remote } from '../../../src/features/stores/remote/store.ts';
import { openAwsCredentials } from '../../../src/features/stores/s3/credentials.ts';
import { s3Place } from '../../../src/features/stores/s3/store.ts';
import { formatBeat, type LockEffects, realEffects } from '../../../src/state/lock.ts';
import type { StateStore } from '../../../src/state/store.ts';
import { openStage, type Stage } from '../../apply/stage.ts';
import { CANARIES, FINGERPRINT_KEY } from '../../e2e/clinic.ts';
import { runHere } from '../../e2e/in-process.ts';
import { isTorture, longRows } from '../../long.ts';
import { listening } from '../../platform/secure.ts';
import { began, ended, holder } from '../../state/sample.ts';
import { doRun } from '../../state/stores.ts';
import { PASSWORD, startHttpServer, USERNAME } from './http-server.ts';
import { BUCKET, KEY_ID, SECRET, startS3 } from './s3-server.ts';

/** Against a server that lies every command ends with a reason, after so many requests and milliseconds at most. */
const MOST_REQUESTS = 100;
const MOST_MS = 60_000;

/** Clocks that pass by waiting alone. */
function virtualWorld(): { readonly world: LockEffects; readonly waited: () => number } {
  const start = Date.now();
  let passed = 0;
  const world: LockEffects = {
    ...realEffects(),
    now: () => start + passed,
    steady: () => passed,
    async sleep(milliseconds) {
      passed += milliseconds;
    },
    every: () => () => {},
  };
  return { world, waited: () => passed };
}

/** Two commands, which may take twice as much. */
const TWICE = 'apply, and apply again';

/** What each command does with a store. */
const ALL_COMMANDS: readonly (readonly [string, (store: StateStore) => Promise<unknown>])[] = [
  ['plan', async (store) => [await store.load(), await store.overlaps('account-1', [])]],
  ['apply', (store) => doRun(store, [began('r2', 1), ended()])],
  [
    TWICE,
    async (store) => {
      await doRun(store, [began('r2', 1), ended()]).catch(() => undefined);
      await doRun(store, [began('r3', 2), ended()]);
    },
  ],
  ['state list', (store) => store.load()],
  [
    'state unlock',
    async (store) => {
      const held = await store.lock();
      await store.unlock(held?.lease ?? 'none', holder('r9'));
    },
  ],
  ['runs', (store) => store.runs()],
  ['state repair', (store) => store.salvage()],
];

/** The others read and lock as these do. */
const COMMANDS = longRows(ALL_COMMANDS, ([name]) => name === TWICE);

/** Holds a command to the bounds. */
function expectEnd(name: string, ended: string, requests: number, waited: number): void {
  const times = name === TWICE ? 2 : 1;
  expect(requests, ended).toBeLessThanOrEqual(times * MOST_REQUESTS);
  expect(waited, ended).toBeLessThanOrEqual(times * MOST_MS);
}

/** What a liar answers, who may ask an honest server first. `number` counts from 0. */
type Lie = (ask: Ask, honest: () => Promise<Answer>, number: number) => Promise<Answer>;

const answering =
  (status: number, text = '', headers: Answer['headers'] = {}): Lie =>
  async () => ({ status, text, headers });

/** Lies about what is written alone; reads are honest. */
const onWrites =
  (lie: Lie): Lie =>
  (ask, honest, number) =>
    ask.method === 'GET' ? honest() : lie(ask, honest, number);

const STRANGER = JSON.stringify({ ID: 'stranger', Who: 'x' });

const LIES: { readonly [name: string]: () => Lie } = {
  '200 and nothing': () => answering(200),
  '200 and {}': () => answering(200, '{}', { etag: '"x"' }),
  '200 and the beginning of a document': () =>
    answering(200, '{"format":"callsheet-remote-state","ver'),
  '200 and another document': () => answering(200, '{"version":4,"terraform_version":"1.9.0"}'),
  '200 and what was sent': () => async (ask) => ({
    status: 200,
    text: ask.body ?? '',
    headers: {},
  }),
  '204 for ever': () => answering(204),
  '404 for ever': () => answering(404),
  '409 for ever': () => answering(409, STRANGER),
  '412 for ever': () => answering(412),
  '423 for ever, by a stranger': () => answering(423, STRANGER),
  '423 for ever, by another stranger each time': () => async (_, __, number) => ({
    status: 423,
    text: JSON.stringify({ ID: `stranger-${number}` }),
    headers: {},
  }),
  '423 for ever, by nobody': () => answering(423),
  '423 for ever, by who asks':
    () =>
    async ({ body }) => ({ status: 423, text: body ?? '', headers: {} }),
  '429 for ever': () => answering(429, 'slow down', { 'retry-after': '86400' }),
  '503 for ever': () => answering(503),
  'a redirect for ever': () => answering(307, '', { location: 'https://elsewhere.example.test/' }),
  'writes: 200, and nothing is kept': () => onWrites(answering(200, '', { etag: '"x"' })),
  'writes: 409 for ever': () => onWrites(answering(409, STRANGER)),
  'writes: 412 for ever': () => onWrites(answering(412)),
  'writes: 429 for ever': () => onWrites(answering(429)),
  'writes: done, and answered with 412': () =>
    onWrites(async (_, honest) => {
      await honest();
      return { status: 412, text: '', headers: {} };
    }),
  'writes: done, and answered with 503': () =>
    onWrites(async (_, honest) => {
      await honest();
      return { status: 503, text: '', headers: {} };
    }),
  'another tag each time': () => async (_, honest, number) => {
    const answer = await honest();
    return { ...answer, headers: { ...answer.headers, etag: `"${number}"` } };
  },
  'no tag': () => async (_, honest) => ({ ...(await honest()), headers: {} }),
  'the first version for ever': () => {
    const first = new Map<string, Answer>();
    return async (ask, honest) => {
      const answer = await honest();
      if (ask.method !== 'GET') return answer;
      const known = first.get(ask.url) ?? answer;
      first.set(ask.url, known);
      return known;
    };
  },
  'the version before, each time': () => {
    const before = new Map<string, Answer>();
    return async (ask, honest) => {
      const answer = await honest();
      if (ask.method !== 'GET') return answer;
      const known = before.get(ask.url) ?? answer;
      before.set(ask.url, answer);
      return known;
    };
  },
  'reads: a new lease each time': () => async (ask, honest, number) => {
    const answer = await honest();
    if (ask.method !== 'GET' || !answer.text.includes('"ticket"')) return answer;
    const beat = formatBeat(Date.now() - 3_600_000).trim();
    const owner = { machine: 'elsewhere', pid: 1, started: null };
    const ticket = { id: `lease-${number}`, beat, owner, holder: holder('r7') };
    return { ...answer, text: JSON.stringify({ ...JSON.parse(answer.text), ticket }) };
  },
  'LOCK: 200 to everybody': () => (ask, honest) =>
    ask.method === 'LOCK' ? answering(200)(ask, honest, 0) : honest(),
  'UNLOCK: 200, and the lock stays': () => (ask, honest) =>
    ask.method === 'UNLOCK' ? answering(200)(ask, honest, 0) : honest(),
  'UNLOCK: 500 for ever': () => (ask, honest) =>
    ask.method === 'UNLOCK' ? answering(500)(ask, honest, 0) : honest(),
};

let web: Awaited<ReturnType<typeof startHttpServer>>;
let bucket: Awaited<ReturnType<typeof startS3>>;
beforeAll(async () => {
  [web, bucket] = await Promise.all([startHttpServer(), startS3()]);
});
afterAll(() => Promise.all([web.stop(), bucket.stop()]));

let count = 0;
type Wrap = (honest: Exchange) => Exchange;

/** Opens a place whose requests go through `wrap`. Every view of one place has the same name. */
const STORES: readonly (readonly [string, () => (world: LockEffects, wrap: Wrap) => Remote])[] = [
  [
    'HTTP',
    () => {
      count += 1;
      const address = `${web.origin}/plain/lies-${count}`;
      const who = { username: USERNAME, password: PASSWORD };
      return (world, wrap) => {
        const exchange = wrap(openExchange(30_000, [Origin.given(web.origin)]));
        return documentRemote(
          httpPlace({ address }, who, exchange, world, openRetries(30_000, world)),
        );
      };
    },
  ],
  [
    'S3',
    () => {
      count += 1;
      const place = { bucket: BUCKET, key: `lies-${count}/state.json`, endpoint: bucket.endpoint };
      const env = { AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET };
      return (world, wrap) => {
        const exchange = wrap(openExchange(30_000, [Origin.given(bucket.endpoint)]));
        const region = 'eu-central-1';
        const asking = { env, location: 'there', region, timeout: 30_000, effects: world };
        const credentials = openAwsCredentials(asking);
        return documentRemote(
          s3Place(place, credentials, exchange, openRetries(30_000, world), region),
        );
      };
    },
  ],
];

/** Ends a command that may fail, and says how. */
async function endOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'done';
  } catch (error) {
    if (!(error instanceof CallsheetError)) throw error;
    expect(error.message).toMatch(/^\S/);
    return error.code;
  }
}

describe.each(STORES)('a server that lies (%s)', (_, newPlace) => {
  describe.each(Object.entries(LIES))('%s', (__, newLie) => {
    test.each(COMMANDS)('%s comes to an end', async (name, command) => {
      const open = newPlace();
      const honest = openRemoteStore(
        open(realEffects(), (one) => one),
        realEffects(),
      );
      await doRun(honest);
      await honest.close();
      const { world, waited } = virtualWorld();
      const lie = newLie();
      let requests = 0;
      const store = openRemoteStore(
        open(world, ({ send, close }) => ({
          send(ask) {
            requests += 1;
            // What has no end is not waited for here.
            if (requests > 10 * MOST_REQUESTS) throw new Error('it goes on and on');
            return lie(ask, () => send(ask), requests - 1);
          },
          close,
        })),
        world,
      );
      const ended = await endOf(() => command(store));
      await endOf(() => store.close());
      expectEnd(name, ended, requests, waited());
    });
  });
});

/** A server that answers with a body that has no end. */
async function startEndless(): Promise<string> {
  const piece = ' '.repeat(1024 * 1024);
  const server = createHttpServer((_, response) => {
    response.writeHead(200, { etag: '"x"' });
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more);
    more();
  });
  return `http://127.0.0.1:${await listening(server)}`;
}

test.each(['HTTP', 'S3'])('a body without an end comes to one (%s)', async (name) => {
  const origin = await startEndless();
  const { world } = virtualWorld();
  const exchange = openExchange(30_000, [Origin.given(origin)]);
  const retries = openRetries(30_000, world);
  const asking = {
    env: { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y' },
    location: 'there',
    region: 'r',
    timeout: 1,
    effects: world,
  };
  const place =
    name === 'HTTP'
      ? httpPlace(
          { address: `${origin}/x` },
          { username: 'u', password: 'p' },
          exchange,
          world,
          retries,
        )
      : s3Place(
          { bucket: 'b', key: 'k', endpoint: origin },
          openAwsCredentials(asking),
          exchange,
          retries,
          'r',
        );
  const store = openRemoteStore(documentRemote(place), world);
  onTestFinished(() => store.close());
  await expect(store.load()).rejects.toThrow(/more than 128 MB/);
});

/** Messages of PostgreSQL's protocol. */
function message(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
const READY = message('Z', Buffer.from('I'));
const BOUND = Buffer.concat([message('1'), message('2')]);
const done = (tag: string) => message('C', Buffer.from(`${tag}\0`));
const columns = (...names: readonly string[]) => {
  const size = Buffer.alloc(2);
  size.writeInt16BE(names.length);
  const one = (name: string) => {
    const rest = Buffer.alloc(18);
    // A text.
    rest.writeInt32BE(25, 6);
    rest.writeInt16BE(-1, 10);
    return Buffer.concat([Buffer.from(`${name}\0`), rest]);
  };
  return message('T', Buffer.concat([size, ...names.map(one)]));
};
const row = (...values: readonly string[]) => {
  const size = Buffer.alloc(2);
  size.writeInt16BE(values.length);
  const one = (value: string) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(Buffer.byteLength(value));
    return Buffer.concat([length, Buffer.from(value)]);
  };
  return message('D', Buffer.concat([size, ...values.map(one)]));
};
const failure = (code: string) => message('E', Buffer.from(`SERROR\0C${code}\0Mno\0\0`));

/** What a liar answers to each statement; the socket is its to use. */
const POSTGRES: { readonly [name: string]: (socket: Socket) => void } = {
  'done, without rows': (socket) =>
    socket.write(Buffer.concat([BOUND, message('n'), done('SELECT 0'), READY])),
  'one row of other columns': (socket) =>
    socket.write(Buffer.concat([BOUND, columns('x'), row('1'), done('SELECT 1'), READY])),
  'one row that says yes to everything': (socket) => {
    const names = [
      'there',
      'row',
      'version',
      'is_row',
      'what',
      'name',
      'text',
      'part',
      'ticket',
      'beat',
      'head',
      'run',
    ];
    const values = [
      't',
      '{"version":3}',
      '{"version":3}',
      't',
      'head',
      'x',
      '{',
      '0',
      '{}',
      'x',
      '{',
      'r1',
    ];
    socket.write(
      Buffer.concat([BOUND, columns(...names), row(...values), done('SELECT 1'), READY]),
    );
  },
  'a failure that passes, for ever': (socket) =>
    socket.write(Buffer.concat([failure('57P03'), READY])),
  'a failure that stays': (socket) => socket.write(Buffer.concat([failure('42501'), READY])),
  'an end': (socket) => socket.destroy(),
  'no message of the protocol': (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'rows without an end': (socket) => {
    socket.write(Buffer.concat([BOUND, columns('text')]));
    const piece = Buffer.concat(Array.from({ length: 16 }, () => row('x'.repeat(64 * 1024))));
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    more();
  },
};

const SYNC = message('S').toString('latin1');

async function startPostgresLiar(lie: (socket: Socket) => void) {
  let statements = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', Buffer.alloc(4)), READY]));
      socket.on('data', (bytes: Buffer) => {
        // Each statement ends with Sync, or is a simple one.
        const text = bytes.toString('latin1');
        const ends = text.split(SYNC).length - 1 + (text.startsWith('Q\0') ? 1 : 0);
        for (let end = 0; end < ends; end += 1) {
          statements += 1;
          lie(socket);
        }
      });
    });
  });
  return { port: await listening(server), statements: () => statements };
}

describe.each(Object.entries(POSTGRES))('a server that lies (PostgreSQL): %s', (name, lie) => {
  test.each(COMMANDS)('%s comes to an end', async (asked, command) => {
    const { port, statements } = await startPostgresLiar(lie);
    const { world, waited } = virtualWorld();
    const at = Origin.given(`postgres://u@127.0.0.1:${port}/d?sslmode=disable`);
    const database = await openDatabase(at, { CALLSHEET_STATE_PASSWORD: 'p' }, 5_000, 1);
    const remote = postgresRemote(database, 's', 'postgres://there#s', openRetries(5_000, world));
    const store = openRemoteStore(remote, world);
    const ended = await endOf(() => command(store));
    await endOf(() => store.close());
    if (name === 'rows without an end') expect(ended).toBe('state');
    expectEnd(asked, ended, statements(), waited());
  });
});

/** Command lines, in the order in which somebody may type them. */
const LINES: readonly (readonly string[])[] = [
  ['plan'],
  ['apply', '--auto-approve'],
  ['state', 'list'],
  ['state', 'unlock'],
  ['state', 'unlock', 'stranger'],
];

/** A server before an honest one, which may lie from some moment on. */
async function startLiar(port: number) {
  const told = { lie: undefined as Lie | undefined, requests: 0 };
  const agent = new Agent({ keepAlive: true });
  const honestly = (request: IncomingMessage, body: string): Promise<Answer> => {
    const { method, url: path, headers } = request;
    const ask = { host: '127.0.0.1', port, method, path, headers, agent };
    return new Promise((resolve, reject) => {
      const passed = requestHttp(ask, async (answer) => {
        const { statusCode: status = 0, headers } = answer;
        resolve({ status, headers, text: await text(answer) });
      });
      passed.on('error', reject).end(body);
    });
  };
  const server = createHttpServer(async (request, response) => {
    const body = await text(request);
    const honest = () => honestly(request, body);
    const ask: Ask = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: {},
      ...(body === '' ? {} : { body }),
    };
    told.requests += 1;
    const answer = await (told.lie?.(ask, honest, told.requests - 1) ?? honest());
    const { 'content-length': _, 'transfer-encoding': __, ...headers } = answer.headers;
    response.writeHead(answer.status, headers).end(answer.status === 204 ? '' : answer.text);
  });
  onTestFinished(() => agent.destroy());
  return { port: await listening(server), told };
}

/** A port is another server's once a test is over; what lies in the bucket stays with its stack. */
let states = 0;

function nameState(): string {
  states += 1;
  return `lies-${states}`;
}

/** Environment of a new state at that port, with little patience. */
const PLACES: { readonly [store: string]: (port: number) => Readonly<Record<string, string>> } = {
  HTTP: (port) => ({
    CALLSHEET_STATE: `http://127.0.0.1:${port}/plain/lies-${port}`,
    CALLSHEET_STATE_USERNAME: USERNAME,
    CALLSHEET_STATE_PASSWORD: PASSWORD,
  }),
  S3: (port) => ({
    CALLSHEET_STATE: `s3://${BUCKET}/${nameState()}/state.json?endpoint=http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: KEY_ID,
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_REGION: 'eu-central-1',
  }),
  PostgreSQL: (port) => ({
    CALLSHEET_STATE: `postgres://u@127.0.0.1:${port}/d?stack=desk`,
    CALLSHEET_STATE_PASSWORD: PASSWORD,
  }),
};

/** Types each command line, and holds it to the bounds. `count` says how often the store was asked by then. */
async function typeLines(
  stage: Stage,
  place: Readonly<Record<string, string>>,
  count: () => number,
): Promise<readonly string[]> {
  const { sim } = stage;
  const env = {
    ...CANARIES,
    PATH: process.env.PATH,
    CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
    CALLSHEET_BASE_URL: sim.url,
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    CALLSHEET_STATE_TIMEOUT: '1',
    ...place,
  };
  const ends: string[] = [];
  for (const line of LINES) {
    const [before, began] = [count(), performance.now()];
    const { exit, out, err } = await runHere(line, { cwd: stage.folder, env });
    const [requests, ms] = [count() - before, Math.round(performance.now() - began)];
    const how = `${line.join(' ')}: ${exit}, ${requests} requests, ${ms} ms`;
    ends.push(how);
    const said = `${how}\n${out}${err}`;
    expect(said).not.toMatch(/itself failed|TypeError|\n +at /);
    expect(`${out}${err}`.trim(), said).not.toBe('');
    if (exit !== 0) expect(err, said).toMatch(/^Error: .+\n\S/m);
    expect(requests, said).toBeGreaterThan(0);
    expect(requests, said).toBeLessThanOrEqual(MOST_REQUESTS);
    expect(ms, said).toBeLessThanOrEqual(MOST_MS);
  }
  expect(stage.leaks()).toEqual([]);
  return ends;
}

async function openEdited(env: Readonly<Record<string, string>>): Promise<Stage> {
  const stage = await openStage();
  onTestFinished(() => stage.close());
  await stage.apply({}, { env });
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  return stage;
}

/** Lies after which a command waits: for a second before it gives up, or for a lock to be given up. */
const WAITED = new Set([
  '429 for ever',
  '503 for ever',
  'writes: 409 for ever',
  'writes: 429 for ever',
  'writes: done, and answered with 503',
  'no tag',
  'reads: a new lease each time',
  'a failure that passes, for ever',
  'an end',
  'no message of the protocol',
  'rows without an end',
]);

/** Every second lie at one store; `npm run torture` takes each at both, and those that are waited for. */
const LYING = Object.entries(LIES).flatMap(([lie, open], at) =>
  ['HTTP', 'S3'].map((store, other) => ({
    lie,
    open,
    store,
    isShort: at % 4 === 2 * other && !WAITED.has(lie),
  })),
);

const LYING_DATABASES = longRows(Object.entries(POSTGRES), ([lie]) => !WAITED.has(lie));

describe('whatever a server says, a command line ends with a reason', () => {
  const rows = longRows(LYING, ({ isShort }) => isShort);
  test.each(rows)('$store: $lie', async ({ lie, open, store }) => {
    const liar = await startLiar(store === 'HTTP' ? web.port : bucket.port);
    const place = PLACES[store]?.(liar.port) ?? {};
    const stage = await openEdited(place);
    [liar.told.lie, liar.told.requests] = [open(), 0];
    const ends = await typeLines(stage, place, () => liar.told.requests);
    if (isTorture) process.stdout.write(`${store}, ${lie}: ${ends.join('; ')}\n`);
  });

  test.each(LYING_DATABASES)('PostgreSQL: %s', async (lie, answer) => {
    const { port, statements } = await startPostgresLiar(answer);
    const stage = await openStage();
    onTestFinished(() => stage.close());
    const ends = await typeLines(stage, PLACES.PostgreSQL?.(port) ?? {}, statements);
    if (isTorture) process.stdout.write(`PostgreSQL, ${lie}: ${ends.join('; ')}\n`);
  });
});
