import type { Change, PlanDocument } from '../core/plan-document.ts';
import { type Attributed, groupByAuthor, whoTook } from './attribution.ts';
import { gone } from './drift.ts';
import { viewFields } from './fields.ts';
import { groupChanges } from './groups.ts';
import { fieldsMarkdown, summaryOf } from './markdown-change.ts';
import { foldToFit, GITHUB_LIMIT, tooLong } from './markdown-fold.ts';
import { markerOf, type PageOptions } from './markdown-marker.ts';
import { escapeText, inlineCode } from './markdown-text.ts';
import { comparedCount, formatCount, headline, namesRelyOn } from './wording.ts';

/**
 * Drift as an issue or a comment, never longer than `limit` characters: where it would be, the longest
 * changes are folded to one line each, and then the last of them are counted.
 */
export function renderDriftMarkdown(plan: PlanDocument, options: PageOptions = {}): string {
  const limit = options.limit ?? GITHUB_LIMIT;
  const marker = markerOf('drift', plan, options);
  const isDrifted = plan.changes.length > 0;
  const head = [
    marker,
    `### ${escapeText(headline(plan))}`,
    ...(isDrifted ? ['`-` is what should be, `+` is what is live now.'] : []),
  ].join('\n\n');
  const compared = `${formatCount(comparedCount(plan), 'resource')} compared.`;
  const advice = isDrifted
    ? ' To put it back: `callsheet plan`. To keep it: `callsheet pull --dry-run`.'
    : '';
  const relied = namesRelyOn(plan);
  const names = relied === undefined ? '' : `\n\n${relied}`;
  const tail = `\n\n${compared}${advice}${names}\n\n<sub>${escapeText(plan.digest)}</sub>`;
  const body = changesText(plan, limit - head.length - tail.length - 1);
  const page = `${head}${body}${tail}\n`;
  if (page.length <= limit) return page;
  const least = `${marker}\n\n### ${escapeText(headline(plan))}\n\n${tooLong(plan.changes.length, 'drift')}\n`;
  return least.length <= limit ? least : `${marker}\n`.slice(0, limit);
}

function changesText(plan: PlanDocument, room: number): string {
  const pieces = groupChanges(plan.changes, plan.organizations).flatMap((group) => [
    { text: `\n\n#### ${escapeText(group.title)}`, item: undefined },
    ...group.changes.map((change) => ({
      text: `\n\n${driftBlock(change)}`,
      item: `\n- ${summaryOf(gone(change), viewsOf(change))} (folded)`,
    })),
  ]);
  return foldToFit(pieces, room, 'drift');
}

function driftBlock(change: Change): string {
  const isGone = change.action === 'create';
  const groups = isGone
    ? [{ ...whoTook(change, false), fields: [] }]
    : groupByAuthor(change, false);
  const isTold = groups.some(({ who }) => who !== undefined);
  const about = [
    ...(isGone || !isTold ? [escapeText(change.reason)] : []),
    ...(change.source === null ? [] : [inlineCode(change.source)]),
    ...(change.id === null ? [] : [`id ${inlineCode(change.id)}`]),
  ];
  return [
    `<details><summary>${summaryOf(gone(change), viewsOf(change))}</summary>`,
    '',
    about.join(' · '),
    ...groups.flatMap((group) => groupRows(group, change)),
    '',
    '</details>',
  ].join('\n');
}

function groupRows({ who, edits, fields }: Attributed, change: Change): readonly string[] {
  return [
    ...(who === undefined ? [] : ['', escapeText(who)]),
    ...(edits.length === 0 ? [] : ['', ...edits.map((edit) => `- ${escapeText(edit)}`)]),
    ...fieldsMarkdown(viewsOf({ ...change, fields })),
  ];
}

function viewsOf(change: Change) {
  return viewFields(gone(change), 'drift', false);
}
