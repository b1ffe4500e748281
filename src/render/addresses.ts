import { type Address, byAddress, rowKey, rowsAddress } from '../core/address.ts';
import type { ChangeGroup } from '../core/plan-document.ts';
import { formatNumber } from './wording.ts';

/**
 * Many addresses in few words, none left out: rows of one block by their keys, keys that combine the same parts as
 * those parts, and numbers in order as the first and the last one.
 */
export type AddressList = {
  /** The block whose rows these are; undefined where the names are addresses. */
  readonly rows: Address | undefined;
  /** Addresses, keys of rows, or beginnings of keys. Not sanitised. */
  readonly names: readonly string[];
  /** Ends of keys, each of which stands behind each of the names; empty where the names are whole. */
  readonly ends: readonly string[];
};

/** Fewer keys are as soon read as their parts. */
const FEWEST_COMBINED = 24;

/** Fewer keys are listed one by one, though they count up. */
const FEWEST_COUNTED = 100;

export function factorAddresses(addresses: readonly Address[]): readonly AddressList[] {
  const blocks = Map.groupBy(addresses.toSorted(byAddress), (one) => rowsAddress(one) ?? '');
  return [...blocks].flatMap(([block, own]): readonly AddressList[] => {
    if (block === '' || own.length === 1) return [{ rows: undefined, names: own, ends: [] }];
    return factorKeys(own.map((one) => rowKey(one) ?? '')).map((list) => ({
      rows: block,
      ...list,
    }));
  });
}

function factorKeys(keys: readonly string[]): readonly Omit<AddressList, 'rows'>[] {
  const found = keys.length < FEWEST_COMBINED ? undefined : findProduct(keys);
  if (found === undefined) return [{ names: countUp(keys), ends: [] }];
  const combined = new Set(found.names.flatMap((name) => found.ends.map((end) => name + end)));
  const rest = keys.filter((key) => !combined.has(key));
  return [found, ...(rest.length === 0 ? [] : [{ names: countUp(rest), ends: [] }])];
}

/** The places where a key may be split: behind a sign and before what follows it. */
const JOINT = /[-_. /](?=[\p{L}\p{N}])/gu;

/** Beginnings that all have the same ends, where that makes the list half as long. */
function findProduct(keys: readonly string[]): Omit<AddressList, 'rows'> | undefined {
  const endings = new Map<string, string[]>();
  for (const key of keys) {
    for (const { index } of key.matchAll(JOINT)) {
      const name = key.slice(0, index + 1);
      const known = endings.get(name);
      if (known === undefined) endings.set(name, [key.slice(index + 1)]);
      else known.push(key.slice(index + 1));
    }
  }
  const products = Map.groupBy(endings, ([, ends]) => ends.join('\n'));
  const sizes = [...products.values()].map((own) => {
    const [[, ends = []] = []] = own;
    const names = own.map(([name]) => name);
    const length = [...names, ...ends].join(', ').length;
    return { names, ends, covered: names.length * ends.length, length };
  });
  const [best] = sizes
    .filter(({ names, ends }) => names.length > 1 && ends.length > 1)
    .sort((a, b) => b.covered - a.covered || a.length - b.length);
  if (best === undefined || best.length * 2 > keys.join(', ').length) return undefined;
  return { names: best.names, ends: best.ends };
}

const NUMBERED = /^(.*?)(\d+)$/s;

/** `c1 to c200` for as many keys that count up by one. */
export function countUp(keys: readonly string[], fewest = FEWEST_COUNTED): readonly string[] {
  if (keys.length < fewest) return keys;
  const runs: { first: string; last: string }[] = [];
  for (const key of keys) {
    const run = runs.at(-1);
    if (run !== undefined && isNext(run.last, key)) run.last = key;
    else runs.push({ first: key, last: key });
  }
  return runs.map(({ first, last }) =>
    first === last ? first : `${first}${isNext(first, last) ? ', ' : ' to '}${last}`,
  );
}

function isNext(before: string, after: string): boolean {
  const [, stem, number = ''] = NUMBERED.exec(before) ?? [];
  if (stem === undefined) return false;
  const next = String(BigInt(number) + 1n).padStart(number.length, '0');
  return after === stem + next;
}

/** `agent.clinic["…"], 5 × 12: alder-bay, birch-falls; each with lakeside, main-street`. Not sanitised. */
export function addressText({ rows, names, ends }: AddressList): string {
  const block = rows === undefined ? '' : `${rows}["…"]`;
  if (ends.length === 0) return `${block === '' ? '' : `${block}: `}${names.join(', ')}`;
  const count = `${formatNumber(names.length)} × ${formatNumber(ends.length)}`;
  const begins = names.map((name) => name.replace(/[-_. /]$/, ''));
  return `${block}, ${count}: ${begins.join(', ')}; each with ${ends.join(', ')}`;
}

/** Characters of a list of addresses that is read one by one. */
const MOST_LISTED = 320;

/**
 * The addresses of a group in a few texts: where they are long, the rows of a block that are all there by the name of
 * the block. Not sanitised.
 */
export function addressTexts(
  addresses: readonly Address[],
  blocks: NonNullable<ChangeGroup['blocks']> = [],
): readonly string[] {
  const texts = factorAddresses(addresses).map(addressText);
  const measure = (some: readonly string[]) => some.join('').length;
  if (measure(texts) <= MOST_LISTED) return texts;
  const whole = new Set(blocks.map(({ block }) => block));
  const rest = addresses.filter((address) => !whole.has(rowsAddress(address) ?? ''));
  const short = [
    ...blocks.map(({ block, except }) => {
      const [first, ...others] = except;
      const but =
        others.length === 0
          ? rowKey(first ?? '')
          : factorAddresses(except)
              .map((list) => addressText({ ...list, rows: undefined }).replace(/^, /, ''))
              .join('; ');
      return `all rows of ${block}["…"]${but === undefined ? '' : ` but ${but}`}`;
    }),
    ...factorAddresses(rest).map(addressText),
  ];
  return measure(short) < measure(texts) ? short : texts;
}
