import { normalize } from 'node:path/posix';
import { formatAddress } from '../core/address.ts';
import { formatPosition, isError } from '../core/diagnostics.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Kind } from '../kinds/kind.ts';
import { listEnvironments, SHARED_MEMBERS } from './collect.ts';
import { parseCsv, type Table } from './csv.ts';
import type { Problem, Report } from './diagnostics.ts';
import { formatEach, interpolate, type Row } from './expressions.ts';
import { fileProblem, isUnreadable, STACK_FILE } from './folder.ts';
import { FORMS } from './forms.ts';
import { REMOVE, REPLACE } from './merge.ts';
import { type Context, fail, redactNode, redactWritten } from './resolved.ts';
import {
  describe,
  findMember,
  getStart,
  type MapNode,
  type Member,
  membersIn,
  onlyMember,
  type Source,
  type SourceRange,
  type SyntaxNode,
  textIn,
  toPosition,
} from './source.ts';
import type { Variables } from './variables.ts';
import { parseYaml } from './yaml.ts';

/** The members of a resource that make its rows. */
export type Loop = {
  readonly forEach: Member;
  readonly key: Member | undefined;
  readonly allowEmpty: boolean;
  /** Columns that sensitive fields are filled in from. */
  readonly hidden: ReadonlySet<string>;
};

/** The rows of a table. */
type Rows = Pick<Table, 'columns' | 'rows'> & {
  readonly label: string;
  /** The column that keys a table which is written as a map. */
  readonly keyColumn?: string;
};

/** Columns of rows that are no maps: `${each.value}`, and `${each.key}` of a map of rows. */
const VALUE = 'value';
const KEY = 'key';

/** Rows that are written in place have this name in messages. */
const FOR_EACH = 'for_each';

/** Reports a problem with `for_each`. `problem.message` begins with a verb. */
export function reportRows(context: Context, range: SourceRange, problem: Problem): void {
  fail(context, { path: [FOR_EACH] }, range, problem);
}

/** Hides columns in every row that was read, also in one that comes to no resource. */
function openRedaction(rows: readonly MapNode[], report: Report): Row['redaction'] {
  const hidden = new Set<string>();
  return {
    isHidden: (column) => hidden.has(column),
    hide: (column) => {
      if (hidden.has(column)) return;
      hidden.add(column);
      for (const { members } of rows) {
        const cell = members.get(column)?.value;
        if (cell !== undefined) redactWritten(report, cell);
      }
    },
  };
}

/** The rows of a resource; undefined after saying what is wrong with them. */
function readRows({ forEach: { value }, hidden }: Loop, context: Context): Rows | undefined {
  const file = onlyMember(value, FILE);
  if (file !== undefined) return readRowFile(file.value, hidden, context);
  return rowsIn(value, FOR_EACH, context);
}

/** The path of a file of rows; undefined after saying what is wrong with it. */
function rowPath(node: SyntaxNode, context: Context): string | undefined {
  const written = textIn(node);
  if (written === undefined) {
    reportRows(context, node.range, { rule: 'form/value', message: 'needs a text after $file' });
    return undefined;
  }
  const { text, problems } = interpolate(written, context);
  for (const { problem } of problems) reportRows(context, node.range, problem);
  return text;
}

function readRowFile(
  node: SyntaxNode,
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
    reportRows(context, node.range, fileProblem(path, read, context.folder));
    return undefined;
  }
  if (/\.csv$/i.test(path)) return readCsvRows(read.source, path, hidden, context);
  if (/\.(json|ya?ml)$/i.test(path)) return readYamlRows(read.source, path, hidden, context);
  reportRows(context, node.range, {
    rule: 'for-each/file',
    message: `reads ${path}, whose name does not show its format`,
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
  context.onLines?.(source.text.split('\n').length);
  const { columns, rows, doubtful, problems } = parseCsv(source);
  for (const problem of problems) context.report.add(problem);
  // A row keeps the last of the columns that share a name.
  if ([...hidden].some((name) => columns.indexOf(name) < columns.lastIndexOf(name)))
    context.report.mask({ source, start: 0, end: source.text.length });
  if (problems.length === 0) return { columns, rows, label };
  const redaction = openRedaction(rows, context.report);
  for (const column of hidden) redaction.hide(column);
  // Any cell there may be one of a hidden column.
  if (hidden.size > 0) for (const range of doubtful) context.report.mask(range);
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
  if (root === undefined || problems.some(isError)) {
    if (hidden.size > 0) context.report.mask({ source, start: 0, end: source.text.length });
    return undefined;
  }
  if (root.type === 'scalar' && root.empty) return { columns: [], rows: [], label };
  return rowsIn(root, label, context);
}

/** Rows of a list of maps, of a list of plain values, or of a map of maps. */
function rowsIn(node: SyntaxNode, label: string, context: Context): Rows | undefined {
  if (node.type === 'list') {
    return buildTable(
      node.items.flatMap((item) => readRow(item, label, context) ?? []),
      label,
    );
  }
  if (node.type === 'map') {
    const form = formAmongRows(node);
    if (form !== undefined) {
      const { member, ...problem } = form;
      // The text may be the secret itself.
      if (member.key === '$secret') redactNode(context, node);
      reportRows(context, member.keyPlace, problem);
      return undefined;
    }
    const rows = membersIn(node).flatMap((member) => {
      const row = readRow(member.value, label, context);
      return row === undefined ? [] : [withKey(row, member)];
    });
    return { ...buildTable(rows, label), keyColumn: KEY };
  }
  reportRows(context, node.range.source.text === '' ? getStart(node.range.source) : node.range, {
    rule: 'for-each/rows',
    message: `takes a list of rows, a map of rows or { $file: … }, not ${describe(node)}`,
  });
  return undefined;
}

function buildTable(rows: readonly MapNode[], label: string): Rows {
  const columns = new Set(rows.flatMap(({ members }) => [...members.keys()]));
  return { columns: [...columns], rows, label };
}

function readRow(node: SyntaxNode, label: string, context: Context): MapNode | undefined {
  if (node.type === 'map' && !isForm(node)) return node;
  if (node.type === 'scalar' && node.value !== null) {
    const member: Member = { key: VALUE, keyPlace: node.range, value: node };
    return { type: 'map', range: node.range, members: new Map([[VALUE, member]]) };
  }
  reportRows(context, node.range, {
    rule: 'for-each/rows',
    message: `has a row in ${label} that is ${node.type === 'map' ? 'a form' : describe(node)}`,
    hint: 'A row is a map of columns, or one plain value, available as ${each.value}',
  });
  return undefined;
}

function withKey(row: MapNode, { key, keyPlace }: Member): MapNode {
  const value: SyntaxNode = {
    type: 'scalar',
    range: keyPlace,
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
  'Write rows as { $file: rows.csv }, as a list, or as a map whose keys are names. A resource must have rows in every environment or in none';

/**
 * Refuses a map of rows in which a key begins with `$`, as a form's does: no row has such a name, and a typo in a
 * form must not become one. Undefined if there is none.
 */
function formAmongRows(node: MapNode): (Problem & { member: Member }) | undefined {
  const members = membersIn(node);
  const form = members.find(({ key }) => NO_ROWS.includes(key));
  if (form?.key === FILE) {
    const member = members.find((other) => other !== form) ?? form;
    return {
      rule: 'form/mixed',
      message: `has ${member.key} next to ${FILE}`,
      hint: `${FILE} must be the only member of its object`,
      member,
    };
  }
  if (form !== undefined) {
    const message = `cannot be given as ${form.key}`;
    return { rule: 'for-each/rows', message, hint: HINT, member: form };
  }
  const strange = members.find(({ key }) => key.startsWith('$'));
  if (strange === undefined) return undefined;
  const hint = didYouMean(strange.key, FORMS, HINT);
  const message = `has the unknown form ${strange.key}`;
  return { rule: 'form/unknown', message, hint, member: strange };
}

/** Returns true for a form such as `{ $file: rows.csv }`, which is no row. */
function isForm({ members }: MapNode): boolean {
  return FORMS.some((name) => members.has(name));
}

/** A row with the key that makes it a resource of its own. */
type KeyedRow = { readonly key: string; readonly row: Row };

/**
 * The rows of a resource, each with its key. Every problem is reported; a row that has one is left out.
 * Rows that come to nothing are an error unless that is allowed in so many words: an emptied table must
 * not read as "delete them all".
 */
export function readLoop(loop: Loop, context: Context): readonly KeyedRow[] {
  const rows = readRows(loop, context);
  if (rows === undefined) return [];
  const redaction = openRedaction(rows.rows, context.report);
  for (const column of loop.hidden) redaction.hide(column);
  if (rows.rows.length === 0 && !loop.allowEmpty) reportEmpty(loop.forEach, rows.label, context);
  const columns = new Set(rows.columns);
  const repeated = new Set(rows.columns.filter((name, at) => rows.columns.indexOf(name) < at));
  const known = new Map<string, SourceRange>();
  return rows.rows.flatMap((cells) => {
    const row: Row = { label: rows.label, columns, repeated, cells, redaction };
    const found = readKey(loop, rows, row, context);
    if (found === undefined) return [];
    const first = known.get(found.key);
    if (first !== undefined) {
      reportRows(context, found.range, {
        rule: 'for-each/duplicate-key',
        message: `has two rows whose key is ${JSON.stringify(found.key)}, the first at ${formatPosition(toPosition(first))}`,
        hint: 'The key is part of the address. Give each row its own',
      });
      return [];
    }
    known.set(found.key, found.range);
    return [{ key: found.key, row }];
  });
}

function reportEmpty(member: Member, label: string, context: Context): void {
  reportRows(context, member.keyPlace, {
    rule: 'for-each/empty',
    message: label === FOR_EACH ? 'has no rows' : `has no rows: ${label} is empty`,
    hint: 'If this is intended, add allow_empty: true next to for_each. The next plan then deletes the resources that it had',
  });
}

/** A key stands in addresses that people read and type. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

type Key = { readonly key: string; readonly range: SourceRange };

function readKey(loop: Loop, rows: Rows, row: Row, context: Context): Key | undefined {
  const column = rows.keyColumn;
  const written: SyntaxNode | undefined =
    loop.key?.value ?? findMember(row.cells, column ?? '')?.value;
  if (written === undefined) {
    reportKey(context, loop.forEach.keyPlace, {
      rule: 'for-each/key',
      message: 'has for_each and no key',
      hint: `Add key: ${formatEach([rows.columns.find((name) => name !== '') ?? 'name'])}, which makes the rows' addresses`,
    });
    return undefined;
  }
  if (written.type !== 'scalar' || written.value === null) {
    reportKey(context, written.range, { rule: 'for-each/key', message: 'needs a text as its key' });
    return undefined;
  }
  const text = written.text;
  const filled =
    loop.key === undefined ? { text, problems: [] } : interpolate(text, { ...context, row });
  for (const { problem } of filled.problems) reportKey(context, written.range, problem);
  if (filled.text === undefined) return undefined;
  const key = filled.text.trim();
  if (key !== '' && !UNSEEN.test(key)) return { key, range: row.cells.range };
  reportKey(context, row.cells.range, {
    rule: 'for-each/key',
    message: key === '' ? 'has a row without a key' : 'has a key with invisible characters',
    hint: `The key is ${text}. Every row needs one, because it is part of the address`,
  });
  return undefined;
}

function reportKey(context: Context, range: SourceRange, problem: Problem): void {
  const { subject, address } = context;
  context.report.add({
    ...problem,
    message: `${subject} ${problem.message}`,
    address,
    path: 'key',
    range,
  });
}

/** A file of the stack that could be parsed. */
type Root = { readonly root: SyntaxNode; readonly main: boolean };

/**
 * Tells the files of a stack that hold resources from the tables among them: a YAML file that some `for_each` reads its
 * rows from lies there, too. One that has resources all the same stays: left out, they would be planned as deletes.
 */
type RowFiles = {
  /** Returns true if a file is surely one of the stack; of others that is known once all were read. */
  readonly add: (file: Root) => boolean;
  /** The other files that are none of rows. Reports each `for_each` that names a file of the stack. */
  readonly settle: () => readonly Root[];
  /** True if a path is that of a stack file, which is no table; a `for_each` that names it was reported. */
  readonly isResourceFile: (path: string) => boolean;
};

export function openRowFiles(
  kinds: readonly Kind[],
  variables: Variables,
  report: Report,
): RowFiles {
  const known = [...kinds.map(({ section }) => section), ...SHARED_MEMBERS];
  const uses: Use[] = [];
  const others: Root[] = [];
  /** The key that makes a file one of the stack, by file. */
  const held = new Map<string, string>();
  return {
    add: (file) => {
      const { root, main } = file;
      uses.push(...rowFilesIn(root, kinds, variables));
      const key = main
        ? membersIn(root)[0]?.key
        : known.find((name) => findMember(root, name) !== undefined);
      if (key === undefined) others.push(file);
      else held.set(root.range.source.file, key);
      return key !== undefined;
    },
    settle: () => {
      for (const use of uses) {
        const key = held.get(use.path);
        if (key !== undefined) refuse(use, key, report);
      }
      const rows = new Set(uses.map(({ path }) => path));
      const kept = others.filter(({ root }) => !rows.has(root.range.source.file));
      for (const { root } of kept) held.set(root.range.source.file, '');
      return kept;
    },
    // `./data//rows.yaml` is the file that is called `data/rows.yaml`.
    isResourceFile: (path) => held.has(normalize(path)),
  };
}

/** A `$file` of some `for_each`. */
type Use = {
  readonly subject: string;
  readonly path: string;
  /** As it is written. */
  readonly text: string;
  readonly range: SourceRange;
};

function refuse({ subject, text, range }: Use, held: string, report: Report): void {
  report.add({
    rule: 'for-each/file',
    message: `${subject}: for_each reads ${text}, which is a file of the stack itself: it has ${held}`,
    hint: 'Put the rows into a file of their own',
    range,
  });
}

function rowFilesIn(
  root: SyntaxNode,
  kinds: readonly Kind[],
  variables: Variables,
): readonly Use[] {
  const resources = kinds.flatMap((kind) =>
    membersIn(findMember(root, kind.section)?.value).flatMap((member) => resourcesIn(member, kind)),
  );
  const patches = listEnvironments(root).flatMap(({ key: name, value }) =>
    membersIn(findMember(value, 'patches')?.value).map(({ key, value }) => ({
      subject: `${STACK_FILE}: environments.${name}.patches.${key}`,
      value,
    })),
  );
  return [...resources, ...patches].flatMap(({ subject, value }) => {
    const node = findMember(findMember(value, 'for_each')?.value, '$file')?.value;
    const text = textIn(node);
    const path = text === undefined ? undefined : interpolate(text, { variables }).text;
    return node && text !== undefined && path !== undefined
      ? [{ subject, text, range: node.range, path: normalize(path) }]
      : [];
  });
}

/** A resource, or those that a block holds. */
function resourcesIn({ key, value }: Member, { name, nested }: Kind) {
  if (nested === undefined) return [{ subject: formatAddress(name, [key]), value }];
  return membersIn(findMember(value, nested.key)?.value).map((inner) => ({
    subject: formatAddress(name, [key, inner.key]),
    value: inner.value,
  }));
}
