import type { RunResult } from '../apply/execute.ts';
import type { PlanDocument } from '../core/plan-document.ts';
import { renderLedgerText } from '../render/ledger.ts';
import type { LedgerLine } from '../state/journal.ts';
import type { Context } from './context.ts';

type Shown = {
  readonly flags: { readonly format: 'text' | 'json' };
  readonly context: Context;
};

/** Shows what came of a run. */
export function showResult(
  run: string,
  plan: PlanDocument,
  result: RunResult,
  { flags, context }: Shown,
): void {
  const { terminal } = context;
  if (flags.format === 'json') {
    terminal.out(runJson(run, plan, result.status, result.ledger));
    return;
  }
  terminal.out(renderLedgerText(result.ledger, terminal.render));
  terminal.err(`Run ${run} is recorded: callsheet runs ${run}`);
}

/**
 * In JSON, where there was no run: the plan has nothing that can be done now, or it is refused. As text
 * the plan itself says so.
 */
export function showNothingDone(
  plan: PlanDocument,
  status: 'done' | 'refused',
  { flags, context }: Shown,
): void {
  if (flags.format !== 'json') return;
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
  context.terminal.out(runJson(null, plan, status, ledger));
}

function runJson(
  run: string | null,
  { digest }: PlanDocument,
  status: RunResult['status'] | 'refused',
  ledger: readonly LedgerLine[],
): string {
  const head = { format: 'callsheet-run', version: 1, run, plan_digest: digest };
  return JSON.stringify({ ...head, status, ledger }, null, 2);
}
