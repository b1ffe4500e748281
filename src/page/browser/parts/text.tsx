import { useMemo } from 'preact/hooks';
import { compareTexts, type Piece, type TextRow } from '../model/text-rows.ts';

export type TextChangeProps = {
  readonly before: string;
  readonly after: string;
  /** What the columns are called. */
  readonly sides: readonly [string, string];
  readonly isWhole: boolean;
  /** Whether it is a text that people wrote, not a value laid out in lines. */
  readonly isProse: boolean;
};

/** Two texts side by side. They are compared when they are first shown. */
export function TextChange({ before, after, sides }: TextChangeProps) {
  const rows = useMemo(() => compareTexts(before, after), [before, after]);
  return (
    <table class="sides">
      <thead>
        <tr>
          <th scope="col">{sides[0]}</th>
          <th scope="col">{sides[1]}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <SideRow key={at} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function SideRow({ row }: { readonly row: TextRow }) {
  if (row.type === 'fold') return null;
  if (row.type === 'same') {
    return (
      <tr>
        <td>{row.text}</td>
        <td>{row.text}</td>
      </tr>
    );
  }
  return (
    <tr>
      <Side pieces={row.before} side="removed" />
      <Side pieces={row.after} side="added" />
    </tr>
  );
}

function Side({
  pieces,
  side,
}: {
  readonly pieces: readonly Piece[] | null;
  readonly side: 'removed' | 'added';
}) {
  if (pieces === null) return <td class="none" />;
  return (
    <td class={side}>
      {pieces.map(({ text, mark }, at) =>
        mark === 'same' ? (
          text
        ) : mark === 'removed' ? (
          <del key={at}>{text}</del>
        ) : (
          <ins key={at}>{text}</ins>
        ),
      )}
    </td>
  );
}
