import type { Scalar } from 'yaml';
import { escapeUnits } from '../core/value.ts';
import { isBlank, trimBlankEnd, trimBlankStart } from './yaml.ts';

/** A value to be written, with everything decided but its layout. */
export type Tree =
  | { readonly type: 'text'; readonly text: string }
  /** A number, a truth value or null. */
  | { readonly type: 'bare'; readonly text: string }
  | { readonly type: 'list'; readonly items: readonly Tree[] }
  | {
      readonly type: 'map';
      readonly members: readonly (readonly [string, Tree])[];
      /** Never between braces, however short: its members are names of things. */
      readonly isOpen?: boolean;
    };

/** Columns that a line may take. A text that has no spaces may take more. */
export const WIDTH = 100;
/** More members than this are easier to read, and to review, on lines of their own. */
const MOST_IN_BRACES = 4;
/** One level of indentation. */
export const STEP = '  ';

/** A tree on one line, or undefined where a person would write it on several. */
function inline(tree: Tree): string | undefined {
  if (tree.type === 'text') return scalarText(tree.text, 'block');
  return isShort(tree) ? bracketed(tree, false) : undefined;
}

function isShort(tree: Tree): boolean {
  if (tree.type === 'list') return tree.items.every(isScalar);
  if (tree.type !== 'map') return true;
  const { members, isOpen = false } = tree;
  // A map in a map in a map is a puzzle; the forms, which have one member, are none.
  const isDeep = (value: Tree) =>
    value.type === 'map' && value.members.some(([, { type }]) => type === 'map');
  return (
    !isOpen &&
    members.length <= MOST_IN_BRACES &&
    members.every(([, value]) => !isDeep(value) && isShort(value))
  );
}

function isScalar({ type }: Tree): boolean {
  return type === 'text' || type === 'bare';
}

export function brackets(parts: readonly string[]): string {
  return `[${parts.join(', ')}]`;
}

export function braces(parts: readonly string[]): string {
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}

/** Lines behind a dash: the first of them begins on its line. */
export function behindDash(head: string, lines: readonly string[]): readonly string[] {
  const [first = '', ...rest] = lines;
  return [`${head} ${trimBlankStart(first)}`, ...rest];
}

/** Lines of a tree behind `head`, which is `key:` or `-` with its indentation. */
function layOutLines(tree: Tree, head: string, indent: string): readonly string[] {
  const text = inline(tree);
  const line = text === undefined ? undefined : `${head} ${text}`;
  if (tree.type === 'text') {
    const folded = () => foldedBlock(tree.text, indent, WIDTH);
    const isLong = (line?.length ?? 0) > WIDTH;
    const block = literalBlock(tree.text, indent) ?? (isLong ? folded() : undefined);
    const [first = '', ...rest] = block ?? [text ?? ''];
    return [`${head} ${first}`, ...rest];
  }
  const isEmpty =
    (tree.type === 'list' && tree.items.length === 0) ||
    (tree.type === 'map' && tree.members.length === 0);
  if (line !== undefined && (tree.type === 'bare' || isEmpty || line.length <= WIDTH))
    return [line];
  if (tree.type === 'list') {
    return [head, ...tree.items.flatMap((item) => elementLines(item, indent))];
  }
  return tree.type === 'map' ? [head, ...linesOfMembers(tree.members, indent)] : [];
}

/** A member of a map, on lines of its own. */
export function memberLines(key: string, value: Tree, indent: string): readonly string[] {
  return linesOfMembers([[key, value]], indent);
}

/** Returns the rest of the line behind a `key:` or dash with that indentation, and the lines below. */
export function valueLines(tree: Tree, indent: string): readonly string[] {
  return layOutLines(tree, '', indent + STEP);
}

/** A tree on one line whatever it takes, for a place between brackets or braces, or in a JSON file. */
export function bracketed(tree: Tree, json: boolean): string {
  const text = (one: string, context: 'flow' | 'key') =>
    json ? JSON.stringify(one) : scalarText(one, context);
  switch (tree.type) {
    case 'bare':
      return tree.text;
    case 'text':
      return text(tree.text, 'flow');
    case 'list':
      return brackets(tree.items.map((item) => bracketed(item, json)));
    case 'map':
      return braces(
        tree.members.map(([key, value]) => `${text(key, 'key')}: ${bracketed(value, json)}`),
      );
  }
}

/** An element of a list, on lines of its own. */
export function elementLines(item: Tree, indent: string): readonly string[] {
  const head = `${indent}-`;
  const [first = '', ...rest] = layOutLines(item, head, indent + STEP);
  return first === head && rest.length > 0 ? behindDash(head, rest) : [first, ...rest];
}

/** The members of a map, each on lines of its own. */
export function linesOfMembers(
  members: readonly (readonly [string, Tree])[],
  indent: string,
): readonly string[] {
  return members.flatMap(([key, value]) =>
    // A key of more than 1,024 characters would need a form of its own, which is hard to read.
    layOutLines(value, `${indent}${scalarText(key, 'key')}:`, indent + STEP),
  );
}

/** A place for a text: in the block style, between brackets or braces, or before a colon. */
export type ScalarContext = 'block' | 'flow' | 'key';

/** YAML 1.2 or 1.1 reads these as something else than a text. Other tools than Callsheet read stacks, too. */
const OTHER_TYPES: readonly RegExp[] = [
  /^(?:~|null|true|false|yes|no|on|off|y|n)$/i,
  /^[-+]?(?:0b[01_]+|0o[0-7_]+|0x[\da-f_]+)$/i,
  /^[-+]?(?:\d[\d_]*(?:\.[\d_]*)?|\.[\d_]*)(?:e[-+]?\d+)?$/i,
  /^[-+]?\.inf$|^\.nan$/i,
  // Minutes and hours, and dates.
  /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/,
  /^\d{4}-\d\d?-\d\d?(?:$|[Tt \t])/,
];

/** Characters that cannot stand for themselves, or that are invisible. */
const UNPRINTABLE =
  /[\p{Cc}\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]|\p{Surrogate}/gu;

/** Words apart by single spaces, as most texts and nearly all keys are: only the first pattern above fits any. */
const WORDS = /^[A-Za-z_][\w-]*(?: [\w-]+)*$/;
/** A key of more characters takes a form of its own. */
const LONGEST_PLAIN_KEY = 120;

/** Returns true if a text needs no quotes. */
export function isPlain(text: string, context: ScalarContext): boolean {
  if (text.length <= LONGEST_PLAIN_KEY && WORDS.test(text)) return !OTHER_TYPES[0]?.test(text);
  if (text === '' || text !== text.trim() || text.search(UNPRINTABLE) >= 0) return false;
  if (/^[\]?:,[{}#&*!|>'"%@`=]|^-(?![A-Za-z])|^\.\.\.|^<<$/.test(text)) return false;
  if (/: |:$| #|\t/.test(text)) return false;
  if (context !== 'block' && /[[\]{},]/.test(text)) return false;
  if (context === 'key' && text.length > LONGEST_PLAIN_KEY) return false;
  return !OTHER_TYPES.some((pattern) => pattern.test(text));
}

/** A text in quotes, on one line: in double ones unless those would need escapes. */
function quoted(text: string): string {
  const isSimple = text.search(UNPRINTABLE) < 0 && !text.includes("'");
  if (isSimple && /["\\]/.test(text)) return `'${text}'`;
  return JSON.stringify(text).replace(UNPRINTABLE, escapeUnits);
}

/** A text on one line, with quotes only where it would otherwise mean something else. */
export function scalarText(text: string, context: ScalarContext): string {
  return isPlain(text, context) ? text : quoted(text);
}

/** A text as a literal block, line for line; undefined where that would not give back every character. */
export function literalBlock(text: string, indent: string): readonly string[] | undefined {
  if (!text.includes('\n') || text.replaceAll('\n', '').search(UNPRINTABLE) >= 0) return undefined;
  const isClipped = text.endsWith('\n');
  const lines = (isClipped ? text.slice(0, -1) : text).split('\n');
  // A first line that begins with a space needs an indentation indicator; spaces at line ends get lost.
  if (lines[0] === '' || lines.at(-1) === '' || lines[0]?.startsWith(' ')) return undefined;
  if (lines.some((line) => / $/.test(line))) return undefined;
  return [isClipped ? '|' : '|-', ...lines.map((line) => (line === '' ? '' : indent + line))];
}

/** A text of one long line as a folded block; undefined where folding could not be undone. */
export function foldedBlock(
  text: string,
  indent: string,
  width: number,
): readonly string[] | undefined {
  if (/^ | {2}| $/.test(text) || text === '' || text.search(UNPRINTABLE) >= 0) return undefined;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return ['>-', ...[...lines, line].map((folded) => indent + folded)];
}

type ScalarPlace = {
  readonly isFlow: boolean;
  /** As it stands in the file, `|` and indentation and all. */
  readonly written: string;
  /** The indentation of a block below it. */
  readonly indent: string;
  readonly json: boolean;
};

/** A new text in the style of the old one, as far as that style can hold it. Lines end with a line feed. */
export function restyle(node: Scalar, text: string, place: ScalarPlace): string {
  if (place.json) return JSON.stringify(text);
  const context = place.isFlow ? 'flow' : 'block';
  switch (node.type) {
    case 'QUOTE_DOUBLE':
      return inDouble(text);
    case 'QUOTE_SINGLE':
      return isQuotable(text) ? `'${text.replaceAll("'", "''")}'` : inDouble(text);
    case 'BLOCK_LITERAL':
    case 'BLOCK_FOLDED':
      return inBlock(node, text, place) ?? scalarText(text, context);
    default: {
      if (isPlain(text, context)) return text;
      const block = place.isFlow ? undefined : literalBlock(text, place.indent);
      return block?.join('\n') ?? scalarText(text, context);
    }
  }
}

function isQuotable(text: string): boolean {
  return !text.includes('\n') && scalarText(`a${text}a`, 'block').search(/\\u|\\[bfnrt]/) < 0;
}

/** `scalarText` knows how to write what cannot be seen; a text that needs no quotes gets them here. */
function inDouble(text: string): string {
  const written = scalarText(text, 'flow');
  return written.startsWith('"') && written.length > 1 ? written : JSON.stringify(text);
}

const HEADER = /^([|>])([^\s#]*)([^\n]*)\n/;

/** A block with the header's comment and the indentation that it had. */
function inBlock(node: Scalar, text: string, { written, indent }: ScalarPlace): string | undefined {
  const [head = '', , , note = ''] = HEADER.exec(written.replaceAll('\r\n', '\n')) ?? [];
  const lines = written.replaceAll('\r\n', '\n').slice(head.length).split('\n');
  const own = /^ +/.exec(lines.find((line) => !isBlank(line)) ?? '')?.[0] ?? indent;
  const block =
    (node.type === 'BLOCK_FOLDED' ? foldAgain(text, own, lines) : undefined) ??
    literalBlock(text, own);
  if (block === undefined) return undefined;
  const [first = '', ...rest] = block;
  return [`${first}${trimBlankEnd(note)}`, ...rest, ''].join('\n');
}

/** Folds a text so that lines of which nothing changed stay as they are. */
function foldAgain(
  text: string,
  indent: string,
  lines: readonly string[],
): readonly string[] | undefined {
  const ends = text.endsWith('\n') ? '>' : '>-';
  let rest = text.replace(/\n$/, '');
  if (rest.includes('\n') || foldedBlock(rest, indent, 80) === undefined) return undefined;
  const kept = lines.filter((line) => !isBlank(line)).map((line) => line.slice(indent.length));
  const width = Math.max(80, ...kept.map((line) => indent.length + line.length));
  const before: string[] = [];
  for (const line of kept) {
    if (!rest.startsWith(`${line} `)) break;
    before.push(line);
    rest = rest.slice(line.length + 1);
  }
  const after: string[] = [];
  for (const line of kept.slice(before.length).toReversed()) {
    if (!rest.endsWith(` ${line}`)) break;
    after.unshift(line);
    rest = rest.slice(0, -line.length - 1);
  }
  const [, ...middle] = foldedBlock(rest, indent, width) ?? [];
  return [ends, ...before.map((line) => indent + line), ...middle, ...after.map((l) => indent + l)];
}
