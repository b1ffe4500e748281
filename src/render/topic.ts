import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { codeSpan, commandsIn } from '../core/command-line.ts';
import { sum } from '../core/value.ts';
import {
  type Line,
  lineWidth,
  paint,
  type RenderOptions,
  type Span,
  spaced,
  span,
  type Tone,
  wholeSpan,
  widestWord,
  wrap,
} from './terminal.ts';

/**
 * A page of the documentation for a terminal. `marked` reads the Markdown; it is laid out here, as everything else that
 * a terminal shows: the renderers that there are draw tables wider than the terminal.
 */

/** How a reader gets to what a link leads to; undefined where its words are enough. */
type LinkWords = (href: string) => string | undefined;

/** Longer lines are tiring to read. */
const WIDEST = 110;

/** Lays a page of Markdown out for the width of a terminal. */
export function renderTopic(text: string, options: RenderOptions, wordsFor: LinkWords): string {
  const width = Math.min(Math.max(options.width, 40), WIDEST);
  const layout = { width, color: options.color, wordsFor };
  const blocks = lexer(withoutComments(text)).map((token) => blockLines(token, layout));
  return paint(spaced(blocks), options.color);
}

/** The Markdown of a page as it is read elsewhere: comments are for the tests that walk through it. */
export function withoutComments(text: string): string {
  return text.replace(/^<!-- .*? -->\n/gm, '');
}

type Layout = {
  readonly width: number;
  readonly color: boolean;
  readonly wordsFor: LinkWords;
};

function blockLines(given: Token, layout: Layout): readonly Line[] {
  const token = given as MarkedToken;
  switch (token.type) {
    case 'heading': {
      const words = toned(inline(token.tokens, layout), 'strong');
      // Without colour nothing else would tell a heading from a paragraph.
      const mark = layout.color ? '' : `${'#'.repeat(token.depth)} `;
      return wrap([span(mark), ...words], layout.width, mark.length);
    }
    case 'paragraph':
      return wrap(inline(token.tokens, layout), layout.width, 0);
    case 'text':
      return wrap(inline(token.tokens ?? [token], layout), layout.width, 0);
    case 'code':
      // Never broken: it is there to be copied.
      return token.text.split('\n').map((line) => [span('  '), span(line)]);
    case 'list':
      return token.items.flatMap((item, at) => itemLines(item, marker(token, at), layout));
    case 'table':
      return tableLines(token, layout);
    case 'blockquote':
      return indented(blocksIn(token.tokens, narrowed(layout, 2)), '| ');
    case 'hr':
      return [[span('-'.repeat(layout.width))]];
    default:
      return [];
  }
}

function blocksIn(tokens: readonly Token[], layout: Layout): readonly Line[] {
  return tokens.flatMap((token) => blockLines(token, layout));
}

function narrowed(layout: Layout, by: number): Layout {
  return { ...layout, width: layout.width - by };
}

function indented(lines: readonly Line[], first: string, next = first): readonly Line[] {
  return lines.map((line, at) => [span(at === 0 ? first : next), ...line]);
}

function marker({ ordered, start }: Tokens.List, at: number): string {
  return ordered ? `${Number(start) + at}. ` : '- ';
}

function itemLines({ tokens }: Tokens.ListItem, mark: string, layout: Layout): readonly Line[] {
  return indented(blocksIn(tokens, narrowed(layout, mark.length)), mark, ' '.repeat(mark.length));
}

function inline(tokens: readonly Token[], layout: Layout): Line {
  return tokens.flatMap((given): Line => {
    const token = given as MarkedToken;
    switch (token.type) {
      case 'strong':
      case 'em':
        return toned(inline(token.tokens, layout), 'strong');
      case 'codespan':
        // Without colour nothing else would tell code from words.
        return [codeWords(plain(token.text), layout.color)];
      case 'link': {
        const more = layout.wordsFor(token.href);
        const words = inline(token.tokens, layout);
        return more === undefined ? words : [...words, span(` [${more}]`)];
      }
      case 'text':
        return token.tokens === undefined
          ? [span(plain(token.text))]
          : inline(token.tokens, layout);
      case 'br':
        return [span(' ')];
      default:
        return 'text' in token ? [span(plain(String(token.text)))] : [];
    }
  });
}

/** Code in a sentence. A command stays in one line. */
function codeWords(text: string, color: boolean): Span {
  const code = codeSpan(text);
  if (!color) return span(code, 'strong');
  return commandsIn(code).length > 0 ? wholeSpan(text, 'strong') : span(text, 'strong');
}

/** A text in one line. */
function plain(text: string): string {
  return text.replaceAll('\n', ' ');
}

/** Words in a tone, with code as it is. */
function toned(line: Line, tone: Tone): Line {
  return line.map((one) => (one.tone === 'plain' ? { ...one, tone } : one));
}

/** Columns between two cells. */
const GAP = 2;
/** A table whose cells are broken to its columns, or a list where there is no room for whole words in all of them. */
function tableLines({ header, rows }: Tokens.Table, layout: Layout): readonly Line[] {
  const heading = header.map(({ tokens }) => toned(inline(tokens, layout), 'strong'));
  const body = rows.map((row) => row.map(({ tokens }) => inline(tokens, layout)));
  const columns = heading.map((head, at) => [head, ...body.map((row) => row[at] ?? [])]);
  const room = layout.width - GAP * (columns.length - 1);
  const widths = columnWidths(columns.map(measure), room);
  if (widths === undefined) return body.flatMap((row) => listed(heading, row, layout));
  // If a first cell goes on below, only a blank line shows where the next row begins.
  const isLoose = body.some(([first = []]) => wrap(first, widths[0] ?? 1, 0).length > 1);
  const hasHeading = heading.some((cell) => lineWidth(cell) > 0);
  return [
    ...(hasHeading
      ? [...rowLines(heading, widths), [span('-'.repeat(sum(widths) + GAP * (widths.length - 1)))]]
      : []),
    ...body.flatMap((row, at) => [...(isLoose && at > 0 ? [[]] : []), ...rowLines(row, widths)]),
  ];
}

type Measured = { readonly least: number; readonly natural: number };

/** Nothing is broken to less than this (`wrap`). */
const NARROWEST = 8;

function measure(cells: readonly Line[]): Measured {
  const natural = Math.max(1, ...cells.map(lineWidth));
  const whole = Math.max(1, ...cells.map(widestWord));
  return { least: Math.min(natural, Math.max(NARROWEST, whole)), natural };
}

/** How wide each column is: what it must have, and of what is left as much as it wants. Undefined where there is no room. */
function columnWidths(columns: readonly Measured[], room: number): readonly number[] | undefined {
  const least = sum(columns.map((one) => one.least));
  if (least > room) return undefined;
  const widths = columns.map((one) => one.least);
  // The narrowest want first, so that short columns stay whole and long ones share what is left.
  const order = columns
    .map((one, at) => ({ at, wants: one.natural - one.least }))
    .toSorted((a, b) => a.wants - b.wants);
  let spare = room - least;
  for (const [done, { at, wants }] of order.entries()) {
    const share = Math.min(wants, Math.floor(spare / (order.length - done)));
    widths[at] = (widths[at] ?? 0) + share;
    spare -= share;
  }
  return widths;
}

function rowLines(cells: readonly Line[], widths: readonly number[]): readonly Line[] {
  const broken = cells.map((cell, at) => wrap(cell, widths[at] ?? 1, 0));
  const height = Math.max(...broken.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) =>
    broken.flatMap((lines, column): Line => {
      const line = lines[at] ?? [];
      const pad = (widths[column] ?? 0) - lineWidth(line) + GAP;
      return [...line, span(' '.repeat(Math.max(0, pad)))];
    }),
  );
}

/** A row of a table that is too wide: its first cell, and the others below it. */
function listed(heading: readonly Line[], row: readonly Line[], layout: Layout): readonly Line[] {
  return row.flatMap((cell, at) => {
    if (at === 0) return wrap(toned(cell, 'strong'), layout.width, 0);
    if (lineWidth(cell) === 0) return [];
    const head = heading[at] ?? [];
    const name: readonly Span[] = lineWidth(head) === 0 ? [] : [...head, span(': ')];
    return wrap([span('  '), ...name, ...cell], layout.width, 4);
  });
}
