import { join } from 'node:path';
import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import { type Diagnostic, isError } from '../../../core/diagnostics.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../../../core/schema.ts';
import { oncePer } from '../../../core/value.ts';
import { kinds } from '../../../kinds/index.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { openReport, type Problem, SILENT } from '../../../stack/diagnostics.ts';
import { discover, type Pattern, patternsIn } from '../../../stack/discover.ts';
import {
  fileMessage,
  isUnreadable,
  readTextAt,
  refuseFolder,
  STACK_FILE,
  type Unreadable,
} from '../../../stack/folder.ts';
import { blockSchema, isRefused, resourceSchema, secretNames } from '../../../stack/schema.ts';
import { COMPOSING_MEMBERS, settingsSchema } from '../../../stack/settings-schema.ts';
import { findMember, getStart, type Source, type SyntaxNode } from '../../../stack/source.ts';
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
} from '../../../stack/tree.ts';
import { readVariables, type VariableInputs } from '../../../stack/variables.ts';
import {
  commentsIn,
  isBlank,
  parseYaml,
  redactSecretFields,
  trimBlankEnd,
  trimBlankStart,
} from '../../../stack/yaml.ts';
import {
  type Collection,
  endOfHead,
  getAnchor,
  getColumn,
  getKey,
  getRange,
  isCollection,
  lineStart,
  startOfItem,
  Uneditable,
  valueAt,
} from './nodes.ts';

/** A file's new text, or why it is left alone. */
type Formatted = { readonly text: string } | { readonly problems: readonly Problem[] };

const SCHEMA_LINE = /(?<![^\n])#[ \t]*yaml-language-server:[^\n]*(?:\n|$)/;

/**
 * Brings a YAML file into the canonical order and style. What it means never changes: the result is read
 * again and compared, value by value and comment by comment, and a file of which that cannot be shown is
 * left alone.
 */
export function formatYaml(source: Source, shape: Shape): Formatted {
  const before = parseYaml(source);
  if (before.problems.some(isError)) {
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
    const changed = firstChange(before.root, after.root);
    if (changed === undefined) return { text };
    return { problems: [refusal(source, 'a value', changed.range.start)] };
  } catch (error) {
    if (!(error instanceof Uneditable)) throw error;
    return { problems: [refusal(source, error.message, error.offset)] };
  }
}

function refusal(source: Source, what: string, offset: number): Problem {
  return {
    severity: 'error',
    rule: 'fmt/kept',
    message: `${source.file} was not formatted: it has ${what} that fmt cannot keep`,
    hint: 'Write it in another way, or format the file by hand',
    range: { source, start: offset, end: offset },
  };
}

function print(given: string, shape: Shape): string {
  const { schemaLine, text } = withoutSchemaLine(given);
  const { contents } = parseDocument(text, { uniqueKeys: false, keepSourceTokens: true });
  if (contents === null || (isCollection(contents) && contents.flow === true)) return given;
  if (!isMap(contents)) throw new Uneditable('no map of sections');
  refuseOtherKeys(contents, text);
  const [start] = getRange(contents);
  const end = endOfLast(contents, contents.items.length - 1, text);
  const { marker, comments } = readHead(text.slice(0, start));
  const { trailing, lines } = readGap(`${trimBlankEnd(text.slice(end))}\n`, end);
  const { own, rest } = splitTail(lines, 0);
  const { header, lead } = splitHeader(comments);
  const layout = { text, indent: '', shape };
  const block = printBlock(contents, lead, { trailing, lines: own }, layout);
  const printed = [
    ...schemaLine,
    ...marker,
    ...gapLines(header, ''),
    ...withBelow(block, rest, '').lines,
  ];
  return `${printed.join('\n')}\n`;
}

/** The line that tells editors the schema comes first, wherever it stood among the first comments. */
function withoutSchemaLine(text: string) {
  const found = SCHEMA_LINE.exec(text);
  const isAbove = found !== null && /^(?:[ \t]*(?:#[^\n]*)?\n)*$/.test(text.slice(0, found.index));
  if (!isAbove) return { schemaLine: [], text };
  const rest = text.slice(0, found.index) + text.slice(found.index + found[0].length);
  const isParted = found.index === 0 ? /^[ \t]*\n/.test(rest) : true;
  const line = trimBlankEnd(found[0]);
  return { schemaLine: isParted ? [line, ''] : [line], text: rest.replace(/^(?:[ \t]*\n)+/, '') };
}

/** Reads the marker that begins the document, and the comments above the first section. */
function readHead(text: string) {
  const found = /(?<![^\n])---([ \t]+#[^\n]*)?[ \t]*(?![^\n])/.exec(text);
  if (found === null) return { marker: [], comments: readGap(`\n${text}`, 0).lines };
  const above = readGap(`\n${text.slice(0, found.index)}`, 0).lines;
  const [line, comment = ''] = found;
  const note = comment === '' ? '' : ` ${trimBlankEnd(trimBlankStart(comment))}`;
  const end = found.index + line.length;
  return {
    marker: [...gapLines(above, ''), `---${note}`],
    comments: readGap(text.slice(end), end).lines,
  };
}

/**
 * The first value of a file that another does not have, or not in the same spelling; undefined where they say the
 * same, whatever the order of their keys.
 */
function firstChange(a: SyntaxNode, b: SyntaxNode | undefined): SyntaxNode | undefined {
  if (a.type === 'list' && b?.type === 'list' && a.items.length === b.items.length) {
    return getFirst(a.items.map((item, index) => [item, b.items[index]]));
  }
  if (a.type === 'map' && b?.type === 'map' && a.members.size === b.members.size) {
    return getFirst([...a.members].map(([key, { value }]) => [value, b.members.get(key)?.value]));
  }
  if (a.type !== 'scalar' || b?.type !== 'scalar') return a;
  return a.value === b.value && a.text === b.text && a.empty === b.empty ? undefined : a;
}

function getFirst(
  pairs: readonly (readonly [SyntaxNode, SyntaxNode | undefined])[],
): SyntaxNode | undefined {
  for (const [a, b] of pairs) {
    const changed = firstChange(a, b);
    if (changed !== undefined) return changed;
  }
  return undefined;
}

/** A comment that only one of two texts has, wherever it stands; undefined where they have the same. */
function strayComment(a: string, b: string): string | undefined {
  const sorted = (text: string) =>
    commentsIn(text)
      .map((start) => trimBlankEnd(/[^\n]*/.exec(text.slice(start))?.[0] ?? ''))
      .sort();
  const [left, right] = [sorted(a), sorted(b)];
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
  report.add({ ...words, message: `fmt ${words.message}`, range: getStart({ file, text: '' }) });
  return { before: '', after: undefined, diagnostics: report.diagnostics() };
}

/** Files that are named on the command line are looked for in the working directory, as everywhere. */
function wordsFor(file: string, read: Unreadable, instead: string | undefined) {
  const words = fileMessage(file, read);
  if (read.reason !== 'missing') return words;
  const hint = 'fmt looks for files in the working directory, and does not use --dir';
  return { ...words, hint: instead === undefined ? hint : `${hint}. Did you mean "${instead}"?` };
}

/** The YAML files of a stack, relative to its folder, or why the folder is none. */
export function stackFiles(
  dir: string,
  env: VariableInputs['env'],
): readonly string[] | Omit<Diagnostic, 'severity'> {
  const refused = refuseFolder(dir);
  if (refused !== undefined) return refused;
  return [STACK_FILE, ...discover(dir, includedIn(dir, env), []).files];
}

/** The patterns of `include`; a stack whose settings cannot be read is formatted whole. */
function includedIn(dir: string, env: VariableInputs['env']): readonly Pattern[] | undefined {
  const read = readTextAt(STACK_FILE, join(dir, STACK_FILE));
  const root = isUnreadable(read) ? undefined : parseYaml(read.source).root;
  return patternsIn(root, readVariables(findMember(root, 'variables')?.value, { env }, SILENT));
}

type Layout = { readonly text: string; readonly indent: string; readonly shape: Shape };

/** One member or element: what stands above it, and its lines, the first with its indentation. */
type Printed = Lines & { readonly lead: readonly Between[] };

type Lines = {
  readonly lines: readonly string[];
  /** They end with a text that keeps its last line breaks: an empty line below would be one more of them. */
  readonly isOpen: boolean;
};

/** A member or an element in the block style. */
type Item = {
  /** Undefined for an element. */
  readonly key: Scalar | undefined;
  /** Undefined where nothing stands. */
  readonly value: Node | undefined;
  /** Offsets of the begin of its key or dash, the end of the colon or dash, and the end of its own text. */
  readonly start: number;
  readonly head: number;
  readonly end: number;
};

function listItems(node: Collection, text: string): readonly Item[] {
  return node.items.map((item: unknown, index): Item => {
    const key = isPair(item) && isScalar(item.key) ? item.key : undefined;
    return {
      key,
      value: findContent(node, index),
      start: key === undefined ? startOfItem(node, index) : getRange(key)[0],
      head: endOfHead(node, index),
      end: endOfLast(node, index, text),
    };
  });
}

/** Every key must be a text that stands on the line of its colon. */
function refuseOtherKeys(contents: YAMLMap, text: string): void {
  visit(contents, {
    Map: (_, map) => {
      for (const { key } of map.items) {
        if (!isScalar(key) || key.anchor !== undefined || isBlockScalar(key)) {
          throw new Uneditable('a key that is not plain text', getRange(map)[0]);
        }
        const [start] = getRange(key);
        if (map.flow !== true && text.slice(lineStart(text, start), start).includes('?')) {
          throw new Uneditable('a key that begins with a question mark', start);
        }
      }
    },
  });
}

/** Returns undefined for an empty value, which has no anchor either. */
function findContent(holder: Collection, index: number): Node | undefined {
  const value = valueAt(holder, index);
  const isEmpty =
    isScalar(value) && value.value === null && !value.source && value.anchor === undefined;
  return value === null || isEmpty ? undefined : value;
}

/** Returns the end of an item without its comments. */
function endOfLast(holder: Collection, index: number, text: string): number {
  const value = findContent(holder, index);
  if (value === undefined) return endOfHead(holder, index);
  if (isBlock(value)) return endOfLast(value, value.items.length - 1, text);
  const [start, end] = getRange(value);
  if (text[end - 1] !== '\n') return end;
  // To the parser an empty line behind a block without any text is a part of it.
  return isScalar(value) && value.value === '' ? text.indexOf('\n', start) : end - 1;
}

function isBlock(node: Node | undefined): node is Collection {
  return isCollection(node) && node.flow !== true && node.items.length > 0;
}

function isBlockScalar(node: Scalar): boolean {
  return node.type === Scalar.BLOCK_FOLDED || node.type === Scalar.BLOCK_LITERAL;
}

/** Reads what stands between `key:` or `-` and the value: comments, and an anchor on the same line or its own. */
function readOpening(text: string, from: number, to: number) {
  const opening = text.slice(from, to);
  const [, above = '', anchor] =
    /^((?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*)(&[^ \t\n,[\]{}]+)/.exec(opening) ?? [];
  const before = readGap(above, from);
  const behind = readGap(opening.slice(above.length + (anchor?.length ?? 0)), from);
  const [first = '', second = ''] = [before.trailing, behind.trailing]
    .map(trimBlankStart)
    .filter((comment) => comment !== '');
  return {
    anchor: anchor === undefined ? '' : ` ${anchor}`,
    trailing: first === '' ? '' : ` ${first}`,
    lines: [
      ...before.lines,
      ...(second === '' ? [] : [{ column: 0, text: second }]),
      ...behind.lines,
    ],
  };
}

/** A block map or list under its `key:` or behind its dash. What stands after an item is its own, the next one's or that of what holds them. */
function printBlock(
  node: Collection,
  opening: readonly Between[],
  after: Gap,
  layout: Layout,
): Lines {
  const { text, indent, shape } = layout;
  const { header, lead } = splitHeader(opening);
  const items = listItems(node, text);
  const column = getColumn(text, items[0]?.start ?? 0);
  let above = lead;
  const printed = items.map((item, index): Printed => {
    const next = items[index + 1];
    const gap = next === undefined ? after : readGap(text.slice(item.end, next.start), item.end);
    const { own, rest } = splitTail(gap.lines, column);
    const whole = {
      ...printItem(item, { trailing: gap.trailing, lines: own }, layout),
      lead: above,
    };
    above = rest;
    return whole;
  });
  const lines: string[] = [];
  // No empty line stands above the first.
  let isOpen = true;
  const put = (more: readonly string[]) => {
    for (const line of more) lines.push(line);
  };
  const putGap = (gap: readonly Between[]) => {
    const own = gapBelow({ lines, isOpen }, gap, indent);
    put(own);
    isOpen &&= own.length === 0;
  };
  putGap(header);
  for (const item of isMap(node) ? reordered(node, printed, shape) : printed) {
    putGap(item.lead);
    put(item.lines);
    isOpen = item.isOpen;
  }
  putGap(above);
  return { lines, isOpen };
}

/** Lines with what stands below them. */
function withBelow(above: Lines, gap: readonly Between[], indent: string): Lines {
  const own = gapBelow(above, gap, indent);
  return { lines: [...above.lines, ...own], isOpen: above.isOpen && own.length === 0 };
}

/** Lays out the gap below some lines; its first empty line is dropped where they end open or with one. */
function gapBelow(
  { lines, isOpen }: Lines,
  gap: readonly Between[],
  indent: string,
): readonly string[] {
  const below = gapLines(gap, indent);
  const isClose = isOpen || lines.at(-1) === '';
  return isClose && below[0] === '' ? below.slice(1) : below;
}

/**
 * The members of a map in their order. The one that used to be first gets an empty line above it where others are
 * parted by one.
 */
function reordered(map: YAMLMap, printed: readonly Printed[], shape: Shape): readonly Printed[] {
  const byPair = new Map(map.items.map((pair, index) => [pair, printed[index]]));
  const ordered = sorted(map.items, shape).flatMap((pair) => byPair.get(pair) ?? []);
  const [first] = printed;
  if (first === undefined || ordered[0] === first) return ordered;
  const isParted = ordered.some((item) => item !== first && item.lead[0]?.text === '');
  const blank: Between = { column: -1, text: '' };
  return ordered.map((item) =>
    item === first && isParted && item.lead[0]?.text !== ''
      ? { ...item, lead: [blank, ...item.lead] }
      : item,
  );
}

function printItem(item: Item, after: Gap, layout: Layout): Lines {
  const { text, indent, shape } = layout;
  const { key, value, head: from } = item;
  const inner = {
    ...layout,
    shape: key === undefined ? shape.item() : shape.member(String(key.value)),
  };
  const head = indent + (key === undefined ? '-' : `${oneLine(key, text, 'key')}:`);
  if (!isBlock(value)) return printValue(head, item, after, inner);
  const { anchor, trailing, lines } = readOpening(text, from, getRange(value)[0]);
  const block = printBlock(value, lines, after, { ...inner, indent: indent + STEP });
  const line = head + anchor + trailing;
  // A comment that stands above the first line stays there, as the empty line behind it does.
  const isBehind =
    key === undefined && line === head && block.lines[0]?.trimStart().startsWith('#') !== true;
  return { ...block, lines: isBehind ? behindDash(head, block.lines) : [line, ...block.lines] };
}

/** A value that begins on the line of its `key:` or `-`. */
function printValue(head: string, item: Item, after: Gap, layout: Layout): Lines {
  const { text, indent } = layout;
  const { value, start, head: from } = item;
  const inside = indent + STEP;
  if (value === undefined) {
    return withBelow({ lines: [head + after.trailing], isOpen: false }, after.lines, inside);
  }
  const opening = readOpening(text, from, getRange(value)[0]);
  const isBlockText = isScalar(value) && isBlockScalar(value);
  const isTaken = opening.trailing !== '' && (after.trailing !== '' || isBlockText);
  // Between a key and its value there is no place for a comment; above both there is.
  const above = [
    ...(isTaken ? [trimBlankStart(opening.trailing)] : []),
    ...opening.lines.flatMap((line) => (line.text === '' ? [] : line.text)),
  ].map((comment) => indent + comment);
  const column = getColumn(text, start);
  const [first = '', ...rest] = layOutLines(value, head + opening.anchor, column, layout);
  const trailing = isTaken ? after.trailing : opening.trailing + after.trailing;
  if (isScalar(value) && rest.length > 0) {
    const note = trailing === '' ? '' : ` ${trimBlankStart(trailing)}`;
    const isOpen = isBlockText && /^[|>]\d?\+/.test(getSource(value, text));
    // A comment that is indented as the text is would be a part of it.
    return withBelow({ lines: [...above, first + note, ...rest], isOpen }, after.lines, indent);
  }
  // Behind a bracket at the end there is a place for it.
  const last = rest.at(-1) ?? '';
  const lines =
    trailing !== '' && isCollection(value) && keepsLines(value, text)
      ? [first, ...rest.slice(0, -1), last + trailing]
      : [first + trailing, ...rest];
  return withBelow({ lines: [...above, ...lines], isOpen: false }, after.lines, inside);
}

function layOutLines(node: Node, head: string, column: number, layout: Layout): readonly string[] {
  const { text, indent } = layout;
  if (isAlias(node)) return [`${head} *${node.source}`];
  if (isCollection(node)) return flowLines(node, head, column, layout);
  if (!isScalar(node)) throw new Uneditable('a value of an unknown type', getRange(node)[0]);
  const isMany = isBlockScalar(node) || getSource(node, text).includes('\n');
  const [first = '', ...rest] = isMany
    ? manyLines(node, text, indent + STEP, column)
    : [oneLine(node, text, 'block')];
  return [`${head} ${first}`, ...rest];
}

/**
 * A collection in brackets or braces. A list stays as it was written; a map that does not fit on its line
 * is written out.
 */
function flowLines(
  node: Collection,
  head: string,
  column: number,
  layout: Layout,
): readonly string[] {
  const { text, shape, indent } = layout;
  const source = getSource(node, text);
  if (keepsLines(node, text)) {
    const [first = '', ...rest] = movedText(source, indent.length - column);
    return [`${head} ${first}`, ...rest];
  }
  const flow = `${head} ${bracketText(node, text, shape)}`;
  if (flow.length <= WIDTH || !isMap(node) || node.items.length === 0) return [flow];
  const lines = openedLines(node, { ...layout, indent: indent + STEP });
  return head.endsWith('-') ? behindDash(head, lines) : [head, ...lines];
}

/** Returns true for a list on several lines, or a map with comments. A `#` in a quoted text only makes this careful. */
function keepsLines(node: Collection, text: string): boolean {
  const source = getSource(node, text);
  return source.includes('\n') && (!isMap(node) || source.includes('#'));
}

/** The members of a map in braces, each on a line of its own. */
function openedLines(node: YAMLMap, { text, indent, shape }: Layout): readonly string[] {
  return sorted(node.items, shape).flatMap((pair) => {
    const { key } = pair;
    if (!isScalar(key)) return [];
    const value = findContent(node, node.items.indexOf(pair));
    const inner = { text, indent, shape: shape.member(String(key.value)) };
    const head = `${indent}${oneLine(key, text, 'key')}:`;
    if (value === undefined) return [head];
    const [start] = getRange(value);
    const column = measureIndent(text.slice(lineStart(text, start), start));
    return layOutLines(value, head + getAnchor(value), column, inner);
  });
}

/** The text of a node as it was written. */
function getSource(node: Node, text: string): string {
  const [start, end] = getRange(node);
  return text.slice(start, end);
}

/** A scalar on one line, as it was written but for quotes that are not needed. */
function oneLine(node: Scalar, text: string, context: ScalarContext): string {
  const source = getSource(node, text);
  const { value, type } = node;
  const isQuoted = type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE;
  // Numbers keep their spelling: `1.10` may be meant as it stands.
  if (typeof value !== 'string' || (!isQuoted && !source.includes('\n'))) return source;
  const isEscaped = type === Scalar.QUOTE_DOUBLE && !source.includes('\n');
  return isEscaped && !isPlain(value, context) ? source : scalarText(value, context);
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
  const [head = '', ...lines] = getSource(node, text).replace(/\n$/, '').split('\n');
  const [, style = '', marks = '', comment = ''] =
    /^([|>])([-+\d]*)[ \t]*(#[^\n]*)?$/.exec(head) ?? [];
  if (style === '') throw new Uneditable('the head of a block text', getRange(node)[0]);
  const first = lines.find((line) => /[^ ]/.test(line));
  // An indentation indicator counts from the key or dash that holds the text.
  const indicator = Number(/\d/.exec(marks)?.[0] ?? 0);
  const found =
    first === undefined ? Math.max(0, ...lines.map(measureIndent)) : measureIndent(first);
  const depth = indicator > 0 ? column + indicator : found;
  const moved = lines.map((line) => {
    const rest = line.slice(depth);
    return rest === '' ? '' : indent + rest;
  });
  const header = style + marks.replace(/\d/, String(STEP.length));
  const written = node.value === '' ? [] : moved;
  return [[header, comment].filter((part) => part !== '').join(' '), ...written];
}

/** Members of a map in their order. */
function sorted(items: readonly Pair[], shape: Shape): readonly Pair[] {
  const ordered = inOrder(items, shape.keys, getKey);
  const before = items.filter(isAnchored);
  // An alias must stay behind its anchor.
  return ordered.filter(isAnchored).every((pair, index) => pair === before[index])
    ? ordered
    : items;
}

/** Returns true if an anchor or alias is inside, so that the order matters. */
function isAnchored(node: unknown): boolean {
  if (isPair(node)) return isAnchored(node.key) || isAnchored(node.value);
  if (isCollection(node) && node.items.some(isAnchored)) return true;
  return isAlias(node) || ((isScalar(node) || isCollection(node)) && node.anchor !== undefined);
}

/** A value between braces or brackets, on one line. */
function flowText(node: unknown, text: string, shape: Shape): string {
  if (isAlias(node)) return `*${node.source}`;
  if (!isScalar(node) && !isCollection(node)) throw new Uneditable('a pair without braces');
  const value = isScalar(node) ? oneLine(node, text, 'flow') : bracketText(node, text, shape);
  return trimBlankStart(`${getAnchor(node)} ${value}`);
}

/** A collection in braces or brackets, on one line, without its anchor. */
function bracketText(node: Collection, text: string, shape: Shape): string {
  return isMap(node)
    ? braces(sorted(node.items, shape).map((pair) => flowMember(pair, text, shape)))
    : brackets(node.items.map((item) => flowText(item, text, shape.item())));
}

function flowMember({ key, value }: Pair, text: string, shape: Shape): string {
  if (!isScalar(key)) return '';
  const inner = value === null ? '' : flowText(value, text, shape.member(String(key.value)));
  return trimBlankEnd(`${oneLine(key, text, 'key')}: ${inner}`);
}

/** A stretch of the file as it stands, with the lines after the first moved to the right or left. */
function movedText(source: string, by: number): readonly string[] {
  const [first = '', ...rest] = source.split('\n');
  return [
    first,
    ...rest.map((line) => {
      const own = measureIndent(line);
      // Blanks at the end of a line may belong to a quoted text.
      const text = line.slice(own);
      return /^[ \t]*$/.test(text) ? '' : ' '.repeat(Math.max(0, own + by)) + text;
    }),
  ];
}

/** Spaces that a line begins with. Other blanks of Unicode are text. */
function measureIndent(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0;
}

/** A line of comments between two nodes, or an empty one. */
type Between = {
  /** Column of the `#`; -1 for an empty line. */
  readonly column: number;
  /** From `#` on; empty for an empty line. */
  readonly text: string;
};

type Gap = {
  /** The spaces and the comment on the line of the node before. */
  readonly trailing: string;
  readonly lines: readonly Between[];
};

const COMMENT = /^[ \t]*(?:#[^\n]*)?$/;

/**
 * Reads the text between two nodes, in which only comments and empty lines can stand.
 *
 * @param offset where the text begins, for what is said when something else stands in it
 */
function readGap(text: string, offset: number): Gap {
  const [first = '', ...rest] = text.split('\n');
  if (!COMMENT.test(first)) throw new Uneditable('something other than a comment', offset);
  // The text after the last line break is the indentation of the next node.
  const last = rest.at(-1);
  const whole = last !== undefined && isBlank(last) ? rest.slice(0, -1) : rest;
  const lines = whole.map((line): Between => {
    if (!COMMENT.test(line)) throw new Uneditable('something other than a comment', offset);
    const column = line.indexOf('#');
    return { column, text: column < 0 ? '' : trimBlankEnd(line.slice(column)) };
  });
  return { trailing: trimBlankEnd(first), lines };
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
  /** Other keys stay behind these, in the order in which they were written. */
  readonly keys: readonly string[];
  readonly member: (key: string) => Shape;
  /** Elements, where it is a list. The order of a list is its own. */
  readonly item: () => Shape;
};

/** Everything unknown stays where it stands. */
const ANY: Shape = { keys: [], member: () => ANY, item: () => ANY };

/** Callsheet's own members that come after the fields; what says how a resource is put together comes before them. */
const LAST = ['lifecycle', 'unchecked'];
/** Sections beside settings and resources, in the order in which a stack is read. */
const OTHER_SECTIONS = ['environments', 'rules', 'moved', 'forget', 'bases'];

function getShape(root: FieldSchema, given: FieldSchema): Shape {
  const schema = dereference(root, given);
  const fields = Object.entries(schema.properties ?? {}).filter(([, field]) => !isRefused(field));
  return {
    keys: fields.map(([name]) => name),
    member: (key) => getShape(root, memberSchema(root, schema, key)),
    item: () => getShape(root, itemSchema(root, schema)),
  };
}

function resourceShape(kind: Kind): Shape {
  const schema = resourceSchema(kind);
  const shape = getShape(schema, schema);
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
  const block = getShape(schema, schema);
  return named(() => ({
    keys: [...block.keys, nested.key],
    member: (key) => (key === nested.key ? named(resource) : block.member(key)),
    item: () => ANY,
  }));
}

/** The fields of a kind under the names of the configuration, in the order in which they are written. */
export const resourceKeys = oncePer((kind: Kind) => resourceShape(kind).keys);

/** The order of a whole file of a stack: settings, then the sections in the order of their kinds. */
export function fileShape(kinds: readonly Kind[]): Shape {
  const settings = getShape(settingsSchema, settingsSchema);
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
  readKey: (item: T) => string,
): T[] {
  if (items.length < 2) return [...items];
  const ranks = rankKeys(keys);
  const rank = (item: T) => ranks.get(readKey(item)) ?? keys.length;
  return items.toSorted((a, b) => rank(a) - rank(b));
}

const rankKeys = oncePer(
  (keys: readonly string[]) => new Map(keys.map((key, index) => [key, index])),
);
