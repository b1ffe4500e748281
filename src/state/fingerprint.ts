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
import { isSameJson, type Json, type JsonObject } from '../core/value.ts';
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
 * The id says which key or salt it was: under another one nothing can be said. A fingerprint that came from another
 * state with its resource has `@` behind it, and what it is bound to there (`Binding`).
 */
export type Fingerprinter = {
  readonly of: (address: Address, path: string, value: Json) => string;
  readonly matches: (fingerprint: string, address: Address, path: string, value: Json) => Match;
  /**
   * Stretches values beside everything else, several at a time, so that `of` and `matches` need not do it
   * one after the other. Never needed: what was not prepared is stretched when its turn comes. `begin` is told how many are
   * stretched one by one.
   */
  readonly prepare: (values: Iterable<Json>, begin?: (count: number) => void) => Promise<void>;
  /**
   * True for one that was made before there was a key, or for another state: it can be confirmed, and gives way to one
   * of this key and state.
   */
  readonly isFormer: (fingerprint: string) => boolean;
  /**
   * The stretched values of `prepare`, for the state to keep, so that the next run stretches all of them together once.
   * Undefined with a key, and where a single value was prepared.
   */
  readonly keep: () => Promise<string | undefined>;
  /** The number of times that something was stretched. */
  readonly derivations: () => number;
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
  /** The text of `keep` of an earlier run, where the state has one. */
  readonly stretched?: string | undefined;
};

/** 32 MiB and about a tenth of a second for each guess. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/** Makes and checks fingerprints. Each distinct value is stretched once in the life of the result. */
export function createFingerprinter(source: FingerprintSource): Fingerprinter {
  const unkeyed = salted(source);
  const method = source.key ? keyed(source.key) : unkeyed;
  const methods = source.key ? [method, unkeyed] : [method];
  /** Methods of other states, by their salts. */
  const others = new Map<string, Method>();
  const of = (address: Address, path: string, value: Json) =>
    `${method.prefix}${method.seal([source.stack, address, path], value)}`;

  function methodsFor(bound: Binding | undefined): readonly Method[] {
    if (bound === undefined || bound.salt === source.salt) return methods;
    const other = others.get(bound.salt) ?? salted(bound);
    others.set(bound.salt, other);
    return [...methods, other];
  }

  return {
    of,
    prepare: method.prepare,
    keep: method.keep,
    derivations: () =>
      [unkeyed, ...others.values()].reduce((sum, { derivations }) => sum + derivations(), 0),
    isFormer: (fingerprint) =>
      readBound(fingerprint).bound !== undefined ||
      (method !== unkeyed && fingerprint.startsWith(unkeyed.prefix)),
    matches: (fingerprint, address, path, value) => {
      const { bare, bound } = readBound(fingerprint);
      const made = methodsFor(bound).find(({ prefix }) => bare.startsWith(prefix));
      if (made === undefined) return 'unknown';
      const { stack, address: at } = bound ?? { stack: source.stack, address };
      return bare === `${made.prefix}${made.seal([stack, at, path], value)}`
        ? 'equal'
        : 'different';
    },
  };
}

/** A fingerprint is bound to these beside its path: lineage and salt of the state, and the address in it. */
export type Binding = {
  readonly stack: string;
  readonly salt: string;
  readonly address: Address;
};

const BOUND = /^((?:hmac|scrypt):[0-9a-f]{8}:[0-9a-f]+)(?:@(\[.+\]))?$/;

function readBound(text: string): { readonly bare: string; readonly bound?: Binding } {
  const [, bare = text, elsewhere] = BOUND.exec(text) ?? [];
  const [stack, salt, address] = elsewhere === undefined ? [] : listTexts(elsewhere);
  if (stack === undefined || salt === undefined || address === undefined) return { bare };
  return { bare, bound: { stack, salt, address } };
}

/** None where the text is no JSON list of texts. */
function listTexts(text: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}

/**
 * The leaves of a resource as another state takes them over. A fingerprint cannot be made again without its value, so it
 * keeps what it is bound to; one that comes back to that is as it was.
 */
export function rebindLeaves(
  leaves: ResourceState['leaves'],
  from: Binding,
  to: Binding,
): ResourceState['leaves'] {
  const rebindMember = (text: string | undefined, member: string) =>
    text === undefined ? {} : { [member]: rebind(text, from, to) };
  const rebound = Object.entries(leaves).map(([path, leaf]): [string, AppliedLeaf] => {
    if (!('fingerprint' in leaf) && !('stored' in leaf)) return [path, leaf];
    const { fingerprint, in_clear: clear, stored }: Partial<ConcealedLeaf> = leaf;
    return [
      path,
      {
        ...leaf,
        ...rebindMember(fingerprint, 'fingerprint'),
        ...rebindMember(clear, 'in_clear'),
        ...rebindMember(stored, 'stored'),
      },
    ];
  });
  return Object.fromEntries(rebound);
}

type ConcealedLeaf = Extract<AppliedLeaf, { readonly fingerprint: string }>;

/** One fingerprint in another state; a digest, which is bound to nothing, stays as it is. */
export function rebind(text: string, from: Binding, to: Binding): string {
  const { bare, bound = from } = readBound(text);
  if (!BOUND.test(text) || (bound.stack === to.stack && bound.address === to.address)) return bare;
  return `${bare}@${JSON.stringify([bound.stack, bound.salt, bound.address])}`;
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
} & Pick<Fingerprinter, 'prepare' | 'keep' | 'derivations'>;

function keyed(key: string): Method {
  return {
    prefix: `hmac:${computeId(key)}:`,
    seal: (place, value) => hmac(key, [...place, value]),
    prepare: async () => {},
    keep: async () => undefined,
    derivations: () => 0,
  };
}

/**
 * The value itself is stretched, not the salt: the salt stands beside the fingerprints, so a key that is
 * made of it alone would be everybody's, and guessing as cheap as hashing.
 *
 * Stretching costs as much a value, so that the state keeps the stretched values, encrypted under what all values together
 * are stretched to: one derivation opens them for who has every value, and nothing does for anybody else. Whoever guesses
 * one value needs as many derivations as without them, and all other values besides (decision 14).
 */
function salted({ salt, stack, stretched: kept }: FingerprintSource): Method {
  const stretched = new Map<string, Buffer>();
  const place = Buffer.from(canonicalJson([stack, salt]));
  let count = 0;
  let prepared: readonly string[] = [];
  let isOpened = false;

  const stretch = (text: string) =>
    new Promise<Buffer>((resolve, reject) => {
      count += 1;
      scrypt(text, salt, 32, COST, (error, key) => (error === null ? resolve(key) : reject(error)));
    });

  const stretchAll = async (texts: readonly string[]) =>
    Buffer.from(hkdfSync('sha256', await stretch(canonicalJson(texts)), '', 'all secrets', 32));

  async function openKept(texts: readonly string[]): Promise<boolean> {
    const bytes = kept?.startsWith(STRETCHED) ? kept.slice(STRETCHED.length) : '';
    const length = NONCE + texts.length * STRETCHED_BYTES + TAG;
    // They are not those of another number of values.
    if (texts.length < 2 || Buffer.byteLength(bytes, 'base64') !== length) return false;
    const plain = decrypt(await stretchAll(texts), place, Buffer.from(bytes, 'base64'));
    for (const [at, text] of texts.entries()) {
      const key = plain?.subarray(at * STRETCHED_BYTES, (at + 1) * STRETCHED_BYTES);
      if (key !== undefined) stretched.set(text, key);
    }
    return plain !== undefined;
  }

  return {
    prefix: `scrypt:${computeId(salt)}:`,
    derivations: () => count,
    seal: (at, value) => {
      const text = canonicalJson(value);
      const key = stretched.get(text);
      if (key !== undefined) return hmac(key, at);
      count += 1;
      const made = scryptSync(text, salt, 32, COST);
      stretched.set(text, made);
      return hmac(made, at);
    },
    async prepare(values, begin) {
      const texts = [...new Set([...values].map(canonicalJson))].sort();
      if (isSameJson(texts, prepared)) return;
      prepared = texts;
      isOpened = stretched.size === 0 && (await openKept(texts));
      // Node runs as many as it has threads for them; the others wait without taking memory.
      const left = texts.filter((text) => !stretched.has(text));
      begin?.(left.length);
      await Promise.all(left.map(async (text) => stretched.set(text, await stretch(text))));
    },
    async keep() {
      if (isOpened) return kept;
      if (prepared.length < 2) return undefined;
      const keys = prepared.flatMap((text) => stretched.get(text) ?? []);
      const text = encrypt(await stretchAll(prepared), place, Buffer.concat(keys));
      return `${STRETCHED}${text.toString('base64')}`;
    },
  };
}

const CIPHER = 'aes-256-gcm';
const NONCE = 12;
const TAG = 16;
const STRETCHED = `${CIPHER}:`;
const STRETCHED_BYTES = 32;

/** Encrypts bytes that only the same key and the same place open: nonce, ciphertext and tag. */
function encrypt(key: Buffer, place: Buffer, bytes: Buffer): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(place);
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined where another key or place encrypted it. */
function decrypt(key: Buffer, place: Buffer, bytes: Buffer): Buffer | undefined {
  if (bytes.length < NONCE + TAG) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE))
    .setAAD(place)
    .setAuthTag(bytes.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
  } catch {
    return undefined;
  }
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
      const bytes = encrypt(derived, place(of, path), Buffer.from(JSON.stringify(value), 'utf8'));
      return `${prefix}${bytes.toString('base64')}`;
    },
    open(of, path, text) {
      if (!text.startsWith(prefix)) return undefined;
      const bytes = Buffer.from(text.slice(prefix.length), 'base64');
      const plain = decrypt(derived, place(of, path), bytes);
      return plain && parseSealed(plain);
    },
  };
}

/** Undefined where it is no JSON. */
function parseSealed(bytes: Buffer): Json | undefined {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
