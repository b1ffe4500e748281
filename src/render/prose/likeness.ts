import type { Budget } from './align.ts';
import type { Paragraph } from './paragraphs.ts';
import { UNSPACED } from './words.ts';

/** A paragraph as it is compared with others. */
export type Subject = {
  readonly paragraph: Paragraph;
  /** Its words with single blanks between them: equal for paragraphs that differ in blanks only. */
  readonly key: string;
  /** Numbers of its words in lower case, ascending; the same number for the same word everywhere. */
  readonly words: () => Int32Array;
};

/** Makes subjects of paragraphs whose words are numbered alike. */
export function subjectMaker(): (paragraph: Paragraph) => Subject {
  const ids = new Map<string, number>();
  return (paragraph) => {
    let words: Int32Array | undefined;
    return {
      paragraph,
      key: paragraph.text.trim().replace(/\s+/g, ' '),
      words() {
        words ??= numbersOf(paragraph.text, ids);
        return words;
      },
    };
  };
}

const SPOKEN = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}]){1,2000}`, 'gu');

function numbersOf(text: string, ids: Map<string, number>): Int32Array {
  const found = text.toLowerCase().match(SPOKEN) ?? [];
  return Int32Array.from(found, (word) => {
    const id = ids.get(word) ?? ids.size;
    ids.set(word, id);
    return id;
  }).sort();
}

/** With less in common, paragraphs are two and not one that was edited. */
export const ALIKE = 0.5;
/** Where one paragraph stands exactly where one stood, less will do. */
export const LEAST_ALIKE = 0.3;

/** Share of the words that two paragraphs have in common, from 0 to 1 (Dice's coefficient). */
export function likeness(a: Subject, b: Subject, budget: Budget): number {
  const [x, y] = [a.words(), b.words()];
  const all = x.length + y.length;
  if (all === 0) return a.key === b.key ? 1 : 0;
  if ((a.paragraph.title === undefined) !== (b.paragraph.title === undefined)) return 0;
  budget.steps -= 1;
  if ((2 * Math.min(x.length, y.length)) / all < LEAST_ALIKE) return 0;
  budget.steps -= all / 8;
  let [at, other, common] = [0, 0, 0];
  while (at < x.length && other < y.length) {
    const difference = (x[at] ?? 0) - (y[other] ?? 0);
    if (difference === 0) common += 1;
    if (difference <= 0) at += 1;
    if (difference >= 0) other += 1;
  }
  return (2 * common) / all;
}
