import type { Writable } from '../config/write.ts';
import { isList, isObject, type JsonObject, Ref, Secret, type Value } from '../core/value.ts';

/**
 * A resource as a line of text and back. References and secrets are told from data that looks like them: every
 * list and map is wrapped. It holds no value of a secret.
 */
export function toLine(writable: Writable): string {
  const text = JSON.stringify({ ...writable, document: encode(writable.document) });
  // What reads lines ends one there, too.
  return text.replace(
    /[\u0085\u2028\u2029]/g,
    (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function fromLine(line: string): Writable {
  const written: Omit<Writable, 'document'> & { readonly document: JsonObject } = JSON.parse(line);
  const document = decode(written.document);
  return { ...written, document: isObject(document) ? document : {} };
}

type Wrapped =
  | { readonly ref: string }
  | { readonly secret: string }
  | { readonly list: readonly unknown[] }
  | { readonly map: readonly (readonly [string, unknown])[] }
  | { readonly plain: Value };

function encode(value: Value): Wrapped {
  if (value instanceof Ref) return { ref: value.address };
  if (value instanceof Secret) return { secret: value.source };
  if (isList(value)) return { list: value.map(encode) };
  if (!isObject(value)) return { plain: value };
  return { map: Object.entries(value).map(([key, member]) => [key, encode(member)]) };
}

function decode(given: unknown): Value {
  // What `encode` made; nobody else writes it.
  const wrapped = given as Wrapped;
  if ('ref' in wrapped) return new Ref(wrapped.ref);
  if ('secret' in wrapped) return new Secret(wrapped.secret);
  if ('list' in wrapped) return wrapped.list.map(decode);
  if ('plain' in wrapped) return wrapped.plain;
  return Object.fromEntries(wrapped.map.map(([key, member]) => [key, decode(member)]));
}
