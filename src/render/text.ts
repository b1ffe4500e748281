/**
 * `render/` turns documents into what people and programs read: the plan as terminal text, Markdown and
 * JSON, drift, the ledger of a run, and diagnostics. It decides nothing: whatever it says stands in the
 * document, so that all formats agree. It is pure; the width of the terminal and whether to colour come
 * in as arguments. Live text is untrusted, so every text passes `untrusted.ts` before it is laid out.
 *
 * This file: the plan as text.
 */
import type { Change, PlanDocument } from '../core/plan-document.ts';
import { ACTION_TONES, changeLines } from './change-lines.ts';
import { renderDriftText } from './drift.ts';
import { type Footer, footersOf } from './footers.ts';
import { type Group, groupChanges } from './groups.ts';
import { rehearsalFooters } from './rehearsal.ts';
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
import { padText, widestOf } from './width.ts';
import {
  comparedCount,
  forecastOf,
  formatCount,
  formatNumber,
  headline,
  isEmpty,
  movedEndpointLines,
  SYMBOLS,
} from './wording.ts';

/** Resources that are listed where they only say "this one too", unless everything is asked for. */
const MAX_ADOPTED = 5;
const MAX_ITEMS = 20;

/** Narrower than this no line holds an address and a value. */
const MIN_WIDTH = 40;

/** A plan as a terminal shows it: counts, changes by organization and kind, obstacles, notes, counts. */
export function renderPlanText(plan: PlanDocument, given: RenderOptions): string {
  if (plan.purpose === 'drift') return renderDriftText(plan, given);
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
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
  const named = like.slice(0, MOST_NAMED).map(({ address }) => sanitiseLine(address));
  const rest = like.length - named.length;
  const more = rest > 0 ? ` and ${formatNumber(rest)} more` : '';
  const text = `    ⋯ ${formatNumber(like.length)} more with the same fields: ${named.join(', ')}${more}; --verbose shows them`;
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
  const { width, verbose } = options;
  const isWhole = verbose || footer.isWhole === true;
  const shown = isWhole ? footer.items : footer.items.slice(0, MAX_ITEMS);
  const hidden = footer.items.length - shown.length;
  return [
    ...wrap([span(footer.title, WEIGHT_TONES[footer.weight])], width, 2),
    ...shown.flatMap(({ address, text }) => {
      const named = address === null ? [] : [span(`${sanitiseLine(address)}  `)];
      const line = [span('  '), ...named, span(sanitiseLine(text), 'dim')];
      return wrap(line, width, 4);
    }),
    ...(hidden > 0
      ? wrap([span(`  ⋯ ${formatNumber(hidden)} more; --verbose lists them`, 'dim')], width, 4)
      : []),
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
