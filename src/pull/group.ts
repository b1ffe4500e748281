import type { ResolvedResource } from '../config/resource.ts';
import type { Variables } from '../config/variables.ts';
import type { Address } from '../core/address.ts';
import { formatPath } from '../core/path.ts';
import { type Home, homeOf, keyOf, writtenPath } from './home.ts';
import { type Use, usesOf } from './uses.ts';
import type { Left, Wish } from './wish.ts';
import { filledWords, layeredWords, nowhereWords, sharedWords, theirOwn } from './words.ts';

/** One place to write in, and the wishes that it fulfils. */
export type Group = {
  /** Of several wishes all want the same. */
  readonly wishes: readonly [Wish, ...Wish[]];
  readonly home: (Home & { readonly type: 'value' | 'file' }) | { readonly type: 'own' };
};

export type Grouped = {
  readonly groups: readonly Group[];
  /** Wishes for values that are put together from others: they are fulfilled when those are, or not at all. */
  readonly followers: readonly { readonly wish: Wish; readonly refusal: Left }[];
  readonly refused: readonly Left[];
};

export type GroupInput = {
  readonly byAddress: ReadonlyMap<Address, ResolvedResource>;
  readonly variables: Variables;
  /** Whether what others share, and want otherwise, is written on the resource itself. */
  readonly override: boolean;
};

type Homed = { readonly wish: Wish; readonly home: Home };

/** Puts wishes together that are written in one place, where all who read it want the same. */
export function groupWishes(wishes: readonly Wish[], input: GroupInput): Grouped {
  const { byAddress, variables, override } = input;
  const groups: Group[] = [];
  const followers: { wish: Wish; refusal: Left }[] = [];
  const refused: Left[] = [];
  const homed = wishes.flatMap((wish): Homed[] => {
    const resource = byAddress.get(wish.address);
    return resource === undefined ? [] : [{ wish, home: homeOf(wish, resource, variables) }];
  });
  const isRow = ({ address }: Wish) => byAddress.get(address)?.row !== undefined;
  const ownOr = (wish: Wish, refusal: Left): void => {
    const isOwn = (override || wish.action === 'restore') && wish.action !== 'remove';
    if (isOwn && !isRow(wish)) groups.push({ wishes: [wish], home: { type: 'own' } });
    else if (wish.action === 'set') followers.push({ wish, refusal });
    else refused.push(refusal);
  };
  const byPlace = new Map<string, Homed[]>();
  for (const one of homed) {
    const { wish, home } = one;
    if (wish.action === 'restore') ownOr(wish, nowhereWords(wish));
    else if (home.type === 'value' || home.type === 'file') {
      const key = groupKey(wish, home.key);
      const known = byPlace.get(key);
      if (known === undefined) byPlace.set(key, [one]);
      else known.push(one);
    } else if (home.type === 'filled') ownOr(wish, filledWords(wish, home, isRow(wish)));
    else if (home.type === 'layered') refused.push(layeredWords(wish, home));
    else ownOr(wish, nowhereWords(wish));
  }
  const keys = new Set(homed.flatMap(({ home }) => ('key' in home ? [home.key] : [])));
  const uses = usesOf(keys, [...byAddress.values()], variables);
  for (const [first, ...rest] of byPlace.values()) {
    if (first === undefined) continue;
    const { home } = first;
    if (home.type !== 'value' && home.type !== 'file') continue;
    const all = [first, ...rest].map(({ wish }) => wish);
    const others = othersThan(all, uses.get(home.key) ?? []);
    const dissent = [...new Set((others.length > 0 ? others : all).map(({ address }) => address))];
    if (others.length === 0 && new Set(all.map(nextText)).size === 1) {
      groups.push({ wishes: [first.wish, ...all.slice(1)], home });
      continue;
    }
    for (const { wish, home: own } of [first, ...rest]) {
      // An alias can be written out without a word to the others.
      const alias = own.type === 'value' ? own.alias : undefined;
      if (alias !== undefined && own.type === 'value') {
        const { alias: _, ...at } = own;
        groups.push({ wishes: [wish], home: { ...at, key: keyOf(alias), place: alias } });
      } else {
        ownOr(wish, sharedWords(wish, home, dissent, theirOwn(isRow(wish))));
      }
    }
  }
  return { groups, followers, refused };
}

/** Wishes for one element of a list belong together, those for another do not. */
function groupKey({ action, path }: Wish, key: string): string {
  return action === 'add' ? `${key} ${path.at(-1)}` : key;
}

function nextText({ next }: Wish): string {
  return next === undefined ? 'nothing' : JSON.stringify(next);
}

function useOf(wish: Wish): Use {
  const full = writtenPath(wish);
  return {
    address: wish.address,
    path: formatPath(wish.action === 'add' ? full.slice(0, -1) : full),
  };
}

function othersThan(wishes: readonly Wish[], uses: readonly Use[]): readonly Use[] {
  const own = new Set(wishes.map(useOf).map(({ address, path }) => `${address} ${path}`));
  return uses.filter(({ address, path }) => !own.has(`${address} ${path}`));
}
