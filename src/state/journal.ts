import type { Address } from '../core/address.ts';
import type { Runs } from '../core/documents.generated.ts';
import type { Change } from '../core/plan-document.ts';
import type { KeptEntries } from './model.ts';

/**
 * A run's journal, one entry a line. It is durable before a request leaves and after its answer came
 * back, it is what the next command settles a dead run from, and it is the run's receipt afterwards.
 */
export type JournalEntry =
  | RunBegan
  | SnapshotTaken
  | IntentRecorded
  | OutcomeRecorded
  | ResourceRecorded
  | RunEnded;

/** The purpose of a run. Edits of the state ask nothing of the platform; they have no plan and no digests. */
type RunPurpose = RunBegan['purpose'];

export type StateEdit = Exclude<RunPurpose, 'apply' | 'heal' | 'rollback' | 'restore' | 'drift'>;

export type RunBegan = Omit<Runs.Began, 'kept'> & { readonly kept?: KeptByRun };

/** A feature keeps this from a run on. The schema of receipts leaves its members open. */
export type KeptByRun = NonNullable<Runs.Began['kept']> & { readonly entries: KeptEntries };

/** A guard that stood against a run, and was overridden. */
export type Override = NonNullable<RunBegan['overrides']>[number];

/** Who ran it and from what. Null where unknown. */
export type Actor = RunBegan['actor'];

/** A resource right before the run touched it, to which a rollback goes back. */
export type SnapshotTaken = Runs.Snapshot;

/**
 * A resource as a change is to leave it, so that a run that died can be settled by reading. It holds no secret, only
 * fingerprints.
 */
export type Intended = NonNullable<SnapshotTaken['intended']>;

/** A request that is about to leave. */
export type IntentRecorded = Runs.Intent;

export type OutcomeRecorded = Runs.Outcome;

/** A resource as the state remembers it from now on; null: no longer. */
export type ResourceRecorded = Runs.ResourceRecorded;

export type OperationStatus = LedgerLine['status'];

export type RunEnded = Runs.Ended;

/** A value that a rollback could not put back, or was to leave out. It names the value, and does not hold it. */
export type NotUndone = Runs.NotUndone;

/** A place where the platform is not as wanted after a rollback. Secrets and sensitive values are masked. */
export type Difference = Runs.Difference;

export type LedgerLine = Runs.LedgerLine;

/**
 * A history entry that somebody else made while a change was carried out. One of unknown order may be the entry of the
 * edit that the change mends.
 */
export type Interleaved = Runs.Interleaved;

/** An entry of one type, of a journal or of a document that shows one. */
type OfType<Entry, Type> = Extract<Entry, { readonly type: Type }>;

/** Finds the beginning of a run; undefined if its record has none. */
export function findBegan<Entry extends { readonly type: string }>(
  entries: readonly Entry[],
): OfType<Entry, 'began'> | undefined {
  return entries.find((entry): entry is OfType<Entry, 'began'> => entry.type === 'began');
}

/**
 * How a run ended, by its own word if it had one: a run that died before its state was written is `settled` by the
 * next, which adds an end of its own to what the journal has.
 */
export function findEnded<Entry extends { readonly type: string }>(
  entries: readonly Entry[],
): OfType<Entry, 'ended'> | undefined {
  return entries.find((entry): entry is OfType<Entry, 'ended'> => entry.type === 'ended');
}

/** Gives the members of a ledger line that name the change. */
export function namedLine({
  address,
  name,
  action,
}: Pick<Change, 'address' | 'name' | 'action'>): Pick<LedgerLine, 'address' | 'name' | 'action'> {
  return { address, ...(name === address ? {} : { name }), action };
}

/** The line of a change that was not carried out: the plan left it out, or its turn did not come. */
export function lineNotDone(
  change: Change,
  status: 'blocked' | 'not_attempted',
  message: string | null,
): LedgerLine {
  const { id, verdict, lifted_by: lift } = change;
  return {
    ...namedLine(change),
    status,
    ...(verdict === 'ok' ? {} : { verdict, ...(lift === undefined ? {} : { lifted_by: lift }) }),
    id,
    message,
    fields: [],
    history: null,
  };
}

/** Lists the outcome of each change: as the run knew it to be done, and for the rest as found when it was settled. */
export function listLedger(entries: readonly (JournalEntry | Runs.Entry)[]): readonly LedgerLine[] {
  const lines = new Map<Address, LedgerLine>();
  for (const line of entries.flatMap((entry) => (entry.type === 'ended' ? entry.ledger : [])))
    if (lines.get(line.address)?.status !== 'done') lines.set(line.address, line);
  return [...lines.values()];
}

/** Returns true if a change was not made, though the plan did not leave it out. */
export function isMissed({ status, verdict }: LedgerLine): boolean {
  return status !== 'done' && verdict === undefined;
}

export function isDone(entries: readonly JournalEntry[]): boolean {
  return findEnded(entries)?.status === 'done';
}

/**
 * Finds resources whose entries by the run may stand in the history only after the run read it: it died and was
 * settled, or it wrote the resource by several requests, of which it waits for one entry.
 */
export function findLateEntries(entries: readonly JournalEntry[]): (address: Address) => boolean {
  const isSettled = entries.some((entry) => entry.type === 'ended' && entry.status === 'settled');
  const requests = listRequests(entries);
  return (address) => isSettled || (requests.get(address)?.length ?? 0) > 1;
}

function listRequests(entries: readonly JournalEntry[]): Map<Address, IntentRecorded[]> {
  const intents = entries.filter((entry) => entry.type === 'intent');
  return Map.groupBy(intents, ({ address }) => address);
}

/**
 * Returns the outcome of a run that died, as far as its journal knows: done if the resource was recorded, failed if a
 * request left and nothing more was written down. Changes that it never came to are not listed.
 */
export function ledgerOfDeadRun(entries: readonly JournalEntry[]): readonly LedgerLine[] {
  const intents = listRequests(entries);
  const recorded = new Map<Address, string | null>();
  for (const entry of entries) {
    if (entry.type === 'resource') recorded.set(entry.address, entry.resource?.id ?? null);
  }
  return [...intents].map(([address, steps]) => {
    const isDone = recorded.has(address);
    return {
      address,
      action: nameAction(steps),
      status: isDone ? 'done' : 'failed',
      id: recorded.get(address) ?? steps.at(-1)?.id ?? null,
      message: isDone ? null : 'the run died before the platform confirmed this change',
      fields: [...new Set(steps.flatMap(({ fields }) => fields))],
      history: null,
    };
  });
}

function nameAction(steps: readonly IntentRecorded[]): string {
  const has = (step: IntentRecorded['step']) => steps.some((one) => one.step === step);
  if (has('create')) return has('delete') ? 'replace' : 'create';
  return has('delete') ? 'delete' : 'update';
}

const RUN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Returns true if a text can be a run's id: it becomes part of a file's name. */
export function isRunId(text: string): boolean {
  return RUN.test(text) && !text.endsWith('.open');
}
