import { align, type Budget, gapsBetween } from '../../../core/align.ts';
import type { Callout } from '../../../core/plan-document.ts';
import { type Fact, factKey } from './fact.ts';
import { ALIKE_ELSEWHERE, type Group, MOST_COMPARED, type Place } from './groups.ts';
import { isMistyped } from './meaning.ts';
import { fold } from './patterns.ts';
import { findSense } from './sentences.ts';
import {
  areSameValues,
  areSwapped,
  compareSentences,
  isReversed,
  isReworded,
  isSameRule,
  isTurnedInOrder,
  joinSentences,
  type Statement,
} from './statements.ts';

/** This module finds how matched sentences differ: their values first, then what they forbid, demand or permit. */

type FactPlace = Place & { readonly fact: Fact };

export type Found = {
  readonly sort: Callout['sort'];
  readonly before: string | null;
  readonly after: string | null;
  /** The same on both sides, so that a value that went from one place to another is found. */
  readonly key: string;
  readonly old: Place | undefined;
  readonly fresh: Place | undefined;
  /** A value that came or went. */
  readonly fact?: Fact;
};

/** The share of the words that has to stay for a `not` to have reversed a sentence without an instruction. */
const ALIKE_TURNED = 0.6;
/** Characters of an instruction that is kept whole. */
const MOST_KEPT = 1000;

/** Lists the changes of a group. A sentence that came or went as a whole has no other to be held against. */
export function compareGroup(group: Group, budget: Budget): readonly Found[] {
  const { before, after } = group;
  if (group.isSpread === true) return changedFacts(listSides(group), budget);
  const [old, fresh] = [before[0], after[0]];
  if (old === undefined || fresh === undefined) return wholeChanges(before, after);
  const [was, is] = [joinPlaces(before), joinPlaces(after)];
  const facts = listSides(group);
  const leads = turnedLeads(facts, budget);
  const isSame = isSameRule(was, is);
  if (isSame && leads.length === 0 && areSameValues(was, is)) return [];
  const values = areSwapped(was, is) ? swappedFacts(facts) : changedFacts(facts, budget);
  return [
    ...leads,
    ...values,
    ...(isSame ? [] : instructionChange({ before, after }, was, is, leads.length > 0)),
  ];
}

function joinPlaces(places: readonly Place[]): Statement {
  return joinSentences(places.map(({ sentence }) => sentence));
}

type FactSides = {
  readonly old: readonly FactPlace[];
  readonly fresh: readonly FactPlace[];
  /** The sentences of either side. */
  readonly texts: { readonly old: readonly string[]; readonly fresh: readonly string[] };
};

function listSides({ before, after }: Group): FactSides {
  const foldTexts = (places: readonly Place[]) => places.map(({ sentence }) => fold(sentence.text));
  const texts = { old: foldTexts(before), fresh: foldTexts(after) };
  return { old: findFacts(before), fresh: findFacts(after), texts };
}

/** Returns true if the target of a transfer is named on the other side, too, by a verb that transfers no call. */
function isNamedIn({ fact: { mark, value } }: FactPlace, texts: readonly string[]): boolean {
  const bare = (text: string) => ` ${text.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()} `;
  return mark === 'transfer' && texts.some((text) => bare(text).includes(bare(value)));
}

function findFacts(places: readonly Place[]): readonly FactPlace[] {
  return places.flatMap((one) => one.sentence.facts.map((fact) => ({ ...one, fact })));
}

/** Names what the platform must have of an instruction that came or went. Its sentence has the numbers. */
function wholeChanges(before: readonly Place[], after: readonly Place[]): readonly Found[] {
  const places = [...before, ...after];
  const instructs = places.some(isWhole);
  const isShown = ({ fact }: FactPlace) => !fact.isWeak && (!instructs || isOwn(fact));
  const sort = before.length === 0 ? 'added' : 'removed';
  return [
    ...findFacts(before)
      .filter(isShown)
      .map((one) => change(one, undefined)),
    ...findFacts(after)
      .filter(isShown)
      .map((one) => change(undefined, one)),
    ...(instructs ? [instruction(sort, { before, after })] : []),
  ];
}

/** Tools and variables of the platform; whom to call is what the instruction is about. */
function isOwn({ mark }: Fact): boolean {
  return mark === 'tool' || mark === 'token';
}

/** The line above a list, or below a heading, says what came or went with it. */
function isWhole(place: Place): boolean {
  const { isWhole: isOne, content, facts } = place.sentence;
  return isOne && !isTitle(place) && !isIntroduction(place) && content.size + facts.length > 0;
}

/** `Ask, in this order:` says nothing without the list below. */
function isIntroduction({ sentence }: Place): boolean {
  return sentence.text.endsWith(':');
}

function alignFacts({ old, fresh }: FactSides, budget: Budget) {
  const keys = (facts: readonly FactPlace[]) => facts.map(({ fact }) => factKey(fact));
  return align(keys(old), keys(fresh), budget);
}

/** `before 5 pm` that became `after 5 pm`. */
function turnedLeads(facts: FactSides, budget: Budget): readonly Found[] {
  return alignFacts(facts, budget).flatMap(([a, b]) => {
    const [was, is] = [facts.old[a], facts.fresh[b]];
    return was !== undefined && is !== undefined && isLeadTurned(was, is) ? [change(was, is)] : [];
  });
}

/** Those that took each other's place in a sentence that has all of them still. */
function swappedFacts({ old, fresh }: FactSides): readonly Found[] {
  return old.flatMap((one, at) => {
    const other = fresh[at];
    const isOther = other !== undefined && factKey(one.fact) !== factKey(other.fact);
    return isOther ? [change(one, other)] : [];
  });
}

function changedFacts(facts: FactSides, budget: Budget): readonly Found[] {
  const { old, fresh } = facts;
  const gaps = gapsBetween(alignFacts(facts, budget), old.length, fresh.length);
  return pairFacts(
    gaps.flatMap(([[from, to]]) => old.slice(from, to)),
    gaps.flatMap(([, [from, to]]) => fresh.slice(from, to)),
    facts.texts,
  );
}

function isLeadTurned(
  { fact: { lead: was } }: FactPlace,
  { fact: { lead: is } }: FactPlace,
): boolean {
  return was !== undefined && is !== undefined && was.side !== is.side;
}

type Fits = (a: Fact, b: Fact, x: string, y: string) => boolean;

/** Tells whether two facts say the same in another notation; `x` and `y` are their sentences. */
const SAME: readonly Fits[] = [
  (a, b) => factKey(a) === factKey(b),
  (a, b) => a.mark === b.mark && a.value === b.value && a.bound === b.bound && isMistypedUnit(a, b),
  (a, b) => isSameHour(a, b),
  (a, b) => isSameSpan(a, b),
  (a, b) => isSameBare(a, b),
  (a, b, x, y) => isSameRate(a, b, y) || isSameRate(b, a, x),
  (a, b) => isSameMoney(a, b),
  (a, b) => isSameRange(a, b),
  (a, b, x, y) => isSameBound(a, b, x) || isSameBound(b, a, y),
];

/** Facts that took each other's place: first those of one unit, then those of one kind. */
function pairFacts(
  old: readonly FactPlace[],
  fresh: readonly FactPlace[],
  texts: FactSides['texts'],
): readonly Found[] {
  const taken = new Set<FactPlace>();
  const found: Found[] = [];
  const isFree = (one: FactPlace) => !taken.has(one);
  const passes = [
    ...SAME,
    (a: Fact, b: Fact) => a.mark === b.mark && a.unit === b.unit,
    (a: Fact, b: Fact) => a.mark === b.mark && mayReplace(a, b),
    // A short number to call is written like any other.
    (a: Fact, b: Fact) =>
      (a.mark === 'phone') !== (b.mark === 'phone') && (a.mark === 'phone' ? b : a).unit === '',
  ];
  const exact = SAME.length;
  for (const [pass, fits] of passes.entries()) {
    if (pass === exact) takeEnds(old, fresh, taken);
    const [left, others] = [old.filter(isFree), fresh.filter(isFree)];
    const isMany = left.length * others.length > MOST_COMPARED;
    for (const [at, was] of left.entries()) {
      const near = isMany ? others.slice(at, at + 1) : others;
      const is = near.find(
        (one) => isFree(one) && fits(was.fact, one.fact, was.sentence.text, one.sentence.text),
      );
      if (is === undefined) continue;
      taken.add(was).add(is);
      if (pass >= exact) found.push(change(was, is));
    }
  }
  const isUnmatched = (others: readonly string[]) => (one: FactPlace) =>
    isFree(one) && !one.fact.isWeak && !isNamedIn(one, others);
  return [
    ...found,
    ...old.filter(isUnmatched(texts.fresh)).map((one) => change(one, undefined)),
    ...fresh.filter(isUnmatched(texts.old)).map((one) => change(undefined, one)),
  ];
}

/** Minutes in half a day. */
const HALF_DAY = 720;

/** `9 to 5` is `9 am to 5 pm`: of an hour that is a mere number, the other side says which one it is. */
function isSameHour(a: Fact, b: Fact): boolean {
  if (a.mark !== 'number' || b.mark !== 'number' || a.unit === b.unit) return false;
  const [bare, clock] = a.unit === '' ? [a, b] : [b, a];
  if (bare.unit !== '' || clock.unit !== 'clock' || bare.bound !== clock.bound) return false;
  const [hours, times] = [bare.value.split('–'), clock.value.split('–')];
  const isOne = (hour: string, time: string | undefined) =>
    Number(hour) <= 24 && (60 * Number(hour) - Number(time)) % HALF_DAY === 0;
  return hours.length === times.length && hours.every((hour, at) => isOne(hour, times[at]));
}

/** `48 hours` are `2 days`, and `30 days` a month. */
function isSameSpan(a: Fact, b: Fact): boolean {
  const worth: { readonly [unit: string]: number } = { second: 1, day: 86_400, month: 2_592_000 };
  const [x, y] = [worth[a.unit], worth[b.unit]];
  const isOne = x !== undefined && y !== undefined && Number(a.value) * x === Number(b.value) * y;
  return isOne && a.mark === b.mark && a.bound === b.bound;
}

/** The noun that is counted may stand elsewhere in the sentence: `up to four of them per show`. */
function isSameRate(rated: Fact, bare: Fact, text: string): boolean {
  const [unit, rate] = rated.unit.split('/');
  const word = /[\p{L}]+$/u.exec(rated.text)?.[0] ?? '';
  const isOne = rated.value === bare.value && rated.bound === bare.bound && unit === bare.unit;
  return isOne && rate !== undefined && word !== '' && fold(text).includes(` ${fold(word)}`);
}

/** `50 cents` are `$0.50`. */
function isSameMoney(a: Fact, b: Fact): boolean {
  const areMoney = a.family === 'money' && b.family === 'money' && a.bound === b.bound;
  const cents = ({ value, unit }: Fact) => Number(value) * (/^cent(?!\p{L})/u.test(unit) ? 1 : 100);
  const isOne = [a, b].filter(({ unit }) => unit.startsWith('cent')).length === 1;
  return areMoney && isOne && Math.abs(cents(a) - cents(b)) < 0.001;
}

/** `The minimum age is 18` is `at least 18`, and `until 24 hours before` is `up to 24 hours before`. */
function isSameBound(bare: Fact, bounded: Fact, text: string): boolean {
  const isOne = bare.value === bounded.value && bare.unit === bounded.unit;
  const says = {
    '≥': /\bmin/,
    '≤': /\bmax|\blimit/,
    '>': undefined,
    '<': undefined,
    '': undefined,
  };
  if (!isOne || bare.bound !== '') return false;
  const side = { '≥': 'above', '≤': 'below', '>': undefined, '<': undefined, '': undefined };
  const isLed = bare.lead !== undefined && bare.lead.side === side[bounded.bound];
  return isLed || says[bounded.bound]?.test(fold(text)) === true;
}

/** `two or three` is `two to three`. */
function isSameRange(a: Fact, b: Fact): boolean {
  const range = ({ value }: Fact) => value.replace('|', '–');
  return a.unit === b.unit && a.bound === b.bound && a.mark === b.mark && range(a) === range(b);
}

/** A price may stand without its currency: `12.50` is `$12.50`. */
function isPlainMoney({ unit: bare, text }: Fact, { unit, family }: Fact): boolean {
  return (
    family === 'money' && /\d[.,]\d{2}(?!\d)/.test(text) && unit.replace(/^[^/]+/, '') === bare
  );
}

/** `under 12` is `under 12 years`. */
function isSameBare(a: Fact, b: Fact): boolean {
  const isBare = (one: Fact, other: Fact) =>
    one.family === 'bare' &&
    (other.family === 'count' || other.family === 'span' || isPlainMoney(one, other));
  // Years are counted in months.
  const isYears =
    b.value === String(12 * Number(a.value)) || a.value === String(12 * Number(b.value));
  const isOne = a.value === b.value || (isYears && [a, b].some(({ unit }) => unit === 'month'));
  return a.bound === b.bound && isOne && (isBare(a, b) || isBare(b, a));
}

function isMistypedUnit({ unit: a }: Fact, { unit: b }: Fact): boolean {
  const [x, y] = [a.split(' '), b.split(' ')];
  return (
    x.length === y.length && x.every((word, at) => word === y[at] || isMistyped(word, y[at] ?? ''))
  );
}

/** Marks a range on one side and its separate ends on the other as taken: they say the same. */
function takeEnds(
  old: readonly FactPlace[],
  fresh: readonly FactPlace[],
  taken: Set<FactPlace>,
): void {
  if (old.length * fresh.length > MOST_COMPARED) return;
  const pairs = [
    ...old.map((one) => [one, fresh] as const),
    ...fresh.map((one) => [one, old] as const),
  ];
  for (const [one, others] of pairs) {
    const isFree = (place: FactPlace) => !taken.has(place);
    const ends = isFree(one) ? findEnds(one.fact, others.filter(isFree)) : [];
    if (ends.length > 0) for (const end of [one, ...ends]) taken.add(end);
  }
}

/** The ends of a range where they stand by themselves: `from 8 to 5` and `opens at 8 and closes at 5`. */
function findEnds({ value, unit }: Fact, others: readonly FactPlace[]): readonly FactPlace[] {
  const [from, to, ...more] = (value === 'weekend' ? '5–6' : value).split('–');
  const find = (end: string | undefined) =>
    others.find(({ fact }) => fact.unit === unit && fact.value === end);
  const ends = [find(from), find(to)].filter((one) => one !== undefined);
  return more.length === 0 && ends.length === 2 ? ends : [];
}

/** `24 hours` may become `2 days`, and `eleven` `half past ten`; money becomes no time. */
function mayReplace(a: Fact, b: Fact): boolean {
  if (a.family === b.family) return true;
  const families = new Set([a.family, b.family]);
  if (families.has('relative')) return families.has('span') || families.has('when');
  return (
    families.has('bare') && (families.has('when') || families.has('money') || families.has('count'))
  );
}

function change(old: FactPlace, fresh: FactPlace): Found;
function change(old: FactPlace | undefined, fresh: FactPlace | undefined): Found;
function change(old: FactPlace | undefined, fresh: FactPlace | undefined): Found {
  const isTurned = old !== undefined && fresh !== undefined && isLeadTurned(old, fresh);
  const [was, is] = [old, fresh].map((one) => one?.fact);
  const isCut = was !== undefined && is !== undefined && getTail(was) === getTail(is);
  const formatFact = (one: FactPlace | undefined) =>
    one === undefined
      ? null
      : `${isTurned ? (one.fact.lead?.text ?? '') : ''}${(isCut ? one.fact.brief : undefined) ?? one.fact.text}`;
  const known = old ?? fresh;
  return {
    sort: [old, fresh].some((one) => one?.fact.mark === 'phone')
      ? 'phone'
      : (known?.fact.mark ?? 'number'),
    before: formatFact(old),
    after: formatFact(fresh),
    key: known === undefined ? '' : factKey(known.fact),
    old,
    fresh,
    ...(known !== undefined && (old === undefined || fresh === undefined) && { fact: known.fact }),
  };
}

function getTail({ text, brief = text }: Fact): string {
  return text.slice(brief.length);
}

/** Lists what a group forbids, demands or permits that it did not before. */
function instructionChange(
  group: Group,
  was: Statement,
  is: Statement,
  isLeadReported: boolean,
): readonly Found[] {
  const { before, after } = group;
  const [old, fresh] = [before[0], after[0]];
  if (old === undefined || fresh === undefined) return [];
  const instructs = (places: readonly Place[]) =>
    places.some(({ sentence }) => sentence.isInstruction);
  const [did, does] = [instructs(before), instructs(after)];
  const alike = compareSentences(old.sentence, fresh.sentence);
  const areDenying = was.plain.isDenying && is.plain.isDenying;
  const isEdited = alike >= ALIKE_TURNED && (areDenying || !isReworded(was.words, is.words));
  if (isReversed(was, is) && ((did && does) || isEdited)) return [instruction('reversed', group)];
  // A heading that is renamed says no more than what stands below it.
  const isOrder = !isLeadReported && isTurnedInOrder(was, is);
  if ((!did && !does && !isOrder) || [old, fresh].every(isTitle)) return [];
  // A sentence that hardly has a word of the other is another one.
  if ((did && does) || isOrder || alike >= ALIKE_ELSEWHERE) return [instruction('changed', group)];
  // Sentences are joined where the other side says what they say.
  if (before.length + after.length > 2 || !(did ? before : after).some(isWhole)) return [];
  return [instruction(did ? 'removed' : 'added', group)];
}

function instruction(sort: Found['sort'], { before, after }: Group): Found {
  const [old, fresh] = [before[0], after[0]];
  const text = (places: readonly Place[]) =>
    cut(
      places
        .toSorted((a, b) => a.part - b.part || a.sentence.start - b.sentence.start)
        .map(({ sentence }) => sentence.text)
        .join(' '),
    );
  return {
    sort,
    before: sort === 'added' ? null : text(before),
    after: sort === 'removed' ? null : text(after),
    key: 'instruction',
    old: sort === 'added' ? undefined : old,
    fresh: sort === 'removed' ? undefined : fresh,
  };
}

function isTitle({ paragraph }: Place): boolean {
  return paragraph.title !== undefined;
}

function cut(text: string): string {
  return text.length <= MOST_KEPT ? text : `${text.slice(0, MOST_KEPT)} …`;
}

/**
 * Tells whether it went from one section or list to another, which both stayed. `Never do it` holds wherever it stands; of
 * another instruction its section says when it holds.
 */
function isElsewhere(old: Place, fresh: Place): boolean {
  const { content, plain } = old.sentence;
  const [first = ''] = content.keys();
  if (old.became === undefined || fresh.was === undefined) return false;
  if (plain.forces.has('always') || plain.signs.get(first) === 'no') return false;
  const isTitled = [old, fresh].some(({ paragraph }) => paragraph.under?.title !== undefined);
  return !isTitled || old.paragraph.heading !== fresh.paragraph.heading;
}

/** The heading or line above that was edited says itself what became of all that stands below it. */
export function movedInstruction(old: Place, fresh: Place): readonly Found[] {
  const [was, is] = [old.paragraph.under?.text, fresh.paragraph.under?.text];
  if (was === is || (was !== undefined && is === old.became)) return [];
  const getSense = (text: string | undefined) => findSense(text ?? '', old.lexicon);
  if (!isElsewhere(old, fresh) && getSense(was) === getSense(is)) return [];
  if (!old.sentence.isInstruction && !fresh.sentence.isInstruction) return [];
  const [before, after] = [cut(old.sentence.text), cut(fresh.sentence.text)];
  return [{ sort: 'moved', before, after, key: 'moved', old, fresh }];
}

/**
 * Pairs values that went in one place and came in another: a name has moved, which is reported once; a number that
 * stayed in its paragraph or section says what it said.
 */
export function withoutMoved(found: readonly Found[]): readonly Found[] {
  const isValue = ({ key }: Found) => key !== 'instruction' && key !== 'moved';
  const isGone = (one: Found) => isValue(one) && one.after === null;
  const isNew = (one: Found) => isValue(one) && one.before === null;
  const waiting = Map.groupBy(found.filter(isGone), ({ key }) => key);
  const isHere = (from: Found, to: Found) => from.old?.part === to.fresh?.part;
  // The nearest come first, whatever the order of the paragraphs is: it is another one on the way back.
  const passes = [
    isHere,
    (from: Found, to: Found) => from.old?.paragraph.heading === to.fresh?.paragraph.heading,
    (_: Found, to: Found) => isNamed(to),
  ];
  const origins = new Map<Found, Found>();
  const inPart = Map.groupBy(found.filter(isGone), ({ old }) => old?.part);
  for (const fits of passes) {
    for (const to of found.filter((one) => isNew(one) && !origins.has(one))) {
      const left = waiting.get(to.key) ?? [];
      const from = left.find((one) => fits(one, to));
      if (from === undefined) continue;
      left.splice(left.indexOf(from), 1);
      origins.set(to, from);
    }
  }
  // In its paragraph a value may have another notation, too.
  for (const to of found.filter((one) => isNew(one) && !origins.has(one))) {
    const from = inPart
      .get(to.fresh?.part)
      ?.find((one) => waiting.get(one.key)?.includes(one) === true && isSameFact(one, to));
    if (from === undefined) continue;
    waiting.set(
      from.key,
      (waiting.get(from.key) ?? []).filter((one) => one !== from),
    );
    origins.set(to, from);
  }
  const gone = new Set(origins.values());
  return found.flatMap((one) => {
    const from = origins.get(one);
    if (from === undefined) return gone.has(one) ? [] : [one];
    const isShown = isNamed(one) && !isHere(from, one);
    return isShown ? [{ ...one, before: one.after, old: from.old }] : [];
  });
}

function isSameFact({ fact: was, old }: Found, { fact: is, fresh }: Found): boolean {
  if (was === undefined || is === undefined) return false;
  const [x, y] = [old?.sentence.text ?? '', fresh?.sentence.text ?? ''];
  return SAME.some((fits) => fits(was, is, x, y));
}

function isNamed({ sort }: Found): boolean {
  return sort !== 'number' && sort !== 'transfer';
}
