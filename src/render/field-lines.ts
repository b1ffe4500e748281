import { unreachable } from '../core/errors.ts';
import type { Callout } from '../core/plan-document.ts';
import { conflictPlaces, type FieldView, listUnseenInField } from './fields.ts';
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
import {
  cutLine,
  cutText,
  type Line,
  lineWidth,
  liveSpan,
  measureWidest,
  padText,
  type RenderOptions,
  type Span,
  span,
  type Tone,
  textWidth,
  wrap,
} from './terminal.ts';
import { END_OF_ISOLATE, isolate, isolateFor } from './untrusted.ts';
import {
  areVersions,
  blockValue,
  firstWords,
  formatExtent,
  inlineMember,
  inlineSides,
  inlineValue,
  isMultiline,
} from './value-text.ts';
import { formatCount, formatFirst, UNSEEN_SIGN } from './wording.ts';

/** Columns before a field under its resource. */
export const INDENT = 4;
/** Columns before a text under its field. */
const DEEPER = INDENT + 4;
/** More fields of one resource than this are named without their values, unless asked for. */
const MOST_FIELDS = 200;
/** Names of those. */
const MOST_NAMED = 100;
/** Characters of a text of one line that is shown whole. */
const MAX_SETTING = 2000;
/** A value that takes more rows than this is a text to be opened, not a value. */
const MAX_ROWS = 2;

/** A longer path does not push the values of all the others away. */
const MAX_COLUMN = 32;
/** Rows that a field may take and still count as a value. */
const SHORT = 3;

const SIGN_TONES: { readonly [sign in FieldView['sign']]: Tone } = {
  '+': 'added',
  '-': 'removed',
  '~': 'changed',
  '!': 'error',
  ' ': 'plain',
};

/** One field on its way to the page: its sign and path, and what is said after the value. */
type Row = {
  readonly head: Line;
  /** A text that stands alone comes, or it goes. */
  readonly type: 'added' | 'removed';
  readonly remark: Line;
  /** Sentences on differences that cannot be seen; they stand above a text that is opened, and below a value. */
  readonly notes: readonly Line[];
  /** The column at which the values of all fields begin. */
  readonly column: number;
  readonly options: FieldOptions;
};

/** The fields of one resource, their values in one column. */
export function fieldLines(
  views: readonly FieldView[],
  options: RenderOptions,
  detail: Detail = 'whole',
): readonly Line[] {
  const widest = Math.min(options.width * 0.4, options.verbose ? Infinity : MAX_COLUMN);
  const shown = options.verbose ? views : views.slice(0, MOST_FIELDS);
  const names = shown.map(({ path }) => path).filter((path) => textWidth(path) <= widest);
  const column = INDENT + 2 + measureWidest(names) + 2;
  const notes = shown.map((view) => noteLines(view, options));
  const fields = shown.map((view, at) =>
    oneField(view, notes[at] ?? [], column, { ...options, detail }),
  );
  const opened = fields.map(({ length }, at) =>
    isOpened(length - (notes[at]?.length ?? 0), shown[at]),
  );
  const rest = views.slice(shown.length).map(({ path }) => path);
  const more = `⋯ ${formatCount(rest.length, 'more field')}: ${formatFirst(rest, MOST_NAMED)}; --verbose shows them`;
  return [
    // Fields that fit a line come first, so that a long text does not tear the list of values apart.
    ...fields.filter((_, at) => opened[at] === false).flat(),
    ...fields.filter((_, at) => opened[at] === true).flat(),
    ...(rest.length > 0 ? wrap([span(`${' '.repeat(INDENT)}${more}`)], options.width, INDENT) : []),
  ];
}

type FieldOptions = RenderOptions & { readonly detail: Detail };

function isOpened(length: number, view: FieldView | undefined): boolean {
  return length > SHORT || (view?.content.type === 'element' && length > 1);
}

/** Lays out the differences of a field that a reader cannot see. */
function noteLines(view: FieldView, { width }: RenderOptions): readonly Line[] {
  const head = [span(' '.repeat(DEEPER)), span(UNSEEN_SIGN, 'strong'), span(' ')];
  return listUnseenInField(view).flatMap((text) => wrap([...head, span(text)], width, DEEPER + 2));
}

function oneField(
  view: FieldView,
  notes: readonly Line[],
  column: number,
  options: FieldOptions,
): readonly Line[] {
  const { path, sign, content, remark } = view;
  const row: Row = {
    head: [span(' '.repeat(INDENT)), span(sign, SIGN_TONES[sign]), span(` ${path}`)],
    type: sign === '-' ? 'removed' : 'added',
    remark: remark === null ? [] : [span(`  ${remark}`)],
    notes,
    column,
    options,
  };
  switch (content.type) {
    case 'element':
      return [...element(row, content), ...notes];
    case 'one':
      return [...oneSide(row, content.value), ...notes];
    case 'both':
      return bothSides(row, content);
    case 'conflict':
      return conflict(row, content);
    default:
      return unreachable(content);
  }
}

/** Shows an element: its summary in the line of its path, and the rest below; all of it in that line if it fits. */
function element(
  row: Row,
  { summary, members }: FieldView['content'] & { readonly type: 'element' },
): readonly Line[] {
  const { width } = row.options;
  const inline = liveSpan(members.map(inlineMember).join(', '));
  if (summary === '' && textWidth(inline.text) <= width - row.column)
    return inColumn(row, [inline]);
  const margin = span(' '.repeat(DEEPER));
  const widest = Math.min(MAX_COLUMN, measureWidest(members.map(({ key }) => key)));
  return [
    ...(summary === '' ? underPath(row) : inColumn(row, [liveSpan(summary)])),
    ...members.flatMap(({ key, value }) => {
      const name = key === '' ? [] : [span(`${padText(key, widest)}  `)];
      if (!isLong(value, width)) {
        return wrap([margin, ...name, liveSpan(inlineValue(value))], width, DEEPER + 4);
      }
      if (typeof value !== 'string' || !isText(value, row.options)) {
        return [[margin, ...name], ...wholeValue(value, row, DEEPER + 4)];
      }
      const room = width - DEEPER - lineWidth(name);
      return [[margin, ...name, ...excerpt(value, room)]];
    }),
  ];
}

/** A value on lines of its own, whatever it takes. */
function wholeValue(value: Shown, { options }: Row, indent: number): readonly Line[] {
  const lines = typeof value === 'string' ? [inlineValue(value)] : blockValue(value).split('\n');
  return lines.flatMap((line) =>
    wrap([liveSpan(' '.repeat(indent) + line)], options.width, indent + 4),
  );
}

/** True if a text is opened only with `--verbose`: it has several lines, or is longer than any setting. */
function isText(value: string, { verbose }: RenderOptions): boolean {
  return !verbose && (isMultiline(value) || value.length > MAX_SETTING);
}

function oneSide(row: Row, value: Shown): readonly Line[] {
  const { remark, column, head, options } = row;
  if (typeof value !== 'string' && isLong(value, options.width - DEEPER, 1))
    return [...underPath(row), ...wholeValue(value, row, DEEPER)];
  if (typeof value !== 'string' || !isLong(value, options.width))
    return inColumn(row, [liveSpan(inlineValue(value))]);
  if (options.verbose || (isText(value, options) && options.detail === 'whole'))
    return [...underPath(row), ...wholeText(value, row)];
  if (!isText(value, options)) return [...underPath(row), ...wholeValue(value, row, DEEPER)];
  const taken = Math.max(column, lineWidth(head) + 2) + lineWidth(remark);
  return inColumn(row, excerpt(value, options.width - taken));
}

/** Lines of a new text that are read beside others. */
const MOST_TEXT = 60;

/** A text that comes or goes, line by line; the rest of a long one is counted. */
function wholeText(value: string, { type, options }: Row): readonly Line[] {
  const lines = wholeLines(blockValue(value).trimEnd(), type, deeper(options));
  if (options.verbose || lines.length <= MOST_TEXT + 1) return lines;
  const rest = formatCount(lines.length - MOST_TEXT, 'more line');
  return [...lines.slice(0, MOST_TEXT), foldLine(`${rest}; --verbose shows them`, deeper(options))];
}

/** True if a value is better shown as a text of its own. */
function isLong(value: Shown, width: number, rows = MAX_ROWS): boolean {
  // A text of so many characters is not measured first: measuring takes time.
  if (typeof value === 'string' && value.length > 10 * width) return true;
  return isMultiline(value) || textWidth(inlineValue(value)) > rows * width;
}

/** The beginning of a long value and how much of it there is. */
function excerpt(value: Shown, room: number): Line {
  const text = typeof value === 'string' ? value : blockValue(value);
  const extent = `  ${formatExtent(text)}`;
  const start = inlineValue(firstWords(text)).slice(0, -1);
  const cut = cutText(`${start}…`, Math.max(room - textWidth(extent) - 1, 20));
  return [liveSpan(`${cut}"`), span(extent)];
}

function bothSides(
  row: Row,
  { before, after, callouts }: FieldView['content'] & { readonly type: 'both' },
): readonly Line[] {
  const { options } = row;
  const isText =
    isLong(before, options.width) || isLong(after, options.width) || areVersions(before, after);
  const sides = isText ? undefined : inlineSides(before, after);
  const spans: readonly Span[] =
    sides === undefined
      ? []
      : [
          liveSpan(sides.before),
          span(' → '),
          liveSpan(sides.after),
          ...(sides.ids === null ? [] : [liveSpan(` ${sides.ids}`)]),
        ];
  // Names are short, and what does not fit is broken behind them.
  if (typeof sides?.ids === 'string' || (!isText && lineWidth(spans) <= options.width - DEEPER))
    return [...inColumn(row, spans), ...row.notes];
  const { summary, lines } = proseLines([before, after], callouts, deeper(options));
  return [...underPath(row, summary), ...row.notes, ...lines];
}

function conflict(
  row: Row,
  content: FieldView['content'] & { readonly type: 'conflict' },
): readonly Line[] {
  const { options } = row;
  const { base, live, wanted, purpose, callouts } = content;
  const places = conflictPlaces(content, options.detail);
  if (places !== undefined) {
    // The places show all words; a rule that became its contrary is said all the same.
    const reversed = callouts.filter(({ sort }) => sort === 'reversed').map(calloutRow);
    return [
      ...underPath(row),
      ...row.notes,
      ...calloutLines(reversed, deeper(options)),
      ...places.flatMap((one, at) =>
        placeLines(one, places[at - 1]?.changedBy === one.changedBy, deeper(options)),
      ),
    ];
  }
  const margin = span(' '.repeat(DEEPER));
  const labels = versionLabels(purpose);
  const side = (label: string, value: Shown): Line => [
    margin,
    span(padText(label, LABEL)),
    ...(isLong(value, options.width)
      ? excerpt(value, options.width - DEEPER - LABEL)
      : [liveSpan(inlineValue(value))]),
  ];
  const sides = [
    ...(base === undefined ? [] : [side(labels.base, base)]),
    side(labels.live, live),
    side(labels.own, wanted),
  ];
  const isText = isMultiline(live) || isMultiline(wanted);
  const fits = !isText && sides.every((line) => lineWidth(line) <= options.width);
  if (fits || live === null || wanted === null) {
    const open = [live, wanted].filter((value) => value !== null && typeof value !== 'string');
    return [
      ...underPath(row),
      ...sides.flatMap((line) => wrap(line, options.width, DEEPER + LABEL)),
      ...(fits ? [] : open.flatMap((value) => wholeValue(value, row, DEEPER + LABEL))),
      ...row.notes,
    ];
  }
  const legend = [
    margin,
    span('-', 'removed'),
    span(` ${labels.live}   `),
    span('+', 'added'),
    span(` ${labels.own}`),
  ];
  const { summary, lines } = proseLines([live, wanted], callouts, deeper(options));
  return [...underPath(row, summary), ...row.notes, legend, ...lines];
}

/** Columns of the name of a side. */
const LABEL = 11;

const SIDE_TONES: { readonly [side in ConflictPlace['changedBy']]: Tone } = {
  both: 'error',
  live: 'warning',
  own: 'changed',
};

/** A place of a conflict: what it means, unless that is said above, where it is, and a line for each version. */
function placeLines(
  { changedBy, title, place, marks, sides }: ConflictPlace,
  isTitleShown: boolean,
  { width, indent }: ProseLayout,
): readonly Line[] {
  const inner = indent + (place === null ? 2 : 4);
  const below = (text: Span) => wrap([span(' '.repeat(indent)), text], width, indent + 2);
  return [
    ...(isTitleShown ? [] : below(span(title, SIDE_TONES[changedBy]))),
    ...(place === null ? [] : below(span(`  ${place}`))),
    ...sides.flatMap(({ label, pieces }) => {
      const words = pieces?.flatMap((piece) => markedSpans(piece, marks)) ?? [span('–')];
      const line = [span(' '.repeat(inner)), span(padText(label, LABEL)), ...isolated(words)];
      return wrap(line, width, inner + LABEL);
    }),
  ];
}

function deeper({ width, verbose, detail }: FieldOptions): ProseLayout {
  return { width, verbose, detail, indent: DEEPER };
}

/** The path with what is said of its value, which stands below. */
function underPath({ head, remark, options }: Row, summary: string | null = null): readonly Line[] {
  const summarySpans = summary === null ? [] : [span(`  ${summary}`)];
  return wrap([...head, ...summarySpans, ...remark], options.width, DEEPER);
}

/** Path, value and remark in one line where they fit; what does not fit goes below the path. */
function inColumn({ head, remark, column, options }: Row, value: Line): readonly Line[] {
  const { width } = options;
  const gap = span(' '.repeat(Math.max(column - lineWidth(head), 2)));
  const line = [...head, gap, ...value];
  const below = (part: Line) => wrap([span(' '.repeat(DEEPER)), ...part], width, DEEPER);
  const trimmed: readonly Span[] = remark.map(({ text, tone }) => span(text.trimStart(), tone));
  const after = trimmed.length === 0 ? [] : below(trimmed);
  if (lineWidth([...line, ...remark]) <= width) return [[...line, ...remark]];
  if (lineWidth(line) <= width) return [line, ...after];
  return [...wrap(head, width, DEEPER), ...below(value), ...after];
}

type ProseLayout = {
  readonly width: number;
  readonly indent: number;
  readonly verbose: boolean;
  readonly detail: Detail;
};

/** The words on the field's own line, and the text below it. */
type ProseLines = { readonly summary: string | null; readonly lines: readonly Line[] };

/** Lines of the terminal that one row may take: more are not read; `--verbose` shows the rest. */
const MAX_BREAKS = 12;
/** A row that goes on is not to be read as a paragraph, nor as an unchanged one. */
const AGAIN = '· ';

type Changed = Exclude<ProseRow, { readonly type: 'fold' | 'same' }>;

const ROW_TONES: { readonly [type in Changed['type']]: Tone } = {
  edited: 'changed',
  removed: 'removed',
  added: 'added',
  moved: 'adopted',
  left: 'adopted',
};

/**
 * Two long values as a folded comparison. Unchanged paragraphs are cut to the width; changed ones are broken into
 * as many lines as they need, so that no change is ever hidden beyond the edge.
 */
function proseLines(
  [before, after]: readonly [Shown, Shown],
  callouts: readonly Callout[],
  layout: ProseLayout,
): ProseLines {
  const view = viewProse(before, after, callouts, layout);
  const more = (count: number, what: string) =>
    count === 0 ? [] : [foldLine(`${formatCount(count, what)}; --verbose shows them`, layout)];
  return {
    summary: view.summary,
    lines: [
      ...calloutLines(view.callouts, layout),
      ...more(view.moreCallouts, view.callouts.length > 0 ? 'more call-out' : 'call-out'),
      ...(view.legend === null ? [] : legendLines(view.legend, layout)),
      ...view.rows.flatMap((row) =>
        rowLines(row, { ...layout, marks: view.marks, brackets: view.brackets }),
      ),
      ...more(view.moreRows, 'more changed paragraph'),
    ],
  };
}

/** A whole text, every line of it added or removed. */
function wholeLines(text: string, type: 'added' | 'removed', layout: ProseLayout): readonly Line[] {
  return text
    .split('\n')
    .flatMap((line) =>
      changedLines(
        { type, sign: type, note: null, pieces: [{ text: line, change: type }] },
        layout,
      ),
    );
}

/** `30 minutes → 45 minutes  under Hours, line 12` */
function calloutLines(callouts: readonly CalloutRow[], layout: ProseLayout): readonly Line[] {
  return callouts.flatMap(({ lead, before, after, place }) => {
    const side = (text: string | null) => (text === null ? [] : [liveSpan(text)]);
    const line: Line = [
      span(' '.repeat(layout.indent)),
      ...(lead === '' ? [] : [span(`${lead} `)]),
      ...side(before),
      ...(before === null || after === null ? [] : [span(' → ')]),
      ...side(after),
      span(`  ${place}`),
    ];
    return wrap(line, layout.width, layout.indent + 2);
  });
}

function legendLines(legend: string, { indent, width }: ProseLayout): readonly Line[] {
  return wrap([span(' '.repeat(indent)), span(legend)], width, indent);
}

function foldLine(words: string, { indent, width }: ProseLayout): Line {
  return [span(' '.repeat(indent)), span(cutText(`⋯ ${words}`, width - indent))];
}

type RowLayout = ProseLayout & {
  readonly marks?: Marks | undefined;
  readonly brackets?: Marks | undefined;
};

function rowLines(row: ProseRow, layout: RowLayout): readonly Line[] {
  if (row.type === 'fold') return [foldLine(row.words, layout)];
  if (row.type === 'edited') {
    // As it was and as it is now, the words that differ in brackets.
    const apart = { ...layout, marks: layout.brackets };
    const [before, after] = [pickSide(row.pieces, 'before'), pickSide(row.pieces, 'after')];
    return [
      ...changedLines({ ...row, sign: 'removed', pieces: before }, apart),
      ...changedLines({ ...row, sign: 'added', pieces: after }, apart),
    ];
  }
  if (row.type !== 'same') return changedLines({ ...row, sign: row.type }, layout);
  const text = isolate(showTabs(row.text));
  const line: Line = [span(' '.repeat(layout.indent + 2)), { text, tone: 'plain' }];
  return layout.verbose
    ? wrap(line, layout.width, layout.indent + 2)
    : [cutLine(line, layout.width)];
}

function changedLines(
  row: Changed & { readonly sign: keyof typeof PROSE_SIGNS },
  layout: RowLayout,
): readonly Line[] {
  const tone = ROW_TONES[row.sign];
  const margin = span(' '.repeat(layout.indent));
  const note = row.note === null ? [] : [span(`(${row.note}) `)];
  const body = row.pieces.flatMap((piece) => pieceSpans(piece, row, layout.marks));
  const sign = span(PROSE_SIGNS[row.sign], tone);
  const line = [margin, sign, span(' '), ...note, ...isolated(bound(body, layout))];
  const lines = wrap(line, layout.width, layout.indent + AGAIN.length);
  return lines.map((one, at) => (at === 0 ? one : [margin, span(AGAIN), ...one.slice(1)]));
}

const TONES = { same: 'plain', removed: 'removed_word', added: 'added_word' } as const;

function pieceSpans(given: Piece, { type }: Changed, marks: Marks | undefined): readonly Span[] {
  const { text, change } = given;
  const piece = (own: string, tone: Tone): Span => ({ text: showTabs(own), tone, of: 'live' });
  const isWhole = type === 'removed' || type === 'added';
  if (isWhole || change === 'same' || marks === undefined) return [piece(text, 'plain')];
  return markedSpans(given, marks);
}

/** A value is sanitised whole: what is harmless within it is not escaped at the beginning of a piece. */
function markedSpans(given: Piece, marks: Marks): readonly Span[] {
  const { text, change } = given;
  const piece = (own: string, tone: Tone): Span => ({ text: showTabs(own), tone, of: 'live' });
  if (change === 'same') return [piece(text, 'plain')];
  // Also in colour: who copies a line, or does not see red, reads it right.
  const [blanks, words] = markedWords(given, marks);
  return [piece(blanks, 'plain'), { text: words, tone: TONES[change], of: 'live' }];
}

/**
 * The words of one paragraph in the direction of its first letter, and those that changed each in its own, so that
 * nothing of them changes places with what stands beside it.
 */
function isolated(spans: readonly Span[]): readonly Span[] {
  const [only, ...others] = spans.filter(({ text }) => text !== '');
  if (only !== undefined && others.length === 0) return [{ ...only, text: isolate(only.text) }];
  const start = isolateFor(spans.map(({ text }) => text).join(''));
  if (start === '') return spans;
  return [
    { text: start, tone: 'plain' },
    ...spans.map((one) => (one.tone === 'plain' ? one : { ...one, text: isolate(one.text) })),
    { text: END_OF_ISOLATE, tone: 'plain' },
  ];
}

function showTabs(text: string): string {
  return text.replaceAll('\t', '⇥   ');
}
/** Cuts what would take more rows than anybody reads. */
function bound(spans: readonly Span[], { width, indent, verbose }: ProseLayout): readonly Span[] {
  const most = verbose ? Infinity : (width - indent) * MAX_BREAKS;
  const { shown, rest } = cutPieces(spans, most);
  return rest === 0
    ? shown
    : [...shown, span(` … ${formatCount(rest, 'more character')}; --verbose shows them`)];
}
