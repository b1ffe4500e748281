import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  scrypt,
  scryptSync,
} from 'node:crypto';
import type { Address } from '../core/address.ts';
import { canonicalJson } from '../core/digest.ts';
import type { Json, JsonObject } from '../core/value.ts';
import { type AppliedLeaf, forgetValue, type ResourceState } from './model.ts';

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
  /**
   * Stretches values beside everything else, several at a time, so that `of` and `matches` need not do it
   * one after the other. Never needed: what was not prepared is stretched when its turn comes.
   */
  readonly prepare: (values: Iterable<Json>) => Promise<void>;
};

/** `unknown`: made with another key or salt, or by the other method. Never to be taken for equal. */
type Match = 'equal' | 'different' | 'unknown';

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
    prepare: method.prepare,
    matches: (fingerprint, address, path, value) => {
      if (!fingerprint.startsWith(method.prefix)) return 'unknown';
      return fingerprint === of(address, path, value) ? 'equal' : 'different';
    },
  };
}

/** A resource whose fingerprints are forgotten: under another name they fit nothing. */
export function withoutFingerprints(resource: ResourceState): ResourceState {
  const leaves = Object.entries(resource.leaves).map(([path, leaf]): [string, AppliedLeaf] => [
    path,
    'fingerprint' in leaf ? forgetValue(leaf) : leaf,
  ]);
  return { ...resource, leaves: Object.fromEntries(leaves) };
}

/** Fingerprints that a resource has. */
export function countFingerprints({ leaves }: ResourceState): number {
  return Object.values(leaves).filter((leaf) => 'fingerprint' in leaf).length;
}

type Method = {
  readonly prefix: string;
  readonly seal: (
    place: readonly [stack: string, address: string, path: string],
    value: Json,
  ) => string;
  readonly prepare: Fingerprinter['prepare'];
};

function keyed(key: string): Method {
  return {
    prefix: `hmac:${computeId(key)}:`,
    seal: (place, value) => hmac(key, [...place, value]),
    prepare: async () => {},
  };
}

/**
 * The value itself is stretched, not the salt: the salt stands beside the fingerprints, so a key that is
 * made of it alone would be everybody's, and guessing as cheap as hashing.
 */
function salted(salt: string): Method {
  const stretched = new Map<string, Buffer>();
  return {
    prefix: `scrypt:${computeId(salt)}:`,
    seal: (place, value) => {
      const text = canonicalJson(value);
      const key = stretched.get(text) ?? scryptSync(text, salt, 32, COST);
      stretched.set(text, key);
      return hmac(key, place);
    },
    async prepare(values) {
      const texts = new Set([...values].map(canonicalJson));
      // Node runs as many as it has threads for them; the others wait without taking memory.
      await Promise.all(
        [...texts]
          .filter((text) => !stretched.has(text))
          .map(async (text) => stretched.set(text, await stretch(text, salt))),
      );
    },
  };
}

function stretch(text: string, salt: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(text, salt, 32, COST, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

function hmac(key: string | Buffer, content: readonly Json[]): string {
  return createHmac('sha256', key).update(canonicalJson(content)).digest('hex');
}

function computeId(text: string): string {
  return hash('sha256', text).slice(0, 8);
}

/**
 * Sensitive values that the platform returns stand in the copies of a run encrypted, where the team keeps a key, so
 * that a rollback puts them back (DESIGN §8). The text is `aes-256-gcm:<key id>:<base64>`: nonce, ciphertext and tag
 * under a key that HKDF-SHA256 derives from `CALLSHEET_FINGERPRINT_KEY`. It is bound to the stack, the account, the
 * organization, the id and the address of its resource, and the path: a text that is taken elsewhere opens nowhere.
 */
export type Sealer = {
  readonly seal: (of: SealedResource, path: string, value: Json) => string;
  /** Undefined where it was sealed with another key, or belongs to something else. */
  readonly open: (of: SealedResource, path: string, text: string) => Json | undefined;
};

/** The resource that an encrypted value belongs to, as the platform returned it. */
export type SealedResource = {
  readonly address: Address;
  readonly kind: string;
  readonly id: string | null;
  readonly document: JsonObject | null;
};

const CIPHER = 'aes-256-gcm';
const NONCE = 12;
const TAG = 16;

/** `stack`: the lineage of the state. `account`: that of the platform's answers. */
export function createSealer(
  key: string,
  { stack, account }: { readonly stack: string; readonly account: string },
): Sealer {
  const derived = Buffer.from(hkdfSync('sha256', key, stack, 'callsheet copies of a rollback', 32));
  const prefix = `${CIPHER}:${hash('sha256', derived).slice(0, 8)}:`;
  const place = ({ address, kind, id, document }: SealedResource, path: string) => {
    const organization = document?.organization_id ?? null;
    return Buffer.from(canonicalJson([stack, account, organization, kind, id, address, path]));
  };
  return {
    seal(of, path, value) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv(CIPHER, derived, nonce).setAAD(place(of, path));
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return `${prefix}${Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64')}`;
    },
    open(of, path, text) {
      if (!text.startsWith(prefix)) return undefined;
      const bytes = Buffer.from(text.slice(prefix.length), 'base64');
      if (bytes.length < NONCE + TAG) return undefined;
      const decipher = createDecipheriv(CIPHER, derived, bytes.subarray(0, NONCE))
        .setAAD(place(of, path))
        .setAuthTag(bytes.subarray(-TAG));
      try {
        const plain = [decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()];
        return JSON.parse(Buffer.concat(plain).toString('utf8'));
      } catch {
        return undefined;
      }
    },
  };
}
