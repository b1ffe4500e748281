import { once } from 'node:events';
import { chmod, chown, copyFile, stat } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Origin } from '../../../src/core/origin.ts';
import {
  type Database,
  findReason,
  openDatabase,
} from '../../../src/features/stores/postgres/database.ts';
import type { JournalEntry } from '../../../src/state/journal.ts';
import { longRows } from '../../long.ts';
import { began, failureOf, holder, intent } from '../../state/sample.ts';
import { type Door, openDoor, type Standing } from './bad/door.ts';
import { openGiven } from './open-given.ts';
import { PASSWORD, startPostgres, USER } from './postgres-server.ts';

/**
 * Whatever a server does to a connection, what waits for it fails with a reason, the next call works, and nothing is
 * thrown that nobody catches: that would end the run of these tests.
 */

vi.setConfig({ testTimeout: 60_000 });

const ENV = { CALLSHEET_STATE_PASSWORD: PASSWORD };
const TLS = join(import.meta.dirname, '../../platform/tls');
const CONNECTIONS = 4;

let server: Awaited<ReturnType<typeof startPostgres>>;
let door: Door;
let admin: Database;

beforeAll(async () => {
  server = await startPostgres();
  door = await openDoor(server.port);
  admin = await open(server.url(), 30_000);
});
afterAll(async () => {
  await admin.close();
  await door.close();
  await server.stop();
});

function open(
  url: string,
  patience: number,
  env: Readonly<Record<string, string>> = ENV,
): Promise<Database> {
  return openDatabase(Origin.given(url), env, patience);
}

/** Why it failed, as messages put it. */
async function reasonFor(work: Promise<unknown>) {
  return findReason(
    await work.then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
}

test('a restart of a second and a half fails no stack at its start', async () => {
  const url = server.url();
  const startAgain = await server.end('SIGINT');
  const back = new Promise((resolve) => setTimeout(resolve, 1_500)).then(startAgain);
  const loads = Array.from({ length: 20 }, async (_, at) => {
    const store = openGiven({ postgres: { url, stack: `start-${at}` } }, ENV);
    try {
      return await store.load().then(() => 'read');
    } catch (error) {
      return error instanceof Error ? error.message : error;
    } finally {
      await store.close();
    }
  });
  const ends = await Promise.all(loads);
  await back;
  expect(ends.filter((end) => end !== 'read')).toEqual([]);
});

const others = `from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'`;

async function turnDoor(to: Standing): Promise<void> {
  await door.turn(to);
}

type Fault = {
  readonly strike: () => Promise<unknown>;
  readonly mend?: () => Promise<unknown>;
  readonly patience: number;
  readonly isTimeout?: boolean;
};

const FAULTS: { readonly [name: string]: Fault } = {
  'ends the connections': {
    strike: () => admin.query(`select pg_terminate_backend(pid) ${others}`, []),
    patience: 30_000,
  },
  'is restarted': { strike: () => server.restart('SIGINT'), patience: 30_000 },
  'is stopped at once': { strike: () => server.restart('SIGQUIT'), patience: 30_000 },
  'is killed': { strike: () => server.restart('SIGKILL'), patience: 30_000 },
  'cannot be reached any more': {
    strike: () => turnDoor('shut'),
    mend: () => turnDoor('open'),
    patience: 30_000,
  },
  'sends half an answer': {
    strike: () => turnDoor('torn'),
    mend: () => turnDoor('open'),
    patience: 700,
  },
  'falls silent': {
    strike: () => turnDoor('silent'),
    mend: () => turnDoor('open'),
    patience: 700,
    isTimeout: true,
  },
};

/** What is under way when it happens. */
const WORK: {
  readonly [name: string]: (database: Database, strike: () => Promise<unknown>) => Promise<unknown>;
} = {
  'a query': (database, strike) => struck(database.query('select pg_sleep(60)', []), strike),
  'several statements at once': (database, strike) =>
    struck(
      database.query('begin; insert into kept values (1); select pg_sleep(60); commit', []),
      strike,
    ),
  'a transaction between two statements': (database, strike) =>
    database.transaction('write', async (query) => {
      await query('insert into kept values ($1::int)', [1]);
      await strike();
      await query('insert into kept values ($1::int)', [2]);
    }),
  'a transaction whose caller goes on after a failure': (database, strike) =>
    database.transaction('write', async (query) => {
      await query('insert into kept values ($1::int)', [1]);
      await strike();
      for (const value of [2, 3])
        await query('insert into kept values ($1::int)', [value]).catch(() => undefined);
    }),
};

async function struck(waiting: Promise<unknown>, strike: () => Promise<unknown>) {
  await expect
    .poll(() => admin.query(`select 1 ${others} and query like '%pg_sleep(60)%'`, []))
    .not.toEqual([]);
  // It may fail before the fault has done all that it does.
  const [failed] = await Promise.allSettled([waiting, strike()]);
  if (failed.status === 'rejected') throw failed.reason;
}

async function throughDoor(patience: number): Promise<Database> {
  const database = await open(`postgres://${USER}@127.0.0.1:${door.port}/postgres`, patience);
  onTestFinished(() => database.close());
  return database;
}

describe.each(Object.entries(FAULTS))('a server that %s', (name, fault) => {
  const { strike, mend = async () => {}, patience, isTimeout } = fault;

  // In short every fault and every work, and half of the pairs.
  const nth = Object.keys(FAULTS).indexOf(name);
  const works = longRows(Object.entries(WORK), (_, at) => (at + nth) % 2 === 0);
  test.each(works)('under %s', async (_, work) => {
    await admin.query('create table if not exists kept (value int)', []);
    const database = await throughDoor(patience);
    // There are others, and they lie idle.
    const all = Array.from({ length: CONNECTIONS }, () => database.query('select 1', []));
    await Promise.all(all);
    const reason = await reasonFor(work(database, strike));
    expect(reason).toEqual({
      loss: isTimeout
        ? { words: 'it did not answer in time', isTimeout }
        : { words: expect.stringMatching(/^the connection was lost/), isBroken: true },
    });
    await mend();
    const more = all.map(() => database.query('select value from kept', []));
    expect(await Promise.all(more)).toEqual(all.map(() => []));
  });
});

test('a connection on which something was refused, or that was left in a transaction, is not used again', async () => {
  const database = await open(server.url(), 30_000);
  onTestFinished(() => database.close());
  const pid = async () => (await database.query('select pg_backend_pid() as pid', []))[0]?.pid;
  const first = await pid();
  expect(await pid()).toBe(first);
  expect(await reasonFor(database.query('select 1/0', []))).toMatchObject({
    why: expect.stringContaining('22012'),
  });
  const second = await pid();
  expect(second).not.toBe(first);
  await database.query('begin; select 1', []);
  expect(await pid()).not.toBe(second);
});

test('a database that is closed ends what is under way, and takes nothing more', async () => {
  const database = await openDatabase(Origin.given(server.url()), ENV, 30_000, 0.1);
  const waiting = Array.from({ length: CONNECTIONS + 2 }, () =>
    reasonFor(database.query('select pg_sleep(60)', [])),
  );
  await database.close();
  await database.close();
  const lost = { loss: { words: 'the connection was lost', isBroken: true } };
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => lost));
  expect(await reasonFor(database.query('select 1', []))).toEqual(lost);
});

test('a connection that does not come about in time is told from an answer that does not', async () => {
  const database = await throughDoor(700);
  await turnDoor('silent');
  const reason = await reasonFor(database.query('select 1', []));
  await turnDoor('open');
  const loss = { words: 'it did not answer in time', isTimeout: true, isAtDoor: true };
  expect(reason).toEqual({ loss });
});

test.each(['SIGINT', 'SIGKILL'] as const)(
  'a run goes on while the server is restarted (%s)',
  async (signal) => {
    const stack = `restarted-${signal}`;
    const open = () => openGiven({ postgres: { url: server.url(), stack } }, ENV);
    const store = open();
    onTestFinished(() => store.close());
    const lease = await store.acquire(holder('r1'));
    const written: JournalEntry[] = [began('r1')];
    await lease.append(began('r1'));
    let isOver = false;
    const restarting = server.restart(signal).then(() => {
      isOver = true;
    });
    for (let seq = 1; !isOver; seq += 1) {
      const entry = intent(seq, 'agent.desk');
      await lease.append(entry);
      written.push(entry);
    }
    await restarting;
    const other = open();
    onTestFinished(() => other.close());
    expect((await other.load()).pending).toEqual(written);
  },
);

/** A message as PostgreSQL frames it. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));

const STRANGERS: readonly (readonly [string, Buffer])[] = [
  ['a web server', Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')],
  ['a shell', Buffer.from('SSH-2.0-OpenSSH_9.9\r\n')],
  ['another database', Buffer.from('4a0000000a382e302e333600', 'hex')],
  ['a kind of authentication that nobody knows', message('R', Buffer.from([0, 0, 0, 99]))],
  ['a number that is cut off', message('R', Buffer.from([0]))],
  ['a message that nobody knows', Buffer.concat([AUTHENTICATED, READY, message('?', READY)])],
  [
    'rows that nobody asked for',
    Buffer.concat([AUTHENTICATED, READY, message('D', Buffer.from([0, 1, 0, 0, 0, 9]))]),
  ],
  ['an end', Buffer.concat([AUTHENTICATED, READY])],
  ['nothing', Buffer.alloc(0)],
];
const OTHERS = new Set(['a web server', 'a shell', 'another database']);

test.each(STRANGERS)('what answers with %s is no database', async (name, bytes) => {
  const sockets = new Set<Socket>();
  const stranger = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('data', () => socket.end(bytes));
  }).listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    stranger.close();
  });
  const { port } = stranger.address() as AddressInfo;
  const database = await open(`postgres://x@127.0.0.1:${port}/x`, 5_000);
  onTestFinished(() => database.close());
  for (let time = 0; time < 2; time += 1) {
    const reason = await reasonFor(database.query('select $1::int', [1]));
    const words = reason && ('loss' in reason ? reason.loss.words : reason.why);
    const told = 'the server there is not PostgreSQL';
    // What begins as PostgreSQL does may be one whose connection broke.
    expect(OTHERS.has(name) ? [told] : [told, 'the connection was lost']).toContain(words);
  }
});

/** What a plan says of a store at that address. */
async function refusalOf(url: string, env: Readonly<Record<string, string>> = ENV) {
  const store = openGiven({ postgres: { url, stack: 'desk' } }, env);
  onTestFinished(() => store.close());
  const { code, message, hint } = await failureOf(() => store.load());
  expect(hint).not.toContain('run the same command again');
  return { code, message: message.replaceAll(String(server.port), 'PORT'), hint };
}

describe('who is refused at the door is told why', () => {
  const at = (rest: string, user = USER) => `postgres://${user}@127.0.0.1:${server.port}/${rest}`;

  test('no password, no such database, no user', async () => {
    expect(await refusalOf(at('postgres'), {})).toEqual({
      code: 'state',
      message:
        'cannot open the state postgres://127.0.0.1:PORT/postgres#desk: the password is wrong, or missing (no password is set for user "callsheet")',
      hint: 'Set CALLSHEET_STATE_USERNAME and CALLSHEET_STATE_PASSWORD (or PGUSER and PGPASSWORD).',
    });
    expect((await refusalOf(at('nowhere'))).message).toContain(
      'there is no database of that name (database "nowhere" does not exist)',
    );
    expect((await refusalOf(at('postgres', 'nobody'))).message).toContain('for user "nobody")');
    const url = `postgres://127.0.0.1:${server.port}/postgres`;
    expect(await refusalOf(url)).toEqual({
      code: 'config',
      message: 'no user is set for the database postgres://127.0.0.1:PORT/postgres',
      hint: 'Add the user to the address (postgres://USER@…), or set PGUSER.',
    });
  });

  test.each([
    ['verify_full', 'Use one of disable, require, verify-ca, verify-full.'],
    ['', 'Use one of disable, require, verify-ca, verify-full.'],
    ['constructor', 'Use one of disable, require, verify-ca, verify-full.'],
    ['prefer', 'With prefer the connection can be unencrypted without a warning.'],
  ])('sslmode=%s', async (mode, hint) => {
    expect(await refusalOf(at(`postgres?sslmode=${mode}`))).toEqual({
      code: 'config',
      message: `the address postgres://127.0.0.1:PORT/postgres has sslmode=${mode}`,
      hint: expect.stringContaining(hint),
    });
  });

  test('a server without TLS, and one with a certificate', async () => {
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      const { message, hint } = await refusalOf(at(`postgres?sslmode=${mode}`));
      expect(message).toMatch(/: the server does not offer TLS$/);
      expect(hint).toContain('?sslmode=disable');
    }
    await turnTlsOn();
    const trusting = { ...ENV, SSL_CERT_FILE: join(TLS, 'authority.pem') };
    const named = at('postgres').replace('127.0.0.1', 'localhost');
    const works: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      [at('postgres?sslmode=disable'), ENV],
      [at('postgres?sslmode=require'), ENV],
      [at('postgres?sslmode=verify-ca'), trusting],
      [`${named}?sslmode=verify-full`, trusting],
    ];
    const encrypted: unknown[] = [];
    for (const [url, env] of works) {
      const database = await open(url, 30_000, env);
      onTestFinished(() => database.close());
      const [row] = await database.query(
        'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
        [],
      );
      encrypted.push(row?.ssl);
    }
    expect(encrypted).toEqual([false, true, true, true]);
    const untrusted = await refusalOf(at('postgres?sslmode=verify-ca'));
    expect(untrusted.message).toContain('the certificate of the server is not trusted');
    expect(untrusted.hint).toContain('SSL_CERT_FILE');
    const other = await refusalOf(at('postgres?sslmode=verify-full'), trusting);
    expect(other.message).toContain('the certificate of the server is for another name');
    expect(other.hint).toContain('?sslmode=verify-ca');
  });

  test('an encrypted connection that is ended or falls silent', async () => {
    await turnTlsOn();
    const url = `postgres://${USER}@127.0.0.1:${door.port}/postgres?sslmode=require`;
    for (const name of ['ends the connections', 'is killed', 'falls silent']) {
      const { strike, mend, patience } = FAULTS[name] ?? { strike: async () => {}, patience: 0 };
      const database = await open(url, patience);
      onTestFinished(() => database.close());
      const work = WORK['a transaction between two statements'];
      expect(await reasonFor(work?.(database, strike) ?? Promise.resolve())).toHaveProperty('loss');
      await mend?.();
      expect(await database.query('select 1 as one', [])).toEqual([{ one: 1 }]);
    }
  });
});

async function turnTlsOn(): Promise<void> {
  const { uid, gid } = await stat(server.data);
  for (const file of ['platform.pem', 'platform.key.pem']) {
    const copy = join(server.data, file);
    await copyFile(join(TLS, file), copy);
    await chown(copy, uid, gid);
    await chmod(copy, 0o600);
  }
  await admin.query("alter system set ssl_cert_file = 'platform.pem'", []);
  await admin.query("alter system set ssl_key_file = 'platform.key.pem'", []);
  await admin.query('alter system set ssl = on', []);
  await server.restart('SIGINT');
}

test('a process that stands still in a transaction loses it, and the rows that it locked are free', async () => {
  const database = await open(server.url(), 30_000);
  onTestFinished(() => database.close());
  const [found] = await database.query('show idle_in_transaction_session_timeout', []);
  expect(found).toEqual({ idle_in_transaction_session_timeout: '5s' });
  const stood = database.transaction('write', async (query) => {
    await query('select pg_advisory_xact_lock(7)', []);
    // Sooner, so that the test takes less.
    await query('set local idle_in_transaction_session_timeout = 100', []);
    await admin.query('select pg_advisory_xact_lock(7)', []);
    await query('select 1', []);
  });
  expect(await reasonFor(stood)).toMatchObject({ loss: { words: expect.any(String) } });
  expect(await database.query('select 1 as one', [])).toEqual([{ one: 1 }]);
});
