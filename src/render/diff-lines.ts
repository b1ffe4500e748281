import { cutLine, type Line, type Span, span, type Tone, wrap } from './terminal.ts';
import { type DiffRow, diffTexts, FOLDED, type Piece, WHOLE } from './text-diff.ts';
import { cutText } from './width.ts';
import { formatCount, formatNumber } from './wording.ts';

export type DiffLayout = {
  readonly width: number;
  readonly indent: number;
  /** What starts the rows that continue a broken line: `· `, or the sign again and `↪ `. */
  readonly continued: 'dot' | 'sign';
  readonly color: boolean;
  readonly verbose: boolean;
};

/** More than this is not read on a terminal; `--verbose` shows the rest. */
const MAX_ROWS = 60;
/** Rows that one line of a text may be broken into, for the same reason. */
const MAX_BREAKS = 12;

/**
 * Two texts as a folded comparison. Unchanged lines are cut to the width; changed ones are broken into
 * as many rows as they need, so that no change is ever hidden beyond the edge.
 */
export function diffLines(before: string, after: string, layout: DiffLayout): readonly Line[] {
  const rows = diffTexts(before, after, layout.verbose ? WHOLE : FOLDED);
  const shown = layout.verbose ? rows : rows.slice(0, MAX_ROWS);
  const hidden = rows
    .slice(shown.length)
    .filter(({ type }) => type === 'removed' || type === 'added');
  return [
    ...shown.flatMap((row) => rowLines(row, layout)),
    ...(hidden.length === 0
      ? []
      : [
          foldLine(
            `${formatCount(hidden.length, 'more changed line')}; --verbose shows them`,
            layout,
          ),
        ]),
  ];
}

/** A whole text, every line of it added or removed. */
export function wholeLines(
  text: string,
  type: 'added' | 'removed',
  layout: DiffLayout,
): readonly Line[] {
  return text
    .split('\n')
    .flatMap((line) => rowLines({ type, pieces: [{ text: line, differs: false }] }, layout));
}

function foldLine(words: string, { indent, width }: DiffLayout): Line {
  return [span(' '.repeat(indent)), span(cutText(`⋯ ${words}`, width - indent), 'dim')];
}

function rowLines(row: DiffRow, layout: DiffLayout): readonly Line[] {
  const margin = span(' '.repeat(layout.indent));
  if (row.type === 'fold') {
    return [foldLine(formatCount(row.lines, 'unchanged line'), layout)];
  }
  if (row.type === 'same') {
    const line = [margin, span(`  ${showTabs(row.text)}`, 'dim')];
    return layout.verbose
      ? wrap(line, layout.width, layout.indent + 2)
      : [cutLine(line, layout.width)];
  }
  const isAdded = row.type === 'added';
  const tone: Tone = isAdded ? 'added' : 'removed';
  const sign = isAdded ? '+ ' : '- ';
  // A break is not to be read as a line of the text, nor as an unchanged one.
  const again = layout.continued === 'dot' ? '· ' : `${sign}↪ `;
  const body = row.pieces.flatMap((piece) => pieceSpans(piece, row, layout.color));
  const lead: Line = [margin, span(sign, tone)];
  const lines = wrap([...lead, ...bound(body, layout)], layout.width, layout.indent + again.length);
  return lines.map((line, at) => (at === 0 ? line : [margin, span(again, tone), ...line.slice(1)]));
}

function pieceSpans({ text, differs }: Piece, row: DiffRow, color: boolean): readonly Span[] {
  if (row.type !== 'removed' && row.type !== 'added') return [];
  const isPartial = row.pieces.length > 1 && differs;
  if (!isPartial) return [span(showTabs(text), row.type)];
  const isAdded = row.type === 'added';
  const word = text.trimStart();
  const blanks = word === '' ? '' : text.slice(0, text.length - word.length);
  const shown = word === '' ? showBlanks(text) : showTabs(word);
  if (color) return [span(blanks, row.type), span(shown, isAdded ? 'added_word' : 'removed_word')];
  // As `git diff --word-diff` marks words where there is no colour.
  return [span(blanks + (isAdded ? `{+${shown}+}` : `[-${shown}-]`), row.type)];
}

function showTabs(text: string): string {
  return text.replaceAll('\t', '⇥   ');
}

function showBlanks(text: string): string {
  return text.replaceAll(' ', '␣').replaceAll('\t', '⇥');
}

/** Cuts what would take more rows than anybody reads. */
function bound(spans: readonly Span[], { width, indent, verbose }: DiffLayout): readonly Span[] {
  let room = verbose ? Infinity : (width - indent) * MAX_BREAKS;
  const kept: Span[] = [];
  let cut = 0;
  for (const part of spans) {
    if (part.text.length > room) {
      kept.push({ ...part, text: part.text.slice(0, room) });
      cut += part.text.length - room;
      room = 0;
    } else {
      kept.push(part);
      room -= part.text.length;
    }
  }
  return cut === 0
    ? kept
    : [...kept, span(` … ${formatNumber(cut)} more characters; --verbose shows them`, 'dim')];
}
