import { nearest } from '../../config/nearest.ts';
import { type Address, matchesAddress } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { State } from '../../state/model.ts';

/**
 * The addresses of a state that a pattern names: itself, the rows of a fleet, or what stands in a block.
 * Throws `CallsheetError('usage')`, with the nearest address, where it names none.
 */
export function chooseAddresses(pattern: string, state: State | undefined): readonly Address[] {
  const known = Object.keys(state?.resources ?? {}).sort();
  const chosen = known.filter((address) => matchesAddress(pattern, address));
  if (chosen.length > 0) return chosen;
  const near = nearest(pattern, known);
  throw new CallsheetError('usage', `the state holds no ${pattern}`, {
    hint:
      near === undefined ? 'callsheet state list shows what it holds.' : `Did you mean ${near}?`,
  });
}
