import type { Change, PlanDocument } from '../core/plan-document.ts';
import { type Attributed, groupByAuthor, whoTook } from './attribution.ts';
import { headOf } from './change-lines.ts';
import { fieldLines, INDENT } from './field-lines.ts';
import { viewFields } from './fields.ts';
import { type Group, groupChanges } from './groups.ts';
import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { comparedCount, formatCount, headline, namesRelyOn } from './wording.ts';

/** Narrower than this no line holds an address and a value. */
const MIN_WIDTH = 40;

/**
 * What changed outside Callsheet, field by field: `before` is what should be, `after` what is live now. Above
 * the fields stands who changed them, when and from where, or why nobody can tell.
 */
export function renderDriftText(plan: PlanDocument, given: RenderOptions): string {
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
  const first = wrap([span(headline(plan), 'strong')], options.width, 2);
  const compared = `${formatCount(comparedCount(plan), 'resource')} compared.`;
  if (plan.changes.length === 0) return paint([...first, [span(compared, 'dim')]], options.color);
  const relied = namesRelyOn(plan);
  const legend = 'Each line says what should be → what is live now.';
  return paint(
    [
      ...first,
      ...wrap([span(legend, 'dim')], options.width, 0),
      ...groupChanges(plan.changes, plan.organizations).flatMap((group) =>
        groupLines(group, options),
      ),
      [],
      [span(compared, 'dim')],
      ...wrap([span(WHAT_NEXT, 'dim')], options.width, 2),
      ...(relied === undefined ? [] : wrap([span(relied, 'dim')], options.width, 2)),
      ...wrap([span(`${headline(plan)}.`, 'strong')], options.width, 2),
    ],
    options.color,
  );
}

const WHAT_NEXT = 'To put it back: `callsheet plan`. To keep it: `callsheet pull --dry-run`.';

function groupLines(group: Group, options: RenderOptions): readonly Line[] {
  const title = wrap([span(sanitiseLine(group.title), 'strong')], options.width, 2);
  return [[], ...title, ...group.changes.flatMap((change) => [[], ...driftLines(change, options)])];
}

function driftLines(change: Change, options: RenderOptions): readonly Line[] {
  const isGone = change.action === 'create';
  const groups = isGone
    ? [{ ...whoTook(change, options.verbose), fields: change.fields }]
    : groupByAuthor(change, options.verbose);
  const isTold = groups.some(({ who }) => who !== undefined);
  return [
    ...wrap(headOf(gone(change)), options.width, INDENT),
    ...(isGone || !isTold ? saidLines(change.reason, options) : []),
    ...groups.flatMap((group) => groupedLines(group, change, options)),
  ];
}

/** Who changed some fields, the edits that it may have been, and the fields. */
function groupedLines(
  { who, edits, fields }: Attributed,
  change: Change,
  options: RenderOptions,
): readonly Line[] {
  const margin = ' '.repeat(INDENT + 2);
  return [
    ...(who === undefined ? [] : saidLines(who, options)),
    ...edits.flatMap((edit) => wrap([span(margin + edit, 'dim')], options.width, INDENT + 6)),
    ...fieldLines(viewFields({ ...gone(change), fields }, 'drift', options.verbose), options),
  ];
}

function saidLines(text: string, { width }: RenderOptions): readonly Line[] {
  return wrap([span(' '.repeat(INDENT)), span(sanitiseLine(text), 'dim')], width, INDENT);
}

/** What is missing would be created again; as drift it is a resource that went. */
export function gone(change: Change): Change {
  return change.action === 'create' ? { ...change, action: 'delete' } : change;
}
