import { formatPath, identityText, isIdentity, type Path } from '../core/path.ts';
import {
  dereference,
  type FieldSchema,
  itemSchema,
  type KindSchema,
  memberSchema,
} from '../core/schema.ts';
import type { Kind } from '../kinds/kind.ts';
import { nearest } from './nearest.ts';
import { fieldNames, isFree, namedField, typesOf } from './schema.ts';

/** Why a path of `lifecycle.ignore` ignores nothing. */
type WrongPath = {
  /** What follows the path in the message. */
  readonly message: string;
  readonly hint?: string | undefined;
  /** Where the platform may have the field, as the object takes any. */
  readonly isDoubt?: boolean;
};

/** What is said of a path that the kind does not have at all. */
const NO_FIELD = 'no field';

/** What is wrong with a path of a kind's documents; undefined where it can lead to a field. */
export function wrongPath(
  { name, schema: root }: Kind,
  path: Path | undefined,
): WrongPath | undefined {
  const wrong = path === undefined ? { message: NO_FIELD } : wrongStep(root, path);
  return wrong?.message === NO_FIELD ? { ...wrong, message: `no field of ${name}` } : wrong;
}

/** The first step that leads nowhere. */
function wrongStep(root: KindSchema, path: Path): WrongPath | undefined {
  let schema: FieldSchema = root;
  for (const [index, step] of path.entries()) {
    if (isFree(schema)) return undefined;
    const before = path.slice(0, index);
    const wrong = isIdentity(step)
      ? wrongElement(root, schema, before, step, path.slice(index + 1))
      : wrongMember(root, schema, before, step);
    if (wrong !== undefined) return wrong;
    if (schema['x-whole']) return isPart(before);
    schema = isIdentity(step) ? itemSchema(root, schema) : memberSchema(root, schema, step);
  }
  return undefined;
}

function isPart(of: Path): WrongPath {
  const whole = formatPath(of);
  return { message: `a part of ${whole}, which is compared whole`, hint: `Write ${whole}` };
}

function isList(schema: FieldSchema): boolean {
  return typesOf(schema).includes('array');
}

/** `tools[a]` */
function wrongElement(
  root: KindSchema,
  schema: FieldSchema,
  before: Path,
  step: string,
  after: Path,
): WrongPath | undefined {
  const whole = formatPath(before);
  if (!isList(schema)) {
    return { message: `an element of ${whole || 'the resource'}, which is no list` };
  }
  const identity = schema['x-identity'];
  if (identity === undefined) {
    return {
      message: `an element of ${whole}, whose elements have no identity`,
      hint: `Only the whole list can be ignored: ${whole}`,
    };
  }
  if (!/^(\*|-?\d+)$/.test(identityText(step))) return undefined;
  return {
    message: 'an element by its place, which no element has',
    hint: byIdentity(root, schema, before, after),
  };
}

/** How an element is named: `Elements go by their name, such as extensions.tools[crm_lookup].url`. */
function byIdentity(root: KindSchema, list: FieldSchema, before: Path, after: Path): string {
  const identity = list['x-identity'] ?? '';
  const field = itemSchema(root, list).properties?.[identity];
  const example = field && dereference(root, field).examples?.[0];
  const name = typeof example === 'string' ? example : 'name';
  return `Elements go by their ${identity}, such as ${formatPath([...before, `[${name}]`, ...after])}`;
}

/** `tools.url`, `greeting_mesage` */
function wrongMember(
  root: KindSchema,
  schema: FieldSchema,
  before: Path,
  step: string,
): WrongPath | undefined {
  const whole = formatPath(before);
  if (isList(schema)) {
    const message = `below ${whole}, which is a list`;
    return schema['x-identity'] === undefined
      ? { message, hint: `Only the whole list can be ignored: ${whole}` }
      : { message, hint: byIdentity(root, schema, before, [step]) };
  }
  if (!typesOf(schema).includes('object')) {
    return {
      message: `below ${whole}, which has no members`,
      hint: `Write ${whole}`,
    };
  }
  const named = namedField(schema, step);
  if (named === undefined) return unknownMember(schema, before, step);
  if (named.readOnly === true) {
    return { message: 'what only the platform sets, and what is never compared' };
  }
  return typeof named['x-config'] === 'string' ? standing(named['x-config']) : undefined;
}

/** What says where a resource stands is told apart by no other means, so it is always compared. */
function standing(name: string): WrongPath {
  return { message: `the ${name} of a resource, which cannot be ignored` };
}

function unknownMember(schema: FieldSchema, before: Path, step: string): WrongPath | undefined {
  const fields = Object.values(schema.properties ?? {});
  if (fields.some((field) => field['x-config'] === step)) return standing(step);
  const known = fieldNames(schema).filter(
    (name) => typeof namedField(schema, name)?.['x-config'] !== 'string',
  );
  const close = nearest(step, known);
  const hint = close === undefined ? undefined : `Did you mean ${formatPath([...before, close])}?`;
  if (schema.additionalProperties === false) {
    return { message: NO_FIELD, hint };
  }
  if (close === undefined || typeof schema.additionalProperties === 'object') return undefined;
  return { message: `no known field of ${formatPath(before)}`, hint, isDoubt: true };
}
