import { labelOf } from '../core/address.ts';
import { type Action, type Change, isEdited, type PlanDocument } from '../core/plan-document.ts';
import { countEach } from '../core/value.ts';
import { type Attributed, groupByAuthor } from './attribution.ts';
import { fieldLines, INDENT } from './field-lines.ts';
import { viewFields } from './fields.ts';
import { type Footer, rehearsalFooters } from './footers.ts';
import { type AlikeGroup, buildOverview, type FirstLook } from './overview.ts';
import {
  belowLines,
  cutLine,
  cutText,
  itemLines,
  type Line,
  listLines,
  liveSpan,
  measureWidest,
  moreLines,
  padText,
  paint,
  type RenderOptions,
  type Span,
  spaced,
  span,
  type Tone,
  wholeSpan,
  wrap,
} from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import {
  comparedCount,
  conflictAdvice,
  describeHow,
  driftAdvice,
  formatCount,
  formatFirst,
  formatForecast,
  formatNumber,
  gone,
  groupChanges,
  headline,
  isEmpty,
  movedEndpointLines,
  namesRelyOn,
  reliesOn,
  SYMBOLS,
  tally,
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

/**
 * A plan as a terminal shows it: counts, what to look at first, what changes alike in many resources, the changes by
 * organization and kind, notes, and the counts again. It is as long as two screens unless everything is asked for.
 */
export function renderPlanText(plan: PlanDocument, given: RenderOptions): string {
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
  if (plan.purpose === 'drift') return driftText(plan, options);
  const overview = buildOverview(plan, options.verbose);
  const reasons = options.verbose ? new Set<string>() : sharedReasons(plan);
  const left = overview.changes.filter(({ change }) => isShown(change, plan, options));
  const lefts = new Map(left.map((one) => [one.change, one]));
  const blockOf = (change: Change) => {
    const { shared = 0, isTold: isAbove = false } = lefts.get(change) ?? {};
    const isTold = isAbove || (change.verdict !== 'ok' && reasons.has(change.reason));
    return changeLines(change, plan, options, { isTold, shared });
  };
  const parts = [
    ...overview.above.map((footer) => footerLines(footer, options)),
    ...(overview.first.length > 0 ? [firstLines(overview.first, options)] : []),
    ...overview.groups.map((group) => alikeLines(group, plan, options)),
  ];
  const room = roomBeside(parts.flat().length, left.length, plan);
  const body = [
    ...parts,
    ...changeParts([...lefts.keys()], plan, { options, blockOf, ...room }),
    ...overview.below.map((footer) => footerLines(footer, options)),
  ].flatMap((part) => [[], ...part]);
  const head = wrap([span(headline(plan), 'strong')], options.width, 2);
  const last = isEmpty(plan)
    ? comparedLines(plan, options)
    : closingLines(plan, options, body.length > MOST_LINES / 2);
  return paint(
    [
      ...head,
      ...body,
      ...(last.length > 0 && (body.length > 0 || !isEmpty(plan)) ? [[]] : []),
      ...last,
    ],
    options.color,
  );
}

/** Lines that changes take before the rest of them is shortened: two screens, with what stands above and below. */
const MOST_LINES = 100;
/** Lines that are left for them, however much stands above. */
const FEWEST_LINES = 16;

/** Of what a rollback puts back, which was there before, one example says enough. */
function roomBeside(
  lines: number,
  changes: number,
  { purpose }: PlanDocument,
): Pick<Layout, 'room' | 'listed'> {
  if (purpose === 'rollback' && changes > 5) return { room: 1, listed: 0 };
  return { room: Math.max(MOST_LINES - lines, FEWEST_LINES), listed: MAX_LISTED };
}

function firstLines(first: readonly FirstLook[], { width }: RenderOptions): readonly Line[] {
  return [
    [span('Look at first', 'strong')],
    ...first.flatMap(({ type, symbol, subject, text }) => {
      const head: Line = [span(`  ${symbol} `, FIRST_TONES[type]), span(subject)];
      const line = [...head, span(text === '' ? '' : `  ${text}`, 'dim')];
      // Whose edit it is has to be read.
      return type === 'undone' ? wrap(line, width, 6) : [cutLine(line, width)];
    }),
  ];
}

const FIRST_TONES: { readonly [type in FirstLook['type']]: Tone } = {
  delete: 'removed',
  replace: 'replaced',
  undone: 'warning',
  prompt: 'changed',
};

/** What changes alike in many resources: once, with the file that says so and the addresses. */
function alikeLines(
  { title, action, addresses, sources, example }: AlikeGroup,
  plan: PlanDocument,
  options: RenderOptions,
): readonly Line[] {
  const named = formatFirst(addresses, MOST_NAMED);
  return [
    ...wrap(
      [
        span(SYMBOLS[action], ACTION_TONES[action]),
        span(` ${title}`, 'strong'),
        ...(sources.length === 0 ? [] : [span(`  ${formatFirst(sources, MOST_NAMED)}`, 'dim')]),
      ],
      options.width,
      INDENT,
    ),
    ...belowLines(named, options, 'dim'),
    ...fieldLines(viewFields(example, plan, false), options),
  ];
}

/** What came of rehearsing a plan, alone. */
export function renderRehearsalText(plan: PlanDocument, given: RenderOptions): string {
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
  const blocks = rehearsalFooters(plan).map((one) => footerLines(one, options));
  return paint(spaced(blocks), options.color);
}

/** When nothing is to be done, what was merely found is counted. */
function isShown({ action }: Change, plan: PlanDocument, { verbose }: RenderOptions): boolean {
  return verbose || (action === 'adopt' ? !isEmpty(plan) : action !== 'no_op');
}

/** The same reason beside each of more changes than this hides what differs. */
const MOST_ALIKE = 3;

/** Why many changes are not made, where it is the same of all of them: the plan says it once, below. */
function sharedReasons({ changes }: PlanDocument): ReadonlySet<string> {
  const unmade = changes.filter(({ verdict }) => verdict !== 'ok');
  const counts = countEach(unmade.map(({ reason }) => reason));
  return new Set([...counts].flatMap(([reason, count]) => (count > MOST_ALIKE ? [reason] : [])));
}

type Layout = {
  readonly options: RenderOptions;
  readonly blockOf: (change: Change) => readonly Line[];
  /** Lines that there are for all changes together, unless everything is asked for. */
  readonly room: number;
  /** Changes that take a line each once there is no more room. */
  readonly listed: number;
};

/** The changes by organization and kind. Where there are too many to read, the plainest of them take one line, or are counted. */
function changeParts(
  changes: readonly Change[],
  plan: PlanDocument,
  { options, blockOf, room, listed: mostListed }: Layout,
): readonly (readonly Line[])[] {
  const seen = plan.purpose === 'drift' ? gone : (change: Change) => change;
  const inOrder = changes
    .filter(({ action }) => action !== 'adopt')
    .toSorted((a, b) => getWeight(seen(a)) - getWeight(seen(b)));
  const blocks = new Map<Change, readonly Line[]>();
  const lines = new Map<Change, readonly Line[]>();
  let used = 0;
  for (const change of inOrder) {
    if (used < room || options.verbose) {
      const block = blockOf(change);
      blocks.set(change, block);
      used += block.length + 1;
    } else if (lines.size < mostListed) lines.set(change, shortLines(seen(change), options));
  }
  return groupChanges(changes, plan.organizations).map(({ title, changes: own }) => {
    const adopted = own.filter(({ action }) => action === 'adopt');
    const others = own.filter(({ action }) => action !== 'adopt');
    const listed = others.flatMap((change) => lines.get(change) ?? []);
    const hidden = others.filter((change) => !blocks.has(change) && !lines.has(change));
    return [
      ...wrap([span(title, 'strong')], options.width, 2),
      ...adoptedLines(adopted, options),
      ...others.flatMap((change) => {
        const block = blocks.get(change);
        return block === undefined ? [] : [[], ...block];
      }),
      ...(listed.length > 0 ? [[], ...listed] : []),
      ...hiddenLines(hidden, plan, options),
    ];
  });
}

/** Changes that take one line each where there are too many to read. */
const MAX_LISTED = 10;

/** What is read first, should not everything be shown, is light: what is refused, lost or undone, then texts. */
function getWeight({ verdict, action, fields, kind }: Change): number {
  if (verdict !== 'ok') return 0;
  if (action === 'delete' || action === 'replace') return 1;
  if (fields.some(isEdited)) return 2;
  if (action === 'forget') return 3;
  return action === 'update' && kind === 'agent' ? 4 : 5;
}

/** `~ agent.reception  Front desk  system_prompt, voice  agents/reception.yaml:4` */
function shortLines(change: Change, { width }: RenderOptions): readonly Line[] {
  const paths = change.action === 'update' ? change.fields.map(({ path }) => path) : [];
  const fields = paths.length === 0 ? [] : [span(`  ${formatFirst(paths, 3)}`, 'dim')];
  return [cutLine([...headLine({ ...change, source: null }), ...fields], width)];
}

function hiddenLines(
  hidden: readonly Change[],
  { purpose }: PlanDocument,
  { width }: RenderOptions,
): readonly Line[] {
  if (hidden.length === 0) return [];
  const byAction = Map.groupBy(hidden, ({ action }) => action);
  const todo = tally([...byAction].map(([action, own]) => [own.length, `to ${action}`]));
  const counts = purpose === 'drift' ? formatNumber(hidden.length) : todo;
  return wrap([span(`  ⋯ ${counts} more; --verbose shows them`, 'dim')], width, 4);
}

function adoptedLines(adopted: readonly Change[], options: RenderOptions): readonly Line[] {
  if (adopted.length === 0) return [];
  const shown = options.verbose ? adopted : adopted.slice(0, MAX_ADOPTED);
  const column = measureWidest(shown.map(({ address }) => sanitiseLine(address)));
  return [
    [],
    ...shown.map((change) => adoptedLine(change, column, options)),
    ...moreLines(adopted.length - shown.length, options, 'more adopted'),
  ];
}

/** Addresses that are named of changes like another. */
const MOST_NAMED = 4;

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
    span(`  ${name}`),
    span(`  ${reason}`, 'dim'),
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
      ({ address, name, text }) =>
        itemLines(address === null ? '' : `${labelOf(address, name)}  `, text, width),
      most,
      options,
    ),
    ...(footer.advice === null ? [] : wrap([span('  '), span(footer.advice)], width, 2)),
  ];
}

/** What carrying the plan out takes, and the counts again where the first ones have run by. */
function closingLines(
  plan: PlanDocument,
  options: RenderOptions,
  isLong: boolean,
): readonly Line[] {
  const forecast = formatForecast(plan);
  const dim = (text: string) => wrap([span(text, 'dim')], options.width, 2);
  // What nobody can act on is left to those who ask; what was moved is not.
  const { assumptions } = plan;
  const isTold = options.verbose && assumptions.length > 0;
  return [
    ...movedEndpointLines(plan).flatMap((line) => wrap([span(line, 'strong')], options.width, 2)),
    ...(isTold ? dim(reliesOn(assumptions)) : []),
    ...(forecast === '' ? [] : dim(forecast)),
    ...(isLong ? wrap([span(`${headline(plan)}.`, 'strong')], options.width, 2) : []),
  ];
}

function comparedLines(plan: PlanDocument, options: RenderOptions): readonly Line[] {
  const compared = `${formatCount(comparedCount(plan), 'resource')} compared`;
  const then =
    plan.purpose === 'restore' ? 'this restore records them' : 'the next apply remembers them';
  const adopted =
    plan.summary.adopt > 0 ? `, ${formatNumber(plan.summary.adopt)} of them adopted: ${then}` : '';
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
 * One resource's part of a plan: what happens to it, why, where that is configured, and its fields. `isTold`: why
 * is said elsewhere. `shared`: how many more of its fields stand above.
 */
function changeLines(
  change: Change,
  plan: PlanDocument,
  options: RenderOptions,
  { isTold, shared }: { readonly isTold: boolean; readonly shared: number },
): readonly Line[] {
  const views = viewFields(change, plan, options.verbose);
  const [reason, ...more] = listReasons(change, plan, options.verbose);
  const why = isTold || reason === undefined ? more : [reason, ...more];
  const advice = conflictAdvice(change, plan);
  return [
    ...wrap(headLine(change), options.width, INDENT),
    ...why.flatMap((text) => belowLines(text, options, whyTone(change))),
    ...fieldLines(views, options),
    ...(shared === 0
      ? []
      : [[span(`    ⋯ ${formatCount(shared, 'field')} shown above, the same in others`, 'dim')]]),
    ...(advice === undefined ? [] : belowLines(advice, options, 'warning')),
  ];
}

/** `~ agent.reception  Front desk  held  agents/reception.yaml:4` */
function headLine(change: Change): Line {
  const { action, address, name, adopted, verdict, source } = change;
  const tone = ACTION_TONES[action];
  const tags: Span[] = [
    ...(adopted && action !== 'adopt' ? [span('  adopted', 'adopted')] : []),
    ...(verdict === 'ok'
      ? []
      : [span(`  ${verdict}`, verdict === 'refused' ? 'error' : 'warning')]),
  ];
  const shown = name === address ? [] : [liveSpan(`  ${cutText(sanitiseLine(name), MAX_NAME)}`)];
  return [
    span('  '),
    span(SYMBOLS[action], tone),
    span(' '),
    wholeSpan(address, 'strong'),
    ...shown,
    ...tags,
    ...(source === null ? [] : [span('  '), wholeSpan(source, 'dim')]),
  ];
}

function whyTone({ verdict }: Change): Tone {
  return verdict === 'refused' ? 'error' : verdict === 'ok' ? 'dim' : 'warning';
}

function listReasons(change: Change, plan: PlanDocument, verbose: boolean): readonly string[] {
  const { reason, id, action, operations, fields, verdict, adopted, moved_from: from } = change;
  const isHowTold = verbose || plan.purpose === 'rollback';
  // Its fields say so.
  const isPlain =
    action === 'update' &&
    !adopted &&
    from === undefined &&
    fields.length > 0 &&
    fields.every(({ cause }) => cause === 'changed');
  return [
    ...(isPlain && verdict === 'ok' && !verbose ? [] : [reason]),
    ...((verbose || action === 'delete' || action === 'replace') && id !== null
      ? [`id ${id}`]
      : []),
    ...(isHowTold && operations.length > 0 ? [`how: ${describeHow(change)}`] : []),
  ];
}

/**
 * What changed outside Callsheet, field by field: `before` is what should be, `after` what is live now. Above
 * the fields stands who changed them, when and from where, or why nobody can tell.
 */
function driftText(plan: PlanDocument, options: RenderOptions): string {
  const first = wrap([span(headline(plan), 'strong')], options.width, 2);
  const compared = `${formatCount(comparedCount(plan), 'resource')} compared.`;
  if (plan.changes.length === 0) return paint([...first, [span(compared, 'dim')]], options.color);
  const relied = options.verbose ? namesRelyOn(plan) : undefined;
  const blockOf = (change: Change) => driftLines(change, plan, options);
  const room = { room: MOST_LINES, listed: MAX_LISTED };
  const parts = changeParts(plan.changes, plan, { options, blockOf, ...room });
  const legend = 'Each line shows the expected value → the live value.';
  return paint(
    [
      ...first,
      ...wrap([span(legend, 'dim')], options.width, 0),
      ...parts.flatMap((part) => [[], ...part]),
      [],
      [span(compared, 'dim')],
      ...driftAdvice(plan).flatMap((line) => wrap([span(line, 'dim')], options.width, 2)),
      ...(relied === undefined ? [] : wrap([span(relied, 'dim')], options.width, 2)),
    ],
    options.color,
  );
}

function driftLines(change: Change, plan: PlanDocument, options: RenderOptions): readonly Line[] {
  // The resource that Callsheet wrote is gone, whether or not another one has its place.
  const isGone = change.missing_id !== null;
  const groups = groupByAuthor(change, options.verbose);
  const isTold = groups.some(({ who }) => who !== undefined);
  return [
    ...wrap(headLine(gone(change)), options.width, INDENT),
    ...(isGone || !isTold ? belowLines(change.reason, options, 'dim') : []),
    ...groups.flatMap((group) => groupedLines(group, change, plan, options)),
  ];
}

/** Who changed some fields, the edits that it may have been, and the fields. */
function groupedLines(
  { who, edits, fields }: Attributed,
  change: Change,
  plan: PlanDocument,
  options: RenderOptions,
): readonly Line[] {
  const margin = ' '.repeat(INDENT + 2);
  return [
    ...(who === undefined ? [] : belowLines(who, options, 'dim')),
    ...edits.flatMap((edit) => wrap([span(margin + edit, 'dim')], options.width, INDENT + 6)),
    ...fieldLines(viewFields({ ...gone(change), fields }, plan, options.verbose), options),
  ];
}
