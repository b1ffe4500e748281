import {
  Composer,
  type CST,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { credentialsIn, isSecretName } from '../core/credentials.ts';
import { formatPosition } from '../core/diagnostics.ts';
import type { JsonScalar } from '../core/value.ts';
import type { Problem, Report } from './diagnostics.ts';
import { type Folder, fileMessage, isUnreadable } from './folder.ts';
import {
  getStart,
  lineAt,
  lineRange,
  listChildren,
  type MapNode,
  type Member,
  type ScalarNode,
  type Source,
  type SourceRange,
  type SyntaxNode,
  toPosition,
} from './source.ts';

/** How deep maps and lists may stand in each other. The platform's documents need about ten levels. */
const MAX_DEPTH = 100;
/** Syntax errors cascade: what follows the first few of a file is mostly their echo. */
const MAX_SYNTAX_ERRORS = 5;

export type ParsedYaml = {
  /** Undefined where the file cannot be used. */
  readonly root: SyntaxNode | undefined;
  readonly problems: readonly Problem[];
};

type Tokens = {
  readonly tokens: readonly CST.Token[];
  /** Offset where the nesting became too deep; reading stopped there. */
  readonly tooDeep?: number;
};

/** Reads tokens one lexeme at a time, so that a hostile nesting costs no more than its first levels. */
function readTokens(text: string): Tokens {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    // The stack also holds the document and the scalar at hand.
    if (parser.stack.length > MAX_DEPTH + 2) return { tokens, tooDeep: parser.offset };
  }
  for (const token of parser.end()) tokens.push(token);
  return { tokens };
}

/** The lexer's marks: begin of a document, end of a flow map, begin of a scalar. */
const [BEGIN, FLOW_END, SCALAR] = ['\u0002', '\u0018', '\u001f'];

/** Returns the offsets of comments, as the lexer distinguishes them from a `#` in a text. */
export function commentsIn(text: string): readonly number[] {
  const starts: number[] = [];
  let [at, before] = [0, ''];
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith('#') && before !== SCALAR) starts.push(at);
    if (![BEGIN, FLOW_END, SCALAR].includes(lexeme)) at += lexeme.length;
    before = lexeme;
  }
  return starts;
}

function compose(tokens: readonly CST.Token[], length: number): Document.Parsed[] {
  // Repeated keys are looked for when the nodes are converted: `yaml` compares every pair of keys.
  const composer = new Composer<ParsedNode>({ uniqueKeys: false, version: '1.2' });
  return [...composer.compose(tokens, true, length)].filter(
    (document): document is Document.Parsed => 'contents' in document,
  );
}

function syntaxProblems(document: Document.Parsed, source: Source): Problem[] {
  const lines = new Set<number>();
  const problems: Problem[] = [];
  for (const error of [...document.errors, ...document.warnings]) {
    const start = Math.min(error.pos[0], source.text.length);
    // One problem per line: the second is nearly always the first seen from another side.
    const line = lineAt(source, start);
    if (lines.has(line)) continue;
    lines.add(line);
    const range: SourceRange = { source, start, end: Math.max(start, error.pos[1]) };
    const { start: from, end } = lineRange(source, line) ?? range;
    const text = source.text.slice(from, end);
    problems.push({ ...syntaxMessage(error.code, error.message, text), range });
  }
  return problems.slice(0, MAX_SYNTAX_ERRORS);
}

/** The texts that stand in YAML; none of what cannot be parsed. */
export function textsInYaml(text: string): readonly string[] {
  const { root } = parseYaml({ file: '', text });
  const textsIn = (node: SyntaxNode): readonly string[] => [
    ...(node.type === 'scalar' && typeof node.value === 'string' ? [node.value] : []),
    ...listChildren(node).flatMap(textsIn),
  ];
  return root === undefined ? [] : textsIn(root);
}

/** Parses one YAML 1.2 document and keeps the range of every node. */
export function parseYaml(source: Source): ParsedYaml {
  const { tokens, tooDeep } = readTokens(source.text);
  if (tooDeep !== undefined) {
    const range = { source, start: tooDeep, end: tooDeep };
    const message = `maps and lists are nested more than ${MAX_DEPTH} levels deep`;
    return { root: undefined, problems: [{ rule: 'yaml/depth', message, range }] };
  }
  const [document, second] = compose(tokens, source.text.length);
  if (document === undefined) return { root: undefined, problems: [] };
  const problems = syntaxProblems(document, source);
  if (document.errors.length > 0) return { root: undefined, problems };
  if (second !== undefined) {
    const start = second.range[0];
    problems.push({
      rule: 'yaml/documents',
      message: 'the file holds more than one YAML document',
      hint: 'Put each document into a file of its own',
      range: { source, start, end: start },
    });
    return { root: undefined, problems };
  }
  if (document.directives?.yaml.version !== '1.2') {
    problems.push({
      rule: 'yaml/version',
      message: 'the file asks for another version of YAML than 1.2',
      hint: 'Remove the %YAML line',
      range: getStart(source),
    });
    return { root: undefined, problems };
  }
  const converted = toWritten(document.contents, source, 0);
  return { root: converted.root, problems: [...problems, ...converted.problems] };
}

/** Nodes that the aliases of one file may add. A few nested aliases are enough for billions. */
const MAX_ALIASED_NODES = 100_000;

type Conversion = {
  readonly source: Source;
  /** The offset in the source at which the parsed text begins. */
  readonly base: number;
  readonly anchors: Map<string, SyntaxNode | 'open'>;
  readonly problems: Problem[];
  aliased: number;
  exhausted: boolean;
};

function rangeOfNode(node: Node, { source, base }: Conversion): SourceRange {
  const [start, end] = node.range ?? [0, 0, 0];
  return { source, start: base + start, end: base + end };
}

function scalar(range: SourceRange, value: JsonScalar, text: string, empty: boolean): ScalarNode {
  return { type: 'scalar', range, value, text, empty };
}

const LONG = 200;

/**
 * The parser gives a block of text as a chain of its lines. Looking through it makes it one string, before
 * thousands of chains are kept that would each be many small objects.
 */
function joinLines(text: string): void {
  text.includes('\0');
}

function convertScalar(node: Scalar, into: Conversion, range: SourceRange): SyntaxNode {
  const { value } = node;
  const text = node.source ?? String(value);
  if (value === null || value === undefined) return scalar(range, null, text, node.source === '');
  if (typeof value === 'string') {
    if (value.length > LONG) joinLines(value);
    return scalar(range, value, value, false);
  }
  if (typeof value === 'boolean') return scalar(range, value, text, false);
  if (typeof value === 'number' && Number.isFinite(value)) {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      into.problems.push({
        rule: 'yaml/number',
        message: 'the number has too many digits',
        hint: 'Put it in quotes if it is an identifier',
        range,
      });
    }
    return scalar(range, value, text, false);
  }
  into.problems.push({
    rule: 'yaml/number',
    message: 'infinity and not-a-number cannot be sent to the platform',
    range,
  });
  return scalar(range, null, text, false);
}

/** Size and height of a converted node; stops counting once it is beyond what aliases may add. */
function measure(
  node: SyntaxNode,
  limit: number,
): { readonly size: number; readonly height: number } {
  let size = 1;
  let height = 0;
  for (const child of listChildren(node)) {
    if (size > limit) break;
    const inner = measure(child, limit - size);
    size += inner.size;
    height = Math.max(height, inner.height + 1);
  }
  return { size, height };
}

function convertAlias(
  name: string,
  into: Conversion,
  range: SourceRange,
  depth: number,
): SyntaxNode {
  const nothing = scalar(range, null, '', false);
  if (into.exhausted) return nothing;
  const target = into.anchors.get(name);
  if (target === undefined || target === 'open') {
    const message =
      target === 'open'
        ? `the alias *${name} is inside the value that it refers to`
        : `the alias *${name} has no anchor &${name} before it`;
    into.problems.push({ rule: 'yaml/alias', message, range });
    return nothing;
  }
  const { size, height } = measure(target, MAX_ALIASED_NODES - into.aliased);
  into.aliased += size;
  // Aliases can make a document deeper than it is written.
  if (into.aliased > MAX_ALIASED_NODES || depth + height > MAX_DEPTH) {
    into.exhausted = true;
    into.problems.push({
      rule: 'yaml/alias',
      message: 'the aliases of the file repeat too many values',
      hint: `At most ${MAX_ALIASED_NODES} values may come from aliases`,
      range,
    });
    return nothing;
  }
  return { ...target, range, origin: target.origin ?? target.range };
}

function keyText(pair: Pair): string | undefined {
  const { key } = pair;
  if (!isScalar(key) || key.value === null) return undefined;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

function convertPair(
  pair: Pair,
  into: Conversion,
  depth: number,
  holder: SourceRange,
): Member | undefined {
  const keyPlace =
    pair.key !== null && typeof pair.key === 'object'
      ? rangeOfNode(pair.key as Node, into)
      : holder;
  const key = keyText(pair);
  if (key === undefined) {
    into.problems.push({
      rule: 'yaml/key',
      message: 'a key must be plain text',
      hint: 'Put {{…}} and other texts with brackets in quotes',
      range: keyPlace,
    });
    return undefined;
  }
  if (key === '<<') {
    into.problems.push({
      rule: 'yaml/merge-key',
      message: 'YAML 1.2 has no merge keys',
      hint: 'Use base: to merge with a base, or an alias for the whole value',
      range: keyPlace,
    });
    return undefined;
  }
  const value =
    pair.value === null
      ? scalar(keyPlace, null, '', true)
      : convert(pair.value as Node, into, depth + 1);
  // An empty value has no text to point at, so it is shown at its key.
  const placed = value.type === 'scalar' && value.empty ? { ...value, range: keyPlace } : value;
  return { key, keyPlace, value: placed };
}

function convertMap(node: YAMLMap, into: Conversion, range: SourceRange, depth: number): MapNode {
  const members = new Map<string, Member>();
  for (const pair of node.items) {
    const member = convertPair(pair, into, depth, range);
    if (member === undefined) continue;
    const first = members.get(member.key);
    if (first === undefined) {
      members.set(member.key, member);
      continue;
    }
    into.problems.push({
      rule: 'yaml/duplicate-key',
      message: `the key "${member.key}" is twice in one map, first at ${formatPosition(toPosition(first.keyPlace))}`,
      hint: 'Remove one of them',
      range: member.keyPlace,
    });
  }
  return { type: 'map', range, members };
}

function convertList(
  node: YAMLSeq,
  into: Conversion,
  range: SourceRange,
  depth: number,
): SyntaxNode {
  return {
    type: 'list',
    range,
    items: node.items.map((item) => convert(item as Node, into, depth + 1)),
  };
}

function convert(node: Node, into: Conversion, depth: number): SyntaxNode {
  const range = rangeOfNode(node, into);
  if (isAlias(node)) return convertAlias(node.source, into, range, depth);
  const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
  if (anchor !== undefined) {
    into.anchors.set(anchor, 'open');
  }
  const written = isMap(node)
    ? convertMap(node, into, range, depth)
    : isSeq(node)
      ? convertList(node, into, range, depth)
      : isScalar(node)
        ? convertScalar(node, into, range)
        : scalar(range, null, '', true);
  if (anchor !== undefined) into.anchors.set(anchor, written);
  return written;
}

/** The nodes of a parsed document as plain data with ranges. Aliases are followed, within bounds. */
function toWritten(
  contents: Node | null,
  source: Source,
  base: number,
): { readonly root: SyntaxNode | undefined; readonly problems: readonly Problem[] } {
  if (contents === null) {
    const place = { source, start: 0, end: 0 };
    return { root: scalar(place, null, '', true), problems: [] };
  }
  const into: Conversion = {
    source,
    base,
    anchors: new Map(),
    problems: [],
    aliased: 0,
    exhausted: false,
  };
  const root = convert(contents, into, 0);
  return { root: into.exhausted ? undefined : root, problems: into.problems };
}

type Words = Pick<Problem, 'rule' | 'message' | 'hint' | 'severity'>;

/**
 * Our texts for the parser's codes. The parser's own texts can quote the file, and with it a secret, so they are only
 * used where they cannot.
 */
const WORDS: Readonly<Partial<Record<ErrorCode, Omit<Words, 'rule'>>>> = {
  BAD_ALIAS: { message: 'an anchor or alias has no usable name' },
  ALIAS_PROPS: { message: 'an alias can have no anchor or tag of its own' },
  BAD_DQ_ESCAPE: {
    message: 'a text in double quotes has an escape that YAML does not know',
    hint: 'Use single quotes, or write the backslash twice',
  },
  BAD_SCALAR_START: {
    message: 'a text begins with a character that YAML reserves',
    hint: 'Put the text in quotes',
  },
  BAD_DIRECTIVE: { message: 'a line that begins with % is not a directive that YAML knows' },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a line has a second `key: value`',
    hint: 'Put the text in quotes, or start a new line',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'a key runs over several lines',
    hint: 'Check that the line before has its colon and that the indentation is right',
  },
  TAB_AS_INDENT: {
    message: 'a tab is used as indentation',
    hint: 'Indent with spaces',
  },
  KEY_OVER_1024_CHARS: { message: 'a key has more than 1024 characters' },
  RESOURCE_EXHAUSTION: { message: 'the nesting is too deep' },
};

function wordsFor(code: ErrorCode, raw: string): Omit<Words, 'rule'> {
  if (code === 'UNEXPECTED_TOKEN') {
    return {
      message: 'YAML does not allow this here',
      hint: 'Check quotes, brackets and indentation',
    };
  }
  if (raw.startsWith('Missing closing')) {
    return { message: 'a quoted text has no closing quote' };
  }
  if (/^Flow (?:map|sequence) in block/.test(raw)) {
    return { message: 'a { or [ is not closed, or its content is not indented' };
  }
  if (raw.startsWith('Implicit map keys need')) {
    return { message: 'a line holds neither `key: value` nor a list item' };
  }
  const known = WORDS[code];
  if (known !== undefined) return known;
  return { message: raw.charAt(0).toLowerCase() + raw.slice(1) };
}

/** `greeting: {{name}} …`, which YAML reads as a map in a map. */
const TOKEN_FIRST = /(?:[:-][ \t]+|^[ \t]*)\{\{/;
const TOKEN_HINT = 'A text that begins with {{ needs quotes around all of it';

/** The rule and the words for an error of the YAML parser in a line. */
function syntaxMessage(code: ErrorCode, raw: string, line: string): Words {
  if (code === 'TAG_RESOLVE_FAILED' || code === 'BAD_COLLECTION_TYPE') {
    return {
      rule: 'yaml/tag',
      message: 'YAML tags are not supported',
      hint: 'Value forms are objects with one $ key, such as { $file: prompts/name.md }',
    };
  }
  const hint = TOKEN_FIRST.test(line) ? { hint: TOKEN_HINT } : {};
  return { rule: 'yaml/syntax', ...wordsFor(code, raw), ...hint };
}

/** A YAML file of the stack. */
export type StackFile = {
  /** Relative to the stack folder. */
  readonly file: string;
  /** Undefined where it could not be read. */
  readonly source: Source | undefined;
  /** Undefined where it could not be parsed. */
  readonly root: SyntaxNode | undefined;
  /** True if the file's contents are not known, or not all of them. */
  readonly broken: boolean;
};

/**
 * Reads one YAML file and reports what is wrong with it as a file. `names` are the fields that hold
 * secrets: where a file is malformed, only they tell what its frames must not show.
 */
export function readStackFile(
  folder: Folder,
  file: string,
  names: readonly string[],
  report: Report,
): StackFile {
  const read = folder.text(file);
  if (isUnreadable(read)) {
    const words = fileMessage(file, read);
    const range = getStart({ file, text: '' });
    report.add({ ...words, message: `the stack ${words.message}`, range });
    return { file, source: undefined, root: undefined, broken: true };
  }
  const { source, bom } = read;
  if (bom) {
    report.add({
      severity: 'warning',
      rule: 'yaml/bom',
      message: `${file} begins with a byte order mark`,
      hint: 'Save the file without one',
      range: getStart(source),
    });
  }
  const { root, problems } = parseYaml(source);
  for (const problem of problems) report.add(problem);
  if (problems.length > 0) redactSecretFields(source, names, report);
  return { file, source, root, broken: root === undefined };
}

/** Hides every value of a file, whatever its key. */
export function redactValues(source: Source, report: Report): void {
  maskAfter(() => true, source, report);
}

/**
 * Hides what follows the names of secret fields in a file that could not be read as it was meant. Where
 * a file can be read, the fields themselves say what to hide.
 */
export function redactSecretFields(source: Source, names: readonly string[], report: Report): void {
  const known = new Set(names);
  // The name of a header stands after `key`, and is none.
  const isMeant = (key: string) => known.has(key) || (key !== 'key' && isSecretName(key));
  maskAfter(isMeant, source, report);
  for (const credential of new Set(credentialsIn(source.text))) {
    let start = source.text.indexOf(credential);
    for (; start >= 0; start = source.text.indexOf(credential, start + credential.length))
      report.mask({ source, start, end: start + credential.length });
  }
}

/*
 * White space in YAML is the space, the tab and the line break. What `trim` takes away besides, such as a no-break
 * space, is text there: it may be all that a value is.
 */

/** The blanks that a line begins with. */
export function measureIndent(line: string): number {
  return /^[ \t]*/.exec(line)?.[0].length ?? 0;
}

export function isBlank(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text);
}

export function trimBlankStart(text: string): string {
  return text.replace(/^[ \t\r\n]+/, '');
}

export function trimBlankEnd(text: string): string {
  return text.replace(/(?<![ \t\r\n])[ \t\r\n]+$/, '');
}

const KEY = /(?<![\w$.-])([\w$.-]+)["']?[ \t]*:[ \t]*/g;

/** Returns the start of such a key's value on a line. A `$secret` only names where a secret is. */
function valueStart(isMeant: (key: string) => boolean, line: string): number | undefined {
  for (const match of line.matchAll(KEY)) {
    const start = match.index + match[0].length;
    if (!isMeant(match[1] ?? '')) continue;
    if (!/^\{\s*\$secret\s*:/.test(line.slice(start))) return start;
  }
  return undefined;
}

/** Hides what stands after a key of these names: the rest of its line and the deeper lines that follow. */
function maskAfter(isMeant: (key: string) => boolean, source: Source, report: Report): void {
  let lineStart = 0;
  // The indentation of the key whose value goes on, where it does.
  let within: number | undefined;
  for (const line of source.text.split('\n')) {
    const end = lineStart + line.length;
    const indent = measureIndent(line);
    if (within !== undefined && indent <= within && !isBlank(line)) within = undefined;
    const from = within === undefined ? valueStart(isMeant, line) : indent;
    if (from !== undefined) {
      within ??= indent;
      if (from < line.length) report.mask({ source, start: lineStart + from, end });
    }
    lineStart = end + 1;
  }
}
