import type { RunResult } from '../apply/execute.ts';
import type { PlanDocument, Refusal } from '../core/plan-document.ts';
import type { FailureDocument } from '../render/failure.ts';
import { renderLedgerText } from '../render/ledger.ts';
import { renderProse } from '../render/prose.ts';
import { escapeInJson, sanitise } from '../render/untrusted.ts';
import { renderNotUndone, renderVerification } from '../render/verification.ts';
import type { LedgerLine } from '../state/journal.ts';
import { commandLine } from './command-line.ts';
import type { CommonFlags, Context } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { say } from './session.ts';
import type { Verification, VerifiedResult } from './verify-undo.ts';

type Shown = {
  readonly flags: Pick<CommonFlags, 'dir' | 'env'> & { readonly format: 'text' | 'json' };
  readonly context: Context;
};

/** Shows what came of a run. */
export function showResult(
  run: string,
  plan: PlanDocument,
  result: VerifiedResult,
  { flags, context }: Shown,
): void {
  const { terminal } = context;
  const { verification } = result;
  if (flags.format === 'json') {
    terminal.out(runJson(run, plan, result.status, result.ledger, verification));
    return;
  }
  const isBrief = plan.purpose === 'rollback';
  terminal.out(renderLedgerText(result.ledger, terminal.render, { isBrief }));
  if (verification !== undefined) {
    terminal.out(renderVerification(verification, plan.undoes, terminal.render));
  }
  say(terminal, `Run ${run} is recorded: ${commandLine(`runs ${run}`, flags)}`);
}

/** Says that nothing was written, and what stands against the plan. */
export function tellRefused(plan: PlanDocument, shown: Shown): ExitCode {
  const { terminal } = shown.context;
  const { refusals = [] } = plan;
  const sayClean = (text: string) =>
    terminal.err(terminal.wrapsErr ? renderProse(text, terminal.renderErr) : sanitise(text));
  for (const { message, advice } of refusals) {
    sayClean(`Nothing was written: ${message}. ${advice}`);
  }
  if (refusals.length === 0) sayClean(STRUCK[plan.purpose]);
  showNothingDone(plan, 'refused', shown);
  return EXIT.refused;
}

const STRUCK: { readonly [purpose in PlanDocument['purpose']]: string } = {
  apply:
    'Nothing was written: the plan holds changes that are refused. --skip-refused leaves them out and does the rest.',
  rollback:
    'Nothing was written: the rollback holds changes that are refused. --force undoes the fields of the run that were edited since, and deletes what is used since, too; it never deletes what is protected. To go on, type one of these:',
  restore:
    'Nothing was written: the restoration holds changes that are refused. --skip-refused leaves them out and does the rest.',
  drift: 'Nothing was written.',
  comparison: 'Nothing was written.',
};

/**
 * In JSON, where there was no run: the plan has nothing that can be done now, or it is refused. As text
 * the plan itself says so.
 */
export function showNothingDone(
  plan: PlanDocument,
  status: 'done' | 'partial' | 'refused',
  { flags, context }: Shown,
  verification?: Verification,
): void {
  if (flags.format !== 'json') {
    const isLeft = verification !== undefined && verification.left.length > 0;
    const { terminal } = context;
    if (isLeft) terminal.out(renderNotUndone(verification.left, terminal.render));
    return;
  }
  const ledger = plan.changes.map(({ address, action, id, verdict, reason }) => ({
    address,
    action,
    status: 'not_attempted' as const,
    ...(verdict === 'ok' ? {} : { verdict }),
    id,
    message: verdict === 'ok' ? null : reason,
    fields: [],
    history: null,
  }));
  context.terminal.out(runJson(null, plan, status, ledger, verification));
}

/** What came of a run, for programs: `schemas/run.schema.json`. */
export type RunDocument = {
  readonly format: 'callsheet-run';
  readonly version: 1;
  /** Null where nothing was carried out. */
  readonly run: string | null;
  readonly plan_digest: string | null;
  readonly status: RunResult['status'] | 'refused';
  /** The run that was to be undone, where it had changed nothing. */
  readonly undoes?: string;
  readonly refusals?: readonly Refusal[];
  readonly verification?: Verification;
  readonly ledger: readonly LedgerLine[];
  /** What came of undoing it, with `--rollback-on-failure`. */
  readonly rollback?: RunDocument | FailureDocument;
};

function runJson(
  run: string | null,
  { digest, refusals }: PlanDocument,
  status: RunDocument['status'],
  ledger: readonly LedgerLine[],
  verification?: Verification,
): string {
  return runText({
    format: 'callsheet-run',
    version: 1,
    run,
    plan_digest: digest,
    status,
    ...(refusals && { refusals }),
    ...(verification && { verification }),
    ledger,
  });
}

export function runText(document: RunDocument): string {
  return escapeInJson(JSON.stringify(document, null, 2));
}
