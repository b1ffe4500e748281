import { align, type Budget } from '../../../core/align.ts';
import type { Paragraph } from '../../../render/prose/paragraphs.ts';
import { findLexicon, type Lexicon } from './meaning.ts';

import { addSign, type Sentence, type Sign, splitSentences } from './sentences.ts';
import { compareSentences, restricts } from './statements.ts';

/** Sentences of the paragraphs that changed, and which of them are the same ones, wherever they went. */

/** A paragraph that changed, before and after; without one of them it came or went. */
export type Part = {
  readonly before: Paragraph | undefined;
  readonly after: Paragraph | undefined;
  /** The new form of the line that `before` stood under. */
  readonly became: string | undefined;
  /** The old form of the line that `after` stands under. */
  readonly was: string | undefined;
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
  readonly was: string | undefined;
  readonly lexicon: Lexicon;
};

/** Sentences that are the same ones: mostly one and one, several where they were joined or taken apart. */
export type Group = {
  readonly before: readonly Place[];
  readonly after: readonly Place[];
  /** Several sentences of the other side together say the same: prose that became a list. */
  readonly isSpread?: boolean;
};

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
  const sides = parts.map(({ before, after, became, was, gap }, part) => {
    const lexicon = findLexicon([before?.text ?? '', after?.text ?? ''], () => common);
    const placesIn = (side: Paragraph | undefined) =>
      listPlaces(side, { part, gap, became, was, lexicon });
    const [old, fresh] = [placesIn(before), placesIn(after)];
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
  const groups = [...pairs, ...listSpread(pairs, without(before, pairs), without(after, pairs))];
  return {
    groups: [
      ...groups,
      ...without(before, groups).map((one) => ({ before: [one], after: [] })),
      ...without(after, groups).map((one) => ({ before: [], after: [one] })),
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
  getOrdinal: (place: Place) => number,
  least: (count: number) => number,
): readonly Group[] {
  const others = Map.groupBy(after, getOrdinal);
  return [...Map.groupBy(before, getOrdinal)].flatMap(([where, old]) => {
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

/** Tells whether all but a few words of a sentence fit: one of three. */
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
  const follows = (one: Place, { sentence, part }: Place) =>
    one.part === part && sentence.start < one.sentence.start;
  // `They ask for hints. Do not give any.` says of the hints what is to be done.
  const refers = (one: Place, own: readonly Place[]) =>
    one.sentence.isInstruction &&
    one.sentence.content.size + one.sentence.facts.length === 0 &&
    own.some((other) => follows(one, other));
  // A prohibition is not found on a side that forbids nothing.
  const isDenied = ({ sentence }: Place, others: readonly Place[]) =>
    sentence.plain.denied.size > 0 && !others.some((one) => restricts(one.sentence.plain));
  return groups.map((group) => {
    const join = (places: readonly Place[], own: readonly Place[], whole: readonly Place[]) =>
      places.filter((one) => {
        const content = [...one.sentence.content.keys(), ...one.sentence.plain.facts];
        const isOwn =
          !taken.has(one) &&
          !isDenied(one, whole) &&
          isMost(content, (word) => has(whole, word)) &&
          (content.some((word) => !has(own, word)) ||
            holds(whole, one.sentence.words.slice(1)) ||
            refers(one, own));
        if (isOwn) taken.add(one);
        return isOwn;
      });
    return {
      before: [...group.before, ...join(old, group.before, group.after)],
      after: [...group.after, ...join(fresh, group.after, group.before)],
    };
  });
}

/** Sentences without a partner that say what several of the other side say near them. Each section is a group. */
function listSpread(
  pairs: readonly Group[],
  before: readonly Place[],
  after: readonly Place[],
): readonly Group[] {
  const [old, fresh] = [saidBy('before', pairs, before), saidBy('after', pairs, after)];
  const isSpread = (said: Said) => (one: Place) => {
    const { content, plain } = one.sentence;
    const words = [...content.keys(), ...plain.facts];
    const signs = said.signs(one);
    // `Dogs only` forbids cats as `no cats` does.
    const isAffirmed =
      !plain.forces.has('limits') &&
      plain.denied.size > 0 &&
      [...plain.denied, ...content.keys()].every((word) => (signs(word) ?? 'yes') === 'yes');
    if (words.length === 0 || isAffirmed || !isMost(words, (word) => signs(word) !== undefined))
      return false;
    // One sentence that has most of its words in common is another one: it was compared already.
    const found = words.flatMap((word) => said.findSentence(one, word) ?? []);
    return found.length === words.length || new Set(found).size > 1;
  };
  const gone = Map.groupBy(before.filter(isSpread(fresh)), ({ paragraph }) => paragraph.heading);
  const came = Map.groupBy(after.filter(isSpread(old)), ({ paragraph }) => paragraph.heading);
  return [...new Set([...gone.keys(), ...came.keys()])].map((heading) => ({
    before: gone.get(heading) ?? [],
    after: came.get(heading) ?? [],
    isSpread: true,
  }));
}

/** How a word is said near a sentence of the other side, and where first; undefined where it is not. */
type Said = {
  readonly signs: (near: Place) => (word: string) => Sign | undefined;
  readonly findSentence: (near: Place, word: string) => Sentence | undefined;
};

/** Lists what one side says that its partners on the other do not, by its sections and by where it stands. */
function saidBy(side: 'before' | 'after', pairs: readonly Group[], alone: readonly Place[]): Said {
  const other = side === 'before' ? 'after' : 'before';
  const said = new Map<string, Map<string, Sign>>();
  const first = new Map<string, Sentence>();
  const add = (place: Place, word: string, sign: Sign) => {
    for (const where of listPlaceKeys(place)) {
      const signs = said.get(where) ?? new Map<string, Sign>();
      said.set(where, signs);
      addSign(signs, word, sign);
      const key = `${where} ${word}`;
      if (!first.has(key)) first.set(key, place.sentence);
    }
  };
  const groups = [
    ...pairs,
    ...alone.map((one) => ({ before: [one], after: [one], isAlone: true })),
  ];
  for (const group of groups) {
    const known = new Set(
      'isAlone' in group
        ? []
        : group[other].flatMap(({ sentence: { content, plain } }) => [
            ...content.keys(),
            ...plain.facts,
          ]),
    );
    for (const place of group[side]) {
      const { plain } = place.sentence;
      for (const [word, sign] of plain.signs) if (!known.has(word)) add(place, word, sign);
      for (const fact of plain.facts) if (!known.has(fact)) add(place, fact, 'both');
    }
  }
  return {
    signs: (near) => {
      const all = listPlaceKeys(near).flatMap((where) => said.get(where) ?? []);
      return (word) => all.map((signs) => signs.get(word)).find((sign) => sign !== undefined);
    },
    findSentence: (near, word) =>
      listPlaceKeys(near)
        .map((where) => first.get(`${where} ${word}`))
        .find((sentence) => sentence !== undefined),
  };
}

function listPlaceKeys({ paragraph, gap }: Place): readonly string[] {
  return [`section ${paragraph.heading}`, `gap ${gap}`];
}
