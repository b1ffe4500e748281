import type { FleetDocument, FleetStack, StackStatus } from './fleet-document.ts';
import type { Tone } from './terminal.ts';
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
export function countWords(counts: FleetStack['counts']): string {
  return COUNT_WORDS.flatMap(([name, one, many]) => {
    const count = counts[name] ?? 0;
    return count === 0 ? [] : [`${formatNumber(count)} ${count === 1 ? one : many}`];
  }).join(', ');
}

const TITLES: { readonly [command in FleetDocument['command']]: string } = {
  validate: 'Validated',
  plan: 'Planned',
  apply: 'Applied',
  drift: 'Compared',
};

/** `Planned 3 of 12 stacks (shard 2/4): 2 with changes, 1 refused; 14 to create, 2 to update` */
export function fleetHeadline(document: FleetDocument): string {
  const { command, stacks, totals } = document;
  if (stacks.length === 0) return nothingWords(document);
  const outcomes = ORDER.flatMap((status) => {
    const count = totals[status] ?? 0;
    return count === 0 ? [] : [`${formatNumber(count)} ${totalWord(status, command)}`];
  }).join(', ');
  const counts = countWords(sumCounts(stacks));
  const told = counts === '' ? outcomes : `${outcomes}; ${counts}`;
  return `${TITLES[command]} ${stacksWords(document)}: ${told}`;
}

function stacksWords({ shard, stacks, found }: FleetDocument): string {
  return shard === null
    ? formatCount(stacks.length, 'stack')
    : `${formatNumber(stacks.length)} of ${formatCount(found, 'stack')} (shard ${shard.index}/${shard.count})`;
}

function nothingWords({ shard, found }: FleetDocument): string {
  return shard === null
    ? 'No stacks: nothing to do'
    : `Shard ${shard.index}/${shard.count} holds none of the ${formatCount(found, 'stack')}: nothing to do`;
}

function totalWord(status: StackStatus, command: FleetDocument['command']): string {
  return status === 'changes' && command === 'plan' ? 'with changes' : statusWord(status, command);
}

/** A status in the words of a command. */
export function statusWord(status: StackStatus, command: FleetDocument['command']): string {
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
