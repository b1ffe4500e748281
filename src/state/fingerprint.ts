import { createHash, createHmac, scryptSync } from 'node:crypto';
import type { Address } from '../core/address.ts';
import { canonicalJson } from '../core/digest.ts';
import type { Json } from '../core/value.ts';
import type { ResourceState } from './model.ts';

/**
 * Fingerprints stand in the state for secrets and sensitive values, which cannot be compared with what
 * is live. They are bound to the stack, the address and the path: one taken from elsewhere fits
 * nowhere, and equal secrets do not look equal.
 *
 * | form                   | made with                                                         |
 * |------------------------|-------------------------------------------------------------------|
 * | `hmac:<key id>:<hex>`  | HMAC-SHA256 under the key that the team keeps                     |
 * | `scrypt:<salt id>:<hex>` | scrypt of the value, so that guessing a weak one stays expensive |
 *
 * The id says which key or salt it was: under another one nothing can be said.
 */
export type Fingerprinter = {
  readonly of: (address: Address, path: string, value: Json) => string;
  readonly matches: (fingerprint: string, address: Address, path: string, value: Json) => Match;
};

/** `unknown`: made with another key or salt, or by the other method. Never to be taken for equal. */
export type Match = 'equal' | 'different' | 'unknown';

export type FingerprintSource = {
  /** `CALLSHEET_FINGERPRINT_KEY`; an empty one counts as none. */
  readonly key?: string;
  /** The state's salt. */
  readonly salt: string;
  /** The state's lineage. */
  readonly stack: string;
};

/** 32 MiB and about a tenth of a second for each guess. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/** Makes and checks fingerprints. Each distinct value is stretched once in the life of the result. */
export function createFingerprinter(source: FingerprintSource): Fingerprinter {
  const method = source.key ? keyed(source.key) : salted(source.salt);
  const of: Fingerprinter['of'] = (address, path, value) =>
    `${method.prefix}${method.seal([source.stack, address, path], value)}`;
  return {
    of,
    matches: (fingerprint, address, path, value) => {
      if (!fingerprint.startsWith(method.prefix)) return 'unknown';
      return fingerprint === of(address, path, value) ? 'equal' : 'different';
    },
  };
}

/** A resource without the leaves that are known by a fingerprint: under another name they fit nothing. */
export function withoutFingerprints(resource: ResourceState): ResourceState {
  const kept = Object.entries(resource.leaves).filter(([, leaf]) => !('fingerprint' in leaf));
  return { ...resource, leaves: Object.fromEntries(kept) };
}

type Method = {
  readonly prefix: string;
  readonly seal: (
    place: readonly [stack: string, address: string, path: string],
    value: Json,
  ) => string;
};

function keyed(key: string): Method {
  return {
    prefix: `hmac:${idOf(key)}:`,
    seal: (place, value) => hmac(key, [...place, value]),
  };
}

function salted(salt: string): Method {
  const stretched = new Map<string, Buffer>();
  return {
    prefix: `scrypt:${idOf(salt)}:`,
    seal: (place, value) => {
      const text = canonicalJson(value);
      const key = stretched.get(text) ?? scryptSync(text, salt, 32, COST);
      stretched.set(text, key);
      return hmac(key, place);
    },
  };
}

function hmac(key: string | Buffer, content: readonly Json[]): string {
  return createHmac('sha256', key).update(canonicalJson(content)).digest('hex');
}

function idOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
