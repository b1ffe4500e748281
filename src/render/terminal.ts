import type { Address } from '../core/address.ts';
import { codeSpan, splitCommands } from '../core/command-line.ts';
import { addressText, factorAddresses } from './addresses.ts';
import { END_OF_ISOLATE, isolate, sanitiseLine } from './untrusted.ts';
import { formatNumber } from './wording.ts';

/** Text for a terminal: lines of toned pieces, how wide they are, and the layouts that the renderers share. */

/** The facts about the place that the text goes to, as the command line found them. */
export type RenderOptions = {
  /** Columns. Below 40 the text is laid out for 40. */
  readonly width: number;
  readonly color: boolean;
  /** Show everything: whole texts, every field, ids, steps. */
  readonly verbose: boolean;
  /** The text goes to a program or a file: no row of a table is cut. */
  readonly isPiped?: boolean;
};

/**
 * A piece of text by what it is. A sentence is in the terminal's own colour, since no other can be read on every background:
 * `plain`, or `strong` where it decides. The others are marks of a few characters, or words that differ.
 */
export type Tone =
  | 'plain'
  | 'strong'
  | 'added'
  | 'removed'
  | 'changed'
  | 'replaced'
  | 'adopted'
  | 'warning'
  | 'error'
  | 'added_word'
  | 'removed_word';

/** How an outcome looks. Colour alone never carries information. */
export type Look = { readonly mark: string; readonly word: string; readonly tone: Tone };

export type Span = {
  readonly text: string;
  readonly tone: Tone;
  /**
   * `whole`: it is not broken over lines. `live`: it is a value or a text of somebody, so that accents in it mark no
   * command. Otherwise it is a message.
   */
  readonly of?: 'whole' | 'live';
};
/** One line: its text is sanitised and holds no line break. */
export type Line = readonly Span[];

/** Colours a piece of text, or leaves it as it is. */
type Style = (tone: Tone, text: string) => string;

/** White on a dark colour of the 256 that no theme changes. */
const onDark = (color: number): string => `38;5;231;48;5;${color}`;

/** Select Graphic Rendition parameters that start a tone; 0 ends it. A mark brings its own background. */
export const CODES: { readonly [tone in Tone]: string } = {
  plain: '',
  strong: '1',
  added: onDark(22),
  removed: onDark(88),
  changed: onDark(24),
  replaced: onDark(54),
  adopted: onDark(23),
  warning: '38;5;16;48;5;214',
  error: onDark(88),
  added_word: `4;${onDark(22)}`,
  removed_word: `9;${onDark(88)}`,
};

function styleFor(color: boolean): Style {
  return (tone, text) =>
    !color || CODES[tone] === '' || text === '' ? text : `\x1b[${CODES[tone]}m${text}\x1b[0m`;
}

/**
 * Makes a text harmless: a terminal finds nothing in it to act on, and it does not change the places of other spans. A
 * `Span` by hand is for what is harmless already.
 */
export function span(text: string, tone: Tone = 'plain'): Span {
  return { text: isolate(sanitiseLine(text)), tone };
}

/** Makes a span that is not broken over lines, such as an address, a path or code that a person may copy. */
export function wholeSpan(text: string, tone: Tone = 'plain'): Span {
  return { ...span(text, tone), of: 'whole' };
}

/** A value, or a text that somebody wrote: it reads as it is. */
export function liveSpan(text: string, tone: Tone = 'plain'): Span {
  return { ...span(text, tone), of: 'live' };
}

export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + textWidth(text), 0);
}

/** Lines as the text that is printed: coloured, nothing at line ends, a line break after each. */
export function paint(lines: readonly Line[], color: boolean): string {
  const style = styleFor(color);
  const painted = lines.map((line) =>
    joinTones(withEnds(withoutCommand(trimEnd(line))))
      .map(({ tone, text }) => style(tone, text))
      .join(''),
  );
  return painted.map((line) => `${line}\n`).join('');
}

/** Neighbours of one tone become one piece, so that a code is not repeated for every word. */
function joinTones(line: Line): Line {
  const joined: Span[] = [];
  for (const { text, tone } of line) {
    const last = joined.at(-1);
    if (last?.tone === tone) joined[joined.length - 1] = { text: last.text + text, tone };
    else joined.push({ text, tone });
  }
  return joined;
}

function trimEnd(line: Line): Line {
  const last = line.at(-1);
  if (last === undefined) return line;
  const text = last.text.trimEnd();
  if (text === '') return trimEnd(line.slice(0, -1));
  return text === last.text ? line : [...line.slice(0, -1), { ...last, text }];
}

const ISOLATING = /[\u2066\u2067\u2069]/;
const EACH_ISOLATING = new RegExp(ISOLATING, 'g');

/** The isolates that some pieces leave open. */
function openIsolates(line: Line, before: readonly string[] = []): readonly string[] {
  const open = [...before];
  for (const { text } of line) {
    if (!ISOLATING.test(text)) continue;
    for (const [sign] of text.matchAll(EACH_ISOLATING)) {
      if (sign === END_OF_ISOLATE) open.pop();
      else open.push(sign);
    }
  }
  return open;
}

/** The part that was cut off may have held the end of an isolate. */
function withEnds(line: Line): Line {
  const open = openIsolates(line);
  return open.length === 0 ? line : [...line, ...ends(open)];
}

function ends(open: readonly string[]): Line {
  return open.length === 0 ? [] : [{ text: END_OF_ISOLATE.repeat(open.length), tone: 'plain' }];
}

/** An isolate ends with its line: one that goes on is ended, and begun again in the next line. */
function withIsolates(lines: readonly Line[], margin: number): readonly Line[] {
  let open: readonly string[] = [];
  return lines.map((line, at) => {
    const before = open;
    if (before.length === 0 && !line.some(({ text }) => ISOLATING.test(text))) return line;
    open = openIsolates(line, before);
    const start: Line = before.length === 0 ? [] : [{ text: before.join(''), tone: 'plain' }];
    const own = trimEnd(line);
    const lead = at === 0 ? 0 : margin;
    return [...own.slice(0, lead), ...start, ...own.slice(lead), ...ends(open)];
  });
}

/**
 * Breaks up a command to a runner (`untrusted.ts`): words that are none where they stand may become one at a new line's
 * beginning.
 */
function withoutCommand(line: Line): Line {
  const at = line.findIndex(({ text }) => text.trim() !== '');
  const first = line[at];
  if (first?.text.trimStart().startsWith(':') !== true) return line;
  const text = line.map((one) => one.text).join('');
  if (!text.trimStart().startsWith('::')) return line;
  return line.with(at, { ...first, text: first.text.replace(':', '\\x3a') });
}

/** How far a command on a line of its own stands in. */
const COMMAND_INDENT = 2;

/**
 * Breaks a line at spaces so that nothing goes beyond `width`; what continues is indented by `hanging` columns. Whatever
 * somebody copies stays whole, however wide it is: a command, an address, a path, a host, a number. A command that does
 * not fit stands on a line of its own, without its accents, ready to be pasted. So does a word that is too wide for what
 * continues, but not for a line that begins further left.
 */
export function wrap(line: Line, width: number, hanging: number): readonly Line[] {
  const lines: Span[][] = [];
  let current: Span[] = [];
  let used = 0;
  const room = Math.max(width, hanging + 8);
  const next = (indent = hanging) => {
    lines.push(current);
    current = indent > 0 ? [span(' '.repeat(indent))] : [];
    used = indent;
  };
  const words = splitWords(line);
  const outdent = indentation(line) + 2 * COMMAND_INDENT;
  const alone = commandAlone(words, room, hanging);
  if (alone !== undefined) return alone;
  for (const [at, word] of words.entries()) {
    const { spans, isBlank, command } = word;
    if (isBlank && lines.length > 0 && used <= hanging) continue;
    const overflows = used + lineWidth(spans) > room;
    if (command !== undefined && overflows) {
      if (isBlankLine(current)) current = [span(' '.repeat(hanging + COMMAND_INDENT))];
      else next(hanging + COMMAND_INDENT);
      current.push(command);
      used = hanging + COMMAND_INDENT;
      if (words.slice(at + 1).some((one) => !one.isBlank)) next();
      continue;
    }
    const own = overflows && !isBlank && isOnePiece(spans) ? lineWidth(spans) : 0;
    const isOut = outdent < hanging && own > room - hanging && own <= room - outdent;
    if (overflows && (isBlank || used > hanging || isOut)) next(isOut ? outdent : hanging);
    if (overflows && isBlank) continue;
    for (const { text, tone, of } of spans) {
      const parts = of === 'whole' ? [text] : splitUnits(text, room - used, room - hanging);
      for (const [index, part] of parts.entries()) {
        if (index > 0) next();
        current.push({ text: part, tone });
        used += textWidth(part);
      }
    }
  }
  if (lines.length === 0 || !isBlankLine(current)) lines.push(current);
  return withIsolates(lines, hanging > 0 ? 1 : 0);
}

/** Columns of the blanks before the name that a line begins with; 0 where none is there. */
function indentation([first]: Line): number {
  return /^ +(?=\S)/.exec(first?.text ?? '')?.[0].length ?? 0;
}

/** Tells a word that no line break may split. */
function isOnePiece(spans: Line): boolean {
  return spans.every(
    ({ text, of }) => of === 'whole' || (text.length <= LONGEST_UNIT && NARROW.test(text)),
  );
}

function isBlankLine(line: Line): boolean {
  return line.every(({ text }) => text.trim() === '');
}

/** A word of a line, or the blanks between two. A word may have several tones: `(`, a name and `)`. */
type Word = {
  readonly spans: Line;
  readonly isBlank: boolean;
  /** The command that it is, without its accents and without what ends the sentence behind it. */
  readonly command?: Span;
};

/** A line that is a command with at most a comment behind it; the comment goes below where it does not fit. */
function commandAlone(
  words: readonly Word[],
  room: number,
  hanging: number,
): readonly Line[] | undefined {
  const at = words.findIndex(({ isBlank }) => !isBlank);
  const command = words[at]?.command;
  const rest = words.slice(at + 1);
  const comment = rest.findIndex(({ isBlank }) => !isBlank);
  if (command === undefined) return undefined;
  if (comment >= 0 && rest[comment]?.spans[0]?.text.startsWith('#') !== true) return undefined;
  const head = [...words.slice(0, at).flatMap(({ spans }) => spans), command];
  const line = [...head, ...rest.flatMap(({ spans }) => spans)];
  if (comment < 0 || lineWidth(line) <= room) return [line];
  const below = rest.slice(comment).flatMap(({ spans }) => spans);
  return [head, ...wrap([span(' '.repeat(hanging)), ...below], room, hanging)];
}

function splitWords(line: Line): readonly Word[] {
  const words: { readonly parts: WordPart[]; readonly isBlank: boolean }[] = [];
  const add = (part: WordPart) => {
    const isBlank = part.text.trim() === '';
    const last = words.at(-1);
    if (last !== undefined && !last.isBlank && !isBlank) last.parts.push(part);
    else words.push({ parts: [part], isBlank });
  };
  for (const { text, tone, of } of line) {
    if (of === 'whole') {
      add({ text, tone, of });
      continue;
    }
    for (const passage of of === 'live' ? [{ text, isCommand: false }] : splitCommands(text)) {
      if (passage.isCommand) add({ text: codeSpan(passage.text), tone, command: passage.text });
      else for (const part of splitBlanks(passage.text)) add({ text: part, tone });
    }
  }
  return words.map(({ parts, isBlank }) => {
    const [first, ...rest] = parts;
    const behind = rest.map(({ text }) => text).join('');
    return first?.command === undefined || !ENDING.test(behind)
      ? { spans: parts, isBlank }
      : { spans: parts, isBlank, command: { text: first.command, tone: first.tone } };
  });
}

/** Columns of the widest of what is not broken over lines. */
export function widestWord(line: Line): number {
  return splitWords(line).reduce((widest, { spans }) => Math.max(widest, lineWidth(spans)), 0);
}

/** A part of a word in one tone, and the command that it is, without its accents. */
type WordPart = Span & { readonly command?: string };

/** The sign behind a command in a sentence, which would be pasted with it. */
const ENDING = /^[.,;:]?$/;

/** Texts that stay in one piece although they have blanks: the key of a row or of an element, and a telephone number. */
const UNIT = /\["(?:[^"\\]|\\.){0,500}"\]|\+\d(?:[ ().-]*\d){5,}/g;

/** A text in words and blanks. */
function splitBlanks(text: string): readonly string[] {
  const parts: string[] = [];
  let isOpen = false;
  const add = (part: string) => {
    const isBlank = part.trim() === '';
    if (isOpen && !isBlank) parts[parts.length - 1] += part;
    else parts.push(part);
    isOpen = !isBlank;
  };
  let from = 0;
  for (const { index, 0: unit } of text.matchAll(UNIT)) {
    for (const part of text.slice(from, index).match(/\s+|\S+/gu) ?? []) add(part);
    add(unit);
    from = index + unit.length;
  }
  for (const part of text.slice(from).match(/\s+|\S+/gu) ?? []) add(part);
  return parts;
}

/** A word of so many characters is no path: it is broken like a text without blanks. */
const LONGEST_UNIT = 1024;

/** Scripts that are written without blanks, in which a line may end anywhere; Unicode UAX 14 names them. */
const UNSPACED = /\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}|\p{Script=Myanmar}/u;

/** A word in parts that fit the rest of a line and then whole lines: where its script has no blanks, or none reads it. */
function splitUnits(word: string, first: number, whole: number): readonly string[] {
  if (textWidth(word.slice(0, LONGEST_UNIT)) <= first && word.length <= LONGEST_UNIT) return [word];
  if (word.length > LONGEST_UNIT) return splitAnywhere(word, first, whole);
  if (NARROW.test(word)) return [word];
  const units = unbreakable(word);
  const parts: string[] = [];
  let part = '';
  let room = first;
  for (const [at, unit] of units.entries()) {
    // A line may also end before such a word, which may be the second half of one: `{+六+}時`.
    const mayEnd = part !== '' || (at === 0 && first < whole && units.some(isFree));
    if (mayEnd && textWidth(part + unit) > room) {
      parts.push(part);
      part = '';
      room = whole;
    }
    part += unit;
  }
  return [...parts, part];
}

function splitAnywhere(word: string, first: number, whole: number): readonly string[] {
  const parts: string[] = [];
  let [head, tail] = splitText(word, first);
  while (tail !== '') {
    parts.push(head);
    [head, tail] = splitText(tail, whole);
  }
  return [...parts, head];
}

/** The pieces of a word between which a line may end: beside each wide character, and in scripts without blanks. */
function unbreakable(word: string): readonly string[] {
  const pieces: string[] = [];
  let isOpen = false;
  for (const grapheme of graphemes(word)) {
    const isOwn = isFree(grapheme);
    if (isOpen && !isOwn) pieces[pieces.length - 1] += grapheme;
    else pieces.push(grapheme);
    isOpen = !isOwn;
  }
  return pieces;
}

/** Tells a character beside which a line may end. */
function isFree(grapheme: string): boolean {
  return WIDE.test(grapheme) || UNSPACED.test(grapheme);
}

/** A line cut to `width`, with `…` where something is missing. */
export function cutLine(line: Line, width: number): Line {
  const kept: Span[] = [];
  let room = width;
  for (const [index, { text, tone }] of line.entries()) {
    const own = textWidth(text);
    if (own > room || (own === room && index < line.length - 1)) {
      return [...kept, { text: cutText(`${text}…`, room), tone }];
    }
    kept.push({ text, tone });
    room -= own;
  }
  return kept;
}

/** Characters of one column each that join with no other: most texts, with the signs among them, have no others. */
const NARROW =
  /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u0391-\u03ff\u0400-\u0482\u048a-\u052f\u05d0-\u05ea\u2010-\u2027\u2190-\u2199\u21e5\u2248\u22ef\u23ce\u2423]*$/;

/** Blocks whose characters take two columns (Unicode TR 11, wide and fullwidth), less the gaps in them. */
const WIDE =
  /^(?:[\u1100-\u115f\u231a\u231b\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|.\ufe0f)/u;

/** Characters that take a column of their own: a vowel sign beside its letter does, one above it does not. */
const TAKING = /(?![\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff])[\s\S]/gu;

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function graphemeWidth(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : (grapheme.match(TAKING)?.length ?? 0);
}

/** Columns that a sanitised text takes on a terminal. */
export function textWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  return graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}

/** The text cut in two so that the first part takes at most `columns`; no character is torn. */
export function splitText(text: string, columns: number): readonly [string, string] {
  const width = Math.max(0, columns);
  // Every column comes from at least one character, and no character seen in practice needs 32.
  const near = text.slice(0, (width + 1) * 32);
  if (NARROW.test(near.slice(0, width + 1))) return [text.slice(0, width), text.slice(width)];
  let taken = 0;
  let at = 0;
  for (const grapheme of graphemes(near)) {
    taken += graphemeWidth(grapheme);
    if (taken > width) break;
    at += grapheme.length;
  }
  return [text.slice(0, at), text.slice(at)];
}

/** The text, or its beginning and `…`, in at most `width` columns. */
export function cutText(text: string, width: number): string {
  const [head, tail] = splitText(text, width);
  return tail === '' ? head : `${splitText(text, width - 1)[0]}…`;
}

/** The text with spaces after it up to `width` columns. */
export function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

/** Columns of the widest of some texts. */
export function measureWidest(texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, textWidth(text)), 0);
}

/** A text in lines, broken between words. */
export function noteLines(text: string, width: number, tone: Tone = 'strong'): readonly Line[] {
  return wrap([span(text, tone)], width, 0);
}

/** A sentence for people, broken between words. */
export function sentence(text: string, { width, color }: RenderOptions): string {
  return paint(noteLines(text, width, 'plain'), color);
}

/** Sentences for people, broken between words to the width; its own line breaks stay, and items stay indented. */
export function renderProse(text: string, { width, color }: RenderOptions): string {
  const lines = text.split('\n').flatMap((line) => {
    const indent = line.length - line.trimStart().length;
    return wrap([span(line)], width, indent === 0 ? 0 : indent + 2);
  });
  return paint(lines, color);
}

/** Renders lines that are redrawn while work goes on: they are cut, not broken, so that their number stays. */
export function renderLive(lines: readonly Line[], { width, color }: RenderOptions): string {
  // The last column stays free: some terminals begin a new line there.
  return paint(
    lines.map((line) => cutLine(line, Math.max(width - 1, 20))),
    color,
  );
}

/** Something said of one thing: what it is called, and its value; null for one that it does not have. */
export type Fact = readonly [name: string, value: string | null, tone?: Tone];

/** Longer names are rare, and would leave no room beside the others. */
const WIDEST_NAME = 36;

/** Facts below each other, names in a column, values broken to the width; one that cannot be stands below its name. */
export function factLines(facts: readonly Fact[], width: number, indent = 0): readonly Line[] {
  const shown = facts.flatMap(([name, value, tone]) =>
    value === null ? [] : [{ name: sanitiseLine(name), value, tone }],
  );
  const column = Math.min(measureWidest(shown.map(({ name }) => name)), WIDEST_NAME);
  return shown.flatMap(({ name, value, tone }) => {
    const lead = ' '.repeat(indent);
    const room = width - indent - column - 2;
    const widest = widestWord([span(value, tone)]);
    if (widest > room && widest <= width - indent - 4)
      return [
        [span(lead + name)],
        ...wrap([span(`${lead}    `), span(value, tone)], width, indent + 4),
      ];
    const head = `${lead}${padText(name, column)}  `;
    return wrap([span(head), span(value, tone)], width, indent + column + 2);
  });
}

/** A text below what it is said of. */
export function belowLines(
  text: string,
  { width }: RenderOptions,
  tone: Tone = 'plain',
): readonly Line[] {
  return wrap([span('    '), span(text, tone)], width, 4);
}

/** One of a list, and what is said of it. */
export function itemLines(name: string, text: string, width: number): readonly Line[] {
  return wrap([span(`  ${name}`), span(text)], width, 4);
}

/** The first of a list, unless everything is asked for, and how many more there are. */
export function listLines<T>(
  items: readonly T[],
  drawLines: (item: T) => readonly Line[],
  most: number,
  options: RenderOptions,
  what = 'more',
): readonly Line[] {
  const shown = options.verbose ? items : items.slice(0, most);
  return [...shown.flatMap(drawLines), ...moreLines(items.length - shown.length, options, what)];
}

/** Blocks of lines with an empty line between them; what has no lines is no block. */
export function spaced(blocks: readonly (readonly Line[])[]): readonly Line[] {
  const shown = blocks.filter((lines) => lines.length > 0);
  return shown.flatMap((lines, at) => (at === 0 ? lines : [[], ...lines]));
}

/** Lines below a title, an empty line above it; nothing where there are none. */
export function titled(
  title: Span,
  lines: readonly Line[],
  { width }: Pick<RenderOptions, 'width'>,
): readonly Line[] {
  return lines.length === 0 ? [] : [[], ...wrap([title], width, 2), ...lines];
}

/** `⋯ 12 more; --verbose lists them`; nothing where nothing is hidden. */
export function moreLines(
  hidden: number,
  { width }: RenderOptions,
  what = 'more',
): readonly Line[] {
  if (hidden === 0) return [];
  return wrap([span(`  ⋯ ${formatNumber(hidden)} ${what}; --verbose lists them`)], width, 4);
}

/** A text, and at the right what is said beside it; below it where there is no room. */
export function besideLines(left: Span, right: Span, width: number): readonly Line[] {
  const room = width - lineWidth([left, right]);
  if (room >= 2 && right.text !== '') return [[left, span(' '.repeat(room)), right]];
  return [left, right].flatMap((one) => (one.text === '' ? [] : wrap([one], width, 2)));
}

/** Addresses below what is said of them all, none left out. */
export function addressLines(
  addresses: readonly Address[],
  { width }: Pick<RenderOptions, 'width'>,
): readonly Line[] {
  return factorAddresses(addresses).flatMap((list) =>
    wrap([span('    '), liveSpan(addressText(list))], width, 6),
  );
}

/** A command, and what it is for. */
export type Way = readonly [command: string, does: string];

/** The commands that go on from here, one a line and whole, each with what it is for beside or below it. */
export function wayLines(ways: readonly Way[], { width }: RenderOptions): readonly Line[] {
  const column = measureWidest(ways.map(([command]) => command));
  const widest = measureWidest(ways.map(([, does]) => does));
  const isBeside = column + widest + 2 * COMMAND_INDENT + 2 <= width;
  return ways.flatMap(([command, does]) =>
    isBeside
      ? [[span(`  ${padText(command, column)}  ${does}`)]]
      : [[span(`  ${command}`)], ...wrap([span('    '), span(does)], width, 4)],
  );
}
