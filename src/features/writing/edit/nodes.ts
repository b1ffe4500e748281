import {
  type CST,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

/** The nodes of a parsed text with its tokens (`keepSourceTokens`): where they and their parts stand. */
export type Collection = YAMLMap | YAMLSeq;

/** Something that cannot be written or changed so that all the rest stays as it is. */
export class Uneditable extends Error {
  readonly offset: number;
  constructor(why: string, offset = 0) {
    super(why);
    this.offset = offset;
  }
}

export function isCollection(node: unknown): node is Collection {
  return isMap(node) || isSeq(node);
}

/** The anchor of a node as it stands behind a colon or dash; empty where it has none. */
export function getAnchor(node: Node): string {
  return 'anchor' in node && node.anchor !== undefined ? ` &${node.anchor}` : '';
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'range' in value;
}

export function getRange(node: Node): readonly [number, number, number] {
  return node.range ?? [0, 0, 0];
}

/** The key of a map's member as a text. */
export function getKey(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : '';
}

export function valueAt(holder: Collection, index: number): Node | null {
  const item: unknown = holder.items[index];
  const value = isPair(item) ? item.value : item;
  return isNode(value) ? value : null;
}

/** Returns the start of an item: its dash, its key, or the anchor before either. */
export function startOfItem(holder: Collection, index: number): number {
  const token = getToken(holder).items[index];
  if (token === undefined)
    throw new Uneditable('Callsheet cannot edit the way in which it is written');
  const first = token.start.find(({ type }) => !SPACES.has(type)) ?? token.key ?? token.value;
  if (first === undefined || first?.type === 'explicit-key-ind') {
    throw new Uneditable('it is written with an explicit key');
  }
  return first.offset;
}

const SPACES: ReadonlySet<string> = new Set(['space', 'newline', 'comment', 'comma']);

/** The end of the colon behind a member's key, or of an item's dash. */
export function endOfHead(holder: Collection, index: number): number {
  const token = getToken(holder).items[index];
  const tokens = isMap(holder) ? (token?.sep ?? []) : (token?.start ?? []);
  const mark = tokens.find(({ type }) => type === 'map-value-ind' || type === 'seq-item-ind');
  if (mark === undefined)
    throw new Uneditable('Callsheet cannot edit the way in which it is written');
  return mark.offset + mark.source.length;
}

type Token = CST.BlockMap | CST.BlockSequence | CST.FlowCollection;

function getToken(node: Collection): Token {
  const token = node.srcToken;
  if (
    token?.type === 'block-map' ||
    token?.type === 'block-seq' ||
    token?.type === 'flow-collection'
  ) {
    return token;
  }
  throw new Uneditable('Callsheet cannot edit the way in which it is written');
}

/** Returns the end of an item's content, without comment and line break. */
export function endOfItem(holder: Collection, index: number): number {
  const value = valueAt(holder, index);
  return value === null ? endOfHead(holder, index) : endOfContent(value);
}

export function endOfContent(node: Node): number {
  if (isCollection(node) && node.flow !== true && node.items.length > 0) {
    return endOfItem(node, node.items.length - 1);
  }
  return getRange(node)[1];
}

/** The column of an offset, counted from 0. */
export function getColumn(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** The start of the line behind the one in which content ends. */
export function nextLine(text: string, end: number): number {
  // A block of text ends behind its last line break.
  const at = text.indexOf('\n', text[end - 1] === '\n' ? end - 1 : end);
  return at < 0 ? text.length : at + 1;
}
