import { isNotFound } from '../../api/errors.ts';
import { isSigned } from '../../apply/interleaved.ts';
import { kindOf, matchesAddress } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import { kindNamed } from '../../kinds/index.ts';
import { pinOf } from '../../plan/pin.ts';
import { holdChangeOf } from '../../rollback/hold.ts';
import { afterRollbacks, findInterleaved } from '../../rollback/interleaved.ts';
import { narrowUndo, type Undo, undoRun } from '../../rollback/undo.ts';
import { carryOutUndo, type UndoFlags } from '../carry-out-undo.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import {
  type FoundRun,
  findLastApplied,
  findRun,
  findWriter,
  readBegan,
  withoutCopies,
} from '../find-run.ts';
import { runText } from '../result.ts';
import type { RollbackToFlags } from '../rollback-to.ts';
import { openSession, type Session } from '../session.ts';
import { refuseBeside } from '../unfinished.ts';

export type RollbackFlags = UndoFlags &
  Partial<Pick<RollbackToFlags, 'to' | 'allowDelete' | 'passphraseFile' | 'identity'>> & {
    readonly run?: string;
    /** The part of the run that is undone; all of it where none is given. */
    readonly target?: readonly string[];
  };

/** `callsheet rollback`: undoes a run through the platform's own history, and an update for the rest. */
export async function rollback(flags: RollbackFlags, context: Context): Promise<ExitCode> {
  if (flags.to !== undefined) return toSnapshot({ ...flags, to: flags.to }, context);
  const session = await openSession(flags, context);
  try {
    await refuseBeside(session);
    const { run, entries, rollbacks, isBegun } = await findRun(session, flags.run);
    if (isBegun)
      context.terminal.err(`Going on with the rollback of run ${run}, which did not end.`);
    refuseWithoutCopies(run, entries, flags);
    const all = afterRollbacks(undoRun(entries), rollbacks);
    if (all.addresses.length === 0) {
      showNothingToUndo(run, flags, context);
      return EXIT.done;
    }
    const undo = chooseFrom(all, run, flags);
    if (flags.force !== true) await refuseInterleaved(undo, session);
    const last = await findLastApplied(session);
    const hold = await holdChangeOf(run, (id) => readBegan(session, id), last);
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
  const head = { format: 'callsheet-run', version: 1, run: null, plan_digest: null } as const;
  terminal.out(runText({ ...head, status: 'done', undoes: run, ledger: [] }));
}

/** A record whose copies were taken out of it must not read as a run that changed nothing. */
function refuseWithoutCopies(
  run: string,
  entries: FoundRun['entries'],
  { target = [] }: RollbackFlags,
): void {
  const lost = withoutCopies(entries).filter(
    (address) => target.length === 0 || target.some((one) => matchesAddress(one, address)),
  );
  if (lost.length === 0) return;
  const message = `the record of run ${run} has no copy of ${lost.join(', ')}, so it cannot be undone`;
  throw new CallsheetError('usage', message, {
    hint: 'Put the record back from a backup, name with --target what it has copies of, or take the change back in the configuration.',
  });
}

/** The part of a run that `--target` names. */
function chooseFrom(undo: Undo, run: string, { target = [] }: RollbackFlags): Undo {
  if (target.length === 0) return undo;
  const stray = target.find(
    (pattern) => !undo.addresses.some((one) => matchesAddress(pattern, one)),
  );
  if (stray === undefined) {
    return narrowUndo(undo, (address) => target.some((one) => matchesAddress(one, address)));
  }
  throw new CallsheetError(
    'usage',
    `--target ${stray}: run ${run} changed nothing of that address`,
    {
      hint: `What it changed: callsheet runs ${run}`,
    },
  );
}

/** Somebody edited a resource since the run: undoing the run would undo that too (DESIGN §6). */
async function refuseInterleaved(undo: Undo, session: Session): Promise<void> {
  const { reader, platform } = session;
  const author = `api:${platform.account_id}`;
  const found = await findInterleaved(undo, {
    history: (address, id, limit) =>
      orNothing(reader.history(kindNamed(kindOf(address)), id, limit)),
    isOwn: (entry) => isSigned(entry, { author, isRevert: true }),
    pin: async ({ kind: name, id, scope }) => {
      const kind = kindNamed(name);
      const live = await reader.read(kind, { id, scope }, new Set());
      return live && pinOf(kind, live, null);
    },
    runOf: (address, entry) => findWriter(session, address, entry),
  });
  if (found.length === 0) return;
  throw new CallsheetError('refused', found.join('\n'), {
    hint: 'Look at the edits first (callsheet drift). A later run is undone before this one, with --run. --target brings back what nobody touched; --force rolls back all the same and undoes them.',
  });
}

/** What is gone has no history either. */
async function orNothing<T>(entries: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await entries;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
