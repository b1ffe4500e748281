import { align, type Budget } from '../../core/align.ts';
import { findLexicon, type Lexicon } from './meaning.ts';
import type { Paragraph } from './paragraphs.ts';
import { type Sentence, splitSentences } from './sentences.ts';
import { compareSentences } from './statements.ts';

/** Sentences of the paragraphs that changed, and which of them are the same ones, wherever they went. */

/** A paragraph that changed, before and after; without one of them it came or went. */
export type Part = {
  readonly before: Paragraph | undefined;
  readonly after: Paragraph | undefined;
  /** What became of the line that `before` stood under. */
  readonly became: string | undefined;
  /** The same for parts with nothing between them that stayed. */
  readonly gap: number;
};

/** A sentence in its paragraph. */
export type Place = {
  /** Number of the part. */
  readonly part: number;
  readonly gap: number;
  readonly paragraph: Paragraph;
  readonly sentence: Sentence;
  readonly became: string | undefined;
  readonly lexicon: Lexicon;
};

/** Sentences that are the same ones: mostly one and one, several where they were joined or taken apart. */
export type Group = { readonly before: readonly Place[]; readonly after: readonly Place[] };

/** With less in common, sentences of one paragraph are two and not one that was edited. */
const ALIKE = 0.3;
/** The same where each is the only one that is left in its paragraph. */
const ALIKE_ALONE = 0.15;
/** The same for sentences of paragraphs that stand at one place. */
const ALIKE_BESIDE = 0.4;
/** The same for sentences of other paragraphs. */
export const ALIKE_ELSEWHERE = 0.5;
/** Comparisons of sentences with sentences, in one go. */
export const MOST_COMPARED = 20_000;

/** Sentences of all parts, which of them are the same ones, and those that stand elsewhere as they were. */
export function listGroups(
  parts: readonly Part[],
  common: Lexicon,
  budget: Budget,
): { readonly groups: readonly Group[]; readonly stayed: readonly (readonly [Place, Place])[] } {
  const sides = parts.map(({ before, after, became, gap }, part) => {
    const lexicon = findLexicon([before?.text ?? '', after?.text ?? ''], () => common);
    const placesOf = (side: Paragraph | undefined) =>
      listPlaces(side, { part, gap, became, lexicon });
    const [old, fresh] = [placesOf(before), placesOf(after)];
    const keys = (places: readonly Place[]) => places.map(({ sentence }) => sentence.key);
    const same = align(keys(old), keys(fresh), budget);
    const [a, b] = [new Set(same.map(([x]) => x)), new Set(same.map(([, y]) => y))];
    return [old.filter((_, at) => !a.has(at)), fresh.filter((_, at) => !b.has(at))] as const;
  });
  const { before, after, stayed } = dropEqual(
    sides.flatMap(([old]) => old),
    sides.flatMap(([, fresh]) => fresh),
  );
  const near = pairWithin(
    before,
    after,
    ({ part }) => part,
    (count) => (count === 2 ? ALIKE_ALONE : ALIKE),
  );
  const [old, fresh] = [without(before, near), without(after, near)];
  const beside = pairWithin(
    old,
    fresh,
    ({ gap }) => gap,
    () => ALIKE_BESIDE,
  );
  const here = [...near, ...beside];
  const far = pairAlike(without(before, here), without(after, here), ALIKE_ELSEWHERE);
  const pairs = joinSplit([...here, ...far], before, after);
  return {
    groups: [
      ...pairs,
      ...without(before, pairs).map((one) => ({ before: [one], after: [] })),
      ...without(after, pairs).map((one) => ({ before: [], after: [one] })),
    ],
    stayed,
  };
}

export function listPlaces(
  paragraph: Paragraph | undefined,
  where: Omit<Place, 'paragraph' | 'sentence'>,
): readonly Place[] {
  if (paragraph === undefined) return [];
  const { text, under } = paragraph;
  const sentences = splitSentences(text, under?.text ?? null, where.lexicon);
  return sentences.map((sentence) => ({ ...where, paragraph, sentence }));
}

function takenBy(groups: readonly Group[]): Set<Place> {
  return new Set(groups.flatMap((group) => [...group.before, ...group.after]));
}

function without(places: readonly Place[], groups: readonly Group[]): readonly Place[] {
  const taken = takenBy(groups);
  return places.filter((one) => !taken.has(one));
}

/** Pairs those of one place with each other. `least`: how alike they have to be, of so many. */
function pairWithin(
  before: readonly Place[],
  after: readonly Place[],
  whereOf: (place: Place) => number,
  least: (count: number) => number,
): readonly Group[] {
  const others = Map.groupBy(after, whereOf);
  return [...Map.groupBy(before, whereOf)].flatMap(([where, old]) => {
    const fresh = others.get(where) ?? [];
    return pairAlike(old, fresh, least(old.length + fresh.length));
  });
}

/** Without the sentences that stand elsewhere now, as they were. */
function dropEqual(before: readonly Place[], after: readonly Place[]) {
  const waiting = Map.groupBy(after, ({ sentence }) => sentence.key);
  const stayed = new Map<Place, Place>();
  const left = before.filter((one) => {
    const found = waiting.get(one.sentence.key)?.shift();
    if (found !== undefined) stayed.set(found, one);
    return found === undefined;
  });
  return {
    before: left,
    after: after.filter((one) => !stayed.has(one)),
    stayed: [...stayed].map(([fresh, old]) => [old, fresh] as const),
  };
}

/** Those that are most alike, one with one. Where there are too many, those that stand at the same place. */
function pairAlike(
  before: readonly Place[],
  after: readonly Place[],
  least: number,
): readonly Group[] {
  const isMany = before.length * after.length > MOST_COMPARED;
  const candidates = before.flatMap((old, a) => {
    const others = isMany ? after.slice(a, a + 1) : after;
    return others.flatMap((fresh, at) => {
      const alike = compareSentences(old.sentence, fresh.sentence);
      const b = isMany ? a : at;
      return alike < least ? [] : [{ old, fresh, alike, a, b }];
    });
  });
  const taken = new Set<Place>();
  return candidates
    .sort((x, y) => y.alike - x.alike || Math.abs(x.a - x.b) - Math.abs(y.a - y.b) || x.a - y.a)
    .flatMap(({ old, fresh }): readonly Group[] => {
      if (taken.has(old) || taken.has(fresh)) return [];
      taken.add(old).add(fresh);
      return [{ before: [old], after: [fresh] }];
    });
}

/** Whether all but a few words of a sentence fit: one of three. */
function isMost(content: readonly string[], fits: (word: string) => boolean): boolean {
  return 3 * content.filter((word) => !fits(word)).length <= content.length;
}

/**
 * A sentence without a partner belongs to a pair that says on the other side what it says, and not on its own: two
 * became one, or one became two.
 */
function joinSplit(
  groups: readonly Group[],
  before: readonly Place[],
  after: readonly Place[],
): readonly Group[] {
  const taken = new Set<Place>();
  const [old, fresh] = [without(before, groups), without(after, groups)];
  const holds = (places: readonly Place[], words: readonly string[]) =>
    words.length > 0 &&
    places.some(({ sentence }) => ` ${sentence.words.join(' ')} `.includes(` ${words.join(' ')} `));
  const has = (places: readonly Place[], word: string) =>
    places.some(
      ({ sentence }) => sentence.content.has(word) || sentence.plain.facts.includes(word),
    );
  return groups.map((group) => {
    const join = (places: readonly Place[], own: readonly Place[], whole: readonly Place[]) =>
      places.filter((one) => {
        const content = [...one.sentence.content.keys(), ...one.sentence.plain.facts];
        const isOwn =
          !taken.has(one) &&
          isMost(content, (word) => has(whole, word)) &&
          (content.some((word) => !has(own, word)) || holds(whole, one.sentence.words.slice(1)));
        if (isOwn) taken.add(one);
        return isOwn;
      });
    return {
      before: [...group.before, ...join(old, group.before, group.after)],
      after: [...group.after, ...join(fresh, group.after, group.before)],
    };
  });
}
