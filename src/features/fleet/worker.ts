import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { CommonFlags, Context } from '../../console/context.ts';
import type { ListenAddress } from '../../console/flags.ts';
import { type LogFlags, monitorRoutes, openLog, serveRoutes } from '../../console/monitor/serve.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { isLoopback } from '../../core/origin.ts';
import { realPause } from '../../platform/rate.ts';
import { describeCheckout } from '../../run/actor.ts';
import { openClient, openConnections, readAccountId } from '../../run/client.ts';
import { type Budget, budgetedLimiter, openBudget } from './queue/budget.ts';
import { type QueueDatabase, QueueLost } from './queue/database.ts';
import { makeQueue, nameQueue, openQueue, type Queue } from './queue/enqueue.ts';
import { type Claim, handOut } from './queue/hand-out.ts';
import { refuseOneState } from './request.ts';
import {
  AWAY_MS,
  misfit,
  type OwnFlags,
  performTask,
  refuseTask,
  TRY_AGAIN_MS,
  type WorkEvent,
  work,
} from './work.ts';
import { EVENTS, openWorkerMetrics, toWorkerEvent, watchWorker } from './worker-log.ts';

export type WorkerFlags = CommonFlags &
  LogFlags & {
    readonly queue?: string;
    readonly untilEmpty?: boolean;
    /** Stacks at once. */
    readonly stacks: number;
    readonly concurrency: number;
    /** Permissions that a batch may carry, such as `delete`. */
    readonly allow?: readonly string[];
    /** Unset: nothing is answered. Many workers may be on one machine. */
    readonly listen?: ListenAddress;
  };

/** `callsheet queue work`: does what was enqueued for the commit of its checkout, until it is stopped. */
export async function worker(flags: WorkerFlags, context: Context): Promise<ExitCode> {
  const { now, stop, version } = context;
  refuseOneState('queue work', context.env);
  const { head: commit } = (await describeCheckout(flags.dir)) ?? {};
  // A restarted container has the same host and process id, so random bytes tell it from the worker that died.
  const name = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
  const log = openLog(EVENTS, flags, context);
  const metrics = openWorkerMetrics(context, now);
  const health = watchWorker({ version, worker: name, now });
  const tell = (event: WorkEvent) => {
    metrics.happened(event);
    health.happened(event);
    const line = toWorkerEvent(event, commit);
    if (line !== undefined) log(line);
  };
  const { listen } = flags;
  const routes = monitorRoutes({ report: health.report, expose: metrics.expose });
  const served = listen === undefined ? undefined : await serveRoutes(listen, routes);
  const emitStop = () => log({ event: 'stopping' });
  stop.addEventListener('abort', emitStop, { once: true });
  try {
    const at = served?.at ?? null;
    log({
      event: 'started',
      worker: name,
      commit: commit ?? null,
      stacks: flags.stacks,
      listen: at,
      version,
    });
    if (listen !== undefined && at !== null && !isLoopback({ hostname: listen.host }))
      log({ event: 'exposed', listen: at });
    const waiting = nameQueue(commit);
    const queue = await openInTime(flags, { stop, tell }, async () => {
      const opened = await openQueue(flags.queue, {
        env: context.env,
        isWorker: true,
        // pg-boss retries its own work; the worker's own requests report the same trouble.
        onTrouble: () => {},
        through: metrics.timingQueue,
      });
      return withQueue(opened, waiting);
    });
    const worked =
      queue === undefined
        ? { settled: 0, failed: 0, again: 0 }
        : await workOn(
            queue,
            waiting,
            name,
            flags,
            {
              ...context,
              wire: (transport) => metrics.counting(context.wire?.(transport) ?? transport),
              timed: metrics.timingState,
            },
            tell,
          );
    const { settled: done, failed, again } = worked;
    log({ event: 'stopped', done, failed, given_back: again });
    return EXIT.done;
  } finally {
    stop.removeEventListener('abort', emitStop);
    await served?.close();
  }
}

async function withQueue(queue: Queue, name: string): Promise<Queue> {
  try {
    await queue.database.explainFailures(() => makeQueue(queue, name));
    return queue;
  } catch (error) {
    await queue.close();
    throw error;
  }
}

/** A queue that is away when a worker starts is waited for as one that goes away later. Undefined: it is to stop. */
async function openInTime(
  { untilEmpty }: Pick<WorkerFlags, 'untilEmpty'>,
  { stop, tell }: Pick<Context, 'stop'> & { readonly tell: (event: WorkEvent) => void },
  open: () => Promise<Queue>,
): Promise<Queue | undefined> {
  const began = Date.now();
  let isLost = false;
  while (!stop.aborted) {
    tell({ type: 'turned' });
    try {
      const queue = await open();
      if (isLost) tell({ type: 'back', seconds: (Date.now() - began) / 1000 });
      return queue;
    } catch (error) {
      if (!(error instanceof QueueLost)) throw error;
      if (untilEmpty === true && Date.now() - began > AWAY_MS) throw error;
      if (!isLost) tell({ type: 'lost', error });
      isLost = true;
    }
    await realPause.sleep(TRY_AGAIN_MS, stop);
  }
  return undefined;
}

async function workOn(
  queue: Queue,
  waiting: string,
  name: string,
  flags: WorkerFlags,
  context: Context,
  tell: (event: WorkEvent) => void,
) {
  const budgets = openBudgets(queue.database, context, (held) => tell({ type: 'held', ...held }));
  // Its stacks share what a tree's do, and the rate with the workers on other machines.
  const connections = openConnections((baseUrl) => {
    const { host } = new URL(baseUrl);
    const own = { host, budget: budgets.at(baseUrl), most: flags.concurrency };
    return (others) => budgetedLimiter(others, own);
  });
  const inside = { ...context, connections };
  const own = ownFlags(flags);
  const mine = handOut(queue, waiting, name);
  // A run is not ended because it could not be written down for whoever looks.
  const noteRun = (claim: Claim) => (run: string) => void mine.noteRun(claim, run).catch(() => {});
  try {
    return await work({
      handOut: mine,
      atOnce: flags.stacks,
      untilEmpty: flags.untilEmpty === true,
      stop: context.stop,
      refuse: ({ task }) => refuseTask(task, new Set(flags.allow), context),
      misfit: ({ task }) => misfit(task, own, inside),
      perform: (claim) => performTask(claim.task, own, inside, noteRun(claim)),
      tell,
    });
  } finally {
    await budgets.close();
    await connections.close();
    await queue.close();
  }
}

/** Returns the flags that go into each command, beside those in the payload of the job. */
function ownFlags(flags: WorkerFlags) {
  const { dir, env, var: vars, varFile, allowEnv, allowExec, verbose, concurrency } = flags;
  const given = { env, var: vars, varFile, allowEnv, allowExec, verbose };
  const there = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(there), dir, concurrency } satisfies OwnFlags;
}

type Budgets = {
  /** The budget of the account that these credentials are for at a base address. */
  readonly at: (baseUrl: string) => Budget;
  readonly close: () => Promise<void>;
};

/** The budgets of a worker. Whose account it is is asked once for each base address, with the first request to it. */
function openBudgets(
  database: QueueDatabase,
  context: Context,
  onHeld: (held: { readonly baseUrl: string; readonly seconds: number }) => void,
): Budgets {
  const opened = new Map<string, Promise<ReturnType<typeof openBudget>>>();
  const known = new Map<string, Budget>();
  const budgetAt = (baseUrl: string) => {
    const before = opened.get(baseUrl);
    if (before !== undefined) return before;
    const made = accountAt(baseUrl, context).then((account) => {
      const budget = openBudget(database, { baseUrl, account }, (wait) =>
        onHeld({ baseUrl, seconds: wait / 1000 }),
      );
      known.set(baseUrl, budget);
      return budget;
    });
    opened.set(baseUrl, made);
    // The next request asks again.
    made.catch(() => opened.delete(baseUrl));
    return made;
  };
  return {
    at: (baseUrl) => ({
      turn: async (request) => (await budgetAt(baseUrl)).turn(request),
      refusals: () => known.get(baseUrl)?.refusals() ?? 1,
      heard: (answer) => known.get(baseUrl)?.heard(answer),
    }),
    async close() {
      const budgets = await Promise.allSettled(opened.values());
      for (const budget of budgets) if (budget.status === 'fulfilled') await budget.value.close();
    },
  };
}

/** The account that the credentials of the environment are for. Two requests, which no budget counts. */
async function accountAt(
  baseUrl: string,
  { connections: _, ...context }: Context,
): Promise<string> {
  // Only a client that was let have the credentials there asks for its budget.
  const platform = { base_url: baseUrl, by: 'operator' as const };
  const client = await openClient({ dir: '.', platform }, context);
  try {
    return await readAccountId(client);
  } finally {
    await client.close();
  }
}
