import { unreachable } from '../core/errors.ts';
import type { Action, Change, PlanDocument, PlannedOperation } from '../core/plan-document.ts';
import { fieldLines, INDENT } from './field-lines.ts';
import { viewFields } from './fields.ts';
import { type Line, type RenderOptions, type Span, span, type Tone, wrap } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { cutText } from './width.ts';
import { SYMBOLS } from './wording.ts';

/** Columns of a name: it is live text, and may be of any length. */
const MAX_NAME = 80;

export const ACTION_TONES: { readonly [action in Action]: Tone } = {
  create: 'added',
  update: 'changed',
  replace: 'replaced',
  delete: 'removed',
  adopt: 'adopted',
  forget: 'dim',
  no_op: 'dim',
};

/**
 * One resource's part of a plan: what happens to it, why, where that is configured, and its fields. `isWhyTold`: why
 * is said below, of this and others.
 */
export function changeLines(
  change: Change,
  plan: PlanDocument,
  options: RenderOptions,
  isWhyTold: boolean,
): readonly Line[] {
  const views = viewFields(change, plan.purpose, options.verbose);
  const [reason, ...more] = whyOf(change, plan, options.verbose);
  const why = isWhyTold || reason === undefined ? more : [reason, ...more];
  const conflicts = views.some(({ sign }) => sign === '!');
  return [
    ...wrap(headOf(change), options.width, INDENT),
    ...why.flatMap((text) =>
      wrap([span(' '.repeat(INDENT)), span(text, whyTone(change))], options.width, INDENT),
    ),
    ...fieldLines(views, options),
    ...(conflicts ? conflictAdvice(change, plan, options) : []),
  ];
}

/** `~ agent.reception  Front desk  held  agents/reception.yaml:4` */
export function headOf(change: Change): Line {
  const { action, address, name, adopted, verdict, source } = change;
  const tone = ACTION_TONES[action];
  const tags: Span[] = [
    ...(adopted && action !== 'adopt' ? [span('  adopted', 'adopted')] : []),
    ...(verdict === 'ok'
      ? []
      : [span(`  ${verdict}`, verdict === 'refused' ? 'error' : 'warning')]),
  ];
  const shown = name === address ? [] : [span(`  ${cutText(sanitiseLine(name), MAX_NAME)}`)];
  return [
    span('  '),
    span(SYMBOLS[action], tone),
    span(' '),
    span(sanitiseLine(address), 'strong'),
    ...shown,
    ...tags,
    ...(source === null ? [] : [span(`  ${sanitiseLine(source)}`, 'dim')]),
  ];
}

function whyTone({ verdict }: Change): Tone {
  return verdict === 'refused' ? 'error' : verdict === 'ok' ? 'dim' : 'warning';
}

function whyOf(change: Change, plan: PlanDocument, verbose: boolean): readonly string[] {
  const { reason, id, action, operations } = change;
  const isHowTold = verbose || plan.purpose === 'rollback';
  return [
    sanitiseLine(reason),
    ...((verbose || action === 'delete' || action === 'replace') && id !== null
      ? [`id ${sanitiseLine(id)}`]
      : []),
    ...(isHowTold && operations.length > 0 ? [`how: ${howOf(change)}`] : []),
  ];
}

/** `revert to history entry 41 (model), then update (status): a revert does not restore status` */
export function howOf({ operations, undoing }: Pick<Change, 'operations' | 'undoing'>): string {
  const steps = operations.map(stepWords).join(', then ');
  return undoing === undefined ? steps : `${steps}: ${sanitiseLine(undoing.why)}`;
}

/** `revert to history entry 41 (model, system_prompt)` */
function stepWords({ step, fields, version }: PlannedOperation): string {
  const names = fields.length > 0 ? ` (${fields.map(sanitiseLine).join(', ')})` : '';
  switch (step) {
    case 'create':
    case 'delete':
      return step;
    case 'update':
      return `update${names}`;
    case 'revert':
      return `revert to history entry ${version ?? '?'}${names}`;
    case 'facet':
      return `set ${fields.map(sanitiseLine).join(', ')}`;
    case 'again':
      return 'ingest again';
    default:
      return unreachable(step);
  }
}

function conflictAdvice(
  { source }: Change,
  { options: allowed }: PlanDocument,
  options: RenderOptions,
): readonly Line[] {
  const where = source === null ? 'the configuration' : sanitiseLine(source);
  const text = allowed.accept_conflicts
    ? 'What is live is overwritten, as --accept-conflicts allows.'
    : `To keep what is live, put it into ${where}. To overwrite it, plan with --accept-conflicts.`;
  return wrap([span(' '.repeat(INDENT)), span(text, 'warning')], options.width, INDENT);
}
