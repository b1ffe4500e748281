import { kindOf } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Note, PlanOptions } from '../../core/plan-document.ts';
import { kindNamed } from '../../kinds/index.ts';
import { hasChanges, isRefused } from '../../plan/document.ts';
import { afterRollbacks, findInterleaved } from '../../rollback/interleaved.ts';
import { type Undo, undoRun } from '../../rollback/undo.ts';
import { confirm } from '../confirm.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRun } from '../find-run.ts';
import { planInstead } from '../make-plan.ts';
import { showNothingDone } from '../result.ts';
import { runPlan } from '../run.ts';
import { openSession, type Session } from '../session.ts';
import { tellRunning } from '../tell.ts';
import { renderPlan } from './plan.ts';

export type RollbackFlags = CommonFlags & {
  readonly run?: string;
  readonly autoApprove?: boolean;
  readonly force?: boolean;
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
      context.terminal.out(`Run ${run} changed nothing, so there is nothing to roll back.`);
      return EXIT.done;
    }
    if (flags.force !== true) await refuseInterleaved(undo, session);
    return await carryOut(run, undo, flags, session, context);
  } finally {
    await session.close();
  }
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
  if (isRefused(plan)) {
    terminal.err(
      'Nothing was written: the rollback holds changes that are refused. --force undoes edits that were made since, too; it never deletes what is protected.',
    );
    showNothingDone(plan, 'refused', { flags, context });
    return EXIT.refused;
  }
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
  return runPlan(
    { ...planned, plan },
    { flags, session, context, purpose: 'rollback', desired, restored },
  );
}

/** A rollback only touches what the run changed, and takes away what it made. */
function rollbackOptions(undo: Undo, { force }: RollbackFlags): PlanOptions {
  return {
    allow_delete: true,
    accept_conflicts: force === true,
    skip_refused: false,
    resend_secrets: false,
    target: undo.addresses,
    exclude: [],
    force: force === true,
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
