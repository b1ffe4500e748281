import { unreachable } from '../core/errors.ts';
import type { Callout } from '../core/plan-document.ts';
import { conflictPlaces, type FieldView, listUnseenInField } from './fields.ts';
import {
  escapeMessage,
  escapeText,
  type FencedLine,
  fence,
  inlineCode,
  isolateMarkup,
  leftToRight,
} from './markdown-text.ts';
import type { Shown } from './names.ts';
import type { Piece } from './prose/blocks.ts';
import { type CalloutRow, calloutRow } from './prose/callout-words.ts';
import {
  type ConflictPlace,
  cutPieces,
  type Detail,
  type Marks,
  markedWords,
  PROSE_SIGNS,
  type ProseRow,
  pickSide,
  versionLabels,
  viewProse,
} from './prose/view.ts';
import { cutText, padText, textWidth } from './terminal.ts';
import {
  areVersions,
  blockValue,
  formatExtent,
  inlineMember,
  inlineSides,
  inlineValue,
  isMultiline,
} from './value-text.ts';
import { formatCount, UNSEEN_SIGN } from './wording.ts';

/** Fields: those of one line as a fenced diff, the longer ones below it; nothing where there are none. */
export function fieldsMarkdown(
  views: readonly FieldView[],
  detail: Detail = 'whole',
): readonly string[] {
  const texts = views.map((view) => longField(view, detail));
  const short = views.filter((_, at) => texts[at] === undefined);
  const lines = short.flatMap(fieldRows);
  // In the block they would have to be scrolled to.
  const notes = short.flatMap((view) => noteItems(view, `${inlineCode(view.path)}: `));
  return [
    ...(lines.length > 0 ? ['', fence(lines, 'diff')] : []),
    ...(notes.length > 0 ? ['', ...notes] : []),
    ...texts.flatMap((text) => text ?? []),
  ];
}

/** Fields as rows of a diff; undefined where one of them needs more than a row a side, or a note. */
export function diffRows(views: readonly FieldView[]): readonly FencedLine[] | undefined {
  const isShort = views.every(
    (view) => longField(view, 'brief') === undefined && listUnseenInField(view).length === 0,
  );
  return isShort ? views.flatMap(fieldRows) : undefined;
}

/** A field whose values stand below the others; undefined for one that a line has room for. */
function longField(view: FieldView, detail: Detail): readonly string[] | undefined {
  const { path, sign, content, remark } = view;
  if (content.type === 'one') {
    const { value } = content;
    return isMultiline(value) || textWidth(inlineValue(value)) > 2 * WIDTH
      ? wholeField(view, sign === '-' ? '-' : '+', value, detail)
      : undefined;
  }
  if (content.type !== 'both' && content.type !== 'conflict') return undefined;
  const places = content.type === 'conflict' ? conflictPlaces(content, detail) : undefined;
  if (places !== undefined)
    return conflictMarkdown(path, noteItems(view), places, content.callouts);
  const isConflict = content.type === 'conflict';
  const [before, after] = isConflict
    ? [content.live, content.wanted]
    : [content.before, content.after];
  if (before === null || after === null) return undefined;
  const isText = typeof before === 'string' && typeof after === 'string';
  // A row of a block is not broken, and a phone shows its beginning.
  const width = isText && detail === 'whole' ? NARROW : WIDTH;
  const isShort = isInline(before, path, width) && isInline(after, path, width);
  // A conflict shows the value last written, too.
  if (isShort && (isConflict || !areVersions(before, after))) return undefined;
  const suffix = isConflict
    ? ' (conflict: from the live value to the configured value)'
    : remark === null
      ? ''
      : ` (${escapeMessage(remark)})`;
  const title = `<b>${inlineCode(path)}</b>${suffix}`;
  return isText
    ? proseMarkdown(title, noteItems(view), content, detail)
    : listMarkdown(title, noteItems(view), [before, after], detail);
}

/** A table of the places that two sides changed, with a row for each version of them. */
function conflictMarkdown(
  path: string,
  notes: readonly string[],
  places: readonly ConflictPlace[],
  callouts: readonly Callout[],
): readonly string[] {
  const rows = places.flatMap(({ title, place, sides }, at) => [
    [at === 0 ? title : `**${title}**`, place === null ? '' : leftToRight(escapeText(place))],
    ...sides.map(({ label, pieces }) => [
      label,
      pieces === null ? '–' : leftToRight(piecesText(pieces, true)),
    ]),
  ]);
  const calls = [
    ...notes,
    ...callouts
      .filter(({ sort }) => sort === 'reversed')
      .map((one) => calloutItem(calloutRow(one))),
  ];
  return [
    '',
    `<b>${inlineCode(path)}</b>`,
    ...(calls.length > 0 ? ['', ...calls] : []),
    '',
    table(rows),
  ];
}

/** A table below the first of the rows. */
function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  return [head, [':--', ':--'], ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Lists the differences of a field that a reader cannot see. */
function noteItems(view: FieldView, of = ''): readonly string[] {
  return listUnseenInField(view).map(
    (text) => `- ${leftToRight(`${UNSEEN_SIGN} ${of}${escapeText(text)}`)}`,
  );
}

/** Lines of a text that is shown in brief. */
const MOST_BRIEF = 3;

/** One side of a field, line by line. */
function wholeField(
  view: FieldView,
  mark: string,
  value: Shown,
  detail: Detail,
): readonly string[] {
  const { path, remark } = view;
  const text = blockValue(value).replace(/\n$/, '');
  const suffix = remark === null ? '' : ` (${escapeMessage(remark)})`;
  const notes = noteItems(view);
  const lines = text.split('\n').map((line): FencedLine => [`${mark} `, line]);
  const most = detail === 'brief' ? MOST_BRIEF : lines.length;
  const shown: readonly FencedLine[] =
    lines.length > most + 1 ? [...lines.slice(0, most), `${mark} …`] : lines;
  return [
    '',
    `<b>${inlineCode(path)}</b> ${formatExtent(text)}${suffix}`,
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
    fence(shown, 'diff'),
  ];
}

/** A field as rows of a diff: GitHub and GitLab colour them by their first character. */
function fieldRows({ path, sign, content, remark }: FieldView): readonly FencedLine[] {
  const suffix = remark === null ? '' : `  (${remark})`;
  const mark = sign === ' ' ? '+' : sign === '~' ? '!' : sign;
  switch (content.type) {
    case 'element':
      return elementRows([`${mark} `, path, ':'], mark, content).map((row, at) =>
        at === 0 ? [...row, suffix] : row,
      );
    case 'one':
      return [[`${mark} `, path, ': ', inlineValue(content.value), suffix]];
    case 'both': {
      const { before, after, ids } = inlineSides(content.before, content.after);
      return [
        ['- ', path, ': ', ids === null ? before : inlineValue(content.before)],
        ['+ ', path, ': ', ids === null ? after : inlineValue(content.after), suffix],
      ];
    }
    case 'conflict': {
      const { base, live, own } = versionLabels(content.purpose);
      const label = (text: string) => padText(`${text}:`, 11);
      return [
        ['! ', path, content.isDecided ? ': both changed, live is overwritten' : ': both changed'],
        ...(content.base === undefined ? [] : [[`  ${label(base)}`, inlineValue(content.base)]]),
        [`- ${label(live)}`, inlineValue(content.live)],
        [`+ ${label(own)}`, inlineValue(content.wanted)],
      ];
    }
    default:
      return unreachable(content);
  }
}

function isInline(value: Shown, path: string, width: number): boolean {
  return !isMultiline(value) && textWidth(inlineValue(value)) + path.length + 4 <= width;
}

/** An element: where it leads, and a row for each part of it; in one row where that is short. */
function elementRows(
  head: readonly string[],
  mark: string,
  { summary, members }: FieldView['content'] & { readonly type: 'element' },
): readonly (readonly string[])[] {
  const rows = members.map(inlineMember);
  const inline = rows.join(', ');
  if (summary === '' && textWidth(`${head.join('')} ${inline}`) <= WIDTH)
    return [[...head, ' ', inline]];
  return [
    summary === '' ? head : [...head, ' ', summary],
    ...rows.map((row) => [`${mark}   `, row]),
  ];
}

/** Characters of one row: more are not read in a comment. */
const MAX_LENGTH = 2000;
/** Characters of a line of code that a pull request shows without scrolling sideways. */
const WIDTH = 100;
/** The same on a phone. */
const NARROW = 44;

/**
 * Two texts as a table that is as wide as the page, an edited paragraph as it was and as it is now, the words that differ
 * struck through and underlined: as code, each paragraph of a prompt would be one line to scroll along.
 */
function proseMarkdown(
  title: string,
  notes: readonly string[],
  content: FieldView['content'] & { readonly type: 'both' | 'conflict' },
  detail: Detail,
): readonly string[] {
  const [before, after] =
    content.type === 'both' ? [content.before, content.after] : [content.live, content.wanted];
  const view = viewProse(before, after, content.callouts, { detail });
  const { summary, callouts, moreCallouts, rows, moreRows } = view;
  const [first, second, ...others] = rows;
  const isReplaced = first?.type === 'removed' && second?.type === 'added' && others.length === 0;
  const words = isReplaced ? { ...ROW_WORDS, removed: 'was', added: 'now' } : ROW_WORDS;
  const shown = [
    ['change', 'text'],
    ...rows.flatMap((row) => rowCells(row, words)),
    ...moreText(moreRows).map((text) => ['', text]),
  ];
  const calls = [
    ...notes,
    ...callouts.map(calloutItem),
    ...(moreCallouts > 0
      ? [`- ${formatCount(moreCallouts, callouts.length > 0 ? 'more call-out' : 'call-out')}`]
      : []),
  ];
  return [
    '',
    `${title}${summary === null ? '' : `: ${escapeText(summary)}`}`,
    ...(calls.length > 0 ? ['', ...calls] : []),
    '',
    table(shown),
  ];
}

/** Two lists or objects as a fenced diff, line by line. */
function listMarkdown(
  title: string,
  notes: readonly string[],
  [before, after]: readonly [Shown, Shown],
  detail: Detail,
): readonly string[] {
  const { rows, moreRows, marks, legend } = viewProse(before, after, [], { detail });
  const lines = [...rows.map((row) => rowLine(row, marks)), ...moreText(moreRows)];
  const items = [...notes, ...(legend === null ? [] : [`- ${escapeText(legend)}`])];
  return ['', title, ...(items.length > 0 ? ['', ...items] : []), '', fence(lines, 'diff')];
}

function moreText(rows: number): readonly string[] {
  return rows === 0 ? [] : [`⋯ ${formatCount(rows, 'more changed paragraph')}`];
}

/** Values as code, in which GitHub still links addresses; sentences are read, and stand in quotes. */
function calloutItem({ lead, before, after, isSentence, place }: CalloutRow): string {
  const sides = [before, after].flatMap((text) =>
    text === null ? [] : [isSentence ? escapeText(text) : `<code>${escapeText(text)}</code>`],
  );
  const line = `${lead === '' ? '' : `${lead} `}${sides.join(' → ')}, ${escapeText(place)}`;
  return `- ${leftToRight(line)}`;
}

/** The rows of a table for one of a text: what it is called, and its words. */
function rowCells(
  row: ProseRow,
  words: { readonly [type in keyof typeof ROW_WORDS]: string },
): readonly (readonly [string, string])[] {
  if (row.type === 'fold') return [['', leftToRight(`⋯ ${escapeText(row.words)}`)]];
  if (row.type === 'same') return [['', leftToRight(indented(cutText(row.text, 2 * WIDTH)))]];
  const note = row.note === null ? '' : `(${escapeText(row.note)}) `;
  const cell = (pieces: readonly Piece[]) =>
    leftToRight(`${note}${piecesText(pieces, row.type === 'edited')}`);
  if (row.type !== 'edited') return [[`**${words[row.type]}**`, cell(row.pieces)]];
  return [
    ['**was**', cell(pickSide(row.pieces, 'before'))],
    ['**now**', cell(pickSide(row.pieces, 'after'))],
  ];
}

const ROW_WORDS = { removed: 'gone', added: 'new', moved: 'moved', left: 'moved away' } as const;

/** Blanks at the beginning of a paragraph, which a cell drops. */
function indented(text: string): string {
  const bare = text.trimStart();
  return '&nbsp;'.repeat(text.length - bare.length) + escapeText(bare);
}

const MARKS = {
  same: ['', ''],
  removed: ['<del>', '</del>'],
  added: ['<ins>', '</ins>'],
} as const;

function piecesText(pieces: readonly Piece[], isEdited: boolean): string {
  const { shown, rest } = cutPieces(pieces, MAX_LENGTH);
  const marked = shown.map(({ text: kept, change }, at) => {
    const word = kept.trimStart();
    const [start, end] = MARKS[change];
    return word === ''
      ? kept
      : `${kept.slice(0, kept.length - word.length)}${start}${escapeText(word, shown[at + 1]?.text)}${end}`;
  });
  const more = rest > 0 ? ` … ${formatCount(rest, 'more character')}` : '';
  // The words of one paragraph run in the direction of its first letter.
  const isMixed = shown.length > 1 || isEdited;
  const text = isMixed ? shown.map((piece) => piece.text).join('') : '';
  return isolateMarkup(text, marked.join('')) + more;
}

/** GitHub and GitLab colour a line of a diff by its first character. */
function rowLine(row: ProseRow, marks: Marks): FencedLine {
  if (row.type === 'fold') return `@@ ${row.words} @@`;
  if (row.type === 'same') return ['  ', cutText(row.text, WIDTH - 2)];
  const isWhole = row.type === 'removed' || row.type === 'added';
  const note = row.note === null ? '' : `(${row.note}) `;
  const { shown, rest } = cutPieces(row.pieces, MAX_LENGTH);
  const sign = isWhole ? PROSE_SIGNS[row.type] : '!';
  return [`${sign} ${note}`, markedPieces(shown, marks), rest > 0 ? '…' : ''];
}

/** Words that all have one fate need no marks. */
function markedPieces(pieces: readonly Piece[], marks: Marks): readonly string[] {
  const isOne = pieces.every(({ change }) => change === pieces[0]?.change);
  return isOne
    ? pieces.map(({ text }) => text)
    : pieces.map((piece) => markedWords(piece, marks).join(''));
}
