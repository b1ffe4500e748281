/**
 * `queue/` spreads stacks over machines: batches of tasks in PostgreSQL, handed out by pg-boss, and one rate budget
 * for everybody who works for the same account. It knows neither stacks nor plans: what a task means is for `fleet/`.
 */
import { CallsheetError } from '../../../core/errors.ts';
import { bareAddress, Origin } from '../../../core/origin.ts';
import {
  type Database,
  findReason,
  openDatabase,
  type Query,
  type Row,
} from '../../stores/postgres/database.ts';

/** The one schema that all tables lie in, those of pg-boss among them. */
export const SCHEMA = 'callsheet_queue';

/** Work that is still under way when a queue is closed is pg-boss's own, and need not end. */
const SECONDS_TO_END = 0.2;
/** A queue that does not answer for so long is taken for gone. */
const PATIENCE_MS = 60_000;

type Env = Readonly<Record<string, string | undefined>>;

/** The database of a queue, and how messages call it. */
export type QueueDatabase = Database & {
  readonly location: string;
  /** Does something with it, and puts into words what fails. pg-boss needs the failures as they are. */
  readonly explainFailures: <T>(work: () => Promise<T>) => Promise<T>;
};

/**
 * Opens the database of a queue: `--queue`, or `CALLSHEET_QUEUE`. A command line can be read by everybody on the
 * machine, so a password is taken from the environment alone. Connects with the first query.
 */
export async function openQueueDatabase(
  given: string | undefined,
  env: Env,
): Promise<QueueDatabase> {
  const address = findDatabase(given, env);
  const location = bareAddress(new URL(address));
  const database = await openDatabase(
    // It comes from the command line or the environment, never from a stack.
    Origin.given(address),
    {
      ...env,
      CALLSHEET_STATE_USERNAME: env.CALLSHEET_QUEUE_USERNAME ?? env.CALLSHEET_STATE_USERNAME,
      CALLSHEET_STATE_PASSWORD: env.CALLSHEET_QUEUE_PASSWORD ?? env.CALLSHEET_STATE_PASSWORD,
    },
    PATIENCE_MS,
    SECONDS_TO_END,
  );
  return {
    ...database,
    location,
    async explainFailures(work) {
      try {
        return await work();
      } catch (error) {
        throw wordedForQueue(error, location);
      }
    },
  };
}

const WHERE = 'Use the form postgres://user@host/database, the same for every user of the queue.';

function findDatabase(given: string | undefined, env: Env): string {
  const address = given ?? env.CALLSHEET_QUEUE ?? '';
  if (address === '')
    throw new CallsheetError('usage', 'no queue is named', {
      hint: `Set it with --queue or CALLSHEET_QUEUE. ${WHERE}`,
    });
  const from = given === undefined ? 'CALLSHEET_QUEUE' : '--queue';
  if (!/^postgres(ql)?:\/\//.test(address) || !URL.canParse(address))
    throw new CallsheetError('usage', `${from} is not the address of a PostgreSQL database`, {
      hint: WHERE,
    });
  if (given !== undefined && new URL(given).password !== '')
    throw new CallsheetError('usage', '--queue has a password in it', {
      hint: 'Set CALLSHEET_QUEUE_PASSWORD (or PGPASSWORD) instead: every user of the machine can read a command line.',
    });
  return address;
}

const GONE = 'Check that the database runs and can be reached from here.';
const WHO =
  'Set CALLSHEET_QUEUE_PASSWORD (or PGPASSWORD), and CALLSHEET_QUEUE_USERNAME where the address names no user.';
/** Hints that replace those of a state store, which would mislead here. */
const HINTS: { readonly [code: string]: string } = {
  '28P01': WHO,
  '28000': WHO,
  '42501': `Give the user of the address the right to create a schema, or create the schema ${SCHEMA} for it.`,
  '53100': 'Existing data is kept. Free some space: workers then continue by themselves.',
  '42P01': `It was removed. Drop the schema ${SCHEMA} and enqueue again: it contains only the queue.`,
  '42703': `The tables were changed. Drop the schema ${SCHEMA} and enqueue again: it contains only the queue.`,
};

function wordedForQueue(error: unknown, location: string): unknown {
  if (error instanceof CallsheetError) return error;
  const reason = findReason(error);
  if (reason === undefined) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return 'loss' in reason
    ? new QueueLost(location, reason.loss.words, error)
    : new CallsheetError('config', `the queue ${location} refused: ${reason.why}`, {
        hint: HINTS[code] ?? reason.hint ?? GONE,
        cause: error,
      });
}

/** The queue did not answer. It may do so again in a while. */
export class QueueLost extends CallsheetError {
  constructor(location: string, why: string, cause: unknown) {
    super('network', `the queue ${location} does not answer: ${why}`, { hint: GONE, cause });
  }
}

type Executor = {
  readonly executeSql: (text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;
};

/** Runs pg-boss's statements on its own connections, or inside of a transaction that the caller ends. */
export function executorOn(query: Query): Executor {
  return {
    executeSql: async (text, values = []) => ({
      rows: [...(await query(text, values as Parameters<Query>[1]))],
    }),
  };
}
