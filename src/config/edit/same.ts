import { isMap, isScalar, type Node } from 'yaml';
import type { Tree } from '../write-tree.ts';
import { type Collection, isCollection, keyOf, valueAt } from './nodes.ts';

/** Pairs of indexes of what a list has and is to have alike, in order: the longest common subsequence. */
export function same(
  node: Collection,
  items: readonly Tree[],
): readonly (readonly [number, number])[] {
  const count = node.items.length;
  const lengths = Array.from({ length: count + 1 }, () =>
    new Array<number>(items.length + 1).fill(0),
  );
  const isSame = (a: number, b: number) => {
    const value = valueAt(node, a);
    const tree = items[b];
    return value !== null && tree !== undefined && means(value, tree);
  };
  const row = (a: number) => lengths[a] ?? [];
  for (let a = count - 1; a >= 0; a -= 1) {
    for (let b = items.length - 1; b >= 0; b -= 1) {
      row(a)[b] = isSame(a, b)
        ? (row(a + 1)[b + 1] ?? 0) + 1
        : Math.max(row(a + 1)[b] ?? 0, row(a)[b + 1] ?? 0);
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let a = 0, b = 0; a < count && b < items.length; ) {
    if (isSame(a, b)) pairs.push([a++, b++]);
    else if ((row(a + 1)[b] ?? 0) >= (row(a)[b + 1] ?? 0)) a += 1;
    else b += 1;
  }
  return pairs;
}

/** Whether a node already says what a tree does. */
export function means(node: Node, tree: Tree): boolean {
  if (isScalar(node)) {
    if (tree.type === 'text') return node.value === tree.text;
    return (
      tree.type === 'bare' && typeof node.value !== 'string' && String(node.value) === tree.text
    );
  }
  if (!isCollection(node)) return false;
  if (isMap(node)) {
    if (tree.type !== 'map' || tree.members.length !== node.items.length) return false;
    const wanted = new Map(tree.members);
    return node.items.every((item, index) => {
      const inner = wanted.get(keyOf(item));
      const value = valueAt(node, index);
      return inner !== undefined && value !== null && means(value, inner);
    });
  }
  if (tree.type !== 'list' || tree.items.length !== node.items.length) return false;
  return tree.items.every((inner, index) => {
    const value = valueAt(node, index);
    return value !== null && means(value, inner);
  });
}
