import { type Line, paint, type RenderOptions, span, type Tone, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { padText } from './width.ts';
import { formatNumber } from './wording.ts';

/** What became of one change, as the run's journal holds it. */
export type LedgerLine = {
  readonly address: string;
  readonly action: string;
  readonly status: 'done' | 'failed' | 'blocked' | 'not_attempted';
  /** Why the plan left it out. */
  readonly verdict?: LeftOut;
  readonly id: string | null;
  readonly message: string | null;
  readonly fields: readonly string[];
  readonly history: { readonly before: number | null; readonly after: number | null } | null;
  /** Writes of others that came in between. */
  readonly interleaved?: readonly { readonly order: 'before' | 'after' | 'unknown' }[];
};

type Status = LedgerLine['status'];
type LeftOut = 'refused' | 'held' | 'unsupported';

/** What failed stands last, next to where the next command is typed. */
const ORDER: readonly Status[] = ['done', 'not_attempted', 'blocked', 'failed'];

const LOOKS: {
  readonly [status in Status]: {
    readonly mark: string;
    readonly word: string;
    readonly tone: Tone;
  };
} = {
  done: { mark: '✓', word: 'done', tone: 'added' },
  failed: { mark: '✗', word: 'failed', tone: 'error' },
  blocked: { mark: '◦', word: 'blocked', tone: 'warning' },
  not_attempted: { mark: '◦', word: 'not attempted', tone: 'dim' },
};

/** What the plan said already that it would leave out. */
const LEFT_OUT = { mark: '◦', word: 'left out', tone: 'dim' } as const;

const PAST: { readonly [action: string]: string } = {
  create: 'created',
  update: 'updated',
  replace: 'replaced',
  delete: 'deleted',
  adopt: 'adopted',
  forget: 'forgotten',
  move: 'moved',
  record: 'recorded',
};

/** Changes that were not come to are counted beyond this many, unless everything is asked for. */
const MAX_NOT_ATTEMPTED = 10;
/** Of more changes that are done than that, so many are listed where it is to be brief. */
const MAX_DONE = 3;

/** Columns of `not attempted`, the longest word of a line. */
const WORD_WIDTH = 13;
const INDENT = 4;

/** What apply or rollback did, one line a change and the counts last. */
export function renderLedgerText(
  lines: readonly LedgerLine[],
  options: RenderOptions,
  { isBrief = false }: { readonly isBrief?: boolean } = {},
): string {
  const blocks = ORDER.flatMap((status) => {
    const own = lines.filter((line) => line.status === status);
    if (status === 'not_attempted') return notAttempted(own, options);
    return status === 'done' && isBrief
      ? briefly(own, options)
      : own.map((line) => changeLines(line, options));
  });
  return paint(
    [
      ...blocks.flat(),
      ...(blocks.length > 0 ? [[]] : []),
      ...wrap([span(countsOf(lines), isWhole(lines) ? 'strong' : 'error')], options.width, 2),
      ...overwritten(lines, options),
    ],
    options.color,
  );
}

/** What an interrupt left says the same of each: beyond a few they are counted. */
function notAttempted(
  lines: readonly LedgerLine[],
  options: RenderOptions,
): readonly (readonly Line[])[] {
  const isLong = !options.verbose && lines.length > MAX_NOT_ATTEMPTED;
  const shown = isLong ? lines.slice(0, MAX_NOT_ATTEMPTED) : lines;
  const rest = lines.length - shown.length;
  const more = span(`  ⋯ ${formatNumber(rest)} more not attempted; --verbose lists them`, 'dim');
  return [
    ...shown.map((line) => changeLines(line, options)),
    ...(rest > 0 ? [wrap([more], options.width, INDENT)] : []),
  ];
}

/** Changes of which there is nothing to be said but that they are done: beyond a few they are counted. */
function briefly(
  lines: readonly LedgerLine[],
  options: RenderOptions,
): readonly (readonly Line[])[] {
  const plain = lines.filter(({ message }) => message === null);
  if (options.verbose || plain.length <= MAX_NOT_ATTEMPTED)
    return lines.map((line) => changeLines(line, options));
  const hidden = new Set(plain.slice(MAX_DONE));
  const more = span(`  ⋯ ${formatNumber(hidden.size)} more done; --verbose lists them`, 'dim');
  return [
    ...lines.filter((line) => !hidden.has(line)).map((line) => changeLines(line, options)),
    wrap([more], options.width, INDENT),
  ];
}

/** Said last, since what somebody else wrote may be gone although everything was done. */
function overwritten(lines: readonly LedgerLine[], options: RenderOptions): readonly Line[] {
  const count = lines.filter((line) =>
    line.interleaved?.some(({ order }) => order === 'before'),
  ).length;
  if (count === 0) return [];
  const what = count === 1 ? '1 resource was' : `${formatNumber(count)} resources were`;
  const text = `${what} written by somebody else at the same moment: see above whose edit may be overwritten.`;
  return wrap([span(text, 'warning')], options.width, 2);
}

function isWhole(lines: readonly LedgerLine[]): boolean {
  return lines.every(({ status, verdict }) => status === 'done' || verdict !== undefined);
}

function changeLines(line: LedgerLine, options: RenderOptions): readonly Line[] {
  const { status, action, address, message, verdict } = line;
  const { mark, word, tone } = verdict === undefined ? LOOKS[status] : LEFT_OUT;
  const said = status === 'done' ? (PAST[action] ?? action) : word;
  const tried = status === 'done' ? '' : `  (${action})`;
  const details = options.verbose ? detailsOf(line) : '';
  const first = [
    span('  '),
    span(mark, tone),
    span(` ${padText(sanitiseLine(said), WORD_WIDTH)}  `),
    span(sanitiseLine(address), 'strong'),
    span(sanitiseLine(tried), 'dim'),
  ];
  const below = (text: string, own: Tone) =>
    wrap([span(' '.repeat(INDENT)), span(sanitiseLine(text), own)], options.width, INDENT);
  return [
    ...wrap(first, options.width, INDENT),
    ...(message === null ? [] : below(message, status === 'done' ? 'dim' : 'plain')),
    ...(details === '' ? [] : below(details, 'dim')),
  ];
}

/** `id 5d2b…; history entry 41 → 43; fields: model, status` */
function detailsOf({ id, history, fields }: LedgerLine): string {
  return [
    ...(id === null ? [] : [`id ${id}`]),
    ...(history === null
      ? []
      : [`history entry ${history.before ?? '–'} → ${history.after ?? '–'}`]),
    ...(fields.length === 0 ? [] : [`fields: ${fields.join(', ')}`]),
  ].join('; ');
}

function countsOf(lines: readonly LedgerLine[]): string {
  const left = leftOut(lines);
  const tried = lines.filter(({ verdict }) => verdict === undefined);
  if (tried.length === 0) return `Nothing was written${left}.`;
  const done = tried.filter(({ status }) => status === 'done');
  const actions = [...new Set(done.map(({ action }) => action))].map((action) => {
    const count = done.filter((line) => line.action === action).length;
    return `${formatNumber(count)} ${PAST[action] ?? action}`;
  });
  if (isWhole(tried)) return `Done: ${actions.join(', ')}${left}.`;
  const others = (['failed', 'blocked', 'not_attempted'] as const)
    .map((status) => ({ status, count: tried.filter((line) => line.status === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${formatNumber(count)} ${LOOKS[status].word}`);
  return `Not everything was done: ${[...actions, ...others].join(', ')}${left}.`;
}

/** `; left out: 2 refused, 1 held` */
function leftOut(lines: readonly LedgerLine[]): string {
  const counts = (['refused', 'held', 'unsupported'] as const)
    .map((verdict) => ({ verdict, count: lines.filter((one) => one.verdict === verdict).length }))
    .filter(({ count }) => count > 0)
    .map(({ verdict, count }) => `${formatNumber(count)} ${verdict}`);
  return counts.length === 0 ? '' : `; left out: ${counts.join(', ')}`;
}
