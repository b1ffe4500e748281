/** A JSON Schema or a part of one, as read from a file. */
export type Schema = { readonly [keyword: string]: unknown };

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schemas under `properties`, or none. */
export function propertiesOf(schema: Schema): { readonly [name: string]: Schema } {
  const properties = schema.properties;
  if (!isSchema(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      name,
      isSchema(property) ? property : {},
    ]),
  );
}

/** Returns the value at a JSON pointer that is given without its leading `#`. Throws if there is none. */
export function resolvePointer(root: unknown, pointer: string): unknown {
  let at = root;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isSchema(at) ? at[key] : undefined;
    if (at === undefined) throw new Error(`nothing at ${pointer}`);
  }
  return at;
}

/**
 * A copy with every `#/$defs/…` put in its place. Members beside the reference win. Of examples only those
 * stay that mean the same on the wire: others hold the configuration's own `$ref`.
 */
export function inlineDefinitions(root: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => inlineDefinitions(root, member));
  if (!isSchema(value)) return value;
  const { $ref, $defs: _, examples, ...beside } = value;
  const own = {
    ...Object.fromEntries(
      Object.entries(beside).map(([key, member]) => [key, inlineDefinitions(root, member)]),
    ),
    ...plainExamples(beside, examples),
  };
  if (typeof $ref !== 'string') return own;
  const target = inlineDefinitions(root, resolvePointer(root, $ref.replace(/^#/, '')));
  return { ...(isSchema(target) ? target : {}), ...own };
}

/** Examples that are plain values: those of a configuration's names, files and sections are not. */
function plainExamples(schema: Schema, examples: unknown): Schema {
  if (!Array.isArray(examples) || ['x-config', 'x-ref', 'x-file'].some((fact) => fact in schema))
    return {};
  const plain = examples.filter((example) => typeof example !== 'object');
  return plain.length === 0 ? {} : { examples: plain };
}

/** Keywords that say something of Callsheet's configuration, not of what goes over the wire. */
const FOREIGN = new Set(['title', 'readOnly', 'writeOnly', '$schema', '$id', '$defs']);

/** Keywords that hold on the wire as well: they say whether a field may be shown. */
const SECRECY = new Set(['x-secret', 'x-sensitive', 'x-secrets-inside']);

/** A copy of a schema without the `x-` keywords and what else the wire does not know. */
export function plainSchema(schema: Schema): Schema {
  const plain: { [keyword: string]: unknown } = { ...assumptionsOf(schema) };
  for (const [keyword, value] of Object.entries(schema)) {
    if (FOREIGN.has(keyword) || (keyword.startsWith('x-') && !SECRECY.has(keyword))) continue;
    if (keyword === 'properties') {
      plain[keyword] = Object.fromEntries(
        Object.entries(propertiesOf(schema)).map(([name, property]) => [
          name,
          plainSchema(property),
        ]),
      );
    } else plain[keyword] = isSchema(value) ? plainSchema(value) : value;
  }
  return plain;
}

/** The mark of a place where something is assumed. */
function assumptionsOf({ 'x-assumption': one, 'x-assumes': more }: Schema): Schema {
  const ids = [one ?? [], more ?? []].flat();
  return ids.length === 0 ? {} : { 'x-documented': false, 'x-assumes': ids };
}

/** A schema that also takes null. */
export function nullable(schema: Schema): Schema {
  const { type, enum: values } = schema;
  if (type === undefined) return schema;
  const types = Array.isArray(type) ? type : [type];
  return {
    ...schema,
    type: types.includes('null') ? types : [...types, 'null'],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}
