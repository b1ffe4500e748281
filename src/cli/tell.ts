import type { Diagnostic } from '../core/diagnostics.ts';
import type { Planned } from '../plan/make.ts';
import { renderDiagnosticsBeside } from '../render/diagnostics.ts';
import { renderProse } from '../render/prose.ts';
import { formatNumber } from '../render/wording.ts';
import type { CommonFlags, Context } from './context.ts';
import type { Terminal } from './terminal.ts';
import type { Unfinished } from './unfinished.ts';

/** A sentence beside the results: broken to the width on a terminal, whole in a pipe. */
export function say({ err, wrapsErr, renderErr }: Terminal, text: string): void {
  err(wrapsErr ? renderProse(text, renderErr) : text);
}

/** Shows the configuration's warnings beside the results. */
export function tellWarnings(warnings: readonly Diagnostic[], { terminal }: Context): void {
  if (warnings.length > 0) terminal.err(renderDiagnosticsBeside(warnings, terminal.renderErr));
}

/** With `--verbose`, says how much was not read. */
export function tellUnread(
  { unread, plan }: Planned,
  { verbose }: CommonFlags,
  { terminal }: Context,
): void {
  if (verbose !== true || unread === 0) return;
  const all = plan.changes.length + plan.summary.no_op;
  const left = `${formatNumber(unread)} of ${formatNumber(all)} resources were not read`;
  say(terminal, `${left}: nothing changed them since the last run. --refresh full reads them all.`);
}

/** Says how many secrets were not compared, where no plan is shown that does. */
export function tellUncompared({ uncompared }: Planned, { terminal }: Context): void {
  if (uncompared !== undefined) say(terminal, uncompared);
}

/** Says that a run is at work. One that died is settled, and the plan shows it. */
export function tellRunning(unfinished: Unfinished | undefined, { terminal }: Context): void {
  if (unfinished === undefined || unfinished.settlement !== undefined) return;
  say(
    terminal,
    `Run ${unfinished.run} is at work: what it has not written down yet is taken as it is on the platform now.`,
  );
}

/** Says that a run is open, and that it is taken into account. */
export function tellUnfinished(run: string | undefined, { terminal }: Context): void {
  if (run === undefined) return;
  say(
    terminal,
    `Run ${run} has not finished: it is still at work, or it died. What it did is taken from its journal and from the platform; the next apply settles it.`,
  );
}

/** Says what a rollback means for what comes next: a pipeline that applies the same again is stopped. */
export function tellHeld({ terminal }: Context): void {
  say(
    terminal,
    'What it undid is held: plan and apply refuse to write the same values again until they change. Take the change back in Git, or pass --release-hold to write them again.',
  );
}

/** Says that a run before was to be undone, and is not. */
export function tellOwed(run: string, { terminal }: Context): void {
  say(
    terminal,
    `Run ${run} was to be rolled back should it fail, and it failed or died. callsheet rollback undoes it.`,
  );
}

/** Says how undoing a run that failed came out. `isEarlier`: it was an earlier run, and nothing was applied. */
export function tellUndone(
  run: string,
  isUndone: boolean,
  isEarlier: boolean,
  { terminal }: Context,
): void {
  const then = isEarlier ? ' Nothing else was applied: apply again.' : '';
  const leave = isEarlier ? ' apply without --rollback-on-failure leaves it as it is.' : '';
  say(
    terminal,
    isUndone
      ? `Run ${run} is rolled back; the platform is as it was before it.${then}`
      : `Run ${run} is not rolled back, or only in part; see above. callsheet rollback goes on with it.${leave}`,
  );
}
