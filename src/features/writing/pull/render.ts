import { type StructuredPatchHunk, structuredPatch } from 'diff';
import { MASK, redactText } from '../../../core/credentials.ts';
import type { PullDocument, PullLeft } from '../../../core/documents.ts';
import {
  type Line,
  listLines,
  noteLines,
  paint,
  type RenderOptions,
  span,
  titled,
  wrap,
} from '../../../render/terminal.ts';
import { listUnseen } from '../../../render/unseen.ts';
import { sanitise } from '../../../render/untrusted.ts';
import { formatCount, UNSEEN_SIGN } from '../../../render/wording.ts';

const MIN_WIDTH = 40;
const MOST_ALIKE = 3;

/**
 * Shows which values were written into which file, and which were not and why. `rest`: the command that leaves out what
 * was refused. `left`: the changes that the user chose to leave when asked.
 */
export function renderPullText(
  document: PullDocument,
  rest: string,
  given: RenderOptions,
  left: readonly PullLeft[] = [],
): string {
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
  const {
    pulled,
    kept,
    refused,
    files,
    status,
    secrets = [],
    remarks = [],
    undecided = [],
  } = document;
  const section = (title: string, lines: readonly Line[]) =>
    titled(span(title, 'strong'), lines, options);
  const pair = (name: string, text: string) =>
    wrap([span(`  ${name}`), span(`  ${text}`)], options.width, 6);
  const ends = formatEnding(document, rest, left.length > 0);
  const isEnd = pulled.length > 0 || refused.length > 0 || undecided.length > 0 || files.length > 0;
  const lines: readonly Line[] = [
    ...wrap([span(formatHeadline(document, left.length > 0), 'strong')], options.width, 2),
    ...byFile(document).flatMap(({ path, pulled: own }): readonly Line[] => [
      [],
      [span(path, 'strong')],
      ...own.flatMap((leaf) => leafLines(leaf, status === 'written', options)),
    ]),
    ...section('Kept: changed here and not applied yet.', alikeLines(kept, keptLines, options)),
    ...section(
      'Yours to decide: both sides changed it.',
      alikeLines(undecided, (one) => leftLines(one, options), options),
    ),
    ...section(
      'To be supplied before the next plan:',
      secrets.flatMap(({ source, ...leaf }) => pair(source, formatName(leaf))),
    ),
    ...section(
      'Not as on the platform:',
      remarks.flatMap(({ address, path, reason }) =>
        pair(formatName({ address, path: path ?? '' }), reason),
      ),
    ),
    ...section(
      'Not pulled:',
      alikeLines(refused, (one) => leftLines(one, options), options),
    ),
    ...section('Left as you chose:', alikeLines(left, keptLines, options)),
    ...(ends === undefined || !isEnd ? [] : [[], ...noteLines(ends, options.width)]),
  ];
  return paint(lines, options.color);
}

function formatHeadline(
  { status, pulled, files, refused, undecided = [] }: PullDocument,
  isPart: boolean,
): string {
  const isNew = files.some(({ created }) => created);
  const noun = isNew ? 'new resource' : 'live value';
  const what = `${formatCount(pulled.length, noun)} into ${formatCount(files.length, 'file')}`;
  switch (status) {
    case 'written':
      return `${isNew ? 'Wrote' : 'Pulled'} ${what}.`;
    case 'dry_run':
      return refused.length === 0
        ? `Would ${isNew ? 'write' : 'pull'} ${what}. Nothing was written.`
        : `Would ${isNew ? 'write' : 'pull'} ${what} with --skip-refused, and nothing without it: ${formatCount(refused.length, noun)} cannot be ${isNew ? 'written' : 'pulled'}. Nothing was written.`;
    case 'refused':
      return `Nothing was written: ${formatCount(refused.length, 'live value')} cannot be pulled.`;
    case 'nothing':
      return refused.length + undecided.length === 0 && !isPart
        ? 'Nothing to pull: no configured value changed on the platform.'
        : 'Nothing was pulled.';
  }
}

function byFile({ pulled, files }: PullDocument) {
  const groups = Map.groupBy(pulled, ({ file }) => file);
  const rest = [...groups.keys()].filter((file) => !files.some(({ path }) => path === file));
  return [...files.map(({ path }) => path), ...rest].flatMap((path) => {
    const own = groups.get(path) ?? [];
    return own.length === 0 ? [] : [{ path, pulled: own }];
  });
}

function leafLines(
  { address, path, line, others = 0 }: PullDocument['pulled'][number],
  isWritten: boolean,
  { width }: RenderOptions,
): readonly Line[] {
  const along = others === 0 ? '' : `, also for ${formatCount(others, 'other')}`;
  const where = `${line === null ? '' : `  line ${line}`}${along}`;
  const mark = path === '' ? span('  + ', 'added') : span('  ~ ', isWritten ? 'changed' : 'plain');
  return wrap([mark, span(formatName({ address, path })), span(where)], width, 6);
}

function formatName({ address, path }: Pick<PullLeft, 'address' | 'path'>): string {
  return path === '' ? address : `${address} ${path}`;
}

/** Values with the same path that stay for the same reason: the first few, unless everything is asked for. */
function alikeLines(
  all: readonly PullLeft[],
  drawLines: (left: PullLeft) => readonly Line[],
  options: RenderOptions,
): readonly Line[] {
  const alike = Map.groupBy(all, ({ address, path, reason, advice }) =>
    [path, reason.replaceAll(address, ''), advice.replaceAll(address, '')].join('\n'),
  );
  return [...alike].flatMap(([, own]) => {
    // One more is as short as the line that would count it.
    const most = own.length === MOST_ALIKE + 1 ? own.length : MOST_ALIKE;
    const where = own[0]?.path === '' ? 'more' : `more with ${own[0]?.path ?? ''}`;
    return listLines(own, drawLines, most, options, where);
  });
}

function keptLines(left: PullLeft): readonly Line[] {
  return [[span('  = '), span(formatName(left))]];
}

function leftLines(left: PullLeft, { width }: RenderOptions): readonly Line[] {
  const { reason, advice } = left;
  return [
    ...wrap([span('  ! ', 'warning'), span(formatName(left))], width, 6),
    ...wrap([span(`      ${asSentence(reason)}`)], width, 6),
    ...wrap([span(`      ${asSentence(advice)}`)], width, 6),
  ];
}

function asSentence(text: string): string {
  // The name of a file keeps its letters.
  const first = /^[a-z]+ /.test(text) ? text.slice(0, 1).toUpperCase() : text.slice(0, 1);
  return `${first}${text.slice(1)}.`;
}

function formatEnding(
  { status, pulled, files, refused, undecided = [] }: PullDocument,
  rest: string,
  isPart: boolean,
): string | undefined {
  switch (status) {
    case 'written':
      if (files.some(({ created }) => created)) return 'The next plan takes them over as they are.';
      if (undecided.length > 0)
        return '`git diff` shows what changed; commit it. The next plan shows what you still have to decide.';
      if (refused.length > 0 || isPart)
        return '`git diff` shows what changed; commit it. The next plan still shows the changes that were not pulled.';
      if (pulled.some(({ others = 0 }) => others > 0))
        return '`git diff` shows what changed; commit it. The next plan changes the others.';
      return '`git diff` shows what changed; commit it, and the next plan agrees.';
    case 'refused':
      return `To leave them out and write the rest: ${rest}.`;
    default:
      return undefined;
  }
}

/** The text of a file before and after. */
type ChangedText = {
  readonly file: string;
  /** Undefined for a file that is new. */
  readonly before: string | undefined;
  readonly after: string;
  /** True if a line holds a secret: it is not shown. */
  readonly isHidden?: (line: string) => boolean;
};

/** Unchanged lines around a change, as Git shows them. */
const AROUND = 3;
/** Files that differ in more lines have too little in common to be compared line by line. */
const MOST_EDITS = 1500;

/**
 * A change of a file in the unified format, as `git diff` prints it. It is for reading: what a terminal would act
 * on is escaped, credentials are masked, and carriage returns are left out.
 */
export function unifiedDiff({ file, before, after, isHidden = () => false }: ChangedText): string {
  const from = before === undefined ? '/dev/null' : `a/${file}`;
  const shown = (line: string) => {
    const bare = line.slice(1).replace(/\r$/, '');
    return `${line.slice(0, 1)}${isHidden(bare) ? MASK : sanitise(redactText(bare))}`;
  };
  const notes = (changed: readonly string[]) => {
    const side = (sign: string) =>
      changed.flatMap((line) =>
        line.startsWith(sign) && !isHidden(line.slice(1)) ? redactText(line.slice(1)) : [],
      );
    const [old, fresh] = [side('-'), side('+')];
    const was = old.length === 0 ? null : old.join('\n');
    return listUnseen(was, fresh.length === 0 ? null : fresh.join('\n'));
  };
  const hunks = hunksBetween(before ?? '', after).flatMap((hunk) => [
    `@@ -${stretch(hunk.oldStart, hunk.oldLines)} +${stretch(hunk.newStart, hunk.newLines)} @@`,
    // A line that begins with a backslash is none of the file: it says that no line break ends it, or what is unseen.
    ...changesIn(hunk.lines).flatMap((lines) => [
      ...lines.map((line) => (line.startsWith('\\') ? line : shown(line))),
      ...notes(lines).map((text) => `\\ ${UNSEEN_SIGN} ${text}`),
    ]),
  ]);
  return [`--- ${sanitise(from)}`, `+++ b/${sanitise(file)}`, ...hunks].join('\n');
}

/** The lines of a hunk, those that go together with those that come in their place. */
function changesIn(lines: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = [];
  let last = ' ';
  for (const line of lines) {
    const sign = line.slice(0, 1);
    const isNext = sign === ' ' || last === ' ' || (sign === '-' && last === '+');
    if (isNext) parts.push([line]);
    else parts.at(-1)?.push(line);
    if (sign !== '\\') last = sign;
  }
  return parts;
}

/** The first of some lines and how many; of none the line before them. */
function stretch(start: number, lines: number): string {
  return lines === 1 ? String(start) : `${lines === 0 ? start - 1 : start},${lines}`;
}

function hunksBetween(before: string, after: string): readonly StructuredPatchHunk[] {
  const patch = (old: string, fresh: string, maxEditLength = Infinity) =>
    structuredPatch('', '', old, fresh, '', '', { context: AROUND, maxEditLength })?.hunks;
  const hunks = patch(before, after, MOST_EDITS);
  if (hunks !== undefined) return hunks;
  const [[gone], [fresh]] = [patch(before, '') ?? [], patch('', after) ?? []];
  if (gone === undefined || fresh === undefined) return [gone ?? fresh ?? []].flat();
  const { newStart, newLines } = fresh;
  return [{ ...gone, newStart, newLines, lines: [...gone.lines, ...fresh.lines] }];
}
