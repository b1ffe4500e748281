import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Address } from '../core/address.ts';
import { canonicalJson } from '../core/digest.ts';
import type { Json } from '../core/value.ts';

/**
 * Sensitive values that the platform returns stand in the copies of a run encrypted, where the team keeps a key, so
 * that a rollback puts them back (DESIGN §8). The text is `aes-256-gcm:<key id>:<base64>`: nonce, ciphertext and tag
 * under a key that HKDF-SHA256 derives from `CALLSHEET_FINGERPRINT_KEY`. It is bound to stack, address and path: a
 * text that is taken elsewhere opens nowhere.
 */
export type Sealer = {
  readonly seal: (address: Address, path: string, value: Json) => string;
  /** Undefined where it was sealed with another key, or somewhere else. */
  readonly open: (address: Address, path: string, text: string) => Json | undefined;
};

const CIPHER = 'aes-256-gcm';
const NONCE = 12;
const TAG = 16;

/** `stack`: the lineage of the state. */
export function createSealer(key: string, stack: string): Sealer {
  const derived = Buffer.from(hkdfSync('sha256', key, stack, 'callsheet rollback copies 1', 32));
  const prefix = `${CIPHER}:${createHash('sha256').update(derived).digest('hex').slice(0, 8)}:`;
  const place = (address: Address, path: string) =>
    Buffer.from(canonicalJson([stack, address, path]));
  return {
    seal(address, path, value) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv(CIPHER, derived, nonce).setAAD(place(address, path));
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return `${prefix}${Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64')}`;
    },
    open(address, path, text) {
      if (!text.startsWith(prefix)) return undefined;
      const bytes = Buffer.from(text.slice(prefix.length), 'base64');
      if (bytes.length < NONCE + TAG) return undefined;
      const decipher = createDecipheriv(CIPHER, derived, bytes.subarray(0, NONCE))
        .setAAD(place(address, path))
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
