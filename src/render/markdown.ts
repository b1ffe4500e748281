import { firstLines } from '../core/errors.ts';
import type { Change, PlanDocument } from '../core/plan-document.ts';
import { type Attributed, groupByAuthor } from './attribution.ts';
import { fieldsMarkdown } from './field-markdown.ts';
import { type FieldView, viewFields } from './fields.ts';
import type { Footer } from './footers.ts';
import {
  escapeMessage,
  escapeText,
  formatMarker,
  GITHUB_LIMIT,
  inlineCode,
  type PageOptions,
} from './markdown-text.ts';
import { type AlikeGroup, buildOverview, type FirstLook, type LeftChange } from './overview.ts';
import { cutText } from './terminal.ts';
import {
  comparedCount,
  conflictAdvice,
  describeHow,
  driftAdvice,
  formatCount,
  formatFirst,
  formatForecast,
  formatNumber,
  type Group,
  gone,
  groupChanges,
  headline,
  kindTitle,
  movedEndpointLines,
  namesRelyOn,
  newAssumptions,
  reliesOn,
  SYMBOLS,
} from './wording.ts';

const MAX_ROWS = 40;
const MAX_ITEMS = 20;
const MAX_ADOPTED = 50;
/** Fields that a summary names. */
const NAMED = 3;

/**
 * A plan as a comment on a pull request, or drift as an issue, never longer than `limit` characters: where it would
 * be, the longest changes are folded to one line each, and then the last of them are counted.
 */
export function renderPlanMarkdown(plan: PlanDocument, options: PageOptions = {}): string {
  const limit = options.limit ?? GITHUB_LIMIT;
  const page = plan.purpose === 'drift' ? 'drift' : 'plan';
  const { above, pieces, below, atLeast } = page === 'drift' ? driftParts(plan) : planParts(plan);
  const marker = formatMarker(page, plan, options);
  const title = `${marker}\n\n### ${escapeText(headline(plan))}`;
  const head = [title, ...above].join('\n\n');
  const tail = below.map((text) => `\n\n${text}`).join('');
  const room = limit - head.length - tail.length - 1;
  const body = foldToFit(pieces, room, page);
  if (body.length <= room) return `${head}${body}${tail}\n`;
  const all = formatCount(plan.changes.length, 'change');
  const tooLong = `_${all} not shown: they do not fit a comment. \`callsheet ${page}\` shows them all._`;
  const least = `${title}\n\n${tooLong}${atLeast}\n`;
  return least.length <= limit ? least : `${marker}\n`.slice(0, limit);
}

/** A page but for its marker and its title. */
type Parts = {
  readonly above: readonly string[];
  readonly pieces: readonly Piece[];
  readonly below: readonly string[];
  /** What is said even where nothing else has room. */
  readonly atLeast: string;
};

function planParts(plan: PlanDocument): Parts {
  const { above, first, groups, changes, below } = buildOverview(plan);
  const left = changes.filter(({ change: { action } }) => action !== 'no_op' && action !== 'adopt');
  const byAddress = new Map(left.map((one) => [one.change.address, one]));
  const adopted = adoptedText(plan.changes.filter(({ action }) => action === 'adopt'));
  return {
    above: [
      ...renderTable(plan),
      ...above.map(footerText),
      ...(first.length > 0 ? [firstText(first)] : []),
    ],
    pieces: [
      ...groups.map((group) => alikePiece(group, plan)),
      ...listPieces({ ...plan, changes: left.map(({ change }) => change) }, (change) =>
        planBlock(byAddress.get(change.address) ?? { change, shared: 0, isTold: false }, plan),
      ),
      { text: adopted, item: undefined },
    ],
    below: [...below.map(footerText), ...closing(plan)],
    atLeast: secretsTold(plan),
  };
}

/** Outside of any fold: what a reviewer must not miss. */
function firstText(first: readonly FirstLook[]): string {
  const items = first.map(({ symbol, subject, text }) => {
    const told = text === '' ? '' : ` ${escapeMessage(text)}`;
    return `- ${inlineCode(`${symbol} ${subject}`)}${told}`;
  });
  return ['**Look at first**', '', ...items].join('\n');
}

/** What changes alike in many resources: once and open, with the addresses folded. */
function alikePiece(
  { title, kind, addresses, sources, example }: AlikeGroup,
  plan: PlanDocument,
): Piece {
  const views = viewFields(example, plan, false);
  const from = formatFirst(sources.map(inlineCode), NAMED);
  const names = views.map(({ path }) => inlineCode(cutText(path, 60)));
  return {
    text: [
      `\n\n#### ${title}${from === '' ? '' : `: ${from}`}`,
      ...fieldsMarkdown(views),
      '',
      `<details><summary>Which ${kindTitle(kind)}</summary>`,
      '',
      addresses.map(inlineCode).join(', '),
      '',
      '</details>',
    ].join('\n'),
    item: `\n- ${title}: ${formatFirst(names, NAMED)} (folded)`,
  };
}

function driftParts(plan: PlanDocument): Parts {
  const isDrifted = plan.changes.length > 0;
  const compared = `${formatCount(comparedCount(plan), 'resource')} compared.`;
  return {
    above: isDrifted ? ['`-` is the expected value, `+` is the live value.'] : [],
    pieces: listPieces(plan, (change) => driftBlock(change, plan)),
    below: [
      [compared, ...driftAdvice(plan).map(escapeMessage)].join(' '),
      ...foldedText(plan.assumptions, namesRelyOn(plan)),
      formatDigest(plan),
    ].filter((text) => text !== ''),
    atLeast: '',
  };
}

/** The changes below the titles of their groups; each with the line that stands for it where it is too long. */
function listPieces(plan: PlanDocument, blockOf: (change: Change) => string): readonly Piece[] {
  const { changes, organizations, purpose } = plan;
  return groupChanges(changes, organizations).flatMap((group) => [
    { text: `\n\n#### ${escapeText(group.title)}`, item: undefined },
    ...group.changes.map((change) => {
      const seen = purpose === 'drift' ? gone(change) : change;
      const summary = formatSummary(seen, viewFields(seen, plan, false));
      return { text: `\n\n${blockOf(change)}`, item: `\n- ${summary} (folded)` };
    }),
  ]);
}

/** A part of a page. `item` is the line that stands for it where it does not fit. */
type Piece = { readonly text: string; readonly item: string | undefined };

/** Folds the longest pieces until all fit, then leaves out from the end what still does not. */
function foldToFit(pieces: readonly Piece[], room: number, command: string): string {
  const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
  if (length <= room) return pieces.map(({ text }) => text).join('');
  const notice = (folded: number, missing: number) =>
    `\n\n_${[
      ...(folded > 0 ? [`${formatCount(folded, 'change')} folded`] : []),
      ...(missing > 0 ? [`${formatCount(missing, 'change')} not shown`] : []),
    ].join(', ')}: they do not fit in a comment. \`callsheet ${command}\` shows them all._`;
  let over = length + notice(pieces.length, pieces.length).length - room;
  const folded = new Set<Piece>();
  for (const piece of [...pieces].sort((a, b) => b.text.length - a.text.length)) {
    if (over <= 0) break;
    if (piece.item === undefined || piece.item.length + 1 >= piece.text.length) continue;
    folded.add(piece);
    // One character more: a list needs an empty line before it.
    over -= piece.text.length - piece.item.length - 1;
  }
  const kept = [...pieces];
  let missing = 0;
  while (over > 0 && kept.length > 0) {
    const last = kept.pop();
    if (last === undefined) break;
    const isFolded = folded.delete(last);
    missing += last.item === undefined ? 0 : 1;
    over -= isFolded ? (last.item?.length ?? 0) + 1 : last.text.length;
  }
  const text = kept.map((piece, at) => {
    if (!folded.has(piece)) return piece.text;
    const above = kept[at - 1];
    return `${above && folded.has(above) ? '' : '\n'}${piece.item}`;
  });
  return text.join('') + notice(folded.size, missing);
}

/** What is never left out, were it only in a number. */
function secretsTold({ changes }: PlanDocument): string {
  const sent = changes.flatMap(({ secrets = [] }) => secrets);
  const count = sent.filter(({ to, before }) => to !== before).length;
  return count === 0 ? '' : ` **${formatCount(count, 'secret')} would go somewhere new.**`;
}

/** Counts by organization and kind; columns that would be empty are left out. */
function renderTable(plan: PlanDocument): readonly string[] {
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

/** One change as a block that opens: its fields as a diff. */
function planBlock({ change, shared, isTold }: LeftChange, plan: PlanDocument): string {
  const { purpose } = plan;
  const views = viewFields(change, plan, false);
  const how = purpose === 'rollback' ? describeHow(change) : '';
  const about = [
    ...(isTold ? [] : [escapeMessage(change.reason)]),
    ...formatPlace(change),
    ...(how === '' ? [] : [escapeMessage(how)]),
  ];
  const isOpen = change.verdict === 'refused';
  const more = `${formatCount(shared, 'field')} shown above, the same in others`;
  const advice = conflictAdvice(change, plan);
  const rows = [
    ...fieldsMarkdown(views),
    ...(shared === 0 ? [] : ['', more]),
    ...(advice === undefined ? [] : ['', escapeMessage(advice)]),
  ];
  return block(change, views, [about.join(' · '), ...rows], isOpen);
}

function driftBlock(change: Change, plan: PlanDocument): string {
  // The resource that Callsheet wrote is gone, whether or not another one has its place.
  const isGone = change.missing_id !== null;
  const groups = groupByAuthor(change, false);
  const isTold = groups.some(({ who }) => who !== undefined);
  const about = [
    ...(isGone || !isTold ? [escapeMessage(change.reason)] : []),
    ...formatPlace(change),
  ];
  const rows = groups.flatMap((group) => authorRows(group, change, plan));
  return block(gone(change), viewFields(gone(change), plan, false), [about.join(' · '), ...rows]);
}

function block(
  change: Change,
  views: readonly FieldView[],
  rows: readonly string[],
  isOpen = false,
): string {
  const summary = `<details${isOpen ? ' open' : ''}><summary>${formatSummary(change, views)}</summary>`;
  return [summary, '', ...rows, '', '</details>'].join('\n');
}

function formatPlace({ source, id }: Change): readonly string[] {
  return [
    ...(source === null ? [] : [inlineCode(source)]),
    ...(id === null ? [] : [`id ${inlineCode(id)}`]),
  ];
}

/** One change in a line: its address, and the first of its fields. */
function formatSummary(change: Change, views: readonly FieldView[]): string {
  const { address, name, action, verdict, adopted } = change;
  const names = views.map(({ path }) => inlineCode(cutText(path, 60)));
  const isListed = views.length > 0 && action !== 'create';
  return [
    inlineCode(`${SYMBOLS[action]} ${address}`),
    ...(name === address ? [] : [` ${escapeText(cutText(name, 80))}`]),
    ...(adopted && action !== 'adopt' ? [', adopted'] : []),
    ...(verdict === 'ok' ? [] : [`, <b>${verdict}</b>`]),
    ...(isListed ? [`: ${formatFirst(names, NAMED)}`] : []),
  ].join('');
}

function authorRows(
  { who, edits, fields }: Attributed,
  change: Change,
  plan: PlanDocument,
): readonly string[] {
  return [
    ...(who === undefined ? [] : ['', escapeMessage(who)]),
    ...(edits.length === 0 ? [] : ['', ...edits.map((edit) => `- ${escapeText(edit)}`)]),
    ...fieldsMarkdown(viewFields({ ...gone(change), fields }, plan, false)),
  ];
}

function adoptedText(adopted: readonly Change[]): string {
  if (adopted.length === 0) return '';
  const items = adopted.map(
    ({ address, reason }) => `${inlineCode(address)} ${escapeMessage(reason)}`,
  );
  return `\n\n${[
    `<details><summary>${formatNumber(adopted.length)} adopted: found live, nothing is written</summary>`,
    '',
    ...firstLines(items, MAX_ADOPTED).map((item) => `- ${item}`),
    '',
    '</details>',
  ].join('\n')}`;
}

function footerText({ title, items, advice, weight, isWhole }: Footer): string {
  const lines = items.map(({ address, name, text }) => {
    const called = name === undefined ? '' : `${escapeText(name)} `;
    const named = address === null ? '' : `${called}${inlineCode(address)} `;
    return `${named}${escapeMessage(text)}`;
  });
  return [
    weight === 'info' ? title : `**${title}**`,
    '',
    ...firstLines(lines, isWhole === true ? Infinity : MAX_ITEMS).map((line) => `- ${line}`),
    ...(advice === null ? [] : ['', escapeMessage(advice)]),
  ].join('\n');
}

/** What carrying it out takes, and what identifies the plan. */
function closing(plan: PlanDocument): readonly string[] {
  const forecast = formatForecast(plan);
  const assumed = newAssumptions(plan);
  return [
    ...(forecast === '' ? [] : [forecast]),
    ...movedEndpointLines(plan).map((line) => `**Moved:** ${escapeText(line)}`),
    ...foldedText(assumed, reliesOn(assumed)),
    formatDigest(plan),
  ];
}

/** What a plan rests on: nobody can act on it, so it is folded. */
function foldedText(assumptions: readonly string[], text = ''): readonly string[] {
  if (assumptions.length === 0) return [];
  const title = formatCount(assumptions.length, 'assumption');
  const summary = `<details><summary>${title}</summary>`;
  return [[summary, '', escapeMessage(text), '', '</details>'].join('\n')];
}

function formatDigest({ digest }: PlanDocument): string {
  return `<sub>${escapeText(digest)}</sub>`;
}
