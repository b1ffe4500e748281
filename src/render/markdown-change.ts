import { unreachable } from '../core/errors.ts';
import type { Change, PlanDocument } from '../core/plan-document.ts';
import type { Json } from '../core/value.ts';
import { howOf } from './change-lines.ts';
import { type FieldView, viewFields } from './fields.ts';
import { listMarkdown, proseMarkdown } from './markdown-prose.ts';
import { escapeText, fence, inlineCode } from './markdown-text.ts';
import { blockValue, extentOf, inlineValue, isMultiline } from './value-text.ts';
import { cutText, textWidth } from './width.ts';
import { SYMBOLS } from './wording.ts';

/** Columns of a fenced block that a pull request shows without scrolling sideways. */
const WIDTH = 100;
/** Fields that a summary names. */
const NAMED = 3;

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
  return [
    `<details${open}><summary>${summaryOf(change, views)}</summary>`,
    '',
    about.join(' · '),
    ...fieldsMarkdown(views),
    '',
    '</details>',
  ].join('\n');
}

/** Fields: those of one line as a fenced diff, the longer ones below it; nothing where there are none. */
export function fieldsMarkdown(views: readonly FieldView[]): readonly string[] {
  const texts = views.map(longField);
  const lines = views.filter((_, at) => texts[at] === undefined).flatMap(fieldRows);
  return [
    ...(lines.length > 0 ? ['', fence(lines, 'diff')] : []),
    ...texts.flatMap((text) => text ?? []),
  ];
}

/** One change as a list item, for those whose block does not fit the page. */
export function changeItem(change: Change, plan: PlanDocument): string {
  const views = viewFields(change, plan.purpose, false);
  return `- ${summaryOf(change, views)} (folded)`;
}

/** One change in a line: its address, and the first of its fields. */
export function summaryOf(change: Change, views: readonly FieldView[]): string {
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

/** A field whose values stand below the others; undefined for one that a line has room for. */
function longField({ path, sign, content, remark }: FieldView): readonly string[] | undefined {
  if (content.type === 'one') {
    const { value } = content;
    return isMultiline(value) || textWidth(inlineValue(value)) > 2 * WIDTH
      ? wholeField(path, sign === '-' ? '-' : '+', value, remark)
      : undefined;
  }
  if (content.type !== 'both' && content.type !== 'conflict') return undefined;
  const isConflict = content.type === 'conflict';
  const [before, after] = isConflict
    ? [content.live, content.wanted]
    : [content.before, content.after];
  if (before === null || after === null) return undefined;
  if (isInline(before, path) && isInline(after, path)) return undefined;
  const told = isConflict
    ? ' (conflict: from what is live now to what is configured)'
    : remark === null
      ? ''
      : ` (${escapeText(remark)})`;
  const title = `<b>${inlineCode(path)}</b>${told}`;
  const isText = typeof before === 'string' && typeof after === 'string';
  return isText ? proseMarkdown(title, before, after) : listMarkdown(title, before, after);
}

/** One side of a field, line by line. */
function wholeField(
  path: string,
  mark: string,
  value: Json,
  remark: string | null,
): readonly string[] {
  const text = blockValue(value).replace(/\n$/, '');
  const told = remark === null ? '' : ` (${escapeText(remark)})`;
  const lines = text.split('\n').map((line) => `${mark} ${line}`);
  return ['', `<b>${inlineCode(path)}</b> ${extentOf(text)}${told}`, '', fence(lines, 'diff')];
}

/** A field as rows of a diff: GitHub and GitLab colour them by their first character. */
function fieldRows({ path, sign, content, remark }: FieldView): readonly string[] {
  const told = remark === null ? '' : `  (${remark})`;
  const mark = sign === ' ' ? '+' : sign === '~' ? '!' : sign;
  switch (content.type) {
    case 'element':
      return elementRows(`${mark} ${path}:`, mark, content).map((row, at) =>
        at === 0 ? row + told : row,
      );
    case 'one':
      return [`${mark} ${path}: ${inlineValue(content.value)}${told}`];
    case 'both':
      return [
        `- ${path}: ${inlineValue(content.before)}`,
        `+ ${path}: ${inlineValue(content.after)}${told}`,
      ];
    case 'conflict':
      return [
        `! ${path}: conflict`,
        ...(content.base === undefined ? [] : [`  last written: ${inlineValue(content.base)}`]),
        `- live now:     ${inlineValue(content.live)}`,
        `+ configured:   ${inlineValue(content.wanted)}`,
      ];
    default:
      return unreachable(content);
  }
}

function isInline(value: Json, path: string): boolean {
  return !isMultiline(value) && textWidth(inlineValue(value)) + path.length + 4 <= WIDTH;
}

/** An element: where it leads, and a row for each part of it; in one row where that is short. */
function elementRows(
  head: string,
  mark: string,
  { summary, members }: FieldView['content'] & { readonly type: 'element' },
): readonly string[] {
  const rows = members.map(({ key, value }) =>
    key === '' ? inlineValue(value) : `${key}: ${inlineValue(value)}`,
  );
  const inline = `${head} ${rows.join(', ')}`;
  if (summary === '' && textWidth(inline) <= WIDTH) return [inline];
  return [`${head} ${summary}`.trimEnd(), ...rows.map((row) => `${mark}   ${row}`)];
}
