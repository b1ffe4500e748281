import type { Action, Change, PlanDocument } from '../core/plan-document.ts';
import { type Attributed, groupByAuthor } from './attribution.ts';
import { fieldLines, INDENT } from './field-lines.ts';
import { viewFields } from './fields.ts';
import { type Footer, footersOf, rehearsalFooters } from './footers.ts';
import {
  cutLine,
  cutText,
  itemLines,
  type Line,
  listLines,
  padText,
  paint,
  type RenderOptions,
  type Span,
  span,
  type Tone,
  widestOf,
  wrap,
} from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import {
  AFTER_DRIFT,
  comparedCount,
  firstOf,
  forecastOf,
  formatCount,
  formatNumber,
  type Group,
  gone,
  groupChanges,
  headline,
  howOf,
  isEmpty,
  movedEndpointLines,
  namesRelyOn,
  SYMBOLS,
} from './wording.ts';

/**
 * `render/` turns documents into what people and programs read: the plan as terminal text, Markdown and
 * JSON, drift, the ledger of a run, and diagnostics. It decides nothing: whatever it says stands in the
 * document, so that all formats agree. It is pure; the width of the terminal and whether to colour come
 * in as arguments. Live text is untrusted, so every text passes `untrusted.ts` before it is laid out.
 *
 * This file: the plan as text.
 */

/** Resources that are listed where they only say "this one too", unless everything is asked for. */
const MAX_ADOPTED = 5;
const MAX_ITEMS = 20;

/** Narrower than this no line holds an address and a value. */
const MIN_WIDTH = 40;

/** A plan as a terminal shows it: counts, changes by organization and kind, obstacles, notes, counts. */
export function renderPlanText(plan: PlanDocument, given: RenderOptions): string {
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
  if (plan.purpose === 'drift') return driftText(plan, options);
  const groups = groupChanges(
    plan.changes.filter((change) => isShown(change, plan, options)),
    plan.organizations,
  );
  const shared = options.verbose ? new Set<string>() : sharedReasons(plan);
  const parts = [
    ...groups.map((group) => groupLines(group, plan, options, shared)),
    ...footersOf(plan).map((footer) => footerLines(footer, options)),
  ];
  const first = wrap([span(sanitiseLine(headline(plan)), 'strong')], options.width, 2);
  const last = isEmpty(plan) ? comparedLines(plan, options) : closingLines(plan, options);
  const body = parts.flatMap((part) => [[], ...part]);
  return paint(
    [...first, ...body, ...(body.length > 0 || !isEmpty(plan) ? [[]] : []), ...last],
    options.color,
  );
}

/** What came of rehearsing a plan, alone. */
export function renderRehearsalText(plan: PlanDocument, given: RenderOptions): string {
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
  const [first = [], ...rest] = rehearsalFooters(plan).map((one) => footerLines(one, options));
  return paint([...first, ...rest.flatMap((lines) => [[], ...lines])], options.color);
}

/** When nothing is to be done, what was merely found is counted. */
function isShown({ action }: Change, plan: PlanDocument, { verbose }: RenderOptions): boolean {
  return verbose || (action === 'adopt' ? !isEmpty(plan) : action !== 'no_op');
}

/** The same reason beside each of more changes than this hides what differs. */
const MOST_ALIKE = 3;

/** Why many changes are not made, where it is the same of all of them: the plan says it once, below. */
function sharedReasons({ changes }: PlanDocument): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const { verdict, reason } of changes) {
    if (verdict !== 'ok') counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([reason, count]) => (count > MOST_ALIKE ? [reason] : [])));
}

function groupLines(
  group: Group,
  plan: PlanDocument,
  options: RenderOptions,
  shared: ReadonlySet<string>,
): readonly Line[] {
  const adopted = group.changes.filter(({ action }) => action === 'adopt');
  const others = group.changes.filter(({ action }) => action !== 'adopt');
  const shown = options.verbose ? adopted : adopted.slice(0, MAX_ADOPTED);
  const hidden = adopted.length - shown.length;
  const column = widestOf(shown.map(({ address }) => sanitiseLine(address)));
  const found = [
    ...shown.map((change) => adoptedLine(change, column, options)),
    ...(hidden > 0
      ? wrap(
          [span(`    ⋯ ${formatNumber(hidden)} more adopted; --verbose lists them`, 'dim')],
          options.width,
          4,
        )
      : []),
  ];
  const blocks = [
    ...(found.length > 0 ? [found] : []),
    ...alikeIn(others, plan, options).flatMap(({ change, like }) => {
      const isShared = change.verdict !== 'ok' && shared.has(change.reason);
      const lines = changeLines(change, plan, options, isShared);
      return like.length === 0 ? [lines] : [lines, likeLines(like, options)];
    }),
  ];
  const title = wrap([span(sanitiseLine(group.title), 'strong')], options.width, 2);
  return [...title, ...blocks.flatMap((block) => [[], ...block])];
}

/**
 * What puts a run of many resources back is the same for most of them: of more than a few changes of the same fields
 * in the same way the first one is shown, unless everything is asked for. Any other plan is read change by change.
 */
function alikeIn(
  changes: readonly Change[],
  { purpose }: PlanDocument,
  { verbose }: RenderOptions,
): readonly { readonly change: Change; readonly like: readonly Change[] }[] {
  const groups = Map.groupBy(changes, (change) => {
    const { address, action, verdict, fields, undoing } = change;
    const alike = [action, fields.map(({ path, cause }) => [path, cause]), undoing?.way];
    const isAlone = purpose !== 'rollback' || verdict !== 'ok' || verbose;
    return isAlone ? address : JSON.stringify(alike);
  });
  return [...groups.values()].flatMap((all) => {
    const [change, ...like] = all;
    if (change === undefined) return [];
    return like.length < MOST_ALIKE
      ? all.map((one) => ({ change: one, like: [] }))
      : [{ change, like }];
  });
}

/** Addresses that are named of changes like another. */
const MOST_NAMED = 4;

function likeLines(like: readonly Change[], { width }: RenderOptions): readonly Line[] {
  const named = firstOf(
    like.map(({ address }) => sanitiseLine(address)),
    MOST_NAMED,
  );
  const text = `    ⋯ ${formatNumber(like.length)} more with the same fields: ${named}; --verbose shows them`;
  return wrap([span(text, 'dim')], width, 6);
}

/** `= agent.reception  Front desk  found by its name`: nothing is written, so one line will do. */
function adoptedLine(
  { address, name, reason }: Change,
  column: number,
  options: RenderOptions,
): Line {
  const line = [
    span('  '),
    span(SYMBOLS.adopt, ACTION_TONES.adopt),
    span(` ${padText(sanitiseLine(address), column)}`, 'strong'),
    span(`  ${sanitiseLine(name)}`),
    span(`  ${sanitiseLine(reason)}`, 'dim'),
  ];
  return cutLine(line, options.width);
}

const WEIGHT_TONES: { readonly [weight in Footer['weight']]: Tone } = {
  error: 'error',
  warning: 'warning',
  info: 'strong',
};

function footerLines(footer: Footer, options: RenderOptions): readonly Line[] {
  const { width } = options;
  const most = footer.isWhole === true ? Number.POSITIVE_INFINITY : MAX_ITEMS;
  return [
    ...wrap([span(footer.title, WEIGHT_TONES[footer.weight])], width, 2),
    ...listLines(
      footer.items,
      ({ address, text }) => itemLines(address === null ? '' : `${address}  `, text, width),
      most,
      options,
    ),
    ...(footer.advice === null ? [] : wrap([span('  '), span(footer.advice)], width, 2)),
  ];
}

/** What carrying the plan out takes, and the counts again, where the eye is when the text has run by. */
function closingLines(plan: PlanDocument, options: RenderOptions): readonly Line[] {
  const { reads, writes } = plan.requests;
  const dim = (text: string) => wrap([span(text, 'dim')], options.width, 2);
  const assumed = plan.assumptions.map(sanitiseLine).join(', ');
  return [
    ...movedEndpointLines(plan).flatMap((line) =>
      wrap([span(sanitiseLine(line), 'strong')], options.width, 2),
    ),
    ...(assumed === ''
      ? []
      : dim(`Relies on assumptions (see \`callsheet assumptions\`): ${assumed}.`)),
    ...(reads + writes > 0 ? dim(forecastOf(plan)) : []),
    ...wrap([span(`${sanitiseLine(headline(plan))}.`, 'strong')], options.width, 2),
  ];
}

function comparedLines(plan: PlanDocument, options: RenderOptions): readonly Line[] {
  const compared = `${formatCount(comparedCount(plan), 'resource')} compared`;
  const adopted =
    plan.summary.adopt > 0
      ? `, ${formatNumber(plan.summary.adopt)} of them adopted: the next apply remembers them`
      : '';
  return wrap([span(`${compared}${adopted}.`, 'dim')], options.width, 0);
}

/** Columns of a name: it is live text, and may be of any length. */
const MAX_NAME = 80;

const ACTION_TONES: { readonly [action in Action]: Tone } = {
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
function changeLines(
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
function headOf(change: Change): Line {
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

/**
 * What changed outside Callsheet, field by field: `before` is what should be, `after` what is live now. Above
 * the fields stands who changed them, when and from where, or why nobody can tell.
 */
function driftText(plan: PlanDocument, options: RenderOptions): string {
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
        driftGroup(group, options),
      ),
      [],
      [span(compared, 'dim')],
      ...wrap([span(AFTER_DRIFT, 'dim')], options.width, 2),
      ...(relied === undefined ? [] : wrap([span(relied, 'dim')], options.width, 2)),
      ...wrap([span(`${headline(plan)}.`, 'strong')], options.width, 2),
    ],
    options.color,
  );
}

function driftGroup(group: Group, options: RenderOptions): readonly Line[] {
  const title = wrap([span(sanitiseLine(group.title), 'strong')], options.width, 2);
  return [[], ...title, ...group.changes.flatMap((change) => [[], ...driftLines(change, options)])];
}

function driftLines(change: Change, options: RenderOptions): readonly Line[] {
  const isGone = change.action === 'create';
  const groups = groupByAuthor(change, options.verbose);
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
