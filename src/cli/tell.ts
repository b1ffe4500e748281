import type { Diagnostic } from '../core/diagnostics.ts';
import { renderDiagnosticsText } from '../render/diagnostics.ts';
import type { Context } from './context.ts';
import type { Unfinished } from './unfinished.ts';

/** Shows the configuration's warnings beside the results. */
export function tellWarnings(warnings: readonly Diagnostic[], { terminal }: Context): void {
  if (warnings.length > 0) terminal.err(renderDiagnosticsText(warnings, terminal.renderErr));
}

/** Says that a run is at work. One that died is settled, and the plan shows it. */
export function tellRunning(unfinished: Unfinished | undefined, { terminal }: Context): void {
  if (unfinished === undefined || unfinished.settlement !== undefined) return;
  terminal.err(
    `Run ${unfinished.run} is at work: what it has not written down yet is taken as it is on the platform now.`,
  );
}

/** Says that a run is open, and that it is taken into account. */
export function tellUnfinished(run: string | undefined, { terminal }: Context): void {
  if (run === undefined) return;
  terminal.err(
    `Run ${run} has not finished: it is still at work, or it died. What it did is taken from its journal and from the platform; the next apply settles it.`,
  );
}
