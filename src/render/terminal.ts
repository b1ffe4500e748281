import { cutText, splitText, textWidth } from './width.ts';

/** What the command line found out about the place that the text goes to. */
export type RenderOptions = {
  /** Columns. Below 40 the text is laid out for 40. */
  readonly width: number;
  readonly color: boolean;
  /** Show everything: whole texts, every field, ids, steps. */
  readonly verbose: boolean;
};

/** What a piece of text is, from which its colour follows. */
export type Tone =
  | 'plain'
  | 'strong'
  | 'dim'
  | 'added'
  | 'removed'
  | 'changed'
  | 'replaced'
  | 'adopted'
  | 'warning'
  | 'error'
  | 'added_word'
  | 'removed_word';

export type Span = { readonly text: string; readonly tone: Tone };
/** One line: its text is sanitised and holds no line break. */
export type Line = readonly Span[];

/** Colours a piece of text, or leaves it as it is. */
type Style = (tone: Tone, text: string) => string;

/** Select Graphic Rendition parameters that start a tone; 0 ends it. */
const CODES: { readonly [tone in Tone]: string } = {
  plain: '',
  strong: '1',
  dim: '2',
  added: '32',
  removed: '31',
  changed: '33',
  replaced: '35',
  adopted: '36',
  warning: '1;33',
  error: '1;31',
  added_word: '1;4;32',
  removed_word: '1;9;31',
};

function styleFor(color: boolean): Style {
  return (tone, text) =>
    !color || CODES[tone] === '' || text === '' ? text : `\x1b[${CODES[tone]}m${text}\x1b[0m`;
}

export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + textWidth(text), 0);
}

/** Lines as the text that is printed: coloured, nothing at line ends, a line break after each. */
export function paint(lines: readonly Line[], color: boolean): string {
  const style = styleFor(color);
  const painted = lines.map((line) =>
    joinTones(trimEnd(line))
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

/**
 * Breaks a line at spaces so that nothing goes beyond `width`; what continues is indented by `hanging`
 * columns. A word that is wider than a whole line is broken anywhere.
 */
export function wrap(line: Line, width: number, hanging: number): readonly Line[] {
  const lines: Span[][] = [];
  let current: Span[] = [];
  let used = 0;
  const room = Math.max(width, hanging + 8);
  const next = () => {
    lines.push(current);
    current = hanging > 0 ? [span(' '.repeat(hanging))] : [];
    used = hanging;
  };
  for (const { text, tone } of line) {
    for (const word of text.match(/\s+|\S+/gu) ?? []) {
      const isBlank = word.trim() === '';
      const overflows = used + textWidth(word) > room;
      if (isBlank && lines.length > 0 && used <= hanging) continue;
      if (overflows && (isBlank || used > hanging)) next();
      if (overflows && isBlank) continue;
      let [head, tail] = splitText(word, room - used);
      while (tail !== '') {
        current.push({ text: head, tone });
        next();
        [head, tail] = splitText(tail, room - used);
      }
      current.push({ text: head, tone });
      used += textWidth(head);
    }
  }
  lines.push(current);
  return lines;
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
