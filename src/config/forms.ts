import { isAddress, kindOf } from '../core/address.ts';
import { isIdentity } from '../core/path.ts';
import { Ref, Secret } from '../core/value.ts';
import { fileWords } from './file-words.ts';
import { isUnreadable } from './folder.ts';
import { hide } from './hide.ts';
import { REMOVE } from './lay-over.ts';
import { nearest } from './nearest.ts';
import { resolveTemplate } from './resolve-template.ts';
import { fillIn, textOfFile } from './resolve-text.ts';
import { type Context, FAILED, type Field, fail, type Resolved } from './resolved.ts';
import { isFree, isText, typesOf } from './schema.ts';
import { isOwnCredential, readSource } from './secrets.ts';
import type { Member, WrittenMap, WrittenScalar } from './written.ts';

/** The value forms: objects with one `$` key. */
export const FORMS = ['$file', '$ref', '$secret', '$template'] as const;
type FormName = (typeof FORMS)[number];

function formNamed(key: string): FormName | undefined {
  return FORMS.find((form) => form === key);
}

/** Whether any object may stand in a field, so that one with `$` keys can be plain data (a JSON Schema, say). */
function takesAnyObject(field: Field): boolean {
  const { schema } = field;
  if (isFree(schema)) return true;
  return typesOf(schema).includes('object') && schema.additionalProperties !== false;
}

/**
 * The member that makes a map a value form, or undefined for plain data. Where any object may stand,
 * only what is certainly meant as a form counts.
 */
export function formOf(node: WrittenMap, field: Field, context: Context): Member | undefined {
  const magic = [...node.members.values()].filter(({ key }) => key.startsWith('$'));
  const [first] = magic;
  if (first === undefined || isMisused(first, node)) return first;
  if (!takesAnyObject(field)) return magic.find(({ key }) => formNamed(key)) ?? first;
  const certain = magic.find(({ key }) => key !== '$ref' && formNamed(key) !== undefined);
  if (certain !== undefined || node.members.size > 1) return certain;
  if (first.key === '$ref') {
    const { value } = first;
    const text = value.type === 'scalar' && typeof value.value === 'string' ? value.value : '';
    return isAddress(text) && context.isKind(kindOf(text)) ? first : undefined;
  }
  return nearest(first.key, FORMS) === undefined ? undefined : first;
}

/** `{ $remove: … }` that took nothing away when layers were laid over each other. */
function isMisused({ key, value }: Member, node: WrittenMap): boolean {
  if (key !== REMOVE || node.members.size > 1) return false;
  return value.type !== 'scalar' || value.value !== true;
}

function notHere(form: string, field: Field): string {
  const types = typesOf(field.schema).filter((type) => type !== 'null');
  return types.includes('string') || types.length === 0
    ? `cannot be given as ${form}`
    : `cannot be given as ${form}, as it is no text`;
}

function resolveFile(node: WrittenScalar, path: string, field: Field, context: Context): Resolved {
  if (!isText(field.schema) && !isFree(field.schema)) {
    return fail(context, field, node.place, {
      rule: 'file/not-allowed',
      message: notHere('$file', field),
      hint:
        field.schema['x-file'] === undefined
          ? 'Only fields that hold prose can come from a file'
          : 'Give the path itself',
    });
  }
  const read = context.folder.text(path);
  return isUnreadable(read)
    ? fail(context, field, node.place, fileWords(path, read))
    : textOfFile(read, field, context);
}

function resolveRef(node: WrittenScalar, text: string, field: Field, context: Context): Resolved {
  const wanted = field.schema['x-ref'];
  const { place } = node;
  if (wanted === undefined) {
    const hint = 'Only fields that hold an id of another resource take a reference';
    return fail(context, field, place, {
      rule: 'ref/not-allowed',
      message: notHere('$ref', field),
      hint,
    });
  }
  if (!isAddress(text)) {
    return fail(context, field, place, {
      rule: 'ref/form',
      message: `refers to ${JSON.stringify(text)}, which is no address`,
      hint: `Write ${wanted}.name, such as ${wanted}.${/^[\w-]+$/.test(text) ? text : 'name'}`,
    });
  }
  if (kindOf(text) !== wanted) {
    return fail(context, field, place, {
      rule: 'ref/kind',
      message: `refers to ${text}, but takes the id of a ${wanted}`,
      hint: `Refer to ${wanted}.name`,
    });
  }
  context.refs.push({ address: text, path: field.path, place });
  return new Ref(text);
}

function resolveSecret(
  node: WrittenScalar,
  text: string,
  field: Field,
  context: Context,
): Resolved {
  const { place } = node;
  const types = typesOf(field.schema);
  const takesText = isFree(field.schema) || types.includes('string');
  if (!(field.sensitive || field.holdsSecrets) || !takesText) {
    return fail(context, field, place, {
      rule: 'secret/not-allowed',
      message: 'is no secret field, so what is read there would be stored and shown',
      hint: 'Give $secret only where the platform keeps a secret',
    });
  }
  const source = readSource(text);
  if ('words' in source) {
    // What stands there may be the secret itself.
    if (source.hide) hide(context, node);
    return fail(context, field, place, source.words);
  }
  if (source.from === 'env' && isOwnCredential(source.name)) {
    return fail(context, field, place, {
      rule: 'secret/credential',
      message: `reads ${source.name}, a credential of Callsheet, which no agent gets`,
      hint: 'Put the secret into a variable of its own, whose name does not begin with CALLSHEET_',
    });
  }
  context.secrets.push({ source: text, path: field.path, place });
  return new Secret(text);
}

function refuseRemoval({ value }: Member, field: Field, context: Context): Resolved {
  const isElement = isIdentity(field.path.at(-1) ?? '');
  return fail(context, field, value.place, {
    rule: 'form/value',
    message: `takes something away with ${REMOVE}: ${isElement ? 'name' : 'true'} and nothing else`,
    hint: isElement
      ? `Write { ${REMOVE}: name } with the name of the entry, or take it out`
      : `Write { ${REMOVE}: true }, or the value itself`,
  });
}

/** The value that a form stands for. */
export function resolveForm(
  form: Member,
  node: WrittenMap,
  field: Field,
  context: Context,
): Resolved {
  const name = formNamed(form.key);
  // Whatever is not plainly the source of a secret may be the secret itself.
  const isPlain = name === '$secret' && node.members.size === 1 && form.value.type === 'scalar';
  if ((field.sensitive || field.holdsSecrets) && !isPlain) hide(context, node);
  if (isMisused(form, node)) return refuseRemoval(form, field, context);
  if (name === undefined) {
    const close = nearest(form.key, FORMS);
    return fail(context, field, form.keyPlace, {
      rule: 'form/unknown',
      message: `has the unknown form ${form.key}`,
      hint: close === undefined ? `The forms are ${FORMS.join(', ')}` : `Did you mean ${close}?`,
    });
  }
  if (name === '$template') return resolveTemplate(node, field, context);
  if (node.members.size > 1) {
    const other = [...node.members.values()].find((member) => member !== form);
    return fail(context, field, other?.keyPlace ?? node.place, {
      rule: 'form/mixed',
      message: `has members beside ${name}`,
      hint: `${name} stands alone in its object`,
    });
  }
  const { value } = form;
  if (value.type !== 'scalar' || typeof value.value !== 'string') {
    const message = `needs a text after ${name}`;
    return fail(context, field, value.place, { rule: 'form/value', message });
  }
  const filled = fillIn(value, value.value, field, context);
  if (filled === undefined) return FAILED;
  if (name === '$file') return resolveFile(value, filled.text, field, context);
  if (name === '$ref') return resolveRef(value, filled.text, field, context);
  return resolveSecret(value, filled.text, field, context);
}
