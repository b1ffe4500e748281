import type { Json } from '../core/value.ts';
import { type Folder, isUnreadable } from './folder.ts';
import { wholeExpression } from './interpolate.ts';
import type { Problem } from './problems.ts';
import { memberOf, type Written } from './written.ts';

/**
 * What rows may come to. Files, nesting and aliases have limits of their own, where they are read (`MAX_TEXT_BYTES`,
 * `MAX_DEPTH`, `MAX_ALIASED_NODES`, `MOST_ALTERNATIVES`); rows multiply what stands once.
 */

/** Rows of one resource: a single stack holds some hundred thousand agents in memory. */
export const MOST_ROWS = 250_000;
/** Characters that all rows of a resource fill in together: 100,000 prompts of 10,000. */
export const MOST_FILLED_CHARACTERS = 1_000_000_000;

/** What is wrong with so many rows of these bodies, as a message after `for_each`. */
export function tooMuch(
  rows: number,
  bodies: readonly Written[],
  folder: Folder,
): Problem | undefined {
  const count = rows.toLocaleString('en-US');
  if (rows > MOST_ROWS) {
    return {
      rule: 'for-each/too-much',
      message: `has ${count} rows; a resource may have ${MOST_ROWS.toLocaleString('en-US')}`,
      hint: 'Split the table, and the stack with it: an organization or a region each',
    };
  }
  const each = bodies.reduce((sum, body) => sum + charactersIn(body, folder), 0);
  if (rows * each <= MOST_FILLED_CHARACTERS) return undefined;
  return {
    rule: 'for-each/too-much',
    message: `has ${count} rows and fills in ${each.toLocaleString('en-US')} characters for each, ${(rows * each).toLocaleString('en-US')} together; all rows of a resource may fill in ${MOST_FILLED_CHARACTERS.toLocaleString('en-US')}`,
    hint: 'Make the template smaller, or split the table and the stack with it',
  };
}

/** Characters of the texts that are filled in for each row: those with expressions, and templates. */
function charactersIn(node: Written, folder: Folder): number {
  if (node.type === 'scalar') {
    const { value }: { readonly value: Json } = node;
    const isFilled = typeof value === 'string' && value.includes('${');
    return isFilled && wholeExpression(value) === undefined ? value.length : 0;
  }
  if (node.type === 'list') {
    return node.items.reduce((sum, item) => sum + charactersIn(item, folder), 0);
  }
  const template = memberOf(node, '$template')?.value;
  let sum = 0;
  if (template?.type === 'scalar' && typeof template.value === 'string') {
    const read = folder.text(template.value);
    if (!isUnreadable(read)) sum += read.source.text.length;
  }
  for (const { value } of node.members.values()) sum += charactersIn(value, folder);
  return sum;
}
