import type { Json } from '../core/value.ts';
import type { Query, Row } from '../state/postgres/database.ts';
import { SCHEMA } from './database.ts';

/** What a worker is to do with each stack of a batch. */
export type QueuedCommand = 'plan' | 'apply' | 'drift';

/** What somebody asked for: one command for many stacks, from one commit. */
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
  /** Digest of its configuration, as whoever enqueued it has it. */
  readonly digest: string;
  /** The plan that was approved, for `apply` of plan files. Secrets are masked in it. */
  readonly plan?: string;
};

/** A task in the hands of a worker. */
export type Task = NewTask & {
  readonly batch: string;
  readonly number: number;
  readonly command: QueuedCommand;
  readonly flags: NewBatch['flags'];
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
export type TaskStatus = Pick<Task, 'number' | 'stack' | 'attempts' | 'deaths'> & {
  readonly status: 'waiting' | 'running' | 'done';
  /** Who works at it, or did last. */
  readonly worker: string | null;
  /** Why it waits, where it was put off. */
  readonly note: string | null;
  /** How it ended, as the command would have. Undefined while it is not done. */
  readonly exit: number | undefined;
  /** What came of it; undefined while it is not done. */
  readonly result: Json | undefined;
};

export type BatchStatus = {
  readonly id: string;
  readonly command: QueuedCommand;
  readonly commit: string | null;
  readonly made: Date;
  readonly tasks: readonly TaskStatus[];
};

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
