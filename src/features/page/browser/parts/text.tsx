import { useId, useMemo, useState } from 'preact/hooks';
import type { Callout } from '../../../../core/plan-document.ts';
import {
  type Block,
  findBlock,
  type Piece,
  type ProseDiff,
} from '../../../../render/prose/blocks.ts';
import { calloutRow } from '../../../../render/prose/callout-words.ts';
import { diffProse } from '../../../../render/prose/diff.ts';
import { cutPieces } from '../../../../render/prose/view.ts';
import { showBlanks, showOddWithin } from '../../../../render/white-space.ts';
import { formatCount, formatNumber, tally } from '../../../../render/wording.ts';
import { findMarks } from '../../../review/callouts/callouts.ts';

/** The names of the two sides of a change. */
export type Sides = readonly [before: string, after: string];

type TextChangeProps = {
  readonly before: string;
  readonly after: string;
  readonly callouts: readonly Callout[];
  readonly sides: Sides;
  /** True for a text that people wrote, false for a value laid out in lines. */
  readonly isProse: boolean;
};

/** Blocks that are shown at once. */
const STEP = 200;
/** Longer texts are compared when somebody asks: it takes a while. */
const MOST_UNASKED = 400_000;

/** A text before and after, paragraph by paragraph, with what is unchanged around each edit. */
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

function Comparison({ before, after, callouts, sides, isProse }: TextChangeProps) {
  const [most, setMost] = useState(STEP);
  const id = useId();
  const diff = useMemo(() => diffProse(before, after, { findMarks }), [before, after]);
  const shown = diff.blocks.slice(0, most);
  const rest = diff.blocks.length - shown.length;
  return (
    <div class={isProse ? 'text' : 'text code'}>
      {isProse ? <Summary diff={diff} /> : null}
      {isProse ? (
        <Callouts
          callouts={callouts}
          blocks={diff.blocks}
          id={id}
          onReach={(at) => setMost(Math.max(most, at + STEP))}
        />
      ) : null}
      {shown.map((block, at) => (
        <BlockView key={at} block={block} blocks={diff.blocks} sides={sides} id={`${id}-${at}`} />
      ))}
      {rest > 0 ? (
        <p class="more">
          <button type="button" onClick={() => setMost(most + STEP)}>
            Show {formatCount(Math.min(STEP, rest), 'more paragraph')} of {formatNumber(rest)}
          </button>
        </p>
      ) : null}
    </div>
  );
}

/** How much of the text differs, so that a reader knows what to expect. */
function Summary({ diff }: { readonly diff: ProseDiff }) {
  const { paragraphs } = diff.counts;
  if (diff.whitespaceOnly) return null;
  const counts = tally([
    [paragraphs.edited, 'edited'],
    [paragraphs.added, 'added'],
    [paragraphs.removed, 'removed'],
    [paragraphs.moved, 'moved'],
    [paragraphs.same, 'unchanged'],
  ]);
  return (
    <p class="hint">
      Paragraphs: {counts}
      {diff.limited ? '. So much differs that some are shown as wholes' : ''}
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
  /** Prefix of the ids of the rows. */
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
    <ul class="callouts" aria-label="Look at">
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
  );
}

function Words({ callout }: { readonly callout: Callout }) {
  const { lead, before, after, place, isSentence } = calloutRow(callout);
  const isMoved = before === null && callout.before !== null;
  const rule = lead.replace(/^./, (first) => first.toUpperCase()).slice(0, -1);
  return (
    <>
      <span class="mark">{SORT_NAMES[callout.sort] ?? rule}</span>{' '}
      {isSentence || lead === '' ? null : `${lead} `}
      {before === null ? null : <del>{before}</del>}
      {before !== null && after !== null ? ' → ' : null}
      {after === null ? null : isMoved ? after : <ins>{after}</ins>}{' '}
      <span class="where">{place}</span>
    </>
  );
}

/** Characters of a paragraph that are shown at once. */
const MOST_TEXT = 20_000;

type BlockProps = {
  readonly block: Block;
  /** All of them: where something was moved from, its words stand at its new place. */
  readonly blocks: readonly Block[];
  readonly sides: Sides;
  readonly id: string;
};

/** One paragraph of both texts, or several that did not change. */
function BlockView({ block, blocks, sides: [was, now], id }: BlockProps) {
  if (block.type === 'fold') return <Fold block={block} />;
  if (block.type === 'same') return <p class="context">{clean(block.text)}</p>;
  const { removed, added } = buildSides(block, blocks);
  return (
    <dl class="pair" id={id} tabIndex={-1}>
      {removed === undefined ? null : <Side side="removed" name={was} {...removed} />}
      {added === undefined ? null : <Side side="added" name={now} {...added} />}
    </dl>
  );
}

type BothSides = { readonly [side in SideProps['side']]?: Omit<SideProps, 'side' | 'name'> };

function buildSides(
  block: Exclude<Block, { readonly type: 'fold' | 'same' }>,
  blocks: readonly Block[],
): BothSides {
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

/** A paragraph ends where its row does. */
function clean(text: string): string {
  return text.replace(/\n+$/, '');
}

type SideProps = {
  readonly side: 'removed' | 'added';
  readonly name: string;
  readonly words: readonly Piece[];
  /** True if single words are marked; a paragraph that is added or removed is marked as a whole. */
  readonly areWordsMarked?: boolean;
  /** The note that names where it moved to or came from. */
  readonly moved?: string;
};

function Side({ side, name, words, areWordsMarked = false, moved }: SideProps) {
  const [most, setMost] = useState(MOST_TEXT);
  const own = words.filter(({ change }) => change === 'same' || change === side);
  const { shown: whole, rest } = cutPieces(own, most);
  // A line break at the end of a paragraph would be an empty line of its row.
  const shown = [
    ...whole.slice(0, -1),
    ...whole
      .slice(-1)
      .map((one) => (one.change === 'same' ? { ...one, text: clean(one.text) } : one)),
  ];
  const Mark = side === 'removed' ? 'del' : 'ins';
  const look = moved === undefined ? side : 'moved';
  return (
    <>
      <dt class={look}>{name}</dt>
      <dd class={look}>
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
      </dd>
    </>
  );
}

type MarkedProps = Pick<SideProps, 'side'> & { readonly text: string; readonly isCalled: boolean };

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
function Fold({ block }: { readonly block: Block & { readonly type: 'fold' } }) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <p class="context">{clean(block.text)}</p>;
  return (
    <button type="button" class="fold" onClick={() => setOpen(true)}>
      <span>
        <span aria-hidden="true">⋯</span> {formatCount(block.paragraphs, 'unchanged paragraph')}
      </span>
      <span class="under">{block.headings.join(' · ')}</span>
    </button>
  );
}
