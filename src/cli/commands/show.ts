import { readPlanFile } from '../../console/apply.ts';
import type { CommonFlags, Context } from '../../console/context.ts';
import { type ReviewFormat, renderReview } from '../../console/plan.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';

export type ShowFlags = CommonFlags & { readonly format: ReviewFormat };

/** `callsheet show PLANFILE`: a plan file as `plan` showed it. Its digest is checked; nothing is asked of the platform. */
export async function showPlan(
  file: string,
  { format, dir }: ShowFlags,
  { terminal }: Context,
): Promise<ExitCode> {
  terminal.out(await renderReview(await readPlanFile(file), format, terminal, dir));
  return EXIT.done;
}
