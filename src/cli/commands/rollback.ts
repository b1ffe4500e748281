import { kindOf } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import { kindNamed } from '../../kinds/index.ts';
import { holdChangeOf } from '../../rollback/hold.ts';
import { afterRollbacks, findInterleaved } from '../../rollback/interleaved.ts';
import { type Undo, undoRun } from '../../rollback/undo.ts';
import { carryOutUndo, type UndoFlags } from '../carry-out-undo.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRun, readBegan } from '../find-run.ts';
import type { RollbackToFlags } from '../rollback-to.ts';
import { openSession, type Session } from '../session.ts';
import { tellRunning } from '../tell.ts';

export type RollbackFlags = UndoFlags &
  Partial<Pick<RollbackToFlags, 'to' | 'allowDelete' | 'passphraseFile' | 'identity'>> & {
    readonly run?: string;
  };

/** `callsheet rollback`: undoes a run through the platform's own history, and an update for the rest. */
export async function rollback(flags: RollbackFlags, context: Context): Promise<ExitCode> {
  if (flags.to !== undefined) return toSnapshot({ ...flags, to: flags.to }, context);
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
    const hold = await holdChangeOf(run, (id) => readBegan(session, id));
    const request = { undo, run, question: `Roll back run ${run}?`, hold };
    return await carryOutUndo(request, flags, session, context);
  } finally {
    await session.close();
  }
}

async function toSnapshot(
  flags: RollbackFlags & RollbackToFlags,
  context: Context,
): Promise<ExitCode> {
  if (flags.run !== undefined) {
    throw new CallsheetError('usage', '--run and --to exclude each other', {
      hint: 'A rollback undoes a run, or goes back to a snapshot.',
    });
  }
  return (await import('../rollback-to.ts')).rollbackTo(flags, context);
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
