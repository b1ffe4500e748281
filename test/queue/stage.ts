import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { describeCheckout } from '../../src/cli/actor.ts';
import { type EnqueueFlags, enqueueCommand } from '../../src/cli/commands/enqueue.ts';
import { type WorkerFlags, worker } from '../../src/cli/commands/worker.ts';
import { openQueue, type Queue } from '../../src/queue/open.ts';
import { contextFor, ORGANIZATIONS, platform } from '../cli/fleet/tree.ts';
import { PASSWORD, startPostgres } from '../stores/postgres-server.ts';
import { type ManyStacks, manyStacks } from './many-stacks.ts';

/** A PostgreSQL for the tests of a file. */
export function postgresForFile() {
  let server: Awaited<ReturnType<typeof startPostgres>> | undefined;
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());
  return {
    /** The address of a database of its own. */
    async database(): Promise<string> {
      if (server === undefined) throw new Error('there is no server yet');
      count += 1;
      await server.createDatabase(`queue${count}`);
      return server.url(`queue${count}`);
    },
  };
}

export type Ended = { readonly exit: number; readonly out: string; readonly err: string };

/** A tree of stacks, an empty platform and an empty queue. */
export async function openStage(url: string, stacks: Partial<ManyStacks> = {}) {
  const sim = await platform();
  const dir = manyStacks({ stacks: 3, agents: 1, organizations: ORGANIZATIONS, ...stacks });

  async function run(
    work: (context: ReturnType<typeof contextFor>['context']) => Promise<number>,
    { env = {}, stop }: RunOptions = {},
  ): Promise<Ended> {
    const { context, said } = contextFor(sim, stop);
    const queued = { CALLSHEET_QUEUE_PASSWORD: PASSWORD, CALLSHEET_QUEUE: url };
    const exit = await work({ ...context, env: { ...context.env, ...queued, ...env } });
    return { exit, ...said };
  }

  return {
    sim,
    dir,
    commit: async (folder = dir) => (await describeCheckout(folder))?.head,
    enqueue: (
      words: readonly (string | undefined)[],
      flags: Partial<EnqueueFlags> = {},
      options?: RunOptions,
    ) =>
      run(
        (context) => enqueueCommand(words[0], words[1], { dir, format: 'text', ...flags }, context),
        options,
      ),
    work: (flags: Partial<WorkerFlags> = {}, options?: RunOptions) =>
      run(
        (context) =>
          worker({ dir, stacks: 4, concurrency: 8, untilEmpty: true, ...flags }, context),
        options,
      ),
    /** The queue as another machine has it. */
    async queue(): Promise<Queue> {
      const env = { CALLSHEET_QUEUE_PASSWORD: PASSWORD };
      const queue = await openQueue(url, { env, isWorker: false, onTrouble: () => {} });
      onTestFinished(() => queue.close());
      return queue;
    },
    names: () => [...sim.store.agents.values()].map(({ record }) => record.name).sort(),
  };
}

export type RunOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stop?: AbortSignal;
};
