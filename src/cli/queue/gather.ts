import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CallsheetError } from '../../core/errors.ts';
import { parsePlan } from '../../plan/parse.ts';
import type { NewTask } from '../../queue/batch.ts';
import { refusePlanningFlags } from '../commands/apply.ts';
import type { Context } from '../context.ts';
import { chosenStacks } from '../fleet/choose.ts';
import type { FoundStack } from '../fleet/find-stacks.ts';
import type { TreeRequest } from '../fleet/flags.ts';
import { readPlanSet } from '../fleet/plan-set.ts';
import { refuseOverlaps } from '../fleet/refuse-overlaps.ts';
import { digestAt } from './perform-task.ts';

/** The tasks of a tree: one for each stack, or for each approved plan. Throws where stacks reach for the same thing. */
export async function gatherTasks(
  request: TreeRequest,
  context: Context,
): Promise<readonly NewTask[]> {
  const { flags, planSet } = request;
  const { found, chosen } = chosenStacks(request);
  await refuseSharing(request, found, context);
  if (planSet !== undefined) return plannedTasks(planSet, request, context);
  const tasks: NewTask[] = [];
  for (const { path, dir } of chosen)
    tasks.push({ stack: path, digest: await digestAt({ ...flags, dir }, context) });
  return tasks;
}

/** What was approved is what runs: the plan itself goes into the job. */
async function plannedTasks(
  folder: string,
  { flags }: TreeRequest,
  context: Context,
): Promise<readonly NewTask[]> {
  refusePlanningFlags(flags);
  const { stacks } = await readPlanSet(folder);
  const unplanned = stacks.filter(({ plan_file: file }) => file === null).map(({ path }) => path);
  if (unplanned.length > 0)
    throw new CallsheetError('usage', `there is no plan for ${unplanned.join(', ')}`, {
      hint: 'Planning them failed. Repair them, plan again, and enqueue the new plans.',
    });
  const tasks: NewTask[] = [];
  for (const { path, plan_digest: wanted, plan_file: name } of stacks) {
    const file = join(folder, name ?? '');
    const plan = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new CallsheetError('usage', `the plan file ${file} cannot be read`, {
        hint: 'Give the folder as callsheet plan --recursive --out wrote it.',
        cause,
      });
    });
    const { digest } = parsePlan(plan, file);
    if (digest !== wanted)
      throw new CallsheetError('stale', `the plan file ${file} is not the one that was planned`, {
        hint: 'Plan again, review, and enqueue the new plans.',
      });
    const dir = join(flags.dir, path);
    tasks.push({ stack: path, digest: await digestAt({ ...flags, dir }, context), plan });
  }
  return tasks;
}

async function refuseSharing(
  request: TreeRequest,
  found: readonly FoundStack[],
  context: Context,
): Promise<void> {
  const refusals = await refuseOverlaps(request, found, context);
  const [first] = refusals.values();
  if (first === undefined) return;
  throw new CallsheetError('refused', first.error?.message ?? 'stacks overlap', {
    hint: `Nothing was enqueued. ${first.error?.hint ?? ''}`.trim(),
  });
}
