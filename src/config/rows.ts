import { nearest } from './nearest.ts';
import type { Problem } from './problems.ts';
import { type Member, memberOf, type Written, type WrittenMap } from './written.ts';

/** One row that a resource is written out for: what `${each.…}` reads. */
export type Row = {
  /** `clinics.csv`, or `for_each` where the rows are written in place. */
  readonly label: string;
  /** Columns that any row of the table has. */
  readonly columns: ReadonlySet<string>;
  readonly cells: WrittenMap;
  /** Keeps a column out of every frame, in all rows of the table. */
  readonly hide: (column: string) => void;
};

/** What `${each.name}` stands for. */
type CellLookup =
  | { readonly cell: Written }
  /** The row has no value there, while others may. */
  | 'nothing'
  | { readonly unknown: Problem };

/** `each.address.city` is the member `city` of the column `address`. */
const EACH = /^each\.([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)$/;

/** The way into a row that an expression names; undefined where it is about something else. */
export function eachPath(expression: string): readonly string[] | undefined {
  return EACH.exec(expression.trim())?.[1]?.split('.');
}

/** An empty cell, null and a column that only other rows have are all nothing. */
export function lookUpCell(row: Row | undefined, path: readonly string[]): CellLookup {
  const [column = ''] = path;
  const name = path.join('.');
  if (row === undefined) return { unknown: noRows(name) };
  let node: Written | undefined = row.cells;
  for (const key of path) node = memberOf(node, key)?.value;
  if (node !== undefined) return isNothing(node) ? 'nothing' : { cell: node };
  return row.columns.has(column) ? 'nothing' : { unknown: noColumn(name, row) };
}

/** The first member of a cell that reads like a form. Those are for resources: a table is data. */
export function formIn(cell: Written): Member | undefined {
  if (cell.type === 'scalar') return undefined;
  const members = cell.type === 'map' ? [...cell.members.values()] : [];
  const own = members.find(({ key }) => key.startsWith('$'));
  if (own !== undefined) return own;
  for (const inner of cell.type === 'list' ? cell.items : members.map(({ value }) => value)) {
    const found = formIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isNothing(node: Written): boolean {
  return node.type === 'scalar' && (node.value === null || node.value === '');
}

function noRows(name: string): Problem {
  return {
    rule: 'for-each/each',
    message: `uses \${each.${name}}, and the resource has no for_each`,
    hint: 'Add for_each to it, or write ${var.name} for a variable of the stack',
  };
}

function noColumn(name: string, { label, columns }: Row): Problem {
  const close = nearest(name, columns);
  return {
    rule: 'for-each/column',
    message: `uses \${each.${name}}, which ${label} has no column for`,
    hint:
      close === undefined
        ? `Its columns are ${[...columns].join(', ')}`
        : `Did you mean \${each.${close}}?`,
  };
}
