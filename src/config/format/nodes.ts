import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { Unformattable } from './gaps.ts';

/** A value of a map or list as the formatter tells them apart. */
export type Value =
  | { readonly type: 'empty' }
  | { readonly type: 'alias'; readonly node: Alias }
  | { readonly type: 'scalar'; readonly node: Scalar }
  | { readonly type: 'flow'; readonly node: YAMLMap | YAMLSeq }
  | { readonly type: 'map'; readonly node: YAMLMap }
  | { readonly type: 'list'; readonly node: YAMLSeq };

/** A `key: value` with the places that the formatter needs. */
export type Entry = {
  readonly pair: Pair;
  readonly key: Scalar;
  readonly start: number;
  /** Offset behind the colon. */
  readonly colon: number;
  readonly value: Value;
};

/** Where a node begins and its own text ends. */
export function rangeOf(node: Node): readonly [number, number] {
  const [start, end] = node.range ?? [0, 0, 0];
  return [start, end];
}

export function isBlockScalar(node: Scalar): boolean {
  return node.type === Scalar.BLOCK_FOLDED || node.type === Scalar.BLOCK_LITERAL;
}

export function contentOf(node: unknown): Value {
  if (node === null || node === undefined) return { type: 'empty' };
  if (isAlias(node)) return { type: 'alias', node };
  if (isScalar(node)) {
    const isEmpty = node.value === null && (node.source ?? '') === '' && node.anchor === undefined;
    return isEmpty ? { type: 'empty' } : { type: 'scalar', node };
  }
  if (isMap(node)) return { type: node.flow === true ? 'flow' : 'map', node };
  if (isSeq(node)) return node.flow === true ? { type: 'flow', node } : { type: 'list', node };
  throw new Unformattable('a value of an unknown type', 0);
}

/** The members of a map in the block style. */
export function entriesOf(map: YAMLMap, text: string): readonly Entry[] {
  return map.items.map((pair): Entry => {
    const { key } = pair;
    if (!isScalar(key) || key.anchor !== undefined || isBlockScalar(key)) {
      throw new Unformattable('a key that is no plain text', rangeOf(map)[0]);
    }
    const [start, end] = rangeOf(key);
    const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
    const colon = /^[ \t]*:/.exec(text.slice(end, end + 200))?.[0].length;
    if (colon === undefined || before.includes('?')) {
      throw new Unformattable('a key that begins with a question mark', start);
    }
    return { pair, key, start, colon: end + colon, value: contentOf(pair.value) };
  });
}

/** An element of a list in the block style. */
export type Element = { readonly dash: number; readonly value: Value };

export function elementsOf(list: YAMLSeq, text: string): readonly Element[] {
  const elements: Element[] = [];
  let from = rangeOf(list)[0];
  for (const item of list.items) {
    const element = { dash: dashAfter(text, from), value: contentOf(item) };
    elements.push(element);
    from = endOfValue(element.value, element.dash + 1, text);
  }
  return elements;
}

/** The next dash that stands neither in a comment nor in a value. */
function dashAfter(text: string, from: number): number {
  const found = /^(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*-/.exec(text.slice(from));
  const first = found ?? /^[ \t]*-/.exec(text.slice(from));
  if (first === null) throw new Unformattable('an element without its dash', from);
  return from + first[0].length - 1;
}

/** Where the last character of a value stands, comments not counted. */
export function endOfValue(value: Value, empty: number, text: string): number {
  switch (value.type) {
    case 'empty':
      return empty;
    case 'map': {
      const last = entriesOf(value.node, text).at(-1);
      return last === undefined ? rangeOf(value.node)[1] : endOfValue(last.value, last.colon, text);
    }
    case 'list': {
      const last = elementsOf(value.node, text).at(-1);
      return last === undefined
        ? rangeOf(value.node)[1]
        : endOfValue(last.value, last.dash + 1, text);
    }
    default: {
      const end = rangeOf(value.node)[1];
      const isBlock = value.type === 'scalar' && isBlockScalar(value.node);
      return isBlock && text[end - 1] === '\n' ? end - 1 : end;
    }
  }
}

/** Whether a node holds an anchor or an alias, so that its place among others counts. */
export function isAnchored(node: unknown): boolean {
  if (isAlias(node)) return true;
  if (isScalar(node)) return node.anchor !== undefined;
  if (!isMap(node) && !isSeq(node)) return false;
  if (node.anchor !== undefined) return true;
  return isMap(node)
    ? node.items.some(({ key, value }) => isAnchored(key) || isAnchored(value))
    : node.items.some(isAnchored);
}
