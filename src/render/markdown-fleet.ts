import type { FleetDocument, FleetStack } from './fleet-document.ts';
import { countWords, fleetHeadline, OUTCOMES, statusWord } from './fleet-words.ts';
import { GITHUB_LIMIT } from './markdown-fold.ts';
import { markerOf, type PageOptions } from './markdown-marker.ts';
import { escapeText, inlineCode } from './markdown-text.ts';
import { formatNumber } from './wording.ts';

/** The page of one stack, which is folded below the table. */
export type StackPage = { readonly path: string; readonly markdown: string };

/**
 * What came of all stacks as one comment on a pull request, never longer than `limit` characters: a table of those
 * that something is to be said of, and below it the page of each, as far as they fit.
 */
export function renderFleetMarkdown(
  document: FleetDocument,
  pages: readonly StackPage[],
  options: PageOptions & { readonly environment?: string | undefined } = {},
): string {
  const limit = options.limit ?? GITHUB_LIMIT;
  const { environment, ...place } = options;
  const named = environment === undefined ? {} : { environment };
  const head = `${fleetMarker(document, markerOf('fleet', named, place))}\n\n### ${escapeText(fleetHeadline(document))}\n`;
  const tail = document.digest === null ? '' : `\n<sub>${escapeText(document.digest)}</sub>\n`;
  const least = `${head}${tail}`;
  const table = tableOf(document, limit - least.length - NOTICE_ROOM);
  const room = limit - least.length - table.length - NOTICE_ROOM;
  return `${head}${table}${pagesText(pages, room)}${tail}`.slice(0, limit);
}

/** Characters kept for what is said of what does not fit, in the table and below it. */
const NOTICE_ROOM = 400;

/** Jobs that each work on a part of the tree leave a comment each. */
function fleetMarker({ command, shard }: FleetDocument, marker: string): string {
  const part = shard === null ? '' : ` shard=${shard.index}/${shard.count}`;
  return marker.replace('callsheet:fleet', `callsheet:fleet-${command}${part}`);
}

function tableOf({ stacks, command }: FleetDocument, room: number): string {
  const told = stacks.filter(({ status }) => status !== 'unchanged');
  if (told.length === 0) return '';
  const rows: string[] = [];
  let used = 0;
  for (const stack of told) {
    const row = rowOf(stack, command);
    if (used + row.length > room) break;
    rows.push(row);
    used += row.length;
  }
  const missing = told.length - rows.length;
  const notice =
    missing === 0 ? '' : `\n_${formatNumber(missing)} more stacks: the job's log lists them._\n`;
  return `\n| Stack | | |\n| --- | --- | --- |\n${rows.join('')}${notice}`;
}

function rowOf(stack: FleetStack, command: FleetDocument['command']): string {
  const { mark } = OUTCOMES[stack.status];
  const word = statusWord(stack.status, command);
  const { reason } = stack;
  const told = [countWords(stack.counts), ...(reason === null ? [] : [reason])].filter(
    (text) => text !== '',
  );
  return `| ${inlineCode(stack.path)} | ${mark} ${word} | ${told.map((text) => escapeText(text)).join('; ')} |\n`;
}

function pagesText(pages: readonly StackPage[], room: number): string {
  let text = '';
  let missing = 0;
  for (const { path, markdown } of pages) {
    const page = `\n<details><summary>${inlineCode(path)}</summary>\n\n${withoutMarker(markdown).trim()}\n\n</details>\n`;
    if (text.length + page.length > room) missing += 1;
    else text += page;
  }
  if (missing === 0) return text;
  return `${text}\n_Of ${formatNumber(missing)} ${missing === 1 ? 'stack' : 'stacks'} the details are not shown: a comment is too short for them. The job's log, or \`callsheet plan --dir STACK\`, shows them._\n`;
}

/** The page of a stack has a mark of its own, by which a bot would take this comment for that of the stack. */
function withoutMarker(markdown: string): string {
  return markdown.replace(/^<!-- callsheet:[^\n]*-->\n/, '');
}
