import { commonEnds, countEach } from '../../core/value.ts';
import { isMistyped } from './meaning.ts';
import { addSign, type Joints, type Reading, type Sentence, type Sign } from './sentences.ts';

/** Sentences held against each other: how alike they are, and whether they say the same, or the opposite. */

/** Share of the words of two sentences that both have, from 0 to 1 (Dice's coefficient); of what they are about, where that is more. */
export function compareSentences(a: Sentence, b: Sentence): number {
  return Math.max(diceOf(a.words, b.words), 0.9 * diceOf(aboutOf(a), aboutOf(b)));
}

/** What a sentence is about, and its values: the ends of a range by themselves. */
function aboutOf({ content, facts }: Sentence): readonly string[] {
  return [...content.keys(), ...facts.flatMap(({ value }) => value.split('–'))];
}

function diceOf(a: readonly string[], b: readonly string[]): number {
  const counts = countEach(a);
  let common = 0;
  for (const word of b) {
    const left = counts.get(word) ?? 0;
    if (left > 0) common += 1;
    counts.set(word, left - 1);
  }
  const all = a.length + b.length;
  return all === 0 ? 0 : (2 * common) / all;
}

/** Sentences that say one thing, and what they say together. */
export type Statement = Pick<
  Sentence,
  'content' | 'light' | 'signs' | 'denied' | 'words' | 'plain' | 'settled'
>;

export function joinSentences(sentences: readonly Sentence[]): Statement {
  const [first] = sentences;
  if (first !== undefined && sentences.length === 1) return first;
  const union = (member: (one: Sentence) => Iterable<string>) =>
    new Set(sentences.flatMap((one) => [...member(one)]));
  const signs = new Map<string, Sign>();
  for (const { signs: own } of sentences)
    for (const [word, sign] of own) addSign(signs, word, sign);
  const reading = (member: 'plain' | 'settled'): Reading => ({
    forces: union((one) => one[member].forces),
    facts: sentences.flatMap((one) => one[member].facts),
    joints: {
      before: sum(member, 'before'),
      after: sum(member, 'after'),
      and: sum(member, 'and'),
      or: sum(member, 'or'),
    },
  });
  const sum = (member: 'plain' | 'settled', joint: keyof Joints) =>
    sentences.reduce((total, one) => total + one[member].joints[joint], 0);
  return {
    content: new Map(sentences.flatMap((one) => [...one.content])),
    light: union((one) => one.light),
    signs,
    denied: union((one) => one.denied),
    words: sentences.flatMap((one) => one.words),
    plain: reading('plain'),
    settled: reading('settled'),
  };
}

/** Whether two say the same but for values: they forbid, demand and permit alike, and are about the same. */
export function isSameRule(a: Statement, b: Statement): boolean {
  const isNew = isReworded(a.words, b.words);
  const isAlike = (member: 'plain' | 'settled') =>
    isSameSet(a[member].forces, b[member].forces) &&
    (isNew || !areTurned(a[member].joints, b[member].joints));
  return (isAlike('plain') ? !isReversed(a, b) : isAlike('settled')) && isAboutSame(a, b);
}

/** Whether their values are the same ones, in one form. Those of a sentence in other words may stand in another order. */
export function areSameValues(a: Statement, b: Statement): boolean {
  const [old, fresh] = [a.settled.facts, b.settled.facts];
  return isReworded(a.words, b.words)
    ? [...old].sort().join() === [...fresh].sort().join()
    : old.join() === fresh.join();
}

/** Whether the values of a sentence changed places in it. */
export function areSwapped(a: Statement, b: Statement): boolean {
  const [old, fresh] = [a.plain.facts, b.plain.facts];
  const isSame = [...old].sort().join() === [...fresh].sort().join();
  return (
    isSame &&
    old.join() !== fresh.join() &&
    !isReworded(a.words, b.words) &&
    a.content.size === b.content.size
  );
}

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((one) => b.has(one));
}

/** `and` that became `or`, `before` that became `after`. */
function areTurned(a: Joints, b: Joints): boolean {
  const isTurned = (one: keyof Joints, other: keyof Joints) =>
    (a[one] - b[one]) * (a[other] - b[other]) < 0;
  return isTurned('before', 'after') || isTurned('and', 'or');
}

/** As many words may differ where a sentence was put in other words. */
const MOST_REWORDED = 2;

/** Whether two are about the same. A mistyped word is the same word, and a light one says what any other does. */
function isAboutSame(a: Statement, b: Statement): boolean {
  const missing = (from: Statement, to: Statement) => {
    const others = to.words.filter((word) => !from.words.includes(word));
    return [...from.content].flatMap(([meaning, word]) =>
      to.content.has(meaning) || others.some((other) => isMistyped(word, other)) ? [] : word,
    );
  };
  const [gone, fresh] = [missing(a, b), missing(b, a)];
  const common = a.content.size - gone.length;
  const differing = gone.length + fresh.length;
  if (differing === 0) return true;
  const isLight = (one: Statement, other: Statement) =>
    [...one.light].some((word) => !other.light.has(word));
  if (gone.length === 1 && fresh.length === 0 && isLight(b, a)) return true;
  if (fresh.length === 1 && gone.length === 0 && isLight(a, b)) return true;
  return isReworded(a.words, b.words) && differing <= MOST_REWORDED && common > differing;
}

/** With more of its words in their place at both ends, a sentence was edited and not put in other words. */
const MOST_KEPT = 0.35;

/** Whether a sentence was put in other words: an edit that changes what it says leaves the rest of it alone. */
function isReworded(a: readonly string[], b: readonly string[]): boolean {
  const [head, tail] = commonEnds(a, b);
  return head + tail <= MOST_KEPT * Math.min(a.length, b.length);
}

/** Whether one says the opposite of the other: what is denied here is affirmed there. */
export function isReversed(a: Statement, b: Statement): boolean {
  const turns = (one: Statement, other: Statement) =>
    [...one.denied].some((word) => other.signs.get(word) === 'yes');
  return turns(a, b) || turns(b, a) || isBareReversed(a, b) || isBareReversed(b, a);
}

/** `You may:` that became `You must not:`, which the list below says what of. */
function isBareReversed(a: Statement, b: Statement): boolean {
  const isBare = a.content.size + b.content.size === 0;
  return isBare && a.plain.forces.has('forbids') && !b.plain.forces.has('forbids');
}
