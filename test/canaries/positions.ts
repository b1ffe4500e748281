import { dereference, type FieldSchema, itemSchema } from '../../src/core/schema.ts';
import { isList, isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { kinds } from '../../src/kinds/index.ts';
import { samples } from '../kinds/samples.ts';

/** A place in the configuration that holds a secret, and the variable that it is read from. */
export type Position = {
  /** `agent.integrations.smsProvider.auth_token`. */
  readonly path: string;
  readonly variable: string;
};

/** A key that no schema names, where anything may be a secret. */
export const UNKNOWN_KEY = 'key_of_tomorrow';

/** A member of an object of which every member is sensitive. */
const ANY_KEY = 'X-Any';

/** What was filled in: documents by kind, and where their secrets stand. */
export type Filled = {
  readonly positions: readonly Position[];
  readonly documents: Readonly<Record<string, JsonObject>>;
};

/**
 * The samples of all kinds with a secret in every position that their schemas call secret or sensitive. They
 * are found in the schemas, so that a new one is watched from its first day on.
 */
export function fillSecrets(): Filled {
  const positions: Position[] = [];

  function secretAt(path: readonly string[]): JsonObject {
    const variable = `WATCHED_${String(positions.length + 1).padStart(2, '0')}`;
    positions.push({ path: path.join('.'), variable });
    return { $secret: `env:${variable}` };
  }

  /** What stands at a path: as the sample has it, secrets replaced; undefined where there is nothing. */
  function fill(
    root: FieldSchema,
    given: FieldSchema,
    sample: Json | undefined,
    path: readonly string[],
    isInside: boolean,
  ): Json | undefined {
    const schema = dereference(root, given);
    if (schema['x-secret'] === true) return secretAt(path);
    if (schema['x-sensitive'] === true) {
      const isMap = schema.type === 'object';
      return isMap ? { [ANY_KEY]: secretAt([...path, ANY_KEY]) } : secretAt(path);
    }
    if (schema.items !== undefined) return fillList(root, schema, sample, path, isInside);
    if (schema.properties === undefined) return sample;
    return fillObject(root, schema, sample, path, isInside || schema['x-secrets-inside'] === true);
  }

  function fillList(
    root: FieldSchema,
    schema: FieldSchema,
    sample: Json | undefined,
    path: readonly string[],
    isInside: boolean,
  ): Json | undefined {
    const elements = isList(sample) ? sample : [undefined];
    const filled = elements.flatMap((element, index) => {
      const at = [...path, String(index)];
      return fill(root, itemSchema(root, schema), element, at, isInside) ?? [];
    });
    return filled.length > 0 ? filled : sample;
  }

  function fillObject(
    root: FieldSchema,
    schema: FieldSchema,
    sample: Json | undefined,
    path: readonly string[],
    isInside: boolean,
  ): Json | undefined {
    const members: Record<string, Json> = isObject(sample) ? { ...sample } : {};
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      const value = fill(root, member, members[name], [...path, name], isInside);
      if (value !== undefined) members[name] = value;
    }
    if (isInside && schema.additionalProperties === true)
      members[UNKNOWN_KEY] = secretAt([...path, UNKNOWN_KEY]);
    return Object.keys(members).length > 0 ? members : sample;
  }

  const documents = kinds.map(({ name, schema }) => {
    const sample = samples.find(({ kind }) => kind === name);
    if (sample === undefined) throw new Error(`there is no sample of ${name}`);
    return [name, fill(schema, schema, sample.whole, [name], false)];
  });
  return { positions, documents: Object.fromEntries(documents) };
}
