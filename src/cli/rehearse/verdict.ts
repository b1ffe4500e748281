import { rename, writeFile } from 'node:fs/promises';
import { unreachable } from '../../core/errors.ts';
import type { PlanDocument } from '../../core/plan-document.ts';
import type { RehearsalVerdict } from '../../core/rehearsal.ts';
import { renderPlanJson } from '../../render/json.ts';
import { renderRehearsalText } from '../../render/text.ts';
import { commandLine } from '../command-line.ts';
import { type PlanFormat, renderPlan } from '../commands/plan.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { withNamedFile } from '../named-file.ts';

type VerdictFlags = CommonFlags & { readonly out?: string; readonly format: PlanFormat };

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
  const beside = `${file}.new`;
  await withNamedFile(flags.out === undefined ? 'PLANFILE' : '--out', file, async () => {
    await writeFile(beside, renderPlanJson(document), { mode: 0o600 });
    await rename(beside, file);
  });
  const { verdict } = document.rehearsal ?? {};
  const next = verdict === 'passed' ? `: ${commandLine(`apply ${file}`, flags)}` : '.';
  terminal.err(`The verdict is in ${file}${next}`);
}

/** A plan file was seen before, so that text shows the verdict alone. */
export function showVerdict(
  document: PlanDocument,
  given: string | undefined,
  { format, dir }: VerdictFlags,
  { terminal }: Context,
): void {
  const isAlone = given !== undefined && format === 'text';
  terminal.out(
    isAlone
      ? renderRehearsalText(document, terminal.render)
      : renderPlan(document, format, terminal, dir),
  );
}
