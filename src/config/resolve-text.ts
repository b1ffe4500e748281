import { isAddress, kindOf } from '../core/address.ts';
import { readBlob } from './blob.ts';
import { STACK_FILE } from './discover.ts';
import type { FileText } from './folder.ts';
import { isUuid } from './formats.ts';
import { interpolate } from './interpolate.ts';
import { type Context, FAILED, type Field, fail, type Resolved } from './resolved.ts';
import { isText, typesOf } from './schema.ts';
import { type Place, placeOf, type Source, startOf } from './source.ts';
import { findUnbalanced, type Unbalanced } from './tokens.ts';
import type { WrittenScalar } from './written.ts';

/** A text of the YAML with its variables filled in; undefined where one could not be. */
export function fillIn(node: WrittenScalar, text: string, field: Field, context: Context) {
  const { text: filled, problems, whole } = interpolate(text, context);
  for (const { expression, problem } of problems) {
    fail(context, field, problem.place ?? placeOf(expression, node.place), problem);
  }
  return filled === undefined ? undefined : { text: filled, whole };
}

/** `${var.speed}` alone in a field of numbers or truth values is such a value, not a text. */
function convert(text: string, field: Field): Resolved {
  const types = typesOf(field.schema);
  if (types.length === 0 || types.includes('string')) return text;
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const number = types.includes('number') || types.includes('integer');
  return number && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

const unbalanced = new WeakMap<Source, readonly Unbalanced[]>();

/** A file is looked through once, however many resources take their text from it. */
function unbalancedIn(source: Source): readonly Unbalanced[] {
  const known = unbalanced.get(source);
  if (known !== undefined) return known;
  const found = findUnbalanced(source.text);
  unbalanced.set(source, found);
  return found;
}

/** Reports the platform's placeholders in a text that do not open and close as they should. */
export function checkTokens(text: string, inside: Place, field: Field, context: Context): void {
  if (field.sensitive || !isText(field.schema)) return;
  const found = text === inside.source.text ? unbalancedIn(inside.source) : findUnbalanced(text);
  for (const { offset, length, message } of found) {
    const written = inside.source.text.slice(inside.start, inside.end);
    // In a file the text is the file; in YAML the token is looked for, as quotes and indentation shift it.
    const place =
      written === text
        ? {
            source: inside.source,
            start: inside.start + offset,
            end: inside.start + offset + length,
          }
        : placeOf(text.slice(offset, offset + length), inside);
    fail(context, field, place, {
      rule: 'template/unbalanced',
      message,
      hint: 'Tokens are written {{name}} or {{name|fallback}}',
    });
  }
}

function wholeFile(source: Source): Place {
  return { source, start: 0, end: source.text.length };
}

/** Warns of what a file has that was hardly meant to be sent. */
export function warnOfFile({ source, bom }: FileText, field: Field, context: Context): void {
  const warn = (rule: string, message: string, hint: string) =>
    fail(context, field, startOf(source), { severity: 'warning', rule, message, hint });
  if (bom) {
    const hint = 'Save the file without one';
    warn('text/bom', 'comes from a file with a byte order mark, which is left out', hint);
  }
  if (source.text.includes('\r\n')) {
    const hint = 'Save the file with line feeds, and add `* text=auto eol=lf` to .gitattributes';
    warn(
      'text/line-endings',
      'comes from a file with Windows line endings, sent as they are',
      hint,
    );
  }
}

/** The text of a `$file`, as it is. */
export function textOfFile(file: FileText, field: Field, context: Context): string {
  const { source } = file;
  warnOfFile(file, field, context);
  checkTokens(source.text, wholeFile(source), field, context);
  return source.text;
}

function resolveOrganization(text: string, place: Place, field: Field, context: Context): Resolved {
  if (isUuid(text)) return text;
  const found = context.organization(text);
  if (found === 'unreadable') return FAILED;
  if ('id' in found) return found.id;
  const close = found.unknown.nearest;
  return fail(context, field, place, {
    rule: 'organization/unknown',
    message: `is ${JSON.stringify(text)}, which is no organization of the stack`,
    hint:
      close === undefined
        ? `Name it under organizations in ${STACK_FILE}, or give its id`
        : `Did you mean "${close}"?`,
  });
}

/** A text as the value of its field. */
export function resolveText(
  node: WrittenScalar,
  text: string,
  field: Field,
  context: Context,
): Resolved {
  const filled = fillIn(node, text, field, context);
  if (filled === undefined) return FAILED;
  const { schema } = field;
  if (schema['x-config'] === 'organization') {
    return resolveOrganization(filled.text, node.place, field, context);
  }
  const use = schema['x-file'];
  if (use !== undefined) {
    const outcome = readBlob(context.folder, filled.text, use);
    return 'blob' in outcome ? outcome.blob : fail(context, field, node.place, outcome.words);
  }
  const target = schema['x-ref'];
  if (target !== undefined && isAddress(filled.text) && context.isKind(kindOf(filled.text))) {
    return fail(context, field, node.place, {
      rule: 'ref/literal',
      message: 'is given as a text that reads like a reference',
      hint: `Write { $ref: ${filled.text} }`,
    });
  }
  checkTokens(filled.text, node.place, field, context);
  return filled.whole || node.loose === true ? convert(filled.text, field) : filled.text;
}
