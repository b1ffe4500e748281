import { isMap } from 'yaml';
import { bracketed, elementLines, memberLines, type Tree } from '../write-tree.ts';
import { type Collection, columnOf, endOfItem, lineStart, nextLine, startOfItem } from './nodes.ts';
import type { Splice } from './splice.ts';

/** An element that is a map stands on lines of its own where its neighbours do. */
function likeOthers(tree: Tree, node: Collection): Tree {
  const isOpen = node.items.some((item) => isMap(item) && item.flow !== true);
  return tree.type === 'map' && tree.members.length > 0 && isOpen ? { ...tree, isOpen } : tree;
}

/** What is put behind an item, or before the first. What is removed there is none of its business. */
export function insertion(
  node: Collection,
  removed: ReadonlySet<number>,
  after: number,
  key: string | undefined,
  tree: Tree,
  { text, json }: { readonly text: string; readonly json: boolean },
): Splice {
  const kept = node.items.map((_, index) => index).filter((index) => !removed.has(index));
  const before = kept.findLast((index) => index <= after);
  if (node.flow === true || json) {
    const value = bracketed(tree, json);
    const member =
      key === undefined ? value : `${bracketed({ type: 'text', text: key }, json)}: ${value}`;
    if (before === undefined) {
      const start = startOfItem(node, kept[0] ?? 0);
      return { start, end: start, text: `${member}, ` };
    }
    const start = endOfItem(node, before);
    return { start, end: start, text: `, ${member}` };
  }
  const first = startOfItem(node, 0);
  const indent = ' '.repeat(columnOf(text, first));
  const lines =
    key === undefined
      ? elementLines(likeOthers(tree, node), indent)
      : memberLines(key, tree, indent);
  if (before !== undefined) {
    const start = nextLine(text, endOfItem(node, before));
    const lead = text[start - 1] === '\n' ? '' : '\n';
    const tail = lead === '' ? '\n' : '';
    return { start, end: start, text: `${lead}${lines.join('\n')}${tail}` };
  }
  const start = startOfItem(node, kept[0] ?? 0);
  const isAlone = text.slice(lineStart(text, start), start).trim() === '';
  if (isAlone) {
    const line = lineStart(text, start);
    return { start: line, end: line, text: `${lines.join('\n')}\n` };
  }
  return { start, end: start, text: `${lines.join('\n').trimStart()}\n${indent}` };
}
