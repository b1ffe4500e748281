import { formatLabel } from '../core/address.ts';
import {
  type Action,
  type Change,
  isAbsent,
  isEdited,
  type PlanDocument,
} from '../core/plan-document.ts';
import { countEach } from '../core/value.ts';
import { addressTexts } from './addresses.ts';
import { type Attributed, groupByAuthor } from './attribution.ts';
import { type ColumnView, columnTitles, type EditView, ruleText } from './columns.ts';
import { fieldLines, INDENT } from './field-lines.ts';
import { viewFields } from './fields.ts';
import { appliedFooters, driftFooters, type Footer, rehearsalFooters } from './footers.ts';
import {
  type AloneItem,
  buildOverview,
  cutToFit,
  type GroupItem,
  type Item,
  type Overview,
} from './overview.ts';
import type { Detail } from './prose/view.ts';
import {
  belowLines,
  besideLines,
  cutLine,
  cutText,
  itemLines,
  type Line,
  lineWidth,
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
  textWidth,
  wholeSpan,
  wrap,
} from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import { inlineValue } from './value-text.ts';
import {
  comparedCount,
  countKind,
  countsBelow,
  describeHow,
  describeLoss,
  driftAdvice,
  fieldsOnBase,
  formatCalls,
  formatCount,
  formatFirst,
  formatForecast,
  formatGroup,
  formatNumber,
  formatPlanPlace,
  gone,
  headline,
  isEmpty,
  movedEndpointLines,
  namesRelyOn,
  notesAsBefore,
  reliesOn,
  SYMBOLS,
  titleOnBase,
  UNSEEN_SIGN,
  varyingMessage,
} from './wording.ts';

/**
 * `render/` turns documents into what people and programs read: the plan as terminal text, Markdown and
 * JSON, drift, the ledger of a run, and diagnostics. It decides nothing: whatever it says stands in the
 * document, so that all formats agree. It is pure; the width of the terminal and whether to colour come
 * in as arguments. Live text is untrusted, so every text passes `untrusted.ts` before it is laid out.
 *
 * This file: the plan as text.
 */

/** Resources that are recorded alone, and listed unless everything is asked for. */
const MAX_ADOPTED = 5;
const MAX_ITEMS = 20;

/** Narrower than this no line holds an address and a value. */
const MIN_WIDTH = 40;

/** A plan on a terminal, and how many of its changes are shown in brief. */
export type PlanText = { readonly text: string; readonly folded: number };

/** A plan as a terminal shows it; see `reviewPlan`. */
export function renderPlanText(plan: PlanDocument, options: RenderOptions): string {
  return reviewPlan(plan, options).text;
}

/**
 * A plan as a terminal shows it: counts, what is read one by one, what changes alike in many resources, notes, and the
 * counts again. Every address and the edited words are there, whatever its size. What stands around them is left out,
 * of the largest groups first, where all of it takes more than two screens, unless everything is asked for.
 */
export function reviewPlan(plan: PlanDocument, given: RenderOptions): PlanText {
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
  if (plan.purpose === 'drift') return { text: driftText(plan, options), folded: 0 };
  const overview = buildOverview(plan, options.verbose);
  const { above, alone, groups, adopted, already, below } = overview;
  const reasons = options.verbose ? new Set<string>() : sharedReasons(plan);
  const owners = new Set(plan.changes.map(({ organization_id: id }) => id));
  const layout: Layout = { plan, options, reasons, isOwnerShown: owners.size > 1 };
  const drawn = drawItems([...alone, ...groups], (item, detail) => itemBlock(item, detail, layout));
  const brief = options.verbose
    ? new Set<Item>()
    : cutToFit(overview, { room: MOST_LINES }, drawn.length);
  const drawBlock = (item: Item) => drawn.draw(item, brief.has(item) ? 'brief' : 'whole');
  const isLong =
    [...alone, ...groups].reduce((sum, item) => sum + drawBlock(item).length, 0) > MOST_LINES;
  const isMixed = alone.length > 0 && groups.length > 0;
  const title = (text: string): (readonly Line[])[] => (isMixed ? [[[span(text, 'strong')]]] : []);
  const body = [
    ...above.map((footer) => footerLines(footer, options)),
    ...title('Read one by one'),
    ...(isLong ? packed(alone.map(drawBlock)) : alone.map(drawBlock)),
    adoptedLines(adopted, options),
    ...title('Read once'),
    ...groups.map(drawBlock),
    ...alreadyBlocks(already, layout),
    ...below.map((footer) => footerLines(footer, options)),
  ]
    .filter((part) => part.length > 0)
    .flatMap((part) => [[], ...part]);
  const head = [
    ...wrap([span(headline(plan), 'strong')], options.width, 2),
    ...aboutLines(plan, options),
  ];
  const last = isEmpty(plan)
    ? comparedLines(plan, options)
    : closingLines(plan, options, body.length > MOST_LINES / 2);
  const lines = [
    ...head,
    ...body,
    ...(last.length > 0 && (body.length > 0 || !isEmpty(plan)) ? [[]] : []),
    ...last,
  ];
  return { text: paint(lines, options.color), folded: countChanges(brief) };
}

/** The counts of a plan, and at the right where it is from. */
function aboutLines(plan: PlanDocument, { width }: RenderOptions): readonly Line[] {
  if (isEmpty(plan)) return [];
  return besideLines(span(countsBelow(plan)), span(formatPlanPlace(plan)), width);
}

/**
 * Lists the changes that the base has: a line each, with the names of the fields and who edited what it undoes. With
 * `--verbose` they are shown whole.
 */
function alreadyBlocks(already: Overview['already'], layout: Layout): readonly (readonly Line[])[] {
  if (already === undefined) return [];
  const { plan, options } = layout;
  const { alone, groups } = already;
  const all = titleOnBase(plan);
  const more = options.verbose ? '' : ', a line each. To see them whole: --verbose';
  const title = wrap([span(`${all}${more}`, 'strong')], options.width, 2);
  const items = [...alone, ...groups];
  const blocks = options.verbose
    ? items.map((item) => itemBlock(item, 'whole', layout))
    : packed(items.map((item) => shortBlock(item, layout)));
  return [title, ...blocks];
}

function shortBlock(item: Item, layout: Layout): readonly Line[] {
  const { options, plan, isOwnerShown } = layout;
  if (item.type === 'group')
    return groupLines(
      { ...item, columns: [], example: { ...item.example, fields: [] } },
      'brief',
      layout,
    );
  const { change } = item;
  const owner = isOwnerShown ? plan.organizations[change.organization_id ?? ''] : undefined;
  const edited = change.fields.filter(isEdited);
  const named = change.action === 'update' ? change.fields : edited;
  const paths = named.map(({ path }) => path);
  return [
    ...wrap(headLine(change, owner), options.width, INDENT),
    ...(paths.length === 0 ? [] : belowLines(formatFirst(paths, MOST_NAMED), options)),
    // An edit by hand ends with it, whosever change it is.
    ...(edited.length === 0 ? [] : belowLines(change.reason, options)),
  ];
}

/** Blocks of a few lines below each other without empty lines between them, so that a long list is not twice as long. */
function packed(blocks: readonly (readonly Line[])[]): readonly (readonly Line[])[] {
  const parts: Line[][] = [];
  let isOpen = false;
  for (const block of blocks) {
    const isShort = block.length <= 2;
    const last = parts.at(-1);
    if (isOpen && isShort && last !== undefined) last.push(...block);
    else parts.push([...block]);
    isOpen = isShort;
  }
  return parts;
}

/** Lines that changes take before what stands around their edits is left out: two screens. */
const MOST_LINES = 100;

type Layout = {
  readonly plan: PlanDocument;
  readonly options: RenderOptions;
  /** Reasons that stand below the changes. */
  readonly reasons: ReadonlySet<string>;
  readonly isOwnerShown: boolean;
};

/** Draws each item once in each detail. */
function drawItems<T extends Item>(
  items: readonly T[],
  draw: (item: T, detail: Detail) => readonly Line[],
) {
  const drawn = new Map<Item, { [detail in Detail]?: readonly Line[] }>(
    items.map((item) => [item, {}]),
  );
  const drawOnce = (item: Item, detail: Detail): readonly Line[] => {
    const known = drawn.get(item);
    if (known === undefined) return [];
    known[detail] ??= draw(item as T, detail);
    return known[detail];
  };
  return {
    draw: drawOnce,
    length: (item: Item, detail: Detail) => drawOnce(item, detail).length + 1,
  };
}

function countChanges(items: Iterable<Item>): number {
  return [...items].reduce(
    (sum, item) => sum + (item.type === 'group' ? item.addresses.length : 1),
    0,
  );
}

function itemBlock(item: Item, detail: Detail, layout: Layout): readonly Line[] {
  return item.type === 'group'
    ? groupLines(item, detail, layout)
    : changeLines(item, detail, layout);
}

/** Shows a change that is alike in many resources once, with the file that says so and all addresses. */
function groupLines(item: GroupItem, detail: Detail, { plan, options }: Layout): readonly Line[] {
  const { kind, action, verdict, addresses, names, sources, example, reasons, varying } = item;
  const { columns, blocks } = item;
  const from = sources.length === 0 ? [] : [span(`  ${formatFirst(sources, MOST_NAMED)}`)];
  const judged = verdict === 'ok' ? [] : verdictSpans(verdict);
  const isGone = action === 'delete' || action === 'forget';
  const varyingText = varyingMessage(varying);
  const calls = formatCalls(item);
  return [
    ...wrap(
      [
        span('  '),
        span(SYMBOLS[action], ACTION_TONES[action]),
        span(
          ` ${columns.length > 0 ? countKind(addresses.length, kind) : formatGroup(kind, action, addresses.length, example.fields.length > 0)}`,
          'strong',
        ),
        ...(calls === undefined ? [] : [span(`  ${calls}`)]),
        ...judged,
        ...from,
        ...(columns.length > 0 ? [span(`  ${columnTitles(columns).join(', ')}`)] : []),
      ],
      options.width,
      INDENT,
    ),
    ...reasons.flatMap((reason) => belowLines(reason, options)),
    ...(varyingText === undefined ? [] : belowLines(varyingText, options)),
    ...columns.flatMap((column) => columnLines(column, options, detail)),
    ...(columns.length > 0 ? belowLines(`1 row in full: ${example.address}`, options) : []),
    ...fieldLines(viewFields(example, plan, false), options, detail),
    // People read first what changes, and then where.
    ...(isGone
      ? addresses.flatMap((address, at) =>
          itemLines(`  ${address}`, `  ${names[at] ?? ''}`, options.width),
        )
      : addressTexts(addresses, blocks).flatMap((text) =>
          wrap([span('    '), liveSpan(text)], options.width, INDENT + 2),
        )),
  ];
}

/** A column: the fields that it leads to, and its edits, each in a line where that fits. */
function columnLines(
  { name, leads, edits: all, forms }: ColumnView,
  options: RenderOptions,
  detail: Detail,
): readonly Line[] {
  const { width } = options;
  const at = (indent: number, spans: Line) =>
    wrap([span(' '.repeat(indent)), ...spans], width, indent + 2);
  const below = (texts: readonly string[]) =>
    texts.flatMap((text) => at(INDENT + 4, [liveSpan(text)]));
  const sides = ({ before, after }: EditView) => [liveSpan(before), span(' → '), liveSpan(after)];
  const widest = Math.max(0, ...all.map((one) => lineWidth(sides(one))));
  const room = width - INDENT - 4;
  const isLong = ({ before, after }: EditView) =>
    Math.max(textWidth(before), textWidth(after)) > room;
  const isInLine = all.every(({ rows }) => INDENT + 2 + widest + 2 + textWidth(rows) <= width);
  // An old value that became several stands above them.
  const sources = Map.groupBy(all, ({ before }) => before);
  const isBelow = !isInLine && sources.size * 2 <= all.length;
  const edits = isBelow ? [...sources.values()].flat() : all;
  const values = edits.map(sides);
  return [
    ...at(INDENT, [span(name, 'strong'), span(` → ${leads.join('; ')}`)]),
    ...edits.flatMap((edit, index) => {
      const { before, after, rows, callouts, unseen } = edit;
      if (isLong(edit)) return fieldLines([edit.view], options, detail);
      const own = values[index] ?? [];
      const gap = span(' '.repeat(Math.max(0, widest - lineWidth(own)) + 2));
      const isNew = index === 0 || edits[index - 1]?.before !== before;
      return [
        ...(isInLine ? at(INDENT + 2, [...own, gap, span(rows)]) : []),
        ...(isBelow && isNew ? at(INDENT + 2, [span('- ', 'removed'), liveSpan(before)]) : []),
        ...(isBelow
          ? at(INDENT + 2, [span('+ ', 'added'), liveSpan(after), span(`  ${rows}`)])
          : []),
        ...(isInLine || isBelow ? [] : [...at(INDENT + 2, own), ...at(INDENT + 4, [span(rows)])]),
        ...below([...callouts.map(ruleText), ...unseen.map((text) => `${UNSEEN_SIGN} ${text}`)]),
      ];
    }),
    ...forms.flatMap(({ title, before, after, gaps, callouts }) => [
      ...at(INDENT + 2, [span(`${title} of one form`)]),
      ...(before === null
        ? []
        : at(INDENT + 2, [span('-', 'removed'), span(' '), liveSpan(before)])),
      ...(after === null ? [] : at(INDENT + 2, [span('+', 'added'), span(' '), liveSpan(after)])),
      ...below([...gaps, ...callouts.map(ruleText)]),
    ]),
  ];
}

/** Shows the result of a rehearsal alone. */
export function renderRehearsalText(plan: PlanDocument, given: RenderOptions): string {
  return renderFooters(rehearsalFooters(plan), given);
}

/** The rest of a plan file that its apply shows: edits that stay, and its rehearsal. Empty where it has neither. */
export function renderAppliedText(plan: PlanDocument, given: RenderOptions): string {
  return renderFooters(appliedFooters(plan), given);
}

function renderFooters(footers: readonly Footer[], given: RenderOptions): string {
  const options = { ...given, width: Math.max(given.width, MIN_WIDTH) };
  return paint(spaced(footers.map((one) => footerLines(one, options))), options.color);
}

/** The same reason beside each of more changes than this hides what differs. */
const MOST_ALIKE = 3;

/** Why many changes are not made, where it is the same of all of them: the plan says it once, below. */
function sharedReasons({ changes }: PlanDocument): ReadonlySet<string> {
  const unmade = changes.filter(({ verdict }) => verdict !== 'ok');
  const counts = countEach(unmade.map(({ reason }) => reason));
  return new Set([...counts].flatMap(([reason, count]) => (count > MOST_ALIKE ? [reason] : [])));
}

function adoptedLines(adopted: readonly Change[], options: RenderOptions): readonly Line[] {
  if (adopted.length === 0) return [];
  const shown = options.verbose ? adopted : adopted.slice(0, MAX_ADOPTED);
  const column = measureWidest(shown.map(({ address }) => sanitiseLine(address)));
  return [
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
    span(`  ${reason}`),
  ];
  return cutLine(line, options.width);
}

function footerLines(footer: Footer, options: RenderOptions): readonly Line[] {
  const { width } = options;
  const most = footer.isWhole === true ? Number.POSITIVE_INFINITY : MAX_ITEMS;
  return [
    ...wrap([span(footer.title, 'strong')], width, 2),
    ...listLines(
      footer.items,
      ({ address, name, text }) =>
        itemLines(address === null ? '' : `${formatLabel(address, name)}  `, text, width),
      most,
      options,
    ),
    ...(footer.advice === null ? [] : wrap([span('  '), span(footer.advice)], width, 2)),
    ...(footer.ways ?? []).flatMap(({ does, command }) => [
      ...wrap([span(`  ${does}:`)], width, 2),
      [span('    '), wholeSpan(command, 'strong')],
    ]),
  ];
}

/** Returns the forecast of the apply, and the counts again if the first ones have scrolled away. */
function closingLines(
  plan: PlanDocument,
  options: RenderOptions,
  isLong: boolean,
): readonly Line[] {
  const forecast = formatForecast(plan);
  const before = options.verbose ? '' : notesAsBefore(plan);
  const dim = (text: string) => wrap([span(text)], options.width, 2);
  // Assumptions are shown with --verbose alone, as a reviewer cannot act on them; moved endpoints always are.
  const { assumptions } = plan;
  const showsAssumptions = options.verbose && assumptions.length > 0;
  return [
    ...movedEndpointLines(plan).flatMap((line) => wrap([span(line, 'strong')], options.width, 2)),
    ...(showsAssumptions ? dim(reliesOn(assumptions)) : []),
    ...(forecast === '' ? [] : dim(forecast)),
    ...(before === '' ? [] : dim(before)),
    ...(isLong ? wrap([span(`${headline(plan)}.`, 'strong')], options.width, 2) : []),
  ];
}

function comparedLines(plan: PlanDocument, options: RenderOptions): readonly Line[] {
  const compared = `${formatCount(comparedCount(plan), 'resource')} compared`;
  const then =
    plan.purpose === 'restore' ? 'this restore records them' : 'the next apply remembers them';
  const adopted =
    plan.summary.adopt > 0 ? `, ${formatNumber(plan.summary.adopt)} of them adopted: ${then}` : '';
  const before = options.verbose ? '' : notesAsBefore(plan);
  return [`${compared}${adopted}.`, before]
    .filter((text) => text !== '')
    .flatMap((text) => wrap([span(text)], options.width, 0));
}

/** Columns of a name: it is live text, and may be of any length. */
const MAX_NAME = 80;

const ACTION_TONES: { readonly [action in Action]: Tone } = {
  create: 'added',
  update: 'changed',
  replace: 'replaced',
  delete: 'removed',
  adopt: 'adopted',
  forget: 'plain',
  no_op: 'plain',
};

/** One resource's part of a plan: what happens to it, why, where that is configured, and its fields. */
function changeLines(
  { change, shared, isExplained }: AloneItem,
  detail: Detail,
  { plan, options, reasons, isOwnerShown }: Layout,
): readonly Line[] {
  const views = viewFields(change, plan, options.verbose);
  const [reason, ...more] = listReasons(change, plan, options.verbose);
  const isSaid = isExplained || (change.verdict !== 'ok' && reasons.has(change.reason));
  const why = isSaid || reason === undefined ? more : [reason, ...more];
  const known = fieldsOnBase(change, plan);
  const owner = isOwnerShown ? plan.organizations[change.organization_id ?? ''] : undefined;
  return [
    ...wrap(headLine(change, owner), options.width, INDENT),
    ...why.flatMap((text) => belowLines(text, options)),
    ...(known === undefined ? [] : belowLines(known, options)),
    ...(detail === 'brief' && change.action === 'create'
      ? createdLines(change, { plan, options })
      : fieldLines(views, options, detail)),
    ...(shared === 0
      ? []
      : [[span(`    ⋯ ${formatCount(shared, 'field')} in a group below, alike in others`)]]),
  ];
}

/** Characters by which a value of a new resource is known again. */
const SHORT_VALUE = 48;

/** The fields of a new resource in a few lines. */
function createdLines(change: Change, { plan, options }: Given): readonly Line[] {
  const fields = viewFields(change, plan, false).map(({ path, content }) =>
    content.type === 'one'
      ? `${path}: ${cutText(inlineValue(content.value), SHORT_VALUE)}`
      : `${path}: …`,
  );
  return belowLines(fields.join(', '), options);
}

/** `~ Front desk  agent.reception  412 calls in 7 days  held  agents/reception.yaml:4`: people know the name. */
function headLine(change: Change, owner?: string): Line {
  const { action, address, name, adopted, verdict, source } = change;
  const tone = ACTION_TONES[action];
  const tags: Span[] = [
    ...(adopted && action !== 'adopt' ? [span('  '), span('adopted', 'adopted')] : []),
    ...(verdict === 'ok' ? [] : verdictSpans(verdict)),
  ];
  const named = [liveSpan(cutText(sanitiseLine(name), MAX_NAME), 'strong'), span('  ')];
  const calls = formatCalls(change);
  return [
    span('  '),
    span(SYMBOLS[action], tone),
    span(' '),
    ...(name === address ? [] : named),
    wholeSpan(address, name === address ? 'strong' : 'plain'),
    ...(calls === undefined ? [] : [span(`  ${calls}`)]),
    ...tags,
    ...(owner === undefined ? [] : [span(`  ${owner}`)]),
    ...(source === null ? [] : [span('  '), wholeSpan(source)]),
  ];
}

function verdictSpans(verdict: Change['verdict']): readonly Span[] {
  return [span('  '), span(verdict, verdict === 'refused' ? 'error' : 'warning')];
}

function listReasons(change: Change, plan: PlanDocument, verbose: boolean): readonly string[] {
  const { reason, id, action, operations } = change;
  const showsHow = verbose || plan.purpose === 'rollback';
  const loss = describeLoss(change, plan);
  return [
    reason,
    ...(loss === undefined ? [] : [loss]),
    ...((verbose || action === 'delete' || action === 'replace') && id !== null
      ? [`id ${id}`]
      : []),
    ...(showsHow && operations.length > 0 ? [`how: ${describeHow(change)}`] : []),
  ];
}

/**
 * Shows the changes made outside Callsheet, field by field: `before` is the expected value, `after` the live one. Above
 * the fields stands who changed them, when and from where, or why that is unknown.
 */
function driftText(plan: PlanDocument, options: RenderOptions): string {
  const first = wrap([span(headline(plan), 'strong')], options.width, 2);
  const compared = `${formatCount(comparedCount(plan), 'resource')} compared.`;
  const beside = driftFooters(plan).flatMap((footer) => [[], ...footerLines(footer, options)]);
  const space = beside.length === 0 ? [] : [[]];
  if (plan.changes.length === 0)
    return paint([...first, ...beside, ...space, [span(compared)]], options.color);
  const relied = options.verbose ? namesRelyOn(plan) : undefined;
  const { alone } = buildOverview(plan, options.verbose);
  const drawn = drawItems(alone, ({ change }, detail) =>
    driftLines(change, detail, { plan, options }),
  );
  const brief = options.verbose
    ? new Set<Item>()
    : cutToFit({ alone, groups: [] }, { room: MOST_LINES }, drawn.length);
  const legend = 'Each line shows the expected value → the live value.';
  return paint(
    [
      ...first,
      ...wrap([span(legend)], options.width, 0),
      ...alone.flatMap((item) => [[], ...drawn.draw(item, brief.has(item) ? 'brief' : 'whole')]),
      ...beside,
      [],
      [span(compared)],
      ...driftAdvice(plan).flatMap((line) => wrap([span(line)], options.width, 2)),
      ...(relied === undefined ? [] : wrap([span(relied)], options.width, 2)),
    ],
    options.color,
  );
}

type Given = Pick<Layout, 'plan' | 'options'>;

function driftLines(change: Change, detail: Detail, given: Given): readonly Line[] {
  const { options } = given;
  // The resource that Callsheet wrote is gone, whether or not another one has its place.
  const isLost = change.missing_id !== null || isAbsent(change);
  const groups = groupByAuthor(change, options.verbose);
  const hasAuthor = groups.some(({ who }) => who !== undefined);
  return [
    ...wrap(headLine(gone(change)), options.width, INDENT),
    ...(isLost || !hasAuthor ? belowLines(change.reason, options) : []),
    ...groups.flatMap((group) => authorLines(group, change, detail, given)),
  ];
}

/** Who changed some fields, the edits that it may have been, and the fields. */
function authorLines(
  { who, edits, fields }: Attributed,
  change: Change,
  detail: Detail,
  { plan, options }: Given,
): readonly Line[] {
  const margin = ' '.repeat(INDENT + 2);
  return [
    ...(who === undefined ? [] : belowLines(who, options)),
    ...edits.flatMap((edit) => wrap([span(margin + edit)], options.width, INDENT + 6)),
    ...fieldLines(viewFields({ ...gone(change), fields }, plan, options.verbose), options, detail),
  ];
}
