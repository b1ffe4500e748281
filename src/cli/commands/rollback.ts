import { kindOf } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Note, PlanOptions } from '../../core/plan-document.ts';
import { kindNamed } from '../../kinds/index.ts';
import { hasChanges, isRefused } from '../../plan/document.ts';
import { findInterleaved } from '../../rollback/interleaved.ts';
import { type Undo, undoRun } from '../../rollback/undo.ts';
import type { JournalEntry } from '../../state/journal.ts';
import { confirm } from '../confirm.ts';
import type { CommonFlags, Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { planInstead } from '../make-plan.ts';
import { showNothingDone } from '../result.ts';
import { runPlan } from '../run.ts';
import { openSession, type Session } from '../session.ts';
import { tellRunning } from '../tell.ts';
import { entriesOf } from '../unfinished.ts';
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
    const { run, entries } = await findRun(session, flags.run);
    const undo = undoRun(entries);
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

type FoundRun = { readonly run: string; readonly entries: readonly JournalEntry[] };

/** The run that is asked for, or the newest one that changed something. */
async function findRun(session: Session, wanted: string | undefined): Promise<FoundRun> {
  const { store, unfinished } = session;
  const read = async (run: string) =>
    run === unfinished?.run ? entriesOf(unfinished) : await store.run(run);
  if (wanted !== undefined) {
    const entries = await read(wanted);
    if (entries !== undefined) return { run: wanted, entries };
    throw new CallsheetError('usage', `run ${wanted} is not recorded`, {
      hint: 'callsheet runs lists those that are.',
    });
  }
  const finished = (await store.runs()).map(({ run }) => run);
  for (const run of unfinished === undefined ? finished : [unfinished.run, ...finished]) {
    const entries = await read(run);
    if (entries === undefined || undoRun(entries).addresses.length === 0) continue;
    refuseRedo(run, entries);
    return { run, entries };
  }
  throw new CallsheetError(
    'usage',
    'no run is recorded that changed something, so there is nothing to roll back',
    {
      hint: 'The state remembers runs: check --dir and CALLSHEET_STATE.',
    },
  );
}

/** Undoing a rollback brings back what it undid, which nobody should get without asking for it. */
function refuseRedo(run: string, entries: readonly JournalEntry[]): void {
  const began = entries.find((entry) => entry.type === 'began');
  if (began?.undoes === undefined) return;
  throw new CallsheetError('usage', `the last run was itself a rollback, of run ${began.undoes}`, {
    hint: `To bring back what it undid: callsheet rollback --run ${run}. Earlier runs: callsheet runs.`,
  });
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
