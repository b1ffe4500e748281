import { join } from 'node:path';
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { Diagnostic } from '../../core/diagnostics.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../../core/schema.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { openReport, type Problem } from '../diagnostics.ts';
import { discover, type Pattern, patternsIn, STACK_FILE } from '../discover.ts';
import { fileMessage, isUnreadable, readTextAt, refuseFolder, type Unreadable } from '../folder.ts';
import { blockSchema, isRefused, resourceSchema, secretNames } from '../schema.ts';
import { COMPOSING_MEMBERS, settingsSchema } from '../settings-schema.ts';
import { type Source, type SyntaxNode, startOf } from '../source.ts';
import { parseYaml, redactSecretFields } from '../yaml.ts';
import {
  behindDash,
  braces,
  brackets,
  foldedBlock,
  isPlain,
  literalBlock,
  type ScalarContext,
  STEP,
  scalarText,
  WIDTH,
} from './tree.ts';

/** What became of a file: its new text, or why it is left alone. */
type Formatted = { readonly text: string } | { readonly problems: readonly Problem[] };

const SCHEMA_LINE = /^#[ \t]*yaml-language-server:[^\n]*(?:\n|$)/m;

/**
 * Brings a YAML file into the canonical order and style. What it means never changes: the result is read
 * again and compared, value by value and comment by comment, and a file of which that cannot be shown is
 * left alone.
 */
export function formatYaml(source: Source, shape: Shape): Formatted {
  const before = parseYaml(source);
  if (before.problems.some(({ severity }) => severity !== 'warning')) {
    return { problems: before.problems };
  }
  if (before.root?.type !== 'map') return { text: source.text };
  try {
    const text = print(source.text.replaceAll('\r\n', '\n'), shape);
    const after = parseYaml({ file: source.file, text });
    const comment = strayComment(source.text, text);
    if (comment !== undefined) {
      const offset = Math.max(0, source.text.indexOf(comment));
      return { problems: [refusal(source, 'a comment', offset)] };
    }
    if (sameValues(before.root, after.root)) return { text };
    return { problems: [refusal(source, 'a value', 0)] };
  } catch (error) {
    if (!(error instanceof Unformattable)) throw error;
    return { problems: [refusal(source, error.message, error.offset)] };
  }
}

function refusal(source: Source, what: string, offset: number): Problem {
  return {
    severity: 'error',
    rule: 'fmt/kept',
    message: `${source.file} is left as it is: it has ${what} that fmt cannot keep`,
    hint: 'Write it in another way, or format the file by hand',
    place: { source, start: offset, end: offset },
  };
}

function print(given: string, shape: Shape): string {
  const { schemaLine, text } = withoutSchemaLine(given);
  const contents = parseDocument(text, { uniqueKeys: false }).contents;
  const value = contentOf(contents);
  if (value.type === 'flow' || contents === null) return given;
  if (value.type !== 'map') throw new Unformattable('no map of sections', 0);
  const [start] = rangeOf(value.node);
  const end = endOfValue(value, start, text);
  const { marker, comments } = readHead(text.slice(0, start));
  const { trailing, lines } = readGap(`${text.slice(end).trimEnd()}\n`, end);
  const { own, rest } = splitTail(lines, 0);
  const { header, lead } = splitHeader(comments);
  const spot = { text, indent: '', shape };
  const printed = [
    ...schemaLine,
    ...marker,
    ...gapLines(header, ''),
    ...printBlock(value, lead, { trailing, lines: own }, spot),
    ...gapLines(rest, ''),
  ];
  return `${printed.join('\n').trimEnd()}\n`;
}

/** The line that tells editors the schema comes first, wherever it stood among the first comments. */
function withoutSchemaLine(text: string) {
  const found = SCHEMA_LINE.exec(text);
  const isAbove = found !== null && /^(?:[ \t]*(?:#.*)?\n)*$/.test(text.slice(0, found.index));
  if (!isAbove) return { schemaLine: [], text };
  const rest = text.slice(0, found.index) + text.slice(found.index + found[0].length);
  const isParted = found.index === 0 ? /^[ \t]*\n/.test(rest) : true;
  const line = found[0].trimEnd();
  return { schemaLine: isParted ? [line, ''] : [line], text: rest.replace(/^(?:[ \t]*\n)+/, '') };
}

/** What stands above the first section: a marker that begins the document, and comments. */
function readHead(text: string) {
  const at = text.search(/^---[ \t]*$/m);
  if (at < 0) return { marker: [], comments: readGap(`\n${text}`, 0).lines };
  const above = readGap(`\n${text.slice(0, at)}`, 0).lines;
  const end = text.indexOf('\n', at);
  return {
    marker: [...gapLines(above, ''), '---'],
    comments: readGap(text.slice(end), end).lines,
  };
}

/** Whether two files say the same: equal values in equal spelling, whatever the order of their keys. */
function sameValues(a: SyntaxNode | undefined, b: SyntaxNode | undefined): boolean {
  if (a === undefined || b === undefined || a.type !== b.type) return a === b;
  if (a.type === 'scalar' && b.type === 'scalar') {
    return a.value === b.value && a.text === b.text && a.empty === b.empty;
  }
  if (a.type === 'list' && b.type === 'list') {
    return (
      a.items.length === b.items.length &&
      a.items.every((item, index) => sameValues(item, b.items[index]))
    );
  }
  if (a.type !== 'map' || b.type !== 'map') return false;
  return (
    a.members.size === b.members.size &&
    [...a.members].every(([key, { value }]) => sameValues(value, b.members.get(key)?.value))
  );
}

/** What the lexer puts before the text of a scalar, which may look like anything. */
const SCALAR = '\u001f';

function commentsOf(text: string): readonly string[] {
  const comments: string[] = [];
  let before = '';
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith('#') && before !== SCALAR) comments.push(lexeme.trimEnd());
    before = lexeme;
  }
  return comments.sort();
}

/** A comment that only one of two texts has, wherever it stands; undefined where they have the same. */
function strayComment(a: string, b: string): string | undefined {
  const [left, right] = [commentsOf(a), commentsOf(b)];
  const at = left.findIndex((comment, index) => comment !== right[index]);
  return at < 0 ? right[left.length] : left[at];
}

/** A file as it is and as it should be. */
export type FormattedFile = {
  readonly before: string;
  /** Undefined where the file is left alone. */
  readonly after: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

/** Formats one text; `file` is what diagnostics call it. */
export function formatText(file: string, before: string): FormattedFile {
  const source: Source = { file, text: before.replace(/^\uFEFF/, '') };
  const formatted = formatYaml(source, fileShape(kinds));
  if ('text' in formatted) return { before, after: formatted.text, diagnostics: [] };
  const report = openReport();
  for (const problem of formatted.problems) report.add(problem);
  redactSecretFields(source, secretNames(kinds), report);
  return { before, after: undefined, diagnostics: report.diagnostics() };
}

/** Reads and formats one file. `instead` is what may have been meant where it does not exist. */
export function formatFile(
  file: string,
  absolute: string,
  instead?: string | undefined,
): FormattedFile {
  const read = readTextAt(file, absolute);
  if (!isUnreadable(read)) return formatText(file, (read.bom ? '\uFEFF' : '') + read.source.text);
  const words = wordsFor(file, read, instead);
  const report = openReport();
  report.add({ ...words, message: `fmt ${words.message}`, place: startOf({ file, text: '' }) });
  return { before: '', after: undefined, diagnostics: report.diagnostics() };
}

/** Files that are named on the command line are looked for in the working directory, as everywhere. */
function wordsFor(file: string, read: Unreadable, instead: string | undefined) {
  const words = fileMessage(file, read);
  if (read.reason !== 'missing') return words;
  const hint = 'Files given to fmt are looked for in the working directory, whatever --dir is';
  return { ...words, hint: instead === undefined ? hint : `${hint}. Did you mean "${instead}"?` };
}

/** The YAML files of a stack, relative to its folder, or why the folder is none. */
export function stackFiles(dir: string): readonly string[] | Omit<Diagnostic, 'severity'> {
  const refused = refuseFolder(dir);
  if (refused !== undefined) return refused;
  return [STACK_FILE, ...discover(dir, includedIn(dir), []).files];
}

/** The patterns of `include`; a stack whose settings cannot be read is formatted whole. */
function includedIn(dir: string): readonly Pattern[] | undefined {
  const read = readTextAt(STACK_FILE, join(dir, STACK_FILE));
  return isUnreadable(read) ? undefined : patternsIn(parseYaml(read.source).root);
}

/** Where something is printed, and what is known of it. */
type Layout = { readonly text: string; readonly indent: string; readonly shape: Shape };

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
function printBlock(
  value: Extract<Value, { type: 'map' | 'list' }>,
  opening: readonly Between[],
  after: Gap,
  spot: Layout,
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
  { text, indent, shape }: Layout,
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
  { text, indent, shape }: Layout,
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
  spot: Layout,
): readonly string[] {
  const head = `${spot.indent}${oneLine(key, spot.text, 'key')}:`;
  if (value.type !== 'map' && value.type !== 'list')
    return printValue(head, [start, colon], value, after, spot);
  const { anchor, trailing, lines } = readOpening(spot.text, colon, rangeOf(value.node)[0]);
  const inner = { ...spot, indent: spot.indent + STEP };
  return [head + anchor + trailing, ...printBlock(value, lines, after, inner)];
}

function printElement({ dash, value }: Element, after: Gap, spot: Layout): readonly string[] {
  const head = `${spot.indent}-`;
  if (value.type !== 'map' && value.type !== 'list') {
    return printValue(head, [dash, dash + 1], value, after, spot);
  }
  const { anchor, trailing, lines } = readOpening(spot.text, dash + 1, rangeOf(value.node)[0]);
  const block = printBlock(value, lines, after, { ...spot, indent: spot.indent + STEP });
  if (anchor !== '' || trailing !== '') return [head + anchor + trailing, ...block];
  return behindDash(head, block);
}

/** A value that begins on the line of its `key:` or `-`, which stands from `start` to `from`. */
function printValue(
  head: string,
  [start, from]: readonly [number, number],
  value: Exclude<Value, { type: 'map' | 'list' }>,
  after: Gap,
  spot: Layout,
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
  spot: Layout,
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
function flowLines(node: YAMLMap | YAMLSeq, head: string, spot: Layout): readonly string[] {
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
  return head.endsWith('-') ? behindDash(head, lines) : [head, ...lines];
}

/** The members of a map in braces, each on a line of its own. */
function openedLines(node: YAMLMap, spot: Layout): readonly string[] {
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

/** The text of a node as it was written. */
function sourceOf(node: Node, text: string): string {
  return text.slice(...rangeOf(node));
}

/** A scalar on one line, as it was written but for quotes that are not needed. */
function oneLine(node: Scalar, text: string, spot: ScalarContext): string {
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
function manyLines(node: Scalar, text: string, indent: string, column: number): readonly string[] {
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
function sorted(items: readonly Pair[], shape: Shape): readonly Pair[] {
  const ordered = inOrder(items, shape.keys, ({ key }) => (isScalar(key) ? String(key.value) : ''));
  const anchored = (pairs: readonly Pair[]) =>
    pairs.filter(({ key, value }) => isAnchored(key) || isAnchored(value));
  const before = anchored(items);
  // An alias must stay behind its anchor.
  return anchored(ordered).every((pair, index) => pair === before[index]) ? ordered : items;
}

/** A map or list in braces or brackets, on one line. */
function flowText(node: YAMLMap | YAMLSeq, text: string, shape: Shape): string {
  if (!isMap(node)) {
    return brackets(node.items.map((item) => flowValue(item, text, shape.item())));
  }
  const members = sorted(node.items, shape).map(({ key, value }) => {
    if (!isScalar(key) || key.anchor !== undefined) {
      throw new Unformattable('a key that is no plain text', rangeOf(node)[0]);
    }
    const name = oneLine(key, text, 'key');
    const inner = value === null ? '' : flowValue(value, text, shape.member(String(key.value)));
    return inner === '' ? `${name}:` : `${name}: ${inner}`;
  });
  return braces(members);
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
function movedText(source: string, by: number): readonly string[] {
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
function indentOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0;
}

/** A value of a map or list as the formatter tells them apart. */
type Value =
  | { readonly type: 'empty' }
  | { readonly type: 'alias'; readonly node: Alias }
  | { readonly type: 'scalar'; readonly node: Scalar }
  | { readonly type: 'flow'; readonly node: YAMLMap | YAMLSeq }
  | { readonly type: 'map'; readonly node: YAMLMap }
  | { readonly type: 'list'; readonly node: YAMLSeq };

/** A `key: value` with the places that the formatter needs. */
type Entry = {
  readonly pair: Pair;
  readonly key: Scalar;
  readonly start: number;
  /** Offset behind the colon. */
  readonly colon: number;
  readonly value: Value;
};

/** Where a node begins and its own text ends. */
function rangeOf(node: Node): readonly [number, number] {
  const [start, end] = node.range ?? [0, 0, 0];
  return [start, end];
}

function isBlockScalar(node: Scalar): boolean {
  return node.type === Scalar.BLOCK_FOLDED || node.type === Scalar.BLOCK_LITERAL;
}

function contentOf(node: unknown): Value {
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
function entriesOf(map: YAMLMap, text: string): readonly Entry[] {
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
type Element = { readonly dash: number; readonly value: Value };

function elementsOf(list: YAMLSeq, text: string): readonly Element[] {
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
function endOfValue(value: Value, empty: number, text: string): number {
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
function isAnchored(node: unknown): boolean {
  if (isAlias(node)) return true;
  if (isScalar(node)) return node.anchor !== undefined;
  if (!isMap(node) && !isSeq(node)) return false;
  if (node.anchor !== undefined) return true;
  return isMap(node)
    ? node.items.some(({ key, value }) => isAnchored(key) || isAnchored(value))
    : node.items.some(isAnchored);
}

/** A line of comments between two nodes, or an empty one. */
type Between = {
  /** Column of the `#`; -1 for an empty line. */
  readonly column: number;
  /** From `#` on; empty for an empty line. */
  readonly text: string;
};

/** What stands between two nodes. */
type Gap = {
  /** What follows on the line of the node before: the spaces and the comment. */
  readonly trailing: string;
  readonly lines: readonly Between[];
};

/** Something that the formatter does not know how to keep. The file is left as it is. */
class Unformattable extends Error {
  readonly offset: number;
  constructor(what: string, offset: number) {
    super(what);
    this.offset = offset;
  }
}

const COMMENT = /^[ \t]*(?:#[^\n]*)?$/;

/**
 * Reads the text between two nodes, in which only comments and empty lines can stand.
 *
 * @param offset where the text begins, for what is said when something else stands in it
 */
function readGap(text: string, offset: number): Gap {
  const [first = '', ...rest] = text.split('\n');
  if (!COMMENT.test(first)) throw new Unformattable('something beside a comment', offset);
  // What comes after the last line break is the indentation of the node that follows.
  const last = rest.at(-1);
  const whole = last !== undefined && last.trim() === '' ? rest.slice(0, -1) : rest;
  const lines = whole.map((line): Between => {
    if (!COMMENT.test(line)) throw new Unformattable('something beside a comment', offset);
    const column = line.indexOf('#');
    return { column, text: column < 0 ? '' : line.slice(column).trimEnd() };
  });
  return { trailing: first.trimEnd() === '' ? '' : first.trimEnd(), lines };
}

/** Several empty lines in a row made one. */
function tidy(lines: readonly Between[]): readonly Between[] {
  return lines.filter(({ text }, index) => text !== '' || lines[index - 1]?.text !== '');
}

/** Splits what follows a node into what belongs to it, being indented deeper than `column`, and the rest. */
function splitTail(lines: readonly Between[], column: number) {
  const end = lines.findIndex(({ text, column: at }) => text !== '' && at <= column);
  const stop = end < 0 ? lines.length : end;
  const last = lines.slice(0, stop).findLastIndex(({ text }) => text !== '');
  return { own: lines.slice(0, last + 1), rest: lines.slice(last + 1) };
}

/** Splits what stands before the first item of a map or list: comments above an empty line are about all of it. */
function splitHeader(lines: readonly Between[]) {
  const last = lines.findLastIndex(({ text }) => text === '');
  const header = lines.slice(0, last + 1);
  return {
    header: header.some(({ text }) => text !== '') ? header : [],
    lead: lines.slice(last + 1),
  };
}

/** Comments and empty lines at their new indentation. */
function gapLines(lines: readonly Between[], indent: string): string[] {
  return tidy(lines).map(({ text }) => (text === '' ? '' : indent + text));
}

/** In which order the members of a map stand, and what is known of what they hold. */
type Shape = {
  /** What is not among them stays behind them, in the order in which it was written. */
  readonly keys: readonly string[];
  readonly member: (key: string) => Shape;
  /** Elements, where it is a list. The order of a list is its own. */
  readonly item: () => Shape;
};

/** What nothing is known of: everything stays where it stands. */
const ANY: Shape = { keys: [], member: () => ANY, item: () => ANY };

/** Callsheet's own members that come after the fields; what says how a resource is put together comes before them. */
const LAST = ['lifecycle', 'unchecked'];
/** Sections beside settings and resources, in the order in which a stack is read. */
const OTHER_SECTIONS = ['environments', 'rules', 'moved', 'forget', 'bases'];

function shapeOf(root: FieldSchema, given: FieldSchema): Shape {
  const schema = dereference(root, given);
  const fields = Object.entries(schema.properties ?? {}).filter(([, field]) => !isRefused(field));
  return {
    keys: fields.map(([name]) => name),
    member: (key) => shapeOf(root, memberSchema(root, schema, key)),
    item: () => shapeOf(root, itemSchema(root, schema)),
  };
}

function resourceShape(kind: Kind): Shape {
  const schema = resourceSchema(kind);
  const shape = shapeOf(schema, schema);
  const fields = shape.keys.filter((key) => !LAST.includes(key));
  return { ...shape, keys: [...Object.keys(COMPOSING_MEMBERS), ...fields, ...LAST] };
}

/** A map from names, whose order is the author's, to things of one shape. */
function named(inner: () => Shape): Shape {
  return { keys: [], member: inner, item: () => ANY };
}

function sectionShape(kind: Kind): Shape {
  const resource = () => resourceShape(kind);
  const { nested } = kind;
  if (nested === undefined) return named(resource);
  const schema = blockSchema(kind);
  const block = shapeOf(schema, schema);
  return named(() => ({
    keys: [...block.keys, nested.key],
    member: (key) => (key === nested.key ? named(resource) : block.member(key)),
    item: () => ANY,
  }));
}

const keysOfKinds = new WeakMap<Kind, readonly string[]>();

/** The fields of a kind under the names of the configuration, in the order in which they are written. */
export function resourceKeys(kind: Kind): readonly string[] {
  const known = keysOfKinds.get(kind);
  if (known !== undefined) return known;
  const { keys } = resourceShape(kind);
  keysOfKinds.set(kind, keys);
  return keys;
}

/** The order of a whole file of a stack: settings, then the sections in the order of their kinds. */
export function fileShape(kinds: readonly Kind[]): Shape {
  const settings = shapeOf(settingsSchema, settingsSchema);
  const others = OTHER_SECTIONS.filter((key) => !settings.keys.includes(key));
  const sections = new Map(kinds.map((kind) => [kind.section, kind]));
  return {
    keys: [...settings.keys, ...others, ...sections.keys()],
    member: (key) => {
      const kind = sections.get(key);
      return kind === undefined ? settings.member(key) : sectionShape(kind);
    },
    item: () => ANY,
  };
}

/** Places in the canonical order; a stable order, so that what is not known keeps its own. */
export function inOrder<T>(
  items: readonly T[],
  keys: readonly string[],
  keyOf: (item: T) => string,
): T[] {
  if (items.length < 2) return [...items];
  const ranks = ranksOf(keys);
  const rank = (item: T) => ranks.get(keyOf(item)) ?? keys.length;
  return items.toSorted((a, b) => rank(a) - rank(b));
}

const ranksOfKeys = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

function ranksOf(keys: readonly string[]): ReadonlyMap<string, number> {
  const known = ranksOfKeys.get(keys);
  if (known !== undefined) return known;
  const ranks = new Map(keys.map((key, index) => [key, index]));
  ranksOfKeys.set(keys, ranks);
  return ranks;
}
