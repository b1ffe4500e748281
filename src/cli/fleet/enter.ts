import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import type { TreeFlags } from './flags.ts';
import type { StackCommand } from './run-stack.ts';

/**
 * Runs a command in one stack or, with `--recursive`, in every stack of the tree. What a tree needs is loaded only for
 * one. `planSet`: the folder whose plans `apply` carries out.
 */
export async function oneOrTree(
  command: StackCommand,
  flags: TreeFlags,
  context: Context,
  one: () => Promise<ExitCode>,
  planSet?: string,
): Promise<ExitCode> {
  if (flags.recursive === true) {
    return (await import('./run-tree.ts')).runTree(command, flags, context, planSet);
  }
  if (flags.shard !== undefined) (await import('./flags.ts')).refuseShardAlone(flags.shard);
  return one();
}
