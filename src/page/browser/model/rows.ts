import { kindTitle } from '../../../render/wording.ts';
import type { Entry } from './plan.ts';

/** One line of the list: a heading, or a change below it. */
export type Row =
  | { readonly type: 'heading'; readonly title: string; readonly count: number }
  | { readonly type: 'entry'; readonly entry: Entry };

/** Pixels of each, as the style sheet has them. */
export const ROW_HEIGHT: { readonly [type in Row['type']]: number } = { heading: 40, entry: 54 };

/** By organization and then kind, as the other formats group them. */
export function rowsOf(entries: readonly Entry[]): readonly Row[] {
  const kinds = [...new Set(entries.map(({ kind }) => kind))];
  const owners = [...Map.groupBy(entries, ({ owner }) => owner)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return owners.flatMap(([owner, owned]) => {
    const byKind = Map.groupBy(owned, ({ kind }) => kind);
    return kinds.flatMap((kind): readonly Row[] => {
      const own = byKind.get(kind) ?? [];
      if (own.length === 0) return [];
      const title = [owner, kindTitle(kind)].filter((part) => part !== '').join(' · ');
      return [
        { type: 'heading', title, count: own.length },
        ...own.map((entry): Row => ({ type: 'entry', entry })),
      ];
    });
  });
}

/** Where each row begins, and at last where the list ends. */
export function offsetsOf(rows: readonly Row[]): readonly number[] {
  const offsets = [0];
  let at = 0;
  for (const { type } of rows) {
    at += ROW_HEIGHT[type];
    offsets.push(at);
  }
  return offsets;
}

/** The row at a height of the list. */
export function rowAt(offsets: readonly number[], height: number): number {
  let [low, high] = [0, Math.max(0, offsets.length - 2)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((offsets[middle] ?? 0) <= height) low = middle;
    else high = middle - 1;
  }
  return low;
}
