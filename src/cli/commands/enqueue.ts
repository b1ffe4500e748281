import { CallsheetError } from '../../core/errors.ts';
import type { NewBatch, QueuedCommand } from '../../queue/batch.ts';
import { type Enqueued, enqueue } from '../../queue/enqueue.ts';
import { openQueue, type Queue } from '../../queue/open.ts';
import { readBatch } from '../../queue/read-batch.ts';
import { formatCount } from '../../render/wording.ts';
import { describeCheckout } from '../actor.ts';
import { commandLine } from '../command-line.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { checkTree, type TreeFlags } from '../fleet/flags.ts';
import { follow } from '../queue/follow.ts';
import { gatherTasks } from '../queue/gather.ts';
import { reportBatch } from '../queue/report-batch.ts';
import { travelling } from '../queue/travelling-flags.ts';
import { runId } from '../run-id.ts';
import { say } from '../tell.ts';

export type EnqueueFlags = TreeFlags & {
  readonly queue?: string;
  readonly wait?: boolean;
  readonly report?: string;
};

/** `callsheet enqueue`: one job for each stack of a tree, or the report of what came of them. */
export async function enqueueCommand(
  name: string | undefined,
  plans: string | undefined,
  flags: EnqueueFlags,
  context: Context,
): Promise<ExitCode> {
  if (flags.report !== undefined) return reportLater(name, flags.report, flags, context);
  const command = commandNamed(name);
  refuseOut(command, flags);
  if (plans !== undefined && command !== 'apply') {
    throw new CallsheetError('usage', `${command} takes no folder of plans`, {
      hint: 'Name the folder of the stacks with --dir.',
    });
  }
  // Nobody is asked anything on the machine of a worker, so nobody is asked here.
  const asking = { ...context.terminal, canAsk: false };
  const request = checkTree(command, flags, plans, { env: context.env, terminal: asking });
  const travels = travelling(command, flags);
  const checkout = await describeCheckout(flags.dir);
  if (checkout?.isChanged === true)
    say(
      context.terminal,
      'There are uncommitted changes: where they change a stack, it waits for a worker that has them, too.',
    );
  return withQueue(flags, context, async (queue) => {
    const tasks = await gatherTasks(request, context);
    const batch = { command, commit: checkout?.head, flags: travels, tasks };
    const enqueued = await enqueue(queue, batch, runId(context.now()));
    const { id, isOld } = enqueued;
    const what = `${formatCount(tasks.length, 'stack')} to ${command}`;
    say(context.terminal, isOld ? `Already enqueued: ${what}.` : `Enqueued ${what}.`);
    if (flags.wait !== true) {
      context.terminal.out(flags.format === 'json' ? batchJson(enqueued, batch) : id);
      say(context.terminal, `Its report: ${commandLine(`enqueue --report ${id}`, flags)}`);
      return EXIT.done;
    }
    say(context.terminal, `The batch is ${id}.`);
    return report(queue, id, flags, context);
  });
}

async function reportLater(
  name: string | undefined,
  id: string,
  flags: EnqueueFlags,
  context: Context,
): Promise<ExitCode> {
  if (name !== undefined) {
    throw new CallsheetError('usage', `--report shows a batch, and ${name} makes one`, {
      hint: 'Leave one of them out.',
    });
  }
  return withQueue(flags, context, (queue) => report(queue, id, flags, context));
}

async function report(
  queue: Queue,
  id: string,
  flags: EnqueueFlags,
  context: Context,
): Promise<ExitCode> {
  const read = () => queue.database.told(() => readBatch(queue.database.query, id));
  if ((await read()) === undefined) {
    throw new CallsheetError('usage', `the queue ${queue.database.location} has no batch ${id}`, {
      hint: 'callsheet enqueue prints the id of what it enqueues; batches are kept for 30 days.',
    });
  }
  if (flags.wait === true) await follow(queue, id, flags, context);
  const batch = await read();
  if (batch === undefined) throw new CallsheetError('state', `the batch ${id} was deleted`);
  refuseOut(batch.command, flags);
  return reportBatch(batch, flags, context);
}

async function withQueue(
  flags: EnqueueFlags,
  { env }: Context,
  work: (queue: Queue) => Promise<ExitCode>,
): Promise<ExitCode> {
  const queue = await openQueue(flags.queue, { env, isWorker: false, onTrouble: () => {} });
  try {
    return await work(queue);
  } finally {
    await queue.close();
  }
}

function commandNamed(name: string | undefined): QueuedCommand {
  if (name === 'plan' || name === 'apply' || name === 'drift') return name;
  const wrong = name === undefined ? 'no command is named' : `${name} cannot be enqueued`;
  throw new CallsheetError('usage', wrong, {
    hint: 'Name plan, apply or drift; or show what came of a batch with --report BATCH.',
  });
}

function refuseOut(command: QueuedCommand, { out, wait, report: id }: EnqueueFlags): void {
  if (out === undefined) return;
  const isReady = command === 'plan' && (wait === true || id !== undefined);
  if (isReady) return;
  throw new CallsheetError('usage', '--out writes the plans of workers, once they are there', {
    hint: 'Give it to plan, with --wait; or with --report, once the batch is done.',
  });
}

/** What `--format json` prints of a batch that nobody waits for: `schemas/batch.schema.json`. */
export type BatchDocument = {
  readonly format: 'callsheet-batch';
  readonly version: 1;
  readonly batch: string;
  readonly command: QueuedCommand;
  readonly commit: string | null;
  readonly stacks: number;
  readonly new: boolean;
};

function batchJson({ id, isOld }: Enqueued, { command, commit, tasks }: NewBatch): string {
  const document: BatchDocument = {
    format: 'callsheet-batch',
    version: 1,
    batch: id,
    command,
    commit: commit ?? null,
    stacks: tasks.length,
    new: !isOld,
  };
  return JSON.stringify(document, null, 2);
}
