import { Decrypter, Encrypter } from 'age-encryption';
import { CallsheetError } from '../../core/errors.ts';
import type { Bytes } from '../bytes.ts';
import { damaged, wrongKey } from '../failures.ts';

/** What every file begins with that `age` encrypted. */
export const AGE_MAGIC = 'age-encryption.org/';

const IDENTITY = /^AGE-SECRET-KEY-/;

/** Encrypts bytes for the holders of keys, as `age -r` does. Throws `CallsheetError('usage')` for what is no recipient. */
export async function* sealWithAge(
  source: Bytes,
  recipients: readonly string[],
): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) addRecipient(encrypter, recipient);
  yield* await encrypter.encrypt(ReadableStream.from(source));
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient);
  } catch (cause) {
    // Somebody may have pasted the key itself, so it is not repeated.
    const isKey = IDENTITY.test(recipient.trim().toUpperCase());
    const message = isKey
      ? '--recipient was given a secret key'
      : `--recipient ${recipient} is not a recipient of age`;
    throw new CallsheetError('usage', message, {
      hint: isKey
        ? 'Give the public part, which begins with age1 (age-keygen -y). That key has been on a command line: make a new one.'
        : 'Recipients begin with age1; age-keygen prints one with every key that it makes.',
      cause,
    });
  }
}

/**
 * Decrypts a file of `age`. Throws `CallsheetError('usage')` where no key fits, and for a file that is cut off
 * or changed.
 */
export async function* openWithAge(
  file: string,
  source: Bytes,
  identities: readonly string[],
): AsyncGenerator<Uint8Array> {
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  const plain = await decrypter.decrypt(ReadableStream.from(source)).catch((cause: unknown) => {
    if (cause instanceof Error && /no identity matched/.test(cause.message)) {
      const hint = 'Give the key of one of its recipients with --identity.';
      throw wrongKey(file, 'it was encrypted for other keys', hint);
    }
    throw cause instanceof CallsheetError
      ? cause
      : damaged(file, 'its beginning was changed', cause);
  });
  const reader = plain.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (cause) {
    // Failures of the disk have a code of their own.
    if (cause instanceof Error && 'code' in cause) throw cause;
    throw damaged(file, 'it was cut off or changed', cause);
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The keys in the text of a key file, as age-keygen writes it. Throws `CallsheetError('usage')` where there is none. */
export function identitiesIn(file: string, text: string): readonly string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const decrypter = new Decrypter();
  for (const key of keys) {
    try {
      decrypter.addIdentity(key);
    } catch {
      throw noKeys(file, 'holds a line that is no key of age');
    }
  }
  if (keys.length === 0) throw noKeys(file, 'holds no key');
  return keys;
}

function noKeys(file: string, what: string): CallsheetError {
  return new CallsheetError('usage', `--identity ${file} ${what}`, {
    hint: 'A key file is what age-keygen writes: a line that begins with AGE-SECRET-KEY-.',
  });
}
