import { unreachable } from '../core/errors.ts';
import type { Change, PlanDocument } from '../core/plan-document.ts';
import type { Json } from '../core/value.ts';
import { howOf } from './change-lines.ts';
import { diffLines } from './diff-lines.ts';
import { type FieldView, viewFields } from './fields.ts';
import { escapeText, fence, inlineCode } from './markdown-text.ts';
import { paint } from './terminal.ts';
import { blockValue, extentOf, firstWords, inlineValue, isMultiline } from './value-text.ts';
import { cutText, textWidth } from './width.ts';
import { formatCount, SYMBOLS } from './wording.ts';

/** Columns of a fenced block that a pull request shows without scrolling sideways. */
const WIDTH = 100;
/** Fields that a summary names. */
const NAMED = 3;
/** Fields that a block lists. */
const MAX_FIELDS = 200;

/** One change as a block that opens: its fields as a diff. */
export function changeBlock(change: Change, plan: PlanDocument): string {
  const views = viewFields(change, plan.purpose, false);
  const how = plan.purpose === 'rollback' ? howOf(change) : '';
  const about = [
    escapeText(change.reason),
    ...(change.source === null ? [] : [inlineCode(change.source)]),
    ...(change.id === null ? [] : [`id ${inlineCode(change.id)}`]),
    ...(how === '' ? [] : [escapeText(how)]),
  ];
  const open = change.verdict === 'refused' ? ' open' : '';
  const shown = views.slice(0, MAX_FIELDS);
  const rest = views.length - shown.length;
  const rows = shown.map(fieldRows);
  const lines = [
    // A text's rows would seem to go on with the next field's, so texts come last.
    ...rows.filter(([first = '']) => !first.startsWith('@@')).flat(),
    ...rows.filter(([first = '']) => first.startsWith('@@')).flat(),
    ...(rest > 0 ? [`  ⋯ ${formatCount(rest, 'more field')}`] : []),
  ];
  return [
    `<details${open}><summary>${summaryOf(change, views)}</summary>`,
    '',
    about.join(' · '),
    ...(lines.length > 0 ? ['', fence(lines, 'diff')] : []),
    '',
    '</details>',
  ].join('\n');
}

/** One change as a list item, for those whose block does not fit the page. */
export function changeItem(change: Change, plan: PlanDocument): string {
  const views = viewFields(change, plan.purpose, false);
  return `- ${summaryOf(change, views)} (folded)`;
}

function summaryOf(change: Change, views: readonly FieldView[]): string {
  const { address, name, action, verdict, adopted } = change;
  const names = views.slice(0, NAMED).map(({ path }) => inlineCode(cutText(path, 60)));
  const more = views.length > NAMED ? ` and ${views.length - NAMED} more` : '';
  const isListed = views.length > 0 && action !== 'create';
  return [
    inlineCode(`${SYMBOLS[action]} ${address}`),
    ...(name === address ? [] : [` ${escapeText(cutText(name, 80))}`]),
    ...(adopted && action !== 'adopt' ? [', adopted'] : []),
    ...(verdict === 'ok' ? [] : [`, <b>${verdict}</b>`]),
    ...(isListed ? [`: ${names.join(', ')}${more}`] : []),
  ].join('');
}

/** A field as rows of a diff: GitHub and GitLab colour them by their first character. */
function fieldRows({ path, sign, content, remark }: FieldView): readonly string[] {
  const told = remark === null ? '' : `  (${remark})`;
  const mark = sign === ' ' ? '+' : sign === '~' ? '!' : sign;
  switch (content.type) {
    case 'words':
      return [`${mark} ${path}: ${cutText(content.words, 2 * WIDTH)}${told}`];
    case 'one':
      return [`${mark} ${path}: ${short(content.value)}${told}`];
    case 'both': {
      const { before, after } = content;
      if (isInline(before, path) && isInline(after, path)) {
        return [`- ${path}: ${inlineValue(before)}`, `+ ${path}: ${inlineValue(after)}${told}`];
      }
      return [`@@ ${path}${told} @@`, ...textRows(before, after)];
    }
    case 'conflict': {
      const { live, wanted } = content;
      const isShort = isInline(live, path) && isInline(wanted, path);
      return isShort || live === null || wanted === null
        ? [`! ${path}: conflict`, `- live now:   ${short(live)}`, `+ configured: ${short(wanted)}`]
        : [`@@ ${path}: conflict (- live now, + configured) @@`, ...textRows(live, wanted)];
    }
    default:
      return unreachable(content);
  }
}

function isInline(value: Json, path: string): boolean {
  return !isMultiline(value) && textWidth(inlineValue(value)) + path.length + 4 <= WIDTH;
}

function short(value: Json): string {
  const inline = inlineValue(value);
  if (!isMultiline(value) && textWidth(inline) <= 2 * WIDTH) return inline;
  const text = typeof value === 'string' ? value : blockValue(value);
  return `"${cutText(`${firstWords(text)}…`, WIDTH)}"  ${extentOf(text)}`;
}

function textRows(before: Json, after: Json): readonly string[] {
  const layout = {
    width: WIDTH,
    indent: 0,
    color: false,
    verbose: false,
    continued: 'sign',
  } as const;
  const lines = diffLines(blockValue(before), blockValue(after), layout);
  return paint(lines, false).replaceAll('; --verbose shows them', '').trimEnd().split('\n');
}
