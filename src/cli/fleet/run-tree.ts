import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { openLanes } from '../lanes.ts';
import { applyTree } from './apply-tree.ts';
import { chosenStacks } from './choose.ts';
import { checkTree, type TreeFlags } from './flags.ts';
import type { StackCommand } from './run-stack.ts';
import { workOn } from './work-on.ts';

/** Runs a command in every stack of a tree, and shows what came of all. Throws only where nothing was begun. */
export async function runTree(
  command: StackCommand,
  flags: TreeFlags,
  context: Context,
  planSet?: string,
): Promise<ExitCode> {
  const request = checkTree(command, flags, planSet, context);
  const lanes = openLanes();
  const shared = { ...context, lanes };
  try {
    if (command === 'apply') return await applyTree(request, shared);
    return (await workOn(request, chosenStacks(request), shared)).exit;
  } finally {
    await lanes.close();
  }
}
