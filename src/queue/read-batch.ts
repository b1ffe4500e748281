import type { Query, Row } from '../stores/postgres-database.ts';
import type { BatchStatus, QueuedCommand, TaskStatus } from './batch.ts';
import { SCHEMA } from './database.ts';

/** A batch with all of its tasks, in the order of the tree. Undefined where there is none of that id. */
export async function readBatch(query: Query, id: string): Promise<BatchStatus | undefined> {
  const [row] = await query(
    `select id, command, commit, made from ${SCHEMA}.callsheet_batch where id = $1`,
    [id],
  );
  if (row === undefined) return undefined;
  const tasks = await query(
    `select number, stack, status, attempts, cardinality(died) as deaths, worker, note, exit, result
     from ${SCHEMA}.callsheet_task where batch = $1 order by number`,
    [id],
  );
  return {
    id,
    command: commandOf(row.command),
    commit: textOrNull(row.commit),
    made: new Date(String(row.made)),
    tasks: tasks.map(taskOf),
  };
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

export function commandOf(value: unknown): QueuedCommand {
  if (value === 'plan' || value === 'apply' || value === 'drift') return value;
  throw new Error(`a batch has the command ${String(value)}`);
}

function taskOf(row: Row): TaskStatus {
  return {
    number: Number(row.number),
    stack: String(row.stack),
    status: statusOf(row.status),
    attempts: Number(row.attempts),
    deaths: Number(row.deaths),
    worker: textOrNull(row.worker),
    note: textOrNull(row.note),
    exit: row.exit === null ? undefined : Number(row.exit),
    result: row.result === null ? undefined : JSON.parse(String(row.result)),
  };
}

function statusOf(value: unknown): TaskStatus['status'] {
  if (value === 'waiting' || value === 'running' || value === 'done') return value;
  throw new Error(`a task has the status ${String(value)}`);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
