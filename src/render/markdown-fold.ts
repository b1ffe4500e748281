import { formatCount } from './wording.ts';

/** Characters that GitHub takes in a comment; GitLab takes 1,000,000. */
export const GITHUB_LIMIT = 65_536;

/** What a page says that has no room for any change. */
export function tooLong(changes: number, command: string): string {
  return `_${formatCount(changes, 'change')} not shown: they do not fit a comment. \`callsheet ${command}\` shows them all._`;
}

/** A part of a page. `item` is the line that stands for it where it does not fit. */
type Piece = { readonly text: string; readonly item: string | undefined };

/** Folds the longest pieces until all fit, then leaves out from the end what still does not. */
export function foldToFit(pieces: readonly Piece[], room: number, command = 'plan'): string {
  const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
  if (length <= room) return pieces.map(({ text }) => text).join('');
  const notice = (folded: number, missing: number) =>
    `\n\n_${[
      ...(folded > 0 ? [`${formatCount(folded, 'change')} folded`] : []),
      ...(missing > 0 ? [`${formatCount(missing, 'change')} not shown`] : []),
    ].join(', ')}: a comment is too short for them. \`callsheet ${command}\` shows them all._`;
  let over = length + notice(pieces.length, pieces.length).length - room;
  const folded = new Set<Piece>();
  for (const piece of [...pieces].sort((a, b) => b.text.length - a.text.length)) {
    if (over <= 0) break;
    if (piece.item === undefined || piece.item.length + 1 >= piece.text.length) continue;
    folded.add(piece);
    // One character more: a list needs an empty line before it.
    over -= piece.text.length - piece.item.length - 1;
  }
  const kept = [...pieces];
  let missing = 0;
  while (over > 0 && kept.length > 0) {
    const last = kept.pop();
    if (last === undefined) break;
    const isFolded = folded.delete(last);
    missing += last.item === undefined ? 0 : 1;
    over -= isFolded ? (last.item?.length ?? 0) + 1 : last.text.length;
  }
  const text = kept.map((piece, at) => {
    if (!folded.has(piece)) return piece.text;
    const above = kept[at - 1];
    return `${above && folded.has(above) ? '' : '\n'}${piece.item}`;
  });
  return text.join('') + notice(folded.size, missing);
}
