import { CallsheetError } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import type { Rehearsal } from '../../core/rehearsal.ts';
import { isRefused, planDigest } from '../../plan/document.ts';
import { isWorkFor } from '../../rehearse/rehearse.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { type PlanFlags, planOptions } from '../plan-flags.ts';
import { type Ground, platformGround } from '../rehearse/ground.ts';
import { mannersOf } from '../rehearse/manners.ts';
import { tryOnCopies } from '../rehearse/on-copies.ts';
import { checkSame } from '../rehearse/same-plan.ts';
import { snapshotGround } from '../rehearse/snapshot-ground.ts';
import { keepVerdict, showVerdict, verdictExit } from '../rehearse/verdict.ts';
import type { ReviewFormat } from '../review.ts';
import type { KeyFlags } from '../snapshot/keys.ts';
import { checkPlanFile } from '../vouch.ts';
import { readPlanFile, refusePlanningFlags } from './apply.ts';

export type RehearseFlags = PlanFlags &
  KeyFlags & {
    readonly from?: string;
    readonly out?: string;
    readonly fault?: readonly string[];
    readonly chaosSeed: string;
    readonly dialect?: readonly string[];
    readonly format: ReviewFormat;
  };

/** `callsheet rehearse [PLANFILE]`: tries a plan on a copy of the fleet. The platform is only read. */
export async function rehearse(
  file: string | undefined,
  flags: RehearseFlags,
  context: Context,
): Promise<ExitCode> {
  if (file !== undefined) refusePlanningFlags(flags);
  const given = file === undefined ? undefined : await readPlanFile(file);
  const { manners, faults } = await mannersOf(flags);
  const { from } = flags;
  if (from !== undefined && file === undefined && flags.out !== undefined) throw madeOnCopy();
  const ground =
    from === undefined
      ? await platformGround(flags, context)
      : await snapshotGround(from, flags, context);
  try {
    const options = given?.options ?? planOptions(flags);
    if (given !== undefined) checkPlanFile(given, ground);
    const now = await ground.planNow?.(options);
    if (given !== undefined && now !== undefined && !isRefused(now)) checkSame(given, now);
    const trial = { plan: now ?? given, options, manners, faults };
    const isIdle = trial.plan !== undefined && !isWorkFor(trial.plan) && !isRefused(trial.plan);
    const { plan, rehearsal } =
      trial.plan !== undefined && isIdle
        ? { plan: trial.plan, rehearsal: nothingToTry(trial.plan, ground, context) }
        : await tryOnCopies(trial, ground, flags, context);
    const shown = given ?? (trial.plan === undefined ? addressed(plan, ground) : plan);
    // What stands against a plan since it was made is not in its digest.
    const document = { ...shown, rehearsal: { ...rehearsal, digest: shown.digest } };
    await showVerdict(document, file, flags, context);
    await keepVerdict(document, file, flags, context);
    return verdictExit(rehearsal.verdict);
  } finally {
    await ground.close();
  }
}

/** A plan that a copy gave, as one of the platform that it is a copy of. */
function addressed({ digest: _, ...made }: PlanDocument, { platform }: Ground): PlanDocument {
  const plan = { ...made, platform };
  return { ...plan, digest: planDigest(plan) };
}

function madeOnCopy(): CallsheetError {
  return new CallsheetError('usage', '--out needs a plan of the platform, not one of a snapshot', {
    hint: 'Give the plan file, or rehearse without --from.',
  });
}

function nothingToTry(
  { digest, assumptions }: PlanDocument,
  { source }: Ground,
  { now }: Context,
): Rehearsal {
  return {
    digest,
    at: now().toISOString(),
    verdict: 'empty',
    source,
    copied: {},
    steps: [],
    differences: [],
    differing: 0,
    faults: [],
    filled: [],
    assumptions,
  };
}
