import {
  type CST,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

/** A stretch of a text by its offsets; `end` is exclusive. */
export type Stretch = { readonly start: number; readonly end: number };

export type Collection = YAMLMap | YAMLSeq;

/** A node of a file with the collection that holds it; the document's own node has none. */
export type Located = {
  readonly node: Node;
  readonly holder: Collection | undefined;
  readonly index: number;
  /** The columns that what stands below the node is indented by at least. */
  readonly isFlow: boolean;
};

/** Why an edit cannot be made so that all the rest stays as it is. */
export class Uneditable extends Error {}

export function isCollection(node: unknown): node is Collection {
  return isMap(node) || isSeq(node);
}

/** The nodes of a text, found by where they stand. */
export function readNodes(text: string): (at: Stretch) => Located {
  const document = parseDocument(text, { keepSourceTokens: true, uniqueKeys: false });
  const found = new Map<string, Located>();
  const visit = (located: Located): void => {
    const [start, end] = rangeOf(located.node);
    found.set(`${start}:${end}`, located);
    const { node } = located;
    if (!isCollection(node)) return;
    const isFlow = node.flow === true;
    for (const [index, item] of node.items.entries()) {
      const value = isPair(item) ? item.value : item;
      if (isNode(value)) visit({ node: value, holder: node, index, isFlow });
    }
  };
  if (document.contents !== null) {
    visit({ node: document.contents, holder: undefined, index: 0, isFlow: false });
  }
  return ({ start, end }) => {
    const located = found.get(`${start}:${end}`);
    if (located === undefined)
      throw new Uneditable('it is written in a way that is not understood');
    return located;
  };
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'range' in value;
}

export function rangeOf(node: Node): readonly [number, number, number] {
  return node.range ?? [0, 0, 0];
}

/** The key of a map's member as a text. */
export function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : '';
}

/** What stands at an index of a collection: a node, or null for nothing. */
export function valueAt(holder: Collection, index: number): Node | null {
  const item: unknown = holder.items[index];
  const value = isPair(item) ? item.value : item;
  return isNode(value) ? value : null;
}

/** Where an item begins: its dash, its key, or the anchor before either. */
export function startOfItem(holder: Collection, index: number): number {
  const token = tokenOf(holder).items[index];
  if (token === undefined) throw new Uneditable('it is written in a way that is not understood');
  const first = token.start.find(({ type }) => !SPACES.has(type)) ?? token.key ?? token.value;
  if (first === undefined || first?.type === 'explicit-key-ind') {
    throw new Uneditable('it is written with an explicit key');
  }
  return first.offset;
}

const SPACES: ReadonlySet<string> = new Set(['space', 'newline', 'comment', 'comma']);

/** The end of the colon behind a member's key, or of an item's dash. */
export function endOfHead(holder: Collection, index: number): number {
  const token = tokenOf(holder).items[index];
  const tokens = isMap(holder) ? (token?.sep ?? []) : (token?.start ?? []);
  const mark = tokens.find(({ type }) => type === 'map-value-ind' || type === 'seq-item-ind');
  if (mark === undefined) throw new Uneditable('it is written in a way that is not understood');
  return mark.offset + mark.source.length;
}

type Token = CST.BlockMap | CST.BlockSequence | CST.FlowCollection;

function tokenOf(node: Collection): Token {
  const token = node.srcToken;
  if (
    token?.type === 'block-map' ||
    token?.type === 'block-seq' ||
    token?.type === 'flow-collection'
  ) {
    return token;
  }
  throw new Uneditable('it is written in a way that is not understood');
}

/** Where the last character of an item's content ends: no comment, no line break. */
export function endOfItem(holder: Collection, index: number): number {
  const value = valueAt(holder, index);
  return value === null ? endOfHead(holder, index) : endOfContent(value);
}

export function endOfContent(node: Node): number {
  if (isCollection(node) && node.flow !== true && node.items.length > 0) {
    return endOfItem(node, node.items.length - 1);
  }
  return rangeOf(node)[1];
}

/** The column of an offset, counted from 0. */
export function columnOf(text: string, offset: number): number {
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
