import { unreachable } from '../core/errors.ts';
import type { Json } from '../core/value.ts';
import { escapeText, fence, inlineCode } from './markdown-text.ts';
import type { Piece } from './prose/prose-diff.ts';
import { type CalloutRow, type ProseRow, viewProse } from './prose-view.ts';
import { cutText } from './width.ts';
import { formatCount, formatNumber } from './wording.ts';

/** More than this is not read in a comment. */
const MAX_ROWS = 60;
/** Characters of one row, for the same reason. */
const MAX_LENGTH = 2000;
/** Characters of a line of code that a pull request shows without scrolling sideways. */
const WIDTH = 100;

/**
 * Two texts as a quotation that is as wide as the page, what was removed struck through and what was added
 * underlined: as code, each paragraph of a prompt would be one line to scroll along.
 */
export function proseMarkdown(title: string, before: Json, after: Json): readonly string[] {
  const { summary, callouts, moreCallouts, rows } = viewProse(before, after, false);
  const shown = rows.slice(0, MAX_ROWS).map((row) => `> ${rowText(row)}`);
  const calls = [
    ...callouts.map(calloutItem),
    ...(moreCallouts > 0 ? [`- and ${formatCount(moreCallouts, 'more such change')}`] : []),
  ];
  return [
    '',
    `${title}${summary === null ? '' : `: ${escapeText(summary)}`}`,
    ...(calls.length > 0 ? ['', ...calls] : []),
    '',
    [...shown, ...moreRows(rows).map((text) => `> <sub>${text}</sub>`)].join('\n>\n'),
  ];
}

/** Two lists or objects as a fenced diff, line by line. */
export function listMarkdown(title: string, before: Json, after: Json): readonly string[] {
  const { rows } = viewProse(before, after, false);
  const lines = [...rows.slice(0, MAX_ROWS).map(rowLine), ...moreRows(rows)];
  return ['', title, '', fence(lines, 'diff')];
}

function moreRows(rows: readonly ProseRow[]): readonly string[] {
  const hidden = rows.slice(MAX_ROWS).filter(({ type }) => type !== 'same' && type !== 'fold');
  return hidden.length === 0 ? [] : [`⋯ ${formatCount(hidden.length, 'more changed paragraph')}`];
}

function calloutItem({ label, before, after, place }: CalloutRow): string {
  const [old, fresh] = [before, after].map((text) =>
    text === null ? undefined : inlineCode(cutText(text, 60)),
  );
  const words =
    old === undefined
      ? `new: ${fresh}`
      : fresh === undefined
        ? `gone: ${old}`
        : before === after
          ? `moved: ${fresh}`
          : `${old} → ${fresh}`;
  return `- ${label} ${words}, ${escapeText(place)}`;
}

const SIGNS = { edited: '~', removed: '-', added: '+', moved: '>', left: '<' } as const;

function rowText(row: ProseRow): string {
  switch (row.type) {
    case 'fold':
      return `<sub>⋯ ${escapeText(row.words)}</sub>`;
    case 'same':
      return indented(cutText(row.text, 2 * WIDTH));
    case 'edited':
    case 'removed':
    case 'added':
    case 'moved':
    case 'left': {
      const note = row.note === null ? '' : `<sub>(${escapeText(row.note)})</sub> `;
      return `${inlineCode(SIGNS[row.type])} ${note}${piecesText(row.pieces)}`;
    }
    default:
      return unreachable(row);
  }
}

/** Four blanks at the beginning of a paragraph would make code of it. */
function indented(text: string): string {
  const bare = text.trimStart();
  return '&nbsp;'.repeat(text.length - bare.length) + escapeText(bare);
}

const MARKS = {
  same: ['', ''],
  removed: ['<del>', '</del>'],
  added: ['<ins>', '</ins>'],
} as const;

function piecesText(pieces: readonly Piece[]): string {
  let room = MAX_LENGTH;
  const shown = pieces.map(({ text, change }, at) => {
    const kept = text.slice(0, room);
    room -= kept.length;
    const word = kept.trimStart();
    const [start, end] = MARKS[change];
    return word === ''
      ? kept
      : `${kept.slice(0, kept.length - word.length)}${start}${escapeText(word, pieces[at + 1]?.text)}${end}`;
  });
  const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
  const cut = length - MAX_LENGTH;
  return shown.join('') + (cut > 0 ? ` <sub>… ${formatNumber(cut)} more characters</sub>` : '');
}

/** GitHub and GitLab colour a line of a diff by its first character. */
function rowLine(row: ProseRow): string {
  switch (row.type) {
    case 'fold':
      return `@@ ${row.words} @@`;
    case 'same':
      return cutText(`  ${row.text}`, WIDTH);
    case 'removed':
      return cutText(`- ${textOf(row.pieces)}`, MAX_LENGTH);
    case 'added':
      return cutText(`+ ${textOf(row.pieces)}`, MAX_LENGTH);
    case 'edited':
    case 'moved':
    case 'left':
      return cutText(
        `! ${row.note === null ? '' : `(${row.note}) `}${textOf(row.pieces)}`,
        MAX_LENGTH,
      );
    default:
      return unreachable(row);
  }
}

function textOf(pieces: readonly Piece[]): string {
  if (pieces.every(({ change }) => change === pieces[0]?.change)) {
    return pieces.map(({ text }) => text).join('');
  }
  const marked = pieces.map(({ text, change }) => {
    if (change === 'same') return text;
    const word = text.trimStart();
    const blanks = text.slice(0, text.length - word.length);
    return blanks + (change === 'added' ? `{+${word}+}` : `[-${word}-]`);
  });
  return marked.join('');
}
