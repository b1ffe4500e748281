import { align, gapsBetween, newBudget } from '../../core/align.ts';
import { isSameJson } from '../../core/value.ts';
import { sanitiseLine } from '../untrusted.ts';
import { type Paragraph, splitParagraphs } from './paragraphs.ts';

/** Three versions of a text: what both sides came from, what is live, and what the files have. */
export type Versions<T> = { readonly base: T; readonly live: T; readonly own: T };

/**
 * A stretch of paragraphs in three versions. `alike`: both sides made the same change; `both`: each side made another
 * one.
 */
export type Stretch3 = Versions<readonly Paragraph[]> & {
  readonly changedBy: 'nobody' | 'alike' | 'live' | 'own' | 'both';
};

/**
 * Aligns the paragraphs of three versions of a text (diff3). Paragraphs count as the same with other blanks behind them.
 * Undefined where too much differs to tell.
 */
export function compareVersions({
  base,
  live,
  own,
}: Versions<string>): readonly Stretch3[] | undefined {
  const all = {
    base: splitParagraphs(base),
    live: splitParagraphs(live),
    own: splitParagraphs(own),
  };
  const edits = [listEdits(all.base, all.live, 'live'), listEdits(all.base, all.own, 'own')];
  const [ofLive, ofOwn] = edits;
  if (ofLive === undefined || ofOwn === undefined) return undefined;
  const stretches: Stretch3[] = [];
  // How far each side has come, as it lags behind the base or runs ahead of it.
  const at = { base: 0, live: 0, own: 0 };
  const take = (counts: Versions<number>) => {
    const taken = {
      base: all.base.slice(at.base, at.base + counts.base),
      live: all.live.slice(at.live, at.live + counts.live),
      own: all.own.slice(at.own, at.own + counts.own),
    };
    at.base += counts.base;
    at.live += counts.live;
    at.own += counts.own;
    stretches.push({ ...taken, changedBy: judge(taken) });
  };
  const keep = (until: number) => {
    while (at.base < until) take({ base: 1, live: 1, own: 1 });
  };
  for (const cluster of gather([...ofLive, ...ofOwn])) {
    const [from, to] = [cluster[0]?.from ?? 0, Math.max(...cluster.map((edit) => edit.to))];
    const grown = (side: Edit['side']) =>
      cluster.reduce(
        (sum, edit) => sum + (edit.side === side ? edit.count - (edit.to - edit.from) : 0),
        to - from,
      );
    keep(from);
    take({ base: to - from, live: grown('live'), own: grown('own') });
  }
  keep(all.base.length);
  return stretches;
}

/** Paragraphs of the base, from the first to the one behind the last, that a side has `count` others in the place of. */
type Edit = {
  readonly side: 'live' | 'own';
  readonly from: number;
  readonly to: number;
  readonly count: number;
};

function listEdits(
  base: readonly Paragraph[],
  other: readonly Paragraph[],
  side: Edit['side'],
): readonly Edit[] | undefined {
  const budget = newBudget();
  const pairs = align(
    base.map(({ text }) => text),
    other.map(({ text }) => text),
    budget,
  );
  if (budget.isSpent) return undefined;
  return gapsBetween(pairs, base.length, other.length).flatMap(([[from, to], [start, end]]) =>
    // Neighbours that were edited each by itself are as many decisions.
    end - start === to - from
      ? Array.from({ length: to - from }, (_, at) => ({
          side,
          from: from + at,
          to: from + at + 1,
          count: 1,
        }))
      : [{ side, from, to, count: end - start }],
  );
}

/** Edits that are one decision: those that overlap, and those that meet where their order would be a guess. */
function gather(edits: readonly Edit[]): readonly (readonly Edit[])[] {
  const clusters: Edit[][] = [];
  for (const edit of edits.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    const last = clusters.at(-1);
    if (last?.some((other) => meets(other, edit))) last.push(edit);
    else clusters.push([edit]);
  }
  return clusters;
}

function meets(first: Edit, second: Edit): boolean {
  if (second.from < first.to) return true;
  if (second.from > first.to) return false;
  // New paragraphs go behind one that was edited and stayed one.
  const isInsertion = ({ from, to }: Edit) => from === to;
  const isOneToOne = ({ from, to, count }: Edit) => from < to && count === to - from;
  if (isInsertion(first)) return !isOneToOne(second);
  return isInsertion(second) && !isOneToOne(first);
}

function judge({ base, live, own }: Versions<readonly Paragraph[]>): Stretch3['changedBy'] {
  const [old, theirs, ours] = [base, live, own].map((some) => some.map(({ text }) => text));
  const isLive = !isSameJson(old ?? [], theirs ?? []);
  const isOwn = !isSameJson(old ?? [], ours ?? []);
  if (!isLive) return isOwn ? 'own' : 'nobody';
  if (!isOwn) return 'live';
  return isSameJson(theirs ?? [], ours ?? []) ? 'alike' : 'both';
}

/** A text with the edits of both sides. */
export type Merged = {
  readonly text: string;
  /** Stretches that both changed, of which it has `choice`. */
  readonly both: number;
  /** Their places: `Emergencies, line 13`. */
  readonly places: readonly string[];
};

/**
 * Merges two edits of a text by paragraphs: it has what either side alone changed, and where both changed, what `choice` has.
 * It ends as the own text does: line breaks at the end say nothing. Undefined where too much differs to tell.
 */
export function mergeVersions(
  { base, live, own }: Versions<string>,
  choice: 'live' | 'own',
): Merged | undefined {
  const [, end = ''] = /[^\n](\n*)$/.exec(own) ?? [];
  const stretches = compareVersions({ base: bare(base), live: bare(live), own: bare(own) });
  if (stretches === undefined) return undefined;
  const paragraphs = stretches.flatMap((stretch) => {
    const { changedBy } = stretch;
    const chosen = stretch[changedBy === 'both' ? choice : changedBy === 'live' ? 'live' : 'own'];
    const [last, ...before] = chosen.toReversed();
    if (last === undefined) return [];
    const gaps = [stretch.base, stretch.live, stretch.own].map((some) => some.at(-1)?.gap);
    return [...before.toReversed(), { ...last, gap: mergeGap(last.gap, gaps) }];
  });
  const text = paragraphs.map(({ text: words, gap }, at) =>
    at < paragraphs.length - 1 && !gap.includes('\n') ? `${words}${gap}\n` : words + gap,
  );
  const both = stretches.filter(({ changedBy }) => changedBy === 'both');
  const places = stretches.length > 1 ? both.map(placeOfStretch) : [];
  return { text: text.join('') + end, both: both.length, places };
}

function bare(text: string): string {
  return text.replace(/\n+$/, '');
}

/** The blanks behind a paragraph that all three have: those of the side that changed them. */
function mergeGap(chosen: string, [base, live, own]: readonly (string | undefined)[]): string {
  if (base === undefined || live === undefined || own === undefined) return chosen;
  return own === base ? live : own;
}

/** `Emergencies, line 13`: the heading and the line in the files; the live or the old one where those have nothing there. */
export function placeOfStretch({ own, live, base }: Stretch3): string {
  const [first] = [...own, ...live, ...base];
  const heading = first?.title ?? first?.heading ?? null;
  const side = own.length > 0 ? '' : live.length > 0 ? 'live ' : 'old ';
  const line = `${side}line ${first?.line ?? 1}`;
  return heading === null ? line : `${sanitiseLine(heading)}, ${line}`;
}
