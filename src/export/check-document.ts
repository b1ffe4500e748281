import { configName, isText, resourceSchema } from '../config/schema.ts';
import { findUnbalanced } from '../config/tokens.ts';
import { schemaErrors } from '../config/validator.ts';
import { dereference, type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { isList, isObject, Ref, Secret, type Value, type ValueObject } from '../core/value.ts';
import type { Kind } from '../kinds/kind.ts';

/** A place in a document: keys of maps and positions in lists. */
type Spot = readonly string[];

/** What the configuration would refuse of a document, and why. */
export type Fault = { readonly spot: Spot; readonly reason: string };

/** Stands for an id or a secret, of which a schema knows nothing. */
const STAND_IN = '00000000-0000-4000-8000-000000000000';

/**
 * What `validate` would call an error in a document, as far as that depends on the document alone. A fault of
 * the document as a whole, such as a field that is required and missing, has no spot.
 */
export function faultsIn(kind: Kind, document: ValueObject): readonly Fault[] {
  const written: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(document)) {
    const name = nameOf(kind, field);
    if (name !== undefined) written[name] = plain(value);
  }
  const errors = schemaErrors(resourceSchema(kind), written)
    .filter(({ schemaPath }) => !/(?<!\/properties)\/contains\//.test(schemaPath))
    .map((error): Fault => {
      const [first, ...rest] = error.instancePath.split('/').slice(1).map(unescapePointer);
      const field = Object.keys(document).find((one) => nameOf(kind, one) === first);
      const spot = first === undefined ? [] : [field ?? first, ...rest];
      return { spot, reason: reasonOf(error) };
    });
  return [...errors, ...unbalancedIn(kind, document)];
}

function nameOf({ schema }: Kind, field: string): string | undefined {
  return configName(field, memberSchema(schema, schema, field));
}

/** What is wrong, for people who cannot change what the platform has. */
function reasonOf({ keyword, params }: ReturnType<typeof schemaErrors>[number]): string {
  switch (keyword) {
    case 'required':
      return `it has no ${String(params.missingProperty)}`;
    case 'enum':
    case 'const':
      return 'its value is none that the schema knows';
    case 'type':
      return `it is no ${[params.type].flat().join(' or ')}`;
    case 'format':
      return `it does not read as ${String(params.format)}`;
    default:
      return `it breaks the rule ${keyword} of the schema`;
  }
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function plain(value: Value): unknown {
  if (value instanceof Ref || value instanceof Secret) return STAND_IN;
  if (isList(value)) return holdsSpecial(value) ? value.map(plain) : value;
  if (!isObject(value) || !holdsSpecial(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

/** Whether ids or secrets are in it. Most fields have none, and are looked at as they are. */
function holdsSpecial(value: Value): boolean {
  if (value instanceof Ref || value instanceof Secret) return true;
  if (isList(value)) return value.some(holdsSpecial);
  return isObject(value) && Object.values(value).some(holdsSpecial);
}

/** Whether anything in it may be a token, balanced or not. */
function holdsBraces(value: Value): boolean {
  if (typeof value === 'string') return value.includes('{{') || value.includes('}}');
  if (isList(value)) return value.some(holdsBraces);
  return isObject(value) && Object.values(value).some(holdsBraces);
}

/** Texts whose `{{tokens}}` do not open and close as they should. */
function unbalancedIn(kind: Kind, document: ValueObject): readonly Fault[] {
  const found: Fault[] = [];
  const visit = (given: FieldSchema, value: Value, spot: Spot): void => {
    const schema = dereference(kind.schema, given);
    if (isList(value)) {
      const items = itemSchema(kind.schema, schema);
      for (const [index, item] of value.entries()) visit(items, item, [...spot, String(index)]);
    } else if (isObject(value)) {
      for (const [key, member] of Object.entries(value)) {
        visit(memberSchema(kind.schema, schema, key), member, [...spot, key]);
      }
    } else if (typeof value === 'string' && isText(schema)) {
      const [first] = findUnbalanced(value);
      if (first !== undefined) found.push({ spot, reason: `it ${first.message}` });
    }
  };
  for (const [field, value] of Object.entries(document)) {
    // The schema is asked only where there is something to ask of it.
    if (holdsBraces(value)) visit(memberSchema(kind.schema, kind.schema, field), value, [field]);
  }
  return found;
}

/** A document without what stands at a spot. */
export function without(root: FieldSchema, document: ValueObject, spot: Spot): ValueObject {
  return withoutMember(root, root, document, spot) ?? {};
}

function withoutMember(
  root: FieldSchema,
  schema: FieldSchema,
  object: ValueObject,
  [key = '', ...rest]: Spot,
): ValueObject | undefined {
  const inner = memberSchema(root, schema, key);
  const members = Object.entries(object).flatMap(([name, value]): [string, Value][] => {
    if (name !== key) return [[name, value]];
    const kept = rest.length === 0 ? undefined : withoutInside(root, inner, value, rest);
    return kept === undefined ? [] : [[name, kept]];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** Of a list all goes, unless its elements are compared one by one: the rest of it would mean something else. */
function withoutInside(
  root: FieldSchema,
  schema: FieldSchema,
  value: Value,
  spot: Spot,
): Value | undefined {
  if (isObject(value) && !schema['x-whole']) return withoutMember(root, schema, value, spot);
  const [index = '', ...rest] = spot;
  if (!isList(value) || schema['x-identity'] === undefined || rest.length === 0) return undefined;
  const items = itemSchema(root, schema);
  return value.map((item, at) =>
    at === Number(index) && isObject(item) ? (withoutMember(root, items, item, rest) ?? {}) : item,
  );
}
