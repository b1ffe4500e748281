import { beginning, unreachable } from '../../core/errors.ts';
import type { Callout, PlanDocument } from '../../core/plan-document.ts';
import type { Shown } from '../names.ts';
import { sanitiseLine } from '../untrusted.ts';
import { comparedText } from '../value-text.ts';
import { showBlanks, showOddWithin } from '../white-space.ts';
import { formatCount, formatNumber } from '../wording.ts';
import type { Block, Piece, ProseDiff } from './blocks.ts';
import { type CalloutRow, calloutRow } from './callout-words.ts';
import { countWords, diffProse } from './diff.ts';
import { compareVersions, placeOfStretch, type Stretch3, type Versions } from './three-way.ts';

/** One row of a comparison of two texts, in words that a terminal and a pull request share. */
/**
 * How much of an item is shown. Its addresses, its call-outs and the words that change always are.
 *
 * - `whole`: the paragraphs around an edit, too.
 * - `brief`: the edited words with a few around them.
 */
export type Detail = 'whole' | 'brief';

export type ProseRow =
  | { readonly type: 'fold'; readonly words: string }
  | { readonly type: 'same'; readonly text: string }
  | {
      readonly type: 'edited' | 'removed' | 'added' | 'moved' | 'left';
      /** Said before the text: where it came from, or went. */
      readonly note: string | null;
      /** Without line breaks. */
      readonly pieces: readonly Piece[];
    };

/** How each sort of row begins. */
export const PROSE_SIGNS = {
  edited: '~',
  removed: '-',
  added: '+',
  moved: '>',
  left: '<',
} as const;

/** The signs around removed and added words. */
export type Marks = {
  readonly [change in 'removed' | 'added']: readonly [start: string, end: string];
};

type ProseView = {
  readonly marks: Marks;
  /** Around the words that differ, where each version stands on lines of its own. */
  readonly brackets: Marks;
  /** Says how words are marked, where that is not as usual. */
  readonly legend: string | null;
  /** `2 of 43 paragraphs edited, 1 moved`; null for a text that is seen at a glance. */
  readonly summary: string | null;
  readonly callouts: readonly CalloutRow[];
  readonly moreCallouts: number;
  readonly rows: readonly ProseRow[];
  /** Rows with a change beyond those. */
  readonly moreRows: number;
};

/** Unchanged words that stay around a change within a paragraph. */
const AROUND = { whole: 10, brief: 4 } as const;
/** Words that tell which paragraph is meant. */
const FIRST = 14;
/** A text with fewer characters is read whole, and needs no summary. */
const SHORT = 400;
const MAX_CALLOUTS = 8;
/** More rows than this are read neither in a terminal nor in a comment. */
const MOST_ROWS = { whole: 60, brief: 20 } as const;

/**
 * Two long values compared for people. Texts are compared as prose, lists and objects line by line. In brief unchanged
 * paragraphs are left out. `callouts`: those of the texts, as the plan has them.
 */
export function viewProse(
  before: Shown,
  after: Shown,
  callouts: readonly Callout[],
  {
    verbose = false,
    detail = 'whole',
  }: { readonly verbose?: boolean; readonly detail?: Detail } = {},
): ProseView {
  const isList = typeof before !== 'string' || typeof after !== 'string';
  const [old, fresh] = [comparedText(before), comparedText(after)];
  const diff = diffProse(old, fresh, { isList, context: verbose ? Infinity : 1 });
  const isLong = !isList && Math.max(old.length, fresh.length) > SHORT;
  const isNew = isLong && isRewritten(diff, old, fresh);
  const candidates = isNew && !verbose ? callouts.filter(isWeighty) : callouts;
  const shown = verbose ? candidates : candidates.slice(0, MAX_CALLOUTS);
  const rows = diff.blocks.map((block) =>
    buildRow(block, diff, isList ? 'line' : 'paragraph', verbose ? Infinity : AROUND[detail]),
  );
  const isKept = ({ type }: ProseRow) =>
    verbose || detail === 'whole' || (type !== 'same' && type !== 'fold');
  const kept = rows.filter(isKept);
  const seen = verbose ? kept : kept.slice(0, MOST_ROWS[detail]);
  const hidden = kept.slice(seen.length).filter(({ type }) => type !== 'same' && type !== 'fold');
  const marks = chooseMarks(old, fresh);
  return {
    marks,
    brackets: chooseBrackets(old, fresh),
    legend: marks === USUAL ? null : describeMarks(marks),
    summary: isLong ? `${isNew ? 'rewritten: ' : ''}${formatSummary(diff)}` : null,
    callouts: shown.map(calloutRow),
    moreCallouts: callouts.length - shown.length,
    rows: seen,
    moreRows: hidden.length,
  };
}

/** A place of a text that was changed on the platform, in the files, or in both. */
export type ConflictPlace = {
  readonly changedBy: ConflictSide;
  /** Its meaning for a reviewer: `both changed: decide`. */
  readonly title: string;
  /** `Emergencies, line 13`; null for a text of one paragraph. */
  readonly place: string | null;
  readonly marks: Marks;
  /** Each version with its label, the words marked that one of the sides changed; null where it has nothing there. */
  readonly sides: readonly { readonly label: string; readonly pieces: readonly Piece[] | null }[];
};

type ConflictSide = 'both' | 'live' | 'own';

/** In the order in which they are read. */
const CONFLICT_SIDES = ['both', 'live', 'own'] as const;

/** How the three versions of a conflict are called in a plan, and in a rollback. */
export function versionLabels(purpose: PlanDocument['purpose']): Versions<string> {
  if (purpose === 'rollback') return { base: 'the run', live: 'live', own: 'before' };
  return { base: 'applied', live: 'live', own: purpose === 'restore' ? 'snapshot' : 'this plan' };
}

/**
 * The places in which two sides changed a text: first those that both changed, then those that only the live text did,
 * then the rest. Undefined where too much differs, or nothing but blanks. `isDecided`: the live text is overwritten.
 */
export function viewConflict(
  versions: Versions<string>,
  {
    purpose,
    isDecided,
    detail = 'whole',
  }: {
    readonly purpose: PlanDocument['purpose'];
    readonly isDecided: boolean;
    readonly detail?: Detail;
  },
): readonly ConflictPlace[] | undefined {
  const { base, live, own } = versions;
  const [old, theirs, ours] = [base, live, own].map(comparedText);
  const stretches = compareVersions({ base: old ?? '', live: theirs ?? '', own: ours ?? '' });
  if (stretches === undefined) return undefined;
  const isShort = stretches.length <= 1;
  const titles = conflictTitles(isDecided);
  const marks = chooseBrackets(base, live, own);
  const places = stretches.flatMap((stretch): ConflictPlace[] => {
    const { changedBy } = stretch;
    if (changedBy === 'nobody' || changedBy === 'alike') return [];
    const place = isShort ? null : placeOfStretch(stretch);
    const sides = buildSides(stretch, versionLabels(purpose), AROUND[detail]);
    return [{ changedBy, title: titles[changedBy], place, marks, sides }];
  });
  if (places.length === 0) return undefined;
  return CONFLICT_SIDES.flatMap((side) => places.filter(({ changedBy }) => changedBy === side));
}

function conflictTitles(isDecided: boolean): { readonly [side in ConflictSide]: string } {
  return isDecided
    ? {
        both: 'both changed: live is overwritten',
        live: 'live alone: is lost',
        own: 'this plan alone',
      }
    : {
        both: 'both changed: decide',
        live: 'live alone: would be lost',
        own: 'this plan alone',
      };
}

function buildSides(
  { base, live, own, changedBy }: Stretch3,
  labels: Versions<string>,
  around: number,
): ConflictPlace['sides'] {
  const [old, theirs, ours] = [base, live, own].map((some) =>
    some.map(({ text, gap }) => text + gap).join(''),
  );
  const other = changedBy === 'own' ? ours : theirs;
  const side = (label: string, pieces: readonly Piece[]) => ({
    label,
    pieces: pieces.every(({ text }) => text.trim() === '') ? null : pieces,
  });
  return [
    side(labels.base, versionPieces(old ?? '', other ?? '', around).before),
    ...(changedBy === 'own'
      ? []
      : [side(labels.live, versionPieces(old ?? '', theirs ?? '', around).after)]),
    ...(changedBy === 'live'
      ? []
      : [side(labels.own, versionPieces(old ?? '', ours ?? '', around).after)]),
  ];
}

/** Two versions of some paragraphs, each with the words marked that the other one does not have. */
function versionPieces(
  before: string,
  after: string,
  around: number,
): { readonly before: readonly Piece[]; readonly after: readonly Piece[] } {
  const diff = diffProse(before, after, { context: Infinity });
  const rows = diff.blocks.flatMap((block) => {
    const row = buildRow(block, diff, 'paragraph', around);
    if (row.type === 'fold') return [];
    return [
      row.type === 'same' ? { ...row, pieces: [{ text: row.text, change: 'same' }] as const } : row,
    ];
  });
  const sideWords = (side: 'before' | 'after', ...gone: readonly ProseRow['type'][]) =>
    joined(
      rows
        .filter(({ type }) => !gone.includes(type))
        .map(({ pieces }) => pickSide(pieces, side))
        .filter((pieces) => pieces.length > 0)
        .flatMap((pieces, at) =>
          at === 0 ? pieces : [{ text: ' ⏎ ', change: 'same' }, ...pieces],
        ),
    );
  return {
    before: sideWords('before', 'added', 'moved'),
    after: sideWords('after', 'removed', 'left'),
  };
}

/** Brackets around the words that differ, where the words have none of their own. */
const BRACKETS: Marks = { removed: ['[', ']'], added: ['[', ']'] };

/** Marks for versions that stand below each other, so that it need not be said which of them has the words. */
function chooseBrackets(...texts: readonly string[]): Marks {
  return texts.some((text) => /[[\]]/.test(text)) ? chooseMarks(...texts) : BRACKETS;
}

/** As `git diff --word-diff` marks words. */
const USUAL: Marks = { removed: ['[-', '-]'], added: ['{+', '+}'] };

/** Two may share a sign, as in `[1-2]`. */
const MARK = /\[(\d*)(?=-)|-(\d*)(?=\])|\{(\d*)(?=\+)|\+(\d*)(?=\})/g;

/** Marks that neither text holds: with the first number that makes them so, where the usual ones do not do. */
function chooseMarks(...texts: readonly string[]): Marks {
  const usual = [...USUAL.removed, ...USUAL.added];
  if (!texts.some((text) => usual.some((mark) => text.includes(mark)))) return USUAL;
  const taken = new Set(texts.flatMap((text) => Array.from(text.matchAll(MARK), getNumber)));
  let number = 1;
  while (taken.has(String(number))) number += 1;
  return {
    removed: [`[${number}-`, `-${number}]`],
    added: [`{${number}+`, `+${number}}`],
  };
}

function getNumber([, ...numbers]: RegExpExecArray): string {
  return numbers.join('');
}

function describeMarks({ removed, added }: Marks): string {
  return `${removed.join('removed')} and ${added.join('added')} mark the changes: the text has marks of its own`;
}

/** A piece as the blanks before its words, and the words with their marks. */
export function markedWords(
  { text, change }: Piece,
  marks: Marks,
): readonly [blanks: string, words: string] {
  const words = text.trimStart();
  const blanks = text.slice(0, text.length - words.length);
  return [blanks, change === 'same' ? words : marks[change].join(words)];
}

/** As many pieces as fit into so many characters, and how many characters are left out. */
export function cutPieces<P extends Pick<Piece, 'text'>>(pieces: readonly P[], most: number) {
  let [room, rest] = [most, 0];
  const shown = pieces.flatMap((piece) => {
    const text = beginning(piece.text, Math.max(0, room));
    room -= piece.text.length;
    rest += piece.text.length - text.length;
    return text === '' ? [] : [{ ...piece, text }];
  });
  return { shown, rest };
}

/** That only white space differs is said of the field, also where it is short. */
function formatSummary({ counts, limited }: ProseDiff): string {
  const { same, edited, moved, removed, added } = counts.paragraphs;
  const all = formatCount(same + edited + moved + added, 'paragraph');
  const parts = [
    { count: edited, what: 'edited', unit: `of ${all}` },
    { count: moved, what: 'moved', unit: `of ${all}` },
    { count: removed, what: 'removed', unit: removed === 1 ? 'paragraph' : 'paragraphs' },
    { count: added, what: 'added', unit: added === 1 ? 'paragraph' : 'paragraphs' },
  ].filter(({ count }) => count > 0);
  const phrases = parts.map(({ count, what, unit }, at) =>
    [formatNumber(count), ...(at === 0 ? [unit] : []), what].join(' '),
  );
  return [
    ...(phrases.length > 0 ? [phrases.join(', ')] : []),
    ...(limited ? ['too much differs to compare all of it word by word'] : []),
  ].join('; ');
}

/** True if most words of both sides have no counterpart: the text is read again, and comparing details says little. */
function isRewritten({ counts: { words } }: ProseDiff, old: string, fresh: string): boolean {
  const isMost = (changed: number, text: string) => countWords(text, changed * 2) < changed * 2;
  return isMost(words.removed, old) && isMost(words.added, fresh);
}

/** Returns true for call-outs that a rewritten text shows: instructions, targets of calls, and numbers with a unit. */
function isWeighty({ sort, before, after }: Callout): boolean {
  // `3 days` and `$40`, not `once` and `7`.
  if (sort === 'number') return /\S\s\S|\d[^\d.,]|[^\d.,]\d/u.test(after ?? before ?? '');
  return sort !== 'link' && sort !== 'token' && sort !== 'tool';
}

function buildRow(
  block: Block,
  { blocks }: ProseDiff,
  unit: 'line' | 'paragraph',
  around: number,
): ProseRow {
  const { type } = block;
  switch (type) {
    case 'fold': {
      const names = block.headings.map((title) => sanitiseLine(title)).join(', ');
      const words = formatCount(block.paragraphs, `unchanged ${unit}`);
      return { type, words: names === '' ? words : `${words}: ${names}` };
    }
    case 'same':
      return { type, text: oneLine(block.text.trimEnd()) };
    case 'removed':
    case 'added':
      return { type, note: null, pieces: trimmed(joined(block.words.map(flat))) };
    case 'edited': {
      const pieces = block.blanksOnly
        ? joined(block.words.map(blanksShown))
        : joined(block.words.map(blanksAmongWords));
      const note = block.words.some(movesLineBreaks) ? 'line breaks differ, too' : null;
      return { type, note, pieces: elide(trimmedSame(pieces), around) };
    }
    case 'moved': {
      const from = blocks[block.from]?.line ?? 0;
      const note = `${movedText(block.paragraphs)} from line ${from}${block.isEdited ? ' and edited' : ''}`;
      return { type, note, pieces: movedPieces(block.words, block.isEdited, around) };
    }
    case 'left': {
      const moved = blocks[block.to];
      const pieces = moved?.type === 'moved' ? moved.words : [];
      const before = pieces.filter(({ change }) => change !== 'added');
      const text = oneLine(
        before
          .map(({ was, text: now }) => was ?? now)
          .join('')
          .trimEnd(),
      );
      return {
        type,
        note: `${movedText(block.paragraphs)} to line ${moved?.line ?? 0}`,
        pieces: [{ text: cutFirstWords(text), change: 'same' }],
      };
    }
    default:
      return unreachable(block);
  }
}

function movedText(paragraphs: number): string {
  return paragraphs === 1 ? 'moved' : `${formatCount(paragraphs, 'paragraph')} moved`;
}

function movedPieces(words: readonly Piece[], isEdited: boolean, around: number): readonly Piece[] {
  const pieces = trimmed(joined(words.map(flat)));
  if (isEdited || around === Infinity) return elide(pieces, around);
  return [{ text: cutFirstWords(pieces.map(({ text }) => text).join('')), change: 'same' }];
}

/** The beginning, by which a paragraph is known again. */
function cutFirstWords(text: string): string {
  const words = text.match(/\s*\S+/gu) ?? [];
  return words.length <= FIRST ? text : `${words.slice(0, FIRST).join('')} …`;
}

/** Replaces the line breaks of a paragraph by blanks, as it is laid out again for the width at hand. */
function oneLine(text: string): string {
  return text.replace(/\n\s*\n\s*/g, ' ⏎ ').replace(/\s*\n\s*/g, ' ');
}

function flat(piece: Piece): Piece {
  const text = oneLine(piece.text);
  if (piece.change !== 'same') return { ...piece, text: showOddWithin(text) };
  return piece.was === undefined ? { ...piece, text } : { ...piece, text, was: oneLine(piece.was) };
}

/** Tells whether words that stayed stand in other lines. */
function movesLineBreaks({ text, was = text }: Piece): boolean {
  const joinLines = (words: string) => words.trim().replace(/[^\S\n]+/g, ' ');
  return joinLines(was) !== joinLines(text);
}

/** A blank that came or went alone, beside words that changed. */
function blanksAmongWords(piece: Piece): Piece {
  return /\S/.test(piece.text) ? flat(piece) : blanksShown(piece);
}

function blanksShown(piece: Piece): Piece {
  if (piece.change === 'same') return flat(piece);
  return { ...piece, text: showBlanks(piece.text) };
}

/** Neighbours of one fate as one piece: that a word is called out is said elsewhere. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const whole: Piece[] = [];
  for (const { text, change, was = text } of pieces) {
    const last = whole.at(-1);
    const isSame = last?.change === change;
    const own = { text: (isSame ? last.text : '') + text, change };
    const old = (isSame ? (last.was ?? last.text) : '') + was;
    whole.splice(isSame ? -1 : whole.length, 1, old === own.text ? own : { ...own, was: old });
  }
  return whole;
}

/** Without the blanks at the end, which are those before the next paragraph. */
function trimmed(pieces: readonly Piece[]): readonly Piece[] {
  const last = pieces.at(-1);
  if (last === undefined) return pieces;
  const text = last.text.replace(/[\s⏎]+$/, '');
  if (text === last.text) return pieces;
  const rest = pieces.slice(0, -1);
  return text === '' ? trimmed(rest) : [...rest, { text, change: last.change }];
}

/** As `trimmed`, where blanks are what changed: those that came or went stay. */
function trimmedSame(pieces: readonly Piece[]): readonly Piece[] {
  const last = pieces.at(-1);
  if (last?.change !== 'same') return pieces;
  const text = last.text.replace(/[\s⏎]+$/, '');
  const was = (last.was ?? last.text).replace(/[\s⏎]+$/, '');
  return [...pieces.slice(0, -1), ...(text === '' ? [] : [{ ...last, text, was }])];
}

/** The words of one side of an edited paragraph, with the blanks that it has between them. */
export function pickSide(pieces: readonly Piece[], side: 'before' | 'after'): readonly Piece[] {
  const gone = side === 'before' ? 'added' : 'removed';
  return pieces
    .filter(({ change }) => change !== gone)
    .map(({ text, change, was = text }) => ({ text: side === 'before' ? was : text, change }));
}

/** Replaces the middle of long stretches that are the same by `…`. */
function elide(pieces: readonly Piece[], around: number): readonly Piece[] {
  if (around === Infinity) return pieces;
  return pieces.map((piece, index) => {
    if (piece.change !== 'same') return piece;
    const parts = piece.text.match(/\s*\S+/gu) ?? [];
    const head = index > 0 ? around : 0;
    const tail = index < pieces.length - 1 ? around : 0;
    // A few words more are shown rather than replaced.
    if (parts.length <= head + tail + 4) return piece;
    const cut = (whole: string) => {
      const words = whole.match(/\s*\S+/gu) ?? [];
      const end = /\s*$/u.exec(whole)?.[0] ?? '';
      const last = tail === 0 ? '' : words.slice(-tail).join('') + end;
      return `${words.slice(0, head).join('')}${head > 0 ? ' ' : ''}…${last}`;
    };
    const { text, was = text, change } = piece;
    return { text: cut(text), was: cut(was), change };
  });
}
