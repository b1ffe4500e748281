import { type Budget, newBudget, type Pair } from './align.ts';
import { NAMES } from './callouts.ts';
import { compareWords, type Stretch, turned } from './compare-words.ts';
import { type Draft, draftBlocks } from './draft-blocks.ts';
import { foldBlocks } from './fold-blocks.ts';
import { subjectMaker } from './likeness.ts';
import { type Matches, matchParagraphs } from './match-paragraphs.ts';
import { type Paragraph, paragraphsOf } from './paragraphs.ts';
import type { Block, Callout, ProseDiff } from './prose-diff.ts';
import { type Word, wordsOf } from './words.ts';

export type ProseOptions = {
  /** Unchanged paragraphs that stay around a change; `Infinity` folds nothing. */
  readonly context?: number;
  /** Names of tools, where they do not look like `crm_lookup`, `lookUp` or a name in backticks. */
  readonly tools?: Iterable<string>;
  /** Whether each line stands for itself, as in a list of values. */
  readonly isList?: boolean;
};

/** More are not read one by one. */
const MOST_CALLOUTS = 100;

/**
 * Compares two texts as an editor would: paragraphs first, also those that moved, then the words of each. It is
 * plain data, needs nothing of Node and takes bounded time. The texts are taken as they are: whoever shows them
 * sanitises them before.
 */
export function diffProse(before: string, after: string, options: ProseOptions = {}): ProseDiff {
  const tools = new Set(options.tools ?? []);
  const words = new Map<Paragraph, readonly Word[]>();
  const ofParagraph = (paragraph: Paragraph) => {
    const known = words.get(paragraph) ?? wordsOf(paragraph.text, tools);
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
  const callouts = gather(folded);
  return {
    whitespaceOnly: before !== after && drafts.every(({ block }) => isBlank(block)),
    limited: budget.isSpent,
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
  const subjectOf = subjectMaker();
  const matches = matchParagraphs(before.map(subjectOf), after.map(subjectOf), budget);
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

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** The same change in many places is called out once. */
function gather(drafts: readonly Draft[]): readonly Callout[] {
  const callouts = new Map<string, Callout>();
  for (const [block, { block: own, found }] of drafts.entries()) {
    for (const { mark, before, after, down } of found) {
      const key = JSON.stringify([mark, before, after]);
      const first = callouts.get(key);
      const { heading, line } = own;
      callouts.set(
        key,
        first === undefined
          ? { mark, before, after, times: 1, block, heading, line: line + down }
          : { ...first, times: first.times + 1 },
      );
    }
  }
  return joinMoved([...callouts.values()]);
}

/** A name that went in one place and came in another is told once, by where it is now. */
function joinMoved(callouts: readonly Callout[]): readonly Callout[] {
  const key = (mark: string, name: string) => `${mark} ${name}`;
  const gone = new Map(
    callouts.flatMap((one) =>
      one.after === null && one.before !== null ? [[key(one.mark, one.before), one]] : [],
    ),
  );
  const moved = new Set<Callout>();
  const joined = callouts.map((one) => {
    const { mark, before, after, times } = one;
    const origin = before === null && after !== null ? gone.get(key(mark, after)) : undefined;
    if (origin === undefined || !NAMES.includes(mark)) return one;
    moved.add(origin);
    return { ...one, before: after, times: Math.max(times, origin.times) };
  });
  return joined.filter((one) => !moved.has(one));
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
