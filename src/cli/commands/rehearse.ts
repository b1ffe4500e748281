import { rename, writeFile } from 'node:fs/promises';
import { CallsheetError, unreachable } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import type { Rehearsal, RehearsalVerdict } from '../../core/rehearsal.ts';
import { isRefused } from '../../plan/document.ts';
import { parsePlan } from '../../plan/parse.ts';
import { isWorkFor } from '../../rehearse/rehearse.ts';
import { changesApart } from '../../rehearse/steps.ts';
import { renderPlanJson } from '../../render/json.ts';
import { renderRehearsalText } from '../../render/text.ts';
import { commandLine } from '../command-line.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withNamedFile } from '../named-file.ts';
import { type PlanFlags, planOptions } from '../plan-flags.ts';
import { type Ground, platformGround } from '../rehearse/ground.ts';
import { mannersOf } from '../rehearse/manners.ts';
import { tryOnCopies } from '../rehearse/on-copies.ts';
import { checkPlanFile } from '../vouch.ts';
import { readPlanFile, refusePlanningFlags } from './apply.ts';
import { type PlanFormat, renderPlan } from './plan.ts';

export type RehearseFlags = PlanFlags & {
  readonly out?: string;
  readonly fault?: readonly string[];
  readonly chaosSeed: string;
  readonly dialect?: readonly string[];
  readonly format: PlanFormat;
};

/** `callsheet rehearse [PLANFILE]`: tries a plan on a copy of the fleet. The platform is only read. */
export async function rehearse(
  file: string | undefined,
  flags: RehearseFlags,
  context: Context,
): Promise<ExitCode> {
  if (file !== undefined) refusePlanningFlags(flags);
  const given = file === undefined ? undefined : parsePlan(await readPlanFile(file), file);
  const { manners, faults } = await mannersOf(flags);
  const ground = await platformGround(flags, context);
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
    const shown = given ?? plan;
    // What stands against a plan since it was made is not in its digest.
    const document = { ...shown, rehearsal: { ...rehearsal, digest: shown.digest } };
    await keep(document, file, flags, context);
    show(document, file, flags, context);
    return exitOf(rehearsal.verdict);
  } finally {
    await ground.close();
  }
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

/** A plan file is only worth rehearsing while the platform is what it was planned from. */
function checkSame(given: PlanDocument, now: PlanDocument): void {
  const pinned = new Map(now.changes.map(({ address, pin }) => [address, pin]));
  const moved = given.changes.flatMap(({ address, pin, verdict }) => {
    const other = pinned.get(address);
    const isSame = pin?.digest === other?.digest && pin?.updated_at === other?.updated_at;
    return isSame || verdict !== 'ok' || other === undefined
      ? []
      : [`${address} was changed on the platform since the plan`];
  });
  const apart = moved.length > 0 ? moved : changesApart(given, now, 'in the plan', 'now');
  if (apart.length === 0) return;
  throw new CallsheetError('stale', apart.join('\n'), {
    hint: 'Nothing was rehearsed. Plan again, review, and rehearse the new plan.',
  });
}

function exitOf(verdict: RehearsalVerdict): ExitCode {
  switch (verdict) {
    case 'passed':
    case 'empty':
      return EXIT.done;
    case 'partial':
    case 'failed':
      return EXIT.partial;
    case 'refused':
      return EXIT.refused;
    default:
      return unreachable(verdict);
  }
}

/** The verdict goes into the plan file, or into the one that `--out` names. */
async function keep(
  document: PlanDocument,
  given: string | undefined,
  flags: RehearseFlags,
  { terminal }: Context,
): Promise<void> {
  const file = flags.out ?? given;
  if (file === undefined) return;
  const beside = `${file}.new`;
  await withNamedFile(flags.out === undefined ? 'PLANFILE' : '--out', file, async () => {
    await writeFile(beside, renderPlanJson(document), { mode: 0o600 });
    await rename(beside, file);
  });
  terminal.err(`The verdict is in ${file}: ${commandLine(`apply ${file}`, flags)}`);
}

function show(
  document: PlanDocument,
  given: string | undefined,
  { format }: RehearseFlags,
  { terminal }: Context,
): void {
  const isAlone = given !== undefined && format === 'text';
  terminal.out(
    isAlone
      ? renderRehearsalText(document, terminal.render)
      : renderPlan(document, format, terminal),
  );
}
