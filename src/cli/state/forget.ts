import type { Address } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { State } from '../../state/model.ts';
import { chooseAddresses } from './choose.ts';
import { type Edit, editLine } from './edit.ts';

/**
 * Makes the state forget what it remembers of some addresses. Throws `CallsheetError('usage')` where it
 * holds one of them not at all, and `refused` where one is protected, unless that is meant.
 */
export function forgetAddresses(
  patterns: readonly Address[],
  force: boolean,
  { resources, ...state }: State,
): Edit {
  const chosen = new Set(
    patterns.flatMap((pattern) => chooseAddresses(pattern, { resources, ...state })),
  );
  const found = Object.entries(resources).filter(([address]) => chosen.has(address));
  const guarded = found.filter(([, { protect }]) => protect).map(([address]) => address);
  if (guarded.length > 0 && !force) {
    const what = guarded.length === 1 ? 'is protected' : 'are protected';
    throw new CallsheetError('refused', `${guarded.join(', ')} ${what}, and the state keeps that`, {
      hint: 'Nothing was forgotten. With --force the state forgets the protection, too.',
    });
  }
  return {
    records: found.map(([address]) => [address, null]),
    ledger: found.map(([address, { id }]) =>
      editLine(address, 'forget', id, 'it stays on the platform as it is'),
    ),
  };
}
