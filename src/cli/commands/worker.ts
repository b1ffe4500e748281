import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { makeQueue, queueOf } from '../../queue/enqueue.ts';
import { handOut } from '../../queue/hand-out.ts';
import { openQueue } from '../../queue/open.ts';
import { formatCount } from '../../render/wording.ts';
import { describeCheckout } from '../actor.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { openBudgets } from '../queue/budgets.ts';
import { budgetedLanes } from '../queue/lanes.ts';
import { misfit, type OwnFlags, performTask } from '../queue/perform-task.ts';
import { tellWork } from '../queue/tell-work.ts';
import { work } from '../queue/work.ts';
import { say } from '../tell.ts';

export type WorkerFlags = CommonFlags & {
  readonly queue?: string;
  readonly untilEmpty?: boolean;
  /** Stacks at once. */
  readonly stacks: number;
  readonly concurrency: number;
};

/** `callsheet worker`: does what was enqueued for the commit of its checkout, until it is stopped. */
export async function worker(flags: WorkerFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const checkout = await describeCheckout(flags.dir);
  const queue = await openQueue(flags.queue, {
    env: context.env,
    isWorker: true,
    // What pg-boss does beside it is tried again by itself; what the worker asks for says so, too.
    onTrouble: () => {},
  });
  const budgets = openBudgets(queue.database, context);
  const lanes = budgetedLanes(budgets, flags.concurrency);
  const inside = { ...context, lanes };
  // A container that is started anew has the same host and process id; the dead and the living are told apart.
  const name = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
  const own = ownFlags(flags);
  try {
    say(terminal, `${name} works on ${checkout?.head ?? 'stacks of no repository'}.`);
    const waiting = queueOf(checkout?.head);
    await queue.database.told(() => makeQueue(queue, waiting));
    const worked = await work({
      handOut: handOut(queue, waiting, name),
      atOnce: flags.stacks,
      untilEmpty: flags.untilEmpty === true,
      stop: context.stop,
      misfit: ({ task }) => misfit(task, own, inside),
      perform: ({ task }) => performTask(task, own, inside),
      tell: (event) => tellWork(event, checkout?.head, terminal),
    });
    const { settled, failed, again } = worked;
    terminal.out(
      `${formatCount(settled, 'stack')} done, ${failed} of them not well; ${again} given back.`,
    );
    return EXIT.done;
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
