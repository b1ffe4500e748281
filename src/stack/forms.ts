import { getKind, isAddress, isResourceName } from '../core/address.ts';
import { credentialSpans } from '../core/credentials.ts';
import { didYouMean, nearest } from '../core/nearest.ts';
import { isIdentity } from '../core/path.ts';
import { isUuid, oncePer, plainId, Ref, Secret } from '../core/value.ts';
import { ANY_KIND } from '../core/walk.ts';
import { NAME_HINT, type Problem } from './diagnostics.ts';
import {
  fillParts,
  type Given,
  interpolate,
  type Part,
  type Scope,
  splitParts,
} from './expressions.ts';
import { type FileText, fileProblem, isUnreadable, STACK_FILE, withSuggestion } from './folder.ts';
import { REMOVE, REPLACE } from './merge.ts';
import { examineFile, examineText } from './plain-secrets.ts';
import {
  type Context,
  elementField,
  FAILED,
  type Field,
  fail,
  isHidden,
  mayBeSecret,
  memberField,
  pairIn,
  type Resolved,
  redactNode,
  takesSecrets,
} from './resolved.ts';
import { isFree, isText, listTypes } from './schema.ts';
import { isOwnCredential, readSource } from './secrets.ts';
import {
  describe,
  findMember,
  getStart,
  type MapNode,
  type Member,
  membersIn,
  onlyMember,
  rangeOfText,
  type ScalarNode,
  type Source,
  type SourceRange,
  type SyntaxNode,
  textIn,
} from './source.ts';

/** The value forms: objects with one `$` key. */
export const FORMS = ['$file', '$ref', '$secret', '$template'] as const;
type FormName = (typeof FORMS)[number];

function formNamed(key: string): FormName | undefined {
  return FORMS.find((form) => form === key);
}

/** Returns true if a field takes any object: one with `$` keys can be plain data there (a JSON Schema, say). */
function takesAnyObject(field: Field): boolean {
  const { schema } = field.node;
  if (isFree(schema)) return true;
  return listTypes(schema).includes('object') && schema.additionalProperties !== false;
}

/**
 * The member that makes a map a value form, or undefined for plain data. Where any object may stand,
 * only what is certainly meant as a form counts.
 */
export function findForm(node: MapNode, field: Field, context: Context): Member | undefined {
  const magic = membersIn(node).filter(({ key }) => key.startsWith('$'));
  const [first] = magic;
  if (first === undefined || isMisused(first, node)) return first;
  if (!takesAnyObject(field)) return magic.find(({ key }) => formNamed(key)) ?? first;
  const certain = magic.find(({ key }) => key !== '$ref' && formNamed(key) !== undefined);
  if (certain !== undefined || node.members.size > 1) return certain;
  if (first.key === '$ref') {
    const text = textIn(first.value) ?? '';
    return isAddress(text) && context.isKind(getKind(text)) ? first : undefined;
  }
  return nearest(first.key, FORMS) === undefined ? undefined : first;
}

/** `{ $remove: … }` that took nothing away when layers were laid over each other. */
function isMisused({ key, value }: Member, node: MapNode): boolean {
  if (key !== REMOVE || node.members.size > 1) return false;
  return value.type !== 'scalar' || value.value !== true;
}

function notHere(form: string, field: Field): string {
  const types = listTypes(field.node.schema).filter((type) => type !== 'null');
  return types.includes('string') || types.length === 0
    ? `cannot be given as ${form}`
    : `cannot be given as ${form}, because it is not a text`;
}

function resolveFile(node: SyntaxNode, path: string, field: Field, context: Context): Resolved {
  if (!isText(field.node.schema) && !isFree(field.node.schema)) {
    return fail(context, field, node.range, {
      rule: 'file/not-allowed',
      message: notHere('$file', field),
      hint:
        field.node.schema['x-file'] === undefined
          ? 'Only fields that hold prose can come from a file'
          : 'Give the path itself',
    });
  }
  const read = context.folder.text(path);
  if (isUnreadable(read))
    return fail(context, field, node.range, fileProblem(path, read, context.folder));
  const { source } = read;
  warnOfFile(read, field, context);
  examineFile(source, field, context);
  return source.text;
}

function resolveRef(node: SyntaxNode, text: string, field: Field, context: Context): Resolved {
  const wanted = field.node.refersTo;
  const { range } = node;
  if (wanted === undefined) {
    const hint =
      'Only fields that hold an id of another resource take a reference; in a text write the id itself';
    return fail(context, field, range, {
      rule: 'ref/not-allowed',
      message: notHere('$ref', field),
      hint,
    });
  }
  const isOfAnyKind = wanted === ANY_KIND;
  if (!isAddress(text) || (isOfAnyKind && !context.isKind(getKind(text)))) {
    const kind = isOfAnyKind ? 'agent' : wanted;
    return fail(context, field, range, {
      rule: 'ref/form',
      message: `refers to ${JSON.stringify(text)}, which is not an address`,
      hint: `Write ${kind}.name, such as ${kind}.${/^[\w-]+$/.test(text) ? text : 'name'}`,
    });
  }
  if (!isOfAnyKind && getKind(text) !== wanted) {
    return fail(context, field, range, {
      rule: 'ref/kind',
      message: `refers to ${text}, but takes the id of a ${wanted}`,
      hint: `Refer to ${wanted}.name`,
    });
  }
  context.refs.push({ address: text, path: field.path, range });
  return new Ref(text);
}

function resolveSecret(node: SyntaxNode, text: string, field: Field, context: Context): Resolved {
  const { range } = node;
  const types = listTypes(field.node.schema);
  const takesText = isFree(field.node.schema) || types.includes('string');
  if (!takesSecrets(field) || !takesText) {
    return fail(context, field, range, {
      rule: 'secret/not-allowed',
      message: 'is not a secret field, so the secret would be stored and shown',
      hint: 'Use $secret only in fields where the platform keeps a secret',
    });
  }
  const source = readSource(text);
  if ('words' in source) {
    // The text may be the secret itself.
    redactNode(context, node);
    return fail(context, field, range, source.words);
  }
  if (source.from === 'env' && isOwnCredential(source.name)) {
    return fail(context, field, range, {
      rule: 'secret/credential',
      message: `reads ${source.name}, a credential of Callsheet, which Callsheet never sends to an agent`,
      hint: 'Put the secret into a variable whose name does not begin with CALLSHEET_',
    });
  }
  context.secrets.push({ source: text, path: field.path, range });
  return new Secret(text);
}

function refuseRemoval({ value }: Member, field: Field, context: Context): Resolved {
  const isElement = isIdentity(field.path.at(-1) ?? '');
  return fail(context, field, value.range, {
    rule: 'form/value',
    message: `needs ${REMOVE}: ${isElement ? 'name' : 'true'} and nothing else`,
    hint: isElement
      ? `Write { ${REMOVE}: name } with the name of the entry, or remove the line`
      : `Write { ${REMOVE}: true }, or the value itself`,
  });
}

/** The value that a form stands for. */
export function resolveForm(form: Member, node: MapNode, field: Field, context: Context): Resolved {
  const name = formNamed(form.key);
  // Anything but the plain source of a secret may be the secret itself.
  const isPlain = name === '$secret' && node.members.size === 1 && form.value.type === 'scalar';
  if (mayBeSecret(field) && !isPlain) redactNode(context, node);
  if (isMisused(form, node)) return refuseRemoval(form, field, context);
  if (name === undefined) {
    return fail(context, field, form.keyPlace, {
      rule: 'form/unknown',
      message: `has the unknown form ${form.key}`,
      hint: didYouMean(form.key, FORMS, `The forms are ${FORMS.join(', ')}`),
    });
  }
  if (name === '$template') return resolveTemplate(node, field, context);
  if (node.members.size > 1) {
    const other = membersIn(node).find((member) => member !== form);
    return fail(context, field, other?.keyPlace ?? node.range, {
      rule: 'form/mixed',
      message: `has members next to ${name}`,
      hint: `${name} must be the only member of its object`,
    });
  }
  const { value } = form;
  const text = formText(form, field, context);
  if (text === undefined) return FAILED;
  if (name === '$file') return resolveFile(value, text, field, context);
  if (name === '$ref') return resolveRef(value, text, field, context);
  return resolveSecret(value, text, field, context);
}

/** A text of the YAML with its variables filled in; undefined where one could not be. */
function fillIn({ range }: SyntaxNode, text: string, field: Field, context: Context) {
  const { text: filled, problems, whole } = interpolate(text, context);
  for (const { expression, problem } of problems) {
    fail(context, field, problem.range ?? rangeOfText(expression, range), problem);
  }
  return filled === undefined ? undefined : { text: filled, whole };
}

/** The pieces of a text of the YAML. */
function splitText({ range, origin = range }: SyntaxNode, text: string, scope: Scope) {
  return splitParts(
    text,
    () => origin,
    (expression) => fillParts(expression, scope),
  );
}

/** `${var.speed}` alone in a field of numbers or truth values is such a value, not a text. */
function convert(text: string, field: Field): Resolved {
  const types = listTypes(field.node.schema);
  if (types.length === 0 || types.includes('string')) return text;
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const number = types.includes('number') || types.includes('integer');
  return number && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** A stretch of a text that was hardly meant to be said to a caller. */
type Slip = Pick<Problem, 'rule' | 'message' | 'hint'> & {
  readonly start: number;
  readonly end: number;
};

const MERGE_MARK = /^(?:<{7}|>{7})(?: .*)?$/m;
const LFS_POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\//;

function findSlips(text: string): readonly Slip[] {
  const slips: Slip[] = [];
  const find = (pattern: RegExp | string, slip: Pick<Slip, 'rule' | 'message' | 'hint'>) => {
    const start = text.search(pattern);
    if (start < 0) return;
    const end = text.indexOf('\n', start);
    const length = typeof pattern === 'string' ? pattern.length : undefined;
    slips.push({ ...slip, start, end: length ? start + length : end < 0 ? text.length : end });
  };
  find(MERGE_MARK, {
    rule: 'text/merge-marker',
    message: 'has the marker of a merge that was not finished',
    hint: 'Decide between both sides, and delete the markers',
  });
  find(LFS_POINTER, {
    rule: 'text/lfs-pointer',
    message: 'comes from a pointer of Git LFS, and not from the file itself',
    hint: 'Run `git lfs pull`',
  });
  find('\0', {
    rule: 'text/character',
    message: 'has a NUL character',
    hint: 'Delete it, or save the file as UTF-8',
  });
  find('\uFFFD', {
    rule: 'text/character',
    message: 'has U+FFFD, which stands where another letter was lost',
    hint: 'Write that letter, and save the file as UTF-8',
  });
  return slips;
}

/** A file is looked through once, however many resources take their text from it. */
const slipsIn = oncePer(({ text }: Source) => findSlips(text));

/** Warns of what a text has that was hardly meant. Frames show nothing of one that holds a secret. */
function warnOfSlips(text: string, inside: SourceRange, field: Field, context: Context): void {
  const isFile = text === inside.source.text;
  for (const { start, end, ...slip } of isFile ? slipsIn(inside.source) : findSlips(text)) {
    const range = isFile
      ? { source: inside.source, start, end }
      : rangeOfText(text.slice(start, end), inside);
    fail(context, field, range, { severity: 'warning', ...slip });
  }
}

/** Warns where YAML took the end of a text without quotes for a comment, as in `Press #1 for help`. */
function warnOfComment(
  { range, origin = range }: ScalarNode,
  field: Field,
  context: Context,
): void {
  const { source, end } = origin;
  if (!isText(field.node.schema) || /["'|>]/.test(source.text[origin.start] ?? '')) return;
  const after = /^[ \t]+#(?![\s#!]|$).*/.exec(source.text.slice(end, lineEnd(source.text, end)));
  if (after === null) return;
  fail(
    context,
    field,
    { source, start: end, end: end + after[0].length },
    {
      severity: 'warning',
      rule: 'text/comment',
      message: `ends before ${JSON.stringify(after[0].trim())}, which YAML reads as a comment`,
      hint: 'Put the whole text in quotes, or a blank behind the # of a comment',
    },
  );
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

function wholeFile(source: Source): SourceRange {
  return { source, start: 0, end: source.text.length };
}

/** Warns of what a file has that was hardly meant to be sent. No frame shows one that holds a secret. */
function warnOfFile({ source, bom }: FileText, field: Field, context: Context): void {
  if (isHidden(field)) context.report.mask(wholeFile(source));
  const warn = (rule: string, message: string, hint: string) =>
    fail(context, field, getStart(source), { severity: 'warning', rule, message, hint });
  if (bom) {
    const hint = 'Save the file without one';
    warn('text/bom', 'comes from a file with a byte order mark, which Callsheet leaves out', hint);
  }
  if (source.text.trim() === '') {
    warn(
      'text/blank',
      'comes from a file that holds nothing',
      'Write its text, or name another file',
    );
  }
  warnOfSlips(source.text, wholeFile(source), field, context);
  if (source.text.includes('\r\n')) {
    const hint = 'Save the file with line feeds, and add `* text=auto eol=lf` to .gitattributes';
    warn(
      'text/line-endings',
      'comes from a file with Windows line endings, which are sent unchanged',
      hint,
    );
  }
}

function resolveOrganization(
  text: string,
  range: SourceRange,
  field: Field,
  context: Context,
): Resolved {
  if (isUuid(text)) return plainId(text);
  const found = context.organization(text);
  if (found === 'unreadable') return FAILED;
  if ('id' in found) return found.id;
  return fail(context, field, range, {
    rule: 'organization/unknown',
    message: `is ${JSON.stringify(text)}, which is not an organization of the stack`,
    hint: didYouMean(
      text,
      found.others,
      `Declare it under organizations in ${STACK_FILE}, or give its id`,
      (close) => `"${close}"`,
    ),
  });
}

/** A text as the value of its field. */
export function resolveText(
  node: ScalarNode,
  text: string,
  field: Field,
  context: Context,
): Resolved {
  const filled = fillIn(node, text, field, context);
  if (filled === undefined) {
    // Its value is not known.
    if (credentialSpans(text).length > 0) redactNode(context, node);
    return FAILED;
  }
  examineText(filled.text, () => splitText(node, text, context), field, context);
  const { schema } = field.node;
  if (schema['x-config'] === 'organization') {
    return resolveOrganization(filled.text, node.range, field, context);
  }
  const use = schema['x-file'];
  if (use !== undefined) {
    const outcome = context.folder.local(filled.text, use);
    if ('words' in outcome) {
      const words = withSuggestion(outcome.words, filled.text, context.folder);
      return fail(context, field, node.range, words);
    }
    const { blob, warning } = outcome;
    if (warning !== undefined)
      fail(context, field, node.range, { ...warning, severity: 'warning' });
    return blob;
  }
  const target = schema['x-ref'];
  if (target !== undefined && isAddress(filled.text) && context.isKind(getKind(filled.text))) {
    return fail(context, field, node.range, {
      rule: 'ref/literal',
      message: 'is given as a text that reads like a reference',
      hint: `Write { $ref: ${filled.text} }`,
    });
  }
  if (isText(schema)) warnOfSlips(filled.text, node.range, field, context);
  warnOfComment(node, field, context);
  if (schema.format === 'uuid') return plainId(filled.text);
  return filled.whole || node.loose === true ? convert(filled.text, field) : filled.text;
}

const PATH = '$template';
const WITH = 'with';

/**
 * `{ $template: path, with: { name: value } }`: the text of a file in which `${name}` stands for what `with`
 * gives, and `${var.…}` and `${each.…}` for what they stand for everywhere.
 */
function resolveTemplate(node: MapNode, field: Field, context: Context): Resolved {
  const form = findMember(node, PATH);
  if (form === undefined) return FAILED;
  const stray = membersIn(node).find(({ key }) => key !== PATH && key !== WITH);
  if (stray !== undefined) {
    return fail(context, field, stray.keyPlace, {
      rule: 'form/mixed',
      message: `has ${stray.key} next to ${PATH}`,
      hint: `Only ${WITH} can be next to ${PATH}`,
    });
  }
  if (!isText(field.node.schema) && !isFree(field.node.schema)) {
    return fail(context, field, form.keyPlace, {
      rule: 'file/not-allowed',
      message: `cannot be given as ${PATH}`,
      hint: 'Only fields that hold prose can come from a file',
    });
  }
  const given = readGiven(findMember(node, WITH), field, context);
  const path = formText(form, field, context);
  if (path === undefined) return FAILED;
  const read = context.folder.text(path);
  if (isUnreadable(read))
    return fail(context, field, form.value.range, fileProblem(path, read, context.folder));
  return fillTemplate(read, node, { ...context, given }, field);
}

/** Returns the text after the key of a form, filled in; undefined after reporting what is wrong with it. */
function formText({ key, value }: Member, field: Field, context: Context): string | undefined {
  const text = textIn(value);
  if (text !== undefined) return fillIn(value, text, field, context)?.text;
  const message = `needs a text after ${key}`;
  fail(context, field, value.range, { rule: 'form/value', message });
  return undefined;
}

/** The values of `with`, as texts; undefined for one that was reported. */
function readGiven(
  member: Member | undefined,
  field: Field,
  context: Context,
): ReadonlyMap<string, Given | undefined> {
  const given = new Map<string, Given | undefined>();
  if (member === undefined) return given;
  if (member.value.type !== 'map') {
    const message = `needs a map of names and values after ${WITH}, not ${describe(member.value)}`;
    fail(context, field, member.value.range, { rule: 'form/value', message });
    return given;
  }
  for (const { key, keyPlace, value } of member.value.members.values()) {
    if (!isResourceName(key)) {
      fail(context, field, keyPlace, {
        rule: 'template/name',
        message: `gives ${JSON.stringify(key)}, which cannot name a value of ${WITH}`,
        hint: NAME_HINT,
      });
      continue;
    }
    if (value.type !== 'scalar' || value.value === null) {
      const message = `gives ${key} of ${WITH} as ${describe(value)}; it must be a text, a number, true or false`;
      fail(context, field, value.range, { rule: 'form/value', message });
      given.set(key, undefined);
      continue;
    }
    const written = typeof value.value === 'string' ? value.value : value.text;
    const text = fillIn(value, written, field, context)?.text;
    const parts = () => splitText(value, written, context);
    given.set(key, text === undefined ? undefined : { text, parts });
  }
  return given;
}

function fillTemplate(
  file: FileText,
  node: MapNode,
  context: Context & { readonly given: ReadonlyMap<string, Given | undefined> },
  field: Field,
): Resolved {
  const { source } = file;
  warnOfFile(file, field, context);
  const used = new Set<string>();
  const { text, problems } = interpolate(source.text, { ...context, used });
  for (const { expression, offset, problem } of problems) {
    const place = { source, start: offset, end: offset + expression.length };
    fail(context, field, problem.range ?? place, problem);
  }
  if (text !== undefined) {
    if (text !== source.text) context.onText?.(text.length);
    examineText(text, () => splitTemplate(source, context), field, context);
  }
  reportUnused(used, node, context, field);
  return text ?? FAILED;
}

/** The pieces of a template, each with its own stretch. */
function splitTemplate(source: Source, scope: Scope) {
  return splitParts(
    source.text,
    (start, end) => ({ source, start, end }),
    (expression) => fillParts(expression, scope),
  );
}

function reportUnused(
  used: ReadonlySet<string>,
  node: MapNode,
  context: Context & { readonly given: ReadonlyMap<string, unknown> },
  field: Field,
): void {
  const members = findMember(node, WITH)?.value;
  for (const name of context.given.keys()) {
    if (used.has(name)) continue;
    fail(context, field, findMember(members, name)?.keyPlace ?? node.range, {
      severity: 'warning',
      rule: 'template/unused',
      message: `gives ${name}, which the template does not use`,
      hint: `Write \${${name}} in it, or remove the line`,
    });
  }
}

/** Unwraps `{ $replace: … }`; any other node is returned as it is. */
export function getContent(node: SyntaxNode): SyntaxNode {
  const content = onlyMember(node, REPLACE)?.value;
  return content === undefined ? node : getContent(content);
}

/**
 * Returns true for a well-formed form, which stands for one value. In any other map members may be fields, with
 * secrets of their own, whatever stands beside them.
 */
export function isForm(node: SyntaxNode): boolean {
  if (node.type !== 'map') return false;
  const keys = [...node.members.keys()];
  if (keys.includes('$template')) return keys.every((key) => key === '$template' || key === 'with');
  const names: readonly string[] = [...FORMS, '$remove'];
  const [member] = node.members.values();
  const isAlone = member !== undefined && keys.length === 1;
  return isAlone && names.includes(member.key) && member.value.type === 'scalar';
}

/** The texts that the fields of a written value come to, in pieces. `fill`: what an expression stands for. */
export function splitTexts(
  value: SyntaxNode,
  field: Field,
  fill: (expression: string) => readonly Part[],
  { folder }: Pick<Context, 'folder'>,
): readonly { readonly parts: readonly Part[]; readonly field: Field }[] {
  const node = getContent(value);
  const findRange = () => node.range;
  if (node.type === 'scalar') return [{ parts: splitParts(node.text, findRange, fill), field }];
  const below = (one: SyntaxNode, own: Field) => splitTexts(one, own, fill, { folder });
  if (node.type === 'list') {
    const element = elementField(field, '[]');
    return node.items.flatMap((item) => below(item, element));
  }
  const written = isForm(node) ? (textIn(findMember(node, PATH)?.value) ?? '') : '';
  const path = splitParts(written, findRange, fill).map(({ text }) => text);
  const read = path.length === 0 ? undefined : folder.text(path.join(''));
  if (read !== undefined && !isUnreadable(read)) {
    const given = findMember(node, WITH)?.value;
    const fillName = (expression: string) => {
      const value = findMember(given, expression)?.value;
      return value?.type === 'scalar' ? splitParts(value.text, findRange, fill) : fill(expression);
    };
    return [{ parts: splitParts(read.source.text, findRange, fillName), field }];
  }
  const ofForm = isForm(node);
  const pair = pairIn(node);
  return membersIn(node).flatMap(({ key, value }) =>
    below(value, ofForm ? field : memberField(field, key, pair)),
  );
}

/** A text with the field that it stands in. */
type FieldText = { readonly text: string; readonly field: Field };

/** The texts in the written value of a field. */
export function textsIn(written: SyntaxNode, field: Field): readonly FieldText[] {
  const node = getContent(written);
  if (node.type === 'scalar') {
    const text = textIn(node);
    return text === undefined ? [] : [{ text, field }];
  }
  if (node.type === 'list') {
    const element = elementField(field, '[]');
    return node.items.flatMap((item) => textsIn(item, element));
  }
  // The members of a form are no fields: all of them have a part in the field that it stands in.
  const ofForm = isForm(node);
  const pair = pairIn(node);
  return membersIn(node).flatMap(({ key, value }) =>
    textsIn(value, ofForm ? field : memberField(field, key, pair)),
  );
}
