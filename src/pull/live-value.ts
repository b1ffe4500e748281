import type { Address } from '../core/address.ts';
import type { Path } from '../core/path.ts';
import {
  contextAt,
  type FieldContext,
  itemContext,
  memberContext,
  sensitivity,
} from '../core/redact.ts';
import { isList, isObject, Ref, type Value } from '../core/value.ts';
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
  const secret = new Set<string>();
  let isPart = true;

  function take(field: FieldContext, given: Value, name: string): Value {
    if (isObject(given)) {
      const members = Object.entries(given).flatMap(([key, member]): [string, Value][] => {
        const inner = memberContext(field, key, given);
        if (inner.node.isReadOnly || member === null || member === undefined) return [];
        return [[key, take(inner, member, key)]];
      });
      return Object.fromEntries(members);
    }
    if (isList(given)) {
      const items = itemContext(field);
      return given.map((item) => take(items, item, name));
    }
    const found = sensitivity(field, given);
    if (found !== 'open') secret.add(name);
    if (found === 'whole') isPart = false;
    const target = field.node.schema['x-ref'];
    const address =
      target !== undefined && typeof given === 'string' ? addressOf(target, given) : undefined;
    return address === undefined ? given : new Ref(address);
  }

  const taken = take(contextAt(kind.schema, path), value, String(path.at(-1)));
  if (secret.size === 0) return { value: taken };
  const names = [...secret].join(', ');
  return isPart
    ? {
        reason: `it holds a credential in clear (${names}), which is never written into the configuration`,
        advice: FROM_VARIABLE,
      }
    : {
        reason: `it holds secret values (${names}), which are never written into the configuration`,
        advice: 'write it by hand with $secret, or apply to take it away again',
      };
}

const FROM_VARIABLE =
  'write it by hand with the credential in a variable, or apply to set the old value again';
