import { align, type Budget, gapsBetween } from '../../core/align.ts';
import { commonEnds } from '../../core/value.ts';
import type { Callout, Draft, Part } from './blocks.ts';
import { type Fact, NAMES } from './facts.ts';
import type { Paragraph } from './paragraphs.ts';
import { compareSentences, isAboutSame, type Sentence, splitSentences } from './sentences.ts';
import type { Mark } from './words.ts';

/**
 * What a careful reviewer wants to be told of a changed prompt. Sentences are matched first, wherever they moved;
 * of a pair the facts and the instruction are compared, and a sentence without a partner came or went as a whole.
 */

/** A sentence in its paragraph. */
type Spot = {
  readonly part: number;
  readonly paragraph: Paragraph;
  readonly sentence: Sentence;
};

/** Sentences that are the same ones: mostly one and one, several where they were joined or taken apart. */
type Group = { readonly before: readonly Spot[]; readonly after: readonly Spot[] };

type FactSpot = Spot & { readonly fact: Fact };

type Found = {
  readonly mark: Mark;
  readonly before: string | null;
  readonly after: string | null;
  /** What it is on both sides, for what came here and went there. */
  readonly key: string;
  readonly old: Spot | undefined;
  readonly fresh: Spot | undefined;
};

/** With less in common, sentences of one paragraph are two and not one that was edited. */
const ALIKE = 0.3;
/** The same where each is the only one that is left in its paragraph. */
const ALIKE_ALONE = 0.15;
/** The same for sentences of different paragraphs. */
const ALIKE_ELSEWHERE = 0.5;
/** As much of their words has to stay, in order, for a `not` to have turned a sentence that instructs nobody. */
const ALIKE_TURNED = 0.7;
/** Comparisons of sentences with sentences, in one go. */
const MOST_COMPARED = 20_000;

/**
 * Names what changed, in the order of the text. `isTurned`: the two sides are compared the other way round, so that
 * the way back finds what the way there does.
 */
export function findCallouts(
  drafts: readonly Draft[],
  isTurned: boolean,
  budget: Budget,
): readonly Callout[] {
  const blocks = drafts.flatMap(({ parts }, block) => parts.map(() => block));
  const parts = drafts
    .flatMap((draft) => draft.parts)
    .map(
      ({ before, after }): Part =>
        isTurned ? { before: after, after: before } : { before, after },
    );
  const found = listGroups(parts, budget).flatMap((group) => [
    ...factChanges(group, budget),
    ...instructionChanges(group, budget),
  ]);
  const settled = withoutMoved(found).map((one) => (isTurned ? turn(one) : one));
  const original = drafts.flatMap((draft) => draft.parts);
  const placed = settled.map((one) => place(one, original, blocks, drafts));
  return gather(placed.toSorted((a, b) => a.block - b.block || a.line - b.line));
}

function turn({ before, after, old, fresh, ...rest }: Found): Found {
  return { ...rest, before: after, after: before, old: fresh, fresh: old };
}

/** Sentences of all parts, and which of them are the same ones; those that are equal are left out. */
function listGroups(parts: readonly Part[], budget: Budget): readonly Group[] {
  const spotsOf = (paragraph: Paragraph | undefined, part: number): readonly Spot[] =>
    paragraph === undefined
      ? []
      : splitSentences(paragraph.text, paragraph.heading).map((sentence) => ({
          part,
          paragraph,
          sentence,
        }));
  const sides = parts.map(({ before, after }, part) => {
    const [old, fresh] = [spotsOf(before, part), spotsOf(after, part)];
    const keys = (spots: readonly Spot[]) => spots.map(({ sentence }) => sentence.key);
    const same = align(keys(old), keys(fresh), budget);
    const [a, b] = [new Set(same.map(([x]) => x)), new Set(same.map(([, y]) => y))];
    return [old.filter((_, at) => !a.has(at)), fresh.filter((_, at) => !b.has(at))] as const;
  });
  const [before, after] = dropEqual(
    sides.flatMap(([old]) => old),
    sides.flatMap(([, fresh]) => fresh),
  );
  const inPart = (spots: readonly Spot[]) => Map.groupBy(spots, ({ part }) => part);
  const [oldBy, freshBy] = [inPart(before), inPart(after)];
  const near = parts.flatMap((_, part): readonly Group[] => {
    const [old = [], fresh = []] = [oldBy.get(part), freshBy.get(part)];
    return joinSplit(
      pairAlike(old, fresh, old.length + fresh.length === 2 ? ALIKE_ALONE : ALIKE),
      old,
      fresh,
    );
  });
  const taken = new Set(near.flatMap((group) => [...group.before, ...group.after]));
  const [a, b] = [before, after].map((spots) => spots.filter((spot) => !taken.has(spot)));
  const far = pairAlike(a ?? [], b ?? [], ALIKE_ELSEWHERE);
  for (const group of far) for (const spot of [...group.before, ...group.after]) taken.add(spot);
  return [
    ...near,
    ...far,
    ...before.filter((spot) => !taken.has(spot)).map((spot) => ({ before: [spot], after: [] })),
    ...after.filter((spot) => !taken.has(spot)).map((spot) => ({ before: [], after: [spot] })),
  ];
}

/** Without the sentences that stand elsewhere now, as they were. */
function dropEqual(
  before: readonly Spot[],
  after: readonly Spot[],
): readonly [readonly Spot[], readonly Spot[]] {
  const waiting = Map.groupBy(after, ({ sentence }) => sentence.key);
  const moved = new Set<Spot>();
  const left = before.filter(({ sentence }) => {
    const found = waiting.get(sentence.key)?.shift();
    if (found !== undefined) moved.add(found);
    return found === undefined;
  });
  return [left, after.filter((spot) => !moved.has(spot))];
}

/** Those that are most alike, one with one. Where there are too many, those that stand at the same place. */
function pairAlike(
  before: readonly Spot[],
  after: readonly Spot[],
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
  const taken = new Set<Spot>();
  return candidates
    .sort((x, y) => y.alike - x.alike || Math.abs(x.a - x.b) - Math.abs(y.a - y.b) || x.a - y.a)
    .flatMap(({ old, fresh }): readonly Group[] => {
      if (taken.has(old) || taken.has(fresh)) return [];
      taken.add(old).add(fresh);
      return [{ before: [old], after: [fresh] }];
    });
}

/** A sentence without a partner that is about what a pair is about belongs to it: two became one, or one became two. */
function joinSplit(
  groups: readonly Group[],
  before: readonly Spot[],
  after: readonly Spot[],
): readonly Group[] {
  const taken = new Set(groups.flatMap((group) => [...group.before, ...group.after]));
  const alone = (spots: readonly Spot[]) => spots.filter((spot) => !taken.has(spot));
  const [old, fresh] = [alone(before), alone(after)];
  const isPartOf = ({ sentence }: Spot, whole: readonly Spot[]) =>
    sentence.content.size > 0 &&
    whole.some((one) => [...sentence.content].every((word) => one.sentence.content.has(word)));
  return groups.map((group) => {
    const join = (spots: readonly Spot[], whole: readonly Spot[]) =>
      spots.filter((spot) => {
        const isOwn = !taken.has(spot) && isPartOf(spot, whole);
        if (isOwn) taken.add(spot);
        return isOwn;
      });
    return {
      before: [...group.before, ...join(old, group.after)],
      after: [...group.after, ...join(fresh, group.before)],
    };
  });
}

function findFacts(spots: readonly Spot[]): readonly FactSpot[] {
  return spots.flatMap((spot) => spot.sentence.facts.map((fact) => ({ ...spot, fact })));
}

/** What a group states otherwise. Of an instruction that came or went, its sentence says the numbers. */
function factChanges({ before, after }: Group, budget: Budget): readonly Found[] {
  const isWhole = before.length === 0 || after.length === 0;
  const isToldWhole =
    isWhole && [...before, ...after].some(({ sentence }) => sentence.isInstruction);
  const isTold = ({ fact }: FactSpot) => !isToldWhole || isName(fact.mark);
  const [old, fresh] = [findFacts(before).filter(isTold), findFacts(after).filter(isTold)];
  const keys = (facts: readonly FactSpot[]) => facts.map(({ fact }) => fact.key);
  const same = align(keys(old), keys(fresh), budget);
  const turned = same.flatMap(([a, b]) => turnedLead(old[a], fresh[b]));
  const changed = gapsBetween(same, old.length, fresh.length).flatMap(([[a, x], [b, y]]) =>
    pairFacts(old.slice(a, x), fresh.slice(b, y)),
  );
  return [...turned, ...changed];
}

function isName(mark: Mark): boolean {
  return NAMES.some((name) => name === mark);
}

/** `before 5 pm` that became `after 5 pm`. */
function turnedLead(old: FactSpot | undefined, fresh: FactSpot | undefined): readonly Found[] {
  const [was, is] = [old?.fact.lead, fresh?.fact.lead];
  if (old === undefined || fresh === undefined || was === undefined || is === undefined) return [];
  if (was.side === is.side) return [];
  const told = change(old, fresh);
  return [{ ...told, before: was.text + told.before, after: is.text + told.after }];
}

/** Facts that took each other's place: first those of one unit, then those of one kind. */
function pairFacts(old: readonly FactSpot[], fresh: readonly FactSpot[]): readonly Found[] {
  const taken = new Set<FactSpot>();
  const found: Found[] = [];
  const isFree = (spot: FactSpot) => !taken.has(spot);
  const passes = [
    (a: Fact, b: Fact) => a.key === b.key,
    (a: Fact, b: Fact) => a.mark === b.mark && a.unit === b.unit,
    (a: Fact, b: Fact) => a.mark === b.mark && mayReplace(a, b) && mayReplace(b, a),
    // A short number to call is written like any other.
    (a: Fact, b: Fact) =>
      (a.mark === 'phone' ? b : a).unit === '' && (a.mark === 'phone') !== (b.mark === 'phone'),
  ];
  for (const fits of passes) {
    for (const was of old.filter(isFree)) {
      const is = fresh.find((spot) => isFree(spot) && fits(was.fact, spot.fact));
      if (is === undefined) continue;
      taken.add(was).add(is);
      if (was.fact.key !== is.fact.key) found.push(change(was, is));
    }
  }
  return [
    ...found,
    ...old.filter(isFree).map((spot) => change(spot, undefined)),
    ...fresh.filter(isFree).map((spot) => change(undefined, spot)),
  ];
}

/** `one` of `one of us` takes the place of no span and no amount, though `eleven` may become `half past ten`. */
function mayReplace({ mark, unit, text }: Fact, other: Fact): boolean {
  const isBareWord = mark === 'number' && unit === '' && !/\d/.test(text);
  return !isBareWord || other.unit === '' || other.unit === 'clock';
}

function change(old: FactSpot, fresh: FactSpot): Found & { before: string; after: string };
function change(old: FactSpot | undefined, fresh: FactSpot | undefined): Found;
function change(old: FactSpot | undefined, fresh: FactSpot | undefined): Found {
  return {
    mark: [old, fresh].find((spot) => spot?.fact.mark === 'phone')
      ? 'phone'
      : ((old ?? fresh)?.fact.mark ?? 'number'),
    before: old?.fact.text ?? null,
    after: fresh?.fact.text ?? null,
    key: (old ?? fresh)?.fact.key ?? '',
    old,
    fresh,
  };
}

/** What a group forbids, demands or limits otherwise. */
function instructionChanges({ before, after }: Group, budget: Budget): readonly Found[] {
  const [old, fresh] = [before[0], after[0]];
  const instructs = (spots: readonly Spot[]) =>
    spots.some(({ sentence }) => sentence.isInstruction);
  const [did, does] = [instructs(before), instructs(after)];
  const told = (spots: readonly Spot[]) =>
    spots.length === 0 ? null : spots.map(({ sentence }) => sentence.text).join(' ');
  const found: Found = {
    mark: 'instruction',
    before: told(before),
    after: told(after),
    key: 'instruction',
    old,
    fresh,
  };
  const removed = { ...found, after: null, fresh: undefined };
  const added = { ...found, before: null, old: undefined };
  if (old === undefined) return does ? [found] : [];
  if (fresh === undefined) return did ? [found] : [];
  const forces = (spots: readonly Spot[]) => [
    ...new Set(spots.flatMap(({ sentence }) => [...sentence.forces])),
  ];
  const isSame = forces(before).sort().join() === forces(after).sort().join();
  if (!did && !does) return !isSame && isTurned(old, fresh, budget) ? [found] : [];
  if (did && does)
    return isSame && isAboutSame(listContent(before), listContent(after)) ? [] : [found];
  if (isSame) return [];
  // A sentence that hardly has a word of the other is another one.
  if (compareSentences(old.sentence, fresh.sentence) >= ALIKE_ELSEWHERE) return [found];
  return did ? [removed] : [added];
}

function listContent(spots: readonly Spot[]): ReadonlySet<string> {
  return new Set(spots.flatMap(({ sentence }) => [...sentence.content]));
}

/** Whether two sentences are the same but for a `no` or the like. */
function isTurned({ sentence: a }: Spot, { sentence: b }: Spot, budget: Budget): boolean {
  const common = align(a.words, b.words, budget).length;
  return (2 * common) / (a.words.length + b.words.length) >= ALIKE_TURNED;
}

/**
 * What went here and came there: a name has moved, which is told once; a number that stayed in its paragraph or
 * section says what it said.
 */
function withoutMoved(found: readonly Found[]): readonly Found[] {
  const isGone = ({ mark, after }: Found) => mark !== 'instruction' && after === null;
  const isNew = ({ mark, before }: Found) => mark !== 'instruction' && before === null;
  const waiting = Map.groupBy(found.filter(isGone), ({ key }) => key);
  const isHere = (from: Found, to: Found) => from.old?.part === to.fresh?.part;
  // The nearest come first, whatever the order of the paragraphs is: it is another one on the way back.
  const passes = [
    isHere,
    (from: Found, to: Found) => from.old?.paragraph.heading === to.fresh?.paragraph.heading,
    (_: Found, to: Found) => isName(to.mark),
  ];
  const origins = new Map<Found, Found>();
  for (const fits of passes) {
    for (const to of found.filter((one) => isNew(one) && !origins.has(one))) {
      const left = waiting.get(to.key) ?? [];
      const from = left.find((one) => fits(one, to));
      if (from === undefined) continue;
      left.splice(left.indexOf(from), 1);
      origins.set(to, from);
    }
  }
  const gone = new Set(origins.values());
  return found.flatMap((one) => {
    const from = origins.get(one);
    if (from === undefined) return gone.has(one) ? [] : [one];
    const isTold = isName(one.mark) && !isHere(from, one);
    return isTold ? [{ ...one, before: one.after, old: from.old }] : [];
  });
}

/** Where it stands now; what is gone, where it stood or in the paragraph that took its place. */
function place(
  { mark, before, after, old, fresh }: Found,
  parts: readonly Part[],
  blocks: readonly number[],
  drafts: readonly Draft[],
): Callout {
  const spot = fresh ?? old;
  const part = spot?.part ?? 0;
  const block = blocks[part] ?? 0;
  const now = parts[part]?.after;
  const { heading, line } = drafts[block]?.block ?? { heading: null, line: 1 };
  const above = (own: Spot) =>
    own.paragraph.text.slice(0, own.sentence.start).split('\n').length - 1;
  const at =
    spot === undefined
      ? line
      : fresh === undefined && now !== undefined
        ? now.line
        : spot.paragraph.line + above(spot);
  return { mark, before, after, times: 1, block, heading, line: at };
}

/** The same change in many places is called out once. */
function gather(callouts: readonly Callout[]): readonly Callout[] {
  const gathered = new Map<string, Callout>();
  for (const one of callouts) {
    const key = JSON.stringify([one.mark, one.before, one.after]);
    const first = gathered.get(key);
    gathered.set(key, first === undefined ? one : { ...first, times: first.times + 1 });
  }
  return [...gathered.values()];
}

/** A callout in words. The page, Markdown and the terminal lay it out. */
export type CalloutWords = {
  /** What is said first: `new:`, `instruction removed:`; empty where one value became another. */
  readonly lead: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Both are sentences in quotes, and no values. */
  readonly isSentence: boolean;
};

/** Characters of a sentence that is read at a glance. */
const MOST_SENTENCE = 120;
/** Words that stay around what changed in a longer one. */
const AROUND = 4;

/** `24 hours → 48 hours`, `gone: crm_lookup`, `instruction added: "Never give a price."` */
export function calloutWords({
  mark,
  before,
  after,
}: Pick<Callout, 'mark' | 'before' | 'after'>): CalloutWords {
  if (mark === 'instruction') {
    const [old, fresh] = shortSentences(before, after);
    const what = before === null ? 'added' : after === null ? 'removed' : 'changed';
    const lead = `instruction ${what}:`;
    return { lead, before: quoted(old), after: quoted(fresh), isSentence: true };
  }
  const isSentence = false;
  const what = mark === 'transfer' ? ' transfer to' : '';
  const [old, fresh] = [cutSentence(before), cutSentence(after)];
  if (before === null) return { lead: `new:${what}`, before: old, after: fresh, isSentence };
  if (after === null) return { lead: `gone:${what}`, before: old, after: fresh, isSentence };
  if (before === after) return { lead: 'moved:', before: null, after: fresh, isSentence };
  return { lead: what.trim(), before: old, after: fresh, isSentence };
}

function quoted(text: string | null): string | null {
  return text === null ? null : `"${text}"`;
}

/** Long sentences cut to what changed in them. */
function shortSentences(
  before: string | null,
  after: string | null,
): readonly [before: string | null, after: string | null] {
  if (before === null || after === null) return [cutSentence(before), cutSentence(after)];
  if (Math.max(before.length, after.length) <= MOST_SENTENCE) return [before, after];
  const [old, fresh] = [before.split(' '), after.split(' ')];
  const [head, tail] = commonEnds(old, fresh);
  const from = head > AROUND + 2 ? head - AROUND : 0;
  const left = tail > AROUND + 2 ? tail - AROUND : 0;
  const shown = (words: readonly string[]) =>
    cutSentence(
      [
        ...(from > 0 ? ['…'] : []),
        ...words.slice(from, words.length - left),
        ...(left > 0 ? ['…'] : []),
      ].join(' '),
    );
  return [shown(old), shown(fresh)];
}

function cutSentence(text: string): string;
function cutSentence(text: string | null): string | null;
function cutSentence(text: string | null): string | null {
  if (text === null || text.length <= MOST_SENTENCE) return text;
  const cut = text.slice(0, MOST_SENTENCE);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MOST_SENTENCE / 2))} …`;
}
