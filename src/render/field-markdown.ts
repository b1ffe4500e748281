import { unreachable } from '../core/errors.ts';
import type { Callout } from '../core/plan-document.ts';
import type { Json } from '../core/value.ts';
import type { FieldView } from './fields.ts';
import { escapeText, fence, inlineCode } from './markdown-text.ts';
import type { Piece } from './prose/blocks.ts';
import type { CalloutRow } from './prose/callout-words.ts';
import { cutPieces, markedWords, PROSE_SIGNS, type ProseRow, viewProse } from './prose/view.ts';
import { cutText, textWidth } from './terminal.ts';
import {
  areVersions,
  blockValue,
  formatExtent,
  inlineMember,
  inlineValue,
  isMultiline,
} from './value-text.ts';
import { formatCount } from './wording.ts';

/** Fields: those of one line as a fenced diff, the longer ones below it; nothing where there are none. */
export function fieldsMarkdown(views: readonly FieldView[]): readonly string[] {
  const texts = views.map(longField);
  const lines = views.filter((_, at) => texts[at] === undefined).flatMap(fieldRows);
  return [
    ...(lines.length > 0 ? ['', fence(lines, 'diff')] : []),
    ...texts.flatMap((text) => text ?? []),
  ];
}

/** A field whose values stand below the others; undefined for one that a line has room for. */
function longField({ path, sign, content, remark }: FieldView): readonly string[] | undefined {
  if (content.type === 'one') {
    const { value } = content;
    return isMultiline(value) || textWidth(inlineValue(value)) > 2 * WIDTH
      ? wholeField(path, sign === '-' ? '-' : '+', value, remark)
      : undefined;
  }
  if (content.type !== 'both' && content.type !== 'conflict') return undefined;
  const isConflict = content.type === 'conflict';
  const [before, after] = isConflict
    ? [content.live, content.wanted]
    : [content.before, content.after];
  if (before === null || after === null) return undefined;
  const isShort = isInline(before, path) && isInline(after, path);
  // Of a conflict the value last written is shown, too.
  if (isShort && (isConflict || !areVersions(before, after))) return undefined;
  const told = isConflict
    ? ' (conflict: from the live value to the configured value)'
    : remark === null
      ? ''
      : ` (${escapeText(remark)})`;
  const title = `<b>${inlineCode(path)}</b>${told}`;
  const isText = typeof before === 'string' && typeof after === 'string';
  return isText
    ? proseMarkdown(title, before, after, content.callouts)
    : listMarkdown(title, before, after);
}

/** One side of a field, line by line. */
function wholeField(
  path: string,
  mark: string,
  value: Json,
  remark: string | null,
): readonly string[] {
  const text = blockValue(value).replace(/\n$/, '');
  const told = remark === null ? '' : ` (${escapeText(remark)})`;
  const lines = text.split('\n').map((line) => `${mark} ${line}`);
  return ['', `<b>${inlineCode(path)}</b> ${formatExtent(text)}${told}`, '', fence(lines, 'diff')];
}

/** A field as rows of a diff: GitHub and GitLab colour them by their first character. */
function fieldRows({ path, sign, content, remark }: FieldView): readonly string[] {
  const told = remark === null ? '' : `  (${remark})`;
  const mark = sign === ' ' ? '+' : sign === '~' ? '!' : sign;
  switch (content.type) {
    case 'element':
      return elementRows(`${mark} ${path}:`, mark, content).map((row, at) =>
        at === 0 ? row + told : row,
      );
    case 'one':
      return [`${mark} ${path}: ${inlineValue(content.value)}${told}`];
    case 'both':
      return [
        `- ${path}: ${inlineValue(content.before)}`,
        `+ ${path}: ${inlineValue(content.after)}${told}`,
      ];
    case 'conflict':
      return [
        `! ${path}: conflict`,
        ...(content.base === undefined ? [] : [`  last written: ${inlineValue(content.base)}`]),
        `- live now:     ${inlineValue(content.live)}`,
        `+ configured:   ${inlineValue(content.wanted)}`,
      ];
    default:
      return unreachable(content);
  }
}

function isInline(value: Json, path: string): boolean {
  return !isMultiline(value) && textWidth(inlineValue(value)) + path.length + 4 <= WIDTH;
}

/** An element: where it leads, and a row for each part of it; in one row where that is short. */
function elementRows(
  head: string,
  mark: string,
  { summary, members }: FieldView['content'] & { readonly type: 'element' },
): readonly string[] {
  const rows = members.map(inlineMember);
  const inline = `${head} ${rows.join(', ')}`;
  if (summary === '' && textWidth(inline) <= WIDTH) return [inline];
  return [`${head} ${summary}`.trimEnd(), ...rows.map((row) => `${mark}   ${row}`)];
}

/** Characters of one row: more are not read in a comment. */
const MAX_LENGTH = 2000;
/** Characters of a line of code that a pull request shows without scrolling sideways. */
const WIDTH = 100;

/**
 * Two texts as a quotation that is as wide as the page, what was removed struck through and what was added
 * underlined: as code, each paragraph of a prompt would be one line to scroll along.
 */
function proseMarkdown(
  title: string,
  before: Json,
  after: Json,
  called: readonly Callout[],
): readonly string[] {
  const { summary, callouts, moreCallouts, rows, moreRows } = viewProse(
    before,
    after,
    called,
    false,
  );
  const shown = rows.map((row) => `> ${rowText(row)}`);
  const calls = [
    ...callouts.map(calloutItem),
    ...(moreCallouts > 0 ? [`- and ${formatCount(moreCallouts, 'more such change')}`] : []),
  ];
  return [
    '',
    `${title}${summary === null ? '' : `: ${escapeText(summary)}`}`,
    ...(calls.length > 0 ? ['', ...calls] : []),
    '',
    [...shown, ...moreText(moreRows).map((text) => `> <sub>${text}</sub>`)].join('\n>\n'),
  ];
}

/** Two lists or objects as a fenced diff, line by line. */
function listMarkdown(title: string, before: Json, after: Json): readonly string[] {
  const { rows, moreRows } = viewProse(before, after, [], false);
  const lines = [...rows.map(rowLine), ...moreText(moreRows)];
  return ['', title, '', fence(lines, 'diff')];
}

function moreText(rows: number): readonly string[] {
  return rows === 0 ? [] : [`⋯ ${formatCount(rows, 'more changed paragraph')}`];
}

/** Values as code, in which GitHub still links addresses; sentences are read, and stand in quotes. */
function calloutItem({ lead, before, after, isSentence, place }: CalloutRow): string {
  const sides = [before, after].flatMap((text) =>
    text === null ? [] : [isSentence ? escapeText(text) : `<code>${escapeText(text)}</code>`],
  );
  return `- ${lead === '' ? '' : `${lead} `}${sides.join(' → ')}, ${escapeText(place)}`;
}

function rowText(row: ProseRow): string {
  if (row.type === 'fold') return `<sub>⋯ ${escapeText(row.words)}</sub>`;
  if (row.type === 'same') return indented(cutText(row.text, 2 * WIDTH));
  const note = row.note === null ? '' : `<sub>(${escapeText(row.note)})</sub> `;
  return `${inlineCode(PROSE_SIGNS[row.type])} ${note}${piecesText(row.pieces)}`;
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
  const { shown, rest } = cutPieces(pieces, MAX_LENGTH);
  const marked = shown.map(({ text: kept, change }, at) => {
    const word = kept.trimStart();
    const [start, end] = MARKS[change];
    return word === ''
      ? kept
      : `${kept.slice(0, kept.length - word.length)}${start}${escapeText(word, shown[at + 1]?.text)}${end}`;
  });
  const more = rest > 0 ? ` <sub>… ${formatCount(rest, 'more character')}</sub>` : '';
  return marked.join('') + more;
}

/** GitHub and GitLab colour a line of a diff by its first character. */
function rowLine(row: ProseRow): string {
  if (row.type === 'fold') return `@@ ${row.words} @@`;
  if (row.type === 'same') return cutText(`  ${row.text}`, WIDTH);
  const isWhole = row.type === 'removed' || row.type === 'added';
  const note = row.note === null ? '' : `(${row.note}) `;
  return cutText(
    `${isWhole ? PROSE_SIGNS[row.type] : '!'} ${note}${joinPieces(row.pieces)}`,
    MAX_LENGTH,
  );
}

function joinPieces(pieces: readonly Piece[]): string {
  if (pieces.every(({ change }) => change === pieces[0]?.change)) {
    return pieces.map(({ text }) => text).join('');
  }
  return pieces.flatMap(markedWords).join('');
}
