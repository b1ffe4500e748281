import { CallsheetError } from '../core/errors.ts';
import { ownOf } from '../core/own.ts';
import type { Note } from '../core/plan-document.ts';
import { kindNamed } from '../kinds/index.ts';
import { scopeOf } from '../plan/natural-key.ts';
import { formatCount } from '../render/wording.ts';
import { findEdits } from '../rollback/edits.ts';
import { type Kept, type Since, undoSince } from '../rollback/since.ts';
import { openSnapshot } from '../snapshot/read-file.ts';
import type { ResourceState } from '../state/model.ts';
import {
  carryOutUndo,
  chooseFrom,
  leaveOutEdited,
  type UndoFlags,
  type UndoRequest,
} from './carry-out-undo.ts';
import { quoted } from './command-line.ts';
import type { Context } from './context.ts';
import type { ExitCode } from './exit.ts';
import { beganOf, findLastApplied, readRun } from './find-run.ts';
import { openSession, refuseBeside, type Session } from './session.ts';
import { type Relevant, readRelevant } from './snapshot/kept.ts';
import { type KeyFlags, keysFrom } from './snapshot/keys.ts';

export type RollbackToFlags = UndoFlags &
  KeyFlags & {
    readonly to: string;
    readonly allowDelete?: boolean;
  };

/** `callsheet rollback --to SNAPSHOT`: what the stack manages becomes what it was when that was made. */
export async function rollbackTo(flags: RollbackToFlags, context: Context): Promise<ExitCode> {
  const snapshot = await openSnapshot(flags.to, keysFrom(flags, context));
  const session = await openSession(flags, context);
  try {
    await refuseBeside(session);
    const relevant = await readRelevant(snapshot, session);
    const { sha256, covers } = relevant;
    const { state, reader } = session;
    const missing = await findMissing(session, relevant.kept);
    const isMissing = (kind: string, id: string) => missing.has(`${kind} ${id}`);
    const since = undoSince(relevant.kept, { state, isMissing, covers });
    if (since.undo.addresses.length === 0 && since.undo.impossible.length === 0) {
      throw nothingOfStack(flags.to);
    }
    const command = `rollback --to ${quoted(flags.to)}`;
    const chosen = chooseFrom(since.undo, flags, (flag) => stray(flag, flags.to));
    const there = chosen.addresses.filter((address) => {
      const known = ownOf(state.resources, address);
      return known !== undefined && !isMissing(known.kind, known.id);
    });
    const isLookedFor = flags.force !== true && !(await isGoneOnWith(session, sha256));
    const edits = isLookedFor
      ? await findEdits(there, chosen.versions, state, (kind, id, limit) =>
          reader.history(kindNamed(kind), id, limit),
        )
      : [];
    const { undo, skipped } = leaveOutEdited(chosen, edits, command, flags);
    const { made_at } = snapshot.header;
    return await carryOutUndo(
      {
        undo,
        command,
        skipped,
        question: `Roll back to the snapshot of ${made_at}?`,
        snapshot: { made_at, sha256 },
        mayDelete: flags.allowDelete === true,
        notes: notesOn(since, relevant),
        hold: await holdSince(session, made_at),
      },
      flags,
      session,
      context,
    );
  } finally {
    await session.close();
  }
}

/** What was applied since the snapshot is not to be applied again unawares. */
async function holdSince(session: Session, madeAt: string): Promise<UndoRequest['hold']> {
  const undid = await findLastApplied(session, madeAt);
  return undid === undefined ? undefined : { undid, isHeld: true };
}

function stray(flag: string, to: string): CallsheetError {
  return new CallsheetError('usage', `${flag}: the snapshot ${to} has nothing of it`, {
    hint: 'What it holds: callsheet snapshot show. Addresses: callsheet state list.',
  });
}

/**
 * Which resources, of the state and of the snapshot, are gone from the platform. Lists are read once, and
 * planning uses the same.
 */
async function findMissing(
  { state, reader }: Session,
  kept: readonly Kept[],
): Promise<ReadonlySet<string>> {
  const sought = new Map<string, Pick<ResourceState, 'kind' | 'id' | 'scope' | 'pin'>>();
  for (const { kind, id, document } of kept)
    sought.set(`${kind} ${id}`, { kind, id, scope: scopeOf(kindNamed(kind), document), pin: null });
  for (const one of Object.values(state.resources)) sought.set(`${one.kind} ${one.id}`, one);
  const missing = new Set<string>();
  await Promise.all(
    [...sought].map(async ([key, { kind: name, id, scope, pin }]) => {
      const kind = kindNamed(name);
      const listed = await reader.list(kind, scope);
      const isThere =
        listed === undefined
          ? (await reader.read(kind, { id, scope, isUnread: pin === null }, new Set())) !==
            undefined
          : listed.some((one) => one.id === id);
      if (!isThere) missing.add(key);
    }),
  );
  return missing;
}

/** A rollback to the same snapshot that died has edited, too: its edits are nobody's. */
async function isGoneOnWith(session: Session, sha256: string): Promise<boolean> {
  const { unfinished, state } = session;
  const run = unfinished?.run ?? state.last_run;
  const entries = (run === null ? undefined : await readRun(session, run)) ?? [];
  const isDone = entries.some((entry) => entry.type === 'ended' && entry.status === 'done');
  return !isDone && beganOf(entries)?.snapshot?.sha256 === sha256;
}

/** What a person should know of what is left alone. */
function notesOn({ untold, foreign }: Since, { kept, others }: Relevant): readonly Note[] {
  const withheld = kept.reduce((sum, one) => sum + one.withheld.length, 0);
  const beside = foreign + others;
  const said: Note[] = untold.map((address) => ({
    severity: 'warning',
    address,
    message: 'the snapshot says nothing of it, so it stays as it is',
  }));
  if (withheld > 0) {
    const message = `${formatCount(withheld, 'sensitive value')} of these resources ${withheld === 1 ? 'is' : 'are'} not in the snapshot, which is not encrypted; what is live stays`;
    said.push({ severity: 'info', address: null, message });
  }
  if (beside > 0) {
    const message = `${formatCount(beside, 'resource')} of the snapshot ${beside === 1 ? 'is' : 'are'} not managed by this stack and not touched`;
    said.push({ severity: 'info', address: null, message });
  }
  return said;
}

function nothingOfStack(file: string): CallsheetError {
  return new CallsheetError('usage', `the snapshot ${file} holds nothing that this stack manages`, {
    hint: 'It was made before the stack was applied for the first time, or of other organizations: callsheet snapshot show.',
  });
}
