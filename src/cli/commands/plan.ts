import type { PlanDocument } from '../../core/plan-document.ts';
import { hasChanges, isRefused } from '../../plan/document.ts';
import { planJsonPieces, renderPlanJson } from '../../render/json.ts';
import { renderPlanMarkdown } from '../../render/markdown.ts';
import type { PageOptions } from '../../render/markdown-marker.ts';
import { renderPlanText } from '../../render/text.ts';
import { tellOverlaps } from '../claims.ts';
import { commandLine } from '../command-line.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { planConfiguration } from '../make-plan.ts';
import { writeNamedFile } from '../named-file.ts';
import { type PlanFlags, planOptions, refreshOf } from '../plan-flags.ts';
import { folderInRepository } from '../repository.ts';
import { openSession, tellRunning, tellUnread, tellWarnings } from '../session.ts';
import type { Terminal } from '../terminal.ts';

export type PlanFormat = 'text' | 'json' | 'markdown';

export type PlanCommandFlags = PlanFlags & {
  readonly out?: string;
  readonly format: ReviewFormat;
  readonly detailedExitcode?: boolean;
};

/** `callsheet plan`: what apply would do, and nothing done. */
export async function plan(flags: PlanCommandFlags, context: Context): Promise<ExitCode> {
  const session = await openSession(flags, context);
  try {
    tellWarnings(session.warnings, context);
    tellRunning(session.unfinished, context);
    const refresh = refreshOf(flags, session.endpoints);
    const planned = await planConfiguration(session, planOptions(flags), context, { refresh });
    tellUnread(planned, flags, context);
    const isOverlapping = await tellOverlaps(planned, session, context);
    context.terminal.out(
      await renderReview(planned.plan, flags.format, context.terminal, flags.dir),
    );
    if (flags.out !== undefined) {
      const { out } = flags;
      await writeNamedFile('--out', out, planJsonPieces(planned.plan));
      context.terminal.err(`The plan is in ${out}: ${commandLine(`apply ${out}`, flags)}`);
    }
    if (isOverlapping) return EXIT.refused;
    return planExit(planned.plan, flags.detailedExitcode === true);
  } finally {
    await session.close();
  }
}

/** A plan in the wanted format. `dir`: the folder of its stack, where there is one. */
export function renderPlan(
  document: PlanDocument,
  format: PlanFormat,
  terminal: Terminal,
  dir?: string,
): string {
  switch (format) {
    case 'json':
      return renderPlanJson(document);
    case 'markdown':
      return renderPlanMarkdown(document, pageOf(dir));
    case 'text':
      return renderPlanText(document, terminal.render);
  }
}

/** What a page on a pull request says of its stack: nothing, where it lies outside of where we are. */
export function pageOf(dir: string | undefined): PageOptions {
  const stack = dir === undefined ? '' : folderInRepository(dir, process.cwd());
  return stack.startsWith('..') ? {} : { stack };
}

/** 4 where apply would refuse; with `--detailed-exitcode` 2 where there are changes; else 0. */
export function planExit(document: PlanDocument, detailed: boolean): ExitCode {
  if (isRefused(document)) return EXIT.refused;
  return detailed && hasChanges(document) ? EXIT.changes : EXIT.done;
}

/** How a plan is shown to those who review it. */
export type ReviewFormat = PlanFormat | 'html';

/** A plan in the wanted format. `dir`: the folder of its stack, where there is one. The page is loaded only where it is asked for. */
export async function renderReview(
  document: PlanDocument,
  format: ReviewFormat,
  terminal: Terminal,
  dir?: string,
): Promise<string> {
  if (format !== 'html') return renderPlan(document, format, terminal, dir);
  const { renderReport } = await import('../../page/report.ts');
  return renderReport(document);
}
