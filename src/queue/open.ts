import type { PgBoss } from 'pg-boss';
import { executorOn, openQueueDatabase, type QueueDatabase, SCHEMA } from './database.ts';
import { migrateQueue } from './schema.ts';

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
