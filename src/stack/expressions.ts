import { isResourceName } from '../core/address.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Problem } from './diagnostics.ts';
import { STACK_FILE } from './folder.ts';
import {
  findMember,
  listChildren,
  type MapNode,
  type Member,
  membersIn,
  type ScalarNode,
  type SourceRange,
  type SyntaxNode,
  textIn,
} from './source.ts';
import type { Variables } from './variables.ts';

/** `$${`, or `${…}` with what stands inside; the closing brace may be missing. */
const EXPRESSION = /\$\$\{|\$\{([^{}\n]*)(\}?)/g;
const WHOLE = /^\$\{([^{}\n]*)\}$/;

export type Scope = {
  readonly variables: Variables;
  /** The row of a resource with `for_each`. */
  readonly row?: Row | undefined;
  /** Values of `with` by name; undefined where one could not be worked out. */
  readonly given?: ReadonlyMap<string, Given | undefined>;
  /** Takes the names of `given` that a text asks for. */
  readonly used?: Set<string>;
};

/** A value of `with`, and what it is made of. */
export type Given = { readonly text: string; readonly parts: () => readonly Part[] };

/** A piece of a text, and what gave it. */
export type Part = {
  readonly text: string;
  /** Finds a stretch of the piece in the files; undefined where it comes from outside of them. */
  readonly findRange: ((start: number, end: number) => SourceRange) | undefined;
  /** The expression that it stands for (`${each.name}`), and what is inside: one object for all pieces of one. */
  readonly filled?: { readonly expression: string; readonly inner: string };
  /** The column of the cell that gave it. */
  readonly column?: string;
  /** The variable that gave it. */
  readonly variable?: string;
};

type Interpolated = {
  /** Undefined where an expression could not be filled in. */
  readonly text: string | undefined;
  /** Problems with the expression each is about; the caller knows where the text stands, unless a problem has a place of its own. */
  readonly problems: readonly Misfit[];
  /** The text is one expression and nothing else, so that it may stand for a number or a truth value. */
  readonly whole: boolean;
};

/** `offset` is that of the expression in the text. */
type Misfit = { readonly expression: string; readonly offset: number; readonly problem: Problem };

/** Returns the inside of a text that is one expression and nothing else. */
export function wholeExpression(text: string): string | undefined {
  return text.startsWith('${') ? WHOLE.exec(text)?.[1]?.trim() : undefined;
}

/** Returns the inside of each expression of a text. */
export function expressionsIn(text: string): readonly string[] {
  if (!text.includes('${')) return [];
  return [...text.matchAll(EXPRESSION)].flatMap(([, inner, close]) =>
    inner === undefined || close === '' ? [] : inner.trim(),
  );
}

/** The variable that an expression names; undefined where it is about something else. */
export function variableName(expression: string): string | undefined {
  return /^var\.([A-Za-z_][\w-]*)$/.exec(expression)?.[1];
}

/** A text in which nothing is filled in any more: data from a table is never read as an expression. */
function escapeExpressions(text: string): string {
  // A function, as a replacement text reads $$ as one $.
  return text.replaceAll('${', () => '$${');
}

/**
 * Fills in `${var.name}`, `${each.column}` and what a template was given. `$${` is a literal `${`, and the
 * platform's own `{{token}}` is left alone. Messages begin with a verb: the caller puts address and field
 * before them.
 */
export function interpolate(text: string, scope: Scope): Interpolated {
  if (!text.includes('${')) return { text, problems: [], whole: false };
  const problems: Misfit[] = [];
  let failed = false;
  const filled = text.replace(
    EXPRESSION,
    (expression, inner: string | undefined, close: string, offset: number) => {
      const value = inner === undefined ? '${' : close === '' ? UNCLOSED : evaluate(inner, scope);
      if (typeof value === 'string') return value;
      failed = true;
      if (value?.problem) problems.push({ expression, offset, problem: value.problem });
      return '';
    },
  );
  return { text: failed ? undefined : filled, problems, whole: WHOLE.test(text) };
}

/** The pieces of a text, in their order: what it says itself, and what fills in its expressions. */
export function splitParts(
  text: string,
  findRange: NonNullable<Part['findRange']>,
  fill: (expression: string) => readonly Part[],
): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  const take = (to: number, own = text.slice(from, to)) => {
    const start = from;
    if (own !== '')
      parts.push({ text: own, findRange: (first, end) => findRange(start + first, start + end) });
    from = to;
  };
  for (const { index, 0: expression, 1: inner } of text.matchAll(EXPRESSION)) {
    take(index);
    if (inner === undefined) take(index + expression.length, '${');
    else {
      const filled = { expression, inner: inner.trim() };
      parts.push(...fill(filled.inner).map((part) => ({ ...part, filled })));
      from = index + expression.length;
    }
  }
  take(text.length);
  return parts;
}

/** The pieces of an expression's value; none where it has no value. */
export function fillParts(expression: string, scope: Scope): readonly Part[] {
  const name = variableName(expression);
  if (name !== undefined) {
    const found = scope.variables.lookup(name);
    if (typeof found === 'string' || !('value' in found)) return [];
    const place = scope.variables.findOrigin(name)?.range;
    return [{ text: found.value, variable: name, findRange: place && (() => place) }];
  }
  const path = eachPath(expression);
  if (path === undefined) return scope.given?.get(expression)?.parts() ?? [];
  const found = lookUpCell(scope.row, path);
  if (typeof found === 'string' || !('cell' in found) || found.cell.type !== 'scalar') return [];
  const { text, range } = found.cell;
  return [{ text, column: path[0] ?? '', findRange: () => range }];
}

/** Undefined where what is wrong was said elsewhere. */
type Value = string | { readonly problem: Problem } | undefined;

function evaluate(written: string, scope: Scope): Value {
  const inner = written.trim();
  const name = variableName(inner);
  if (name !== undefined) return variable(name, scope.variables);
  const path = eachPath(inner);
  if (path !== undefined) return column(path, scope.row);
  if (scope.given !== undefined && isResourceName(inner)) {
    scope.used?.add(inner);
    return given(inner, scope.given);
  }
  const message = `uses \${${inner}}, which is not of the form ${formatForms(scope)}`;
  return { problem: { rule: 'variable/syntax', message, hint: LITERAL } };
}

function formatForms({ row, given }: Scope): string {
  const forms = ['${var.name}', row && '${each.column}', given && '${name} of with'];
  return forms.filter((form) => form !== undefined).join(' or ');
}

const LITERAL = 'Write $${ for a literal ${';

const UNCLOSED = {
  problem: { rule: 'variable/syntax', message: 'opens ${ and never closes it', hint: LITERAL },
};

function variable(name: string, variables: Variables): Value {
  const found = variables.lookup(name);
  if (found === 'unreadable') return undefined;
  if ('value' in found) return found.value;
  if ('missing' in found) {
    const { env } = found.missing;
    return {
      problem: {
        rule: 'variable/missing',
        message: `uses \${var.${name}}, which has no value`,
        hint: `${env === undefined ? '' : `Set ${env}, or `}give --var ${name}=…, or declare a default`,
      },
    };
  }
  return {
    problem: {
      rule: 'variable/unknown',
      message: `uses \${var.${name}}, which is not a variable of the stack`,
      hint: didYouMean(
        name,
        found.others,
        `Declare it under variables in ${STACK_FILE}`,
        (close) => `\${var.${close}}`,
      ),
    },
  };
}

function column(path: readonly string[], row: Row | undefined): Value {
  const found = lookUpCell(row, path);
  if (found === 'nothing') return '';
  if ('unknown' in found) return { problem: found.unknown };
  const { cell } = found;
  return cell.type === 'scalar' ? cell.text : { problem: notText(path, cell) };
}

function notText(path: readonly string[], cell: SyntaxNode): Problem {
  const form = formIn(cell);
  if (form !== undefined) return holdsForm(formatEach(path), form);
  const what = cell.type === 'list' ? 'a list' : 'a map';
  return {
    rule: 'for-each/cell',
    message: `uses ${formatEach(path)} inside a text, but its value is ${what}`,
    hint: `A ${cell.type} can only be the whole value of a field`,
  };
}

function holdsForm(expression: string, { key, keyPlace }: Member): Problem {
  return {
    rule: 'for-each/cell',
    message: `uses ${expression}, which holds ${key}, and a table is data`,
    hint: `Write the form in the resource, { ${key}: ${JSON.stringify(expression)} }, and give the path or name alone in the cell`,
    range: keyPlace,
  };
}

function given(name: string, names: ReadonlyMap<string, Given | undefined>): Value {
  if (names.has(name)) return names.get(name)?.text;
  return {
    problem: {
      rule: 'template/name',
      message: `uses \${${name}}, which is missing in with`,
      hint: didYouMean(
        name,
        names.keys(),
        `Add ${name} to with. ${LITERAL}`,
        (close) => `\${${close}}`,
      ),
    },
  };
}

/** One row that a resource is written out for: what `${each.…}` reads. */
export type Row = {
  /** `clinics.csv`, or `for_each` where the rows are written in place. */
  readonly label: string;
  /** Columns that any row of the table has. */
  readonly columns: ReadonlySet<string>;
  /** Columns that share a name, so that none of them can be meant. */
  readonly repeated?: ReadonlySet<string>;
  readonly cells: MapNode;
  /** Columns that are kept out of every frame and message, in all rows of the table. */
  readonly redaction: {
    readonly hide: (column: string) => void;
    readonly isHidden: (column: string) => boolean;
  };
};

/** The outcome of `${each.name}`. */
type CellLookup =
  | { readonly cell: SyntaxNode }
  /** The row has no value there, while others may. */
  | 'nothing'
  | { readonly unknown: Problem };

/** `each.address.city` is the member `city` of the column `address`; `each["Opening hours"]` is a column of any name. */
const EACH = /^each((?:\.[\p{L}_][\p{L}\p{M}\p{N}_-]*|\["[^"\n]+"\]|\['[^'\n]+'\])+)$/u;
const STEP = /\.([^.[]+)|\["([^"]+)"\]|\['([^']+)'\]/g;
const PLAIN_STEP = /^[\p{L}_][\p{L}\p{M}\p{N}_-]*$/u;

/** The ways of expressions that were read: those of a template are asked for at each place of each row. */
const known = new Map<string, readonly string[] | undefined>();
const MOST_KNOWN = 1000;

/** The way into a row that an expression names; undefined where it is about something else. */
export function eachPath(expression: string): readonly string[] | undefined {
  const before = known.get(expression);
  if (before !== undefined || known.has(expression)) return before;
  const path = readEachPath(expression);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(expression, path);
  return path;
}

function readEachPath(expression: string): readonly string[] | undefined {
  const steps = EACH.exec(expression.trim())?.[1];
  if (steps === undefined) return undefined;
  return [...steps.matchAll(STEP)].map(([, plain, double, single]) =>
    (plain ?? double ?? single ?? '').trim().normalize('NFC'),
  );
}

/** Writes the expression that names a way into a row. */
export function formatEach(path: readonly string[]): string {
  const step = (name: string) => {
    if (PLAIN_STEP.test(name)) return `.${name}`;
    return name.includes('"') ? `['${name}']` : `["${name}"]`;
  };
  return `\${each${path.map(step).join('')}}`;
}

/** An empty cell, null and a column that only other rows have are all nothing. */
export function lookUpCell(row: Row | undefined, path: readonly string[]): CellLookup {
  const [column = ''] = path;
  if (row === undefined) return { unknown: noRows(path) };
  if (row.repeated?.has(column)) return { unknown: repeatedColumn(path, row) };
  let node: SyntaxNode | undefined = row.cells;
  for (const key of path) node = findMember(node, key)?.value;
  if (node !== undefined) return isNothing(node) ? 'nothing' : { cell: node };
  return row.columns.has(column) ? 'nothing' : { unknown: noColumn(path, row) };
}

/** The first member of a cell that reads like a form. Those are for resources: a table is data. */
function formIn(cell: SyntaxNode): Member | undefined {
  const own = membersIn(cell).find(({ key }) => key.startsWith('$'));
  if (own !== undefined) return own;
  for (const inner of listChildren(cell)) {
    const found = formIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isNothing(node: SyntaxNode): boolean {
  return node.type === 'scalar' && (node.value === null || node.value === '');
}

function noRows(path: readonly string[]): Problem {
  return {
    rule: 'for-each/each',
    message: `uses ${formatEach(path)}, and the resource has no for_each`,
    hint: 'Add for_each to it, or write ${var.name} for a variable of the stack',
  };
}

function repeatedColumn(path: readonly string[], { label }: Row): Problem {
  return {
    rule: 'for-each/column',
    message: `uses ${formatEach(path)}, and ${label} has several columns of that name`,
    hint: 'Give each column its own name',
  };
}

function noColumn(path: readonly string[], { label, columns }: Row): Problem {
  return {
    rule: 'for-each/column',
    message: `uses ${formatEach(path)}, which ${label} has no column for`,
    hint: didYouMean(
      path.join('.'),
      columns,
      `Its columns are ${[...columns].join(', ')}`,
      (close) => formatEach([close]),
    ),
  };
}

/**
 * Puts cells in the place of values that are `${each.column}` and nothing else, so that a field can be a
 * number, a list or a map of its row, and a mistake in it is shown in the table. A field whose cell holds
 * nothing is left out, as if it had not been written: what lies beneath stays. Expressions inside longer
 * texts are filled in later.
 */
export function fillRow(body: MapNode, row: Row): MapNode {
  return (fill(body, row) as MapNode | undefined) ?? { ...body, members: new Map() };
}

/** Returns true if `fillRow` may change the body: rows have a part in it before its texts are filled in. */
export function usesRow(node: SyntaxNode): boolean {
  return node.type === 'scalar' ? cellPath(node) !== undefined : listChildren(node).some(usesRow);
}

/** Undefined: there is nothing. A node in which nothing changes stays the same one. */
function fill(node: SyntaxNode, row: Row): SyntaxNode | undefined {
  if (node.type === 'scalar') return fillScalar(node, row);
  if (node.type === 'list') {
    const items = node.items.flatMap((item) => fill(item, row) ?? []);
    return items.every((item, index) => item === node.items[index]) &&
      items.length === node.items.length
      ? node
      : { ...node, items };
  }
  const form = membersIn(node).find(({ key }) => key.startsWith('$'));
  if (form !== undefined) return fillForm(node, form, row);
  const members = new Map<string, Member>();
  let same = true;
  for (const member of node.members.values()) {
    const value = fill(member.value, row);
    same &&= value === member.value;
    if (value !== undefined) members.set(member.key, { ...member, value });
  }
  return same ? node : { ...node, members };
}

/** A form that leads nowhere is nothing. What a merge reads is put in; others are filled in as a whole later. */
function fillForm(node: MapNode, form: Member, row: Row): SyntaxNode | undefined {
  const value = fill(form.value, row);
  if (value === undefined || value === form.value) return value && node;
  const isMerged = form.key === '$replace' || (form.key === '$remove' && value.type === 'scalar');
  if (!isMerged || node.members.size > 1) return node;
  return { ...node, members: new Map([[form.key, { ...form, value }]]) };
}

/** The way to the cell that a scalar stands for; undefined for any other. */
function cellPath(node: ScalarNode): readonly string[] | undefined {
  const expression = wholeExpression(textIn(node) ?? '');
  return expression === undefined ? undefined : eachPath(expression);
}

function fillScalar(node: ScalarNode, row: Row): SyntaxNode | undefined {
  const path = cellPath(node);
  if (path === undefined) return node;
  const found = lookUpCell(row, path);
  if (found === 'nothing') return undefined;
  // Values that the row lacks, or that no cell may hold, are reported where the text is filled in.
  return 'cell' in found && formIn(found.cell) === undefined ? asData(found.cell) : node;
}

/** A cell as it stands: nothing in it is filled in again. */
function asData(cell: SyntaxNode): SyntaxNode {
  if (cell.type === 'list') return { ...cell, items: cell.items.map(asData) };
  if (cell.type === 'map') {
    const members = membersIn(cell).map((member): [string, Member] => [
      member.key,
      { ...member, value: asData(member.value) },
    ]);
    return { ...cell, members: new Map(members) };
  }
  return typeof cell.value === 'string' && cell.value.includes('${')
    ? { ...cell, value: escapeExpressions(cell.value) }
    : cell;
}
