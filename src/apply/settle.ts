import type { Address } from '../core/address.ts';
import type { SettledFinding } from '../core/plan-document.ts';
import type { World } from '../diff/world.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Reader } from '../plan/reader.ts';
import type { JournalEntry, LedgerLine, ResourceRecorded } from '../state/journal.ts';
import type { ResourceState, State } from '../state/model.ts';
import { type OpenChange, type Replayed, replay } from '../state/replay.ts';
import { ledgerOfDeadRun } from './dead-run.ts';
import { isMaking, settleMaking } from './settle-making.ts';
import { settleRemoval, settleWriting } from './settle-writing.ts';

/** What became of one change of a run that died. */
export type Settled = {
  readonly address: Address;
  readonly isDone: boolean;
  readonly severity: SettledFinding['severity'];
  /** Goes on after the address: `was created (id …)`. */
  readonly message: string;
  readonly id: string | null;
  /** What the state says from now on, of this address and of what a replacement left behind. */
  readonly records: ReadonlyMap<Address, ResourceState | null>;
  readonly history?: LedgerLine['history'];
  /** Live resources of which nobody can tell which one the run made. */
  readonly candidates?: readonly string[];
};

/** What settling one change takes. */
export type Settling = {
  readonly change: OpenChange;
  readonly kind: Kind;
  readonly reader: Reader;
  readonly world: World;
  /** How the run's changes are signed in histories; undefined while its account is unknown. */
  readonly author: string | undefined;
  /** Whether another address stands for the resource of an id. */
  readonly isTaken: (id: string) => boolean;
  /** An address for what a replacement left behind. */
  readonly spare: (address: Address) => Address;
};

/** A run that died, settled: found out by reading alone, so that a plan can show it and apply record it. */
export type Settlement = {
  readonly run: string;
  /** The journal that it was made from. */
  readonly entries: readonly JournalEntry[];
  readonly settled: readonly Settled[];
  readonly records: readonly ResourceRecorded[];
  readonly ledger: readonly LedgerLine[];
  /** The state with all that. */
  readonly state: State;
};

/**
 * Finds out what became of the requests that a dead run did not write down (DESIGN §5, Journal):
 *
 * | the run was about to    | is settled by                                                            |
 * |-------------------------|--------------------------------------------------------------------------|
 * | make a resource         | its id, if the answer was journaled; else natural key and creation time  |
 * | write to a resource     | reading it, and comparing it with what was intended                      |
 * | delete a resource       | a 404                                                                    |
 *
 * It writes nothing. Undefined where there is no such run. `deps` are needed only where something is open.
 */
export async function settleRun(
  entries: readonly JournalEntry[],
  { began, state, open }: Replayed,
  deps: { readonly reader: Reader; readonly world: Omit<World, 'idOf'> } | undefined,
): Promise<Settlement | undefined> {
  if (began === undefined || state === undefined) return undefined;
  const author = began.account_id === '' ? undefined : `api:${began.account_id}`;
  const settled = await Promise.all(
    open.flatMap((change) => {
      if (change.snapshot === undefined || deps === undefined) return [];
      const kind = kindNamed(change.snapshot.kind);
      const isTaken = (id: string) => isHeld(state, kind, id, change.address);
      const spare = (address: Address) => freeAddress(address, state);
      const world = { ...deps.world, idOf: () => undefined };
      return [settleOne({ change, kind, reader: deps.reader, world, author, isTaken, spare })];
    }),
  );
  const records = settled.flatMap(({ records: known }) =>
    [...known].map(([address, resource]) => ({ type: 'resource' as const, address, resource })),
  );
  return {
    run: began.run,
    entries,
    settled,
    records,
    ledger: ledgerOf(entries, settled),
    state: replay(state, records).state ?? state,
  };
}

/** The same for the plan document. */
export function findingsOf({ settled }: Settlement): readonly SettledFinding[] {
  return settled.map(({ severity, address, message }) => ({ severity, address, message }));
}

function settleOne(settling: Settling): Promise<Settled> {
  if (isMaking(settling.change)) return settleMaking(settling);
  const steps = new Set(settling.change.requests.map(({ intent }) => intent.step));
  return steps.has('delete') ? settleRemoval(settling) : settleWriting(settling);
}

function ledgerOf(
  entries: readonly JournalEntry[],
  settled: readonly Settled[],
): readonly LedgerLine[] {
  const found = new Map(settled.map((one) => [one.address, one]));
  return ledgerOfDeadRun(entries).map((line): LedgerLine => {
    const one = found.get(line.address);
    if (one === undefined) return line;
    const { isDone, id, message, history = null } = one;
    return { ...line, status: isDone ? 'done' : 'failed', id: id ?? line.id, message, history };
  });
}

function isHeld({ resources }: State, kind: Kind, id: string, by: Address): boolean {
  return Object.entries(resources).some(
    ([address, known]) => address !== by && known.kind === kind.name && known.id === id,
  );
}

/** `sms_template.reminder.replaced`, or the first of that name with a number that is free. */
export function freeAddress(address: Address, { resources }: State): Address {
  const first = `${address}.replaced`;
  for (let number = 2, spare = first; ; number += 1) {
    if (resources[spare] === undefined) return spare;
    spare = `${first}-${number}`;
  }
}
