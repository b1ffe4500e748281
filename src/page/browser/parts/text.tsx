import { useId, useMemo, useState } from 'preact/hooks';
import type { Callout } from '../../../core/plan-document.ts';
import { type Block, findBlock, type Piece, type ProseDiff } from '../../../render/prose/blocks.ts';
import { calloutRow } from '../../../render/prose/callout-words.ts';
import { diffProse } from '../../../render/prose/diff.ts';
import { cutPieces } from '../../../render/prose/view.ts';
import { showBlanks, showOddWithin } from '../../../render/white-space.ts';
import { formatCount, formatNumber, tally } from '../../../render/wording.ts';

type TextChangeProps = {
  readonly before: string;
  readonly after: string;
  readonly callouts: readonly Callout[];
  /** What the columns are called. */
  readonly sides: readonly [string, string];
  readonly isWhole: boolean;
  /** Whether it is a text that people wrote, not a value laid out in lines. */
  readonly isProse: boolean;
};

/** Blocks that are shown at once. */
const STEP = 200;
/** Longer texts are compared when somebody asks: it takes a while. */
const MOST_UNASKED = 400_000;

/** Two texts side by side. They are compared when the change is opened, and not before. */
export function TextChange(props: TextChangeProps) {
  const { before, after } = props;
  const [isAsked, setAsked] = useState(before.length + after.length <= MOST_UNASKED);
  if (isAsked) return <Comparison {...props} />;
  return (
    <p class="value">
      {formatNumber(before.length)} → {formatNumber(after.length)} characters{' '}
      <button type="button" onClick={() => setAsked(true)}>
        Compare
      </button>
    </p>
  );
}

function Comparison({ before, after, callouts, sides, isWhole, isProse }: TextChangeProps) {
  const [most, setMost] = useState(STEP);
  const id = useId();
  const diff = useMemo(
    () => diffProse(before, after, isWhole ? { context: Number.POSITIVE_INFINITY } : {}),
    [before, after, isWhole],
  );
  const shown = isWhole ? diff.blocks.slice(0, 10 * STEP) : diff.blocks.slice(0, most);
  const rest = diff.blocks.length - shown.length;
  return (
    <div class={isProse ? 'text' : 'text code-text'}>
      {isProse ? <Summary diff={diff} /> : null}
      {isProse ? (
        <Callouts
          callouts={callouts}
          blocks={diff.blocks}
          id={id}
          onReach={(at) => setMost(Math.max(most, at + STEP))}
        />
      ) : null}
      <table class="sides">
        <thead>
          <tr>
            <th scope="col">{sides[0]}</th>
            <th scope="col">{sides[1]}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((block, at) => (
            <BlockRow key={at} block={block} blocks={diff.blocks} id={`${id}-${at}`} />
          ))}
        </tbody>
      </table>
      {rest > 0 ? (
        <p class="rest">
          {isWhole ? (
            `${formatCount(rest, 'more paragraph')}, not printed`
          ) : (
            <button type="button" class="quiet" onClick={() => setMost(most + STEP)}>
              Show {formatCount(Math.min(STEP, rest), 'more paragraph')} of {formatNumber(rest)}
            </button>
          )}
        </p>
      ) : null}
    </div>
  );
}

/** How much of the text differs, so that a reader knows what to expect. */
function Summary({ diff }: { readonly diff: ProseDiff }) {
  const { words, paragraphs } = diff.counts;
  if (diff.whitespaceOnly) return null;
  const told = tally([
    [paragraphs.edited, 'edited'],
    [paragraphs.added, 'added'],
    [paragraphs.removed, 'removed'],
    [paragraphs.moved, 'moved'],
    [paragraphs.same, 'unchanged'],
  ]);
  return (
    <p class="sum">
      {words.removed + words.added === 0 ? null : (
        <span class="words">
          {words.removed === 0 ? null : <del>−{formatNumber(words.removed)}</del>}{' '}
          {words.added === 0 ? null : <ins>+{formatNumber(words.added)}</ins>} words
        </span>
      )}
      <span>Paragraphs: {told}</span>
      {diff.limited ? <span>So much differs that some paragraphs are shown as wholes.</span> : null}
    </p>
  );
}

/** Callouts that are shown at once. */
const MOST_CALLOUTS = 8;

/** The labels of values; a call-out of an instruction has its label in its words. */
const SORT_NAMES: { readonly [sort in Callout['sort']]?: string } = {
  token: 'Token',
  tool: 'Tool',
  phone: 'Phone number',
  link: 'Address',
  transfer: 'Transfer',
  number: 'Number',
};

type CalloutsProps = {
  readonly callouts: readonly Callout[];
  readonly blocks: ProseDiff['blocks'];
  /** What the ids of the rows begin with. */
  readonly id: string;
  /** Has the row of a block shown. */
  readonly onReach: (block: number) => void;
};

/** Changes that turn what a text does, named before it is read. */
function Callouts({ callouts, blocks, id, onReach }: CalloutsProps) {
  const [most, setMost] = useState(MOST_CALLOUTS);
  if (callouts.length === 0) return null;
  const rest = callouts.length - most;
  const goTo = (callout: Callout) => () => {
    const block = findBlock(blocks, callout.line, callout.after === null ? 'before' : 'after');
    onReach(block);
    requestAnimationFrame(() => {
      const row = document.getElementById(`${id}-${block}`);
      row?.scrollIntoView({ block: 'center' });
      row?.focus();
    });
  };
  return (
    <div class="callouts">
      <h4>Look at</h4>
      <ul>
        {callouts.slice(0, most).map((callout, at) => (
          <li key={at}>
            <button type="button" onClick={goTo(callout)}>
              <Words callout={callout} />
            </button>
          </li>
        ))}
        {rest > 0 ? (
          <li>
            <button type="button" class="quiet" onClick={() => setMost(callouts.length)}>
              {formatNumber(rest)} more
            </button>
          </li>
        ) : null}
      </ul>
    </div>
  );
}

function Words({ callout }: { readonly callout: Callout }) {
  const { lead, before, after, place, isSentence } = calloutRow(callout);
  const isMoved = before === null && callout.before !== null;
  const rule = lead.replace(/^./, (first) => first.toUpperCase()).slice(0, -1);
  return (
    <>
      <span class="mark">{SORT_NAMES[callout.sort] ?? rule}</span>
      <span class="turn">
        {isSentence || lead === '' ? null : `${lead} `}
        {before === null ? null : <del>{before}</del>}
        {before !== null && after !== null ? <span aria-hidden="true"> → </span> : null}
        {after === null ? null : isMoved ? after : <ins>{after}</ins>}
      </span>
      <span class="where">{place}</span>
    </>
  );
}

/** Characters of one cell that are shown at once. */
const MOST_TEXT = 20_000;

type BlockRowProps = {
  readonly block: Block;
  /** All of them: where something was moved from, its words stand at its new place. */
  readonly blocks: readonly Block[];
  readonly id: string;
};

/** One paragraph of both texts. */
function BlockRow({ block, blocks, id }: BlockRowProps) {
  if (block.type === 'fold') return <FoldRow block={block} />;
  if (block.type === 'same') return <SameRow block={block} />;
  const { removed, added } = buildCells(block, blocks);
  const none = <td class="none" />;
  return (
    <tr id={id} tabIndex={-1}>
      {removed === undefined ? none : <Cell side="removed" {...removed} />}
      {added === undefined ? none : <Cell side="added" {...added} />}
    </tr>
  );
}

type Cells = { readonly [side in CellProps['side']]?: Omit<CellProps, 'side'> };

function buildCells(
  block: Exclude<Block, { readonly type: 'fold' | 'same' }>,
  blocks: readonly Block[],
): Cells {
  switch (block.type) {
    case 'edited': {
      const both = { words: block.words, areWordsMarked: true };
      return { removed: both, added: both };
    }
    case 'removed':
      return { removed: { words: block.words } };
    case 'added':
      return { added: { words: block.words } };
    case 'left': {
      const now = blocks[block.to];
      const words = now?.type === 'moved' ? now.words : [];
      const moved = `${formatCount(block.paragraphs, 'paragraph')} moved to line ${formatNumber(now?.line ?? 0)}`;
      return { removed: { words, areWordsMarked: true, moved } };
    }
    case 'moved': {
      const line = formatNumber(blocks[block.from]?.line ?? 0);
      const moved = `moved here from line ${line}${block.isEdited ? ', and edited' : ''}`;
      return { added: { words: block.words, areWordsMarked: true, moved } };
    }
  }
}

function SameRow({ block: { text, was } }: { readonly block: Pick<Piece, 'text' | 'was'> }) {
  return (
    <tr class="same">
      <td>{clean(was ?? text)}</td>
      <td>{clean(text)}</td>
    </tr>
  );
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
  const { shown: whole, rest } = cutPieces(own, most);
  // A line break at the end of a paragraph would be an empty line of its cell.
  const shown = [
    ...whole.slice(0, -1),
    ...whole
      .slice(-1)
      .map((one) => (one.change === 'same' ? { ...one, text: clean(one.text) } : one)),
  ];
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
          … {formatCount(rest, 'more character')}
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
      <Mark class={isCalled ? 'called' : undefined}>
        {words === '' ? visible(text) : showOddWithin(words)}
      </Mark>
    </>
  );
}

/** White space that came or went, which breaks lines where it broke them. */
function visible(blanks: string): string {
  return showBlanks(blanks).replaceAll('⏎', '⏎\n');
}

/** Unchanged paragraphs, with the headings among them. */
function FoldRow({ block }: { readonly block: Block & { readonly type: 'fold' } }) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <SameRow block={block} />;
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
