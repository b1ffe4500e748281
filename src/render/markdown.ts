import { firstLines } from '../core/errors.ts';
import {
  type Change,
  isAbsent,
  isEdited,
  isOnBase,
  isSecretMoved,
  isStateless,
  type PlanDocument,
  shortCommit,
} from '../core/plan-document.ts';
import { addressText, addressTexts, factorAddresses } from './addresses.ts';
import { type Attributed, groupByAuthor } from './attribution.ts';
import { type ColumnView, columnTitles, type EditView, ruleText } from './columns.ts';
import { diffRows, fieldsMarkdown } from './field-markdown.ts';
import { viewFields } from './fields.ts';
import { driftFooters, type Footer } from './footers.ts';
import {
  escapeMessage,
  escapeText,
  type FencedLine,
  fence,
  formatMarker,
  GITHUB_LIMIT,
  inlineCode,
  leftToRight,
  type PageOptions,
} from './markdown-text.ts';
import {
  type AloneItem,
  addressesIn,
  buildOverview,
  cutToFit,
  type GroupItem,
  type Item,
} from './overview.ts';
import type { Detail } from './prose/view.ts';
import { cutText, textWidth } from './terminal.ts';
import { sanitiseLine } from './untrusted.ts';
import {
  BLOCKED,
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
  gone,
  headline,
  isBlocked,
  movedEndpointLines,
  namesRelyOn,
  newAssumptions,
  notesAsBefore,
  reliesOn,
  SYMBOLS,
  stackName,
  titleOnBase,
  UNSEEN_SIGN,
  varyingMessage,
} from './wording.ts';

const MAX_ITEMS = 20;
const MAX_ADOPTED = 50;
/** Fields that a summary names. */
const NAMED = 3;

/** Characters of a comment that is read at once: more, and what stands around edits is left out. */
const ROOM = 12_000;

/**
 * A plan as a comment on a pull request, or drift as an issue, with nothing folded that a reviewer has to read. Never
 * longer than `limit` characters: where it would be, the last changes are one line each, and then their addresses alone.
 */
export function renderPlanMarkdown(plan: PlanDocument, options: PageOptions = {}): string {
  const limit = options.limit ?? GITHUB_LIMIT;
  const page = plan.purpose === 'drift' ? 'drift' : 'plan';
  const { above, items, already, below, atLeast } =
    page === 'drift' ? driftParts(plan) : planParts(plan);
  const marker = formatMarker(page, plan, options);
  const title = `${marker}\n\n### ${escapeText(headline(plan))}`;
  const head = [title, ...above].join('\n\n');
  const closing = below.map((text) => `\n\n${text}`).join('');
  const named = already === undefined ? '' : alreadyText(already, plan, limit / 2);
  // It stands in the room that is kept for it, or the changes themselves do.
  const edits = already === undefined ? '' : tellEdits([...already.alone, ...already.groups]);
  const unseen = edits === '' ? '' : `\n\n_Not shown in full${edits}._`;
  const room = limit - head.length - named.length - unseen.length - closing.length - 1;
  const body = fitItems(items, room, page);
  const folded =
    already === undefined ? '' : foldedItems(already, room - body.length + unseen.length);
  const tail = `${named}${folded || unseen}${closing}`;
  if (body.length <= room) return `${head}${body}${tail}\n`;
  const all = formatCount(plan.changes.length, 'change');
  const undone = tellEdits([
    ...items.alone,
    ...items.groups,
    ...(already?.alone ?? []),
    ...(already?.groups ?? []),
  ]);
  const tooLong = `_${all} not shown${undone}: they do not fit a comment. \`callsheet ${page}\` shows them all._`;
  const least = `${title}\n\n${tooLong}${atLeast}\n`;
  return least.length <= limit ? least : `${marker}\n`.slice(0, limit);
}

const STATELESS = 'There is no state: a first run, or another place than before.';

/** A page but for its marker and its title. */
type Parts = {
  readonly above: readonly string[];
  readonly items: Items;
  /** Changes that the base of the plan has already. */
  readonly already?: Items | undefined;
  readonly below: readonly string[];
  /** The text that is shown even if nothing else has room. */
  readonly atLeast: string;
};

/** The items of a page in order, and how each is written. */
type Items = {
  readonly alone: readonly AloneItem[];
  readonly groups: readonly GroupItem[];
  readonly block: (item: Item, detail: Detail) => string;
  /** An item in brief as rows of a diff, which stand below each other; undefined where it is a block. */
  readonly rows: (item: Item) => readonly FencedLine[] | undefined;
  /** The line that stands for a change that does not fit. */
  readonly line: (item: Item) => string;
};

function planParts(plan: PlanDocument): Parts {
  const { above, alone, groups, adopted, already, below } = buildOverview(plan);
  const write: Omit<Items, 'alone' | 'groups'> = {
    block: (item, detail) =>
      item.type === 'group' ? groupBlock(item, detail, plan) : planBlock(item, detail, plan),
    rows: (item) => (item.type === 'group' ? undefined : planRows(item, plan)),
    line: (item) => itemLine(item, plan),
  };
  return {
    above: [
      ...placeText(plan),
      ...(isStateless(plan) && plan.purpose === 'apply' ? [STATELESS] : []),
      ...countsText(plan),
      ...(isBlocked(plan) && !above.some(isError) ? [alertText('CAUTION', BLOCKED)] : []),
      ...above.map(footerText),
    ],
    items: { alone, groups, ...write },
    already: already && { alone: already.alone, groups: already.groups, ...write },
    below: [...adoptedText(adopted), ...below.map(footerText), ...closing(plan)],
    atLeast: countNewSecrets(plan),
  };
}

const isError = ({ weight }: Footer) => weight === 'error';

/** The stack, its environment, and the commit with what Git says of it. */
function placeText({ stack, environment }: PlanDocument): readonly string[] {
  if (stack === undefined) return [];
  const { commit } = stack;
  const place = [
    `**${escapeText(stackName(stack))}**`,
    ...(environment === undefined ? [] : [escapeText(environment)]),
  ];
  if (commit === undefined) return [place.join(', ')];
  const { id, subject, author, is_changed: isChanged } = commit;
  const said = `${inlineCode(shortCommit(id))} ${escapeText(cutText(subject, 72))}, by ${escapeText(cutText(author, 40))}`;
  const beside = isChanged ? ', with uncommitted changes' : '';
  return [`${place.join(', ')} · ${said}${beside}`];
}

/** Changes that the base has already: every address, and their number. */
function alreadyText({ alone, groups }: Items, plan: PlanDocument, most: number): string {
  const title = `\n\n**${escapeText(titleOnBase(plan))}**`;
  const addresses = [...alone, ...groups].flatMap(addressesIn);
  const names = factorAddresses(addresses).map((list) => inlineCode(addressText(list)));
  const text = names.join('<br>');
  if (text.length <= most) return `${title}\n\n${text}`;
  return `${title}\n\n_Their addresses do not fit in a comment. \`callsheet plan\` shows them all._`;
}

/** The same with what changes, folded: it was reviewed before. As much as there is room for. */
function foldedItems(items: Items, room: number): string {
  const { alone, groups, line } = items;
  const all: readonly Item[] = [...alone, ...groups];
  const drawn = drawItems(items);
  const frame = (text: string) =>
    `\n\n<details><summary>Their changes</summary>${text}\n\n</details>`;
  const texts = [drawn.text(all, () => 'brief'), `\n\n${all.map(line).join('\n')}`];
  return texts.map(frame).find((text) => text.length <= room) ?? '';
}

function itemLine(item: Item, plan: PlanDocument): string {
  const change = item.type === 'group' ? item.example : item.change;
  const seen = plan.purpose === 'drift' ? gone(change) : change;
  const title = item.type === 'group' ? groupTitle(item) : changeTitle(seen);
  const views = seen.action === 'create' ? [] : viewFields(seen, plan, false);
  const names = views.map(({ path }) => inlineCode(cutText(path, 60)));
  // An edit by hand ends with it: its author is named wherever the change is.
  const reason = change.fields.some(isEdited) ? ` · ${escapeMessage(change.reason)}` : '';
  return `- ${title}${names.length > 0 ? `: ${formatFirst(names, NAMED)}` : ''}${reason}`;
}

/** `, 3 of them undo edits by hand`: said of changes that are not shown; empty where none does. */
function tellEdits(items: readonly Item[]): string {
  const edits = items
    .filter((item) => (item.type === 'group' ? item.example : item.change).fields.some(isEdited))
    .flatMap(addressesIn).length;
  return edits === 0
    ? ''
    : `, ${edits} of them ${edits === 1 ? 'undoes an edit' : 'undo edits'} by hand`;
}

/** A change of short values as rows of a diff that it shares with others; undefined where there is more to say. */
function planRows(
  { change, shared, isExplained }: AloneItem,
  plan: PlanDocument,
): readonly FencedLine[] | undefined {
  const { address, name, action, source } = change;
  if (!isExplained || shared > 0) return undefined;
  if (fieldsOnBase(change, plan) !== undefined) return undefined;
  const fields = diffRows(viewFields(change, plan, false));
  const about = [
    ...(name === address ? [] : [cutText(name, 80), '  ']),
    address,
    ...(source === null ? [] : ['  ', source]),
  ];
  const symbol = action === 'update' ? '!' : SYMBOLS[action];
  return fields && [[`${symbol} `, ...about.map(sanitiseLine)], ...fields];
}

/** Shows a change that is alike in many resources once, with all addresses. */
function groupBlock(item: GroupItem, detail: Detail, plan: PlanDocument): string {
  const { action, addresses, names, example, reasons, varying, columns, blocks } = item;
  const varyingText = varyingMessage(varying);
  const isGone = action === 'delete' || action === 'forget';
  const members = isGone
    ? addresses.map(
        (address, at) => `- ${inlineCode(address)} ${escapeText(cutText(names[at] ?? '', 80))}`,
      )
    : addressTexts(addresses, blocks).map(inlineCode);
  return [
    `#### ${groupTitle(item)}`,
    ...(reasons.length === 0 ? [] : ['', ...reasons.map((reason) => `- ${escapeMessage(reason)}`)]),
    ...(varyingText === undefined ? [] : ['', escapeText(varyingText)]),
    ...columns.flatMap((column) => columnMarkdown(column, detail)),
    ...(columns.length > 0 ? ['', `1 row in full: ${inlineCode(example.address)}`] : []),
    ...fieldsMarkdown(viewFields(example, plan, false), detail),
    '',
    members.join(isGone ? '\n' : '<br>'),
  ].join('\n');
}

/** Characters of a value that stands in a cell of a table. */
const MOST_CELL = 100;

/** A column: the fields that it leads to, and a table of its edits. */
function columnMarkdown(
  { name, leads, edits, forms }: ColumnView,
  detail: Detail,
): readonly string[] {
  const cell = (text: string) => leftToRight(escapeText(text));
  const isLong = ({ before, after }: EditView) =>
    Math.max(textWidth(before), textWidth(after)) > MOST_CELL;
  const short = edits.filter((edit) => !isLong(edit));
  const notes = [
    ...short.flatMap(({ callouts, unseen, rows }) =>
      [...callouts.map(ruleText), ...unseen.map((text) => `${UNSEEN_SIGN} ${text}`)].map(
        (text) => `- ${cell(`${text} (${rows})`)}`,
      ),
    ),
    ...forms.flatMap(({ callouts, title }) =>
      callouts.map((rule) => `- ${cell(`${ruleText(rule)} (${title})`)}`),
    ),
  ];
  const table = (rows: readonly (readonly string[])[]) => [
    '',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
  ];
  const rows = short.map(({ before, after, rows: own }) => [before, after, own].map(cell));
  return [
    '',
    `**${escapeText(name)}** → ${leads.map((text) => escapeText(text)).join('; ')}`,
    ...(notes.length > 0 ? ['', ...notes] : []),
    ...(rows.length > 0 ? table([['was', 'now', 'rows'], ['---', '---', '---'], ...rows]) : []),
    ...forms.flatMap(({ before, after, title, gaps }) => [
      '',
      `${title} of one form`,
      ...table([
        ['', ''],
        ['---', '---'],
        ['**was**', cell(before ?? '–')],
        ['**now**', cell(after ?? '–')],
      ]),
      ...(gaps.length > 0 ? ['', ...gaps.map((text) => `- ${cell(text)}`)] : []),
    ]),
    ...fieldsMarkdown(
      edits.filter(isLong).map(({ view }) => view),
      detail,
    ),
  ];
}

/** `~ 60 agents alike, 9,310 calls in 7 days: prompts/desk.md` */
function groupTitle(item: GroupItem): string {
  const { kind, action, verdict, addresses, sources, columns } = item;
  const calls = formatCalls(item);
  const from = formatFirst(sources.map(inlineCode), NAMED);
  return [
    `${inlineCode(SYMBOLS[action])} ${columns.length > 0 ? countKind(addresses.length, kind) : formatGroup(kind, action, addresses.length)}`,
    ...(calls === undefined ? [] : [`, ${calls}`]),
    ...(verdict === 'ok' ? [] : [`, ${verdict}`]),
    ...(from === '' ? [] : [`${columns.length > 0 ? ', ' : ': '}${from}`]),
    ...(columns.length > 0 ? [`: ${escapeText(columnTitles(columns).join(', '))}`] : []),
  ].join('');
}

function driftParts(plan: PlanDocument): Parts {
  const isDrifted = plan.changes.length > 0;
  const compared = `${formatCount(comparedCount(plan), 'resource')} compared.`;
  return {
    above: isDrifted ? ['`-` is the expected value, `+` is the live value.'] : [],
    items: {
      alone: buildOverview(plan).alone,
      groups: [],
      block: (item, detail) => (item.type === 'group' ? '' : driftBlock(item.change, detail, plan)),
      rows: () => undefined,
      line: (item) => itemLine(item, plan),
    },
    below: [
      ...driftFooters(plan).map(footerText),
      [compared, ...driftAdvice(plan).map(escapeMessage)].join(' '),
      aboutText([namesRelyOn(plan), plan.digest]),
    ].filter((text) => text !== ''),
    atLeast: '',
  };
}

/**
 * The items in as many characters as there are. First what stands around edits is left out; then the last items are a
 * line each; then their addresses stand together. Only what has no room at all is counted.
 */
function fitItems(items: Items, most: number, command: string): string {
  const { alone, groups, line } = items;
  const drawn = drawItems(items);
  const { length } = drawn;
  const brief = cutToFit({ alone, groups }, { room: Math.min(ROOM, most), most }, length);
  const chooseDetail = (item: Item) => (brief.has(item) ? 'brief' : 'whole');
  const isMixed = alone.length > 0 && groups.length > 0;
  const titles = isMixed ? ['\n\n**Read one by one**', '\n\n**Read once**'] : ['', ''];
  const write = (lined: ReadonlySet<Item>, notice = '') => {
    const part = (own: readonly Item[]) =>
      drawn.text(
        own.filter((one) => !lined.has(one)),
        chooseDetail,
      );
    const listed = [...alone, ...groups].filter((one) => lined.has(one)).map(line);
    const list = listed.length === 0 ? '' : `\n\n${listed.join('\n')}`;
    return `${titles[0]}${part(alone)}${titles[1]}${part(groups)}${list}${notice}`;
  };
  const whole = write(new Set());
  if (whole.length <= most) return whole;
  const note = (what: string) =>
    `\n\n_${what}: they do not fit in a comment. \`callsheet ${command}\` shows them all._`;
  const lined = new Set<Item>();
  let over = whole.length - most + MOST_NOTE;
  // A group has the words of many in few characters.
  for (const item of [...alone.toReversed(), ...groups]) {
    if (over <= 0) break;
    const saved = length(item, chooseDetail(item)) - line(item).length - 1;
    if (saved <= 0) continue;
    lined.add(item);
    over -= saved;
  }
  const count = (own: Iterable<Item>) =>
    formatCount([...own].flatMap(addressesIn).length, 'change');
  const shown = write(lined, note(`${count(lined)} in one line each`));
  return shown.length <= most ? shown : withAddresses(items, most, note);
}

/** Writes each item once in each detail. Neighbours that are rows of a diff stand in one. */
function drawItems({ alone, groups, block, rows }: Items) {
  type Drawn = { readonly block: string } | { readonly rows: readonly FencedLine[] };
  const empty = fence([], 'diff').length;
  const known = new Map<Item, { [detail in Detail]?: Drawn }>(
    [...alone, ...groups].map((item) => [item, {}]),
  );
  const draw = (item: Item, detail: Detail): Drawn => {
    const own = known.get(item) ?? {};
    const short = detail === 'brief' ? rows(item) : undefined;
    own[detail] ??= short === undefined ? { block: `\n\n${block(item, detail)}` } : { rows: short };
    return own[detail];
  };
  return {
    length(item: Item, detail: Detail): number {
      const one = draw(item, detail);
      return 'block' in one ? one.block.length : fence(one.rows, 'diff').length - empty + 1;
    },
    text(items: readonly Item[], chooseDetail: (item: Item) => Detail): string {
      const parts: string[] = [];
      let open: FencedLine[] = [];
      const close = () => {
        if (open.length > 0) parts.push(`\n\n${fence(open, 'diff')}`);
        open = [];
      };
      for (const item of items) {
        const one = draw(item, chooseDetail(item));
        if ('rows' in one) open.push(...one.rows);
        else {
          close();
          parts.push(one.block);
        }
      }
      close();
      return parts.join('');
    },
  };
}

/** Characters of the sentence that says what is not shown. */
const MOST_NOTE = 200;

/** As many lines as there is room for beside the addresses of all other changes, or beside their number. */
function withAddresses(
  { alone, groups, line }: Items,
  most: number,
  note: (what: string) => string,
): string {
  const items: readonly Item[] = [...alone, ...groups];
  const lines = items.map((item) => `\n${line(item)}`);
  const write = (kept: number, isNamed: boolean) => {
    const rest = items.slice(kept).flatMap(addressesIn);
    const names = factorAddresses(rest).map((list) => inlineCode(addressText(list)));
    const named = isNamed && rest.length > 0 ? `\n\n${names.join('<br>')}` : '';
    const how = isNamed ? 'by address alone' : 'not shown';
    const what = `${formatCount(rest.length, 'change')} ${how}${tellEdits(items.slice(kept))}`;
    return `\n${lines.slice(0, kept).join('')}${named}${note(what)}`;
  };
  for (const isNamed of [true, false]) {
    let [low, high] = [-1, items.length];
    while (low < high - 1) {
      const middle = Math.floor((low + high) / 2);
      if (write(middle, isNamed).length <= most) low = middle;
      else high = middle;
    }
    if (low >= 0) return write(low, isNamed);
  }
  return write(0, false);
}

/** Secrets that go somewhere new are at least counted. */
function countNewSecrets({ changes }: PlanDocument): string {
  const sent = changes.flatMap(({ secrets = [] }) => secrets);
  const moved = sent.filter(isSecretMoved);
  const count = moved.filter(({ to }) => to !== null).length;
  const gone = moved.length - count;
  return [
    ...(count === 0 ? [] : [` **${formatCount(count, 'secret')} would go somewhere new.**`]),
    ...(gone === 0 ? [] : [` **${formatCount(gone, 'stored secret')} would be removed.**`]),
  ].join('');
}

/** Counts the actions of the plan, as on a terminal. */
function countsText(plan: PlanDocument): readonly string[] {
  if (plan.changes.every(isOnBase))
    return [`${formatCount(comparedCount(plan), 'resource')} compared.`];
  const counts = countsBelow(plan);
  return counts === '' ? [] : [escapeText(counts)];
}

function planBlock(
  { change, shared, isExplained }: AloneItem,
  detail: Detail,
  plan: PlanDocument,
): string {
  const { purpose } = plan;
  const views = viewFields(change, plan, false);
  const how = purpose === 'rollback' ? describeHow(change) : '';
  const known = fieldsOnBase(change, plan);
  const loss = describeLoss(change, plan);
  const about = [
    ...(isExplained ? [] : [escapeMessage(change.reason)]),
    ...(loss === undefined ? [] : [escapeMessage(loss)]),
    ...formatPlace(change),
    ...(how === '' ? [] : [escapeMessage(how)]),
    ...(known === undefined ? [] : [escapeMessage(known)]),
  ];
  const more = `${formatCount(shared, 'field')} in a group below, alike in others`;
  const said = about.join(' · ');
  const isLost = change.action === 'delete' || change.action === 'replace';
  const isAlert = (isLost && change.verdict !== 'held') || change.verdict === 'refused';
  return [
    `#### ${changeTitle(change)}`,
    ...(said === '' ? [] : ['', isAlert ? alertText('CAUTION', said) : said]),
    ...fieldsMarkdown(views, detail),
    ...(shared === 0 ? [] : ['', more]),
  ].join('\n');
}

function driftBlock(change: Change, detail: Detail, plan: PlanDocument): string {
  // The resource that Callsheet wrote is gone, whether or not another one has its place.
  const isLost = change.missing_id !== null || isAbsent(change);
  const groups = groupByAuthor(change, false);
  const hasAuthor = groups.some(({ who }) => who !== undefined);
  const about = [
    ...(isLost || !hasAuthor ? [escapeMessage(change.reason)] : []),
    ...formatPlace(change),
  ];
  return [
    `#### ${changeTitle(gone(change))}`,
    '',
    about.join(' · '),
    ...groups.flatMap((group) => authorRows(group, change, detail, plan)),
  ].join('\n');
}

function formatPlace({ source, id, action }: Change): readonly string[] {
  const isLost = action === 'delete' || action === 'replace';
  return [
    ...(source === null ? [] : [inlineCode(source)]),
    ...(id === null || !isLost ? [] : [`id ${inlineCode(id)}`]),
  ];
}

/** `~ agent.reception Front desk, 412 calls in 7 days, held` */
function changeTitle(change: Change): string {
  const { address, name, action, verdict, adopted } = change;
  const calls = formatCalls(change);
  return [
    inlineCode(SYMBOLS[action]),
    ...(name === address ? [' '] : [` ${escapeText(cutText(name, 80))} · `]),
    inlineCode(address),
    ...(calls === undefined ? [] : [`, ${calls}`]),
    ...(adopted && action !== 'adopt' ? [', adopted'] : []),
    ...(verdict === 'ok' ? [] : [`, <b>${verdict}</b>`]),
  ].join('');
}

function authorRows(
  { who, edits, fields }: Attributed,
  change: Change,
  detail: Detail,
  plan: PlanDocument,
): readonly string[] {
  return [
    ...(who === undefined ? [] : ['', escapeMessage(who)]),
    ...(edits.length === 0 ? [] : ['', ...edits.map((edit) => `- ${escapeText(edit)}`)]),
    ...fieldsMarkdown(viewFields({ ...gone(change), fields }, plan, false), detail),
  ];
}

/** Folds resources that are only recorded: nothing of them need be read. */
function adoptedText(adopted: readonly Change[]): readonly string[] {
  if (adopted.length === 0) return [];
  const items = adopted.map(
    ({ address, reason }) => `${inlineCode(address)} ${escapeMessage(reason)}`,
  );
  return [
    [
      `<details><summary>${formatNumber(adopted.length)} adopted: found live, nothing is written</summary>`,
      '',
      ...firstLines(items, MAX_ADOPTED).map((item) => `- ${item}`),
      '',
      '</details>',
    ].join('\n'),
  ];
}

function footerText({ title, items, advice, weight, isWhole, ways = [] }: Footer): string {
  const lines = items.map(({ address, name, text }) => {
    const called = name === undefined ? '' : `${escapeText(name)} `;
    const named = address === null ? '' : `${called}${inlineCode(address)} `;
    return `${named}${escapeMessage(text)}`;
  });
  const text = [
    weight === 'info' ? title : `**${title}**`,
    ...(lines.length === 0 ? [] : ['']),
    ...firstLines(lines, isWhole === true ? Infinity : MAX_ITEMS).map((line) => `- ${line}`),
    ...(advice === null ? [] : ['', escapeMessage(advice)]),
    // As code in a line, which wraps on a phone.
    ...ways.flatMap(({ does, command }) => [
      '',
      `${escapeMessage(does)}:`,
      '',
      inlineCode(command),
    ]),
  ].join('\n');
  return weight === 'info' || ways.length > 0
    ? text
    : alertText(weight === 'error' ? 'CAUTION' : 'WARNING', text);
}

/** An alert, as GitHub and GitLab draw it; elsewhere it is a quotation. */
function alertText(sort: 'CAUTION' | 'WARNING', text: string): string {
  return [`[!${sort}]`, ...text.split('\n')].map((line) => `> ${line}`.trimEnd()).join('\n');
}

/** Returns the forecast of the apply, and the digest that identifies the plan. */
function closing(plan: PlanDocument): readonly string[] {
  const forecast = formatForecast(plan);
  const assumed = newAssumptions(plan);
  return [
    ...movedEndpointLines(plan).map((line) => `**Moved:** ${escapeText(line)}`),
    aboutText([
      forecast,
      notesAsBefore(plan),
      assumed.length === 0 ? '' : reliesOn(assumed),
      plan.digest,
    ]),
  ];
}

/** Folds what a reviewer cannot act on: the assumptions of a plan, and what identifies it. */
function aboutText(texts: readonly (string | undefined)[]): string {
  const shown = texts.flatMap((text) => (text ? [escapeMessage(text)] : []));
  return ['<details><summary>About this plan</summary>', ...shown, '</details>'].join('\n\n');
}
