import type { Ajv } from 'ajv';
import { nearest } from '../core/nearest.ts';
import type { FieldSchema } from '../core/schema.ts';
import { isObject, type Json, type JsonObject } from '../core/value.ts';
import { unknownKey } from './known-fields.ts';
import type { RuleProblem } from './rule.ts';

/** Where a schema speaks of the resource itself, or of a field of it; undefined where that is not known. */
type Instance = readonly string[] | undefined;

/** Keywords with a schema for the same value, with a list of such, and with one for each name. */
const SAME = ['not', 'if', 'then', 'else'];
const SEVERAL = ['allOf', 'anyOf', 'oneOf'];
const NAMED = ['$defs', 'definitions', 'patternProperties', 'dependentSchemas'];
/** Keywords with a schema for parts that have no name here. */
const PARTS = ['additionalProperties', 'unevaluatedProperties', 'contains', 'unevaluatedItems'];

type Slip = Omit<RuleProblem, 'member'>;

/**
 * Slips that make a part of a JSON Schema dead: a keyword that there is not, and a property that no such
 * resource has. Lists are not entered, and neither is what a `$ref` leads to.
 */
export function schemaSlips(
  schema: Json,
  ajv: Ajv,
  schemas: readonly FieldSchema[],
): readonly Slip[] {
  const slips: Slip[] = [];
  const known = Object.keys(ajv.RULES.keywords);

  function field(keys: readonly string[], at: readonly string[]): void {
    const unknown = unknownKey(schemas, keys);
    if (unknown !== undefined) {
      slips.push({ at, message: `asks for ${keys.join('.')}, which there is not`, hint: unknown });
    }
  }

  function keywords(node: JsonObject, at: readonly string[]): void {
    for (const key of Object.keys(node)) {
      if (known.includes(key) || /^x-|^\$/.test(key)) continue;
      const close = nearest(key, known);
      const hint =
        close === undefined
          ? 'A keyword of your own begins with x-, and says nothing of a resource'
          : `Did you mean ${close}?`;
      slips.push({ at: [...at, key], message: `has the unknown keyword ${key}`, hint });
    }
  }

  function visitMap(node: Json | undefined, instance: Instance, at: readonly string[]): void {
    if (!isObject(node)) return;
    for (const [key, below] of Object.entries(node)) visit(below, instance, [...at, key]);
  }

  function visit(node: Json | undefined, instance: Instance, at: readonly string[]): void {
    if (!isObject(node)) return;
    keywords(node, at);
    const { required, properties } = node;
    if (instance !== undefined && Array.isArray(required)) {
      for (const [index, name] of required.entries()) {
        if (typeof name === 'string') field([...instance, name], [...at, 'required', `${index}`]);
      }
    }
    for (const [name, below] of Object.entries(isObject(properties) ? properties : {})) {
      const place = [...at, 'properties', name];
      if (instance !== undefined) field([...instance, name], place);
      visit(below, instance && [...instance, name], place);
    }
    for (const key of SAME) visit(node[key], instance, [...at, key]);
    for (const key of SEVERAL) {
      const list = node[key];
      if (!Array.isArray(list)) continue;
      for (const [index, below] of list.entries()) visit(below, instance, [...at, key, `${index}`]);
    }
    for (const key of NAMED) visitMap(node[key], undefined, [...at, key]);
    for (const key of PARTS) visit(node[key], undefined, [...at, key]);
    // A schema of all elements; a list of them is one for each place.
    visit(node.items, undefined, [...at, 'items']);
  }

  visit(schema, [], []);
  return slips;
}
