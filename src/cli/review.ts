import type { PlanDocument } from '../core/plan-document.ts';
import { type PlanFormat, renderPlan } from './commands/plan.ts';
import type { Terminal } from './terminal.ts';

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
  const { renderReport } = await import('../page/report.ts');
  return renderReport(document);
}
