import type { FleetDocument, FleetStack } from './fleet-document.ts';
import { countWords, fleetHeadline, OUTCOMES, statusWord } from './fleet-words.ts';
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

/** Columns of `interrupted`, the longest word. */
const WORD_WIDTH = 11;
/** A path may take so much of a line; what is longer has a line of its own. */
const MAX_PATH = 36;
/** Stacks that nothing is said of are counted beyond this many, unless everything is asked for. */
const MAX_QUIET = 10;

/** What stands above the result of one stack among many. */
export function renderStackTitle(path: string, { width, color }: RenderOptions): string {
  return paint([titleLine(sanitiseLine(path), width)], color);
}

function titleLine(text: string, width: number): Line {
  const title = `── ${text} `;
  const rule = '─'.repeat(Math.max(2, Math.min(width, 80) - textWidth(title)));
  return cutLine([span(title, 'strong'), span(rule, 'dim')], width);
}

/** Whether nothing is to be said of a stack but that it is as it should be. */
function isQuiet({ status, counts }: FleetStack): boolean {
  return status === 'unchanged' || (status === 'done' && countWords(counts) === '');
}

/** What came of all stacks: one line each, and the counts last, where the eye is. */
export function renderFleetText(document: FleetDocument, options: RenderOptions): string {
  const { stacks, command } = document;
  const quiet = stacks.filter(isQuiet);
  const isLong = !options.verbose && quiet.length > MAX_QUIET;
  const shown = isLong ? stacks.filter((stack) => !isQuiet(stack)) : stacks;
  const column = Math.min(
    MAX_PATH,
    Math.max(0, ...shown.map(({ path }) => textWidth(sanitiseLine(path)))),
  );
  const hidden = `  ⋯ ${formatNumber(quiet.length)} ${statusWord(command === 'validate' ? 'done' : 'unchanged', command)}; --verbose lists them`;
  const title = `${formatCount(stacks.length, 'stack')}`;
  return paint(
    [
      ...(stacks.length > 0 ? [titleLine(title, options.width), []] : []),
      ...shown.flatMap((stack) => stackLines(stack, command, column, options)),
      ...(isLong ? wrap([span(hidden, 'dim')], options.width, 4) : []),
      ...(stacks.length > 0 ? [[]] : []),
      ...wrap([span(`${fleetHeadline(document)}.`, toneOf(document))], options.width, 2),
      ...(document.digest === null || stacks.length === 0
        ? []
        : // Whole, however narrow it is: it is there to be copied.
          [[span(document.digest, 'dim')]]),
    ],
    options.color,
  );
}

function toneOf({ exit }: FleetDocument): Tone {
  return exit === 0 || exit === 2 ? 'strong' : 'error';
}

function stackLines(
  stack: FleetStack,
  command: FleetDocument['command'],
  column: number,
  options: RenderOptions,
): readonly Line[] {
  const { mark, tone } = OUTCOMES[stack.status];
  const word = statusWord(stack.status, command);
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
  const { reason } = stack;
  return [
    ...first,
    ...(reason === null ? [] : wrap([span(`    ${sanitiseLine(reason)}`)], options.width, 4)),
  ];
}

/** How far work on many stacks is, as lines that are drawn anew; no line is broken. */
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
  { width, color }: RenderOptions,
): string {
  const lines = [
    [span(`${verb}: ${formatNumber(ended)} of ${formatCount(total, 'stack')}`, 'strong')],
    ...running.map(([path, line]) => [
      span(`  ${sanitiseLine(path)}`),
      span(line === '' ? '' : `  ${sanitiseLine(line)}`, 'dim'),
    ]),
  ];
  // The last column stays free: some terminals begin a new line there.
  return paint(
    lines.map((line) => cutLine(line, Math.max(width - 1, 20))),
    color,
  );
}
