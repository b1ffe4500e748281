import type { SourcePosition } from '../core/diagnostics.ts';
import { type JsonScalar, oncePer } from '../core/value.ts';

/** A file of the stack as text, without its byte order mark. */
export type Source = {
  /** Relative to the stack folder, with forward slashes. */
  readonly file: string;
  readonly text: string;
};

/** A stretch of a file. Offsets count UTF-16 units from 0; `end` is exclusive. */
export type SourceRange = { readonly source: Source; readonly start: number; readonly end: number };

/** Offsets at which lines begin. Lines end with a line feed; a carriage return before it belongs to the line. */
const lineStarts = oncePer(({ text }: Source) => {
  const found = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) found.push(at + 1);
  return found;
});

/** The line that holds an offset, counted from 1. */
export function lineAt(source: Source, offset: number): number {
  const lines = lineStarts(source);
  let low = 0;
  let high = lines.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((lines[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

/** The offsets of a line without its end; undefined where the file has no such line. */
export function lineRange(
  source: Source,
  line: number,
): { readonly start: number; readonly end: number } | undefined {
  const lines = lineStarts(source);
  const start = lines[line - 1];
  if (start === undefined) return undefined;
  const next = lines[line];
  let end = next === undefined ? source.text.length : next - 1;
  if (end > start && source.text[end - 1] === '\r') end -= 1;
  return { start, end };
}

/** Characters between two offsets. One outside the basic plane takes two units. */
function countCharacters(source: Source, from: number, to: number): number {
  let count = to - from;
  for (let at = from; at < to; at += 1) {
    const unit = source.text.charCodeAt(at);
    if (unit >= 0xdc00 && unit <= 0xdfff) count -= 1;
  }
  return count;
}

/** The position of a range's first character. */
export function toPosition(range: SourceRange): SourcePosition {
  const line = lineAt(range.source, range.start);
  const from = lineRange(range.source, line)?.start ?? 0;
  const column = countCharacters(range.source, from, range.start) + 1;
  return { file: range.source.file, line, column };
}

/**
 * The position of a range with its end. A range of several lines ends with its first one: reviews mark a
 * problem only where they show every line of it.
 */
export function toStretch(range: SourceRange): SourcePosition {
  const position = toPosition(range);
  const last = lineRange(range.source, position.line)?.end ?? range.start;
  const end = Math.max(range.start, Math.min(range.end, last));
  const end_column = position.column + countCharacters(range.source, range.start, end);
  return { ...position, end_column };
}

/** The first range of `snippet` inside a range; the range itself where it does not appear as such. */
export function rangeOfText(snippet: string, inside: SourceRange): SourceRange {
  const start = inside.source.text.indexOf(snippet, inside.start);
  const end = start + snippet.length;
  return start < 0 || end > inside.end ? inside : { source: inside.source, start, end };
}

/** The first character of a file, for problems with the file as a whole. */
export function getStart(source: Source): SourceRange {
  return { source, start: 0, end: 0 };
}

/**
 * YAML as it was written: plain data in which every node knows its range. Bases, rows and overlays can
 * be laid over each other in this form without losing where each value came from.
 */
export type SyntaxNode = ScalarNode | ListNode | MapNode;

type Placed = {
  readonly range: SourceRange;
  /** The place of the content, for a node that was written as an alias. */
  readonly origin?: SourceRange;
};

export type ScalarNode = Placed & {
  readonly type: 'scalar';
  readonly value: JsonScalar;
  /** The value's own spelling: `1.10` is the number 1.1. */
  readonly text: string;
  /** A key with nothing after it, which YAML reads as null. */
  readonly empty: boolean;
  /** A text that stands for a number or a truth value where a field takes one, as a cell of a CSV does. */
  readonly loose?: true;
};

export type ListNode = Placed & { readonly type: 'list'; readonly items: readonly SyntaxNode[] };

export type Member = {
  readonly key: string;
  readonly keyPlace: SourceRange;
  readonly value: SyntaxNode;
};

export type MapNode = Placed & {
  readonly type: 'map';
  readonly members: ReadonlyMap<string, Member>;
};

/** A member's value; undefined where the node is no map or has no such member. */
export function findMember(node: SyntaxNode | undefined, key: string): Member | undefined {
  return node?.type === 'map' ? node.members.get(key) : undefined;
}

/** The member of a map that has no other. */
export function onlyMember(node: SyntaxNode, key: string): Member | undefined {
  return node.type === 'map' && node.members.size === 1 ? node.members.get(key) : undefined;
}

/** The members of a map; none where the node is something else. */
export function membersIn(node: SyntaxNode | undefined): readonly Member[] {
  return node?.type === 'map' ? [...node.members.values()] : [];
}

/** A map with those of its members alone whose keys are kept. */
export function withKeys(map: MapNode, isKept: (key: string) => boolean): MapNode {
  return { ...map, members: new Map([...map.members].filter(([key]) => isKept(key))) };
}

/** Returns the value of a text; undefined for any other node. */
export function textIn(node: SyntaxNode | undefined): string | undefined {
  return node?.type === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

/** Returns the values of a map's members, or a list's elements. */
export function listChildren(node: SyntaxNode): readonly SyntaxNode[] {
  if (node.type === 'list') return node.items;
  return membersIn(node).map(({ value }) => value);
}

/** Returns the type of a node in words. */
export function describe(node: SyntaxNode): string {
  if (node.type === 'list') return 'a list';
  if (node.type === 'map') return 'a map';
  if (node.value === null) return node.empty ? 'empty' : 'null';
  if (typeof node.value === 'string') return 'text';
  return typeof node.value === 'boolean' ? String(node.value) : 'a number';
}
