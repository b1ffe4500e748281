import { CallsheetError } from '../../core/errors.ts';
import type { Context } from '../context.ts';
import { failureOf, reportFailure } from '../report.ts';
import { type Claim, claimsOf } from './claims.ts';
import { eachStack } from './each-stack.ts';
import type { FoundStack } from './find-stacks.ts';
import type { TreeRequest } from './flags.ts';
import { describeOverlaps, findOverlaps } from './overlap.ts';
import { keepingTerminal, type StackResult } from './run-stack.ts';

/** The stacks that are not worked on because they reach for what another one has, by path. */
export type Refusals = ReadonlyMap<string, StackResult>;

/**
 * Looks at all stacks of the tree, whichever of them this job works on, before anything is sent to the platform.
 * `validate` does so without their states, which may lie behind a network; `drift` writes nothing and looks at nothing.
 */
export async function refuseOverlaps(
  { command, flags }: TreeRequest,
  found: readonly FoundStack[],
  context: Context,
): Promise<Refusals> {
  if (command === 'drift' || found.length < 2) return new Map();
  const claims: Claim[] = [];
  await eachStack(
    found,
    { verb: 'Reading the stacks' },
    context,
    (stack) => claimsOf(stack, flags, context, command !== 'validate'),
    (own) => void claims.push(...own),
  );
  const overlaps = findOverlaps(claims);
  return new Map(
    [...overlaps].map(([path, own]) => {
      const { message, hint } = describeOverlaps(own);
      const error = new CallsheetError(command === 'validate' ? 'config' : 'refused', message, {
        hint,
      });
      return [path, refusal(path, error, context)];
    }),
  );
}

function refusal(path: string, error: CallsheetError, { terminal }: Context): StackResult {
  const said: string[] = [];
  const exit = reportFailure(error, keepingTerminal(terminal, [], said), false);
  return { path, exit, document: undefined, error: failureOf(error), said: said.join('') };
}
