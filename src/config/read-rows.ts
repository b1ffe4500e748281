import { parseCsv, type Table } from './csv.ts';
import { fileWords } from './file-words.ts';
import { isUnreadable } from './folder.ts';
import { FORMS } from './forms.ts';
import { hide } from './hide.ts';
import { interpolate } from './interpolate.ts';
import { REMOVE, REPLACE } from './lay-over.ts';
import { nearest } from './nearest.ts';
import type { Problem, Report } from './problems.ts';
import type { Context } from './resolved.ts';
import { type Place, type Source, startOf } from './source.ts';
import { describe, type Member, memberOf, type Written, type WrittenMap } from './written.ts';
import { parseYaml } from './yaml.ts';

/** What a resource says of its rows. */
export type Loop = {
  readonly forEach: Member;
  readonly key: Member | undefined;
  /** Whether it may have no rows at all. */
  readonly allowEmpty: boolean;
  /** Columns that sensitive fields are filled in from. */
  readonly hidden: ReadonlySet<string>;
};

/** The rows of a table. */
export type Rows = Pick<Table, 'columns' | 'rows'> & {
  readonly label: string;
  /** The column that keys a table which is written as a map. */
  readonly keyColumn?: string;
};

/** Columns of rows that are no maps: `${each.value}`, and `${each.key}` of a map of rows. */
const VALUE = 'value';
const KEY = 'key';

/** What rows are called that are written in place. */
export const FOR_EACH = 'for_each';

/** Reports a problem with `for_each`. `problem.message` begins with a verb. */
export function reportRows(context: Context, place: Place, problem: Problem): void {
  const { subject, address } = context;
  const message = `${subject}: for_each ${problem.message}`;
  context.report.add({ ...problem, message, address, path: 'for_each', place });
}

/** Hides a column in every row that was read, also in one that comes to no resource. */
export function hideColumns(
  rows: readonly WrittenMap[],
  { mask }: Report,
): (column: string) => void {
  const hidden = new Set<string>();
  return (column) => {
    if (hidden.has(column)) return;
    hidden.add(column);
    for (const { members } of rows) {
      const cell = members.get(column)?.value;
      if (cell !== undefined) mask(cell.place);
      if (cell?.origin !== undefined) mask(cell.origin);
    }
  };
}

/** The rows of a resource; undefined after saying what is wrong with them. */
export function readRows({ forEach: { value }, hidden }: Loop, context: Context): Rows | undefined {
  const file = memberOf(value, '$file');
  if (file !== undefined && value.type === 'map' && value.members.size === 1) {
    return readRowFile(file.value, hidden, context);
  }
  return rowsIn(value, FOR_EACH, context);
}

/** The path of a file of rows; undefined after saying what is wrong with it. */
function rowPath(node: Written, context: Context): string | undefined {
  if (node.type !== 'scalar' || typeof node.value !== 'string') {
    reportRows(context, node.place, { rule: 'form/value', message: 'needs a text after $file' });
    return undefined;
  }
  const { text, problems } = interpolate(node.value, context);
  for (const { problem } of problems) reportRows(context, node.place, problem);
  return text;
}

function readRowFile(
  node: Written,
  hidden: ReadonlySet<string>,
  context: Context,
): Rows | undefined {
  const path = rowPath(node, context);
  if (path === undefined || context.isResourceFile(path)) return undefined;
  const found = context.folder.text(path);
  // UTF-16 without its mark reads as UTF-8 with zeros in between, which no table has.
  const isText = isUnreadable(found) || !found.source.text.includes('\0');
  const read = isText ? found : ({ reason: 'encoding' } as const);
  if (isUnreadable(read)) {
    reportRows(context, node.place, fileWords(path, read));
    return undefined;
  }
  if (/\.csv$/i.test(path)) return readCsvRows(read.source, path, hidden, context);
  if (/\.(json|ya?ml)$/i.test(path)) return readYamlRows(read.source, path, hidden, context);
  reportRows(context, node.place, {
    rule: 'for-each/file',
    message: `reads ${path}, whose name does not say what it is`,
    hint: 'Rows come from a file that ends in .csv, .json, .yaml or .yml',
  });
  return undefined;
}

function readCsvRows(
  source: Source,
  label: string,
  hidden: ReadonlySet<string>,
  context: Context,
): Rows | undefined {
  const { columns, rows, doubtful, problems } = parseCsv(source);
  for (const problem of problems) context.report.add(problem);
  if (problems.length === 0) return { columns, rows, label };
  const hideColumn = hideColumns(rows, context.report);
  for (const column of hidden) hideColumn(column);
  // Any cell there may be one of a hidden column.
  if (hidden.size > 0) for (const place of doubtful) context.report.mask(place);
  return undefined;
}

function readYamlRows(
  source: Source,
  label: string,
  hidden: ReadonlySet<string>,
  context: Context,
): Rows | undefined {
  const { root, problems } = parseYaml(source);
  for (const problem of problems) context.report.add(problem);
  if (root === undefined || problems.some(({ severity }) => severity !== 'warning')) {
    if (hidden.size > 0) context.report.mask({ source, start: 0, end: source.text.length });
    return undefined;
  }
  if (root.type === 'scalar' && root.empty) return { columns: [], rows: [], label };
  return rowsIn(root, label, context);
}

/** Rows of a list of maps, of a list of plain values, or of a map of maps. */
function rowsIn(node: Written, label: string, context: Context): Rows | undefined {
  if (node.type === 'list') {
    return tableOf(
      node.items.flatMap((item) => rowOf(item, label, context) ?? []),
      label,
    );
  }
  if (node.type === 'map') {
    const form = formAmongRows(node);
    if (form !== undefined) {
      const { member, ...problem } = form;
      // What stands there may be the secret itself.
      if (member.key === '$secret') hide(context, node);
      reportRows(context, member.keyPlace, problem);
      return undefined;
    }
    const rows = [...node.members.values()].flatMap((member) => {
      const row = rowOf(member.value, label, context);
      return row === undefined ? [] : [withKey(row, member)];
    });
    return { ...tableOf(rows, label), keyColumn: KEY };
  }
  reportRows(context, node.place.source.text === '' ? startOf(node.place.source) : node.place, {
    rule: 'for-each/rows',
    message: `takes a list of rows, a map of rows or { $file: … }, not ${describe(node)}`,
  });
  return undefined;
}

function tableOf(rows: readonly WrittenMap[], label: string): Rows {
  const columns = new Set(rows.flatMap(({ members }) => [...members.keys()]));
  return { columns: [...columns], rows, label };
}

function rowOf(node: Written, label: string, context: Context): WrittenMap | undefined {
  if (node.type === 'map' && !isForm(node)) return node;
  if (node.type === 'scalar' && node.value !== null) {
    const member: Member = { key: VALUE, keyPlace: node.place, value: node };
    return { type: 'map', place: node.place, members: new Map([[VALUE, member]]) };
  }
  reportRows(context, node.place, {
    rule: 'for-each/rows',
    message: `has a row in ${label} that is ${node.type === 'map' ? 'a form' : describe(node)}`,
    hint: 'A row is a map of columns, or one plain value, which reads as ${each.value}',
  });
  return undefined;
}

function withKey(row: WrittenMap, { key, keyPlace }: Member): WrittenMap {
  const value: Written = {
    type: 'scalar',
    place: keyPlace,
    value: key,
    text: key,
    empty: false,
  };
  const members = new Map([[KEY, { key: KEY, keyPlace, value }], ...row.members]);
  return { ...row, members };
}

const FILE = '$file';
const NO_ROWS: readonly string[] = [...FORMS, REMOVE, REPLACE];
const HINT =
  'Rows are given as { $file: rows.csv }, as a list, or as a map whose keys are names; a resource has rows or has none in every environment';

/**
 * What is wrong with a map of rows of which a key begins with `$`, as a form's does: no row has such a
 * name, and a typo in a form must not become one. Undefined where nothing is.
 */
function formAmongRows(node: WrittenMap): (Problem & { member: Member }) | undefined {
  const members = [...node.members.values()];
  const form = members.find(({ key }) => NO_ROWS.includes(key));
  if (form?.key === FILE) {
    const member = members.find((other) => other !== form) ?? form;
    return {
      rule: 'form/mixed',
      message: `has ${member.key} beside ${FILE}`,
      hint: `${FILE} stands alone in its object`,
      member,
    };
  }
  if (form !== undefined) {
    const message = `cannot be given as ${form.key}`;
    return { rule: 'for-each/rows', message, hint: HINT, member: form };
  }
  const strange = members.find(({ key }) => key.startsWith('$'));
  if (strange === undefined) return undefined;
  const close = nearest(strange.key, FORMS);
  const hint = close === undefined ? HINT : `Did you mean ${close}?`;
  const message = `has the unknown form ${strange.key}`;
  return { rule: 'form/unknown', message, hint, member: strange };
}

/** Whether an element of a list of rows is a form, such as `{ $file: rows.csv }`, and no row. */
function isForm({ members }: WrittenMap): boolean {
  return FORMS.some((name) => members.has(name));
}
