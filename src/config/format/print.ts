import { isMap, isScalar, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import {
  type Between,
  type Gap,
  gapLines,
  readGap,
  splitHeader,
  splitTail,
  Unformattable,
} from './gaps.ts';
import {
  flowText,
  indentOf,
  manyLines,
  movedText,
  oneLine,
  STEP,
  sorted,
  WIDTH,
} from './inline.ts';
import {
  contentOf,
  type Element,
  type Entry,
  elementsOf,
  endOfValue,
  entriesOf,
  isBlockScalar,
  rangeOf,
  type Value,
} from './nodes.ts';
import type { Shape } from './order.ts';

/** Where something is printed, and what is known of it. */
type Spot = { readonly text: string; readonly indent: string; readonly shape: Shape };

/** One member or element: what stands above it, and its lines, the first with its indentation. */
type Printed = { readonly lead: readonly Between[]; readonly lines: readonly string[] };

function columnOf(offset: number, text: string): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

/** What stands between `key:` or `-` and the value: an anchor, and comments. */
function readOpening(text: string, from: number, to: number) {
  const found = /^[ \t]*(&[^\s,[\]{}]+)?([\s\S]*)$/.exec(text.slice(from, to));
  const { trailing, lines } = readGap(found?.[2] ?? '', from);
  return {
    anchor: found?.[1] === undefined ? '' : ` ${found[1]}`,
    trailing: trailing === '' ? '' : ` ${trailing.trimStart()}`,
    lines,
  };
}

/** A block map or list under its `key:` or behind its dash. */
export function printBlock(
  value: Extract<Value, { type: 'map' | 'list' }>,
  opening: readonly Between[],
  after: Gap,
  spot: Spot,
): readonly string[] {
  const { header, lead } = splitHeader(opening);
  const items =
    value.type === 'map'
      ? printEntries(value.node, lead, after, spot)
      : printElements(value.node, lead, after, spot);
  const lines = gapLines(header, spot.indent);
  for (const item of items.printed) {
    const lead = gapLines(item.lead, spot.indent);
    // Nothing stands above the first line, and behind a text that keeps its last line breaks an empty line
    // would be one more of them.
    const isClose = lines.length === 0 || lines.at(-1) === '';
    lines.push(...(isClose && lead[0] === '' ? lead.slice(1) : lead), ...item.lines);
  }
  return [...lines, ...gapLines(items.tail, spot.indent)];
}

type Items = { readonly printed: readonly Printed[]; readonly tail: readonly Between[] };

/** What stands after each item, shared out between the item, the next one and what holds them. */
function shareGaps(
  ends: readonly number[],
  starts: readonly number[],
  lead: readonly Between[],
  after: Gap,
  text: string,
) {
  const column = columnOf(starts[0] ?? 0, text);
  let above = lead;
  return ends.map((end, index) => {
    const next = starts[index + 1];
    const gap = next === undefined ? after : readGap(text.slice(end, next), end);
    const { own, rest } = splitTail(gap.lines, column);
    const share = { lead: above, after: { trailing: gap.trailing, lines: own }, rest };
    above = rest;
    return share;
  });
}

function printEntries(
  map: YAMLMap,
  lead: readonly Between[],
  after: Gap,
  { text, indent, shape }: Spot,
): Items {
  const entries = entriesOf(map, text);
  const ends = entries.map(({ value, colon }) => endOfValue(value, colon, text));
  const starts = entries.map(({ start }) => start);
  const shares = shareGaps(ends, starts, lead, after, text);
  const printed = new Map(
    entries.map((entry, index): [unknown, Printed] => {
      const share = shares[index];
      const inner = { text, indent, shape: shape.member(String(entry.key.value)) };
      const lines = printEntry(entry, share?.after ?? after, inner);
      return [entry.pair, { lead: share?.lead ?? [], lines }];
    }),
  );
  const ordered = sorted(map.items, shape).flatMap((pair) => printed.get(pair) ?? []);
  return {
    printed: withFirst(ordered, printed.get(map.items[0])),
    tail: shares.at(-1)?.rest ?? [],
  };
}

/** The member that used to be first gets an empty line above it where others are parted by one. */
function withFirst(ordered: readonly Printed[], former: Printed | undefined): readonly Printed[] {
  if (former === undefined || ordered[0] === former) return ordered;
  const isParted = ordered.some((item) => item !== former && item.lead[0]?.text === '');
  const blank: Between = { column: -1, text: '' };
  return ordered.map((item) =>
    item === former && isParted && item.lead[0]?.text !== ''
      ? { ...item, lead: [blank, ...item.lead] }
      : item,
  );
}

function printElements(
  list: YAMLSeq,
  lead: readonly Between[],
  after: Gap,
  { text, indent, shape }: Spot,
): Items {
  const elements = elementsOf(list, text);
  const ends = elements.map(({ value, dash }) => endOfValue(value, dash + 1, text));
  const starts = elements.map(({ dash }) => dash);
  const shares = shareGaps(ends, starts, lead, after, text);
  const inner = { text, indent, shape: shape.item() };
  const printed = elements.map((element, index) => {
    const share = shares[index];
    return { lead: share?.lead ?? [], lines: printElement(element, share?.after ?? after, inner) };
  });
  return { printed, tail: shares.at(-1)?.rest ?? [] };
}

function printEntry(
  { key, start, colon, value }: Entry,
  after: Gap,
  spot: Spot,
): readonly string[] {
  const head = `${spot.indent}${oneLine(key, spot.text, 'key')}:`;
  if (value.type !== 'map' && value.type !== 'list')
    return printValue(head, [start, colon], value, after, spot);
  const { anchor, trailing, lines } = readOpening(spot.text, colon, rangeOf(value.node)[0]);
  const inner = { ...spot, indent: spot.indent + STEP };
  return [head + anchor + trailing, ...printBlock(value, lines, after, inner)];
}

function printElement({ dash, value }: Element, after: Gap, spot: Spot): readonly string[] {
  const head = `${spot.indent}-`;
  if (value.type !== 'map' && value.type !== 'list') {
    return printValue(head, [dash, dash + 1], value, after, spot);
  }
  const { anchor, trailing, lines } = readOpening(spot.text, dash + 1, rangeOf(value.node)[0]);
  const block = printBlock(value, lines, after, { ...spot, indent: spot.indent + STEP });
  if (anchor !== '' || trailing !== '') return [head + anchor + trailing, ...block];
  const [first = '', ...rest] = block;
  return [`${head} ${first.trimStart()}`, ...rest];
}

/** A value that begins on the line of its `key:` or `-`, which stands from `start` to `from`. */
function printValue(
  head: string,
  [start, from]: readonly [number, number],
  value: Exclude<Value, { type: 'map' | 'list' }>,
  after: Gap,
  spot: Spot,
): readonly string[] {
  const own = gapLines(after.lines, spot.indent + STEP);
  if (value.type === 'empty') return [head + after.trailing, ...own];
  const opening = readOpening(spot.text, from, rangeOf(value.node)[0]);
  const comments = opening.lines.some(({ text }) => text !== '');
  const isTaken = opening.trailing !== '' && after.trailing !== '';
  if (comments || isTaken) {
    throw new Unformattable('a comment between a key and its value', from);
  }
  const [first = '', ...rest] = linesOf(
    value,
    `${head}${opening.anchor}`,
    columnOf(start, spot.text),
    spot,
  );
  const trailing = opening.trailing + after.trailing;
  if (rest.length === 0) return [first + trailing, ...own];
  if (trailing === '') return [first, ...rest, ...own];
  // Behind a block text there is no place for it; behind a bracket there is.
  const last = rest.at(-1) ?? '';
  if (/[\]}]$/.test(last)) return [first, ...rest.slice(0, -1), last + trailing, ...own];
  return [first + trailing, ...rest, ...own];
}

function linesOf(
  value: Exclude<Value, { type: 'map' | 'list' | 'empty' }>,
  head: string,
  column: number,
  spot: Spot,
): readonly string[] {
  const { text, indent } = spot;
  if (value.type === 'alias') return [`${head} *${value.node.source}`];
  if (value.type === 'flow') return flowLines(value.node, head, spot);
  const isMany = isBlockScalar(value.node) || text.slice(...rangeOf(value.node)).includes('\n');
  const [first = '', ...rest] = isMany
    ? manyLines(value.node, text, indent + STEP, column)
    : [oneLine(value.node, text, 'block')];
  return [`${head} ${first}`, ...rest];
}

/**
 * A collection in brackets or braces. A list stays as it was written; a map that does not fit on its line
 * is written out.
 */
function flowLines(node: YAMLMap | YAMLSeq, head: string, spot: Spot): readonly string[] {
  const { text, shape } = spot;
  const [start, end] = rangeOf(node);
  const source = text.slice(start, end);
  const isBroken = source.includes('\n');
  // Comments between brackets keep their lines; `#` in a quoted text only makes this careful.
  if (isBroken && (!isMap(node) || source.includes('#'))) {
    const from = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
    const by = spot.indent.length - indentOf(from);
    const [first = '', ...rest] = movedText(source, by);
    return [`${head} ${first}`, ...rest];
  }
  const flow = `${head} ${flowText(node, text, shape)}`;
  if (flow.length <= WIDTH || !isMap(node) || node.items.length === 0) return [flow];
  const lines = openedLines(node, { ...spot, indent: spot.indent + STEP });
  const [first = '', ...rest] = lines;
  return head.endsWith('-') ? [`${head} ${first.trimStart()}`, ...rest] : [head, ...lines];
}

/** The members of a map in braces, each on a line of its own. */
function openedLines(node: YAMLMap, spot: Spot): readonly string[] {
  return sorted(node.items, spot.shape).flatMap(({ key, value }) => {
    const held = contentOf(value);
    // Between braces nothing stands in the block style, and the keys were looked at before.
    if (!isScalar(key) || held.type === 'map' || held.type === 'list') return [];
    const inner = { ...spot, shape: spot.shape.member(String(key.value)) };
    const head = `${spot.indent}${oneLine(key, spot.text, 'key')}:`;
    if (held.type === 'empty') return [head];
    const anchor = (value as Node & { readonly anchor?: string }).anchor;
    return linesOf(held, anchor === undefined ? head : `${head} &${anchor}`, 0, inner);
  });
}
