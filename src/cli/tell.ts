import type { Diagnostic } from '../core/diagnostics.ts';
import { renderDiagnosticsText } from '../render/diagnostics.ts';
import type { Context } from './context.ts';

/** Shows the configuration's warnings beside the results. */
export function tellWarnings(warnings: readonly Diagnostic[], { terminal }: Context): void {
  if (warnings.length > 0) terminal.err(renderDiagnosticsText(warnings, terminal.renderErr));
}

/** Says that a run died, and that it is taken into account. */
export function tellUnfinished(run: string | undefined, { terminal }: Context): void {
  if (run === undefined) return;
  terminal.err(
    `Run ${run} did not finish. What it did is known from its journal and from the platform; the next apply settles it.`,
  );
}
