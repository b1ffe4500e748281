import { type Budget, newBudget, type Pair } from '../../core/align.ts';
import { commonEnds } from '../../core/value.ts';
import { type Block, type Draft, draftBlocks, foldBlocks, type ProseDiff } from './blocks.ts';
import { findCallouts } from './callouts.ts';
import { type Matches, matchParagraphs, type Paragraph, splitParagraphs } from './paragraphs.ts';
import { compareWords, MOST_READ, type Stretch, splitWords, turned, type Word } from './words.ts';

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
 * Characters of what two texts do not begin and end with alike that are compared by paragraphs, which takes a second at
 * most. No prompt that a model reads in one call is near it.
 */
const MOST_CHARACTERS = 2 * MOST_READ;

/**
 * Compares two texts as an editor would: paragraphs first, also those that moved, then the words of each. It is
 * plain data, needs nothing of Node and takes bounded time. The texts are taken as they are: whoever shows them
 * sanitises them before.
 */
export function diffProse(before: string, after: string, options: ProseOptions = {}): ProseDiff {
  const words = new Map<Paragraph, readonly Word[]>();
  const ofParagraph = (paragraph: Paragraph) => {
    const known = words.get(paragraph) ?? splitWords(paragraph.text, true);
    words.set(paragraph, known);
    return known;
  };
  const { isList = false, context = 1 } = options;
  const [old, fresh] = bounded(splitParagraphs(before, isList), splitParagraphs(after, isList));
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
    counts: countBlocks(drafts),
    callouts: callouts.slice(0, MOST_CALLOUTS),
    moreCallouts: Math.max(0, callouts.length - MOST_CALLOUTS),
    blocks: link(folded.map(({ block }) => block)),
  };
}

/** Where too much differs, what is not alike at the beginning and the end is one paragraph on each side. */
function bounded(
  old: readonly Paragraph[],
  fresh: readonly Paragraph[],
): readonly [readonly Paragraph[], readonly Paragraph[]] {
  const [head, tail] = commonEnds(old, fresh, (a, b) => a?.text === b?.text && a?.gap === b?.gap);
  const middle = (all: readonly Paragraph[]) => all.slice(head, all.length - tail);
  const size = [...middle(old), ...middle(fresh)].reduce((sum, { text }) => sum + text.length, 0);
  if (size <= MOST_CHARACTERS) return [old, fresh];
  const joined = (all: readonly Paragraph[]) => [
    ...all.slice(0, head),
    ...joinParagraphs(middle(all)),
    ...all.slice(all.length - tail),
  ];
  return [joined(old), joined(fresh)];
}

function joinParagraphs(paragraphs: readonly Paragraph[]): readonly Paragraph[] {
  const [first, last] = [paragraphs[0], paragraphs.at(-1)];
  if (first === undefined || last === undefined) return [];
  const text = paragraphs.map((one) => one.text + one.gap).join('');
  const { gap } = last;
  return [{ ...first, text: text.slice(0, text.length - gap.length), gap, title: undefined }];
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

function countBlocks(drafts: readonly Draft[]): ProseDiff['counts'] {
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
