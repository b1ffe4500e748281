import { useState } from 'preact/hooks';
import type { Block, Piece } from '../../../render/prose/prose-diff.ts';
import { formatCount, formatNumber } from '../../../render/wording.ts';

/** Characters of one cell that are shown at once. */
const MOST_TEXT = 20_000;

type BlockRowProps = {
  readonly block: Block;
  /** All of them: where something was moved from, its words stand at its new place. */
  readonly blocks: readonly Block[];
  readonly id: string;
};

/** One paragraph of both texts. */
export function BlockRow({ block, blocks, id }: BlockRowProps) {
  switch (block.type) {
    case 'fold':
      return <FoldRow block={block} />;
    case 'same':
      return (
        <tr class="same">
          <td>{clean(block.was ?? block.text)}</td>
          <td>{clean(block.text)}</td>
        </tr>
      );
    case 'edited':
      return (
        <tr id={id} tabIndex={-1}>
          <Cell side="removed" words={block.words} areWordsMarked />
          <Cell side="added" words={block.words} areWordsMarked />
        </tr>
      );
    case 'removed':
      return (
        <tr id={id} tabIndex={-1}>
          <Cell side="removed" words={block.words} />
          <Nothing />
        </tr>
      );
    case 'added':
      return (
        <tr id={id} tabIndex={-1}>
          <Nothing />
          <Cell side="added" words={block.words} />
        </tr>
      );
    case 'left': {
      const now = blocks[block.to];
      return (
        <tr id={id} tabIndex={-1}>
          <Cell
            side="removed"
            words={now?.type === 'moved' ? now.words : []}
            areWordsMarked
            moved={`${formatCount(block.paragraphs, 'paragraph')} moved to line ${formatNumber(now?.line ?? 0)}`}
          />
          <Nothing />
        </tr>
      );
    }
    case 'moved':
      return (
        <tr id={id} tabIndex={-1}>
          <Nothing />
          <Cell
            side="added"
            words={block.words}
            areWordsMarked
            moved={`moved here from line ${formatNumber(blocks[block.from]?.line ?? 0)}${block.isEdited ? ', and edited' : ''}`}
          />
        </tr>
      );
  }
}

function Nothing() {
  return <td class="none" />;
}

/** A paragraph ends where its cell does. */
function clean(text: string): string {
  return text.replace(/\n+$/, '');
}

type CellProps = {
  readonly side: 'removed' | 'added';
  readonly words: readonly Piece[];
  /** Whether single words differ; a whole paragraph that comes or goes is marked as one. */
  readonly areWordsMarked?: boolean;
  /** Where it went, or came from. */
  readonly moved?: string;
};

function Cell({ side, words, areWordsMarked = false, moved }: CellProps) {
  const [most, setMost] = useState(MOST_TEXT);
  const own = words.filter(({ change }) => change === 'same' || change === side);
  const { shown, rest } = cutPieces(own, most);
  const sign = moved === undefined ? (side === 'removed' ? '−' : '+') : '↕';
  const Mark = side === 'removed' ? 'del' : 'ins';
  return (
    <td class={moved === undefined ? side : 'moved'}>
      <span class="gutter" aria-hidden="true">
        {sign}
      </span>
      {moved === undefined ? null : <span class="moved-note">{moved}</span>}
      {areWordsMarked ? (
        shown.map(({ text, was, change, mark }, at) =>
          change === 'same' ? (
            side === 'removed' ? (
              (was ?? text)
            ) : (
              text
            )
          ) : (
            <MarkedWords key={at} side={side} text={text} isCalled={mark !== undefined} />
          ),
        )
      ) : (
        <Mark class="all">{clean(shown.map(({ text }) => text).join(''))}</Mark>
      )}
      {rest > 0 ? (
        <button type="button" class="quiet" onClick={() => setMost(most * 10)}>
          … {formatNumber(rest)} more characters
        </button>
      ) : null}
    </td>
  );
}

type MarkedProps = Pick<CellProps, 'side'> & { readonly text: string; readonly isCalled: boolean };

/** Words with the blanks before them, which are only marked where nothing but blanks differs. */
function MarkedWords({ side, text, isCalled }: MarkedProps) {
  const Mark = side === 'removed' ? 'del' : 'ins';
  const words = text.trimStart();
  const blanks = words === '' ? '' : text.slice(0, text.length - words.length);
  return (
    <>
      {blanks}
      <Mark class={isCalled ? 'called' : undefined}>{words === '' ? visible(text) : words}</Mark>
    </>
  );
}

/** Blanks that nobody would see. */
function visible(blanks: string): string {
  return blanks.replaceAll(' ', '·').replaceAll('\t', '→').replaceAll('\n', '⏎\n');
}

/** As many pieces as fit into `most` characters. */
function cutPieces(pieces: readonly Piece[], most: number) {
  const shown: Piece[] = [];
  let room = most;
  for (const piece of pieces) {
    if (room <= 0) break;
    shown.push(piece.text.length <= room ? piece : { ...piece, text: piece.text.slice(0, room) });
    room -= piece.text.length;
  }
  const all = pieces.reduce((sum, { text }) => sum + text.length, 0);
  const rest = Math.max(0, all - most);
  const last = shown.at(-1);
  // A line break at the end of a paragraph would be an empty line of its cell.
  const ended = last === undefined ? [] : [{ ...last, text: clean(last.text) }];
  return { shown: [...shown.slice(0, -1), ...ended], rest };
}

/** Unchanged paragraphs, with the headings among them. */
function FoldRow({ block }: { readonly block: Block & { readonly type: 'fold' } }) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) {
    return (
      <tr class="same">
        <td>{clean(block.was ?? block.text)}</td>
        <td>{clean(block.text)}</td>
      </tr>
    );
  }
  return (
    <tr class="fold">
      <td colSpan={2}>
        <button type="button" onClick={() => setOpen(true)}>
          <span aria-hidden="true">⋯</span>
          <span>{formatCount(block.paragraphs, 'unchanged paragraph')}</span>
          <span class="under">{block.headings.join(' · ')}</span>
        </button>
      </td>
    </tr>
  );
}
