import pLimit from 'p-limit';
import { CallsheetError } from '../core/errors.ts';
import type { Origin } from '../core/origin.ts';
import {
  codeOf,
  LOST,
  type Loss,
  lossOf,
  NoAnswer,
  refusedByStore,
  TIMED_OUT,
} from './failures.ts';
import {
  type Connection,
  coded,
  configOf,
  connect,
  NO_PASSWORD,
  NO_TLS,
  NOT_POSTGRES,
  type Query,
} from './postgres-connection.ts';

export type { Query, Row, Value } from './postgres-connection.ts';

/** What the store asks of a database. Tests put theirs in between. */
export type Database = {
  readonly query: Query;
  /** `read`: everything is seen as of one moment. */
  readonly transaction: <T>(
    kind: 'read' | 'write',
    work: (query: Query) => Promise<T>,
  ) => Promise<T>;
  readonly close: () => Promise<void>;
};

const CONNECTIONS = 4;
/** The server is to give up first: then it says why. */
const GRACE_MS = 500;

/**
 * Connects with the first query. Credentials that the address lacks come from the environment. `patience`:
 * milliseconds in which each query, and each transaction as a whole, must be answered. When it is closed, what is
 * still under way has so many seconds to end. Throws `CallsheetError('config')` for an address that cannot be used.
 */
export async function openDatabase(
  origin: Origin,
  env: Readonly<Record<string, string | undefined>>,
  patience: number,
  secondsToEnd = 5,
): Promise<Database> {
  const config = configOf(origin, env, patience);
  const inTurn = pLimit(CONNECTIONS);
  const underWay = new Map<AbortController, Promise<unknown>>();
  let idle: Connection[] = [];
  let isClosed = false;

  function dropIdle(): Promise<unknown> {
    const dropped = idle;
    idle = [];
    return Promise.all(dropped.map((connection) => connection.end()));
  }

  async function use<T>(work: (query: Query) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    idle = idle.filter((connection) => connection.isFree());
    const connection = idle.pop() ?? (await connect(config, patience, signal));
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
      patience + GRACE_MS,
    );
    const result = Promise.race([inTurn(() => use(work, signal)), aborted]);
    underWay.set(controller, result);
    try {
      return await result;
    } catch (error) {
      // The others lead to the same server, and what ended this one may be about to reach them.
      const reason = reasonOf(error);
      if (reason !== undefined && 'loss' in reason) dropIdle();
      throw error;
    } finally {
      clearTimeout(timer);
      underWay.delete(controller);
    }
  }

  return {
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

const RIGHTS =
  'Give the user of the address the right to create a schema, or create the schema callsheet for it.';
const WHO = 'Set CALLSHEET_STATE_USERNAME and CALLSHEET_STATE_PASSWORD (or PGUSER and PGPASSWORD).';
const SPACE = 'Free some space there.';
const CHANGED =
  'Somebody changed the tables. Restore the database from its backup, or name another database.';

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
    hint: 'Turn TLS on there (ssl = on in postgresql.conf). In a network where nobody can listen, add ?sslmode=disable to the address.',
    isAtDoor: true,
  },
  [NOT_POSTGRES]: {
    why: 'what answers there is not PostgreSQL',
    hint: 'Correct the host and the port of the address.',
    isAtDoor: true,
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    why: 'the certificate of the server is for another name',
    hint: 'Write the name of the certificate into the address. ?sslmode=verify-ca checks everything but the name.',
    isAtDoor: true,
  },
  '42501': { why: 'this user may not do that', hint: RIGHTS },
  '25006': {
    why: 'the database is read-only',
    hint: 'A standby takes no writes: name the primary. If somebody made it read-only, wait until that is over.',
  },
  '53100': { why: 'the disk of the database is full', hint: SPACE },
  '53200': { why: 'the database is out of memory', hint: SPACE },
  '42P01': { why: 'a table is missing in the schema callsheet', hint: CHANGED },
  '42703': { why: 'a column is missing in the schema callsheet', hint: CHANGED },
};
const UNTRUSTED: Refusal = {
  why: 'the certificate of the server is not trusted',
  hint: 'Name a file with the certificate of its authority in SSL_CERT_FILE. ?sslmode=require encrypts without checking.',
  isAtDoor: true,
};
const CERTIFICATE = /^(CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/;

const PASSING: { readonly [code: string]: Loss } = {
  '53300': { words: 'it has too many connections' },
  '55P03': { words: 'a lock was not given in time', isTimeout: true },
  '57014': { words: 'it did not answer in time', isTimeout: true },
  '57P01': { words: 'the connection was lost: the database is going down' },
  '57P02': { words: 'the connection was lost: the database crashed' },
  '57P03': { words: 'the database is starting up or going down' },
};
const BROKEN: Loss = { words: 'the connection was lost' };

/** Why a database failed; undefined for what is no failure of a database. */
export function reasonOf(error: unknown): { readonly loss: Loss } | Refusal | undefined {
  const code = codeOf(error) ?? '';
  const said = error instanceof Error ? error.message : '';
  const refusal = REFUSALS[code] ?? (CERTIFICATE.test(code) ? UNTRUSTED : undefined);
  // What was said names the user, the database or the certificate.
  if (refusal?.isAtDoor && code !== NO_TLS && code !== NOT_POSTGRES)
    return { ...refusal, why: `${refusal.why} (${said})` };
  if (refusal !== undefined) return refusal;
  const loss = PASSING[code] ?? (code.startsWith('08') ? BROKEN : lossOf(error));
  if (loss !== undefined) return { loss };
  return /^[0-9A-Z]{5}$/.test(code) ? { why: `${said} (SQLSTATE ${code})` } : undefined;
}

/** A failure of the database, put into words. */
export function worded(error: unknown, what: 'read' | 'write', location: string): unknown {
  if (error instanceof CallsheetError) return error;
  const reason = reasonOf(error);
  if (reason === undefined) return error;
  if ('loss' in reason) return new NoAnswer(what, location, reason.loss, error);
  const { why, hint, isAtDoor } = reason;
  return refusedByStore(isAtDoor ? 'open' : what, location, why, hint, error);
}
