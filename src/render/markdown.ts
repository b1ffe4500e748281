import type { Change, PlanDocument } from '../core/plan-document.ts';
import { type Footer, footersOf } from './footers.ts';
import { type Group, groupChanges } from './groups.ts';
import { changeBlock, changeItem } from './markdown-change.ts';
import { renderDriftMarkdown } from './markdown-drift.ts';
import { foldToFit, GITHUB_LIMIT, tooLong } from './markdown-fold.ts';
import { markerOf, type PageOptions } from './markdown-marker.ts';
import { escapeText, inlineCode } from './markdown-text.ts';
import {
  comparedCount,
  forecastOf,
  formatCount,
  formatNumber,
  headline,
  isEmpty,
  movedEndpointLines,
} from './wording.ts';

const MAX_ROWS = 40;
const MAX_ITEMS = 20;
const MAX_ADOPTED = 50;

/**
 * A plan as a comment on a pull request, never longer than `limit` characters: where it would be, the
 * longest changes are folded to one line each, and then the last of them are counted.
 */
export function renderPlanMarkdown(plan: PlanDocument, options: PageOptions = {}): string {
  if (plan.purpose === 'drift') return renderDriftMarkdown(plan, options);
  const limit = options.limit ?? GITHUB_LIMIT;
  const marker = markerOf('plan', plan, options);
  const head = [marker, `### ${escapeText(headline(plan))}`, ...tableOf(plan)].join('\n\n');
  const feet = [...footersOf(plan).map(footerText), closing(plan)].filter((text) => text !== '');
  const tail = feet.map((text) => `\n\n${text}`).join('');
  const room = limit - head.length - tail.length - 1;
  const body = changesText(plan, room);
  if (body.length <= room) return `${head}${body}${tail}\n`;
  const least = `${marker}\n\n### ${escapeText(headline(plan))}\n\n${tooLong(plan.changes.length, 'plan')}${secretsTold(plan)}\n`;
  return least.length <= limit ? least : `${marker}\n`.slice(0, limit);
}

/** What is never left out, were it only in a number. */
function secretsTold({ changes }: PlanDocument): string {
  const sent = changes.flatMap(({ secrets = [] }) => secrets);
  const count = sent.filter(({ to, before }) => to !== before).length;
  return count === 0 ? '' : ` **${formatCount(count, 'secret')} would go somewhere new.**`;
}

/** Counts by organization and kind; columns that would be empty are left out. */
function tableOf(plan: PlanDocument): readonly string[] {
  const groups = groupChanges(plan.changes, plan.organizations);
  const actions = (['create', 'update', 'replace', 'delete', 'forget', 'adopt'] as const).filter(
    (action) => plan.summary[action] > 0,
  );
  if (groups.length === 0) return [`${formatCount(comparedCount(plan), 'resource')} compared.`];
  const row = ({ title, changes }: Group) => {
    const cells = actions.map((action) => {
      const count = changes.filter((change) => change.action === action).length;
      return count === 0 ? '' : formatNumber(count);
    });
    return `| ${[escapeText(title), ...cells].join(' | ')} |`;
  };
  const hidden = groups.length - MAX_ROWS;
  return [
    [
      `| | ${actions.join(' | ')} |`,
      `|---|${actions.map(() => '---:|').join('')}`,
      ...groups.slice(0, MAX_ROWS).map(row),
    ].join('\n'),
    ...(hidden > 0 ? [`_${formatCount(hidden, 'more row')}_`] : []),
  ];
}

/** The changes, as much of them as fits into `room` characters. */
function changesText(plan: PlanDocument, room: number): string {
  const groups = groupChanges(
    plan.changes.filter(({ action }) => action !== 'no_op' && action !== 'adopt'),
    plan.organizations,
  );
  const adopted = adoptedText(plan.changes.filter(({ action }) => action === 'adopt'));
  const pieces = groups.flatMap((group) => [
    { text: `\n\n#### ${escapeText(group.title)}`, item: undefined },
    ...group.changes.map((change) => ({
      text: `\n\n${changeBlock(change, plan)}`,
      item: `\n${changeItem(change, plan)}`,
    })),
  ]);
  return foldToFit([...pieces, { text: adopted, item: undefined }], room);
}

function adoptedText(adopted: readonly Change[]): string {
  if (adopted.length === 0) return '';
  const items = adopted
    .slice(0, MAX_ADOPTED)
    .map(({ address, reason }) => `- ${inlineCode(address)} ${escapeText(reason)}`);
  const hidden = adopted.length - items.length;
  return `\n\n${[
    `<details><summary>${formatNumber(adopted.length)} adopted: found live, nothing is written</summary>`,
    '',
    ...items,
    ...(hidden > 0 ? [`- and ${formatNumber(hidden)} more`] : []),
    '',
    '</details>',
  ].join('\n')}`;
}

function footerText({ title, items, advice, weight, isWhole }: Footer): string {
  const shown = items
    .slice(0, isWhole === true ? items.length : MAX_ITEMS)
    .map(({ address, text }) => {
      const named = address === null ? '' : `${inlineCode(address)} `;
      return `- ${named}${escapeText(text)}`;
    });
  const hidden = items.length - shown.length;
  return [
    weight === 'info' ? title : `**${title}**`,
    '',
    ...shown,
    ...(hidden > 0 ? [`- and ${formatNumber(hidden)} more`] : []),
    ...(advice === null ? [] : ['', escapeText(advice)]),
  ].join('\n');
}

function closing(plan: PlanDocument): string {
  const { reads, writes } = plan.requests;
  const assumed = plan.assumptions.map(inlineCode).join(', ');
  return [
    ...(isEmpty(plan) || reads + writes === 0 ? [] : [forecastOf(plan)]),
    ...movedEndpointLines(plan).map((line) => `**Moved:** ${escapeText(line)}`),
    ...(assumed === '' ? [] : [`Relies on assumptions: ${assumed}.`]),
    `<sub>${escapeText(plan.digest)}</sub>`,
  ].join('\n\n');
}
