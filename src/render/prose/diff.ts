import {
  type Block,
  type Callout,
  type Draft,
  draftBlocks,
  foldBlocks,
  type ProseDiff,
} from './blocks.ts';
import { findCallouts } from './callouts.ts';
import { type Matches, matchParagraphs, type Paragraph, paragraphsOf } from './paragraphs.ts';
import {
  type Budget,
  compareWords,
  newBudget,
  type Pair,
  type Stretch,
  turned,
  type Word,
  wordsOf,
} from './words.ts';

type ProseOptions = {
  /** Unchanged paragraphs that stay around a change; `Infinity` folds nothing. */
  readonly context?: number;
  /** Whether each line stands for itself, as in a list of values. */
  readonly isList?: boolean;
};

/** More are not read one by one. */
const MOST_CALLOUTS = 100;

/**
 * Characters of changed paragraphs that are searched for call-outs, which takes about half a second. More than that
 * is another text, not an edited one.
 */
const MOST_CALLED = 100_000;

/**
 * Characters of two texts together that are compared by paragraphs and words, which takes a second at most. No prompt
 * that a model reads in one call is near it.
 */
const MOST_CHARACTERS = 1_000_000;

/**
 * Compares two texts as an editor would: paragraphs first, also those that moved, then the words of each. It is
 * plain data, needs nothing of Node and takes bounded time. The texts are taken as they are: whoever shows them
 * sanitises them before.
 * Of texts that are larger than that, what they begin and end with alike is left out first; where what remains is
 * still too large, it stands as one block that went and one that came.
 */
export function diffProse(before: string, after: string, options: ProseOptions = {}): ProseDiff {
  if (before.length + after.length <= MOST_CHARACTERS) return compare(before, after, options);
  const head = commonHead(before, after);
  const tail = commonTail(before, after, head);
  const [old, fresh] = [
    before.slice(head, before.length - tail),
    after.slice(head, after.length - tail),
  ];
  const isSmall = old.length + fresh.length <= MOST_CHARACTERS;
  const inner = isSmall ? compare(old, fresh, options) : replaceWhole(old, fresh);
  return inside(inner, after.slice(0, head), tail === 0 ? '' : after.slice(-tail));
}

/** How many characters two texts have in common before the first line that differs. */
function commonHead(before: string, after: string): number {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && before.charCodeAt(at) === after.charCodeAt(at)) at += 1;
  return at === most && before.length === after.length ? at : after.lastIndexOf('\n', at - 1) + 1;
}

/** The same after the last one. */
function commonTail(before: string, after: string, head: number): number {
  const most = Math.min(before.length, after.length) - head;
  let count = 0;
  while (
    count < most &&
    before.charCodeAt(before.length - 1 - count) === after.charCodeAt(after.length - 1 - count)
  ) {
    count += 1;
  }
  if (count === 0) return 0;
  const line = after.indexOf('\n', after.length - count);
  return line < 0 ? 0 : after.length - line - 1;
}

function replaceWhole(before: string, after: string): ProseDiff {
  const block = (type: 'removed' | 'added', text: string): readonly Block[] =>
    text === '' ? [] : [{ type, heading: null, line: 1, words: [{ text, change: type }] }];
  const blocks = [...block('removed', before), ...block('added', after)];
  const count = (type: Block['type']) => blocks.filter((one) => one.type === type).length;
  return {
    whitespaceOnly: false,
    limited: true,
    counts: {
      words: { removed: countWords(before), added: countWords(after) },
      paragraphs: {
        same: 0,
        edited: 0,
        moved: 0,
        removed: count('removed'),
        added: count('added'),
      },
    },
    callouts: [],
    moreCallouts: 0,
    blocks,
  };
}

/** A comparison of what stands between two texts that are the same before and after. */
function inside(inner: ProseDiff, head: string, tail: string): ProseDiff {
  const above = linesIn(head);
  const first = head === '' ? 0 : 1;
  const fold = (text: string, line: number): readonly Block[] => {
    const paragraphs = text.match(/^[^\S\n]*\S/gm)?.length ?? 0;
    return text === ''
      ? []
      : [{ type: 'fold', text, heading: null, line, paragraphs, headings: [] }];
  };
  const down = <T extends Block | Callout>(one: T): T => ({ ...one, line: one.line + above });
  const blocks = inner.blocks.map((block): Block => {
    const moved = down(block);
    if (moved.type === 'moved') return { ...moved, from: moved.from + first };
    return moved.type === 'left' ? { ...moved, to: moved.to + first } : moved;
  });
  const folds = [fold(head, 1), fold(tail, above + 1)];
  const { counts } = inner;
  const same = folds
    .flat()
    .reduce((sum, one) => sum + (one.type === 'fold' ? one.paragraphs : 0), 0);
  return {
    ...inner,
    counts: {
      ...counts,
      paragraphs: { ...counts.paragraphs, same: counts.paragraphs.same + same },
    },
    callouts: inner.callouts.map((one) => ({ ...down(one), block: one.block + first })),
    blocks: [...(folds[0] ?? []), ...blocks, ...(folds[1] ?? [])],
  };
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}

function compare(before: string, after: string, options: ProseOptions): ProseDiff {
  const words = new Map<Paragraph, readonly Word[]>();
  const ofParagraph = (paragraph: Paragraph) => {
    const known = words.get(paragraph) ?? wordsOf(paragraph.text, true);
    words.set(paragraph, known);
    return known;
  };
  const { isList = false, context = 1 } = options;
  const [old, fresh] = [paragraphsOf(before, isList), paragraphsOf(after, isList)];
  const budget = newBudget();
  const related =
    before <= after
      ? relate(old, fresh, ofParagraph, budget)
      : reversed(relate(fresh, old, ofParagraph, budget));
  const drafts = draftBlocks({ before: old, after: fresh, wordsOf: ofParagraph, ...related });
  const folded = foldBlocks(drafts, context);
  const isTooMuch = changedCharacters(folded) > MOST_CALLED;
  const callouts = isTooMuch ? [] : findCallouts(folded, before > after, budget);
  return {
    whitespaceOnly: before !== after && drafts.every(({ block }) => isBlank(block)),
    limited: budget.isSpent || isTooMuch,
    counts: countsOf(drafts),
    callouts: callouts.slice(0, MOST_CALLOUTS),
    moreCallouts: Math.max(0, callouts.length - MOST_CALLOUTS),
    blocks: link(folded.map(({ block }) => block)),
  };
}

type Related = Matches & { readonly stretches: ReadonlyMap<number, readonly Stretch[]> };

/**
 * It is always the text that sorts first which is compared with the other: so the way back shows as removed what
 * the way there shows as added.
 */
function relate(
  before: readonly Paragraph[],
  after: readonly Paragraph[],
  ofParagraph: (paragraph: Paragraph) => readonly Word[],
  budget: Budget,
): Related {
  const matches = matchParagraphs(before, after, budget);
  const stretches = new Map<number, readonly Stretch[]>();
  for (const [a, b] of [...matches.inOrder, ...matches.moved]) {
    const [old, fresh] = [before[a], after[b]];
    if (old === undefined || fresh === undefined || old.text === fresh.text) continue;
    stretches.set(a, compareWords(ofParagraph(old), ofParagraph(fresh), budget));
  }
  return { ...matches, stretches };
}

function reversed({ inOrder, moved, stretches }: Related): Related {
  const turn = ([a, b]: Pair): Pair => [b, a];
  const partner = new Map([...inOrder, ...moved]);
  return {
    inOrder: inOrder.map(turn),
    moved: moved.map(turn),
    stretches: new Map([...stretches].map(([at, own]) => [partner.get(at) ?? at, turned(own)])),
  };
}

function changedCharacters(drafts: readonly Draft[]): number {
  return drafts
    .flatMap(({ parts }) => parts)
    .reduce((sum, { before, after }) => {
      return sum + (before?.text.length ?? 0) + (after?.text.length ?? 0);
    }, 0);
}

function isBlank(block: Block): boolean {
  return block.type === 'same' || (block.type === 'edited' && block.blanksOnly);
}

function countsOf(drafts: readonly Draft[]): ProseDiff['counts'] {
  const words = { removed: 0, added: 0 };
  const paragraphs = { same: 0, edited: 0, moved: 0, removed: 0, added: 0 };
  for (const { block } of drafts) {
    if (block.type === 'fold' || block.type === 'left') continue;
    paragraphs[block.type] += block.type === 'moved' ? block.paragraphs : 1;
    if (block.type === 'same') continue;
    for (const { change, text } of block.words) {
      if (change !== 'same') words[change] += countWords(text);
    }
  }
  return { words, paragraphs };
}

/** Words and signs of a text, as the counts of a comparison have them. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Lets the old and the new place of what moved name each other by their index. */
function link(blocks: readonly Block[]): readonly Block[] {
  const movedAt = new Map<number, number>();
  const leftAt = new Map<number, number>();
  for (const [at, block] of blocks.entries()) {
    if (block.type === 'moved') movedAt.set(block.from, at);
    if (block.type === 'left') leftAt.set(block.to, at);
  }
  return blocks.map((block) => {
    if (block.type === 'moved') return { ...block, from: leftAt.get(block.from) ?? -1 };
    return block.type === 'left' ? { ...block, to: movedAt.get(block.to) ?? -1 } : block;
  });
}
