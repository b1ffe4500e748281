import { type Place, positionOf } from '../config/source.ts';
import type { Address } from '../core/address.ts';
import { formatPosition } from '../core/diagnostics.ts';
import type { Home } from './home.ts';
import type { Left, Wish } from './wish.ts';

/** Everything that pull says of a value that it does not write. */

/** What can be done where a value is shared. */
export function theirOwn(isRow: boolean): string {
  return isRow
    ? 'give the row a column for it, or name all rows that have the same live value'
    : 'change it by hand, or --override writes it on the resource itself';
}

const MOST_NAMED = 3;

export function sharedWords(
  { address, text }: Wish,
  home: Home & { readonly type: 'value' | 'file' },
  others: readonly Address[],
  advice: string,
): Left {
  const names = others.filter((one) => one !== address);
  const shown = names.slice(0, MOST_NAMED).join(', ');
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const who = names.length === 0 ? 'another field of it' : `${shown}${more}`;
  const what = home.type === 'file' ? home.file : whereOf(home.place);
  return {
    address,
    path: text,
    reason: `${what} is also what ${who} read${names.length > 1 ? '' : 's'}, with another live value`,
    advice,
  };
}

export function filledWords(
  { address, text }: Wish,
  { by, place }: Home & { readonly type: 'filled' },
  isRow: boolean,
): Left {
  const own = isRow ? '' : ', or --override writes it on the resource itself';
  return {
    address,
    path: text,
    reason: `it is put together from ${by} (${whereOf(place)}), and nobody can say which part changed`,
    advice: `change the text or what fills it in by hand${own}`,
  };
}

export function layeredWords(
  { address, text }: Wish,
  { by, place }: Home & { readonly type: 'layered' },
): Left {
  return {
    address,
    path: text,
    reason: `${by.join(' and ')} each say something of it (${whereOf(place)})`,
    advice: 'take it out by hand, with $remove where a base has it',
  };
}

export function nowhereWords({ address, text }: Wish): Left {
  return {
    address,
    path: text,
    reason: 'it follows from where the resource stands and is not written out',
    advice: 'change the configuration by hand',
  };
}

export function unwritableWords({ address, text }: Wish, reason: string): Left {
  return { address, path: text, reason, advice: 'change the configuration by hand' };
}

/** `agents.yaml:12` */
function whereOf(place: Place): string {
  return formatPosition(positionOf(place)).replace(/:\d+$/, '');
}
