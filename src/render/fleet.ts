import type { Fleet } from '../core/documents.generated.ts';
import {
  escapeMessage,
  escapeText,
  formatMarker,
  GITHUB_LIMIT,
  inlineCode,
  type PageOptions,
} from './markdown-text.ts';
import {
  belowLines,
  cutLine,
  type Line,
  type Look,
  moreLines,
  padText,
  paint,
  type RenderOptions,
  renderLive,
  span,
  textWidth,
  type Way,
  wayLines,
  wrap,
} from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { formatCount, formatNumber, tally } from './wording.ts';

/** How a command came out in one stack of many. */
export type StackStatus = FleetStack['status'];

/** The result of one stack. */
export type FleetStack = Fleet.Stack;

/** The results of a command in every stack of a tree. */
export type FleetDocument = Fleet.Document;

/** Columns of `interrupted`, the longest word. */
const WORD_WIDTH = 11;
/** A path may take so much of a line; what is longer has a line of its own. */
const MAX_PATH = 36;
/** Stacks that nothing is said of are counted beyond this many, unless everything is asked for. */
const MAX_QUIET = 10;

/** Returns the title above the result of one stack among many. */
export function renderStackTitle(path: string, { width, color }: RenderOptions): string {
  return paint([titleLine(path, width)], color);
}

function titleLine(text: string, width: number): Line {
  const title = `── ${text} `;
  const rule = '─'.repeat(Math.max(2, Math.min(width, 80) - textWidth(title)));
  return cutLine([span(title, 'strong'), span(rule)], width);
}

/** True if a stack has nothing to report but that it is as it should be. */
function isQuiet({ status, counts }: FleetStack): boolean {
  return status === 'unchanged' || (status === 'done' && countsText(counts) === '');
}

/**
 * Shows how all stacks ended: one line each, then the counts, and last the commands that go on from here. The title has the
 * environment, where one is named.
 */
export function renderFleetText(
  document: FleetDocument,
  options: RenderOptions,
  {
    environment,
    ways = [],
  }: { readonly environment?: string | undefined; readonly ways?: readonly Way[] } = {},
): string {
  const { stacks, command } = document;
  const quiet = stacks.filter(isQuiet);
  const isLong = !options.verbose && quiet.length > MAX_QUIET;
  const shown = isLong ? stacks.filter((stack) => !isQuiet(stack)) : stacks;
  const column = Math.min(
    MAX_PATH,
    Math.max(0, ...shown.map(({ path }) => textWidth(sanitiseLine(path)))),
  );
  const hidden = statusText(command === 'validate' ? 'done' : 'unchanged', command);
  const title = [formatCount(stacks.length, 'stack'), environment ?? []].flat().join(' · ');
  return paint(
    [
      ...(stacks.length > 0 ? [titleLine(title, options.width), []] : []),
      ...shown.flatMap((stack) => stackLines(stack, command, column, options)),
      ...moreLines(isLong ? quiet.length : 0, options, hidden),
      ...(stacks.length > 0 ? [[]] : []),
      ...wrap([span(`${fleetHeadline(document)}.`, 'strong')], options.width, 2),
      ...(document.digest === null || stacks.length === 0
        ? []
        : // Whole, however narrow it is: it is there to be copied.
          [[span(document.digest)]]),
      ...(ways.length === 0 ? [] : [[], ...wayLines(ways, options)]),
    ],
    options.color,
  );
}

function stackLines(
  stack: FleetStack,
  command: FleetDocument['command'],
  column: number,
  options: RenderOptions,
): readonly Line[] {
  const { mark, tone } = OUTCOMES[stack.status];
  const word = statusText(stack.status, command);
  const path = sanitiseLine(stack.path);
  const counts = countsText(stack.counts);
  const spans = [span(padText(word, WORD_WIDTH), tone), span(`  ${counts}`)];
  const named = [span('  '), span(mark, tone), span(` ${padText(path, column)}  `, 'strong')];
  const indent = column + 6;
  const first =
    textWidth(path) > column
      ? [
          ...wrap(named, options.width, 4),
          ...wrap([span(' '.repeat(indent)), ...spans], options.width, indent),
        ]
      : wrap([...named, ...spans], options.width, indent + WORD_WIDTH + 2);
  const { reason } = stack;
  return [...first, ...(reason === null ? [] : belowLines(reason, options))];
}

/** Renders the progress of work on many stacks as lines that are redrawn; no line is broken. */
export function renderFleetProgress(
  verb: string,
  {
    ended,
    total,
    running,
  }: {
    readonly ended: number;
    readonly total: number;
    readonly running: readonly (readonly [path: string, line: string])[];
  },
  options: RenderOptions,
): string {
  const lines = [
    [span(`${verb}: ${formatNumber(ended)} of ${formatCount(total, 'stack')}`, 'strong')],
    ...running.map(([path, line]) => [span(`  ${path}`), span(line === '' ? '' : `  ${line}`)]),
  ];
  return renderLive(lines, options);
}

/** How each outcome looks, in the order of the totals. */
const OUTCOMES: { readonly [status in StackStatus]: Look } = {
  done: { mark: '✓', word: 'done', tone: 'added' },
  changes: { mark: '~', word: 'changes', tone: 'changed' },
  unchanged: { mark: '·', word: 'unchanged', tone: 'plain' },
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
  ['done', 'change done', 'changes done'],
  ['failed', 'failed', 'failed'],
  ['blocked', 'blocked', 'blocked'],
  ['not_attempted', 'not attempted', 'not attempted'],
  ['errors', 'error', 'errors'],
  ['warnings', 'warning', 'warnings'],
];

/** `2 to create, 1 refused`; empty where there is nothing to count. */
function countsText(counts: FleetStack['counts']): string {
  return tally(
    COUNT_WORDS.map(([name, one, many]) => {
      const count = counts[name] ?? 0;
      return [count, count === 1 ? one : many];
    }),
  );
}

const TITLES: { readonly [command in FleetDocument['command']]: string } = {
  validate: 'Validated',
  plan: 'Planned',
  apply: 'Applied',
  drift: 'Compared',
};

/** `Planned 3 of 12 stacks (shard 2/4): 2 with changes, 1 refused; 14 to create, 2 to update` */
function fleetHeadline(document: FleetDocument): string {
  const { command, stacks, totals } = document;
  if (stacks.length === 0) return nothingMessage(document);
  const outcomes = tally(ORDER.map((status) => [totals[status] ?? 0, totalText(status, command)]));
  const counts = countsText(sumCounts(stacks));
  const result = counts === '' ? outcomes : `${outcomes}; ${counts}`;
  return `${TITLES[command]} ${stacksText(document)}: ${result}`;
}

function stacksText({ shard, stacks, found }: FleetDocument): string {
  return shard === null
    ? formatCount(stacks.length, 'stack')
    : `${formatNumber(stacks.length)} of ${formatCount(found, 'stack')} (shard ${shard.index}/${shard.count})`;
}

function nothingMessage({ shard, found }: FleetDocument): string {
  return shard === null
    ? 'No stacks: nothing to do'
    : `Shard ${shard.index}/${shard.count} holds none of the ${formatCount(found, 'stack')}: nothing to do`;
}

function totalText(status: StackStatus, command: FleetDocument['command']): string {
  return status === 'changes' && command === 'plan' ? 'with changes' : statusText(status, command);
}

/** A status in the words of a command. */
function statusText(status: StackStatus, command: FleetDocument['command']): string {
  if (status === 'changes' && command === 'drift') return 'drifted';
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

/** The plan of one stack in some format. In Markdown it is a page, which is folded below the table. */
export type StackPart = { readonly path: string; readonly text: string };

/** The place of the tree, and the environment that its stacks were planned for. */
export type FleetPlace = PageOptions & { readonly environment?: string | undefined };

/**
 * Returns the results of all stacks as one comment on a pull request, never longer than `limit` characters: a table of
 * those that have something to report, and below it a section of each, as far as they fit: its page, or why it has none.
 */
export function renderFleetMarkdown(
  document: FleetDocument,
  pages: readonly StackPart[],
  options: FleetPlace = {},
): string {
  const limit = options.limit ?? GITHUB_LIMIT;
  const { environment, ...place } = options;
  const named = environment === undefined ? {} : { environment };
  const head = `${fleetMarker(document, formatMarker('fleet', named, place))}\n\n### ${escapeText(fleetHeadline(document))}\n`;
  const tail = document.digest === null ? '' : `\n${inlineCode(document.digest)}\n`;
  const least = `${head}${tail}`;
  const table = renderTable(document, limit - least.length - NOTICE_ROOM);
  const room = limit - least.length - table.length - NOTICE_ROOM;
  return `${head}${table}${pagesText(listSections(document, pages), room)}${tail}`.slice(0, limit);
}

/** Every stack with something to report, in the order of the table. */
function listSections(
  { stacks }: FleetDocument,
  pages: readonly StackPart[],
): readonly StackPart[] {
  const texts = new Map(pages.map(({ path, text }) => [path, text]));
  return stacks.flatMap(({ path, error }) => {
    const text = texts.get(path) ?? (error === null ? undefined : failureText(error));
    return text === undefined ? [] : [{ path, text }];
  });
}

/** Everything that is wrong with a stack; its row has the first of it. */
function failureText({ message, hint, diagnostics }: NonNullable<FleetStack['error']>): string {
  const found = diagnostics.map(({ position, message: problem, hint: advice }) => {
    const place =
      position === undefined ? '' : `${inlineCode(`${position.file}:${position.line}`)} `;
    return `- ${place}${[problem, advice ?? '']
      .filter((text) => text !== '')
      .map(escapeLines)
      .join('<br>')}`;
  });
  const lines = found.length > 0 ? found : [message, hint ?? ''].map(escapeLines);
  return lines.filter((line) => line !== '').join('\n');
}

function escapeLines(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeMessage(line))
    .join('<br>');
}

/** Characters kept for what is said of what does not fit, in the table and below it. */
const NOTICE_ROOM = 400;

/** Jobs that each work on a part of the tree leave a comment each. */
function fleetMarker({ command, shard }: FleetDocument, marker: string): string {
  const part = shard === null ? '' : ` shard=${shard.index}/${shard.count}`;
  return marker.replace('callsheet:fleet', `callsheet:fleet-${command}${part}`);
}

function renderTable({ stacks, command }: FleetDocument, room: number): string {
  const changed = stacks.filter(({ status }) => status !== 'unchanged');
  if (changed.length === 0) return '';
  const rows: string[] = [];
  let used = 0;
  for (const stack of changed) {
    const row = renderRow(stack, command);
    if (used + row.length > room) break;
    rows.push(row);
    used += row.length;
  }
  const missing = changed.length - rows.length;
  const notice =
    missing === 0 ? '' : `\n_${formatNumber(missing)} more stacks: the job's log lists them._\n`;
  return `\n| Stack | Result | Changes |\n| --- | --- | --- |\n${rows.join('')}${notice}`;
}

function renderRow(stack: FleetStack, command: FleetDocument['command']): string {
  const { mark } = OUTCOMES[stack.status];
  const word = statusText(stack.status, command);
  const { reason } = stack;
  const texts = [countsText(stack.counts), ...(reason === null ? [] : [reason])].filter(
    (text) => text !== '',
  );
  // A comment's reader does not see what was said on a terminal.
  const hint = stack.error?.hint ?? '';
  const lines = [
    texts.map((text) => escapeMessage(text)).join('; '),
    ...hint.split('\n').map((line) => escapeMessage(line)),
  ].filter((line) => line !== '');
  return `| ${inlineCode(stack.path)} | ${mark} ${word} | ${lines.join('<br>')} |\n`;
}

function pagesText(pages: readonly StackPart[], room: number): string {
  let text = '';
  let missing = 0;
  for (const { path, text: markdown } of pages) {
    const page = `\n<details><summary>${inlineCode(path)}</summary>\n\n${withoutMarker(markdown).trim()}\n\n</details>\n`;
    if (text.length + page.length > room) missing += 1;
    else text += page;
  }
  if (missing === 0) return text;
  return `${text}\n_Of ${formatCount(missing, 'stack')} the details do not fit in a comment. They are in the job's log; or run \`callsheet plan --dir STACK\`._\n`;
}

/** The page of a stack has a mark of its own, by which a bot would take this comment for that of the stack. */
function withoutMarker(markdown: string): string {
  return markdown.replace(/^<!-- callsheet:[^\n]*-->\n/, '');
}
