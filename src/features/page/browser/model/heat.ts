import { newBudget } from '../../../../core/align.ts';
import type { Log } from '../../../../core/documents.generated.ts';
import { sum } from '../../../../core/value.ts';
import { countWords } from '../../../../render/prose/diff.ts';
import { pairParagraphs, splitParagraphs } from '../../../../render/prose/paragraphs.ts';
import { compareWords, splitWords, type Word } from '../../../../render/prose/words.ts';

/** The paragraphs of a text against its edits: which rule is being fought over. */

/** An edit of a text of which both sides are known. */
export type TextEdit = Pick<Log.Entry, 'at' | 'by' | 'run'> & {
  readonly before: string;
  readonly after: string;
};

/** A text of several paragraphs, with its edits. */
export type EditedText = {
  readonly path: string;
  /** The oldest first. */
  readonly edits: readonly TextEdit[];
  /** Edits of which a side is not kept. */
  readonly lost: number;
};

/** The texts that some changes edited, the one with the most edits first. `changes`: of one resource, the newest first. */
export function listEditedTexts(changes: readonly Log.Entry[]): readonly EditedText[] {
  const texts = new Map<string, { readonly edits: TextEdit[]; lost: number }>();
  const isText = (value: unknown, isKept: boolean) => typeof value === 'string' || !isKept;
  for (const { at, by, run, status, fields } of changes.toReversed()) {
    for (const { path, before, after, secret, kept } of status === 'done' ? (fields ?? []) : []) {
      if (secret || !isText(before, kept.before) || !isText(after, kept.after)) continue;
      const text = texts.get(path) ?? { edits: [], lost: 0 };
      texts.set(path, text);
      if (typeof before !== 'string' || typeof after !== 'string') text.lost += 1;
      else if (before !== after) text.edits.push({ at, by, run, before, after });
    }
  }
  return [...texts]
    .map(([path, text]) => ({ path, ...text }))
    .filter(({ edits }) => splitParagraphs(edits.at(-1)?.after ?? '').length > 1)
    .sort((a, b) => b.edits.length - a.edits.length);
}

/** The paragraph before and after an edit; null where it was not there. */
export type ParagraphEdit = {
  readonly before: string | null;
  readonly after: string | null;
  /** Words that came or went, those that replace each other counted once; at least 1. */
  readonly words: number;
};

/** A paragraph as it is now or was last, with its part in each edit; undefined where the edit left it alone. */
export type TracedParagraph = {
  readonly text: string;
  readonly isGone: boolean;
  readonly edits: readonly (ParagraphEdit | undefined)[];
};

type Trace = { text: string; readonly edits: (ParagraphEdit | undefined)[] };

/**
 * Follows each paragraph through the edits of a text, wherever it moves. One that was removed and returns word for word
 * goes on with its history. The result has the paragraphs of the newest text in their order, then the removed ones, the
 * last first.
 */
export function traceParagraphs(edits: readonly TextEdit[]): readonly TracedParagraph[] {
  const open = (text: string): Trace => ({ text, edits: edits.map(() => undefined) });
  let text = edits[0]?.before ?? '';
  let traces: readonly Trace[] = splitParagraphs(text).map((one) => open(one.text));
  let gone: readonly Trace[] = [];
  /** `at`: the number of the edit; undefined for one that no change records. */
  const follow = (next: string, at: number | undefined) => {
    if (next === text) return;
    const { after, inOrder, moved } = pairParagraphs(text, next, false, newBudget());
    const origins = new Map([...inOrder, ...moved].map(([old, fresh]) => [fresh, traces[old]]));
    const kept = new Set(origins.values());
    const left = traces.filter((trace) => !kept.has(trace));
    const record = (trace: Trace, before: string | null, own: string | null) => {
      const words = countChangedWords(before ?? '', own ?? '');
      if (at !== undefined && words > 0) trace.edits[at] = { before, after: own, words };
    };
    const returned = new Set<Trace>();
    traces = after.map(({ text: own }, place) => {
      const origin = origins.get(place);
      const again = gone.find((one) => one.text === own && !returned.has(one));
      const trace = origin ?? again ?? open(own);
      if (origin === undefined) returned.add(trace);
      record(trace, origin?.text ?? null, own);
      trace.text = own;
      return trace;
    });
    for (const trace of left) record(trace, trace.text, null);
    gone = [...left, ...gone.filter((one) => !returned.has(one))];
    text = next;
  };
  for (const [at, { before, after }] of edits.entries()) {
    follow(before, undefined);
    follow(after, at);
  }
  const isShown = (trace: Trace) => trace.text !== '';
  return [
    ...traces.filter(isShown).map((trace) => ({ ...trace, isGone: false })),
    ...gone
      .filter((trace) => isShown(trace) && trace.edits.some((edit) => edit !== undefined))
      .map((trace) => ({ ...trace, isGone: true })),
  ];
}

/** Words that came or went; 0 for texts that differ in blanks alone. */
function countChangedWords(before: string, after: string): number {
  if (before === after) return 0;
  const [old, fresh] = [splitWords(before), splitWords(after)];
  const count = (words: readonly Word[]) => countWords(words.map((word) => word.text).join(''));
  return sum(
    compareWords(old, fresh, newBudget()).map((stretch) =>
      stretch.isSame ? 0 : Math.max(1, count(stretch.removed), count(stretch.added)),
    ),
  );
}
