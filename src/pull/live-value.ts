import type { Address } from '../core/address.ts';
import { isSensitive } from '../core/mask.ts';
import { identitySegment, type Path } from '../core/path.ts';
import { type FieldSchema, itemSchema, memberSchema } from '../core/schema.ts';
import { isList, isObject, Ref, type Value } from '../core/value.ts';
import { schemasAlong } from '../diff/along.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Left } from './wish.ts';

/** What turns ids into names. */
export type LiveWords = {
  /** The address that stands for a live resource; undefined where none does. */
  readonly addressOf: (kind: string, id: string) => Address | undefined;
};

/**
 * A live value in the words of the configuration: without what the platform owns, with references in the
 * place of ids. What holds sensitive values is refused: they have no place in a file.
 */
export function fromLive(
  kind: Kind,
  path: Path,
  value: Value,
  { addressOf }: LiveWords,
): { readonly value: Value } | Pick<Left, 'reason' | 'advice'> {
  const { schema: root } = kind;
  const secret: string[] = [];

  function take(schema: FieldSchema, given: Value, at: Path, above: boolean): Value {
    const hidden = above || isSensitive(schema);
    // Which of its members are secrets no schema says.
    if (schema['x-secrets-inside'] === true && isObject(given)) {
      secret.push(...Object.keys(given));
    }
    if (isObject(given)) {
      const members = Object.entries(given).flatMap(([key, member]): [string, Value][] => {
        const inner = memberSchema(root, schema, key);
        if (inner.readOnly === true || member === null || member === undefined) return [];
        return [[key, take(inner, member, [...at, key], hidden)]];
      });
      return Object.fromEntries(members);
    }
    if (isList(given)) {
      const items = itemSchema(root, schema);
      return given.map((item, index) =>
        take(items, item, [...at, identitySegment(String(index))], hidden),
      );
    }
    if (hidden && given !== null && given !== '') secret.push(String(at.at(-1)));
    const target = schema['x-ref'];
    const address =
      target !== undefined && typeof given === 'string' ? addressOf(target, given) : undefined;
    return address === undefined ? given : new Ref(address);
  }

  const along = schemasAlong(root, path);
  const taken = take(along.at(-1) ?? {}, value, path, along.slice(0, -1).some(isSensitive));
  if (secret.length === 0) return { value: taken };
  return {
    reason: `it holds secret values (${[...new Set(secret)].join(', ')}), which are never written into the configuration`,
    advice: 'write it by hand with $secret, or apply to take it away again',
  };
}
