import { FORMS } from './forms.ts';
import { REMOVE, REPLACE } from './lay-over.ts';
import { nearest } from './nearest.ts';
import type { Problem } from './problems.ts';
import type { Member, WrittenMap } from './written.ts';

const FILE = '$file';
const NO_ROWS: readonly string[] = [...FORMS, REMOVE, REPLACE];
const HINT =
  'Rows are given as { $file: rows.csv }, as a list, or as a map whose keys are names; a resource has rows or has none in every environment';

/**
 * What is wrong with a map of rows of which a key begins with `$`, as a form's does: no row has such a
 * name, and a typo in a form must not become one. Undefined where nothing is.
 */
export function formAmongRows(node: WrittenMap): (Problem & { member: Member }) | undefined {
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
export function isForm({ members }: WrittenMap): boolean {
  return FORMS.some((name) => members.has(name));
}
