import type { Stretch } from './compare-words.ts';
import type { Piece } from './prose-diff.ts';
import type { Word } from './words.ts';

/** Stretches as pieces; a changed word that is called out is a piece of its own. */
export function piecesOf(stretches: readonly Stretch[]): readonly Piece[] {
  return stretches.flatMap((stretch) =>
    stretch.isSame
      ? [samePiece(stretch.words.map(({ before, after }) => [before.text, after.text]))]
      : [...wordPieces(stretch.removed, 'removed'), ...wordPieces(stretch.added, 'added')],
  );
}

function samePiece(words: readonly (readonly [before: string, after: string])[]): Piece {
  const was = words.map(([before]) => before).join('');
  const text = words.map(([, after]) => after).join('');
  return { text, change: 'same', ...(was === text ? {} : { was }) };
}

/** Words that were all removed, or all added. */
export function wordPieces(words: readonly Word[], change: 'removed' | 'added'): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const { text, mark } of words) {
    const last = pieces.at(-1);
    if (last !== undefined && last.mark === undefined && mark === undefined) {
      pieces[pieces.length - 1] = { text: last.text + text, change };
    } else pieces.push({ text, change, ...(mark === undefined ? {} : { mark }) });
  }
  return pieces;
}

/** Stretches whose words are all the same, as pieces that tell the blanks apart. */
export function blankPieces(stretches: readonly Stretch[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let same = '';
  for (const { before, after } of stretches.flatMap((one) => (one.isSame ? one.words : []))) {
    if (before.text === after.text) {
      same += after.text;
      continue;
    }
    if (same !== '') pieces.push({ text: same, change: 'same' });
    const blanks = ({ text, bare }: Word) => text.slice(0, text.length - bare.length);
    const changed: readonly Piece[] = [
      { text: blanks(before), change: 'removed' },
      { text: blanks(after), change: 'added' },
    ];
    pieces.push(...changed.filter(({ text }) => text !== ''));
    same = after.bare;
  }
  if (same !== '') pieces.push({ text: same, change: 'same' });
  return pieces;
}
