import { unreachable } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import type { RehearsalVerdict } from '../../core/rehearsal.ts';
import { planJsonPieces } from '../../render/json.ts';
import { renderRehearsalText } from '../../render/text.ts';
import { commandLine } from '../command-line.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { writeNamedFile } from '../named-file.ts';
import { type ReviewFormat, renderReview } from '../review.ts';

type VerdictFlags = CommonFlags & { readonly out?: string; readonly format: ReviewFormat };

/** The exit code of a verdict: see docs/rehearsal.md. */
export function verdictExit(verdict: RehearsalVerdict): ExitCode {
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
export async function keepVerdict(
  document: PlanDocument,
  given: string | undefined,
  flags: VerdictFlags,
  { terminal }: Context,
): Promise<void> {
  const file = flags.out ?? given;
  if (file === undefined) return;
  const flag = flags.out === undefined ? 'PLANFILE' : '--out';
  await writeNamedFile(flag, file, planJsonPieces(document));
  const { verdict } = document.rehearsal ?? {};
  const next = verdict === 'passed' ? `: ${commandLine(`apply ${file}`, flags)}` : '.';
  terminal.err(`The verdict is in ${file}${next}`);
}

/** A plan file was seen before, so that text shows the verdict alone. */
export async function showVerdict(
  document: PlanDocument,
  given: string | undefined,
  { format, dir }: VerdictFlags,
  { terminal }: Context,
): Promise<void> {
  const isAlone = given !== undefined && format === 'text';
  terminal.out(
    isAlone
      ? renderRehearsalText(document, terminal.render)
      : await renderReview(document, format, terminal, dir),
  );
}
