import { CallsheetError } from '../core/errors.ts';
import { undoRun } from '../rollback/undo.ts';
import type { JournalEntry, RunBegan } from '../state/journal.ts';
import type { Session } from './session.ts';
import { entriesOf } from './unfinished.ts';

type Entries = readonly JournalEntry[];

/** The run that is to be rolled back. */
export type FoundRun = {
  readonly run: string;
  readonly entries: Entries;
  /** Rollbacks of it that did not come to their end, the newest first. */
  readonly begun: readonly Entries[];
};

/**
 * The run that is asked for, or the newest one that changed something. Where that is a rollback which did
 * not come to its end, it is gone on with.
 */
export async function findRun(session: Session, wanted: string | undefined): Promise<FoundRun> {
  const begun: Entries[] = [];
  for (const run of await runsOf(session)) {
    if (run === wanted) break;
    const entries = await readRun(session, run);
    if (entries === undefined || undoRun(entries).addresses.length === 0) continue;
    const { undoes, snapshot, purpose } = beganOf(entries) ?? {};
    if (wanted === undefined && snapshot !== undefined && purpose !== 'restore')
      throw redo(run, 'what was there since a snapshot');
    if (wanted === undefined && undoes === undefined) return { run, entries, begun: [] };
    if (wanted === undefined && isEnded(entries)) throw redo(run, `run ${undoes ?? ''}`);
    wanted ??= undoes;
    if (undoes === wanted) begun.push(entries);
  }
  if (wanted === undefined) throw nothingToUndo();
  const entries = await readRun(session, wanted);
  if (entries !== undefined)
    return { run: wanted, entries, begun: begun.filter((one) => !isEnded(one)) };
  throw new CallsheetError('usage', `run ${wanted} is not recorded`, {
    hint: 'callsheet runs lists those that are.',
  });
}

/** The one that died first: it came last. */
async function runsOf({ store, unfinished }: Session): Promise<readonly string[]> {
  const finished = (await store.runs()).map(({ run }) => run);
  return unfinished === undefined ? finished : [unfinished.run, ...finished];
}

async function readRun({ store, unfinished }: Session, run: string): Promise<Entries | undefined> {
  return run === unfinished?.run ? entriesOf(unfinished) : store.run(run);
}

/** What a run set out to do; undefined where there is none of that id. */
export async function readBegan(session: Session, run: string): Promise<RunBegan | undefined> {
  const entries = await readRun(session, run);
  return entries && beganOf(entries);
}

function beganOf(entries: Entries): RunBegan | undefined {
  return entries.find((entry) => entry.type === 'began');
}

/** Whether a run did all that it set out to do. */
function isEnded(entries: Entries): boolean {
  return entries.some((entry) => entry.type === 'ended' && entry.status === 'done');
}

/** Undoing a rollback brings back what it undid, which nobody should get without asking for it. */
function redo(run: string, undoes: string): CallsheetError {
  return new CallsheetError('usage', `the last run was itself a rollback, of ${undoes}`, {
    hint: `To bring back what it undid: callsheet rollback --run ${run}. Earlier runs: callsheet runs.`,
  });
}

function nothingToUndo(): CallsheetError {
  const message = 'no run is recorded that changed something, so there is nothing to roll back';
  return new CallsheetError('usage', message, {
    hint: 'The state remembers runs: check --dir and CALLSHEET_STATE.',
  });
}
