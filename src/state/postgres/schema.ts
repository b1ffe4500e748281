import { NewerDocument } from '../failures.ts';
import { takenByOthers } from '../remote/failures.ts';
import { isRecord } from '../shape.ts';
import type { Database, Query } from './database.ts';

/**
 * The tables, step by step: the version of a database is how many steps it has taken. Steps are only ever added.
 *
 * | table      | a row is                                                            |
 * |------------|---------------------------------------------------------------------|
 * | `version`  | the one row that says which step was taken last                     |
 * | `stack`    | a state: who holds it (`lease` is null when nobody does), its head  |
 * | `resource` | a resource: its line of the state's text, and what is found by it   |
 * | `run`      | a run, and whether its journal is filed among the finished          |
 * | `journal`  | some lines of a journal, written together, under an id of their own |
 * | `claim`    | what a run is going to write, or to take over                       |
 * | `aside`    | what a repair or a push took the place of                           |
 */
export const STEPS: readonly string[] = [
  `create table callsheet.stack (
     name text primary key,
     id text not null,
     lease text,
     ticket text not null,
     beat text not null,
     head text
   );
   create table callsheet.resource (
     stack text not null references callsheet.stack on delete cascade,
     address text not null,
     line text not null,
     primary key (stack, address)
   );
   create table callsheet.run (
     stack text not null references callsheet.stack on delete cascade,
     run text not null,
     filed boolean not null default false,
     primary key (stack, run)
   );
   create table callsheet.journal (
     stack text not null,
     run text not null,
     part bigint generated always as identity,
     text text not null,
     primary key (stack, run, part),
     foreign key (stack, run) references callsheet.run on delete cascade
   );
   create table callsheet.aside (
     stack text not null references callsheet.stack on delete cascade,
     name text not null,
     text text not null,
     primary key (stack, name)
   )`,
  // Who manages what, so that two stacks do not manage the same. The lines are those of the text of a state.
  `alter table callsheet.stack add column account text;
   alter table callsheet.resource add column kind text, add column id text;
   update callsheet.stack set account = substring(head from '"account_id":"([^"]+)"')
     where head not like '%"moved_to":"%';
   update callsheet.resource set kind = substring(line from '"kind":"([^"]+)"'),
     id = substring(line from '"id":"([^"]+)"');
   create index resource_by_id on callsheet.resource (id);
   create table callsheet.claim (
     stack text not null references callsheet.stack on delete cascade,
     lease text not null,
     account text not null,
     address text not null,
     kind text not null,
     id text not null,
     primary key (stack, kind, id)
   );
   create index claim_by_id on callsheet.claim (id)`,
  // Lines that were sent twice, because the first answer was lost, are there once.
  `alter table callsheet.journal add column id text;
   create unique index journal_by_id on callsheet.journal (stack, run, id)`,
];

/** The version whose tables say who manages what. */
export const CLAIMS_SINCE = 2;

const OTHERS = 'the schema callsheet of that database holds tables of another program';

/** Any number will do, as long as every Callsheet takes the same. */
const MIGRATION_LOCK = 7_122_043_351;

/** The version of the tables; undefined where there are none. Throws `NewerDocument` for one that nobody here knows. */
export async function readVersion(
  query: Query,
  location: string,
  steps: readonly string[] = STEPS,
): Promise<number | undefined> {
  // By the catalogue: a name may be resolved by what the connection knew before somebody else made the table.
  const [there] = await query(
    `select exists (select from pg_tables where schemaname = 'callsheet' and tablename = 'version') as there`,
    [],
  );
  if (there?.there !== true) return undefined;
  const [row] = await query('select to_jsonb(v) as row from callsheet.version v', []);
  return versionIn(row?.row, location, steps);
}

/** The version in the row of its table, as JSON: of a table without such a column the bare name would be the whole row. */
export function versionIn(
  row: unknown,
  location: string,
  steps: readonly string[] = STEPS,
): number {
  const version = isRecord(row) ? row.version : undefined;
  if (typeof version !== 'number') throw takenByOthers(location, OTHERS);
  if (version > steps.length) throw new NewerDocument(location, version, steps.length);
  return version;
}

/** Makes the tables, or takes the steps that are missing. Of several at once one does, and the others wait for it. */
export async function migrate(
  database: Database,
  location: string,
  steps: readonly string[] = STEPS,
): Promise<void> {
  if ((await readVersion(database.query, location, steps)) === steps.length) return;
  await database.transaction('write', async (query) => {
    await query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, []);
    const version = await readVersion(query, location, steps);
    if (version === undefined) {
      const [other] = await query(
        "select tablename from pg_tables where schemaname = 'callsheet' limit 1",
        [],
      );
      if (other !== undefined) throw takenByOthers(location, OTHERS);
      await query('create schema if not exists callsheet', []);
      await query('create table callsheet.version (version integer not null)', []);
      await query('insert into callsheet.version values (0)', []);
    }
    for (const step of steps.slice(version ?? 0))
      for (const statement of step.split(';')) await query(statement, []);
    await query('update callsheet.version set version = $1::int', [steps.length]);
  });
}
