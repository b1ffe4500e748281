import { trustFrom } from '../api/trust.ts';
import { CallsheetError } from '../core/errors.ts';
import type { PostgresPlace } from '../core/state-place.ts';
import { codeOf, lossOf, NoAnswer, refusedByStore } from './failures.ts';

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
/** A database that does not answer for so long is taken for gone. */
const PATIENCE_MS = 60_000;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Connects with the first query. Credentials that the address lacks come from the environment. When it is closed, what
 * is still under way has so many seconds to end.
 */
export async function openDatabase(
  { url }: PostgresPlace,
  env: Readonly<Record<string, string | undefined>>,
  secondsToEnd = 5,
): Promise<ScriptedDatabase> {
  const { default: postgres } = await import('postgres');
  const at = new URL(url);
  const part = (text: string) => (text === '' ? undefined : decodeURIComponent(text));
  const username = part(at.username) ?? env.CALLSHEET_STATE_USERNAME ?? env.PGUSER;
  const password = part(at.password) ?? env.CALLSHEET_STATE_PASSWORD ?? env.PGPASSWORD;
  const sql = postgres({
    host: at.hostname,
    port: at.port === '' ? 5432 : Number(at.port),
    database: part(at.pathname.slice(1)) ?? 'postgres',
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ssl: encryption(at, env),
    max: CONNECTIONS,
    connect_timeout: SECONDS_TO_CONNECT,
    // Poolers that hand a connection on after each transaction know no prepared statements.
    prepare: false,
    fetch_types: false,
    onnotice: () => {},
    connection: {
      application_name: 'callsheet',
      statement_timeout: PATIENCE_MS,
      lock_timeout: PATIENCE_MS / 2,
    },
  });
  const queryOn =
    (on: Pick<typeof sql, 'unsafe'>): Query =>
    async (text, values) => [...(await on.unsafe(text, [...values] as never[]))];
  return {
    query: queryOn(sql),
    async transaction(kind, work) {
      const mode = kind === 'read' ? 'isolation level repeatable read read only' : 'read write';
      let result: { readonly value: Awaited<ReturnType<typeof work>> } | undefined;
      await sql.begin(mode, async (on) => {
        result = { value: await work(queryOn(on)) };
      });
      if (result === undefined) throw new Error('a transaction without a result');
      return result.value;
    },
    async script(text) {
      // The pool would hand the next statement to another connection.
      const connection = await sql.reserve();
      try {
        return [...(await connection.unsafe(text))].flat();
      } catch (error) {
        // What it began would go on for whoever is given the connection next.
        await connection.unsafe('rollback').catch(() => {});
        throw error;
      } finally {
        connection.release();
      }
    },
    close: () => sql.end({ timeout: secondsToEnd }),
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

const RIGHTS =
  'Give the user of the address the right to create a schema, or create the schema callsheet for it.';
const WHO = 'Set CALLSHEET_STATE_USERNAME and CALLSHEET_STATE_PASSWORD (or PGUSER and PGPASSWORD).';
const SPACE =
  'What is there is kept. Free some space, then run the same command again: that settles what is open, and goes on.';

/** Refusals by their SQLSTATE. */
const REFUSALS: { readonly [code: string]: { readonly why: string; readonly hint?: string } } = {
  '28P01': { why: 'the password is wrong, or missing', hint: WHO },
  '28000': { why: 'this user may not connect', hint: WHO },
  '3D000': { why: 'there is no database of that name', hint: 'Create it, or correct the address.' },
  '42501': { why: 'this user may not do that', hint: RIGHTS },
  '25006': {
    why: 'the database is read-only',
    hint: 'A standby takes no writes: name the primary.',
  },
  '53100': { why: 'the disk of the database is full', hint: SPACE },
  '53200': { why: 'the database is out of memory', hint: SPACE },
  '42P01': {
    why: 'a table is missing',
    hint: 'Somebody removed it. Restore the database from its backup.',
  },
  '42703': {
    why: 'a column is missing',
    hint: 'Somebody changed the tables. Restore the database from its backup.',
  },
};

const PASSING: { readonly [code: string]: string } = {
  '53300': 'it has too many connections',
  '55P03': 'a lock was not given in time',
  '57014': 'it did not answer in time',
  '57P01': 'the connection was lost: the database is going down',
  '57P02': 'the connection was lost: the database crashed',
  '57P03': 'the database is starting up or going down',
};

/** Why a database failed, in words; undefined for what is no failure of a database. */
export function reasonOf(
  error: unknown,
): { readonly why: string; readonly hint?: string; readonly isLoss: boolean } | undefined {
  const code = codeOf(error) ?? '';
  const loss = PASSING[code] ?? (code.startsWith('08') ? 'the connection was lost' : lossOf(error));
  if (loss !== undefined) return { why: loss, isLoss: true };
  const refusal = REFUSALS[code];
  if (refusal !== undefined) return { ...refusal, isLoss: false };
  if (!/^[0-9A-Z]{5}$/.test(code)) return undefined;
  const said = error instanceof Error ? error.message : '';
  return { why: `${said} (SQLSTATE ${code})`, isLoss: false };
}

/** A failure of the database, put into words. */
export function worded(error: unknown, what: 'read' | 'write', location: string): unknown {
  if (error instanceof CallsheetError) return error;
  const reason = reasonOf(error);
  if (reason === undefined) return error;
  return reason.isLoss
    ? new NoAnswer(what, location, reason.why, error)
    : refusedByStore(what, location, reason.why, reason.hint, error);
}
