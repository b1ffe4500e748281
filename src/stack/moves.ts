import { type Address, getKind, isAddress, matchesAddress, matchesAny } from '../core/address.ts';
import { formatPosition } from '../core/diagnostics.ts';
import { didYouMean, suggestInstead } from '../core/nearest.ts';
import type { Collector } from './collect.ts';
import type { Report } from './diagnostics.ts';
import {
  describe,
  findMember,
  membersIn,
  type SourceRange,
  type SyntaxNode,
  textIn,
  toPosition,
} from './source.ts';

/** An address, all rows of one, or all that begin alike (`agent.clinic_*`), that is called otherwise now. */
type Move = { readonly from: Address; readonly to: Address };

/** Moved and forgotten addresses of a stack. */
export type Moves = { readonly moved: readonly Move[]; readonly forget: readonly Address[] };

type Given = { readonly address: Address; readonly range: SourceRange };
type Placed = { readonly from: Given; readonly to: Given };

/** Reads `moved` and `forget` of all files, and reports what contradicts the resources that there are. */
export function readMoves(
  { moved, forget }: Collector['shared'],
  addresses: ReadonlySet<Address>,
  isKind: (name: string) => boolean,
  report: Report,
): Moves {
  const moves = moved
    .flatMap((list) => listItems(list, 'moved', report))
    .flatMap((item) => {
      reportOtherKeys(item, report);
      const from = readAddress(
        findMember(item, 'from')?.value,
        item,
        'moved: from',
        isKind,
        report,
      );
      const to = readAddress(findMember(item, 'to')?.value, item, 'moved: to', isKind, report);
      return from && to ? [{ from, to }] : [];
    });
  const known = indexKnown(moves, addresses);
  const forgotten = forget
    .flatMap((list) => listItems(list, 'forget', report))
    .flatMap((item) => {
      const given = readAddress(item, item, 'forget', isKind, report);
      if (given === undefined) return [];
      const still = findConfigured(given.address, known);
      if (still !== undefined) {
        const which = still === given.address ? '' : ` and so ${still}`;
        report.add({
          rule: 'forget/configured',
          message: `forget names ${given.address}${which}, which the stack still has`,
          hint: 'Remove the resource, or remove it from forget',
          address: given.address,
          range: given.range,
        });
      }
      return [given.address];
    });
  for (const move of moves) checkMove(move, known, forgotten, report);
  return {
    moved: moves.map(({ from, to }) => ({ from: from.address, to: to.address })),
    forget: forgotten,
  };
}

/**
 * The addresses that a resource had before, the latest first. Of several moves that lead to an address the
 * narrowest counts, and each counts once.
 */
export function priorAddresses(moved: readonly Move[]): (address: Address) => readonly Address[] {
  const byEnd = new Map(moved.map((move) => [move.to, move]));
  const alike = moved
    .filter(({ to }) => isPattern(to))
    .toSorted((a, b) => b.to.length - a.to.length);
  return (address) => {
    const prior: Address[] = [];
    const used = new Set<Move>();
    let at = address;
    for (;;) {
      const here = at;
      const isFree = (one: Move) => !used.has(one);
      const move =
        listPatterns(here)
          .flatMap((pattern) => byEnd.get(pattern) ?? [])
          .find((one) => isFree(one) && leadsTo(one, here)) ??
        alike.find((one) => isFree(one) && matchesAddress(one.to, here));
      if (move === undefined) return prior;
      used.add(move);
      at = renamed(here, { from: move.to, to: move.from });
      prior.push(at);
    }
  };
}

/**
 * Returns true if an address is forgotten: by its own name, or by one that it was moved to. A state that is some
 * commits behind knows neither the move nor what came after it.
 */
export function isForgottenBy({ moved, forget }: Moves): (address: Address) => boolean {
  const laterAddresses = priorAddresses(moved.map(({ from, to }) => ({ from: to, to: from })));
  return (address) =>
    forget.length > 0 &&
    [address, ...laterAddresses(address)].some((one) => matchesAny(forget, one));
}

/** An address after a move. */
function renamed(address: Address, { from, to }: Move): Address {
  return isPattern(from)
    ? `${to.slice(0, -1)}${address.slice(from.length - 1)}`
    : `${to}${address.slice(from.length)}`;
}

/** All addresses of a kind that begin alike, as `--target` takes them: `agent.clinic_*`. */
function isPattern(text: string): boolean {
  return /^[a-z_]+\.[^*]*\*$/.test(text);
}

/** An address of the stack that a forgotten one names. */
function findConfigured(
  address: Address,
  { patterns, addresses }: Pick<Known, 'patterns' | 'addresses'>,
): Address | undefined {
  if (!isPattern(address)) return patterns.has(address) ? address : undefined;
  return [...addresses].find((one) => matchesAddress(address, one));
}

/** Everything that names an address, the narrowest first: itself, its row-less form, what it is nested in. */
function listPatterns(address: Address): readonly string[] {
  const ends = [...address.matchAll(/[.[]/g)].map(({ index }) => address.slice(0, index));
  return [address, ...ends.reverse()];
}

/** A move of all rows takes along what lies below; one that names a row means that address alone. */
function leadsTo({ from, to }: Move, address: Address): boolean {
  return to === address || (isWide(from) && isWide(to));
}

/** An address without a row may stand for all rows. */
function isWide(address: Address): boolean {
  return !address.includes('[');
}

function listItems(node: SyntaxNode, key: string, report: Report): readonly SyntaxNode[] {
  if (node.type === 'list') return node.items;
  report.add({
    rule: 'schema/type',
    message: `${key} must be a list, not ${describe(node)}`,
    hint: key === 'moved' ? 'Write - { from: agent.old, to: agent.new }' : 'Write - agent.name',
    range: node.range,
  });
  return [];
}

function reportOtherKeys(item: SyntaxNode, report: Report): void {
  for (const { key, keyPlace } of membersIn(item)) {
    if (key === 'from' || key === 'to') continue;
    report.add({
      rule: 'schema/unknown-key',
      message: `moved has no field ${JSON.stringify(key)}`,
      hint: suggestInstead(
        key,
        ['from', 'to'],
        'The fields',
        'A move is { from: agent.old, to: agent.new }',
      ),
      range: keyPlace,
    });
  }
}

function readAddress(
  node: SyntaxNode | undefined,
  item: SyntaxNode,
  what: string,
  isKind: (name: string) => boolean,
  report: Report,
): Given | undefined {
  const text = textIn(node);
  const range = node?.range ?? item.range;
  if (text !== undefined && (isAddress(text) || isPattern(text)) && isKind(getKind(text)))
    return { address: text, range };
  report.add({
    rule: 'address/form',
    message: `${what} ${text === undefined ? 'needs an address' : `is ${JSON.stringify(text)}, which is not an address`}`,
    hint: 'Write KIND.NAME, such as agent.reception or agent.clinic["harbor"], or how several begin: agent.clinic_*',
    range,
  });
  return undefined;
}

type Known = {
  readonly addresses: ReadonlySet<Address>;
  /** Everything that names an address of the stack. */
  readonly patterns: ReadonlySet<string>;
  /** The first move to an address, and from one. */
  readonly ends: ReadonlyMap<Address, Placed>;
  readonly starts: ReadonlyMap<Address, Placed>;
};

function indexKnown(moves: readonly Placed[], addresses: ReadonlySet<Address>): Known {
  const reversed = moves.toReversed();
  return {
    addresses,
    patterns: new Set([...addresses].flatMap(listPatterns)),
    ends: new Map(reversed.map((move) => [move.to.address, move])),
    starts: new Map(reversed.map((move) => [move.from.address, move])),
  };
}

function checkMove(
  move: Placed,
  known: Known,
  forgotten: readonly Address[],
  report: Report,
): void {
  const { from, to } = move;
  const problem = (rule: string, message: string, hint: string, { address, range }: Given) =>
    report.add({ rule, message, hint, address, range });
  const sameEnd = known.ends.get(to.address) ?? move;
  const sameStart = known.starts.get(from.address) ?? move;
  if (getKind(from.address) !== getKind(to.address)) {
    const message = `moved: ${from.address} cannot become ${to.address}, which is of another kind`;
    problem('moved/kind', message, 'A resource keeps its kind', to);
  } else if (isPattern(from.address) !== isPattern(to.address)) {
    const message = `moved: of ${from.address} and ${to.address} only one ends in *`;
    problem('moved/pattern', message, 'End both in *, or name both', to);
  } else if (isStillThere(from.address, to.address, known)) {
    const message = `moved: ${from.address} is still in the stack, so it was not moved`;
    problem('moved/configured', message, `Rename it to ${to.address}, or remove the move`, from);
  } else if (sameEnd !== move) {
    const message = `moved: two addresses become ${to.address}, the other at ${formatPosition(toPosition(sameEnd.from.range))}`;
    problem('moved/twice', message, 'Only one resource can have it', to);
  } else if (sameStart !== move) {
    const message = `moved: ${from.address} becomes two addresses, the other at ${formatPosition(toPosition(sameStart.to.range))}`;
    problem('moved/twice', message, 'A resource has one address', from);
  } else if (
    findConfigured(to.address, known) === undefined &&
    !known.starts.has(to.address) &&
    !matchesAny(forgotten, to.address)
  ) {
    const hint = didYouMean(
      to.address,
      known.addresses,
      'Remove the move if the resource no longer exists',
    );
    const message = `moved: ${to.address} is not a resource of the stack`;
    report.add({ severity: 'warning', rule: 'moved/unknown', message, hint, range: to.range });
  }
}

/** A resource that becomes a row of its own name is gone, although its name still begins addresses. */
function isStillThere(from: Address, to: Address, { addresses, patterns }: Known): boolean {
  if (isPattern(from))
    return [...addresses].some(
      (one) => matchesAddress(from, one) && addresses.has(renamed(one, { from, to })),
    );
  return addresses.has(from) || (isWide(to) && patterns.has(from));
}
