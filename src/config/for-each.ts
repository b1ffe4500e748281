import { parseCsv, type Table } from './csv.ts';
import { fileWords } from './file-words.ts';
import { isUnreadable } from './folder.ts';
import { interpolate } from './interpolate.ts';
import type { Problem } from './problems.ts';
import type { Context } from './resolved.ts';
import type { Row } from './rows.ts';
import { formatPosition, type Place, positionOf, type Source, startOf } from './source.ts';
import { describe, type Member, memberOf, type Written, type WrittenMap } from './written.ts';
import { parseYaml } from './yaml.ts';

/** A row with the key that makes it a resource of its own. */
export type KeyedRow = { readonly key: string; readonly row: Row };

/** What a resource says of its rows. */
export type Loop = {
  readonly forEach: Member;
  readonly key: Member | undefined;
  /** Whether it may have no rows at all. */
  readonly allowEmpty: boolean;
};

type Rows = Pick<Table, 'columns' | 'rows'> & {
  readonly label: string;
  /** The column that keys a table which is written as a map. */
  readonly keyColumn?: string;
};

/** Columns of rows that are no maps: `${each.value}`, and `${each.key}` of a map of rows. */
const VALUE = 'value';
const KEY = 'key';

/**
 * The rows of a resource, each with its key. Every problem is reported; a row that has one is left out.
 * Rows that come to nothing are an error unless that is allowed in so many words: an emptied table must
 * not read as "delete them all".
 */
export function readLoop(loop: Loop, context: Context): readonly KeyedRow[] {
  const rows = readRows(loop.forEach, context);
  if (rows === undefined) return [];
  if (rows.rows.length === 0 && !loop.allowEmpty) reportEmpty(loop.forEach, rows.label, context);
  const columns = new Set(rows.columns);
  const known = new Map<string, Place>();
  return rows.rows.flatMap((cells) => {
    const row: Row = { label: rows.label, columns, cells };
    const found = keyOf(loop, rows, row, context);
    if (found === undefined) return [];
    const first = known.get(found.key);
    if (first !== undefined) {
      report(context, found.place, {
        rule: 'for-each/duplicate-key',
        message: `has two rows whose key is ${JSON.stringify(found.key)}, the first at ${formatPosition(positionOf(first))}`,
        hint: 'The key is part of the address; give each row its own',
      });
      return [];
    }
    known.set(found.key, found.place);
    return [{ key: found.key, row }];
  });
}

function report(context: Context, place: Place, problem: Problem): void {
  const { subject, address } = context;
  const message = `${subject}: for_each ${problem.message}`;
  context.report.add({ ...problem, message, address, path: 'for_each', place });
}

function reportEmpty(member: Member, label: string, context: Context): void {
  report(context, member.keyPlace, {
    rule: 'for-each/empty',
    message: label === FOR_EACH ? 'has no rows' : `has no rows: ${label} holds none`,
    hint: 'Add allow_empty: true beside it if none is what you want; resources that it had would then be deleted',
  });
}

/** What rows are called that are written in place. */
const FOR_EACH = 'for_each';

function readRows({ value }: Member, context: Context): Rows | undefined {
  const file = memberOf(value, '$file');
  if (file !== undefined && value.type === 'map' && value.members.size === 1) {
    return readRowFile(file.value, context);
  }
  const form = value.type === 'map' && [...value.members.keys()].find((key) => key.startsWith('$'));
  if (!form) return rowsIn(value, FOR_EACH, context);
  report(context, value.place, {
    rule: 'for-each/rows',
    message: `cannot be given as ${form}`,
    hint: 'A resource has rows or has none in every environment; { $file: … } alone gives it other rows',
  });
  return undefined;
}

/** The path of a file of rows; undefined after saying what is wrong with it. */
function rowPath(node: Written, context: Context): string | undefined {
  if (node.type !== 'scalar' || typeof node.value !== 'string') {
    report(context, node.place, { rule: 'form/value', message: 'needs a text after $file' });
    return undefined;
  }
  const { text, problems } = interpolate(node.value, context);
  for (const { problem } of problems) report(context, node.place, problem);
  return text;
}

function readRowFile(node: Written, context: Context): Rows | undefined {
  const path = rowPath(node, context);
  if (path === undefined || context.isResourceFile(path)) return undefined;
  const read = context.folder.text(path);
  if (isUnreadable(read)) {
    report(context, node.place, fileWords(path, read));
    return undefined;
  }
  if (/\.csv$/i.test(path)) return readCsvRows(read.source, path, context);
  if (/\.(json|ya?ml)$/i.test(path)) return readYamlRows(read.source, path, context);
  report(context, node.place, {
    rule: 'for-each/file',
    message: `reads ${path}, whose name does not say what it is`,
    hint: 'Rows come from a file that ends in .csv, .json, .yaml or .yml',
  });
  return undefined;
}

function readCsvRows(source: Source, label: string, context: Context): Rows | undefined {
  const { columns, rows, problems } = parseCsv(source);
  for (const problem of problems) context.report.add(problem);
  return problems.length > 0 ? undefined : { columns, rows, label };
}

function readYamlRows(source: Source, label: string, context: Context): Rows | undefined {
  const { root, problems } = parseYaml(source);
  for (const problem of problems) context.report.add(problem);
  if (root === undefined || problems.some(({ severity }) => severity !== 'warning'))
    return undefined;
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
    const rows = [...node.members.values()].flatMap((member) => {
      const row = rowOf(member.value, label, context);
      return row === undefined ? [] : [withKey(row, member)];
    });
    return { ...tableOf(rows, label), keyColumn: KEY };
  }
  report(context, node.place.source.text === '' ? startOf(node.place.source) : node.place, {
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
  if (node.type === 'map') return node;
  if (node.type === 'scalar' && node.value !== null) {
    const member: Member = { key: VALUE, keyPlace: node.place, value: node };
    return { type: 'map', place: node.place, members: new Map([[VALUE, member]]) };
  }
  report(context, node.place, {
    rule: 'for-each/rows',
    message: `has a row in ${label} that is ${describe(node)}`,
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

/** A key stands in addresses that people read and type. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

type Key = { readonly key: string; readonly place: Place };

function keyOf(loop: Loop, rows: Rows, row: Row, context: Context): Key | undefined {
  const column = rows.keyColumn;
  const written: Written | undefined = loop.key?.value ?? memberOf(row.cells, column ?? '')?.value;
  if (written === undefined) {
    reportKey(context, loop.forEach.keyPlace, {
      rule: 'for-each/key',
      message: 'has for_each and no key',
      hint: `Add key: \${each.${rows.columns[0] ?? 'name'}}, which makes the rows' addresses`,
    });
    return undefined;
  }
  if (written.type !== 'scalar' || written.value === null) {
    reportKey(context, written.place, { rule: 'for-each/key', message: 'needs a text as its key' });
    return undefined;
  }
  const text = written.text;
  const filled =
    loop.key === undefined ? { text, problems: [] } : interpolate(text, { ...context, row });
  for (const { problem } of filled.problems) reportKey(context, written.place, problem);
  if (filled.text === undefined) return undefined;
  const key = filled.text.trim();
  if (key !== '' && !UNSEEN.test(key)) return { key, place: row.cells.place };
  reportKey(context, row.cells.place, {
    rule: 'for-each/key',
    message:
      key === '' ? 'has a row without a key' : 'has a key with characters that cannot be seen',
    hint: `The key is ${text}; every row needs one, as it is part of the address`,
  });
  return undefined;
}

function reportKey(context: Context, place: Place, problem: Problem): void {
  const { subject, address } = context;
  context.report.add({
    ...problem,
    message: `${subject} ${problem.message}`,
    address,
    path: 'key',
    place,
  });
}
