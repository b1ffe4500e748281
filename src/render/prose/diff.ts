import { type Budget, newBudget } from '../../core/align.ts';
import { type Block, type Draft, draftBlocks, foldBlocks, type ProseDiff } from './blocks.ts';
import { type Paired, type Paragraph, pairParagraphs } from './paragraphs.ts';
import {
  compareWords,
  type FindMarks,
  type Stretch,
  splitWords,
  turned,
  type Word,
} from './words.ts';

type ProseOptions = {
  /** Unchanged paragraphs that stay around a change; `Infinity` folds nothing. */
  readonly context?: number;
  /** True if each line stands for itself, as in a list of values. */
  readonly isList?: boolean;
  /** Finds the parts of a text whose changes are marked; without it none is. */
  readonly findMarks?: FindMarks;
};

/**
 * Compares two texts as an editor would: paragraphs first, also those that moved, then the words of each. It is
 * plain data, needs nothing of Node and takes bounded time. The texts are taken as they are: the caller sanitises
 * them before they are shown.
 */
export function diffProse(before: string, after: string, options: ProseOptions = {}): ProseDiff {
  const words = new Map<Paragraph, readonly Word[]>();
  const ofParagraph = (paragraph: Paragraph) => {
    const known = words.get(paragraph) ?? splitWords(paragraph.text, options.findMarks);
    words.set(paragraph, known);
    return known;
  };
  const { isList = false, context = 1 } = options;
  const budget = newBudget();
  const paired = pairParagraphs(before, after, isList, budget);
  const stretches = relate(paired, before > after, ofParagraph, budget);
  const drafts = draftBlocks({ ...paired, listWords: ofParagraph, stretches });
  const folded = foldBlocks(drafts, context);
  return {
    whitespaceOnly: before !== after && drafts.every(({ block }) => isBlank(block)),
    limited: budget.isSpent || paired.isTooMuch,
    counts: countBlocks(drafts),
    blocks: link(folded.map(({ block }) => block)),
  };
}

/**
 * How the words of paragraphs relate that are not quite the same. It is always the text that sorts first which is
 * compared with the other, as in `pairParagraphs`.
 */
function relate(
  { before, after, inOrder, moved }: Paired,
  isTurned: boolean,
  ofParagraph: (paragraph: Paragraph) => readonly Word[],
  budget: Budget,
): ReadonlyMap<number, readonly Stretch[]> {
  const stretches = new Map<number, readonly Stretch[]>();
  for (const [a, b] of [...inOrder, ...moved]) {
    const [old, fresh] = [before[a], after[b]];
    if (old === undefined || fresh === undefined || old.text === fresh.text) continue;
    const [own, other] = [ofParagraph(old), ofParagraph(fresh)];
    stretches.set(
      a,
      isTurned ? turned(compareWords(other, own, budget)) : compareWords(own, other, budget),
    );
  }
  return stretches;
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

/** Words of a text, as the counts of a comparison have them: those up to `most`, as a text may be of megabytes. */
export function countWords(text: string, most = Infinity): number {
  let [count, from] = [0, 0];
  const isWord = (to: number) => /[\p{L}\p{N}]/u.test(text.slice(from, to));
  // The blanks are looked for: a word of megabytes is more than an expression matches.
  for (const { index, 0: blanks } of text.matchAll(/\s+/g)) {
    if (count >= most) return count;
    if (isWord(index)) count += 1;
    from = index + blanks.length;
  }
  return count < most && isWord(text.length) ? count + 1 : count;
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
