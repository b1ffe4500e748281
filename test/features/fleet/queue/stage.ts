import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Context } from '../../../../src/console/context.ts';
import { onTerminal } from '../../../../src/console/events.ts';
import type { QueuedCommand } from '../../../../src/console/flags.ts';
import { Origin } from '../../../../src/core/origin.ts';
import { openQueue, type Queue } from '../../../../src/features/fleet/queue/enqueue.ts';
import { add, type QueueFlags, show } from '../../../../src/features/fleet/queue.ts';
import { type WorkerFlags, worker } from '../../../../src/features/fleet/worker.ts';
import { type Database, openDatabase } from '../../../../src/features/stores/postgres/database.ts';
import { describeCheckout } from '../../../../src/run/actor.ts';
import { PASSWORD, startPostgres } from '../../stores/postgres-server.ts';
import { contextFor, ORGANIZATIONS, platform } from '../tree.ts';
import { type ManyStacks, manyStacks } from './many-stacks.ts';

export const ENV = { CALLSHEET_QUEUE_PASSWORD: PASSWORD };

/** A PostgreSQL for the tests of a file. */
export function postgresForFile() {
  let server: Awaited<ReturnType<typeof startPostgres>> | undefined;
  let admin: Database | undefined;
  let count = 0;
  const url = (name: string) => server?.url(name) ?? '';
  beforeAll(async () => {
    server = await startPostgres();
    const env = { CALLSHEET_STATE_PASSWORD: PASSWORD };
    admin = await openDatabase(Origin.given(server.url()), env, 30_000);
    // Tables are made once, and copied: a copy takes a tenth of the time.
    await admin.query('create database made', []);
    const queue = await openQueue(url('made'), { env: ENV, isWorker: false, onTrouble: () => {} });
    await queue.close();
  });
  afterAll(async () => {
    await admin?.close();
    await server?.stop();
  });

  async function create(from: string): Promise<string> {
    count += 1;
    await admin?.query(`create database queue${count} template ${from}`, []);
    return url(`queue${count}`);
  }

  return {
    /** The address of a database that is not there unless somebody makes it. */
    url,
    /** Ends the server by a signal, and starts it again. */
    restart: async (signal: 'SIGINT' | 'SIGKILL') => server?.restart(signal),
    /** Ends the server. What is returned starts it again. */
    end: async () => server?.end('SIGINT'),
    /** The address of an empty database. */
    empty: () => create('template0'),
    /** The address of a database that has a queue, with nothing in it. */
    database: () => create('made'),
  };
}

export type Ended = { readonly exit: number; readonly out: string; readonly err: string };

/** A tree of stacks, an empty platform and an empty queue. */
export async function openStage(url: string, stacks: Partial<ManyStacks> = {}) {
  const sim = await platform();
  const dir = manyStacks({ stacks: 3, agents: 1, organizations: ORGANIZATIONS, ...stacks });

  async function run(
    work: (context: ReturnType<typeof contextFor>['context']) => Promise<number>,
    { env = {}, stop, clock }: RunOptions = {},
  ): Promise<Ended> {
    const { context, said } = contextFor(sim, stop);
    const queued = { CALLSHEET_QUEUE_PASSWORD: PASSWORD, CALLSHEET_QUEUE: url };
    const exit = await work({ ...context, ...clock, env: { ...context.env, ...queued, ...env } });
    return { exit, ...said };
  }

  return {
    sim,
    dir,
    commit: async (folder = dir) => (await describeCheckout(folder))?.head,
    enqueue: (
      [command, plans]: readonly [QueuedCommand, string?],
      flags: Partial<QueueFlags> = {},
      options?: RunOptions,
    ) => run((context) => add(command, plans, { dir, format: 'text', ...flags }, context), options),
    report: (batch: string, flags: Partial<QueueFlags> = {}, options?: RunOptions) =>
      run((context) => show(batch, { dir, format: 'text', ...flags }, context), options),
    work: (flags: Partial<WorkerFlags> = {}, options?: RunOptions) =>
      run(({ terminal, ...context }) => {
        const given = { dir, stacks: 4, concurrency: 8, untilEmpty: true, ...flags };
        const lined = { ...terminal, out: (line: string) => terminal.out(`${line}\n`) };
        return worker({ log: 'text', ...given }, { ...context, ...onTerminal(lined) });
      }, options),
    /** The queue as another machine has it. */
    async queue(): Promise<Queue> {
      const queue = await openQueue(url, { env: ENV, isWorker: false, onTrouble: () => {} });
      onTestFinished(() => queue.close());
      return queue;
    },
    names: () => [...sim.store.agents.values()].map(({ record }) => record.name).sort(),
  };
}

export type RunOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stop?: AbortSignal;
  /** Another clock, and what sleeps on it. */
  readonly clock?: Pick<Context, 'now' | 'pause'>;
};
