import { gapsBetween, type Pair, type Range } from '../../core/align.ts';
import type { Paragraph } from './paragraphs.ts';
import type { Stretch, Word } from './words.ts';

/** The comparison of two texts as plain data, and how it is made of paragraphs and words. */

/** A stretch of words with the blanks before them: the texts of all pieces of a block make it up. */
export type Piece = {
  readonly text: string;
  readonly change: 'same' | 'removed' | 'added';
  /** The earlier text of the same words, if only the blanks between them differ. */
  readonly was?: string;
  readonly mark?: string;
};

/** A place in the text after, or, for what is no longer there, in the text before. */
type Place = {
  /** The words of the heading above it. */
  readonly heading: string | null;
  /** Counted from 1. */
  readonly line: number;
};

/**
 * One paragraph, heading or list item, or several that stay or move together.
 *
 * | type | before | after |
 * |---|---|---|
 * | `same`, `fold` | `was ?? text` | `text` |
 * | `edited` | pieces that are `same` or `removed` | pieces that are `same` or `added` |
 * | `removed` | its pieces | – |
 * | `added` | – | its pieces |
 * | `left` | what the block at `to` was | – |
 * | `moved` | stands where its `left` stands | as `edited` |
 */
export type Block = Place &
  (
    | { readonly type: 'same'; readonly text: string; readonly was?: string }
    /** Unchanged, and too far from any change to be shown. */
    | {
        readonly type: 'fold';
        readonly text: string;
        readonly was?: string;
        readonly paragraphs: number;
        readonly headings: readonly string[];
      }
    | {
        readonly type: 'edited';
        readonly words: readonly Piece[];
        /** Not a word differs: the pieces tell the blanks apart. */
        readonly blanksOnly: boolean;
      }
    | { readonly type: 'removed' | 'added'; readonly words: readonly Piece[] }
    /** `from`: index of the block that marks the old place. */
    | {
        readonly type: 'moved';
        readonly words: readonly Piece[];
        readonly paragraphs: number;
        readonly isEdited: boolean;
        readonly from: number;
      }
    /** `to`: index of the block that now holds it. */
    | { readonly type: 'left'; readonly paragraphs: number; readonly to: number }
  );

export type ProseDiff = {
  /** The texts differ, and in nothing but blanks and line breaks. */
  readonly whitespaceOnly: boolean;
  /** So much differs that words were not looked at everywhere: whole paragraphs stand for them. */
  readonly limited: boolean;
  readonly counts: {
    readonly words: { readonly removed: number; readonly added: number };
    readonly paragraphs: {
      readonly same: number;
      readonly edited: number;
      readonly moved: number;
      readonly removed: number;
      readonly added: number;
    };
  };
  readonly blocks: readonly Block[];
};

/** A block, with the words of an unchanged heading. `to` and `from` are the number of the moved paragraph before. */
export type Draft = { readonly block: Block; readonly title: string | undefined };

/** Both texts in paragraphs, and which of them are the same ones. */
type Compared = {
  readonly before: readonly Paragraph[];
  readonly after: readonly Paragraph[];
  readonly inOrder: readonly Pair[];
  readonly moved: readonly Pair[];
  /** How the words of two paragraphs relate that are not quite the same, by the number of the one before. */
  readonly stretches: ReadonlyMap<number, readonly Stretch[]>;
  readonly listWords: (paragraph: Paragraph) => readonly Word[];
};

/** All paragraphs of both texts, in the order of the text after; what is gone stands where it stood. */
export function draftBlocks(compared: Compared): readonly Draft[] {
  const { before, after, inOrder } = compared;
  const gaps = gapsBetween(inOrder, before.length, after.length);
  const movedTo = new Map(compared.moved);
  const movedFrom = new Map(compared.moved.map(([a, b]) => [b, a]));
  return gaps.flatMap(([gone, fresh], at) => {
    const [x, y] = [gone[1], fresh[1]];
    // The end of the text follows the last paragraph as another one would.
    const next = inOrder[at + 1] ?? [before.length, compared.after.length];
    return [
      ...goneDrafts(compared, movedTo, gone),
      ...newDrafts(compared, movedFrom, fresh),
      ...pairDrafts(compared, [x, y], next[0] === x + 1 && next[1] === y + 1),
    ];
  });
}

/** Paragraphs of the text before that do not stand here any more. */
function goneDrafts(
  { before, listWords }: Compared,
  movedTo: ReadonlyMap<number, number>,
  [from, to]: Range,
): readonly Draft[] {
  const drafts: Draft[] = [];
  for (let at = from; at < to; at += 1) {
    const paragraph = before[at];
    if (paragraph === undefined) continue;
    const start = at;
    if (movedTo.has(at)) {
      while (at + 1 < to && movedTo.get(at + 1) === (movedTo.get(at) ?? 0) + 1) at += 1;
      const block = {
        type: 'left',
        ...formatPlace(paragraph),
        paragraphs: at - start + 1,
        to: start,
      } as const;
      drafts.push({ block, title: undefined });
    } else drafts.push(wholeDraft(paragraph, 'removed', listWords));
  }
  return drafts;
}

/** Paragraphs of the text after that did not stand here. */
function newDrafts(
  compared: Compared,
  movedFrom: ReadonlyMap<number, number>,
  [from, to]: Range,
): readonly Draft[] {
  const drafts: Draft[] = [];
  for (let at = from; at < to; at += 1) {
    const paragraph = compared.after[at];
    const origin = movedFrom.get(at);
    if (paragraph === undefined) continue;
    const start = at;
    if (origin !== undefined) {
      while (at + 1 < to && movedFrom.get(at + 1) === (movedFrom.get(at) ?? 0) + 1) at += 1;
      drafts.push(movedDraft(compared, paragraph, [origin, start], at - start + 1));
    } else drafts.push(wholeDraft(paragraph, 'added', compared.listWords));
  }
  return drafts;
}

function wholeDraft(
  paragraph: Paragraph,
  type: 'removed' | 'added',
  listWords: Compared['listWords'],
): Draft {
  const words = listWords(paragraph);
  const gap: readonly Piece[] = paragraph.gap === '' ? [] : [{ text: paragraph.gap, change: type }];
  const pieces = [...wordPieces(words, type), ...gap];
  return { block: { type, ...formatPlace(paragraph), words: pieces }, title: undefined };
}

function movedDraft(
  { before, after, stretches }: Compared,
  first: Paragraph,
  [from, start]: Pair,
  paragraphs: number,
): Draft {
  const words: Piece[] = [];
  for (let at = 0; at < paragraphs; at += 1) {
    const [old, fresh, own] = [before[from + at], after[start + at], stretches.get(from + at)];
    if (old === undefined || fresh === undefined) continue;
    const pieces = own === undefined ? [kept(old.text, fresh.text)] : listPieces(own);
    words.push(...pieces, ...keptGap(old, fresh));
  }
  const isEdited = words.some(({ change }) => change !== 'same');
  return {
    block: {
      type: 'moved',
      ...formatPlace(first),
      words: joinSame(words),
      paragraphs,
      isEdited,
      from,
    },
    title: undefined,
  };
}

/** A paragraph that stayed. `isJoined`: what follows it followed it before, so the blanks between count. */
function pairDrafts(
  { before, after, stretches }: Compared,
  [x, y]: Pair,
  isJoined: boolean,
): readonly Draft[] {
  const [old, fresh, own] = [before[x], after[y], stretches.get(x)];
  if (old === undefined || fresh === undefined) return [];
  const place = formatPlace(fresh);
  const isGapSame = old.gap === fresh.gap || !isJoined;
  if (own === undefined && isGapSame) {
    const { text, was } = kept(old.text + old.gap, fresh.text + fresh.gap);
    const block = { type: 'same', ...place, text, ...(was === undefined ? {} : { was }) } as const;
    return [{ block, title: fresh.title }];
  }
  const blanksOnly = own === undefined || own.every(({ isSame }) => isSame);
  const text =
    own === undefined
      ? [kept(old.text, fresh.text)]
      : blanksOnly
        ? blankPieces(own)
        : listPieces(own);
  const gap = isGapSame || !blanksOnly ? keptGap(old, fresh) : changedGap(old, fresh);
  const words = joinSame([...text, ...gap]);
  return [{ block: { type: 'edited', ...place, words, blanksOnly }, title: undefined }];
}

function formatPlace({ heading, line }: Paragraph): Place {
  return { heading, line };
}

function kept(was: string, text: string): Piece {
  return { text, change: 'same', ...(was === text ? {} : { was }) };
}

function keptGap(old: Paragraph, fresh: Paragraph): readonly Piece[] {
  return old.gap === '' && fresh.gap === '' ? [] : [kept(old.gap, fresh.gap)];
}

function changedGap(old: Paragraph, fresh: Paragraph): readonly Piece[] {
  const same = commonEnd(old.gap, fresh.gap);
  const without = ({ gap }: Paragraph) => gap.slice(0, gap.length - same.length);
  const pieces: readonly Piece[] = [
    { text: without(old), change: 'removed' },
    { text: without(fresh), change: 'added' },
    { text: same, change: 'same' },
  ];
  return pieces.filter(({ text }) => text !== '');
}

function commonEnd(a: string, b: string): string {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a.at(-1 - length) === b.at(-1 - length))
    length += 1;
  return length === 0 ? '' : a.slice(-length);
}

function joinSame(pieces: readonly Piece[]): readonly Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last?.change === 'same' && piece.change === 'same') {
      joined[joined.length - 1] = kept(
        (last.was ?? last.text) + (piece.was ?? piece.text),
        last.text + piece.text,
      );
    } else joined.push(piece);
  }
  return joined;
}

/** Stretches as pieces; a changed word that is called out is a piece of its own. */
function listPieces(stretches: readonly Stretch[]): readonly Piece[] {
  return stretches.flatMap((stretch, index) => {
    if (!stretch.isSame) {
      return [...wordPieces(stretch.removed, 'removed'), ...wordPieces(stretch.added, 'added')];
    }
    const [first] = stretches;
    // Behind words that came or went at its very beginning the first word that stayed gets or loses its blank.
    const isShifted =
      index === 1 &&
      first?.isSame === false &&
      [first.removed, first.added].some((one) => one.length === 0);
    return keptPieces(stretch.words, (at) => isShifted && at === 0);
  });
}

/** Words that were all removed, or all added. */
function wordPieces(words: readonly Word[], change: 'removed' | 'added'): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const { text, mark } of words) {
    const last = pieces.at(-1);
    if (last !== undefined && last.mark === mark) {
      pieces[pieces.length - 1] = { ...last, text: last.text + text };
    } else pieces.push({ text, change, ...(mark === undefined ? {} : { mark }) });
  }
  return pieces;
}

/** Stretches whose words are all the same, as pieces that tell all blanks apart. */
function blankPieces(stretches: readonly Stretch[]): readonly Piece[] {
  return keptPieces(stretches.flatMap((one) => (one.isSame ? one.words : [])));
}

/**
 * Words that stayed, with the blanks that came or went between them as pieces of their own. `isLaidOut`: those before
 * a word say nothing. Among changed words that is so of line breaks, too.
 */
function keptPieces(
  words: (Stretch & { readonly isSame: true })['words'],
  isLaidOut?: (index: number) => boolean,
): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const [index, { before, after }] of words.entries()) {
    const [old, fresh] = [before, after].map(({ text, bare }) =>
      text.slice(0, text.length - bare.length),
    );
    const isShift = old === '' || fresh === '';
    const isSilent =
      isLaidOut !== undefined && ((isLaidOut(index) && isShift) || /\n/.test(`${old}${fresh}`));
    if (old === fresh || isSilent) {
      pieces.push(kept(before.text, after.text));
      continue;
    }
    if (old) pieces.push({ text: old, change: 'removed' });
    if (fresh) pieces.push({ text: fresh, change: 'added' });
    pieces.push({ text: after.bare, change: 'same' });
  }
  return joinSame(pieces);
}

type Same = {
  readonly block: Block & { readonly type: 'same' };
  readonly title: string | undefined;
};

/** Folds what is unchanged but for `context` paragraphs next to a change and the heading above one. */
export function foldBlocks(drafts: readonly Draft[], context: number): readonly Draft[] {
  const folded: Draft[] = [];
  let run: Same[] = [];
  const flush = (isBelow: boolean) => {
    const head = folded.length > 0 ? context : 0;
    const blocks = foldRun(run, head, isBelow ? context : 0, isBelow);
    folded.push(...blocks.map((block): Draft => ({ block, title: undefined })));
    run = [];
  };
  for (const draft of drafts) {
    const { block, title } = draft;
    if (block.type === 'same') run.push({ block, title });
    else {
      flush(true);
      folded.push(draft);
    }
  }
  flush(false);
  return folded;
}

function foldRun(
  run: readonly Same[],
  head: number,
  tail: number,
  isBelow: boolean,
): readonly Block[] {
  const listBlocks = (some: readonly Same[]) => some.map(({ block }) => block);
  if (run.length <= head + tail) return listBlocks(run);
  const middle = run.slice(head, run.length - tail);
  const end = run.slice(run.length - tail);
  const isHeading = ({ title }: Same) => title !== undefined;
  // The heading that says where the change below stands.
  const at = isBelow && !end.some(isHeading) ? middle.findLastIndex(isHeading) : -1;
  return [
    ...listBlocks(run.slice(0, head)),
    ...collapseRun(middle.slice(0, Math.max(at, 0))),
    ...(at < 0 ? [] : listBlocks(middle.slice(at, at + 1))),
    ...collapseRun(middle.slice(at + 1)),
    ...listBlocks(end),
  ];
}

/** A single paragraph of a line takes no more room than a fold would. */
const SHORT = 80;

function collapseRun(run: readonly Same[]): readonly Block[] {
  const first = run[0]?.block;
  if (first === undefined || (run.length === 1 && first.text.length <= SHORT)) {
    return first === undefined ? [] : [first];
  }
  const text = run.map(({ block }) => block.text).join('');
  const was = run.map(({ block }) => block.was ?? block.text).join('');
  return [
    {
      type: 'fold',
      heading: first.heading,
      line: first.line,
      text,
      ...(was === text ? {} : { was }),
      paragraphs: run.length,
      headings: run.flatMap(({ title }) => title ?? []),
    },
  ];
}

type Side = 'before' | 'after';

/** The block that a line of one of the texts is in, by its number. */
export function findBlock(blocks: readonly Block[], line: number, side: Side): number {
  let [found, begins] = [0, 1];
  for (const [at, block] of blocks.entries()) {
    const text = sideText(block, side, blocks);
    if (begins > line) break;
    if (text !== '') found = at;
    begins += text.split('\n').length - 1;
  }
  return found;
}

/** Gives the words of one side of a block. */
function sideText(block: Block, side: Side, blocks: readonly Block[]): string {
  if (block.type === 'same' || block.type === 'fold')
    return side === 'before' ? (block.was ?? block.text) : block.text;
  if (block.type === 'left') {
    const moved = blocks[block.to];
    return side === 'before' && moved?.type === 'moved' ? wordsText(moved.words, side) : '';
  }
  return block.type === 'moved' && side === 'before' ? '' : wordsText(block.words, side);
}

function wordsText(words: readonly Piece[], side: Side): string {
  const other = side === 'before' ? 'added' : 'removed';
  return words
    .filter(({ change }) => change !== other)
    .map(({ text, was }) => (side === 'before' ? (was ?? text) : text))
    .join('');
}
