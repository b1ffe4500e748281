import type { Change, PlanDocument } from '../core/plan-document.ts';
import { headOf } from './change-lines.ts';
import { fieldLines, INDENT } from './field-lines.ts';
import { viewFields } from './fields.ts';
import { type Group, groupChanges } from './groups.ts';
import { type Line, paint, type RenderOptions, span, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { comparedCount, formatCount, headline } from './wording.ts';

/** Narrower than this no line holds an address and a value. */
const MIN_WIDTH = 40;

/**
 * What changed outside Callsheet, field by field: `before` is what should be, `after` what is live now.
 * Who changed it, when and from where stands in each change's reason, where it is known.
 */
export function renderDriftText(plan: PlanDocument, given: RenderOptions): string {
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
  const first = wrap([span(headline(plan), 'strong')], options.width, 2);
  const compared = `${formatCount(comparedCount(plan), 'resource')} compared.`;
  if (plan.changes.length === 0) return paint([...first, [span(compared, 'dim')]], options.color);
  const legend = 'Each line says what should be → what is live now.';
  return paint(
    [
      ...first,
      ...wrap([span(legend, 'dim')], options.width, 0),
      ...groupChanges(plan.changes, plan.organizations).flatMap((group) =>
        groupLines(group, options),
      ),
      [],
      ...wrap(
        [span(`${compared} \`callsheet plan\` shows what would put it back.`, 'dim')],
        options.width,
        2,
      ),
      ...wrap([span(`${headline(plan)}.`, 'strong')], options.width, 2),
    ],
    options.color,
  );
}

function groupLines(group: Group, options: RenderOptions): readonly Line[] {
  const title = wrap([span(sanitiseLine(group.title), 'strong')], options.width, 2);
  return [[], ...title, ...group.changes.flatMap((change) => [[], ...driftLines(change, options)])];
}

function driftLines(change: Change, options: RenderOptions): readonly Line[] {
  const why = span(sanitiseLine(change.reason), 'dim');
  return [
    ...wrap(headOf(gone(change)), options.width, INDENT),
    ...wrap([span(' '.repeat(INDENT)), why], options.width, INDENT),
    ...fieldLines(viewFields(gone(change), 'drift', options.verbose), options),
  ];
}

/** What is missing would be created again; as drift it is a resource that went. */
function gone(change: Change): Change {
  return change.action === 'create' ? { ...change, action: 'delete' } : change;
}
