import type { Scalar } from 'yaml';
import { foldedBlock, isPlain, literalBlock, scalarText } from '../yaml-scalar.ts';

/** Where a scalar stands and how it was written. */
type ScalarPlace = {
  readonly isFlow: boolean;
  /** As it stands in the file, `|` and indentation and all. */
  readonly written: string;
  /** What a block below it would be indented by. */
  readonly indent: string;
  readonly json: boolean;
};

/** A new text in the style of the old one, as far as that style can hold it. Lines end with a line feed. */
export function restyle(node: Scalar, text: string, place: ScalarPlace): string {
  if (place.json) return JSON.stringify(text);
  const spot = place.isFlow ? 'flow' : 'block';
  switch (node.type) {
    case 'QUOTE_DOUBLE':
      return inDouble(text);
    case 'QUOTE_SINGLE':
      return isQuotable(text) ? `'${text.replaceAll("'", "''")}'` : inDouble(text);
    case 'BLOCK_LITERAL':
    case 'BLOCK_FOLDED':
      return inBlock(node, text, place) ?? scalarText(text, spot);
    default: {
      if (isPlain(text, spot)) return text;
      const block = place.isFlow ? undefined : literalBlock(text, place.indent);
      return block?.join('\n') ?? scalarText(text, spot);
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
  const own = /^ +/.exec(lines.find((line) => line.trim() !== '') ?? '')?.[0] ?? indent;
  const block =
    (node.type === 'BLOCK_FOLDED' ? foldAgain(text, own, lines) : undefined) ??
    literalBlock(text, own);
  if (block === undefined) return undefined;
  const [first = '', ...rest] = block;
  return [`${first}${note.trimEnd()}`, ...rest, ''].join('\n');
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
  const kept = lines.filter((line) => line.trim() !== '').map((line) => line.slice(indent.length));
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
