import type { Claim } from './claims.ts';

/** Two stacks that claim the same thing. `own` is the claim of the stack that is told so. */
type Overlap = { readonly own: Claim; readonly other: Claim };

/** What stands against each stack, by its path; nothing for those that keep to themselves. */
export function findOverlaps(claims: readonly Claim[]): ReadonlyMap<string, readonly Overlap[]> {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const group = groups.get(claim.key);
    if (group === undefined) groups.set(claim.key, [claim]);
    else group.push(claim);
  }
  const overlaps = new Map<string, Overlap[]>();
  for (const group of groups.values()) {
    // Resources may share a name where each says which live one it takes over; then the ids tell.
    if (group.length < 2 || group.every(({ isTold }) => isTold)) continue;
    const first = new Map(group.toReversed().map((claim) => [claim.stack, claim]));
    for (const own of first.values()) {
      const other = [...first.values()].findLast(({ stack }) => stack !== own.stack);
      if (other === undefined) continue;
      overlaps.set(own.stack, [...(overlaps.get(own.stack) ?? []), { own, other }]);
    }
  }
  return overlaps;
}

/** Overlaps that are told one by one; of many, the number says enough. */
const MAX_TOLD = 5;

/** Why a stack is refused, in words: both addresses and where each is written. */
export function describeOverlaps(overlaps: readonly Overlap[]): {
  readonly message: string;
  readonly hint: string;
} {
  // The same two resources may meet by id and by name.
  const distinct = [...new Map(overlaps.map((one) => [pairOf(one), one])).values()];
  const told = distinct.slice(0, MAX_TOLD).map(describe);
  const rest = distinct.length - told.length;
  const lines = [...told, ...(rest > 0 ? [`and ${rest} more that both stacks manage`] : [])];
  const [first] = distinct;
  return { message: lines.join('\n'), hint: hintFor(first) };
}

function pairOf({ own, other }: Overlap): string {
  return JSON.stringify([own.address, other.stack, other.address]);
}

function describe({ own, other }: Overlap): string {
  return own.address === undefined
    ? `the stacks ${own.stack} and ${other.stack} both keep ${own.what} (${own.place}, ${other.place})`
    : `${own.address} (${own.place}) and ${other.address} of the stack ${other.stack} (${other.place}) both manage ${own.what}`;
}

function hintFor(overlap: Overlap | undefined): string {
  if (overlap?.own.address === undefined) {
    return 'Each stack needs a state of its own: give one of them another place under state in its callsheet.yaml.';
  }
  return 'A live resource belongs to one stack. Take it out of the other, with forget: [ADDRESS] in its callsheet.yaml so that it is not deleted, and apply that stack first.';
}
