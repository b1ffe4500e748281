import { escapeExpressions, wholeExpression } from './interpolate.ts';
import { eachPath, formIn, lookUpCell, type Row } from './rows.ts';
import type { Member, Written, WrittenMap, WrittenScalar } from './written.ts';

/**
 * Puts cells in the place of values that are `${each.column}` and nothing else, so that a field can be a
 * number, a list or a map of its row, and a mistake in it is shown in the table. A field whose cell holds
 * nothing is left out, as if it had not been written: what lies beneath stays. Expressions inside longer
 * texts are filled in later.
 */
export function fillRow(body: WrittenMap, row: Row): WrittenMap {
  return (fill(body, row) as WrittenMap | undefined) ?? { ...body, members: new Map() };
}

/** Whether rows have a part in a body before its texts are filled in: whether `fillRow` may change it. */
export function usesRow(node: Written): boolean {
  if (node.type === 'list') return node.items.some(usesRow);
  if (node.type === 'map') {
    return [...node.members.values()].some((member) => usesRow(member.value));
  }
  return cellPath(node) !== undefined;
}

/** Undefined: there is nothing. A node in which nothing changes stays the same one. */
function fill(node: Written, row: Row): Written | undefined {
  if (node.type === 'scalar') return fillScalar(node, row);
  if (node.type === 'list') {
    const items = node.items.flatMap((item) => fill(item, row) ?? []);
    return items.every((item, index) => item === node.items[index]) &&
      items.length === node.items.length
      ? node
      : { ...node, items };
  }
  const form = [...node.members.values()].find(({ key }) => key.startsWith('$'));
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
function fillForm(node: WrittenMap, form: Member, row: Row): Written | undefined {
  const value = fill(form.value, row);
  if (value === undefined || value === form.value) return value && node;
  const isMerged = form.key === '$replace' || (form.key === '$remove' && value.type === 'scalar');
  if (!isMerged || node.members.size > 1) return node;
  return { ...node, members: new Map([[form.key, { ...form, value }]]) };
}

/** The way to the cell that a scalar stands for; undefined for any other. */
function cellPath({ value }: WrittenScalar): readonly string[] | undefined {
  const expression = typeof value === 'string' ? wholeExpression(value) : undefined;
  return expression === undefined ? undefined : eachPath(expression);
}

function fillScalar(node: WrittenScalar, row: Row): Written | undefined {
  const path = cellPath(node);
  if (path === undefined) return node;
  const found = lookUpCell(row, path);
  if (found === 'nothing') return undefined;
  // What the row does not have, and what no cell may hold, is told where the text is filled in.
  return 'cell' in found && formIn(found.cell) === undefined ? asData(found.cell) : node;
}

/** A cell as it stands: nothing in it is filled in again. */
function asData(cell: Written): Written {
  if (cell.type === 'list') return { ...cell, items: cell.items.map(asData) };
  if (cell.type === 'map') {
    const members = [...cell.members.values()].map((member): [string, Member] => [
      member.key,
      { ...member, value: asData(member.value) },
    ]);
    return { ...cell, members: new Map(members) };
  }
  return typeof cell.value === 'string' && cell.value.includes('${')
    ? { ...cell, value: escapeExpressions(cell.value) }
    : cell;
}
