import { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { trustFrom } from '../api/trust.ts';
import { CallsheetError } from '../core/errors.ts';
import type { Origin } from '../core/origin.ts';
import { codeOf, LOST, NOT_CONNECTED } from './failures.ts';

export type Value = string | number | boolean | null | readonly string[];
export type Row = { readonly [column: string]: unknown };
/** Without values it may be several statements, whose rows come one after the other. */
export type Query = (text: string, values: readonly Value[]) => Promise<readonly Row[]>;

/**
 * One connection. Once anything failed on it, nothing is sent on it any more: the server undoes what it had begun
 * when the connection ends, so no rollback is ever sent.
 */
export type Connection = {
  readonly query: Query;
  /** Whether it can take another statement: nothing failed, and no transaction is open. */
  readonly isFree: () => boolean;
  /** Takes leave of the server, which gets a moment to answer. Never rejects. */
  readonly end: () => Promise<void>;
  /** Cuts it when the signal is aborted, until the function that it returns is called. */
  readonly cutWith: (signal: AbortSignal) => () => void;
};

/** Codes of our own beside SQLSTATEs and those of the operating system. */
export const NO_TLS = 'NO_TLS';
export const NOT_POSTGRES = 'NOT_POSTGRES';
export const NO_PASSWORD = '28P01';
const NO_AUTHENTICATION = '28000';

const SECONDS_TO_CONNECT = 10;
const MS_TO_LEAVE = 1_000;

export function coded(code: string, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}

/**
 * Connects. When `signal` is aborted, the connection is cut, and what waits on it fails with the signal's reason.
 * Failures have a code: an SQLSTATE, one of the operating system, or one of those above.
 */
export async function connect(
  config: ClientConfig,
  patience: number,
  signal: AbortSignal,
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

  // Whoever waits for an answer is told by its query; without a listener an idle connection would end the process.
  client.on('error', cut);
  client.on('end', () => cut(coded(LOST, 'the server ended the connection')));
  guard(socket, cut);
  const isGreeting = config.ssl === false ? PLAIN_GREETING : TLS_GREETING;
  socket.once('data', (bytes: Buffer) => {
    const first = String.fromCharCode(bytes[0] ?? 0);
    if (!isGreeting.test(first)) cut(coded(NOT_POSTGRES, 'the answer is not one of PostgreSQL'));
  });
  client.connection.on('sslconnect', () => guard(client.connection.stream, cut));

  const uncut = cutWith(signal);
  const timer = setTimeout(
    () => cut(coded(NOT_CONNECTED, 'no connection in time')),
    Math.min(SECONDS_TO_CONNECT * 1_000, patience),
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
      try {
        const result = await client.query<Row>(text, [...values]);
        // Of several statements it is a list of results.
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

/** What the driver says without a code, by its words. */
const UNCODED: readonly (readonly [RegExp, string])[] = [
  [/^The server does not support SSL/, NO_TLS],
  [/^SASL: /, NO_AUTHENTICATION],
  [/^received invalid response|^There was an error establishing an SSL/, NOT_POSTGRES],
];

function withCode(error: unknown): unknown {
  if (codeOf(error) !== undefined) return error;
  const message = error instanceof Error ? error.message : String(error);
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
 * How the server of an address is reached. Credentials that the address lacks come from the environment. `patience`:
 * milliseconds in which a statement must end. Throws `CallsheetError('config')` for an address that cannot be used.
 */
export function configOf(
  { url }: Origin,
  env: Readonly<Record<string, string | undefined>>,
  patience: number,
): ClientConfig {
  const at = new URL(url);
  const part = (text: string) => (text === '' ? undefined : decodeURIComponent(text));
  const user =
    part(at.username) ?? env.CALLSHEET_STATE_USERNAME ?? env.PGUSER ?? env.USER ?? env.USERNAME;
  const password = part(at.password) ?? env.CALLSHEET_STATE_PASSWORD ?? env.PGPASSWORD;
  const place = `${at.protocol}//${at.host}${at.pathname}`;
  if (user === undefined)
    throw new CallsheetError('config', `no user is named for the database ${place}`, {
      hint: 'Put it into the address (postgres://USER@…), or set PGUSER.',
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
    ssl: encryptionOf(at, place, env) ?? false,
    sslnegotiation: 'postgres',
    keepAlive: true,
    application_name: 'callsheet',
    statement_timeout: patience,
    lock_timeout: patience / 2,
  };
}

/** Encrypted and checked, unless the address says otherwise or the server is on this machine. */
function encryptionOf(
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
        ? `With ${mode} the connection may end up unencrypted without notice. Write one of ${known}.`
        : `Write one of ${known}. Without sslmode it is verify-full, and disable on this machine.`,
    });
  }
  const options = SSL_MODES[mode];
  const secureContext = options && trustFrom(env as NodeJS.ProcessEnv);
  return options && { ...options, ...(secureContext === undefined ? {} : { secureContext }) };
}
