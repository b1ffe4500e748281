import { CallsheetError } from '../../core/errors.ts';
import { type FoundStack, findStacks } from './find-stacks.ts';
import type { TreeRequest } from './flags.ts';
import { takeShard } from './shard.ts';
import { weighStack } from './weigh.ts';

/** The stacks of a tree, and those of them that are to be worked on. */
export type Chosen = {
  readonly found: readonly FoundStack[];
  readonly chosen: readonly FoundStack[];
};

/** Finds the stacks, and takes those of the shard. */
export function chosenStacks({ flags, shard }: Pick<TreeRequest, 'flags' | 'shard'>): Chosen {
  const found = findStacks(flags.dir);
  if (found.length === 0) {
    throw new CallsheetError('usage', `there is no stack in ${flags.dir} or below it`, {
      hint: 'A stack is a folder with a callsheet.yaml. Name the folder that they lie in with --dir.',
    });
  }
  if (shard === undefined) return { found, chosen: found };
  if (found.length === 1 && found[0]?.path === '.') {
    throw new CallsheetError('usage', `--shard splits a tree, and ${flags.dir} is a single stack`, {
      hint: 'Name the folder that the stacks lie in with --dir, or leave --shard out.',
    });
  }
  return { found, chosen: takeShard(found.map(weighStack), shard) };
}
