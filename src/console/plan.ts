import { commandLine, EXIT, type ExitCode } from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { hasChanges, isRefused } from '../plan/document.ts';
import { planJsonPieces, renderPlanJson } from '../render/json.ts';
import type { PageOptions } from '../render/markdown-text.ts';
import { renderPlanText } from '../render/text.ts';
import { planOptions, planStack } from '../run/plan.ts';
import { type Context, type PlanFlags, stackOptions } from './context.ts';
import { folderInRepository, writeNamedFile } from './named-file.ts';
import type { Terminal } from './terminal.ts';

export type PlanFormat = 'text' | 'json' | 'markdown';

export type PlanCommandFlags = PlanFlags & {
  readonly out?: string;
  readonly format: ReviewFormat;
  readonly detailedExitcode?: boolean;
};

/** `callsheet plan`: what apply would do, and nothing done. */
export async function plan(flags: PlanCommandFlags, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const { document, exit } = await planNow(flags, context);
  terminal.out(await renderReview(document, flags.format, terminal, flags.dir));
  if (flags.out !== undefined) {
    const { out } = flags;
    await writeNamedFile('--out', out, planJsonPieces(document));
    terminal.err(`The plan is in ${out}: ${commandLine(`apply ${out}`, flags)}`);
  }
  return exit;
}

/** The same for whoever shows it in another way. */
export async function planNow(
  flags: Omit<PlanCommandFlags, 'format' | 'out'>,
  context: Context,
): Promise<{ readonly document: PlanDocument; readonly exit: ExitCode }> {
  const { refresh = 'fast' } = flags;
  const wanted = { ...stackOptions(flags), options: planOptions(flags), refresh };
  const { plan, overlaps } = await planStack(wanted, context);
  const isOverlapping = overlaps.length > 0;
  const exit = isOverlapping ? EXIT.refused : planExit(plan, flags.detailedExitcode === true);
  return { document: plan, exit };
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

/** A plan in the wanted format. `dir`: the folder of its stack, where there is one. Pages are loaded where they are asked for. */
export async function renderReview(
  document: PlanDocument,
  format: ReviewFormat,
  terminal: Terminal,
  dir?: string,
): Promise<string> {
  switch (format) {
    case 'text':
      return renderPlanText(document, terminal.render);
    case 'json':
      return renderPlanJson(document);
    case 'markdown': {
      const { renderPlanMarkdown } = await import('../render/markdown.ts');
      return renderPlanMarkdown(document, pageOf(dir));
    }
    case 'html':
      return (await import('../page/index.ts')).renderReport(document);
  }
}
