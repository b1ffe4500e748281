import type { Address } from '../core/address.ts';
import { CallsheetError } from '../core/errors.ts';

/** A live resource that a run is going to write, or to remember as its stack's own. */
export type Claim = { readonly address: Address; readonly kind: string; readonly id: string };

/** A claim on what another stack manages. */
export type Overlap = Claim & {
  /** What the store calls the other stack, and what that stack calls the resource. */
  readonly other: { readonly stack: string; readonly address: Address };
  /** Whether a run of the other stack made it or took it over, and did not commit yet. */
  readonly isRunning: boolean;
};

const MOST_SHOWN = 5;

/** What to say where two stacks manage the same. */
export function overlapping(location: string, overlaps: readonly Overlap[]): CallsheetError {
  const lines = overlaps.slice(0, MOST_SHOWN).map(lineOf);
  const rest = overlaps.length - lines.length;
  const more = rest > 0 ? [`and ${rest} more`] : [];
  const [first] = overlaps;
  const there = first?.other.stack ?? '';
  const at = first?.other.address ?? '';
  const shown = [...lines, ...more].map((line) => `  ${line}`).join('\n');
  return new CallsheetError(
    'refused',
    `another stack manages what this run of ${location} would write or take over:\n${shown}`,
    {
      hint: `Nothing was written. One of the two has to let go, or each would undo what the other does. Here: take it out of the configuration, and name it under forget where the state has it. There, in the stack ${there}: take it out of its configuration and run callsheet state rm ${at}, or name it under forget and apply. Neither deletes anything on the platform.`,
    },
  );
}

/** One overlap in a line. */
export function lineOf({ address, kind, id, other, isRunning }: Overlap): string {
  const how = isRunning ? 'a run that did not finish' : 'its state';
  return `${address} is ${other.address} of stack ${other.stack} (${kind} ${id}, in ${how})`;
}
