import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { budgetedLimiter } from '../../api/budget.ts';
import { type Lane, openLane } from '../../api/lane.ts';
import { steadyTime } from '../../api/steady-time.ts';
import { QueueLost } from '../../queue/database.ts';
import { makeQueue, queueOf } from '../../queue/enqueue.ts';
import { handOut } from '../../queue/hand-out.ts';
import { openQueue, type Queue } from '../../queue/open.ts';
import { describeCheckout } from '../actor.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { Lanes } from '../lanes.ts';
import { monitorRoutes } from '../monitor/health.ts';
import { isLoopback, type ListenAddress } from '../monitor/listen-address.ts';
import { type LogFlags, openLog } from '../monitor/log.ts';
import { serveRoutes } from '../monitor/serve.ts';
import { type Budgets, openBudgets } from '../queue/budgets.ts';
import { misfit, type OwnFlags, performTask } from '../queue/perform-task.ts';
import { AWAY_MS, TRY_AGAIN_MS, type WorkEvent, work } from '../queue/work.ts';
import { levelOf, lineOf, wordsOf } from '../queue/worker-log.ts';
import { openWorkerMetrics, watchWorker } from '../queue/worker-metrics.ts';

export type WorkerFlags = CommonFlags &
  LogFlags & {
    readonly queue?: string;
    readonly untilEmpty?: boolean;
    /** Stacks at once. */
    readonly stacks: number;
    readonly concurrency: number;
    /** Unset: nothing is answered. Many workers may be on one machine. */
    readonly listen?: ListenAddress;
  };

/** `callsheet worker`: does what was enqueued for the commit of its checkout, until it is stopped. */
export async function worker(flags: WorkerFlags, context: Context): Promise<ExitCode> {
  const { now, stop, version } = context;
  const { head: commit } = (await describeCheckout(flags.dir)) ?? {};
  // A container that is started anew has the same host and process id; the dead and the living are told apart.
  const name = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
  const log = openLog(context.terminal, { flags, now, levelOf, wordsOf });
  const metrics = openWorkerMetrics(context, now);
  const health = watchWorker({ version, worker: name, now });
  const tell = (event: WorkEvent) => {
    metrics.happened(event);
    health.happened(event);
    const line = lineOf(event, commit);
    if (line !== undefined) log(line);
  };
  const { listen } = flags;
  const routes = monitorRoutes({ report: health.report, expose: metrics.expose });
  const served = listen === undefined ? undefined : await serveRoutes(listen, routes);
  const tellStop = () => log({ event: 'stopping' });
  stop.addEventListener('abort', tellStop, { once: true });
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
    if (listen !== undefined && at !== null && !isLoopback(listen))
      log({ event: 'exposed', listen: at });
    const waiting = queueOf(commit);
    const queue = await openInTime(flags, { stop, tell }, async () => {
      const opened = await openQueue(flags.queue, {
        env: context.env,
        isWorker: true,
        // What pg-boss does beside it is tried again by itself; what the worker asks for says so, too.
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
    stop.removeEventListener('abort', tellStop);
    await served?.close();
  }
}

async function withQueue(queue: Queue, name: string): Promise<Queue> {
  try {
    await queue.database.told(() => makeQueue(queue, name));
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
    await sleep(TRY_AGAIN_MS, undefined, { signal: stop }).catch(() => {});
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
  const budgets = openBudgets(queue.database, context);
  const lanes = budgetedLanes(budgets, flags.concurrency);
  const inside = { ...context, lanes };
  const own = ownFlags(flags);
  try {
    return await work({
      handOut: handOut(queue, waiting, name),
      atOnce: flags.stacks,
      untilEmpty: flags.untilEmpty === true,
      stop: context.stop,
      misfit: ({ task }) => misfit(task, own, inside),
      perform: ({ task }) => performTask(task, own, inside),
      tell,
    });
  } finally {
    await budgets.close();
    await lanes.close();
    await queue.close();
  }
}

/** What of its flags goes into each command, beside what travels with the job. */
function ownFlags(flags: WorkerFlags) {
  const { dir, env, var: vars, varFile, allowEnv, allowExec, verbose, concurrency } = flags;
  const given = { env, var: vars, varFile, allowEnv, allowExec, verbose };
  const there = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(there), dir, concurrency } satisfies OwnFlags;
}

/** The lanes of a worker: its stacks share what a tree's do, and the rate with the workers on other machines. */
function budgetedLanes(budgets: Budgets, most: number): Lanes {
  const lanes = new Map<string, Lane>();
  return {
    at(baseUrl, options) {
      const known = lanes.get(baseUrl);
      if (known !== undefined) return known;
      const { host } = new URL(baseUrl);
      const budget = budgets.at(baseUrl);
      const limit: typeof options.limit = (others) =>
        budgetedLimiter(others, { host, budget, most, now: steadyTime });
      const lane = openLane({ ...options, limit });
      lanes.set(baseUrl, lane);
      return lane;
    },
    async close() {
      await Promise.all([...lanes.values()].map((lane) => lane.close()));
    },
  };
}
