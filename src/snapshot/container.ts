import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';
import { Decrypter, Encrypter, type Identity, type Recipient, Stanza } from 'age-encryption';
import { CallsheetError, errorCode, explainSystemError } from '../core/errors.ts';
import { damaged, noSnapshot, type Sealing, wrongKey } from './format.ts';

/** How a snapshot is encrypted when it is written. */
export type Seal =
  | { readonly type: 'none' }
  | {
      readonly type: 'passphrase';
      readonly passphrase: string;
      /** The cost of a guess: the logarithm of scrypt's N. */
      readonly workFactor?: number;
    }
  | { readonly type: 'age'; readonly recipients: readonly string[] };

/** Each is asked for only when a file needs it; undefined: there is none. */
export type Keys = {
  readonly passphrase: () => Promise<string | undefined>;
  readonly identities: () => Promise<readonly string[]>;
  /** Keys that were derived from the passphrase, by what they were derived from: a file is read more than once. */
  readonly derived?: Map<string, Promise<Uint8Array>>;
};

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
/** The first bytes of a file that age encrypted, and of one that it encrypted with a passphrase. */
const AGE_MAGIC = 'age-encryption.org/';
const AGE_PASSPHRASE = /^age-encryption\.org\/v1\n-> scrypt /;
/** As many bytes as tell the kinds of files apart, and as the head of one with a passphrase has at most. */
const HEAD = 1024;
/** About a second and 128 MB: too much for guessing, little for one right passphrase. */
const WORK_FACTOR = 17;

/** Compresses and encrypts. */
export function pack(text: Bytes, seal: Seal): Bytes {
  const compressed = through(text, createGzip());
  return seal.type === 'none' ? compressed : encrypt(compressed, seal);
}

/**
 * The text of a snapshot file. Throws `CallsheetError('usage')` for a file that is none, is damaged, or cannot
 * be decrypted.
 */
export async function* unpack(file: string, keys: Keys): AsyncGenerator<Uint8Array> {
  const begun = await readBeginning(file);
  const sealing = findSealing(begun.head);
  if (sealing === undefined) throw noSnapshot(file);
  const compressed = await decrypted(file, begun, sealing, keys);
  try {
    yield* through(compressed, createGunzip());
  } catch (error) {
    throw unzipFailure(file, error, sealing);
  }
}

/** How a file is encrypted; undefined for a file that no snapshot begins like. */
export async function readSealing(file: string): Promise<Sealing | undefined> {
  const { head, all } = await readBeginning(file);
  await all[Symbol.asyncIterator]().return?.();
  return findSealing(head);
}

async function readBeginning(file: string): Promise<Begun> {
  try {
    return await peek(readFileBytes(file), HEAD);
  } catch (error) {
    const hint = '`callsheet snapshot list` shows the snapshots of a folder.';
    throw explainSystemError(error, `${file} cannot be read`, { hint });
  }
}

async function* readFileBytes(file: string): AsyncGenerator<Uint8Array> {
  const stream: AsyncIterable<Uint8Array> = createReadStream(file, { highWaterMark: 256 * 1024 });
  yield* stream;
}

function findSealing(head: Buffer): Sealing | undefined {
  if (head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) return 'none';
  const text = head.toString('latin1');
  if (AGE_PASSPHRASE.test(text)) return 'passphrase';
  return text.startsWith(AGE_MAGIC) ? 'age' : undefined;
}

async function decrypted(file: string, begun: Begun, sealing: Sealing, keys: Keys): Promise<Bytes> {
  if (sealing === 'none') return begun.all;
  if (sealing === 'passphrase') {
    const passphrase = (await keys.passphrase())?.normalize('NFKC');
    if (passphrase !== undefined) return openWithPassphrase(file, begun, passphrase, keys.derived);
    throw wrongKey(
      file,
      'it needs its passphrase',
      'Set CALLSHEET_SNAPSHOT_PASSPHRASE, or set --passphrase-file to a file with the passphrase.',
    );
  }
  const identities = await keys.identities();
  if (identities.length > 0) {
    const decrypter = new Decrypter();
    for (const identity of identities) decrypter.addIdentity(identity);
    const hint = 'Give the key of one of its recipients with --identity.';
    const other = wrongKey(file, 'it was encrypted for other keys', hint);
    return openWithAge(file, begun.all, decrypter, other);
  }
  throw wrongKey(
    file,
    'it is encrypted for keys of age',
    'Name the file of your key with --identity.',
  );
}

function unzipFailure(file: string, error: unknown, sealing: Sealing): unknown {
  if (error instanceof CallsheetError) return error;
  const code = errorCode(error) ?? '';
  if (code === 'Z_BUF_ERROR') return damaged(file, 'it was cut off', error);
  if (!code.startsWith('Z_')) return explainSystemError(error, `${file} cannot be read`);
  const what = 'it was changed after it was written';
  return sealing === 'none' ? damaged(file, what, error) : noSnapshot(file);
}

const IDENTITY = /^AGE-SECRET-KEY-/;

/**
 * Encrypts bytes with a passphrase or for the holders of keys, as `age -p` and `age -r` do. Throws
 * `CallsheetError('usage')` for what is no recipient.
 */
async function* encrypt(
  source: Bytes,
  seal: Exclude<Seal, { readonly type: 'none' }>,
): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter();
  if (seal.type === 'passphrase') {
    // The same characters, however the keyboard composed them.
    const passphrase = seal.passphrase.normalize('NFKC');
    encrypter.addRecipient(passphraseRecipient(passphrase, seal.workFactor ?? WORK_FACTOR));
  } else for (const recipient of seal.recipients) addRecipient(encrypter, recipient);
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
        ? 'Give the public part, which begins with age1 (age-keygen -y). The secret key was visible on a command line: create a new one.'
        : 'Recipients begin with age1; age-keygen prints one with every key that it makes.',
      cause,
    });
  }
}

/** Decrypts a file that a passphrase opens. The key of each file is derived once. */
function openWithPassphrase(
  file: string,
  begun: Begun,
  passphrase: string,
  derived: Keys['derived'] = new Map(),
): Bytes {
  const keep = (of: string, derive: () => Promise<Uint8Array>) => {
    const key = derived.get(of) ?? derive();
    derived.set(of, key);
    return key;
  };
  const text = begun.head.toString('latin1');
  const [header = text] = /^.*?\n--- [^\n]*\n/s.exec(text) ?? [];
  const decrypter = new Decrypter();
  decrypter.addIdentity({
    unwrapFileKey: () =>
      keep(`${passphrase} ${header}`, () => {
        const own = new Decrypter();
        own.addIdentity(passphraseIdentity(passphrase));
        return own.decryptHeader(Buffer.from(header, 'latin1'));
      }),
  });
  const hint = 'Check CALLSHEET_SNAPSHOT_PASSPHRASE or --passphrase-file.';
  const other = wrongKey(file, 'the passphrase is another one', hint);
  return openWithAge(file, begun.all, decrypter, other);
}

/**
 * Decrypts a file of age. Throws `wrong` where no key fits, and `CallsheetError('usage')` for a file that is cut
 * off or changed.
 */
async function* openWithAge(
  file: string,
  source: Bytes,
  decrypter: Decrypter,
  wrong: CallsheetError,
): AsyncGenerator<Uint8Array> {
  const plain = await decrypter.decrypt(ReadableStream.from(source)).catch((cause: unknown) => {
    if (cause instanceof Error && /no identity matched/.test(cause.message)) throw wrong;
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

/**
 * Wraps a file key as age does (`age-encryption.org/v1`, the scrypt recipient), but with OpenSSL: the library's own
 * scrypt takes three times as long, and leaves 128 MB behind in a process that reads an account meanwhile.
 */
function passphraseRecipient(passphrase: string, logN: number): Recipient {
  return {
    wrapFileKey: async (fileKey) => {
      const salt = randomBytes(SALT_BYTES);
      const key = await stretched(passphrase, salt, logN);
      const cipher = createCipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES });
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      const text = salt.toString('base64').replace(/=+$/, '');
      return [new Stanza(['scrypt', text, String(logN)], body)];
    },
  };
}

/** Null where the passphrase is another one. Throws for a header that is none of a passphrase. */
function passphraseIdentity(passphrase: string): Identity {
  return {
    unwrapFileKey: async ([stanza, ...others]) => {
      const [type, text = '', work = ''] = stanza?.args ?? [];
      const salt = Buffer.from(text, 'base64');
      const isSound = type === 'scrypt' && /^[1-9]\d?$/.test(work) && Number(work) <= MOST_WORK;
      if (stanza === undefined || others.length > 0 || !isSound || salt.length !== SALT_BYTES)
        throw new Error('invalid scrypt stanza');
      if (stanza.body.length !== FILE_KEY_BYTES + TAG_BYTES) throw new Error('invalid stanza');
      const key = await stretched(passphrase, salt, Number(work));
      const decipher = createDecipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES });
      decipher.setAuthTag(stanza.body.subarray(FILE_KEY_BYTES));
      try {
        const fileKey = decipher.update(stanza.body.subarray(0, FILE_KEY_BYTES));
        decipher.final();
        return fileKey;
      } catch {
        return null;
      }
    },
  };
}

const CIPHER = 'chacha20-poly1305';
/** The key is of this file alone. */
const NONCE = Buffer.alloc(12);
const SALT_BYTES = 16;
const FILE_KEY_BYTES = 16;
const TAG_BYTES = 16;
/** The most that opening a file may cost, as in other implementations of age: 1 GiB. */
const MOST_WORK = 20;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

function stretched(passphrase: string, salt: Buffer, logN: number): Promise<Buffer> {
  const label = Buffer.from('age-encryption.org/v1/scrypt');
  const N = 2 ** logN;
  return derive(passphrase, Buffer.concat([label, salt]), 32, {
    N,
    r: 8,
    p: 1,
    maxmem: 256 * 8 * N,
  });
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
      throw noKeys(file, 'holds a line that is not a key of age');
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

/** Bytes as they come. */
export type Bytes = AsyncIterable<Uint8Array>;

/** Sends bytes through a stream, and yields its output. */
async function* through(source: Bytes, transform: Transform): AsyncGenerator<Buffer> {
  // A failure on the way fails the iteration too.
  yield* pipeline(Readable.from(source), transform, () => {});
}

/** The first bytes, and everything from the beginning: to look at what something is before it is read. */
type Begun = { readonly head: Buffer; readonly all: Bytes };

async function peek(source: Bytes, least: number): Promise<Begun> {
  const iterator = source[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  while (length < least && !ended) {
    const { done, value } = await iterator.next();
    ended = done === true;
    if (done === true) break;
    seen.push(value);
    length += value.byteLength;
  }
  async function* again(): AsyncGenerator<Uint8Array> {
    try {
      yield* seen;
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { head: Buffer.concat(seen), all: again() };
}
