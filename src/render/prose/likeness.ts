import type { Budget } from './align.ts';
import type { Paragraph } from './paragraphs.ts';

/** A paragraph as it is compared with others. */
export type Subject = {
  readonly paragraph: Paragraph;
  /** Its words with single blanks between them: equal for paragraphs that differ in blanks only. */
  readonly key: string;
  /** Numbers of its words in lower case, ascending; the same number for the same word everywhere. */
  readonly words: Int32Array;
};

/** Makes subjects of paragraphs whose words are numbered alike. */
export function subjectMaker(): (paragraph: Paragraph) => Subject {
  const ids = new Map<string, number>();
  return (paragraph) => {
    const found = paragraph.text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const words = Int32Array.from(found, (word) => {
      const id = ids.get(word) ?? ids.size;
      ids.set(word, id);
      return id;
    }).sort();
    return { paragraph, key: paragraph.text.trim().replace(/\s+/g, ' '), words };
  };
}

/** With less in common, paragraphs are two and not one that was edited. */
export const ALIKE = 0.5;
/** Where one paragraph stands exactly where one stood, less will do. */
export const LEAST_ALIKE = 0.3;

/** Share of the words that two paragraphs have in common, from 0 to 1 (Dice's coefficient). */
export function likeness(a: Subject, b: Subject, budget: Budget): number {
  const all = a.words.length + b.words.length;
  if (all === 0) return a.key === b.key ? 1 : 0;
  if ((a.paragraph.title === undefined) !== (b.paragraph.title === undefined)) return 0;
  const most = (2 * Math.min(a.words.length, b.words.length)) / all;
  budget.steps -= 1;
  if (most < LEAST_ALIKE) return 0;
  budget.steps -= all / 8;
  let [at, other, common] = [0, 0, 0];
  while (at < a.words.length && other < b.words.length) {
    const difference = (a.words[at] ?? 0) - (b.words[other] ?? 0);
    if (difference === 0) common += 1;
    if (difference <= 0) at += 1;
    if (difference >= 0) other += 1;
  }
  return (2 * common) / all;
}
