import { hash } from 'node:crypto';
import type { PgBoss } from 'pg-boss';
import type { QueuedCommand } from '../../../console/flags.ts';
import { computeDigest } from '../../../core/digest.ts';
import { CallsheetError } from '../../../core/errors.ts';
import type { Json } from '../../../core/value.ts';
import { clipped } from '../../../platform/errors.ts';
import type { Query, Row } from '../../stores/postgres/database.ts';
import { executorOn, openQueueDatabase, type QueueDatabase, SCHEMA } from './database.ts';

/** One command for many stacks, from one commit. */
export type NewBatch = {
  readonly command: QueuedCommand;
  /** Undefined outside of a repository. */
  readonly commit: string | undefined;
  /** Flags of the command. Never a secret, and never the value of a variable. */
  readonly flags: { readonly [name: string]: Json };
  readonly tasks: readonly NewTask[];
};

export type NewTask = {
  /** Folder of the stack, seen from the root of the tree, with forward slashes. */
  readonly stack: string;
  /** Digest of its configuration when it was enqueued. */
  readonly digest: string;
  /** The plan that was approved, for `apply` of plan files. Secrets are masked in it. */
  readonly plan?: string;
};

/** The work that a row describes. Its seal covers all of it. */
export type TaskText = NewTask & {
  readonly batch: string;
  readonly number: number;
  /** A `QueuedCommand`, unless somebody else wrote it. */
  readonly command: string;
  /** JSON of `NewBatch['flags']`, unless somebody else wrote it. */
  readonly flags: string;
};

/** Seals a task; undefined without a key. */
export type SealTask = (task: TaskText) => string | undefined;

/**
 * A task in the hands of a worker. Others can write to the database: texts are as the rows have them, and
 * `fleet/` reads them one task at a time, so that a wrong one fails alone.
 */
export type Task = TaskText & {
  readonly seal: string | null;
  /** How often it was handed out, this time included. */
  readonly attempts: number;
  /** Workers that died while they worked at it and at nothing else. */
  readonly deaths: number;
  /** A worker fell silent that had it: it is worked at alone, so that no other stack dies with it. */
  readonly isSuspect: boolean;
  /** Why it was put off last, and how often in a row for that. */
  readonly note: string | null;
  readonly delays: number;
};

/** A task as a report shows it. */
export type TaskStatus = Pick<Task, 'stack'> & {
  readonly status: 'waiting' | 'running' | 'done';
  /** How it ended, as the command would have. Undefined while it is not done. */
  readonly exit: number | undefined;
  /** JSON of its result, as the row has it; undefined while it is not done. */
  readonly result: string | undefined;
  /** Who works at it; undefined unless it runs. */
  readonly working: TaskAtWork | undefined;
};

/** Who works at a task, as the row has it. */
export type TaskAtWork = {
  readonly worker: string | null;
  /** The run that it began; null where there is none, or none yet. */
  readonly run: string | null;
  /** How often it was handed out, this time included. */
  readonly attempts: number;
  /** When it was handed out, ISO 8601. */
  readonly since: string | null;
};

export type BatchStatus = {
  readonly id: string;
  readonly command: QueuedCommand;
  readonly tasks: readonly TaskStatus[];
};

export type Enqueued = {
  readonly id: string;
  /** True if the batch existed: the same command for the same stacks of the same commit, with the same flags. */
  readonly isOld: boolean;
};

/** A batch and what came of it is kept for so long. */
const KEPT_DAYS = 30;
/** A worker that is not heard of for so long is taken for dead, and its job goes to another one. The least that pg-boss takes is 10. */
const SILENT_SECONDS = 12;
/** The longest that pg-boss lets a job take. Heartbeats tell who is dead; nothing else ends a run. */
const LONGEST_SECONDS = 24 * 60 * 60;
/** Deaths are counted by the task itself, with its own limit. */
const RETRIES_OF_PG_BOSS = 1_000;

/**
 * Puts a batch into the queue. All of it gets there or nothing. The same again finds the one that is there, as long as
 * that is not done; one of approved plans that all went well is never begun again.
 */
export async function enqueue(
  queue: Queue,
  batch: NewBatch,
  id: string,
  seal: SealTask = () => undefined,
): Promise<Enqueued> {
  const { database, boss } = queue;
  const key = computeDigest(batch);
  const name = nameQueue(batch.commit);
  return database.explainFailures(async () => {
    await makeQueue(queue, name);
    return database.transaction('write', async (query) => {
      // If the same is enqueued twice at once, the second finds the batch of the first.
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
      const found = await findSame(query, key, batch);
      if (found !== undefined) return { id: found, isOld: true };
      await insertBatch(query, batch, { id, key, name, seal });
      const jobs = batch.tasks.map((_, number) => buildJob({ batch: id, number }));
      await boss.insert(name, jobs, { db: executorOn(query) });
      await query(
        `delete from ${SCHEMA}.callsheet_batch where made < now() - make_interval(days => $1::int)`,
        [KEPT_DAYS],
      );
      return { id, isOld: false };
    });
  });
}

/** Makes the queue of a commit, unless it is there: a worker may well be the first who asks for it. */
export async function makeQueue({ boss }: Pick<Queue, 'boss'>, name: string): Promise<void> {
  await boss.createQueue(name, {
    policy: 'exclusive',
    heartbeatSeconds: SILENT_SECONDS,
    expireInSeconds: LONGEST_SECONDS,
    retryLimit: RETRIES_OF_PG_BOSS,
    retryDelay: 0,
    retentionSeconds: KEPT_DAYS * 24 * 60 * 60,
    deleteAfterSeconds: 60 * 60,
  });
}

/** The payload of a pg-boss job: the task to look at. */
export type JobData = { readonly batch: string; readonly number: number };

/** Builds the job of a task. Its key allows one job for each task at a time. */
export function buildJob(data: JobData, startAfter = 0) {
  return { data, singletonKey: `${data.batch}/${data.number}`, startAfter };
}

/** Workers take jobs of their own commit alone, so each commit has a queue of its own. */
export function nameQueue(commit: string | undefined): string {
  if (commit === undefined) return 'no-commit';
  return /^[0-9a-f]{40,64}$/.test(commit) ? `commit-${commit}` : `commit-${hash('sha256', commit)}`;
}

async function findSame(query: Query, key: string, batch: NewBatch): Promise<string | undefined> {
  const rows = await query(
    `select id from ${SCHEMA}.callsheet_batch where key = $1 order by made desc limit 1`,
    [key],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const [counts] = await query(
    `select count(*) filter (where status <> 'done')::int as open,
            count(*) filter (where exit is distinct from 0)::int as unwell
     from ${SCHEMA}.callsheet_task where batch = $1`,
    [String(row.id)],
  );
  const isOpen = Number(counts?.open) > 0;
  // An approved plan can be carried out once.
  const isSpent =
    batch.tasks.some(({ plan }) => plan !== undefined) && Number(counts?.unwell) === 0;
  return isOpen || isSpent ? String(row.id) : undefined;
}

async function insertBatch(
  query: Query,
  { command, commit, flags, tasks }: NewBatch,
  {
    id,
    key,
    name,
    seal,
  }: {
    readonly id: string;
    readonly key: string;
    readonly name: string;
    readonly seal: SealTask;
  },
): Promise<void> {
  const text = JSON.stringify(flags);
  const rows = tasks.map((task, number) => ({
    ...task,
    number,
    seal: seal({ ...task, batch: id, number, command, flags: text }),
  }));
  await query(
    `insert into ${SCHEMA}.callsheet_batch (id, key, command, commit, flags, queue)
     values ($1, $2, $3, $4, $5, $6)`,
    [id, key, command, commit ?? null, text, name],
  );
  await query(
    `insert into ${SCHEMA}.callsheet_task (batch, number, stack, digest, plan, seal)
     select $1, t.number, t.stack, t.digest, t.plan, t.seal
     from json_to_recordset($2::text::json)
       as t (number integer, stack text, digest text, plan text, seal text)`,
    [id, JSON.stringify(rows)],
  );
}

/** An open queue: our tables, and pg-boss on the same connections. */
export type Queue = {
  readonly database: QueueDatabase;
  readonly boss: PgBoss;
  readonly close: () => Promise<void>;
};

type QueueOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if jobs of dead workers are looked for, which only workers need. */
  readonly isWorker: boolean;
  /** Gets the errors of pg-boss that belong to no call. */
  readonly onTrouble: (error: unknown) => void;
  /** Stands between the queue and its database. */
  readonly through?: (database: QueueDatabase) => QueueDatabase;
};

/** How often jobs are looked for whose worker went silent. */
const WATCH_SECONDS = 3;

/** Opens a queue and makes or brings forward its tables. Throws `CallsheetError` where that cannot be done. */
export async function openQueue(
  address: string | undefined,
  { env, isWorker, onTrouble, through = (database) => database }: QueueOptions,
): Promise<Queue> {
  const database = through(await openQueueDatabase(address, env));
  try {
    await database.explainFailures(() => migrateQueue(database));
    const { PgBoss } = await import('pg-boss');
    const boss = new PgBoss({
      db: executorOn(database.query),
      schema: SCHEMA,
      createSchema: false,
      schedule: false,
      supervise: isWorker,
      superviseIntervalSeconds: WATCH_SECONDS,
      monitorIntervalSeconds: WATCH_SECONDS,
      // Tables as small as these need no monitoring of their vacuum.
      monitorVacuum: false,
      reindex: false,
    });
    boss.on('error', onTrouble);
    await database.explainFailures(() => boss.start());
    return {
      database,
      boss,
      async close() {
        await boss.stop({ graceful: false }).catch(onTrouble);
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * The tables, step by step: the version of a queue is how many steps it has taken. Steps are only ever added, and
 * an empty one with each pg-boss that brings its own tables forward, so that an older Callsheet refuses those, too.
 *
 * | table               | a row is                                                              |
 * |---------------------|-----------------------------------------------------------------------|
 * | `callsheet_version` | the one row that says which step was taken last                       |
 * | `callsheet_batch`   | what one `queue add` asked for; `key` is a digest of all of it          |
 * | `callsheet_task`    | a stack of a batch, and what came of it                               |
 * | `callsheet_worker`  | a worker, and when it last asked for tasks of a commit                |
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
  `alter table ${SCHEMA}.callsheet_task add column seal text`,
  `alter table ${SCHEMA}.callsheet_task
     add column since timestamptz,
     add column run text;
   create table ${SCHEMA}.callsheet_worker (
     queue text not null,
     worker text not null,
     seen timestamptz not null default now(),
     primary key (queue, worker)
   )`,
];

/** Any number will do, as long as every Callsheet takes the same. */
const MIGRATION_LOCK = 7_122_043_352;

/** Makes our own tables, or takes the steps that are missing. Of several at once one does, and the others wait for it. */
async function migrateQueue(database: QueueDatabase): Promise<void> {
  if ((await readVersion(database.query, database.location)) === STEPS.length) return;
  await database.transaction('write', async (query) => {
    await query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, []);
    const version = await readVersion(query, database.location);
    if (version === undefined) {
      await query(`create schema if not exists ${SCHEMA}`, []);
      await query(`create table ${SCHEMA}.callsheet_version (version integer not null)`, []);
      await query(`insert into ${SCHEMA}.callsheet_version values (0)`, []);
    }
    for (const step of STEPS.slice(version ?? 0))
      for (const statement of step.split(';').filter((text) => text.trim() !== ''))
        await query(statement, []);
    await query(`update ${SCHEMA}.callsheet_version set version = $1::int`, [STEPS.length]);
  });
}

/** Returns the version of the tables; undefined where there are none. Throws for an unknown version. */
async function readVersion(query: Query, location: string): Promise<number | undefined> {
  // By a look at the catalogue: to_regclass may answer from what this connection knew before it waited for the lock.
  const there = await query(
    `select 1 from pg_catalog.pg_tables where schemaname = $1 and tablename = 'callsheet_version'`,
    [SCHEMA],
  );
  if (there.length === 0) return undefined;
  const [row] = await query(`select version from ${SCHEMA}.callsheet_version`, []);
  const version = Number(row?.version);
  if (version <= STEPS.length) return version;
  throw new CallsheetError(
    'config',
    `the queue ${location} was made by a newer Callsheet (version ${version}; this one knows ${STEPS.length})`,
    { hint: 'Install the same Callsheet here as on the other machines.' },
  );
}

/** A batch with all of its tasks, in the order of the tree. Undefined where there is none of that id. */
export async function readBatch(query: Query, id: string): Promise<BatchStatus | undefined> {
  const [row] = await query(`select command from ${SCHEMA}.callsheet_batch where id = $1`, [id]);
  if (row === undefined) return undefined;
  const tasks = await query(
    `select stack, status, exit, result, worker, run, attempts,
            case when isfinite(since) then to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') end as since
     from ${SCHEMA}.callsheet_task where batch = $1 order by number`,
    [id],
  );
  return { id, command: parseCommand(row.command), tasks: tasks.map(statusIn) };
}

/** Only what a count needs: a result may be large. */
export async function countTasks(
  query: Query,
  id: string,
): Promise<
  { readonly [status in TaskStatus['status']]: number } & { readonly notes: readonly string[] }
> {
  const rows = await query(
    `select status, note, count(*)::int as count from ${SCHEMA}.callsheet_task
     where batch = $1 group by status, note`,
    [id],
  );
  const sum = (status: TaskStatus['status']) =>
    rows.filter((row) => row.status === status).reduce((all, row) => all + Number(row.count), 0);
  const notes = rows
    .filter(({ status, note }) => status === 'waiting' && note !== null)
    .map(({ note, count }) => `${Number(count)}: ${String(note)}`);
  return { waiting: sum('waiting'), running: sum('running'), done: sum('done'), notes };
}

/** Who asks for tasks at the commit of a batch, and at others. */
export type Asking = {
  /** The commit of the batch, as it was enqueued; null outside of a repository. */
  readonly commit: string | null;
  readonly isAsked: boolean;
  /** Commits that workers ask for. */
  readonly others: readonly string[];
};

/** A worker that has not asked for so long no longer does: it asks every ten seconds. */
const ASKED_SECONDS = 30;
/** The most commits of others that are named. */
const MOST_OTHERS = 3;

/** Reads whether any worker asks for the tasks of a batch. */
export async function findAsking(query: Query, id: string): Promise<Asking> {
  const rows = await query(
    `select b.commit, b.queue as wanted, w.queue
     from ${SCHEMA}.callsheet_batch b left join ${SCHEMA}.callsheet_worker w
       on w.seen > now() - make_interval(secs => ${ASKED_SECONDS})
     where b.id = $1
     group by b.commit, b.queue, w.queue order by w.queue limit 100`,
    [id],
  );
  const commit = rows[0]?.commit;
  const others = rows.flatMap(({ queue, wanted }) =>
    typeof queue === 'string' && queue !== wanted ? queue.replace(/^commit-/, '') : [],
  );
  return {
    commit: typeof commit === 'string' ? commit : null,
    isAsked: rows.some(({ queue, wanted }) => queue === wanted),
    others: others.slice(0, MOST_OTHERS),
  };
}

/** Reads the command of a batch. Throws `CallsheetError` for one that no Callsheet of this version enqueues. */
export function parseCommand(value: unknown): QueuedCommand {
  if (value === 'plan' || value === 'apply' || value === 'drift') return value;
  throw new CallsheetError(
    'state',
    `its batch has the command ${clipped(String(value), 40)}, which queue add does not write`,
    { hint: 'Find out who writes to the database of the queue, then enqueue again.' },
  );
}

function statusIn(row: Row): TaskStatus {
  const status = parseStatus(row.status);
  const text = (value: unknown) => (typeof value === 'string' ? clipped(value, 200) : null);
  const { worker, run, since } = row;
  const working = {
    worker: text(worker),
    run: text(run),
    attempts: Number(row.attempts),
    since: text(since),
  };
  return {
    stack: String(row.stack),
    status,
    working: status === 'running' ? working : undefined,
    exit: row.exit === null ? undefined : Number(row.exit),
    result: typeof row.result === 'string' ? row.result : undefined,
  };
}

/** Reads an unknown status as `done`: no worker takes the task, and it has no result. */
function parseStatus(value: unknown): TaskStatus['status'] {
  return value === 'waiting' || value === 'running' ? value : 'done';
}
