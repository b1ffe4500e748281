import { unreachable } from '../core/errors.ts';
import type { Json } from '../core/value.ts';
import type { Piece } from './prose/prose-diff.ts';
import { type CalloutRow, type ProseRow, viewProse } from './prose-view.ts';
import { cutLine, type Line, type Span, span, type Tone, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { cutText, padText, widestOf } from './width.ts';
import { formatCount, formatNumber } from './wording.ts';

export type ProseLayout = {
  readonly width: number;
  readonly indent: number;
  readonly verbose: boolean;
};

/** What is said on the field's own line, and the text below it. */
type ProseLines = { readonly summary: string | null; readonly lines: readonly Line[] };

/** More rows than this are not read on a terminal; `--verbose` shows the rest. */
const MAX_ROWS = 60;
/** Lines of the terminal that one row may take, for the same reason. */
const MAX_BREAKS = 12;
/** A row that goes on is not to be read as a paragraph, nor as an unchanged one. */
const AGAIN = '· ';

type Changed = Exclude<ProseRow, { readonly type: 'fold' | 'same' }>;

const SIGNS: { readonly [type in Changed['type']]: readonly [sign: string, tone: Tone] } = {
  edited: ['~ ', 'changed'],
  removed: ['- ', 'removed'],
  added: ['+ ', 'added'],
  moved: ['> ', 'adopted'],
  left: ['< ', 'adopted'],
};

/**
 * Two long values as a folded comparison. Unchanged paragraphs are cut to the width; changed ones are broken into
 * as many lines as they need, so that no change is ever hidden beyond the edge.
 */
export function proseLines(before: Json, after: Json, layout: ProseLayout): ProseLines {
  const { summary, callouts, moreCallouts, rows } = viewProse(before, after, layout.verbose);
  const shown = layout.verbose ? rows : rows.slice(0, MAX_ROWS);
  const hidden = rows.slice(shown.length).filter(({ type }) => type !== 'same' && type !== 'fold');
  const more = (count: number, what: string) =>
    count === 0 ? [] : [foldLine(`${formatCount(count, what)}; --verbose shows them`, layout)];
  return {
    summary,
    lines: [
      ...calloutLines(callouts, layout),
      ...more(moreCallouts, 'more such change'),
      ...shown.flatMap((row) => rowLines(row, layout)),
      ...more(hidden.length, 'more changed paragraph'),
    ],
  };
}

/** A whole text, every line of it added or removed. */
export function wholeLines(
  text: string,
  type: 'added' | 'removed',
  layout: ProseLayout,
): readonly Line[] {
  return text
    .split('\n')
    .flatMap((line) =>
      changedLines({ type, note: null, pieces: [{ text: line, change: type }] }, layout),
    );
}

/** `number  30 → 45  under Hours, line 12`, in columns. */
function calloutLines(callouts: readonly CalloutRow[], layout: ProseLayout): readonly Line[] {
  const labels = widestOf(callouts.map(({ label }) => label));
  return callouts.flatMap(({ label, before, after, place }) => {
    const line: Line = [
      span(' '.repeat(layout.indent)),
      span(`${padText(label, labels)}  `, 'dim'),
      ...turnSpans(before, after),
      span(`  ${sanitiseLine(place)}`, 'dim'),
    ];
    return wrap(line, layout.width, layout.indent + labels + 2);
  });
}

function turnSpans(before: string | null, after: string | null): readonly Span[] {
  const side = (text: string, tone: Tone) => span(short(text), tone);
  if (before === null) return after === null ? [] : [span('new: ', 'dim'), side(after, 'added')];
  if (after === null) return [span('gone: ', 'dim'), side(before, 'removed')];
  if (before === after) return [span('moved: ', 'dim'), side(after, 'plain')];
  return [side(before, 'removed'), span(' → ', 'dim'), side(after, 'added')];
}

function short(text: string): string {
  return cutText(sanitiseLine(text), 60);
}

function foldLine(words: string, { indent, width }: ProseLayout): Line {
  return [span(' '.repeat(indent)), span(cutText(`⋯ ${words}`, width - indent), 'dim')];
}

function rowLines(row: ProseRow, layout: ProseLayout): readonly Line[] {
  switch (row.type) {
    case 'fold':
      return [foldLine(row.words, layout)];
    case 'same': {
      const margin = ' '.repeat(layout.indent + 2);
      const line = [span(margin), span(showTabs(row.text), 'dim')];
      return layout.verbose
        ? wrap(line, layout.width, layout.indent + 2)
        : [cutLine(line, layout.width)];
    }
    case 'edited':
    case 'removed':
    case 'added':
    case 'moved':
    case 'left':
      return changedLines(row, layout);
    default:
      return unreachable(row);
  }
}

function changedLines(row: Changed, layout: ProseLayout): readonly Line[] {
  const [sign, tone] = SIGNS[row.type];
  const margin = span(' '.repeat(layout.indent));
  const note = row.note === null ? [] : [span(`(${row.note}) `, 'dim')];
  const body = row.pieces.flatMap((piece) => pieceSpans(piece, row));
  const line = [margin, span(sign, tone), ...note, ...bound(body, layout)];
  const lines = wrap(line, layout.width, layout.indent + AGAIN.length);
  return lines.map((one, at) => (at === 0 ? one : [margin, span(AGAIN, tone), ...one.slice(1)]));
}

const TONES = { same: 'plain', removed: 'removed_word', added: 'added_word' } as const;

function pieceSpans({ text, change }: Piece, { type }: Changed): readonly Span[] {
  if (type === 'removed' || type === 'added') return [span(showTabs(text), type)];
  if (change === 'same') return [span(showTabs(text), type === 'left' ? 'dim' : 'plain')];
  const word = text.trimStart();
  const blanks = span(text.slice(0, text.length - word.length));
  // As `git diff --word-diff` marks words. Also in colour: who copies a line, or does not see red, reads it right.
  const marked = change === 'added' ? `{+${word}+}` : `[-${word}-]`;
  return [blanks, span(marked, TONES[change])];
}

function showTabs(text: string): string {
  return text.replaceAll('\t', '⇥   ');
}
/** Cuts what would take more rows than anybody reads. */
function bound(spans: readonly Span[], { width, indent, verbose }: ProseLayout): readonly Span[] {
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
