import { CallsheetError } from '../core/errors.ts';
import { type QueueDatabase, SCHEMA } from './database.ts';

/**
 * The tables, step by step: the version of a queue is how many steps it has taken. Steps are only ever added, and
 * an empty one with each pg-boss that brings its own tables forward, so that an older Callsheet refuses those, too.
 *
 * | table               | a row is                                                              |
 * |---------------------|-----------------------------------------------------------------------|
 * | `callsheet_version` | the one row that says which step was taken last                       |
 * | `callsheet_batch`   | what one `queue add` asked for; `key` is a digest of all of it          |
 * | `callsheet_task`    | a stack of a batch, and what came of it                               |
 * | `callsheet_budget`  | the rate of an account, which everybody who works for it keeps        |
 *
 * pg-boss has its own tables beside them. Its jobs only say which task is to be looked at; what is true of the task
 * stands in its row, which outlives them.
 */
const STEPS: readonly string[] = [
  `create table ${SCHEMA}.callsheet_batch (
     id text primary key,
     key text not null,
     made timestamptz not null default now(),
     command text not null,
     commit text,
     flags text not null,
     queue text not null
   );
   create index on ${SCHEMA}.callsheet_batch (key);
   create table ${SCHEMA}.callsheet_task (
     batch text not null references ${SCHEMA}.callsheet_batch on delete cascade,
     number integer not null,
     stack text not null,
     digest text not null,
     plan text,
     status text not null default 'waiting',
     attempts integer not null default 0,
     deaths integer not null default 0,
     delays integer not null default 0,
     worker text,
     note text,
     exit integer,
     result text,
     primary key (batch, number)
   );
   create table ${SCHEMA}.callsheet_budget (
     base_url text not null,
     account text not null,
     rate text not null,
     primary key (base_url, account)
   )`,
  `alter table ${SCHEMA}.callsheet_task
     drop column deaths,
     add column suspect boolean not null default false,
     add column alone boolean not null default false,
     add column died text[] not null default '{}'`,
];

/** Any number will do, as long as every Callsheet takes the same. */
const MIGRATION_LOCK = 7_122_043_352;

/** Makes our own tables, or takes the steps that are missing. Of several at once one does, and the others wait for it. */
export async function migrateQueue(
  database: QueueDatabase,
  steps: readonly string[] = STEPS,
): Promise<void> {
  const before = await readVersion(database.query);
  refuseNewer(before, steps, database.location);
  if (before === steps.length) return;
  await database.transaction('write', async (query) => {
    await query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, []);
    const version = await readVersion(query);
    refuseNewer(version, steps, database.location);
    if (version === undefined) {
      await query(`create schema if not exists ${SCHEMA}`, []);
      await query(`create table ${SCHEMA}.callsheet_version (version integer not null)`, []);
      await query(`insert into ${SCHEMA}.callsheet_version values (0)`, []);
    }
    for (const step of steps.slice(version ?? 0))
      for (const statement of step.split(';').filter((text) => text.trim() !== ''))
        await query(statement, []);
    await query(`update ${SCHEMA}.callsheet_version set version = $1::int`, [steps.length]);
  });
}

async function readVersion(query: QueueDatabase['query']): Promise<number | undefined> {
  // By a look at the catalogue: to_regclass may answer from what this connection knew before it waited for the lock.
  const there = await query(
    `select 1 from pg_catalog.pg_tables where schemaname = $1 and tablename = 'callsheet_version'`,
    [SCHEMA],
  );
  if (there.length === 0) return undefined;
  const [row] = await query(`select version from ${SCHEMA}.callsheet_version`, []);
  return Number(row?.version);
}

function refuseNewer(
  version: number | undefined,
  steps: readonly string[],
  location: string,
): void {
  if (version === undefined || version <= steps.length) return;
  throw new CallsheetError(
    'config',
    `the queue ${location} was made by a newer Callsheet (version ${version}; this one knows ${steps.length})`,
    { hint: 'Install the same Callsheet here as on the other machines.' },
  );
}
