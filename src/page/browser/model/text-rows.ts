/** A piece of a line: what both sides have, what only the earlier or only the later has. */
export type Piece = { readonly text: string; readonly mark: 'same' | 'removed' | 'added' };

/** A line of a comparison side by side; a side that has nothing there is null. */
export type TextRow =
  | { readonly type: 'same'; readonly text: string }
  | {
      readonly type: 'changed';
      readonly before: readonly Piece[] | null;
      readonly after: readonly Piece[] | null;
    }
  | { readonly type: 'fold'; readonly rows: readonly TextRow[] };

/** Compares two texts line by line. */
export function compareTexts(before: string, after: string): readonly TextRow[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < Math.min(old.length, now.length) - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end += 1;
  const same = (text: string): TextRow => ({ type: 'same', text });
  return [
    ...now.slice(0, start).map(same),
    ...old.slice(start, old.length - end).map(
      (text): TextRow => ({
        type: 'changed',
        before: [{ text, mark: 'removed' }],
        after: null,
      }),
    ),
    ...now.slice(start, now.length - end).map(
      (text): TextRow => ({
        type: 'changed',
        before: null,
        after: [{ text, mark: 'added' }],
      }),
    ),
    ...now.slice(now.length - end).map(same),
  ];
}
