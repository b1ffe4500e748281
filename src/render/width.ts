const ASCII = /^[\x20-\x7e]*$/;

/** Blocks whose characters take two columns (Unicode TR 11, wide and fullwidth), less the gaps in them. */
const WIDE =
  /^(?:[\u1100-\u115f\u231a\u231b\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|.\ufe0f)/u;

const MARKS = /^(?:\p{Mn}|\p{Me}|\u200d)*$/u;

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function graphemeWidth(grapheme: string): number {
  if (MARKS.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** Columns that a sanitised text takes on a terminal. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  return graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}

/** The text cut in two so that the first part takes at most `columns`; no character is torn. */
export function splitText(text: string, columns: number): readonly [string, string] {
  const width = Math.max(0, columns);
  // Every column comes from at least one character, and no character seen in practice needs 32.
  const near = text.slice(0, (width + 1) * 32);
  if (ASCII.test(near.slice(0, width + 1))) return [text.slice(0, width), text.slice(width)];
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
export function widestOf(texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, textWidth(text)), 0);
}
