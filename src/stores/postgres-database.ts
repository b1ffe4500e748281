import { trustFrom } from '../api/trust.ts';
import { CallsheetError } from '../core/errors.ts';
import type { Origin } from '../core/origin.ts';
import { codeOf, type Loss, lossOf, NoAnswer, refusedByStore, TIMED_OUT } from './failures.ts';

type Value = string | number | boolean | null | readonly string[];
export type Row = { readonly [column: string]: unknown };
export type Query = (text: string, values: readonly Value[]) => Promise<readonly Row[]>;

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

/** A database that also takes scripts: several statements at once, which may begin and end a transaction themselves. */
export type ScriptedDatabase = Database & {
  readonly script: (text: string) => Promise<readonly Row[]>;
};

const CONNECTIONS = 4;
const SECONDS_TO_CONNECT = 10;
/** The server is to give up first: then it says why, and the connection is still of use. */
const GRACE_MS = 500;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Connects with the first query. Credentials that the address lacks come from the environment. `patience`:
 * milliseconds in which each query must be answered. When it is closed, what is still under way has so many seconds
 * to end.
 */
export async function openDatabase(
  origin: Origin,
  env: Readonly<Record<string, string | undefined>>,
  patience: number,
  secondsToEnd = 5,
): Promise<ScriptedDatabase> {
  const { default: postgres } = await import('postgres');
  const options = optionsOf(origin, env, patience);
  const connect = () => postgres(options);
  type Client = ReturnType<typeof connect>;
  let sql = connect();

  /** A server that went away without a word sends no end: the driver would wait for it for ever. */
  async function inTime<T>(work: (on: Client) => Promise<T>): Promise<T> {
    const on = sql;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = Object.assign(new Error('no answer in time'), { code: TIMED_OUT });
      timer = setTimeout(() => {
        reject(error);
        // Its connections are of no use any more, and a late answer must find nobody.
        if (sql === on) sql = connect();
        on.end({ timeout: 0 }).catch(() => undefined);
      }, patience + GRACE_MS);
    });
    try {
      return await Promise.race([work(on), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  const queryOn =
    (on: Pick<Client, 'unsafe'>): Query =>
    async (text, values) => [...(await on.unsafe(text, [...values] as never[]))];
  return {
    query: (text, values) => inTime((on) => queryOn(on)(text, values)),
    async transaction(kind, work) {
      const mode = kind === 'read' ? 'isolation level repeatable read read only' : WRITING;
      let result: { readonly value: Awaited<ReturnType<typeof work>> } | undefined;
      await inTime((on) =>
        on.begin(mode, async (begun) => {
          result = { value: await work(queryOn(begun)) };
        }),
      );
      if (result === undefined) throw new Error('a transaction without a result');
      return result.value;
    },
    script: (text) =>
      inTime(async (on) => {
        // The pool would hand the next statement to another connection.
        const connection = await on.reserve();
        try {
          return [...(await connection.unsafe(text))].flat();
        } catch (error) {
          // What it began would go on for whoever is given the connection next.
          await connection.unsafe('rollback').catch(() => {});
          throw error;
        } finally {
          connection.release();
        }
      }),
    close: () => sql.end({ timeout: secondsToEnd }),
  };
}

function optionsOf(
  { url }: Origin,
  env: Readonly<Record<string, string | undefined>>,
  patience: number,
) {
  const at = new URL(url);
  const part = (text: string) => (text === '' ? undefined : decodeURIComponent(text));
  const username = part(at.username) ?? env.CALLSHEET_STATE_USERNAME ?? env.PGUSER;
  const password = part(at.password) ?? env.CALLSHEET_STATE_PASSWORD ?? env.PGPASSWORD;
  return {
    host: at.hostname,
    port: at.port === '' ? 5432 : Number(at.port),
    database: part(at.pathname.slice(1)) ?? 'postgres',
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ssl: encryption(at, env),
    max: CONNECTIONS,
    connect_timeout: Math.min(SECONDS_TO_CONNECT, patience / 1_000),
    // Poolers that hand a connection on after each transaction know no prepared statements.
    prepare: false,
    fetch_types: false,
    onnotice: () => {},
    connection: {
      application_name: 'callsheet',
      statement_timeout: patience,
      lock_timeout: patience / 2,
    },
  };
}

/** Encrypted and checked, unless the address says otherwise or the server is on this machine. */
function encryption(at: URL, env: Readonly<Record<string, string | undefined>>) {
  const mode =
    at.searchParams.get('sslmode') ?? (LOOPBACK.has(at.hostname) ? 'disable' : 'verify-full');
  if (mode === 'disable') return false;
  const secureContext = trustFrom(env as NodeJS.ProcessEnv);
  const trust = secureContext === undefined ? {} : { secureContext };
  return { rejectUnauthorized: mode !== 'require', ...trust };
}

/** Who waited for a lock must see what was written meanwhile, whatever the database has for its default. */
const WRITING = 'isolation level read committed read write';

const RIGHTS =
  'Give the user of the address the right to create a schema, or create the schema callsheet for it.';
const WHO = 'Set CALLSHEET_STATE_USERNAME and CALLSHEET_STATE_PASSWORD (or PGUSER and PGPASSWORD).';
const SPACE = 'Free some space there.';
const CHANGED =
  'Somebody changed the tables. Restore the database from its backup, or name another database.';

/** Refusals by their SQLSTATE. */
const REFUSALS: { readonly [code: string]: { readonly why: string; readonly hint?: string } } = {
  '28P01': { why: 'the password is wrong, or missing', hint: WHO },
  '28000': { why: 'this user may not connect', hint: WHO },
  '3D000': { why: 'there is no database of that name', hint: 'Create it, or correct the address.' },
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
export function reasonOf(
  error: unknown,
): { readonly loss: Loss } | { readonly why: string; readonly hint?: string } | undefined {
  const code = codeOf(error) ?? '';
  const loss = PASSING[code] ?? (code.startsWith('08') ? BROKEN : lossOf(error));
  if (loss !== undefined) return { loss };
  const refusal = REFUSALS[code];
  if (refusal !== undefined) return refusal;
  if (!/^[0-9A-Z]{5}$/.test(code)) return undefined;
  const said = error instanceof Error ? error.message : '';
  return { why: `${said} (SQLSTATE ${code})` };
}

/** A failure of the database, put into words. */
export function worded(error: unknown, what: 'read' | 'write', location: string): unknown {
  if (error instanceof CallsheetError) return error;
  const reason = reasonOf(error);
  if (reason === undefined) return error;
  return 'loss' in reason
    ? new NoAnswer(what, location, reason.loss, error)
    : refusedByStore(what, location, reason.why, reason.hint, error);
}

/** A list as PostgreSQL writes one. */
export function list(texts: readonly string[]): string {
  const quoted = texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);
  return `{${quoted.join(',')}}`;
}
