import type { Runs } from '../core/documents.generated.ts';
import { CallsheetError } from '../core/errors.ts';
import { millisecondsIn } from '../core/value.ts';
import { findBegan, isDone, type JournalEntry } from './journal.ts';
import type { State } from './model.ts';
import type { RunSummary } from './store.ts';

/** Which receipts of finished runs may go, and why others must stay however old they are. */

/** As many of the newest runs as that, or those of so many milliseconds until now. */
export type Keep = { readonly newest: number } | { readonly milliseconds: number };

/** A receipt that is old enough to go, and stays. */
export type NeededRun = Runs.Pruning['needed'][number];

type Reason = NeededRun['reason'];

/** Receipts, the newest first. */
export type Retention = {
  readonly pruned: readonly string[];
  readonly needed: readonly NeededRun[];
  /** How many stay, the needed ones among them. */
  readonly kept: number;
};

/** Reads `90d`, `12w` or a count of runs. Throws `CallsheetError('usage')`. */
export function parseKeep(text: string): Keep {
  if (/^\d{1,6}$/.test(text)) return { newest: Number(text) };
  const milliseconds = /^\d{1,6}[hdw]$/.test(text) ? millisecondsIn(text) : undefined;
  if (milliseconds !== undefined) return { milliseconds };
  throw new CallsheetError('usage', `--keep ${text} is neither an age nor a count of runs`, {
    hint: 'Write 90d, 12w or 48h to keep the runs of that time, or 200 to keep the newest 200 runs.',
  });
}

/** The purpose of a run that prunes. It counts as none of the newest: repeated, nothing more goes. */
export const PRUNING = 'runs prune';

/**
 * Chooses among finished runs, the newest first. `read` gives the journal of one; few are read. Throws what `read`
 * throws.
 */
export async function chooseReceipts(
  runs: readonly RunSummary[],
  state: State,
  keep: Keep,
  now: Date,
  read: (run: string) => Promise<readonly JournalEntry[] | undefined>,
): Promise<Retention> {
  const old = new Set(listOld(runs, keep, now).map(({ run }) => run));
  const reasons = neededBy(state);
  for (const [run, why] of await neededByRollback(runs, read)) reasons.set(run, why);
  // Pruning itself writes the state: what was the last run before stays the last that says what became of it.
  const last = runs.find(({ purpose }) => purpose !== PRUNING)?.run;
  for (const run of [last, state.last_run])
    if (typeof run === 'string') reasons.set(run, ['last_run', run]);
  const stays = (run: string) => !old.has(run) || reasons.has(run);
  // A run that stays can be rolled back, so that what rolled it back before must be known.
  for (const { run, undoes } of runs)
    if (undoes !== undefined && stays(undoes) && !stays(run)) reasons.set(run, ['undoes', undoes]);
  for (const [run, by] of await findBringers(runs, stays, read)) reasons.set(run, ['brought', by]);
  const needed = runs.flatMap(({ run }) => {
    const [reason, of] = reasons.get(run) ?? [];
    return reason === undefined || of === undefined || !old.has(run) ? [] : [{ run, reason, of }];
  });
  const pruned = runs.flatMap(({ run }) => (stays(run) ? [] : [run]));
  return { pruned, needed, kept: runs.length - pruned.length };
}

function listOld(runs: readonly RunSummary[], keep: Keep, now: Date): readonly RunSummary[] {
  if ('milliseconds' in keep) {
    const since = now.getTime() - keep.milliseconds;
    return runs.filter(({ at, ended }) => Date.parse(ended ?? at) < since);
  }
  let counted = 0;
  return runs.filter(({ purpose }) => {
    if (counted >= keep.newest) return true;
    if (purpose !== PRUNING) counted += 1;
    return false;
  });
}

type Reasons = Map<string, readonly [Reason, string]>;

/** Runs that a state names, each with what it is named for. */
function neededBy({ kept = {}, holds = {}, deleted = {} }: State): Reasons {
  const reasons: Reasons = new Map();
  for (const [address, { run }] of Object.entries(deleted))
    if (run !== null) reasons.set(run, ['deleted', address]);
  for (const { address, undid, by } of Object.values(holds))
    for (const run of [undid, by]) reasons.set(run, ['hold', address]);
  for (const [feature, entries] of Object.entries(kept))
    for (const [name, { open, runs }] of Object.entries(entries))
      if (open) for (const run of runs) reasons.set(run, ['part', `${feature} ${name}`]);
  return reasons;
}

/** Runs that a feature may still have to take back. */
export function openParts({ kept }: Pick<State, 'kept'>): ReadonlySet<string> {
  const all = Object.values(kept ?? {}).flatMap((entries) => Object.values(entries));
  return new Set(all.flatMap(({ open, runs }) => (open ? runs : [])));
}

const WRITING = new Set(['apply', 'heal', 'rollback', 'restore', 'drift', 'unknown']);

/**
 * A rollback that names no run undoes the newest one that sent a request, or goes on with one that did not end. It
 * refuses those that mended drift, and names the run before them.
 */
async function neededByRollback(
  runs: readonly RunSummary[],
  read: (run: string) => Promise<readonly JournalEntry[] | undefined>,
): Promise<Reasons> {
  const reasons: Reasons = new Map();
  for (const { run, purpose, undoes, status } of runs) {
    if (!WRITING.has(purpose)) continue;
    const entries = status === 'unreadable' ? undefined : await read(run);
    if (entries?.every(({ type }) => type !== 'intent') === true) continue;
    reasons.set(run, ['rollback', run]);
    if (undoes !== undefined && entries !== undefined && !isDone(entries))
      reasons.set(undoes, ['rollback', run]);
    if (purpose !== 'heal') break;
  }
  return reasons;
}

/** Runs of `state mv` that receipts which stay came with. */
async function findBringers(
  runs: readonly RunSummary[],
  stays: (run: string) => boolean,
  read: (run: string) => Promise<readonly JournalEntry[] | undefined>,
): Promise<ReadonlyMap<string, string>> {
  const bringers = new Set(
    runs.flatMap(({ run, purpose }) => (purpose === 'state mv' && !stays(run) ? [run] : [])),
  );
  const found = new Map<string, string>();
  if (bringers.size === 0) return found;
  for (const { run, status } of runs) {
    if (!stays(run) || status === 'unreadable') continue;
    const { brought_by: by } = findBegan((await read(run)) ?? []) ?? {};
    if (by !== undefined && bringers.has(by)) found.set(by, run);
  }
  return found;
}
