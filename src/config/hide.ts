import { expressionsIn, variableName } from './interpolate.ts';
import type { Context } from './resolved.ts';
import { eachPath } from './rows.ts';
import type { Place } from './source.ts';
import type { Written } from './written.ts';

/** Keeps what a node holds out of every frame, and whatever is filled in in it. */
export function hide(context: Context, node: Written): void {
  const { report, row } = context;
  report.mask(node.place);
  if (node.origin !== undefined) report.mask(node.origin);
  // A node may be a cell, or stand in one.
  for (const { key, value } of row?.cells.members.values() ?? []) {
    if (covers(value.place, node.place)) row?.hide(key);
  }
  if (node.type === 'scalar') {
    if (typeof node.value === 'string') hideFilledIn(context, node.value);
  } else if (node.type === 'list') for (const item of node.items) hide(context, item);
  else for (const { value } of node.members.values()) hide(context, value);
}

/** Keeps what is filled in in a text out of every frame: the columns of its cells, the defaults of variables. */
export function hideFilledIn(context: Context, text: string): void {
  for (const expression of expressionsIn(text)) {
    const name = variableName(expression);
    const place = name && context.variables.defaultPlace(name);
    if (place) context.report.mask(place);
    const [column] = eachPath(expression) ?? [];
    if (column !== undefined) context.row?.hide(column);
  }
}

function covers(outer: Place, inner: Place): boolean {
  return outer.source === inner.source && outer.start <= inner.start && inner.end <= outer.end;
}
