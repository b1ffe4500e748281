import type { RunEvent } from '../apply/journal.ts';
import { CallsheetError, EXIT, type ExitCode } from '../core/errors.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { renderAppliedText } from '../render/text.ts';
import { jsonText } from '../render/untrusted.ts';
import { type ApplyOutcome, type ApplyReview, applyDocument, applyStack } from '../run/apply.ts';
import { planOptions } from '../run/plan.ts';
import { type Context, chooseCalls, type PlanFlags, stackOptions } from './context.ts';
import { isAgreed, openPlanReview, say } from './events.ts';
import { allowancesIn } from './flags.ts';
import { readPlanFile } from './plan.ts';
import { openProgress } from './progress.ts';
import { exitOfOutcome, type Shown, tellOutcome } from './result.ts';

export type ApplyFlags = PlanFlags & {
  readonly autoApprove?: boolean;
  readonly expect?: string;
  readonly events?: string;
  readonly rollbackOnFailure?: boolean;
  /** Milliseconds to wait for another run that holds the state. */
  readonly lockTimeout?: number;
  readonly format: 'text' | 'json';
};

/** `callsheet apply [PLANFILE]`: carries out a plan, the given one or one made now and agreed to. */
export async function apply(
  file: string | undefined,
  flags: ApplyFlags,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  const shown = { flags, context };
  const given = file === undefined ? undefined : () => readPlanFile(file);
  const review = openPlanReview(terminal);
  const calls = chooseCalls(flags);
  const outcome = await applyNow(given, { ...flags, calls }, context, {
    show(plan) {
      if (flags.format !== 'text') return;
      // A plan file was reviewed already: of it only what stays as it is and the rehearsal are shown, and that it has no changes.
      const isReviewed = file !== undefined && plan.purpose === 'apply' && plan.changes.length > 0;
      const rest = isReviewed ? renderAppliedText(plan, terminal.render) : '';
      if (!isReviewed) review.show(plan);
      else if (rest !== '') terminal.out(`${rest}\n`);
    },
    ended: (applied) => tellOutcome(applied, shown),
    // A plan without changes needs no approval, so the question waits until there is one.
    agree: (question) => isAgreed(question, flags, terminal, APPROVE, review.confirm),
  });
  tellRollback(outcome, shown);
  const document = applyDocument(outcome);
  if (flags.format === 'json' && document !== undefined) terminal.out(jsonText(document));
  return applyExit(outcome);
}

const APPROVE = 'Apply a plan file (`callsheet plan --out plan.json`), or pass --auto-approve.';

/** Applies, but leaves plan and outcome to `review` and the caller to show. `onEvent` gets each event of its runs. */
export async function applyNow(
  read: (() => Promise<PlanDocument>) | undefined,
  flags: Omit<ApplyFlags, 'format'>,
  context: Context,
  review: ApplyReview & { readonly onEvent?: (event: RunEvent) => void } = {},
): Promise<ApplyOutcome> {
  if (read !== undefined) refusePlanningFlags(flags);
  const { refresh, calls, expect, lockTimeout, rollbackOnFailure } = flags;
  const given = {
    ...stackOptions(flags),
    plan: await read?.(),
    options: planOptions(flags),
    ...{ refresh, calls, expect, lockTimeout, rollbackOnFailure },
  };
  const { onEvent: follow, ...shown } = review;
  const observe = async (plan: PlanDocument) => {
    const progress = await openProgress(plan, flags, context);
    const onEvent = (event: RunEvent) => {
      follow?.(event);
      progress.onEvent(event);
    };
    return { ...progress, onEvent };
  };
  return applyStack(given, context, { ...shown, observe });
}

export function applyExit({ applied }: ApplyOutcome): ExitCode {
  return applied === undefined ? EXIT.partial : exitOfOutcome(applied);
}

/** Says how undoing a run that failed came out, where one was undone: this one, or one before it that was owed. */
export function tellRollback({ applied, rollback }: ApplyOutcome, shown: Shown): void {
  if (rollback === undefined) return;
  const { run, isUndone, outcome } = rollback;
  if (outcome.type !== 'failed') tellOutcome(outcome, shown);
  const isEarlier = applied === undefined;
  const then = isEarlier ? ' Nothing else was applied: apply again.' : '';
  const leave = isEarlier
    ? ' To keep the changes of a failed run, apply without --rollback-on-failure.'
    : '';
  say(
    shown.context.terminal,
    isUndone
      ? `Run ${run} is rolled back; the platform is as it was before it.${then}`
      : `Run ${run} is not rolled back, or only in part; see above. To continue: \`callsheet rollback\`.${leave}`,
  );
}

/** The allowances of a plan are in its file; apply adds none (DESIGN §3). */
export function refusePlanningFlags(flags: PlanFlags): void {
  const allowed = [...allowancesIn(flags).values()];
  const given = flags.refresh === undefined ? allowed : [...allowed, '--refresh'];
  if (given.length === 0) return;
  const message = `${given.join(', ')} cannot be used with a plan file: the plan already contains that choice`;
  throw new CallsheetError('usage', message, {
    hint: 'Plan again with the flag and --out, or apply without a plan file.',
  });
}
