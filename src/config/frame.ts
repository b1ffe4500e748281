import { lineAt, lineRange, type Place } from './source.ts';

/** Longest stretch of a line that a frame shows; longer lines are cut around the place. */
const WIDTH = 140;
const BEFORE = 50;
const MASK = '***';

type Shown = {
  readonly text: string;
  /** Where an offset of the file stands in `text`. */
  readonly at: (offset: number) => number;
  /** It is the last of its file. */
  readonly last: boolean;
};

/** One line with what must not be seen replaced, and with control characters made visible. */
function showLine(place: Place, line: number, masks: readonly Place[]): Shown | undefined {
  const range = lineRange(place.source, line);
  if (range === undefined) return undefined;
  const last = range.end === place.source.text.length;
  const covered = masks
    .filter((mask) => mask.start < range.end && mask.end > range.start)
    .map((mask) => ({
      start: Math.max(mask.start, range.start),
      end: Math.min(mask.end, range.end),
    }))
    .sort((a, b) => a.start - b.start);
  let text = '';
  let from = range.start;
  const pieces: { readonly start: number; readonly shown: number }[] = [];
  for (const mask of covered) {
    if (mask.end <= from) continue;
    const start = Math.max(mask.start, from);
    text += place.source.text.slice(from, start);
    pieces.push({ start, shown: text.length });
    text += MASK;
    from = mask.end;
    pieces.push({ start: from, shown: text.length });
  }
  text += place.source.text.slice(from, range.end);
  const at = (offset: number) => {
    const piece = pieces.findLast(({ start }) => start <= offset);
    return piece === undefined
      ? offset - range.start
      : Math.min(piece.shown + offset - piece.start, text.length);
  };
  return { text: text.replace(/[[\p{Cc}\p{Bidi_Control}]--\t]/gv, '\uFFFD'), at, last };
}

function cut(text: string, from: number): string {
  const end = from + WIDTH;
  return `${from > 0 ? '…' : ''}${text.slice(from, end)}${end < text.length ? '…' : ''}`;
}

/**
 * The line of a place with its neighbours and a caret under the place. `masks` are the stretches of the
 * file that hold secrets: they are shown as `***`, whatever the frame is about.
 */
export function frameOf(place: Place, masks: readonly Place[]): string {
  const line = lineAt(place.source, place.start);
  const wanted = showLine(place, line, masks);
  if (wanted === undefined) return '';
  const caret = wanted.at(place.start);
  const until = Math.max(caret + 1, Math.min(wanted.at(place.end), wanted.text.length));
  const from = wanted.text.length > WIDTH ? Math.max(0, caret - BEFORE) : 0;
  const digits = String(line + 1).length;
  const rows: string[] = [];
  for (const number of [line - 1, line, line + 1]) {
    const shown = number === line ? wanted : showLine(place, number, masks);
    // The empty line that a file's last line break begins shows nothing.
    if (shown === undefined || (number > line && shown.text === '' && shown.last)) continue;
    const mark = number === line ? '>' : ' ';
    rows.push(`${mark} ${String(number).padStart(digits)} | ${cut(shown.text, from)}`.trimEnd());
    if (number !== line) continue;
    const before = `${from > 0 ? ' ' : ''}${wanted.text.slice(from, caret)}`;
    const indent = [...before].map((char) => (char === '\t' ? '\t' : ' ')).join('');
    const width = Math.min([...wanted.text.slice(caret, until)].length, WIDTH - BEFORE);
    rows.push(`  ${' '.repeat(digits)} | ${indent}${'^'.repeat(Math.max(1, width))}`);
  }
  return rows.join('\n');
}
