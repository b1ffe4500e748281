import type { Json } from '../core/value.ts';
import type { Query, Row } from '../stores/postgres-database.ts';
import type { Task } from './batch.ts';
import { executorOn, SCHEMA } from './database.ts';
import { type JobData, jobOf } from './enqueue.ts';
import type { Queue } from './open.ts';
import { commandOf } from './read-batch.ts';

/** A task that this worker holds, until it settles it, puts it off, or is taken for dead. */
export type Claim = {
  readonly task: Task;
  /** The job, and which of its attempts this is: what another worker took meanwhile is left alone. */
  readonly job: { readonly id: string; readonly retryCount: number };
};

export type HandOut = {
  /** Takes up to so many tasks. */
  readonly take: (most: number) => Promise<readonly Claim[]>;
  /** Says that this worker still works at them. */
  readonly touch: (claims: readonly Claim[]) => Promise<void>;
  /** Writes down what came of one. False: another worker has it by now, and nothing was written. */
  readonly settle: (claim: Claim, exit: number, result: Json) => Promise<boolean>;
  /** Gives one back: whoever is free takes it after so many seconds. */
  readonly putOff: (claim: Claim, why: string, seconds: number) => Promise<boolean>;
  /** Tasks of the queue that are not done, and how many wait in those of other commits. */
  readonly left: () => Promise<Left>;
};

export type Left = {
  readonly tasks: readonly { readonly batch: string; readonly number: number }[];
  readonly elsewhere: readonly { readonly commit: string; readonly tasks: number }[];
};

/** Hands out the tasks of one commit to a worker of that name. */
export function handOut({ database, boss }: Queue, queue: string, worker: string): HandOut {
  /** Ends the job and says what is true of its task, in one step: neither is ever without the other. */
  const finish = (claim: Claim, say: (query: Query) => Promise<unknown>): Promise<boolean> =>
    database.told(() =>
      database.transaction('write', async (query) => {
        const ended = await boss.complete(queue, claim.job, null, { db: executorOn(query) });
        if (!('affected' in ended) || ended.affected !== 1) return false;
        await say(query);
        return true;
      }),
    );

  return {
    take: (most) =>
      database.told(() =>
        database.transaction('write', async (query) => {
          const db = executorOn(query);
          const jobs = await boss.fetch<JobData>(queue, { batchSize: most, db });
          const claims: Claim[] = [];
          for (const { id, retryCount, data } of jobs) {
            const job = { id, retryCount };
            const row = await begin(query, data, worker);
            // Its batch was deleted, or another worker was done with it in the end.
            if (row === undefined) await boss.complete(queue, job, null, { db });
            else claims.push({ task: taskOf(row), job });
          }
          return claims;
        }),
      ),
    async touch(claims) {
      if (claims.length === 0) return;
      const jobs = claims.map(({ job }) => job);
      await database.told(() => boss.touch(queue, jobs));
    },
    settle: (claim, exit, result) =>
      finish(claim, (query) =>
        query(
          `update ${SCHEMA}.callsheet_task set status = 'done', note = null, exit = $3::int, result = $4
           where batch = $1 and number = $2::int`,
          [claim.task.batch, claim.task.number, exit, JSON.stringify(result)],
        ),
      ),
    putOff: (claim, why, seconds) =>
      finish(claim, async (query) => {
        const { batch, number } = claim.task;
        await boss.insert(queue, [jobOf({ batch, number }, seconds)], { db: executorOn(query) });
        await query(
          `update ${SCHEMA}.callsheet_task
           set status = 'waiting', delays = case when note = $3 then delays + 1 else 1 end, note = $3
           where batch = $1 and number = $2::int`,
          [batch, number, why],
        );
      }),
    left: () =>
      database.told(async () => {
        const open = await database.query(
          `select t.batch, t.number, b.queue, b.commit from ${SCHEMA}.callsheet_task t
           join ${SCHEMA}.callsheet_batch b on b.id = t.batch where t.status <> 'done'`,
          [],
        );
        return leftOf(open, queue);
      }),
  };
}

async function begin(query: Query, data: JobData, worker: string): Promise<Row | undefined> {
  // What still reads as running was in the hands of a worker that died.
  const [row] = await query(
    `update ${SCHEMA}.callsheet_task t
     set status = 'running', worker = $3, attempts = attempts + 1,
         deaths = deaths + case when status = 'running' then 1 else 0 end
     from ${SCHEMA}.callsheet_batch b
     where t.batch = $1 and t.number = $2::int and t.status <> 'done' and b.id = t.batch
     returning t.batch, t.number, t.stack, t.digest, t.plan, t.attempts, t.deaths, t.delays,
               b.command, b.flags`,
    [data.batch, data.number, worker],
  );
  return row;
}

function taskOf(row: Row): Task {
  return {
    batch: String(row.batch),
    number: Number(row.number),
    stack: String(row.stack),
    digest: String(row.digest),
    ...(typeof row.plan === 'string' ? { plan: row.plan } : {}),
    attempts: Number(row.attempts),
    deaths: Number(row.deaths),
    delays: Number(row.delays),
    command: commandOf(row.command),
    flags: JSON.parse(String(row.flags)),
  };
}

function leftOf(rows: readonly Row[], queue: string): Left {
  const mine = rows.filter((row) => row.queue === queue);
  const counts = new Map<string, number>();
  for (const row of rows) {
    if (row.queue === queue) continue;
    const commit = typeof row.commit === 'string' ? row.commit : 'no commit';
    counts.set(commit, (counts.get(commit) ?? 0) + 1);
  }
  return {
    tasks: mine.map(({ batch, number }) => ({ batch: String(batch), number: Number(number) })),
    elsewhere: [...counts].map(([commit, tasks]) => ({ commit, tasks })),
  };
}
