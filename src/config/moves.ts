import { type Address, isAddress, kindOf, matchesAddress } from '../core/address.ts';
import { nearest } from './nearest.ts';
import type { Report } from './problems.ts';
import { formatPosition, type Place, positionOf } from './source.ts';
import { describe, memberOf, type Written } from './written.ts';

/** An address, or all rows of one, that is called otherwise now. */
export type Move = { readonly from: Address; readonly to: Address };

/** What a stack says of addresses that it had before. */
export type Moves = { readonly moved: readonly Move[]; readonly forget: readonly Address[] };

type Given = { readonly address: Address; readonly place: Place };
type Placed = { readonly from: Given; readonly to: Given };

/** Reads `moved` and `forget` of all files, and reports what contradicts the resources that there are. */
export function readMoves(
  { moved, forget }: { readonly moved: readonly Written[]; readonly forget: readonly Written[] },
  addresses: ReadonlySet<Address>,
  isKind: (name: string) => boolean,
  report: Report,
): Moves {
  const known = [...addresses];
  const patterns = new Set(known.flatMap(patternsOf));
  const present = (pattern: Address) => patterns.has(pattern);
  const moves = moved
    .flatMap((list) => itemsOf(list, 'moved', report))
    .flatMap((item) => {
      const from = readAddress(memberOf(item, 'from')?.value, item, 'moved: from', isKind, report);
      const to = readAddress(memberOf(item, 'to')?.value, item, 'moved: to', isKind, report);
      return from && to ? [{ from, to }] : [];
    });
  const byTo = Map.groupBy(moves, ({ to }) => to.address);
  const sources = new Set(moves.map(({ from }) => from.address));
  for (const move of moves) {
    const twins = byTo.get(move.to.address) ?? [];
    checkMove(move, { twins, isMoved: (address) => sources.has(address), present, known }, report);
  }
  const forgotten = forget
    .flatMap((list) => itemsOf(list, 'forget', report))
    .flatMap((item) => {
      const given = readAddress(item, item, 'forget', isKind, report);
      if (given === undefined) return [];
      if (present(given.address)) {
        report.add({
          rule: 'forget/configured',
          message: `forget names ${given.address}, which the stack still has`,
          hint: 'Remove the resource, or take it out of forget',
          address: given.address,
          place: given.place,
        });
      }
      return [given.address];
    });
  return {
    moved: moves.map(({ from, to }) => ({ from: from.address, to: to.address })),
    forget: forgotten,
  };
}

/** Everything that names an address: itself, its row-less form, what it is nested in, its kind. */
function patternsOf(address: Address): readonly string[] {
  return [address, ...[...address.matchAll(/[.[]/g)].map(({ index }) => address.slice(0, index))];
}

/** The address that a resource had before, where `moved` says so; moves are followed back to the first. */
export function formerAddresses(address: Address, moved: readonly Move[]): readonly Address[] {
  const former: Address[] = [];
  let at = address;
  for (;;) {
    const move = moved.find(({ to }) => matchesAddress(to, at));
    if (move === undefined) return former;
    at = `${move.from}${at.slice(move.to.length)}`;
    if (former.includes(at)) return former;
    former.push(at);
  }
}

function itemsOf(node: Written, key: string, report: Report): readonly Written[] {
  if (node.type === 'list') return node.items;
  report.add({
    rule: 'schema/type',
    message: `${key} must be a list, not ${describe(node)}`,
    hint: key === 'moved' ? 'Write - { from: agent.old, to: agent.new }' : 'Write - agent.name',
    place: node.place,
  });
  return [];
}

function readAddress(
  node: Written | undefined,
  item: Written,
  what: string,
  isKind: (name: string) => boolean,
  report: Report,
): Given | undefined {
  const text = node?.type === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
  const place = node?.place ?? item.place;
  if (text !== undefined && isAddress(text) && isKind(kindOf(text)))
    return { address: text, place };
  report.add({
    rule: 'address/form',
    message: `${what} ${text === undefined ? 'needs an address' : `is ${JSON.stringify(text)}, which is no address`}`,
    hint: 'Write KIND.NAME, such as agent.reception or agent.clinic["harbor"]',
    place,
  });
  return undefined;
}

function checkMove(
  { from, to }: Placed,
  {
    twins,
    isMoved,
    present,
    known,
  }: {
    /** Moves to the same address, this one among them. */
    readonly twins: readonly Placed[];
    /** Whether another move goes on from an address. */
    readonly isMoved: (address: Address) => boolean;
    readonly present: (pattern: Address) => boolean;
    readonly known: readonly Address[];
  },
  report: Report,
): void {
  const problem = (rule: string, message: string, hint: string, { address, place }: Given) =>
    report.add({ rule, message, hint, address, place });
  const twin = twins.find((other) => other.from !== from);
  if (kindOf(from.address) !== kindOf(to.address)) {
    const message = `moved: ${from.address} cannot become ${to.address}, which is of another kind`;
    problem('moved/kind', message, 'A resource keeps its kind', to);
  } else if (present(from.address)) {
    const message = `moved: ${from.address} is still in the stack, so it was not moved`;
    problem('moved/configured', message, `Rename it to ${to.address}, or take the move out`, from);
  } else if (twin !== undefined && twin.from.place.start < from.place.start) {
    const message = `moved: two addresses become ${to.address}, the other at ${formatPosition(positionOf(twin.from.place))}`;
    problem('moved/twice', message, 'Only one resource can have it', to);
  } else if (!present(to.address) && !isMoved(to.address)) {
    const close = nearest(to.address, known);
    const hint =
      close === undefined
        ? 'Take the move out once nothing is left of it'
        : `Did you mean ${close}?`;
    const message = `moved: ${to.address} is no resource of the stack`;
    report.add({ severity: 'warning', rule: 'moved/unknown', message, hint, place: to.place });
  }
}
