import type { Address } from '../core/address.ts';
import { type Binding, rebindLeaves } from './fingerprint.ts';
import type { JournalEntry, RunBegan, RunEnded, SnapshotTaken } from './journal.ts';
import { getIdentity, type State } from './model.ts';

/**
 * Receipts of resources that another state takes over (`state mv --to`): each has of a run what is about them, so that
 * the run can be rolled back there as far as it is theirs. It keeps the lineage that it began with, and says which run
 * brought it.
 */
export type Taken = {
  /** The run of `state mv`. */
  readonly run: string;
  readonly addresses: ReadonlySet<Address>;
  readonly from: Pick<State, 'lineage' | 'salt' | 'resources'>;
  readonly to: Pick<State, 'lineage' | 'salt'>;
};

type Entries = readonly JournalEntry[];

/** Those of some addresses that a journal is about. */
export function mentions(entries: Entries, addresses: ReadonlySet<Address>): Set<Address> {
  return new Set(entries.flatMap(listAddresses).filter((address) => addresses.has(address)));
}

function listAddresses(entry: JournalEntry): readonly Address[] {
  if (entry.type === 'ended') return entry.ledger.map(({ address }) => address);
  return 'address' in entry ? [entry.address] : [];
}

/** The part of a receipt that is about the resources; empty where none is. */
export function takeReceipt(entries: Entries, taken: Taken): Entries {
  const chosen = new Set([
    ...mentions(entries, taken.addresses),
    ...formerAddresses(entries, taken),
  ]);
  if (chosen.size === 0) return [];
  const requests = new Set<number>();
  return entries.flatMap((entry): Entries => {
    if (entry.type === 'began') return [bringBegan(entry, taken)];
    if (entry.type === 'ended') return [narrowEnded(entry, (address) => chosen.has(address))];
    if (entry.type === 'outcome') return requests.has(entry.seq) ? [entry] : [];
    if (!chosen.has(entry.address)) return [];
    if (entry.type === 'intent') requests.add(entry.seq);
    return [rebindEntry(entry, taken)];
  });
}

/** A run may have had one of the resources under an address that it had then. */
function formerAddresses(entries: Entries, { addresses, from }: Taken): readonly Address[] {
  const own = new Set(
    [...addresses].flatMap((address) => {
      const one = from.resources[address];
      return one === undefined ? [] : [getIdentity(one)];
    }),
  );
  return entries.flatMap((entry) => {
    if (entry.type === 'snapshot')
      return own.has(getIdentity({ kind: entry.kind, id: entry.id ?? '' })) ? [entry.address] : [];
    if (entry.type !== 'resource' || entry.resource === null) return [];
    return own.has(getIdentity(entry.resource)) ? [entry.address] : [];
  });
}

/** Holds and what features keep are of the state that the run began from. */
function bringBegan({ holds: _, kept: __, ...began }: RunBegan, { run }: Taken): RunBegan {
  return { ...began, brought_by: began.brought_by ?? run };
}

function narrowEnded(ended: RunEnded, isOwn: (address: Address) => boolean): RunEnded {
  const own = <T extends { readonly address: Address }>(list: readonly T[]) =>
    list.filter(({ address }) => isOwn(address));
  const { ledger, differs, left } = ended;
  return {
    ...ended,
    ledger: own(ledger),
    ...(differs && { differs: own(differs) }),
    ...(left && { left: own(left) }),
  };
}

function rebindEntry(entry: JournalEntry & { readonly address: Address }, taken: Taken) {
  const { address } = entry;
  const [from, to] = [taken.from, taken.to].map(
    ({ lineage, salt }): Binding => ({ stack: lineage, salt, address }),
  );
  if (from === undefined || to === undefined) return entry;
  const rebound = <T extends Pick<NonNullable<SnapshotTaken['intended']>, 'leaves'>>(
    one: T,
  ): T => ({
    ...one,
    leaves: rebindLeaves(one.leaves, from, to),
  });
  if (entry.type === 'resource')
    return { ...entry, resource: entry.resource && rebound(entry.resource) };
  if (entry.type !== 'snapshot') return entry;
  const { resource, intended } = entry;
  return {
    ...entry,
    resource: resource && rebound(resource),
    intended: intended && rebound(intended),
  };
}

/**
 * A receipt with what another copy of it has about further resources; undefined where it lacks nothing. A run's entries
 * about one address keep their order, which is all that is asked of them.
 */
export function mergeReceipt(there: Entries, given: Entries): Entries | undefined {
  if (there.length === 0) return given;
  const known = new Set(there.flatMap(listAddresses));
  const isNew = (address: Address) => !known.has(address);
  if (given.flatMap(listAddresses).every((address) => !isNew(address))) return undefined;
  const requests = new Set<number>();
  const added = given.filter((entry) => {
    if (entry.type === 'began' || entry.type === 'ended') return false;
    if (entry.type === 'outcome') return requests.has(entry.seq);
    if (isNew(entry.address) && entry.type === 'intent') requests.add(entry.seq);
    return isNew(entry.address);
  });
  const ends = given.filter((entry) => entry.type === 'ended');
  const merged = there
    .filter((entry) => entry.type === 'ended')
    .map((ended, index): RunEnded => {
      const more = ends[index] && narrowEnded(ends[index], isNew);
      const lists = more && {
        ledger: [...ended.ledger, ...more.ledger],
        ...(ended.differs || more.differs
          ? { differs: [...(ended.differs ?? []), ...(more.differs ?? [])] }
          : {}),
        ...(ended.left || more.left ? { left: [...(ended.left ?? []), ...(more.left ?? [])] } : {}),
      };
      return { ...ended, ...lists };
    });
  return [...there.filter((entry) => entry.type !== 'ended'), ...added, ...merged];
}
