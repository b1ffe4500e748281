import type { Address } from '../../core/address.ts';
import { isSensitive } from '../../core/mask.ts';
import { formatPath, identitySegment, type Path } from '../../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../../core/schema.ts';
import {
  isList,
  isObject,
  type JsonObject,
  Ref,
  Secret,
  type Value,
  type ValueObject,
} from '../../core/value.ts';
import type { Kind } from '../../kinds/kind.ts';

/** What turns what is live into what is configured. */
export type ExportWords = {
  /** The address of a resource; undefined where nobody manages it. */
  readonly addressOf: (kind: string, id: string) => Address | undefined;
};

/** A value that must be supplied: it is not in the file. */
export type Withheld = { readonly path: string; readonly source: string };

export type ExportedDocument = {
  readonly document: ValueObject;
  readonly withheld: readonly Withheld[];
};

/**
 * The document of a live resource as a person would configure it: without what the platform owns, what is
 * empty and what the schema does not know; references by name; sensitive values as `$secret` of the
 * environment, under a variable named after where they stand.
 */
export function exportDocument(
  kind: Kind,
  address: Address,
  live: JsonObject,
  { addressOf }: ExportWords,
): ExportedDocument {
  const { schema: root } = kind;
  const withheld: Withheld[] = [];

  function take(schema: FieldSchema, value: Value, path: Path, above: boolean): Value | undefined {
    const hidden = above || isSensitive(schema);
    if (isObject(value)) {
      const members = Object.entries(value).flatMap(([key, member]): [string, Value][] => {
        const inner = memberSchema(root, schema, key);
        const isKnown = schema.additionalProperties !== false || hasMember(schema, key);
        if (inner.readOnly === true || !isKnown) return [];
        const taken = take(inner, member, [...path, key], hidden);
        return taken === undefined ? [] : [[key, taken]];
      });
      return members.length === 0 ? undefined : Object.fromEntries(members);
    }
    if (isList(value)) {
      const items = itemSchema(root, schema);
      const taken = value.flatMap((item, index) => {
        const name = isObject(item) ? item[schema['x-identity'] ?? ''] : undefined;
        const segment = identitySegment(String(name ?? index));
        return take(items, item, [...path, segment], hidden) ?? [];
      });
      return taken.length === 0 ? undefined : taken;
    }
    if (value === null || value === '') return undefined;
    const echoes = schema['x-echoes'];
    if (typeof value === 'string' && echoes !== undefined && !echoes.includes(value))
      return undefined;
    if (hidden) {
      const source = `env:${variableFor(address, path)}`;
      withheld.push({ path: formatPath(path), source });
      return new Secret(source);
    }
    const target = schema['x-ref'];
    const other =
      target !== undefined && typeof value === 'string' ? addressOf(target, value) : undefined;
    return other === undefined ? value : new Ref(other);
  }

  const members = Object.entries(live).flatMap(([field, value]): [string, Value][] => {
    const schema = memberSchema(root, root, field);
    if (schema.readOnly === true || !hasMember(root, field)) return [];
    // A facet that is off says no more than one that is not there.
    if (schema['x-facet'] === true && !isOn(value)) return [];
    const taken = take(schema, value, [field], false);
    return taken === undefined ? [] : [[field, taken]];
  });
  return { document: Object.fromEntries(members), withheld };
}

function hasMember({ properties }: FieldSchema, key: string): boolean {
  return properties !== undefined && Object.hasOwn(properties, key);
}

function isOn(value: Value): boolean {
  return isObject(value) && Object.values<Value>(value).some((member) => member === true);
}

/** `FRONT_DESK_CRM_X_API_KEY` for `extensions.tools[crm].headers[X-Api-Key].value` of `agent.front_desk`. */
function variableFor(address: Address, path: Path): string {
  const own = path.filter((segment) => segment.startsWith('['));
  const last = path.at(-1) ?? '';
  const parts = [
    ...address.split('.').slice(1),
    ...own,
    ...(own.length > 0 && last === 'value' ? [] : [last]),
  ];
  return parts
    .map((part) =>
      part
        .toUpperCase()
        .replace(/[^A-Z0-9]+/g, '_')
        .replace(/^_+|_+$/g, ''),
    )
    .filter((part) => part !== '')
    .join('_');
}
