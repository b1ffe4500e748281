import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../../console/context.ts';
import { isAgreed, openPlanReview } from '../../console/events.ts';
import { allowancesIn } from '../../console/flags.ts';
import { readPlanFile } from '../../console/plan.ts';
import { CallsheetError, EXIT, type ExitCode } from '../../core/errors.ts';
import { formatCount } from '../../render/wording.ts';
import { openConnections } from '../../run/client.ts';
import { toFailure } from '../../run/document.ts';
import { type PlannedStack, type PlanSet, readPlanSet } from './plan-set.ts';
import {
  APPROVE,
  type Chosen,
  checkTree,
  chosenStacks,
  type FoundStack,
  findStacks,
  type StackCommand,
  type TreeFlags,
  type TreeRequest,
  takeShard,
  weighStack,
} from './request.ts';
import type { StackResult } from './run-stack.ts';
import { ownFlags, workOn } from './work-on.ts';

/**
 * `apply --recursive`: applies the plans of a folder; or, without review, plans and applies each stack at once; or else
 * plans all stacks first, shows the plans, asks once, and then applies these.
 */
async function applyTree(request: TreeRequest, context: Context): Promise<ExitCode> {
  const { flags, planSet } = request;
  if (planSet !== undefined) return applySet(planSet, request, context);
  if (flags.autoApprove === true && flags.expect === undefined) {
    return (await workOn(request, chosenStacks(request), context)).exit;
  }
  const folder = await mkdtemp(join(tmpdir(), 'callsheet-plans-'));
  try {
    return await planThenApply(folder, request, context);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function planThenApply(
  folder: string,
  request: TreeRequest,
  context: Context,
): Promise<ExitCode> {
  const { flags } = request;
  const { expect: _, ...planned } = flags;
  const planning: TreeRequest = { ...request, command: 'plan', flags: { ...planned, out: folder } };
  const { document } = await workOn(planning, chosenStacks(request), context, { isStep: true });
  if (context.stop.aborted) return EXIT.interrupted;
  const changed = document.stacks.filter(({ status }) => status === 'changes').length;
  if (changed > 0 && flags.autoApprove !== true) {
    const question = `Apply the plans of ${formatCount(changed, 'stack')}?`;
    const review = openPlanReview(context.terminal);
    for (const { path, plan_file: file } of (await readPlanSet(folder)).stacks)
      if (typeof file === 'string') review.add(await readPlanFile(join(folder, file)), path);
    if (!(await isAgreed(question, flags, context.terminal, APPROVE, review.confirm))) {
      context.terminal.err('Nothing was written.');
      return EXIT.error;
    }
  }
  // The plans have the permissions and the way of reading.
  const allowed = allowancesIn(flags);
  const rest = Object.entries(flags).filter(([name]) => name !== 'refresh' && !allowed.has(name));
  const applying = Object.fromEntries(rest) as TreeRequest['flags'];
  return applySet(folder, { ...request, flags: applying }, context);
}

/** Applies exactly the plans of a folder. */
async function applySet(folder: string, request: TreeRequest, context: Context): Promise<ExitCode> {
  const { flags } = request;
  const set = await readPlanSet(folder);
  checkExpectedSet(set, flags.expect);
  const planned = new Map(set.stacks.map((stack) => [stack.path, stack]));
  const own = ownFlags(flags);
  const buildTask = ({ path }: FoundStack) => {
    const { plan_digest: digest, plan_file: file } = planned.get(path) ?? {};
    if (typeof digest !== 'string' || typeof file !== 'string') return unplanned(path);
    return {
      command: 'apply' as const,
      flags: { ...own, expect: digest },
      plan: () => readPlanFile(join(folder, file)),
    };
  };
  const chosen = chooseStacks(set, request);
  return (await workOn(request, chosen, context, { buildTask, digest: set.digest })).exit;
}

/** The stacks of a set, or the part of them that a shard takes. */
function chooseStacks({ shard: part, stacks }: PlanSet, { flags, shard }: TreeRequest): Chosen {
  const found = findStacks(flags.dir);
  const planned = stacks.map(({ path }: PlannedStack) => ({ path, dir: join(flags.dir, path) }));
  const isPart = part?.index === shard?.index && part?.count === shard?.count;
  if (shard === undefined || isPart) return { found, chosen: planned };
  if (part !== null) {
    throw new CallsheetError(
      'usage',
      `these plans are already those of shard ${part.index}/${part.count}`,
      {
        hint: 'Remove --shard: apply takes all plans of the folder.',
      },
    );
  }
  const weights = new Map(found.map((stack) => [stack.path, weighStack(stack).weight]));
  const weighed = planned.map((stack) => ({ ...stack, weight: weights.get(stack.path) ?? 0 }));
  return { found, chosen: takeShard(weighed, shard) };
}

/** `--expect sha256:…`: only the plans that were approved are applied. */
function checkExpectedSet({ digest }: PlanSet, expected: string | undefined): void {
  if (expected === undefined || expected === digest) return;
  throw new CallsheetError('stale', `the digest of the plans is ${digest}, not ${expected}`, {
    hint: 'They are not the plans that were approved. Plan again, review, and apply the new plans.',
  });
}

/** A stack that could not be planned is not applied, and is not forgotten either. */
function unplanned(path: string): StackResult {
  const error = new CallsheetError('config', 'it has no plan, because planning it failed', {
    hint: 'Fix it, plan again, and apply the new plans.',
  });
  return { path, exit: EXIT.error, document: undefined, error: toFailure(error), said: '' };
}

/** Runs a command in every stack of a tree, and shows what came of all. Throws only where nothing was begun. */
export async function runTree(
  command: StackCommand,
  flags: TreeFlags,
  context: Context,
  planSet?: string,
): Promise<ExitCode> {
  const request = checkTree(command, flags, planSet, context);
  const connections = openConnections();
  const shared = { ...context, connections };
  try {
    if (command === 'apply') return await applyTree(request, shared);
    return (await workOn(request, chosenStacks(request), shared)).exit;
  } finally {
    await connections.close();
  }
}
