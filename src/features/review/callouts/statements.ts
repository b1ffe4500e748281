import { align, gapsBetween, newBudget } from '../../../core/align.ts';
import { commonEnds, countEach } from '../../../core/value.ts';
import { isMistyped } from './meaning.ts';
import { addSign, type Joints, type Reading, type Sentence, type Sign } from './sentences.ts';

/** Sentences held against each other: how alike they are, and whether they say the same, or the opposite. */

/** Share of the words of two sentences that both have, from 0 to 1 (Dice's coefficient); of what they are about, where that is more. */
export function compareSentences(a: Sentence, b: Sentence): number {
  return Math.max(computeDice(a.words, b.words), 0.9 * computeDice(listTopics(a), listTopics(b)));
}

/** Lists the content words and values of a sentence, each end of a range by itself. */
function listTopics({ content, facts }: Sentence): readonly string[] {
  return [...content.keys(), ...facts.flatMap(({ value }) => value.split('–'))];
}

function computeDice(a: readonly string[], b: readonly string[]): number {
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
  'content' | 'conditions' | 'handed' | 'light' | 'spoken' | 'words' | 'plain' | 'settled'
> & {
  /** One of several joined sentences denies words of another: `They ask for hints. Do not give any.` */
  readonly isJoined?: boolean;
};

export function joinSentences(sentences: readonly Sentence[]): Statement {
  const [first] = sentences;
  if (first !== undefined && sentences.length === 1) return first;
  const union = (member: (one: Sentence) => Iterable<string>) =>
    new Set(sentences.flatMap((one) => [...member(one)]));
  const reading = (member: 'plain' | 'settled'): Reading => {
    const all = sentences.map((one) => one[member]);
    const sum = (joint: keyof Joints) => all.reduce((total, one) => total + one.joints[joint], 0);
    const signs = new Map<string, Sign>();
    for (const { signs: own } of all) for (const [word, sign] of own) addSign(signs, word, sign);
    return {
      forces: union((one) => one[member].forces),
      facts: all.flatMap(({ facts }) => facts),
      joints: {
        before: sum('before'),
        after: sum('after'),
        and: sum('and'),
        or: sum('or'),
        must: sum('must'),
        may: sum('may'),
      },
      signs,
      denied: union((one) => one[member].denied),
      negated: union((one) => one[member].negated),
      order: new Map(all.flatMap(({ order }) => [...order])),
      isNeed: all.some(({ isNeed }) => isNeed),
      isOrdered: all.some(({ isOrdered }) => isOrdered),
      isDenying: all.some(({ isDenying }) => isDenying),
    };
  };
  return {
    content: new Map(sentences.flatMap((one) => [...one.content])),
    conditions: union((one) => one.conditions),
    handed: union((one) => one.handed),
    light: union((one) => one.light),
    spoken: union((one) => one.spoken),
    words: sentences.flatMap((one) => one.words),
    plain: reading('plain'),
    settled: reading('settled'),
    isJoined: true,
  };
}

/** Tells whether two say the same but for values: they forbid, demand and permit alike, and are about the same. */
export function isSameRule(a: Statement, b: Statement): boolean {
  return (isAlike(a, b, 'plain') || isAlike(a, b, 'settled')) && isAboutSame(a, b);
}

/** Forces that say nothing where a sentence was put in other words: what they are about does, by its signs. */
const REWORDED: ReadonlySet<string> = new Set(['always', 'forbids', 'without', 'softens']);

function isAlike(a: Statement, b: Statement, member: 'plain' | 'settled'): boolean {
  const isWhole = isReworded(a.words, b.words);
  const isNew = isRewritten(a, b);
  const [x, y] = [a[member], b[member]];
  const isObliged = [x, y].some(({ forces: own, joints }) => own.has('always') || joints.must > 0);
  const isSilent = (force: string) =>
    (isNew && REWORDED.has(force)) ||
    (force === 'always' && (x.isNeed || y.isNeed)) ||
    (force === 'permits' && ((x.isDenying && y.isDenying) || (isNew && !isObliged))) ||
    (/^forbids/.test(force) && denies(x) && denies(y));
  const forces = ({ forces: all }: Reading) => {
    const bare = [...all].map((force) => (isNew ? force.replace(/ if$/, '') : force));
    return new Set(bare.filter((force) => !isSilent(force)));
  };
  return (
    (x.isNeed === y.isNeed || (x.isNeed ? isNeeded(a, b, isNew) : isNeeded(b, a, isNew))) &&
    isSameSet(forces(x), forces(y)) &&
    !areReordered(x, y) &&
    !(isNew ? !isWhole && areChosen(x, y) : areTurned(x.joints, y.joints)) &&
    !isLoosened(x, y) &&
    !isReadReversed(a, b, member) &&
    areSigned(x, y, isNew) &&
    !(isNew && areConditionsTurned(a, b, member))
  );
}

/** Tells whether something is done before what it is done after on the other side. */
function areReordered({ order: a }: Reading, { order: b }: Reading): boolean {
  return [...a].some(([word, side]) => (b.get(word) ?? side) !== side);
}

/** Tells whether neither is negated or limited, which may come to the same as a negation elsewhere. */
function areFree(a: Reading, b: Reading): boolean {
  return !(a.isDenying || b.isDenying || a.isNeed || b.isNeed);
}

/** Tells whether a condition is affirmed in one, and negated in the other. */
function areConditionsTurned(a: Statement, b: Statement, member: 'plain' | 'settled'): boolean {
  const [x, y] = [a[member], b[member]];
  const shared = [...a.conditions].filter((word) => b.conditions.has(word));
  const isNegated = (word: string) => x.signs.get(word) === 'no' && y.signs.get(word) === 'no';
  const areOpposite = (word: string) => {
    const signs = [x.signs.get(word), y.signs.get(word)];
    return signs.includes('yes') && signs.includes('no');
  };
  return areFree(x, y) && shared.some((word) => areOpposite(word)) && !shared.some(isNegated);
}

/** Tells whether what had to be only may be now, or the other way round. A negation or a limit turns either. */
function isLoosened(a: Reading, b: Reading): boolean {
  return areFree(a, b) && isTurned(a.joints, b.joints, 'must', 'may');
}

/** Tells whether all of something became one of it; what is denied of either is denied of both. */
function areChosen(a: Reading, b: Reading): boolean {
  return !denies(a) && !denies(b) && isTurned(a.joints, b.joints, 'and', 'or');
}

function denies({ signs }: Reading): boolean {
  return [...signs.values()].some((sign) => sign !== 'yes');
}

/** Tells whether it says what is not to be done: `dogs only` denies all others. */
export function restricts({ forces, denied, isDenying }: Reading): boolean {
  const isForbidding = ['forbids', 'without', 'limits', 'excepts'].some((one) => forces.has(one));
  return isForbidding || isDenying || denied.size > 0;
}

function isRestricted(one: Reading): boolean {
  return denies(one) || one.isNeed || one.forces.has('limits');
}

/** Tells whether `other` says what `need` demands: in place of its exception it has to say what comes first or is required. */
function isNeeded(need: Statement, other: Statement, isNew: boolean): boolean {
  const has = (force: string) => need.plain.forces.has(force) && !other.plain.forces.has(force);
  return other.settled.isOrdered && (isNew || has('without') || has('excepts'));
}

/**
 * Tells whether what both are about is affirmed or negated in both. In other words a condition may say it the other way
 * round, and what is denied first tells enough where both deny something; where only some words changed, those that are denied tell what was reversed.
 */
function areSigned(a: Reading, b: Reading, isNew: boolean): boolean {
  if (isNew && isRestricted(a) && isRestricted(b)) return true;
  return [...a.signs].every(([word, sign]) => {
    const other = b.signs.get(word) ?? 'both';
    const isOne = sign === other || sign === 'both' || other === 'both';
    const isMain = a.negated.has(word) || b.negated.has(word);
    return isOne || isMain !== isNew;
  });
}

/** Tells whether their values are the same ones, in one form. Those of a sentence in other words may stand in another order. */
export function areSameValues(a: Statement, b: Statement): boolean {
  const [old, fresh] = [a.settled.facts, b.settled.facts];
  return isReworded(a.words, b.words)
    ? [...old].sort().join() === [...fresh].sort().join()
    : old.join() === fresh.join();
}

/** Tells whether the values of a sentence changed places in it. */
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
  return isTurned(a, b, 'before', 'after') || isTurned(a, b, 'and', 'or');
}

function isTurned(a: Joints, b: Joints, one: keyof Joints, other: keyof Joints): boolean {
  return (a[one] - b[one]) * (a[other] - b[other]) < 0;
}

/** Tells whether two are about the same. A mistyped word is the same word, and a light one says what any other does. */
function isAboutSame(a: Statement, b: Statement): boolean {
  const isTransfer = ({ plain }: Statement) => plain.facts.some((key) => /^transfer /.test(key));
  const missing = (from: Statement, to: Statement) => {
    const others = to.words.filter((word) => !from.words.includes(word));
    // To whom somebody is handed over is a value, which came with who that is.
    const isNewTransfer = !isTransfer(to);
    return [...from.content].flatMap(([meaning, word]) =>
      to.plain.signs.has(meaning) ||
      (isNewTransfer && from.handed.has(meaning)) ||
      others.some((other) => isMistyped(word, other))
        ? []
        : word,
    );
  };
  const [gone, fresh] = [missing(a, b), missing(b, a)];
  const facts = new Set(b.settled.facts);
  const common =
    a.content.size - gone.length + a.settled.facts.filter((one) => facts.has(one)).length;
  const differing = gone.length + fresh.length;
  if (differing === 0) return true;
  // A light verb says no other thing to do where that is all that was done.
  const isAllDone = ([word = '']: readonly string[], { content, conditions }: Statement) =>
    conditions.size > 0 &&
    [...content].every(([meaning, own]) => own === word || conditions.has(meaning));
  const isLight = (one: Statement, other: Statement) =>
    !isAllDone(one === b ? gone : fresh, other) &&
    [...one.light].some((word) => !other.light.has(word));
  if (gone.length === 1 && fresh.length === 0 && isLight(b, a)) return true;
  if (fresh.length === 1 && gone.length === 0 && isLight(a, b)) return true;
  const replaced = Math.min(gone.length, fresh.length);
  if (!isRewritten(a, b) || common <= replaced || differing > MOST_DIFFERING * common) return false;
  return !isOneReplaced(a, b, gone, fresh);
}

/** With more words that only one of two has, for each that both have, they are about different things. */
const MOST_DIFFERING = 2;

/** Words around the one that stands for another, such as its article, which may change with it. */
const MOST_AROUND = 2;

/** Tells whether one word stands for another, and all that is said beside stayed, wherever it went. */
function isOneReplaced(
  a: Statement,
  b: Statement,
  gone: readonly string[],
  fresh: readonly string[],
): boolean {
  if (gone.length !== 1 || fresh.length !== 1) return false;
  const missing = (from: readonly string[], to: readonly string[]) => {
    const others = new Set(to);
    return from.filter((word) => !others.has(word)).length;
  };
  return Math.max(missing(a.words, b.words), missing(b.words, a.words)) <= MOST_AROUND;
}

/** With more of its words in their place at both ends, a sentence was edited and not put in other words. */
const MOST_KEPT = 0.35;
/** The same of its words in their order, wherever something was put in or taken out. */
const MOST_ORDERED = 0.75;
/** Longer sentences are compared by their ends alone: words of one times words of the other. */
const MOST_WORDS = 10_000;

/** Tells whether a sentence was put in other words as a whole, or in several places at once. */
function isRewritten(a: Statement, b: Statement): boolean {
  return isReworded(a.words, b.words) || countRewritten(a, b) > 1;
}

/** Places where some words that say something stand for others. Only words that say nothing by themselves part no places. */
function countRewritten(a: Statement, b: Statement): number {
  const [head, tail] = commonEnds(a.words, b.words);
  const [old, fresh] = [a, b].map(({ words }) => words.slice(head, words.length - tail));
  if (old === undefined || fresh === undefined) return 0;
  if (old.length * fresh.length > MOST_WORDS) return 1;
  let [places, went, came, speaks] = [0, false, false, false];
  const [from, to] = [new Set(old), new Set(fresh)];
  const end = () => {
    if (went && came && speaks) places += 1;
    [went, came, speaks] = [false, false, false];
  };
  const gaps = gapsBetween(align(old, fresh, newBudget()), old.length, fresh.length);
  for (const [[begin, next], [start, stop]] of gaps) {
    const [gone, fresher] = [old.slice(begin, next), fresh.slice(start, stop)];
    // A word that stands elsewhere now was both.
    const isMoved =
      gone.some((word) => a.spoken.has(word) && to.has(word)) ||
      fresher.some((word) => b.spoken.has(word) && from.has(word));
    went ||= isMoved || gone.length > 0;
    came ||= isMoved || fresher.length > 0;
    speaks ||= gone.some((word) => says(a, word)) || fresher.some((word) => says(b, word));
    if (a.spoken.has(old[next] ?? '')) end();
  }
  end();
  return places;
}

/** As long as an article or a preposition. */
const SHORT = 3;

function says({ spoken }: Statement, word: string): boolean {
  return spoken.has(word) || (word.length > SHORT && /\p{L}/u.test(word));
}

/** Tells whether a sentence was put in other words: an edit that changes what it says leaves the rest of it alone. */
export function isReworded(a: readonly string[], b: readonly string[]): boolean {
  const [head, tail] = commonEnds(a, b);
  const least = Math.min(a.length, b.length);
  if (head + tail > MOST_KEPT * least) return false;
  return (
    a.length * b.length > MOST_WORDS || align(a, b, newBudget()).length <= MOST_ORDERED * least
  );
}

/** Tells whether what is done before something is done after it now, and the rest of the words stayed. */
export function isTurnedInOrder(a: Statement, b: Statement): boolean {
  return areReordered(a.plain, b.plain) && !isReworded(a.words, b.words);
}

/** Tells whether one says the opposite of the other: what is denied here is affirmed there. */
export function isReversed(a: Statement, b: Statement): boolean {
  const isLifted = a.settled.isNeed !== b.settled.isNeed && isReworded(a.words, b.words);
  return isReadReversed(a, b, isLifted ? 'settled' : 'plain');
}

function isReadReversed(a: Statement, b: Statement, member: 'plain' | 'settled'): boolean {
  const isNew = isReworded(a.words, b.words);
  const turns = (one: Reading, other: Reading) =>
    [...one.denied].some(
      (word) => other.signs.get(word) === 'yes' && !(isNew && one.signs.get(word) === 'both'),
    );
  const [x, y] = [a[member], b[member]];
  // `Not if A` may be `only if not A`.
  const isLimited = [a, b].some((one) => one.settled.isNeed || one.plain.forces.has('limits'));
  const isJoined = a.isJoined === true || b.isJoined === true;
  if (isNew && (isJoined || isLimited) && isRestricted(x) && isRestricted(y)) return false;
  return turns(x, y) || turns(y, x) || isBareReversed(a, b) || isBareReversed(b, a);
}

/** `You may:` that became `You must not:`, which the list below says what of. */
function isBareReversed(a: Statement, b: Statement): boolean {
  const isBare = a.content.size + b.content.size === 0;
  return isBare && a.plain.forces.has('forbids') && !b.plain.forces.has('forbids');
}
