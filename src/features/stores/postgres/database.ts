import { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import pLimit from 'p-limit';
import type { ClientConfig } from 'pg';
import { CallsheetError, errorMessage, formatSize } from '../../../core/errors.ts';
import { bareAddress, type Origin } from '../../../core/origin.ts';
import { trustFrom } from '../../../platform/trust.ts';
import { MOST_READ_BYTES } from '../../../state/bounds.ts';
import type { Traffic } from '../../../state/store.ts';
import {
  findCode,
  findLoss,
  findRefusal,
  LOST,
  type Loss,
  NOT_CONNECTED,
  NoAnswer,
  refusedByStore,
  TIMED_OUT,
} from '../remote/failures.ts';

/** Tests put theirs in between. */
export type Database = {
  readonly query: Query;
  /** `read`: everything is seen as of one moment. */
  readonly transaction: <T>(
    kind: 'read' | 'write',
    work: (query: Query) => Promise<T>,
  ) => Promise<T>;
  /** Bytes that went over its connections so far. */
  readonly traffic?: () => Traffic;
  readonly close: () => Promise<void>;
};

const CONNECTIONS = 4;
/** The server is to give up first: then it says why. */
const GRACE_MS = 500;
/**
 * A process that is paused between two statements of a transaction keeps its rows locked for as long as it is paused, and
 * stops every other worker of the account at the row of the budget. The server ends its transaction.
 */
const IDLE_MS = 5_000;

/**
 * Connects with the first query. Credentials that the address lacks come from the environment. `timeout`:
 * milliseconds in which each query, and each transaction as a whole, must be answered. When it is closed, what is
 * still under way has so many seconds to end. Throws `CallsheetError('config')` for an address that cannot be used.
 */
export async function openDatabase(
  origin: Origin,
  env: Readonly<Record<string, string | undefined>>,
  timeout: number,
  secondsToEnd = 5,
): Promise<Database> {
  const config = buildConfig(origin, env, timeout);
  const inTurn = pLimit(CONNECTIONS);
  const underWay = new Map<AbortController, Promise<unknown>>();
  let idle: Connection[] = [];
  let isClosed = false;
  const traffic = { sent: 0, read: 0 };

  function dropIdle(): Promise<unknown> {
    const dropped = idle;
    idle = [];
    return Promise.all(dropped.map((connection) => connection.end()));
  }

  async function use<T>(work: (query: Query) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    idle = idle.filter((connection) => connection.isFree());
    const connection = idle.pop() ?? (await connect(config, timeout, signal, traffic));
    const uncut = connection.cutWith(signal);
    try {
      return await work(connection.query);
    } finally {
      uncut();
      if (connection.isFree() && !isClosed) idle.push(connection);
      else connection.end();
    }
  }

  /** A server that went away without a word sends no end: the driver would wait for it for ever. */
  async function inTime<T>(work: (query: Query) => Promise<T>): Promise<T> {
    if (isClosed) throw coded(LOST, 'the database was closed');
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    const timer = setTimeout(
      () => controller.abort(coded(TIMED_OUT, 'no answer in time')),
      timeout + GRACE_MS,
    );
    const result = Promise.race([inTurn(() => use(work, signal)), aborted]);
    underWay.set(controller, result);
    try {
      return await result;
    } catch (error) {
      // The others lead to the same server, and what ended this one may be about to reach them.
      const reason = findReason(error);
      if (reason !== undefined && 'loss' in reason) dropIdle();
      throw error;
    } finally {
      clearTimeout(timer);
      underWay.delete(controller);
    }
  }

  return {
    traffic: () => ({ ...traffic }),
    query: (text, values) => inTime((query) => query(text, values)),
    transaction: (kind, work) =>
      inTime(async (query) => {
        await query(`begin ${kind === 'read' ? READING : WRITING}`, []);
        const result = await work(query);
        await query('commit', []);
        return result;
      }),
    async close() {
      isClosed = true;
      const timer = setTimeout(() => {
        for (const controller of underWay.keys())
          controller.abort(coded(LOST, 'the database was closed'));
      }, secondsToEnd * 1_000);
      await Promise.allSettled(underWay.values());
      clearTimeout(timer);
      await dropIdle();
    },
  };
}

const READING = 'isolation level repeatable read read only';
/** Who waited for a lock must see what was written meanwhile, whatever the database has for its default. */
const WRITING = 'isolation level read committed read write';

/** Codes of our own beside SQLSTATEs and those of the operating system. */
const NO_TLS = 'NO_TLS';
const NOT_POSTGRES = 'NOT_POSTGRES';
const TOO_MUCH = 'TOO_MUCH';
/** Bytes that one statement may be answered with: what is read at once, and what goes around it. */
const MOST_ANSWER_BYTES = 1.5 * MOST_READ_BYTES;
const NO_PASSWORD = '28P01';
const NO_AUTHENTICATION = '28000';

const RIGHTS =
  'Give the user of the address the right to create a schema, or create the schema callsheet for it.';
const WHO = 'Set CALLSHEET_STATE_USERNAME and CALLSHEET_STATE_PASSWORD (or PGUSER and PGPASSWORD).';
const SPACE = 'Free some space there.';
const CHANGED =
  'The tables were changed. Restore the database from its backup, or name another database.';

type Refusal = {
  readonly why: string;
  readonly hint?: string;
  /** The connection itself was refused: nothing was asked yet. */
  readonly isAtDoor?: boolean;
};

/** Refusals by their code: SQLSTATEs, and those of a connection. */
const REFUSALS: { readonly [code: string]: Refusal } = {
  [NO_PASSWORD]: { why: 'the password is wrong, or missing', hint: WHO, isAtDoor: true },
  '28000': {
    why: 'this user may not connect',
    hint: `${WHO} Where the server says "no encryption", add ?sslmode=verify-full to the address.`,
    isAtDoor: true,
  },
  '3D000': {
    why: 'there is no database of that name',
    hint: 'Create it (createdb NAME), or correct the address.',
    isAtDoor: true,
  },
  [NO_TLS]: {
    why: 'the server does not offer TLS',
    hint: 'Turn TLS on there (ssl = on in postgresql.conf). In a trusted network, add ?sslmode=disable to the address.',
    isAtDoor: true,
  },
  [NOT_POSTGRES]: {
    why: 'the server there is not PostgreSQL',
    hint: 'Correct the host and the port of the address.',
    isAtDoor: true,
  },
  [TOO_MUCH]: {
    why: `the server sent more than ${formatSize(MOST_ANSWER_BYTES)} for one statement`,
    hint: 'Check that the address leads to the database of the state.',
  },
  '42501': { why: 'this user has no permission for that', hint: RIGHTS },
  '25006': {
    why: 'the database is read-only',
    hint: 'A standby accepts no writes: use the address of the primary. If the database was made read-only, wait until it accepts writes.',
  },
  '53100': { why: 'the disk of the database is full', hint: SPACE },
  '53200': { why: 'the database is out of memory', hint: SPACE },
  '42P01': { why: 'a table is missing in the schema callsheet', hint: CHANGED },
  '42703': { why: 'a column is missing in the schema callsheet', hint: CHANGED },
};

const OTHER_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
const BUT_THE_NAME = 'In CALLSHEET_STATE, ?sslmode=verify-ca checks everything but the name.';

const PASSING: { readonly [code: string]: Loss } = {
  '25P03': { words: 'this process stood still too long in a transaction' },
  '53300': { words: 'it has too many connections' },
  '55P03': { words: 'a lock was not granted in time', isTimeout: true },
  '57014': { words: 'it did not answer in time', isTimeout: true },
  '57P01': { words: 'the connection was lost: the database is going down', isBroken: true },
  '57P02': { words: 'the connection was lost: the database crashed', isBroken: true },
  '57P03': { words: 'the database is starting up or going down', isBroken: true },
};
const BROKEN: Loss = { words: 'the connection was lost', isBroken: true };

/** Why a database failed; undefined for what is no failure of a database. */
export function findReason(error: unknown): { readonly loss: Loss } | Refusal | undefined {
  const code = findCode(error) ?? '';
  const said = error instanceof Error ? error.message : '';
  const byTls = findRefusal(error);
  if (byTls !== undefined) {
    const but = code === OTHER_NAME ? ` ${BUT_THE_NAME}` : '';
    return { why: byTls.why, hint: `${byTls.todo}${but}`, isAtDoor: true };
  }
  const refusal = REFUSALS[code];
  // The server's message names the user, the database or the certificate.
  if (refusal?.isAtDoor && code !== NO_TLS && code !== NOT_POSTGRES)
    return { ...refusal, why: `${refusal.why} (${said})` };
  if (refusal !== undefined) return refusal;
  const loss = PASSING[code] ?? (code.startsWith('08') ? BROKEN : findLoss(error));
  if (loss !== undefined) return { loss };
  return /^[0-9A-Z]{5}$/.test(code) ? { why: `${said} (SQLSTATE ${code})` } : undefined;
}

/** A failure of the database, put into words. */
export function worded(error: unknown, what: 'read' | 'write', location: string): unknown {
  if (error instanceof CallsheetError) return error;
  const reason = findReason(error);
  if (reason === undefined) return error;
  if ('loss' in reason) return new NoAnswer(what, location, reason.loss, error);
  const { why, hint, isAtDoor } = reason;
  return refusedByStore(isAtDoor ? 'open' : what, location, why, hint, error);
}

export type Value = string | number | boolean | null | readonly string[];
export type Row = { readonly [column: string]: unknown };
/** Without values it may be several statements, whose rows come one after the other. */
export type Query = (text: string, values: readonly Value[]) => Promise<readonly Row[]>;

/**
 * One connection. Once anything failed on it, nothing is sent on it any more: the server undoes what it had begun
 * when the connection ends, so no rollback is ever sent.
 */
type Connection = {
  readonly query: Query;
  /** Returns true if it can take another statement: nothing failed, and no transaction is open. */
  readonly isFree: () => boolean;
  /** Takes leave of the server, which gets a moment to answer. Never rejects. */
  readonly end: () => Promise<void>;
  /** Cuts it when the signal is aborted, until the function that it returns is called. */
  readonly cutWith: (signal: AbortSignal) => () => void;
};

const SECONDS_TO_CONNECT = 10;
const MS_TO_LEAVE = 1_000;

function coded(code: string, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}

/**
 * Connects. When `signal` is aborted, the connection is cut, and what waits on it fails with the signal's reason.
 * Failures have a code: an SQLSTATE, one of the operating system, or one of those above.
 */
async function connect(
  config: ClientConfig,
  timeout: number,
  signal: AbortSignal,
  traffic: { sent: number; read: number },
): Promise<Connection> {
  const { Client } = await import('pg');
  signal.throwIfAborted();
  const socket = new Socket();
  const client = new Client({ ...config, stream: () => socket });
  let failure: unknown;

  function fail(error: unknown): unknown {
    failure ??= withCode(error);
    return failure;
  }
  function cut(error: unknown): void {
    fail(error);
    socket.destroy();
  }
  function cutWith(given: AbortSignal): () => void {
    const onAbort = () => cut(given.reason);
    given.addEventListener('abort', onAbort);
    return () => given.removeEventListener('abort', onAbort);
  }

  // A query that waits fails by itself; without a listener an idle connection would end the process.
  client.on('error', cut);
  client.on('end', () => cut(coded(LOST, 'the server ended the connection')));
  guard(socket, cut);
  const isGreeting = config.ssl === false ? PLAIN_GREETING : TLS_GREETING;
  socket.once('data', (bytes: Buffer) => {
    const first = String.fromCharCode(bytes[0] ?? 0);
    if (!isGreeting.test(first)) cut(coded(NOT_POSTGRES, 'the answer is not one of PostgreSQL'));
  });
  let received = 0;
  let counted = 0;
  const countSent = () => {
    traffic.sent += socket.bytesWritten - counted;
    counted = socket.bytesWritten;
  };
  socket.once('close', countSent);
  socket.on('data', (bytes: Buffer) => {
    countSent();
    traffic.read += bytes.length;
    received += bytes.length;
    if (received > MOST_ANSWER_BYTES) cut(coded(TOO_MUCH, 'an answer without an end'));
  });
  client.connection.on('sslconnect', () => guard(client.connection.stream, cut));

  const uncut = cutWith(signal);
  const timer = setTimeout(
    () => cut(coded(NOT_CONNECTED, 'no connection in time')),
    Math.min(SECONDS_TO_CONNECT * 1_000, timeout),
  );
  try {
    await client.connect();
  } catch (error) {
    cut(error);
    throw failure;
  } finally {
    clearTimeout(timer);
    uncut();
  }

  return {
    async query(text, values) {
      if (failure !== undefined) throw failure;
      received = 0;
      try {
        const result = await client.query<Row>(text, [...values]);
        // For several statements the driver returns a list of results.
        return [result].flat().flatMap(({ rows }) => rows);
      } catch (error) {
        throw fail(error);
      }
    },
    isFree: () => failure === undefined && client.getTransactionStatus() === 'I',
    async end() {
      const timer = setTimeout(() => socket.destroy(), MS_TO_LEAVE);
      await client.end();
      clearTimeout(timer);
    },
    cutWith,
  };
}

/** How a server begins that is asked to start: with what it wants to know, a refusal, or a notice. */
const PLAIN_GREETING = /^[RENv]$/;
/** And one that is asked for TLS: with yes, no, or a refusal. */
const TLS_GREETING = /^[SNE]$/;

/** The driver throws inside of its listeners at what is no message of PostgreSQL: that would end the process. */
function guard(stream: Pick<Socket, 'emit'>, cut: (error: unknown) => void): void {
  const emit = stream.emit.bind(stream);
  stream.emit = (event: string | symbol, ...rest: unknown[]) => {
    try {
      return emit(event, ...rest);
    } catch (error) {
      cut(coded(NOT_POSTGRES, 'the answer is not one of PostgreSQL', error));
      return true;
    }
  };
}

/** Messages of the driver that have no code, with codes of our own. */
const UNCODED: readonly (readonly [RegExp, string])[] = [
  [/^The server does not support SSL/, NO_TLS],
  [/^SASL: /, NO_AUTHENTICATION],
  [/^received invalid response|^There was an error establishing an SSL/, NOT_POSTGRES],
];

function withCode(error: unknown): unknown {
  if (findCode(error) !== undefined) return error;
  const message = errorMessage(error);
  const [, code = LOST] = UNCODED.find(([words]) => words.test(message)) ?? [];
  return coded(code, message, error);
}

/** libpq's words for how a connection is encrypted, as far as they are taken. */
const SSL_MODES: { readonly [mode: string]: ConnectionOptions | undefined } = {
  disable: undefined,
  require: { rejectUnauthorized: false },
  'verify-ca': { checkServerIdentity: () => undefined },
  'verify-full': {},
};
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * How the server of an address is reached. Credentials that the address lacks come from the environment. `timeout`:
 * milliseconds in which a statement must end. Throws `CallsheetError('config')` for an address that cannot be used.
 */
function buildConfig(
  { url }: Origin,
  env: Readonly<Record<string, string | undefined>>,
  timeout: number,
): ClientConfig {
  const at = new URL(url);
  const part = (text: string) => (text === '' ? undefined : decodeURIComponent(text));
  const user =
    part(at.username) ?? env.CALLSHEET_STATE_USERNAME ?? env.PGUSER ?? env.USER ?? env.USERNAME;
  const password = part(at.password) ?? env.CALLSHEET_STATE_PASSWORD ?? env.PGPASSWORD;
  const place = bareAddress(at);
  if (user === undefined)
    throw new CallsheetError('config', `no user is set for the database ${place}`, {
      hint: 'Add the user to the address (postgres://USER@…), or set PGUSER.',
    });
  return {
    host: at.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: at.port === '' ? 5432 : Number(at.port),
    database: part(at.pathname.slice(1)) ?? 'postgres',
    user,
    // A function, so that the driver looks for a password nowhere else.
    password() {
      if (password) return password;
      throw coded(NO_PASSWORD, `no password is set for user ${JSON.stringify(user)}`);
    },
    ssl: findEncryption(at, place, env) ?? false,
    sslnegotiation: 'postgres',
    keepAlive: true,
    application_name: 'callsheet',
    statement_timeout: timeout,
    lock_timeout: timeout / 2,
    idle_in_transaction_session_timeout: IDLE_MS,
  };
}

/** Encrypted and checked, unless the address says otherwise or the server is on this machine. */
function findEncryption(
  at: URL,
  place: string,
  env: Readonly<Record<string, string | undefined>>,
): ConnectionOptions | undefined {
  const mode =
    at.searchParams.get('sslmode') ?? (LOOPBACK.has(at.hostname) ? 'disable' : 'verify-full');
  if (!Object.hasOwn(SSL_MODES, mode)) {
    const known = Object.keys(SSL_MODES).join(', ');
    throw new CallsheetError('config', `the address ${place} has sslmode=${mode}`, {
      hint: /^(allow|prefer)$/.test(mode)
        ? `With ${mode} the connection can be unencrypted without a warning. Use one of ${known}.`
        : `Use one of ${known}. Without sslmode it is verify-full, and disable on this machine.`,
    });
  }
  const options = SSL_MODES[mode];
  const secureContext = options && trustFrom(env);
  return options && { ...options, ...(secureContext === undefined ? {} : { secureContext }) };
}
