import { isNotFound } from '../../api/errors.ts';
import { isSigned } from '../../apply/interleaved.ts';
import { type Address, kindOf, matchesAddress } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import { kindNamed } from '../../kinds/index.ts';
import { pinOf } from '../../plan/pin.ts';
import { holdsWhenUndone } from '../../rollback/hold.ts';
import {
  afterRollbacks,
  deletedSince,
  type Edited,
  findInterleaved,
} from '../../rollback/interleaved.ts';
import { type Undo, undoRun, unseal } from '../../rollback/undo.ts';
import {
  carryOutUndo,
  chooseFrom,
  leaveOutEdited,
  type UndoFlags,
  type UndoRequest,
} from '../carry-out-undo.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import {
  type FoundRun,
  findRun,
  findWriter,
  readBegan,
  refuseAtWork,
  withoutCopies,
} from '../find-run.ts';
import { runText } from '../result.ts';
import type { RollbackToFlags } from '../rollback-to.ts';
import { openSession, refuseBeside, type Session, sealerFor } from '../session.ts';

export type RollbackFlags = UndoFlags &
  Partial<Pick<RollbackToFlags, 'to' | 'allowDelete' | 'passphraseFile' | 'identity'>> & {
    /** The run to undo: its id, or as much of it as tells it apart. The last one where none is given. */
    readonly run?: string;
  };

/** `callsheet rollback`: undoes a run through the platform's own history, and an update for the rest. */
export async function rollback(flags: RollbackFlags, context: Context): Promise<ExitCode> {
  if (flags.to !== undefined) return toSnapshot({ ...flags, to: flags.to }, context);
  const session = await openSession(flags, context);
  try {
    await refuseAtWork(flags.run, session);
    await refuseBeside(session);
    const { run, entries, rollbacks, isBegun } = await findRun(session, flags.run);
    if (isBegun)
      context.terminal.err(`Going on with the rollback of run ${run}, which did not end.`);
    refuseWithoutCopies(run, entries, flags);
    const kept = unseal(entries, sealerFor(session.state, context)?.open);
    const undoWithout = (gone?: ReadonlySet<Address>) =>
      afterRollbacks(undoRun(kept, gone), rollbacks);
    const all = undoWithout();
    if (all.addresses.length === 0) {
      showNothingToUndo(run, flags, context);
      return EXIT.done;
    }
    const command = `rollback ${run}`;
    const chosen = chooseFrom(all, flags, (flag) => untouched(flag, run));
    const edited = flags.force === true ? [] : await findEdited(chosen, session);
    const isHeld = await holdsWhenUndone(run, (id) => readBegan(session, id));
    const hold = isHeld === undefined ? undefined : { undid: run, isHeld };
    const question = `Roll back run ${run}?`;
    const requestFor = (gone: ReadonlySet<Address>): UndoRequest => {
      const found = [...edited, ...(flags.force === true ? [] : [...gone].map(deletedSince))];
      const whole = chooseFrom(undoWithout(gone), flags, (flag) => untouched(flag, run));
      const { undo, skipped } = leaveOutEdited(whole, found, command, flags);
      const without = (more: ReadonlySet<Address>) => requestFor(new Set([...gone, ...more]));
      return { undo, run, command, question, hold, skipped, without };
    };
    return await carryOutUndo(requestFor(new Set()), flags, session, context);
  } finally {
    await session.close();
  }
}

async function toSnapshot(
  flags: RollbackFlags & RollbackToFlags,
  context: Context,
): Promise<ExitCode> {
  if (flags.run !== undefined) {
    throw new CallsheetError('usage', 'a run and --to exclude each other', {
      hint: 'A rollback undoes a run, or goes back to a snapshot.',
    });
  }
  return (await import('../rollback-to.ts')).rollbackTo(flags, context);
}

/** The run asked nothing of the platform, or nothing that is not undone already. */
function showNothingToUndo(run: string, { format }: RollbackFlags, { terminal }: Context): void {
  if (format !== 'json') {
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
  { target = [], exclude = [] }: RollbackFlags,
): void {
  const lost = withoutCopies(entries).filter(
    (address) =>
      (target.length === 0 || target.some((one) => matchesAddress(one, address))) &&
      !exclude.some((one) => matchesAddress(one, address)),
  );
  if (lost.length === 0) return;
  const message = `the record of run ${run} has no copy of ${lost.join(', ')}, so it cannot be undone`;
  throw new CallsheetError('usage', message, {
    hint: 'Put the record back from a backup, name with --target what it has copies of, leave out the others with --exclude, or take the change back in the configuration.',
  });
}

function untouched(flag: string, run: string): CallsheetError {
  return new CallsheetError('usage', `${flag}: run ${run} changed nothing of that address`, {
    hint: `What it changed: callsheet runs ${run}`,
  });
}

/** Resources that somebody edited since the run: undoing the run would undo that too (DESIGN §6). */
function findEdited(undo: Undo, session: Session): Promise<readonly Edited[]> {
  const { reader, platform } = session;
  const author = `api:${platform.account_id}`;
  return findInterleaved(undo, {
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
