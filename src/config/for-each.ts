import { formatPosition } from '../core/diagnostics.ts';
import { interpolate } from './interpolate.ts';
import type { Problem } from './problems.ts';
import { FOR_EACH, hideColumns, type Loop, type Rows, readRows, reportRows } from './read-rows.ts';
import type { Context } from './resolved.ts';
import type { Row } from './rows.ts';
import { type Place, positionOf } from './source.ts';
import { type Member, memberOf, type Written } from './written.ts';

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
  const hide = hideColumns(rows.rows, context.report);
  for (const column of loop.hidden) hide(column);
  if (rows.rows.length === 0 && !loop.allowEmpty) reportEmpty(loop.forEach, rows.label, context);
  const columns = new Set(rows.columns);
  const known = new Map<string, Place>();
  return rows.rows.flatMap((cells) => {
    const row: Row = { label: rows.label, columns, cells, hide };
    const found = keyOf(loop, rows, row, context);
    if (found === undefined) return [];
    const first = known.get(found.key);
    if (first !== undefined) {
      reportRows(context, found.place, {
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

function reportEmpty(member: Member, label: string, context: Context): void {
  reportRows(context, member.keyPlace, {
    rule: 'for-each/empty',
    message: label === FOR_EACH ? 'has no rows' : `has no rows: ${label} holds none`,
    hint: 'Add allow_empty: true beside it if none is what you want; resources that it had would then be deleted',
  });
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
