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
  const present = (pattern: Address) => known.some((address) => matchesAddress(pattern, address));
  const moves = moved
    .flatMap((list) => itemsOf(list, 'moved', report))
    .flatMap((item) => {
      const from = readAddress(memberOf(item, 'from')?.value, item, 'moved: from', isKind, report);
      const to = readAddress(memberOf(item, 'to')?.value, item, 'moved: to', isKind, report);
      return from && to ? [{ from, to }] : [];
    });
  for (const move of moves) checkMove(move, moves, addresses, report);
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

/**
 * The addresses that a resource had before, the latest first. Of several moves that lead to an address the
 * narrowest counts, and each counts once.
 */
export function formerAddresses(address: Address, moved: readonly Move[]): readonly Address[] {
  const former: Address[] = [];
  let left = moved;
  let at = address;
  for (;;) {
    const move = narrowest(left.filter((one) => leadsTo(one, at)));
    if (move === undefined) return former;
    at = `${move.from}${at.slice(move.to.length)}`;
    former.push(at);
    left = left.filter((one) => one !== move);
  }
}

function narrowest(moves: readonly Move[]): Move | undefined {
  return moves.toSorted((a, b) => b.to.length - a.to.length)[0];
}

/** A move of all rows takes along what lies below; one that names a row means that address alone. */
function leadsTo({ from, to }: Move, address: Address): boolean {
  return isWide(from) && isWide(to) ? matchesAddress(to, address) : to === address;
}

/** Whether an address names no row, so that it may stand for all of them. */
function isWide(address: Address): boolean {
  return !address.includes('[');
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
  move: Placed,
  moves: readonly Placed[],
  addresses: ReadonlySet<Address>,
  report: Report,
): void {
  const { from, to } = move;
  const problem = (rule: string, message: string, hint: string, { address, place }: Given) =>
    report.add({ rule, message, hint, address, place });
  const earlier = moves.slice(0, moves.indexOf(move));
  const sameEnd = earlier.find((other) => other.to.address === to.address);
  const sameStart = earlier.find((other) => other.from.address === from.address);
  const known = [...addresses];
  if (kindOf(from.address) !== kindOf(to.address)) {
    const message = `moved: ${from.address} cannot become ${to.address}, which is of another kind`;
    problem('moved/kind', message, 'A resource keeps its kind', to);
  } else if (isStillThere(from.address, to.address, addresses)) {
    const message = `moved: ${from.address} is still in the stack, so it was not moved`;
    problem('moved/configured', message, `Rename it to ${to.address}, or take the move out`, from);
  } else if (sameEnd !== undefined) {
    const message = `moved: two addresses become ${to.address}, the other at ${formatPosition(positionOf(sameEnd.from.place))}`;
    problem('moved/twice', message, 'Only one resource can have it', to);
  } else if (sameStart !== undefined) {
    const message = `moved: ${from.address} becomes two addresses, the other at ${formatPosition(positionOf(sameStart.to.place))}`;
    problem('moved/twice', message, 'A resource has one address', from);
  } else if (
    !known.some((address) => matchesAddress(to.address, address)) &&
    !moves.some((other) => other.from.address === to.address)
  ) {
    const close = nearest(to.address, known);
    const hint =
      close === undefined
        ? 'Take the move out once nothing is left of it'
        : `Did you mean ${close}?`;
    const message = `moved: ${to.address} is no resource of the stack`;
    report.add({ severity: 'warning', rule: 'moved/unknown', message, hint, place: to.place });
  }
}

/** A resource that becomes a row of its own name is gone, although its name still begins addresses. */
function isStillThere(from: Address, to: Address, addresses: ReadonlySet<Address>): boolean {
  if (addresses.has(from)) return true;
  return isWide(to) && [...addresses].some((address) => matchesAddress(from, address));
}
