import type { Json } from '../../../core/value.ts';
import type { Query, Row } from '../../stores/postgres/database.ts';
import { executorOn, SCHEMA } from './database.ts';
import { buildJob, type JobData, type Queue, type Task } from './enqueue.ts';

/** A task that this worker holds, until it settles it, puts it off, or is taken for dead. */
export type Claim = {
  readonly task: Task;
  /** The job, and which of its attempts this is: what another worker took meanwhile is left alone. */
  readonly job: { readonly id: string; readonly retryCount: number };
};

/**
 * One worker's part of the queue. If a worker with several stacks dies, the stack that killed it is not known. So they
 * are all worked at alone from then on, and only a worker that dies at one stack alone counts against that stack:
 *
 *     taken with others ──worker silent──▶ suspect ──taken──▶ held until its worker has nothing else ──▶ alone
 *                                             ▲                                                            │
 *                                             └───────────────── worker silent: one more of `died` ────────┘
 *
 * A worker that was silent and lives strikes itself off `died` as soon as it finds that another one has its task.
 */
export type HandOut = {
  /** Takes up to so many tasks, beside those that this worker works at already. */
  readonly take: (most: number, beside: readonly Claim[]) => Promise<readonly Claim[]>;
  /** Says that this worker still works at them. */
  readonly touch: (claims: readonly Claim[]) => Promise<void>;
  /** Gives back what was taken and waits to be worked at alone. */
  readonly giveBack: (why: string) => Promise<void>;
  /** Writes down what came of one. False: another worker has it by now, and nothing was written. */
  readonly settle: (claim: Claim, exit: number, result: Json) => Promise<boolean>;
  /** Gives one back: a free worker takes it after so many seconds. */
  readonly putOff: (claim: Claim, why: string, seconds: number) => Promise<boolean>;
  /** Writes down the run that works at one, for whoever looks. */
  readonly noteRun: (claim: Claim, run: string) => Promise<void>;
  /** Writes down that this worker asks for tasks of its commit. */
  readonly ask: () => Promise<void>;
  /** How many tasks are not done, in this queue and in those of other commits. */
  readonly left: () => Promise<Left>;
  /** True where no task of this queue is open but those, by their keys: nothing is left that others might leave. */
  readonly isEmptyBut: (keys: ReadonlySet<string>) => Promise<boolean>;
};

/** The key of a task among all of a database. */
export function taskKey({ batch, number }: Pick<Task, 'batch' | 'number'>): string {
  return `${batch}/${number}`;
}

export type Left = {
  readonly waiting: number;
  readonly running: number;
  /** Since when the oldest of them has been there; 0 where there is none. */
  readonly oldestSeconds: number;
  readonly elsewhere: readonly { readonly commit: string; readonly tasks: number }[];
};

/** Hands out the tasks of one commit to a worker of that name. */
export function handOut({ database, boss }: Queue, queue: string, worker: string): HandOut {
  /** A suspect that waits until this worker works at nothing else. */
  let held: Claim | undefined;

  /** Ends the job and says what is true of its task, in one step: neither is ever without the other. */
  const finish = (claim: Claim, say: (query: Query) => Promise<unknown>): Promise<boolean> =>
    database.explainFailures(() =>
      database.transaction('write', async (query) => {
        const ended = await boss.complete(queue, claim.job, null, { db: executorOn(query) });
        const isMine = 'affected' in ended && ended.affected === 1;
        await (isMine ? say(query) : strikeOff(query, claim, worker));
        return isMine;
      }),
    );

  const fetch = (most: number): Promise<readonly Claim[]> =>
    database.explainFailures(() =>
      database.transaction('write', async (query) => {
        const db = executorOn(query);
        const claims: Claim[] = [];
        // One by one, as it has room for one suspect at a time: the others are for other free workers.
        while (claims.length < most && !claims.some(isSuspect)) {
          const [next] = await boss.fetch<JobData>(queue, { batchSize: 1, db });
          if (next === undefined) break;
          const job = { id: next.id, retryCount: next.retryCount };
          const row = await claimTask(query, next.data, worker);
          // Its batch was deleted, or another worker was done with it in the end.
          if (row === undefined) await boss.complete(queue, job, null, { db });
          else claims.push({ task: toTask(row), job });
        }
        return claims;
      }),
    );

  /** False: another worker has it by now. */
  const beginAlone = ({ task: { batch, number } }: Claim): Promise<boolean> =>
    database.explainFailures(async () => {
      const rows = await database.query(
        `update ${SCHEMA}.callsheet_task set alone = true
         where batch = $1 and number = $2::int and status = 'running' and worker = $3
         returning number`,
        [batch, number, worker],
      );
      return rows.length === 1;
    });

  const putOff = (claim: Claim, why: string, seconds: number): Promise<boolean> =>
    finish(claim, async (query) => {
      const { batch, number } = claim.task;
      await boss.insert(queue, [buildJob({ batch, number }, seconds)], { db: executorOn(query) });
      await query(
        `update ${SCHEMA}.callsheet_task
         set status = 'waiting', delays = case when note = $3 then least(delays, ${MOST_COUNTED}) + 1 else 1 end, note = $3
         where batch = $1 and number = $2::int`,
        [batch, number, why],
      );
    });

  return {
    async take(most, beside) {
      if (beside.some(isSuspect)) return [];
      if (held === undefined) {
        const claims = await fetch(most);
        held = claims.find(isSuspect);
        const others = claims.filter((claim) => claim !== held);
        if (held === undefined || others.length > 0) return others;
      }
      if (beside.length > 0) return [];
      const isMine = await beginAlone(held);
      const alone = isMine ? [held] : [];
      held = undefined;
      return alone;
    },
    async touch(claims) {
      const jobs = [...claims, ...(held === undefined ? [] : [held])].map(({ job }) => job);
      if (jobs.length > 0) await database.explainFailures(() => boss.touch(queue, jobs));
    },
    async giveBack(why) {
      if (held !== undefined) await putOff(held, why, 0);
      held = undefined;
    },
    settle: (claim, exit, result) =>
      finish(claim, (query) =>
        query(
          `update ${SCHEMA}.callsheet_task set status = 'done', note = null, exit = $3::int, result = $4
           where batch = $1 and number = $2::int`,
          [claim.task.batch, claim.task.number, exit, JSON.stringify(result)],
        ),
      ),
    putOff,
    noteRun: ({ task: { batch, number } }, run) =>
      database.explainFailures(async () => {
        await database.query(
          `update ${SCHEMA}.callsheet_task set run = $4
           where batch = $1 and number = $2::int and status = 'running' and worker = $3`,
          [batch, number, worker, run],
        );
      }),
    ask: () =>
      database.explainFailures(async () => {
        await database.query(
          `insert into ${SCHEMA}.callsheet_worker (queue, worker) values ($1, $2)
           on conflict (queue, worker) do update set seen = now()`,
          [queue, worker],
        );
        await database.query(
          `delete from ${SCHEMA}.callsheet_worker where seen < now() - interval '1 day'`,
          [],
        );
      }),
    left: () =>
      database.explainFailures(async () => {
        const open = await database.query(
          `select b.queue = $1 as mine, b.commit, count(*)::int as tasks,
                  count(*) filter (where t.status = 'running')::int as running,
                  extract(epoch from now() - min(b.made) filter (where isfinite(b.made)))::float8 as age
           from ${SCHEMA}.callsheet_task t join ${SCHEMA}.callsheet_batch b on b.id = t.batch
           where t.status <> 'done'
           group by b.queue = $1, b.commit order by min(b.made) desc limit ${MOST_COMMITS}`,
          [queue],
        );
        return findLeft(open);
      }),
    isEmptyBut: (keys) =>
      database.explainFailures(async () => {
        const rows = await database.query(
          `select 1 from ${SCHEMA}.callsheet_task t join ${SCHEMA}.callsheet_batch b on b.id = t.batch
           where t.status <> 'done' and b.queue = $1
             and not (t.batch || '/' || t.number = any (array(select json_array_elements_text($2::text::json))))
           limit 1`,
          [queue, JSON.stringify([...keys])],
        );
        return rows.length === 0;
      }),
  };
}

/** Numbers of a row are counted no further: an integer of PostgreSQL has an end. */
const MOST_COUNTED = 1_000_000;
/** The most commits whose waiting work is reported. */
const MOST_COMMITS = 100;

function isSuspect({ task }: Claim): boolean {
  return task.isSuspect;
}

async function claimTask(query: Query, data: JobData, worker: string): Promise<Row | undefined> {
  // A task that still reads as running was in the hands of a worker that fell silent.
  const [row] = await query(
    `update ${SCHEMA}.callsheet_task t
     set status = 'running', worker = $3, since = now(), run = null, attempts = least(attempts, ${MOST_COUNTED}) + 1, alone = false,
         suspect = suspect or status = 'running',
         died = case when status = 'running' and alone then array_append(died, t.worker) else died end
     from ${SCHEMA}.callsheet_batch b
     where t.batch = $1 and t.number = $2::int and t.status <> 'done' and b.id = t.batch
     returning t.batch, t.number, t.stack, t.digest, t.plan, t.attempts, cardinality(t.died) as deaths,
               t.suspect, t.note, t.delays, t.seal, b.command, b.flags`,
    [data.batch, data.number, worker],
  );
  return row;
}

/** Removes a worker that was taken for dead, and lives, from the workers that the task is suspected to have killed. */
async function strikeOff(query: Query, { task }: Claim, worker: string): Promise<void> {
  await query(
    `update ${SCHEMA}.callsheet_task
     set died = array_remove(died, $3), alone = alone and worker <> $3
     where batch = $1 and number = $2::int`,
    [task.batch, task.number, worker],
  );
}

function toTask(row: Row): Task {
  return {
    batch: String(row.batch),
    number: Number(row.number),
    stack: String(row.stack),
    digest: String(row.digest),
    ...(typeof row.plan === 'string' ? { plan: row.plan } : {}),
    seal: typeof row.seal === 'string' ? row.seal : null,
    attempts: Number(row.attempts),
    deaths: Number(row.deaths),
    isSuspect: row.suspect === true,
    note: typeof row.note === 'string' ? row.note : null,
    delays: Number(row.delays),
    command: String(row.command),
    flags: String(row.flags),
  };
}

function findLeft(rows: readonly Row[]): Left {
  const mine = rows.filter((row) => row.mine === true);
  const others = rows.filter((row) => row.mine !== true);
  const sum = (column: 'tasks' | 'running') =>
    mine.reduce((all, row) => all + Number(row[column]), 0);
  return {
    waiting: sum('tasks') - sum('running'),
    running: sum('running'),
    oldestSeconds: Math.max(0, ...mine.map(({ age }) => Number(age))),
    elsewhere: others.map(({ commit, tasks }) => ({
      commit: typeof commit === 'string' ? commit : 'no commit',
      tasks: Number(tasks),
    })),
  };
}
