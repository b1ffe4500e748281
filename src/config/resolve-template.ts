import { fileWords } from './file-words.ts';
import { type FileText, isUnreadable } from './folder.ts';
import { hideFilledIn } from './hide.ts';
import { interpolate, isGivenName } from './interpolate.ts';
import { checkTokens, fillIn, warnOfFile } from './resolve-text.ts';
import { type Context, FAILED, type Field, fail, filledText, type Resolved } from './resolved.ts';
import { isFree, isText } from './schema.ts';
import { describe, type Member, memberOf, type Written, type WrittenMap } from './written.ts';

const PATH = '$template';
const WITH = 'with';

/**
 * `{ $template: path, with: { name: value } }`: the text of a file in which `${name}` stands for what `with`
 * gives, and `${var.…}` and `${each.…}` for what they stand for everywhere.
 */
export function resolveTemplate(node: WrittenMap, field: Field, context: Context): Resolved {
  const form = memberOf(node, PATH);
  if (form === undefined) return FAILED;
  const stray = [...node.members.values()].find(({ key }) => key !== PATH && key !== WITH);
  if (stray !== undefined) {
    return fail(context, field, stray.keyPlace, {
      rule: 'form/mixed',
      message: `has ${stray.key} beside ${PATH}`,
      hint: `${PATH} takes ${WITH} beside it and nothing else`,
    });
  }
  if (!isText(field.schema) && !isFree(field.schema)) {
    return fail(context, field, form.keyPlace, {
      rule: 'file/not-allowed',
      message: `cannot be given as ${PATH}`,
      hint: 'Only fields that hold prose can come from a file',
    });
  }
  const given = readGiven(memberOf(node, WITH), field, context);
  const path = pathOf(form.value, field, context);
  if (path === undefined) return FAILED;
  const read = context.folder.text(path);
  if (isUnreadable(read)) return fail(context, field, form.value.place, fileWords(path, read));
  return fillTemplate(read, node, { ...context, given }, field);
}

function pathOf(node: Written, field: Field, context: Context): string | undefined {
  if (node.type === 'scalar' && typeof node.value === 'string') {
    return fillIn(node, node.value, field, context)?.text;
  }
  const message = `needs a text after ${PATH}`;
  fail(context, field, node.place, { rule: 'form/value', message });
  return undefined;
}

/** The values of `with`, as texts; undefined for one that was reported. */
function readGiven(
  member: Member | undefined,
  field: Field,
  context: Context,
): ReadonlyMap<string, string | undefined> {
  const given = new Map<string, string | undefined>();
  if (member === undefined) return given;
  if (member.value.type !== 'map') {
    const message = `needs a map of names and values after ${WITH}, not ${describe(member.value)}`;
    fail(context, field, member.value.place, { rule: 'form/value', message });
    return given;
  }
  for (const { key, keyPlace, value } of member.value.members.values()) {
    if (!isGivenName(key)) {
      fail(context, field, keyPlace, {
        rule: 'template/name',
        message: `gives ${JSON.stringify(key)}, which cannot name a value of ${WITH}`,
        hint: 'Use letters, digits, _ and -, and begin with a letter',
      });
      continue;
    }
    if (value.type !== 'scalar' || value.value === null) {
      const message = `gives ${key} of ${WITH} as ${describe(value)}; it must be a text, a number, true or false`;
      fail(context, field, value.place, { rule: 'form/value', message });
      given.set(key, undefined);
    } else if (typeof value.value === 'string') {
      given.set(key, fillIn(value, value.value, field, context)?.text);
    } else given.set(key, value.text);
  }
  return given;
}

function fillTemplate(
  file: FileText,
  node: WrittenMap,
  context: Context & { readonly given: ReadonlyMap<string, string | undefined> },
  field: Field,
): Resolved {
  const { source } = file;
  warnOfFile(file, field, context);
  if (field.sensitive) {
    context.report.mask({ source, start: 0, end: source.text.length });
    hideFilledIn(context, source.text);
  }
  const used = new Set<string>();
  const { text, problems, values } = interpolate(source.text, { ...context, used });
  for (const { expression, offset, problem } of problems) {
    const place = { source, start: offset, end: offset + expression.length };
    fail(context, field, problem.place ?? place, problem);
  }
  checkTokens(source.text, { source, start: 0, end: source.text.length }, field, context);
  reportUnused(used, node, context, field);
  const [name, ...below] = field.path;
  if (name !== undefined && below.length === 0) {
    context.filled?.set(name, filledText(source, values));
  }
  return text ?? FAILED;
}

function reportUnused(
  used: ReadonlySet<string>,
  node: WrittenMap,
  context: Context & { readonly given: ReadonlyMap<string, unknown> },
  field: Field,
): void {
  const members = memberOf(node, WITH)?.value;
  for (const name of context.given.keys()) {
    if (used.has(name)) continue;
    fail(context, field, memberOf(members, name)?.keyPlace ?? node.place, {
      severity: 'warning',
      rule: 'template/unused',
      message: `gives ${name}, which the template does not use`,
      hint: `Write \${${name}} in it, or take the line out`,
    });
  }
}
