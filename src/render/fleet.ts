import type { FleetDocument, FleetStack, StackStatus } from './fleet-document.ts';
import {
  cutLine,
  type Line,
  paint,
  type RenderOptions,
  span,
  type Tone,
  wrap,
} from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { padText, textWidth } from './width.ts';
import { formatCount, formatNumber } from './wording.ts';

/** How each outcome looks, in the order in which totals are told. */
export const OUTCOMES: {
  readonly [status in StackStatus]: {
    readonly mark: string;
    readonly word: string;
    readonly tone: Tone;
  };
} = {
  done: { mark: '✓', word: 'done', tone: 'added' },
  changes: { mark: '~', word: 'changes', tone: 'changed' },
  unchanged: { mark: '·', word: 'unchanged', tone: 'dim' },
  refused: { mark: '✗', word: 'refused', tone: 'error' },
  partial: { mark: '✗', word: 'in part', tone: 'error' },
  failed: { mark: '✗', word: 'failed', tone: 'error' },
  stale: { mark: '✗', word: 'stale', tone: 'error' },
  locked: { mark: '✗', word: 'locked', tone: 'error' },
  interrupted: { mark: '◦', word: 'interrupted', tone: 'warning' },
};
const ORDER: readonly StackStatus[] = [
  'done',
  'changes',
  'unchanged',
  'refused',
  'partial',
  'failed',
  'stale',
  'locked',
  'interrupted',
];

/** Columns of `interrupted`, the longest word. */
const WORD_WIDTH = 11;
/** A path may take so much of a line; what is longer has a line of its own. */
const MAX_PATH = 36;
/** Stacks that nothing is said of are counted beyond this many, unless everything is asked for. */
const MAX_UNCHANGED = 10;

/** What stands above the result of one stack among many. */
export function renderStackTitle(path: string, { width, color }: RenderOptions): string {
  const title = `── ${sanitiseLine(path)} `;
  const rule = '─'.repeat(Math.max(2, Math.min(width, 80) - textWidth(title)));
  return paint([cutLine([span(title, 'strong'), span(rule, 'dim')], width)], color);
}

/** What came of all stacks: one line each, and the counts last, where the eye is. */
export function renderFleetText(document: FleetDocument, options: RenderOptions): string {
  const { stacks } = document;
  const unchanged = stacks.filter(({ status }) => status === 'unchanged');
  const isLong = !options.verbose && unchanged.length > MAX_UNCHANGED;
  const shown = isLong ? stacks.filter(({ status }) => status !== 'unchanged') : stacks;
  const column = Math.min(
    MAX_PATH,
    Math.max(0, ...shown.map(({ path }) => textWidth(sanitiseLine(path)))),
  );
  const hidden = `  ⋯ ${formatNumber(unchanged.length)} unchanged; --verbose lists them`;
  return paint(
    [
      ...shown.flatMap((stack) => stackLines(stack, column, options)),
      ...(isLong ? wrap([span(hidden, 'dim')], options.width, 4) : []),
      ...(stacks.length > 0 ? [[]] : []),
      ...wrap([span(`${fleetHeadline(document)}.`, toneOf(document))], options.width, 2),
      ...(document.digest === null || stacks.length === 0
        ? []
        : wrap([span(document.digest, 'dim')], options.width, 2)),
    ],
    options.color,
  );
}

function toneOf({ exit }: FleetDocument): Tone {
  return exit === 0 || exit === 2 ? 'strong' : 'error';
}

function stackLines(stack: FleetStack, column: number, options: RenderOptions): readonly Line[] {
  const { mark, word, tone } = OUTCOMES[stack.status];
  const path = sanitiseLine(stack.path);
  const counts = countWords(stack.counts);
  const told = [span(padText(word, WORD_WIDTH), tone), span(`  ${counts}`)];
  const named = [span('  '), span(mark, tone), span(` ${padText(path, column)}  `, 'strong')];
  const indent = column + 6;
  const first =
    textWidth(path) > column
      ? [
          ...wrap(named, options.width, 4),
          ...wrap([span(' '.repeat(indent)), ...told], options.width, indent),
        ]
      : wrap([...named, ...told], options.width, indent + WORD_WIDTH + 2);
  const why = reasonOf(stack);
  return [
    ...first,
    ...(why === undefined ? [] : wrap([span(`    ${sanitiseLine(why)}`)], options.width, 4)),
  ];
}

const COUNT_WORDS: readonly (readonly [name: string, one: string, many: string])[] = [
  ['create', 'to create', 'to create'],
  ['update', 'to update', 'to update'],
  ['replace', 'to replace', 'to replace'],
  ['delete', 'to delete', 'to delete'],
  ['forget', 'to forget', 'to forget'],
  ['adopt', 'adopted', 'adopted'],
  ['refused', 'refused', 'refused'],
  ['held', 'held', 'held'],
  ['unsupported', 'unsupported', 'unsupported'],
  ['drifted', 'drifted', 'drifted'],
  ['done', 'done', 'done'],
  ['failed', 'failed', 'failed'],
  ['blocked', 'blocked', 'blocked'],
  ['not_attempted', 'not attempted', 'not attempted'],
  ['errors', 'error', 'errors'],
  ['warnings', 'warning', 'warnings'],
];

/** `2 to create, 1 refused`; empty where there is nothing to count. */
export function countWords(counts: FleetStack['counts']): string {
  return COUNT_WORDS.flatMap(([name, one, many]) => {
    const count = counts[name] ?? 0;
    return count === 0 ? [] : [`${formatNumber(count)} ${count === 1 ? one : many}`];
  }).join(', ');
}

/** Why a stack ended, in one line: the first problem, with its place as seen from where the tree is. */
export function reasonOf({ path, error }: FleetStack): string | undefined {
  if (error === null) return undefined;
  const [first, ...others] = error.diagnostics.filter(({ severity }) => severity === 'error');
  if (first === undefined) {
    const [line = '', ...more] = error.message.split('\n');
    return `${line}${moreWords(more.length)}`;
  }
  const { position, message } = first;
  const folder = path === '.' ? '' : `${path}/`;
  const place = position === undefined ? '' : `${folder}${position.file}:${position.line}: `;
  return `${place}${message}${moreWords(others.length)}`;
}

function moreWords(count: number): string {
  return count === 0 ? '' : ` (and ${formatNumber(count)} more)`;
}

const TITLES: { readonly [command in FleetDocument['command']]: string } = {
  validate: 'Validated',
  plan: 'Planned',
  apply: 'Applied',
  drift: 'Compared',
};

/** `Planned 12 stacks: 10 changes, 1 refused, 1 failed; 14 to create, 2 to update` */
export function fleetHeadline(document: FleetDocument): string {
  const { command, shard, stacks, found, totals } = document;
  const part =
    shard === null ? '' : ` of ${formatNumber(found)} (shard ${shard.index}/${shard.count})`;
  if (stacks.length === 0) {
    return shard === null
      ? 'No stacks'
      : `Shard ${shard.index}/${shard.count} holds none of the ${formatCount(found, 'stack')}: nothing to do`;
  }
  const outcomes = ORDER.flatMap((status) => {
    const count = totals[status] ?? 0;
    return count === 0 ? [] : [`${formatNumber(count)} ${totalWord(status, command)}`];
  }).join(', ');
  const counts = countWords(sumCounts(stacks));
  return `${TITLES[command]} ${formatCount(stacks.length, 'stack')}${part}: ${outcomes}${counts === '' ? '' : `; ${counts}`}`;
}

function totalWord(status: StackStatus, command: FleetDocument['command']): string {
  if (status === 'changes') return command === 'drift' ? 'drifted' : 'with changes';
  if (status === 'done' && command === 'validate') return 'valid';
  return OUTCOMES[status].word;
}

function sumCounts(stacks: readonly FleetStack[]): FleetStack['counts'] {
  const sums: { [name: string]: number } = {};
  for (const { counts } of stacks) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

/** How far work on many stacks is, as lines that are drawn anew; no line is broken. */
export function renderFleetProgress(
  verb: string,
  {
    ended,
    total,
    running,
  }: { readonly ended: number; readonly total: number; readonly running: readonly string[] },
  { width, color }: RenderOptions,
): string {
  const lines = [
    [span(`${verb}: ${formatNumber(ended)} of ${formatCount(total, 'stack')}`, 'strong')],
    ...running.map((path) => [span(`  ${sanitiseLine(path)}`, 'dim')]),
  ];
  // The last column stays free: some terminals begin a new line there.
  return paint(
    lines.map((line) => cutLine(line, Math.max(width - 1, 20))),
    color,
  );
}
