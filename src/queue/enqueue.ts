import { createHash } from 'node:crypto';
import type { PgBoss } from 'pg-boss';
import { digestOf } from '../core/digest.ts';
import type { Query } from '../state/postgres/database.ts';
import { type BatchStatus, type NewBatch, readBatch } from './batch.ts';
import { executorOn, openQueueDatabase, type QueueDatabase, SCHEMA } from './database.ts';
import { migrateQueue } from './schema.ts';

/** What there is to know of a batch before it is looked at. */
export type Enqueued = {
  readonly id: string;
  /** Whether it was there already: the same command for the same stacks of the same commit, with the same flags. */
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
export async function enqueue(queue: Queue, batch: NewBatch, id: string): Promise<Enqueued> {
  const { database, boss } = queue;
  const key = digestOf(batch);
  const name = queueOf(batch.commit);
  return database.told(async () => {
    await makeQueue(queue, name);
    return database.transaction('write', async (query) => {
      // Of two who enqueue the same at once the second finds the batch of the first.
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
      const found = await findSame(query, key, batch);
      if (found !== undefined) return { id: found, isOld: true };
      await insertBatch(query, batch, { id, key, name });
      const jobs = batch.tasks.map((_, number) => jobOf({ batch: id, number }));
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

/** What a job of pg-boss says: which task to look at. */
export type JobData = { readonly batch: string; readonly number: number };

/** One job for each task at a time, whoever asks for it. */
export function jobOf(data: JobData, startAfter = 0) {
  return { data, singletonKey: `${data.batch}/${data.number}`, startAfter };
}

/** Workers take jobs of their own commit alone, so each commit has a queue of its own. */
export function queueOf(commit: string | undefined): string {
  if (commit === undefined) return 'no-commit';
  return /^[0-9a-f]{40,64}$/.test(commit)
    ? `commit-${commit}`
    : `commit-${createHash('sha256').update(commit).digest('hex')}`;
}

async function findSame(query: Query, key: string, batch: NewBatch): Promise<string | undefined> {
  const rows = await query(
    `select id from ${SCHEMA}.callsheet_batch where key = $1 order by made desc limit 1`,
    [key],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const status = await readBatch(query, String(row.id));
  if (status === undefined) return undefined;
  const isOpen = status.tasks.some(({ status: is }) => is !== 'done');
  return isOpen || isSpent(status, batch) ? status.id : undefined;
}

/** An approved plan can be carried out once. */
function isSpent({ tasks }: BatchStatus, { tasks: wanted }: NewBatch): boolean {
  return wanted.some(({ plan }) => plan !== undefined) && tasks.every(({ exit }) => exit === 0);
}

async function insertBatch(
  query: Query,
  { command, commit, flags, tasks }: NewBatch,
  { id, key, name }: { readonly id: string; readonly key: string; readonly name: string },
): Promise<void> {
  await query(
    `insert into ${SCHEMA}.callsheet_batch (id, key, command, commit, flags, queue)
     values ($1, $2, $3, $4, $5, $6)`,
    [id, key, command, commit ?? null, JSON.stringify(flags), name],
  );
  await query(
    `insert into ${SCHEMA}.callsheet_task (batch, number, stack, digest, plan)
     select $1, t.number, t.stack, t.digest, t.plan
     from json_to_recordset($2::text::json) as t (number integer, stack text, digest text, plan text)`,
    [id, JSON.stringify(tasks.map((task, number) => ({ ...task, number })))],
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
  /** Whether jobs of dead workers are looked for, which workers do and others need not. */
  readonly isWorker: boolean;
  /** Told of what pg-boss fails at beside what it was asked for. */
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
    await database.told(() => migrateQueue(database));
    const { PgBoss } = await import('pg-boss');
    const boss = new PgBoss({
      db: executorOn(database.query),
      schema: SCHEMA,
      createSchema: false,
      schedule: false,
      supervise: isWorker,
      superviseIntervalSeconds: WATCH_SECONDS,
      monitorIntervalSeconds: WATCH_SECONDS,
      // Tables as small as these need nobody to watch over their vacuum.
      monitorVacuum: false,
      reindex: false,
    });
    boss.on('error', onTrouble);
    await database.told(() => boss.start());
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
