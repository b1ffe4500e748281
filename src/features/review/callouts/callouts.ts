import { type Budget, gapsBetween, newBudget } from '../../../core/align.ts';
import type { Callout, FindCallouts } from '../../../core/plan-document.ts';
import { detached } from '../../../core/value.ts';
import {
  type Paired,
  type Paragraph,
  pairParagraphs,
  pickAround,
} from '../../../render/prose/paragraphs.ts';
import type { MarkedSpan } from '../../../render/prose/words.ts';
import { compareGroup, type Found, movedInstruction, withoutMoved } from './changes.ts';
import { factsIn } from './facts.ts';
import { listGroups, listPlaces, type Part } from './groups.ts';
import { findLexicon, type Lexicon } from './meaning.ts';
import { markersIn } from './sentences.ts';

/**
 * Callouts are what a careful reviewer wants to know of a changed prompt. Sentences are matched first, wherever they
 * moved; of a pair the facts and the instruction are compared, and a sentence without a partner came or went as a
 * whole.
 */
type Sort = Callout['sort'];

/** The order of call-outs: reversed rules, targets of transfers, other instructions, then values. */
const ORDER: readonly Sort[] = [
  'reversed',
  'transfer',
  'phone',
  'removed',
  'added',
  'changed',
  'moved',
  'number',
  'link',
  'token',
  'tool',
];

/** More are not read one by one. */
const MOST_CALLOUTS = 100;
/** A text with less is read at a glance, unless it has several lines. */
const GLANCE = 400;

/** Returns true if a text gets all its call-outs. One short line shows its few words; it gets reversed rules alone. */
export function hasCallouts(before: string, after: string): boolean {
  return [before, after].some((text) => text.length > GLANCE || text.trim().includes('\n'));
}

/** Edits that are remembered, and the characters of the longest. */
const MOST_REMEMBERED = 500;
const MOST_CHARACTERS = 20_000;

/**
 * A function that finds the call-outs of texts which have some. A fleet makes one edit in hundreds of texts: it is
 * looked at once, and its call-outs are those of all, each at the line where it stands there.
 */
export function createCalloutFinder(): FindCallouts {
  const known = new Map<string, readonly Located[]>();
  const remember: Remember = (key, find) => {
    const found = known.get(key) ?? find();
    if (key.length > MOST_CHARACTERS || known.has(key)) return found;
    known.set(key, found);
    const [oldest] = known.keys();
    if (known.size > MOST_REMEMBERED && oldest !== undefined) known.delete(oldest);
    return found;
  };
  return (before, after) => {
    const found = findCallouts(before, after, remember);
    return hasCallouts(before, after) ? found : found.filter(({ sort }) => sort === 'reversed');
  };
}

/** A call-out, and the sentence that it is about: its part, the side of it, and how many lines of it stand above. */
type Located = Pick<Callout, 'sort' | 'before' | 'after'> & {
  readonly part: number;
  readonly isGone: boolean;
  readonly above: number;
  readonly rank: number;
};

/** A call-out and its place among others: the lowest rank comes first. */
type Ranked = { readonly callout: Callout; readonly rank: number };

type Remember = (key: string, find: () => readonly Located[]) => readonly Located[];

/** Names what changed between two texts. The way back finds what the way there does. */
export function findCallouts(
  before: string,
  after: string,
  remember: Remember = (_, find) => find(),
): readonly Callout[] {
  if (before === after) return [];
  const budget = newBudget();
  const isTurned = before > after;
  const paired = pairParagraphs(...pickAround(before, after), false, budget);
  if (paired.isTooMuch) return [];
  const parts = listParts(paired, isTurned);
  const lexicon = findLexicon(parts.flatMap(listTexts), () => findLexicon([before, after]));
  const key = JSON.stringify([
    isTurned,
    lexicon.language.numbers.units,
    parts.map((part) => [
      ...listTexts(part),
      part.became,
      part.was,
      part.gap,
      part.before?.heading,
      part.after?.heading,
    ]),
  ]);
  const found = remember(key, () => compareParts(parts, isTurned, lexicon, budget));
  const all = [
    ...found.map((one) => place(one, parts, isTurned)),
    ...movedParagraphs(paired, lexicon),
  ];
  return gather(all)
    .toSorted((a, b) => a.rank - b.rank || a.callout.line - b.callout.line)
    .slice(0, MOST_CALLOUTS)
    .map(({ callout }) => callout);
}

function listTexts({ before, after }: Part): readonly string[] {
  return [
    before?.text ?? '',
    before?.under?.text ?? '',
    after?.text ?? '',
    after?.under?.text ?? '',
  ];
}

/**
 * The paragraphs that differ in more than blanks, in the order of the text after. `isTurned`: with their sides changed,
 * so that the same text is always compared with the other.
 */
function listParts(paired: Paired, isTurned: boolean): readonly Part[] {
  const { before, after, inOrder, moved } = paired;
  const partner = new Map(moved.map(([a, b]) => [b, a]));
  const left = new Set(moved.map(([a]) => a));
  const became = becomingIn(paired, isTurned);
  const was = becomingIn(paired, !isTurned);
  let [gap, isApart] = [0, false];
  const part = (old: Paragraph | undefined, fresh: Paragraph | undefined): Part => {
    const [one, other] = isTurned ? [fresh, old] : [old, fresh];
    if (isApart) gap += 1;
    isApart = false;
    return { before: one, after: other, became: became(one), was: was(other), gap };
  };
  const edited = (a: number, b: number): readonly Part[] => {
    const [old, fresh] = [before[a], after[b]];
    if (old === undefined || fresh === undefined) return [];
    isApart = areAlike(old, fresh);
    return isApart ? [] : [part(old, fresh)];
  };
  return gapsBetween(inOrder, before.length, after.length).flatMap(([[a, x], [b, y]]) => [
    ...before.slice(a, x).flatMap((one, at) => (left.has(a + at) ? [] : [part(one, undefined)])),
    ...after.slice(b, y).flatMap((one, at): readonly Part[] => {
      const from = partner.get(b + at);
      return from === undefined ? [part(undefined, one)] : edited(from, b + at);
    }),
    ...edited(x, y),
  ]);
}

/** Finds the line that became of the one that a paragraph stands under; undefined where that is gone, or there was none. */
function becomingIn(
  { before, after, inOrder, moved }: Paired,
  isTurned: boolean,
): (paragraph: Paragraph | undefined) => string | undefined {
  const partners = new Map(
    [...inOrder, ...moved].map(([a, b]) =>
      isTurned ? [after[b], before[a]] : [before[a], after[b]],
    ),
  );
  return (paragraph) => partners.get(paragraph?.under)?.text;
}

/** Tells whether two paragraphs differ in blanks at most. */
function areAlike({ text: old }: Paragraph, { text: fresh }: Paragraph): boolean {
  const bare = (text: string) => text.trim().replace(/\s+/g, ' ');
  return old === fresh || bare(old) === bare(fresh);
}

function compareParts(
  parts: readonly Part[],
  isTurned: boolean,
  lexicon: Lexicon,
  budget: Budget,
): readonly Located[] {
  const { groups, stayed } = listGroups(parts, lexicon, budget);
  const found = [
    ...groups.flatMap((group) => compareGroup(group, budget)),
    ...stayed.flatMap(([old, fresh]) => movedInstruction(old, fresh)),
  ];
  return withoutMoved(found).map((one) => locate(isTurned ? turn(one) : one));
}

function turn({ before, after, old, fresh, sort, ...rest }: Found): Found {
  const back = sort === 'added' ? 'removed' : sort === 'removed' ? 'added' : sort;
  return { ...rest, sort: back, before: after, after: before, old: fresh, fresh: old };
}

/** Instructions of paragraphs that stand as they were below a line that makes something else of them. */
function movedParagraphs(paired: Paired, common: Lexicon): readonly Ranked[] {
  const { before, after, inOrder, moved } = paired;
  const became = becomingIn(paired, false);
  const was = becomingIn(paired, true);
  return [...inOrder, ...moved].flatMap(([a, b]) => {
    const [old, fresh] = [before[a], after[b]];
    if (old?.under?.text === fresh?.under?.text || old === undefined || fresh === undefined)
      return [];
    if (!areAlike(old, fresh) || old.title !== undefined) return [];
    const texts = [old.text, old.under?.text ?? '', fresh.under?.text ?? ''];
    const lexicon = findLexicon(texts, () => common);
    const how = { part: 0, gap: 0, became: became(old), was: was(fresh), lexicon };
    const is = listPlaces(fresh, how);
    return listPlaces(old, how)
      .flatMap((one, at) => {
        const other = is[at];
        return other === undefined ? [] : movedInstruction(one, other);
      })
      .map((one) => {
        const { above, rank } = locate(one);
        const { line } = fresh;
        const heading = detached(fresh.heading);
        return { rank, callout: { ...pickSides(one), heading, line: line + above, times: 1 } };
      });
  });
}

function pickSides({
  sort,
  before,
  after,
}: Found | Located): Pick<Callout, 'sort' | 'before' | 'after'> {
  return { sort, before: detached(before), after: detached(after) };
}

function locate(found: Found): Located {
  const { old, fresh } = found;
  const at = fresh ?? old;
  const above = at?.paragraph.text.slice(0, at.sentence.start).split('\n').length ?? 1;
  return {
    ...pickSides(found),
    part: at?.part ?? 0,
    isGone: fresh === undefined,
    above: above - 1,
    rank: rankCallout(found),
  };
}

/** Ranks a call-out. An instruction that hands calls over ranks as high as the target of the calls. */
function rankCallout({ sort, key, old, fresh }: Found): number {
  const own = ORDER.indexOf(sort);
  const handsOver =
    key === 'instruction' &&
    [old, fresh].some((one) =>
      one?.sentence.facts.some(({ mark }) => mark === 'transfer' || mark === 'phone'),
    );
  return handsOver ? Math.min(own, ORDER.indexOf('phone')) : own;
}

/** Returns the place now; for a sentence that is gone, its former place. */
function place(found: Located, parts: readonly Part[], isTurned: boolean): Ranked {
  const part = parts[found.part];
  const paragraph = found.isGone === isTurned ? part?.after : part?.before;
  const { line = 1 } = paragraph ?? {};
  const heading = detached(paragraph?.heading ?? null);
  const callout = { ...pickSides(found), heading, line: line + found.above, times: 1 };
  return { callout, rank: found.rank };
}

/** The same change in many places is called out once. */
function gather(found: readonly Ranked[]): readonly Ranked[] {
  const gathered = new Map<string, Ranked>();
  for (const one of found.toSorted((a, b) => a.callout.line - b.callout.line)) {
    const { sort, before, after } = one.callout;
    const key = JSON.stringify([sort, before, after]);
    const { callout, rank } = gathered.get(key) ?? one;
    const times = callout.times + (gathered.has(key) ? 1 : 0);
    gathered.set(key, { callout: { ...callout, times }, rank });
  }
  return [...gathered.values()];
}

/** The number of a list's item says which it is, and counts nothing. */
const ITEM = /^\s*\d{1,9}(?=[.)]\s)/;

/** Finds the facts and the words of instruction in a paragraph, whose changes are called out. */
export function findMarks(text: string): readonly MarkedSpan[] {
  const item = ITEM.exec(text)?.[0].length ?? 0;
  const facts = factsIn(text).filter(({ start }) => start >= item);
  const instructions = markersIn(text).map(
    ({ start, end }): MarkedSpan => ({ mark: 'instruction', start, end }),
  );
  return [...facts, ...instructions].sort((a, b) => a.start - b.start || b.end - a.end);
}
