import { CallsheetError } from '../../core/errors.ts';
import type { BatchStatus, TaskStatus } from '../../queue/batch.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { TreeFlags } from '../fleet/flags.ts';
import type { StackResult } from '../fleet/run-stack.ts';
import { workOn } from '../fleet/work-on.ts';
import { say } from '../tell.ts';

/** Shows what came of a batch, as the same command with `--recursive` would have. 6 while some of it is not done. */
export async function reportBatch(
  { id, command, tasks }: BatchStatus,
  flags: TreeFlags,
  context: Context,
): Promise<ExitCode> {
  const done = new Map(
    tasks.filter(({ status }) => status === 'done').map((task) => [task.stack, task]),
  );
  const stacks = [...done.keys()].map((path) => ({ path, dir: path }));
  const request = { command, flags, shard: undefined, planSet: undefined };
  const { exit } = await workOn(request, { found: stacks, chosen: stacks }, context, {
    isReport: true,
    taskOf: ({ path }) => resultOf(done.get(path)),
  });
  const rest = tasks.length - done.size;
  if (rest === 0) return exit;
  say(context.terminal, `${rest} of the ${tasks.length} stacks of ${id} are not done yet.`);
  return EXIT.locked;
}

/** What a worker wrote down is what `runStack` gave it. */
function resultOf(task: TaskStatus | undefined): StackResult {
  const result = task?.result;
  if (typeof result !== 'object' || result === null || !('exit' in result))
    throw new CallsheetError('state', `the queue holds no result of ${task?.stack ?? 'a stack'}`);
  return { document: undefined, error: undefined, ...(result as object) } as StackResult;
}
