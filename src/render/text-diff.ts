import { align, type Stretch } from './align.ts';

/** A piece of a changed line: whether it differs from the line's other version, or was left out as equal. */
export type Piece = { readonly text: string; readonly differs: boolean };

/** One row of a folded comparison of two texts. */
export type DiffRow =
  | { readonly type: 'fold'; readonly lines: number }
  | { readonly type: 'same'; readonly text: string }
  | { readonly type: 'removed' | 'added'; readonly pieces: readonly Piece[] };

export type DiffOptions = {
  /** Unchanged lines that stay around a change. */
  readonly lines: number;
  /** Unchanged words that stay around a change within a line. */
  readonly words: number;
};

/** Enough to find the place, and no more. */
export const FOLDED: DiffOptions = { lines: 2, words: 8 };
export const WHOLE: DiffOptions = { lines: Infinity, words: Infinity };

/**
 * Compares two sanitised texts line by line, and lines that were edited word by word. Unchanged stretches
 * are folded: whole lines between changes, and words inside long lines, since a prompt's paragraph is
 * often one line of several hundred words.
 */
export function diffTexts(before: string, after: string, options: DiffOptions): readonly DiffRow[] {
  const stretches = align(linesOf(before), linesOf(after));
  return stretches.flatMap((stretch, index) =>
    stretch.same
      ? fold(stretch.tokens, options.lines, index > 0, index < stretches.length - 1)
      : editedRows(stretch.removed, stretch.added, options.words),
  );
}

/** The platform and block texts differ in their final line break, which says nothing. */
function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** Keeps the lines next to a change. A fold of one line would take as much room as the line. */
function fold(
  lines: readonly string[],
  context: number,
  above: boolean,
  below: boolean,
): DiffRow[] {
  const head = above ? context : 0;
  const tail = below ? context : 0;
  const hidden = lines.length - head - tail;
  const same = (text: string): DiffRow => ({ type: 'same', text });
  if (hidden <= 1) return lines.map(same);
  return [
    ...lines.slice(0, head).map(same),
    { type: 'fold', lines: hidden },
    ...lines.slice(lines.length - tail).map(same),
  ];
}

/** Lines that were edited stand as pairs in their order; the others as removed, then added. */
function editedRows(
  removed: readonly string[],
  added: readonly string[],
  words: number,
): DiffRow[] {
  const rows: DiffRow[] = [];
  let from = 0;
  let loose: string[] = [];
  const flush = (to: number) => {
    rows.push(...loose.map((line) => wholeRow('removed', line)));
    rows.push(...added.slice(from, to).map((line) => wholeRow('added', line)));
    loose = [];
  };
  for (const line of removed) {
    const partner = partnerOf(line, added, from);
    if (partner === undefined) loose.push(line);
    else {
      flush(partner);
      rows.push(...pairRows(line, added[partner] ?? '', words));
      from = partner + 1;
    }
  }
  flush(added.length);
  return rows;
}

function wholeRow(type: 'removed' | 'added', line: string): DiffRow {
  return { type, pieces: [{ text: line, differs: false }] };
}

/** How far ahead a line's new version is looked for, so that a rewritten text stays cheap to compare. */
const LOOK_AHEAD = 20;

/** Lines with less than this in common are different lines, not an edited one. */
const ALIKE = 0.5;

/** Index of the added line that `line` became, or undefined. */
function partnerOf(line: string, added: readonly string[], from: number): number | undefined {
  let best: number | undefined;
  let score = ALIKE;
  const own = new Set(wordsOf(line));
  for (let index = from; index < Math.min(added.length, from + LOOK_AHEAD); index += 1) {
    const alike = likeness(own, new Set(wordsOf(added[index] ?? '')));
    if (alike >= score && (best === undefined || alike > score)) [best, score] = [index, alike];
  }
  return best;
}

/** Share of the words that two lines have in common, from 0 to 1 (Dice's coefficient). */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((word) => b.has(word)).length;
  return a.size + b.size === 0 ? 1 : (2 * common) / (a.size + b.size);
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** A `{{token}}`, a word, or any other mark alone, each with the blanks before it; blanks at the end. */
const TOKEN = /\s*(?:\{\{[^{}]*\}\}|[\p{L}\p{M}\p{N}_]+(?:['’][\p{L}\p{M}]+)*|\S)|\s+$/gsu;

function pairRows(before: string, after: string, words: number): DiffRow[] {
  const sides = { removed: before.match(TOKEN) ?? [], added: after.match(TOKEN) ?? [] };
  // Blanks count only where nothing else differs: otherwise they follow the words.
  const bare = (token: string) => token.trim();
  const onlyBlanks = sides.removed.map(bare).join(' ') === sides.added.map(bare).join(' ');
  const key = onlyBlanks ? (token: string) => token : bare;
  const stretches = align(sides.removed.map(key), sides.added.map(key));
  return (['removed', 'added'] as const).map((type) => ({
    type,
    pieces: elide(piecesOf(stretches, sides[type], type), words),
  }));
}

/** One side of an edited line; a lone mark between two changed words is part of the change. */
function piecesOf(
  stretches: readonly Stretch[],
  tokens: readonly string[],
  side: 'removed' | 'added',
): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const [index, stretch] of stretches.entries()) {
    const count = stretch.same ? stretch.tokens.length : stretch[side].length;
    const text = tokens.slice(at, at + count).join('');
    at += count;
    const between = index > 0 && index < stretches.length - 1;
    const differs = !stretch.same || (between && /^\s*[^\p{L}\p{N}]$/u.test(text));
    const last = pieces.at(-1);
    if (last !== undefined && last.differs === differs) {
      pieces[pieces.length - 1] = { text: last.text + text, differs };
    } else if (text !== '') pieces.push({ text, differs });
  }
  return pieces;
}

/** Replaces the middle of long equal pieces by `…`. */
function elide(pieces: readonly Piece[], words: number): Piece[] {
  if (words === Infinity) return [...pieces];
  return pieces.map((piece, index) => {
    if (piece.differs) return piece;
    const parts = piece.text.match(/\s*\S+/gu) ?? [];
    const head = index > 0 ? words : 0;
    const tail = index < pieces.length - 1 ? words : 0;
    // A few words more are shown rather than replaced.
    if (parts.length <= head + tail + 4) return piece;
    const end = /\s*$/u.exec(piece.text)?.[0] ?? '';
    const first = parts.slice(0, head).join('');
    const last = tail === 0 ? '' : parts.slice(-tail).join('') + end;
    return { text: `${first}${head > 0 ? ' ' : ''}…${last}`, differs: false };
  });
}
