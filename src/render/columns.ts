import { type Address, rowKey } from '../core/address.ts';
import type { Callout, Change, ChangeGroup, ColumnEdit, TextForm } from '../core/plan-document.ts';
import type { Json } from '../core/value.ts';
import { type FieldView, viewSides } from './fields.ts';
import { type CalloutWords, calloutWords } from './prose/callout-words.ts';
import { listUnseen } from './unseen.ts';
import { sanitiseLine } from './untrusted.ts';
import { inlineSides, inlineValue } from './value-text.ts';
import { formatCount, formatFirst, formatList, formatNumber } from './wording.ts';

/** The edit of a table by its columns, in words that all views share. */

/** A column whose values change, and what becomes of them. */
export type ColumnView = {
  /** The name of the column. Sanitised. */
  readonly name: string;
  readonly rows: number;
  /** The fields that its values stand in: `system_prompt, Hours, line 8`. Sanitised. */
  readonly leads: readonly string[];
  /** Edits that are read one by one; those that change a rule come first, then the most frequent. */
  readonly edits: readonly EditView[];
  readonly forms: readonly FormView[];
};

/** A value that became another one. All of it is sanitised. */
export type EditView = {
  readonly before: string;
  readonly after: string;
  /** `67 rows, alder-bay-main-street and 66 more` */
  readonly rows: string;
  /** The rules that it changes, and what cannot be seen of it. */
  readonly callouts: readonly CalloutWords[];
  readonly isReversed: boolean;
  readonly unseen: readonly string[];
  /** The edit as that of a field, for values that take more than a line. */
  readonly view: FieldView<Json>;
};

/** Many texts of one form. All of it is sanitised. */
type FormView = {
  /** `999 different texts` */
  readonly title: string;
  readonly before: string | null;
  readonly after: string | null;
  /** The parts that stand in the gaps: `<n>: 0 to 999`. */
  readonly gaps: readonly string[];
  readonly callouts: readonly CalloutWords[];
};

/** The columns whose values a group changes. */
export function viewColumns(
  { fields }: Pick<ChangeGroup, 'fields'>,
  changes: readonly Change[],
): readonly ColumnView[] {
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  const all = fields.flatMap((field) =>
    (field.columns ?? []).map((column) => ({ column, path: field.path, after: field.after })),
  );
  // A column that stands in several fields is one edit.
  const same = Map.groupBy(all, ({ column: { expression: _, ...column } }) =>
    JSON.stringify([nameColumn(column, _), column]),
  );
  return [...same.values()].flatMap((own): ColumnView[] => {
    const [first] = own;
    if (first === undefined) return [];
    const { column, path } = first;
    const { edits, forms = [] } = column;
    const viewed = edits
      .map((edit) => viewEdit(edit, byAddress.get(edit.addresses[0] ?? ''), path))
      .sort((a, b) => weigh(a) - weigh(b));
    return [
      {
        name: sanitiseLine(nameColumn(column, column.expression)),
        rows: [...edits, ...forms].reduce((sum, { addresses }) => sum + addresses.length, 0),
        leads: own.map((one) => placeIn(one.path, one.after, one.column.expression)),
        edits: viewed,
        forms: forms.map((form) => viewForm(form, byAddress.get(form.addresses[0] ?? ''), path)),
      },
    ];
  });
}

/** Reversed rules come first, then other rules. */
function weigh({ callouts, isReversed }: EditView): number {
  if (isReversed) return 0;
  return callouts.length > 0 ? 1 : 2;
}

/** `hours` of `${each.hours}`, where no column is named. */
function nameColumn({ column }: Pick<ColumnEdit, 'column'>, expression: string): string {
  return (
    column ??
    expression.replace(/^\$\{(?:each\.)?(.*)\}$/s, '$1').replace(/^each\[["'](.*)["']\]$/, '$1')
  );
}

/** `system_prompt, Hours, line 8`: where a value stands in a field. */
function placeIn(path: string, text: string | undefined, expression: string): string {
  const lines = (text ?? '').split('\n');
  const at = lines.findIndex((line) => line.includes(expression));
  if (at < 0 || lines.length === 1) return sanitiseLine(path);
  const heading = lines.slice(0, at).findLast((line) => /^ {0,3}#{1,6}\s/.test(line));
  const title = heading?.replace(/^ {0,3}#+\s+/, '').replace(/\s+#*$/, '');
  const under = title === undefined || title.includes('${') ? [] : [title];
  return [path, ...under, `line ${at + 1}`].map(sanitiseLine).join(', ');
}

function viewEdit(
  { before, after, addresses }: ColumnEdit['edits'][number],
  change: Change | undefined,
  path: string,
): EditView {
  const sides = inlineSides(before, after);
  const rows = formatRows(addresses);
  const callouts = listOwn(change, path, [before, after]);
  return {
    before: sides.before,
    after: sides.after,
    rows,
    callouts: callouts.filter(({ sort }) => RULES.has(sort)).map(calloutWords),
    isReversed: callouts.some(({ sort }) => sort === 'reversed'),
    unseen: listUnseen(before, after),
    view: { ...viewSides(rows, before, after, () => callouts), remark: null },
  };
}

/** Rows that are named of an edit. */
const MOST_ROWS = 3;

/** `2 rows, harbor, lakeside`, `67 rows, alder-bay-main-street and 66 more` */
function formatRows(addresses: readonly Address[]): string {
  const keys = addresses.map((address) => sanitiseLine(rowKey(address) ?? address));
  const most = keys.length > MOST_ROWS ? 1 : MOST_ROWS;
  const named = formatFirst(keys, most);
  return `${formatCount(keys.length, 'row')}, ${named}`;
}

/** Sorts of call-outs that are said of a rule; the others stand in the values. */
const RULES: ReadonlySet<Callout['sort']> = new Set([
  'reversed',
  'removed',
  'added',
  'changed',
  'moved',
]);

/** The call-outs of a field that are about one of its values. */
function listOwn(
  change: Change | undefined,
  path: string,
  sides: readonly unknown[],
): readonly Callout[] {
  const values = sides.filter((side) => typeof side === 'string' && side !== '') as string[];
  const isAbout = ({ before, after }: Callout) =>
    [before, after].some(
      (text) =>
        text !== null && values.some((value) => text.includes(value) || value.includes(text)),
    );
  return (change?.callouts ?? []).filter((one) => one.path === path && isAbout(one));
}

function viewForm(
  { before, after, addresses }: NonNullable<ColumnEdit['forms']>[number],
  change: Change | undefined,
  path: string,
): FormView {
  const names = nameGaps([before, after]);
  const field = change?.fields.find((one) => one.path === path);
  return {
    title: `${formatCount(addresses.length, 'different text')}`,
    before: before === null ? null : formText(before, names.get(before) ?? []),
    after: after === null ? null : formText(after, names.get(after) ?? []),
    gaps: [before, after].flatMap((form) =>
      (form?.gaps ?? []).map((gap, at) => `${names.get(form)?.[at] ?? ''}: ${gapText(gap)}`),
    ),
    callouts: listOwn(change, path, [field?.before, field?.after])
      .filter(({ sort }) => RULES.has(sort))
      .map(calloutWords),
  };
}

/** `<n>` for the only number, `<1>` and `<2>` for other gaps. */
function nameGaps(forms: readonly (TextForm | null)[]) {
  const all = forms.flatMap((form) => form?.gaps.map((gap) => ({ form, gap })) ?? []);
  const isOnly = all.filter(({ gap }) => gap.from !== undefined).length === 1;
  const names = new Map<TextForm | null, string[]>();
  let count = 0;
  for (const { form, gap } of all) {
    const name = isOnly && gap.from !== undefined ? '<n>' : `<${++count}>`;
    names.set(form, [...(names.get(form) ?? []), name]);
  }
  return names;
}

function formText({ pieces }: TextForm, names: readonly string[]): string {
  return inlineValue(pieces.map((piece, at) => piece + (names[at] ?? '')).join(''));
}

/** `0 to 999`, `412 numbers from 3 to 990`, `60 different, such as "Alder Bay"` */
function gapText({ count, from, to, in_row: isCounting, examples = [] }: TextForm['gaps'][number]) {
  if (from === undefined || to === undefined) {
    const some = formatList(examples.map((text) => inlineValue(text)));
    return `${formatNumber(count)} different, such as ${some}`;
  }
  const range = `${from} to ${to}`;
  if (isCounting === true) return range;
  return `${formatCount(count, 'different number')} from ${range}`;
}

/** `hours in 1,000 rows, greeting in 999 rows` */
export function columnTitles(columns: readonly ColumnView[]): readonly string[] {
  return columns.map(({ name, rows }) => `${name} in ${formatCount(rows, 'row')}`);
}

/** The edit of a table in sentences, for a view that has no layout of its own for it. */
export function columnSentences(columns: readonly ColumnView[]): readonly string[] {
  return columns.flatMap(({ name, rows, leads, edits, forms }) => [
    `${name} in ${formatCount(rows, 'row')}: ${leads.join('; ')}`,
    ...edits.map(
      ({ before, after, rows: own, callouts, unseen }) =>
        `${name}: ${before} → ${after} (${[own, ...callouts.map(ruleText), ...unseen].join('; ')})`,
    ),
    ...forms.map(({ title, before, after, gaps, callouts }) => {
      const more = [...gaps, ...callouts.map(ruleText)].join('; ');
      return `${name}, ${title}: ${before ?? '(none)'} → ${after ?? '(none)'}${more === '' ? '' : ` (${more})`}`;
    }),
  ]);
}

/** `rule reversed: "Do not diagnose." → "You may diagnose."` */
export function ruleText({ lead, before, after }: CalloutWords): string {
  return `${lead} ${[before, after].filter((text) => text !== null).join(' → ')}`;
}
