import { kindOf } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Note, PlanOptions } from '../../core/plan-document.ts';
import { kindNamed } from '../../kinds/index.ts';
import { hasChanges, isRefused } from '../../plan/document.ts';
import { holdChangeOf } from '../../rollback/hold.ts';
import { afterRollbacks, findInterleaved } from '../../rollback/interleaved.ts';
import { type Undo, undoRun } from '../../rollback/undo.ts';
import { confirm } from '../confirm.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRun, readBegan } from '../find-run.ts';
import { planInstead } from '../make-plan.ts';
import { overrideOption } from '../plan-flags.ts';
import { showNothingDone, tellRefused } from '../result.ts';
import { runPlan } from '../run.ts';
import { openSession, type Session } from '../session.ts';
import { tellRunning } from '../tell.ts';
import { renderPlan } from './plan.ts';

export type RollbackFlags = CommonFlags & {
  readonly run?: string;
  readonly autoApprove?: boolean;
  readonly force?: boolean;
  readonly skipRefused?: boolean;
  readonly overrideFreeze?: string;
  readonly concurrency?: number;
  readonly format: 'text' | 'json';
};

/** `callsheet rollback`: undoes a run through the platform's own history, and an update for the rest. */
export async function rollback(flags: RollbackFlags, context: Context): Promise<ExitCode> {
  const session = await openSession(flags, context);
  try {
    tellRunning(session.unfinished, context);
    const { run, entries, begun } = await findRun(session, flags.run);
    if (begun.length > 0)
      context.terminal.err(`Going on with the rollback of run ${run}, which did not end.`);
    const undo = afterRollbacks(undoRun(entries), begun);
    if (undo.addresses.length === 0) {
      showNothingToUndo(run, flags, context);
      return EXIT.done;
    }
    if (flags.force !== true) await refuseInterleaved(undo, session);
    return await carryOut(run, undo, flags, session, context);
  } finally {
    await session.close();
  }
}

/** The run asked nothing of the platform, or nothing that is not undone already. */
function showNothingToUndo(run: string, { format }: RollbackFlags, { terminal }: Context): void {
  if (format === 'text') {
    terminal.out(`Run ${run} changed nothing, so there is nothing to roll back.`);
    return;
  }
  const head = { format: 'callsheet-run', version: 1, run: null, plan_digest: null };
  terminal.out(JSON.stringify({ ...head, status: 'done', undoes: run, ledger: [] }, null, 2));
}

async function carryOut(
  run: string,
  undo: Undo,
  flags: RollbackFlags,
  session: Session,
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  const planned = await planInstead(
    session,
    {
      purpose: 'rollback',
      undoes: run,
      desired: undo.desired,
      versions: undo.versions,
      options: rollbackOptions(undo, flags),
    },
    context,
  );
  const notes: readonly Note[] = undo.impossible.map((note) => ({ severity: 'warning', ...note }));
  const plan = { ...planned.plan, notes: [...planned.plan.notes, ...notes] };
  if (flags.format === 'text') terminal.out(renderPlan(plan, 'text', terminal));
  if (isRefused(plan)) return tellRefused(plan, { flags, context });
  if (!hasChanges(plan) && session.unfinished !== undefined) {
    // Nothing is asked of the platform, but a run that died is settled for good.
    return runPlan({ ...planned, plan }, { flags, session, context, purpose: 'rollback' });
  }
  if (!hasChanges(plan)) {
    showNothingDone(plan, 'done', { flags, context });
    return EXIT.done;
  }
  if (flags.autoApprove !== true && !terminal.canAsk) {
    throw new CallsheetError(
      'usage',
      'nothing was written: nobody is there to agree, as stdin is not a terminal',
      {
        hint: 'To carry this out, pass --auto-approve.',
      },
    );
  }
  const agreed = flags.autoApprove === true || (await confirm(`Roll back run ${run}?`, terminal));
  if (!agreed) {
    terminal.err('Nothing was written.');
    return EXIT.error;
  }
  const { desired, restored } = undo;
  const hold = await holdChangeOf(run, (id) => readBegan(session, id));
  return runPlan(
    { ...planned, plan },
    {
      flags,
      session,
      context,
      purpose: 'rollback',
      desired,
      restored,
      ...(hold === undefined ? {} : { hold }),
    },
  );
}

/** A rollback only touches what the run changed, and takes away what it made. */
function rollbackOptions(undo: Undo, flags: RollbackFlags): PlanOptions {
  const { force, skipRefused } = flags;
  return {
    allow_delete: true,
    accept_conflicts: force === true,
    skip_refused: skipRefused === true,
    resend_secrets: false,
    target: undo.addresses,
    exclude: [],
    force: force === true,
    ...overrideOption(flags),
  };
}

/** Somebody edited an agent since the run: undoing the run would undo that too (DESIGN §6). */
async function refuseInterleaved(undo: Undo, { reader }: Session): Promise<void> {
  const found = await findInterleaved(undo, (address, id, limit) =>
    reader.history(kindNamed(kindOf(address)), id, limit),
  );
  if (found.length === 0) return;
  throw new CallsheetError('refused', found.join('\n'), {
    hint: 'Look at the edits first (callsheet drift). --force rolls back all the same and undoes them.',
  });
}
