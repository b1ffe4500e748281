import {
  type FieldContext,
  itemContext,
  memberContext,
  redactText,
  sensitivity,
} from '../core/redact.ts';
import { Blob, isList, isObject, Ref, Secret, type Value } from '../core/value.ts';

/** What a rule is shown: plain data. CEL's whole numbers are `bigint`. */
export type Shown =
  | boolean
  | number
  | bigint
  | string
  | null
  | readonly Shown[]
  | { readonly [key: string]: Shown };

const MASK = '***';

/**
 * A document as rules see it, without what must stay secret: a secret is where it comes from, as it was
 * written, and a sensitive text is masked. A reference is the address. A field that is null is to be
 * cleared, so it is absent.
 */
export function viewOf(field: FieldContext, value: Value): Shown {
  if (value instanceof Secret) return { $secret: value.source };
  if (value instanceof Ref) return value.address;
  if (value instanceof Blob) {
    const { path, size, mime, sha256 } = value;
    return { path, size, mime, sha256 };
  }
  if (isList(value)) {
    const items = itemContext(field);
    return value.map((item) => viewOf(items, item));
  }
  if (isObject(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(
      members.map(([key, member]) => [key, viewOf(memberContext(field, key, value), member)]),
    );
  }
  const found = sensitivity(field, value);
  if (found === 'open') return value;
  return found === 'whole' || typeof value !== 'string' ? MASK : redactText(value);
}

/** The same with whole numbers as CEL has them, so that `attempts + 1` can be asked. */
export function forCel(value: Shown): Shown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(forCel);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, forCel(member)]));
}
