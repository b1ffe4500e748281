import {
  isAlias,
  isMap,
  isScalar,
  type Node,
  type Pair,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { foldedBlock, isPlain, literalBlock, type ScalarSpot, scalarText } from '../yaml-scalar.ts';
import { Unformattable } from './gaps.ts';
import { isAnchored, isBlockScalar, rangeOf } from './nodes.ts';
import { inOrder, type Shape } from './order.ts';

/** Columns that a line may take before a map in braces is written out. */
export const WIDTH = 100;
/** One level of indentation. */
export const STEP = '  ';

/** The text of a node as it was written. */
function sourceOf(node: Node, text: string): string {
  return text.slice(...rangeOf(node));
}

/** A scalar on one line, as it was written but for quotes that are not needed. */
export function oneLine(node: Scalar, text: string, spot: ScalarSpot): string {
  const source = sourceOf(node, text);
  const { value, type } = node;
  const isQuoted = type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE;
  // Numbers keep their spelling: `1.10` may be meant as it stands.
  if (typeof value !== 'string' || (!isQuoted && !source.includes('\n'))) return source;
  const isEscaped = type === Scalar.QUOTE_DOUBLE && !source.includes('\n');
  return isEscaped && !isPlain(value, spot) ? source : scalarText(value, spot);
}

/**
 * A scalar that runs over several lines; the first continues the line at hand.
 *
 * @param column where the key or dash that holds it stood
 */
export function manyLines(
  node: Scalar,
  text: string,
  indent: string,
  column: number,
): readonly string[] {
  if (isBlockScalar(node)) return movedBlock(node, text, indent, column);
  const value = String(node.value);
  const block = value.includes('\n')
    ? literalBlock(value, indent)
    : foldedBlock(value, indent, WIDTH);
  return block ?? [scalarText(value, 'block')];
}

/** A block scalar with its lines as they are, at another indentation. */
function movedBlock(node: Scalar, text: string, indent: string, column: number): readonly string[] {
  const [head = '', ...lines] = sourceOf(node, text).replace(/\n$/, '').split('\n');
  const [, style = '', marks = '', comment = ''] =
    /^([|>])([-+\d]*)[ \t]*(#[^\n]*)?$/.exec(head) ?? [];
  if (style === '') throw new Unformattable('the head of a block text', rangeOf(node)[0]);
  const first = lines.find((line) => /[^ ]/.test(line));
  // An indentation indicator counts from the key or dash that holds the text.
  const indicator = Number(/\d/.exec(marks)?.[0] ?? 0);
  const found = first === undefined ? Math.max(0, ...lines.map(indentOf)) : indentOf(first);
  const depth = indicator > 0 ? column + indicator : found;
  const moved = lines.map((line) => {
    const rest = line.slice(depth);
    return rest === '' ? '' : indent + rest;
  });
  const header = style + marks.replace(/\d/, String(STEP.length));
  return [[header, comment].filter((part) => part !== '').join(' '), ...moved];
}

/** Members of a map in braces in their order. */
export function sorted(items: readonly Pair[], shape: Shape): readonly Pair[] {
  const ordered = inOrder(items, shape.keys, ({ key }) => (isScalar(key) ? String(key.value) : ''));
  const anchored = (pairs: readonly Pair[]) =>
    pairs.filter(({ key, value }) => isAnchored(key) || isAnchored(value));
  const before = anchored(items);
  // An alias must stay behind its anchor.
  return anchored(ordered).every((pair, index) => pair === before[index]) ? ordered : items;
}

/** A map or list in braces or brackets, on one line. */
export function flowText(node: YAMLMap | YAMLSeq, text: string, shape: Shape): string {
  if (!isMap(node)) {
    return `[${node.items.map((item) => flowValue(item, text, shape.item())).join(', ')}]`;
  }
  if (node.items.length === 0) return '{}';
  const members = sorted(node.items, shape).map(({ key, value }) => {
    if (!isScalar(key) || key.anchor !== undefined) {
      throw new Unformattable('a key that is no plain text', rangeOf(node)[0]);
    }
    const name = oneLine(key, text, 'key');
    const inner = value === null ? '' : flowValue(value, text, shape.member(String(key.value)));
    return inner === '' ? `${name}:` : `${name}: ${inner}`;
  });
  return `{ ${members.join(', ')} }`;
}

function flowValue(item: unknown, text: string, shape: Shape): string {
  if (isAlias(item)) return `*${item.source}`;
  const anchor =
    typeof item === 'object' && item !== null && 'anchor' in item && item.anchor !== undefined
      ? `&${String(item.anchor)} `
      : '';
  if (isScalar(item)) return anchor + oneLine(item, text, 'flow');
  if (typeof item !== 'object' || item === null || !('items' in item)) {
    throw new Unformattable('a pair without braces', 0);
  }
  return anchor + flowText(item as YAMLMap | YAMLSeq, text, shape);
}

/** A stretch of the file as it stands, with the lines after the first moved to the right or left. */
export function movedText(source: string, by: number): readonly string[] {
  const [first = '', ...rest] = source.split('\n');
  return [
    first,
    ...rest.map((line) => {
      const own = indentOf(line);
      // Blanks at the end of a line may belong to a quoted text.
      const text = line.slice(own);
      return /^[ \t]*$/.test(text) ? '' : ' '.repeat(Math.max(0, own + by)) + text;
    }),
  ];
}

/** Spaces that a line begins with. Other blanks of Unicode are text. */
export function indentOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0;
}
