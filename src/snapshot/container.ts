import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';
import { Decrypter, Encrypter } from 'age-encryption';
import { CallsheetError, errorCode, fileSystemReason } from '../core/errors.ts';
import { isObject, type Json } from '../core/value.ts';

/** How a snapshot is encrypted when it is written. */
export type Seal =
  | { readonly type: 'none' }
  | { readonly type: 'passphrase'; readonly passphrase: string; readonly cost?: Cost }
  | { readonly type: 'age'; readonly recipients: readonly string[] };

/** How a file is encrypted, as its first bytes say. */
export type Sealing = Seal['type'];

/** What files are opened with. Each is asked for only when a file needs it; undefined: there is none. */
export type Keys = {
  readonly passphrase: () => Promise<string | undefined>;
  readonly identities: () => Promise<readonly string[]>;
  /** Keeps what was made of the passphrase, which takes its time. */
  readonly made?: MadeKeys;
};

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
/** As many bytes as tell the kinds of files apart. */
const TELLING = 32;

/** Compresses and encrypts. `made` keeps the keys, so that reading it back needs not make them again. */
export function pack(text: Bytes, seal: Seal, made?: MadeKeys): Bytes {
  const compressed = through(text, createGzip());
  switch (seal.type) {
    case 'none':
      return compressed;
    case 'passphrase':
      return sealWithPassphrase(compressed, seal.passphrase, seal.cost, made);
    case 'age':
      return sealWithAge(compressed, seal.recipients);
  }
}

/**
 * The text of a snapshot file. Throws `CallsheetError('usage')` for a file that is none, is damaged, or cannot
 * be decrypted.
 */
export async function* unpack(file: string, keys: Keys): AsyncGenerator<Uint8Array> {
  const { head, all } = await beginningOf(file);
  const sealing = sealingOf(head);
  if (sealing === undefined) throw noSnapshot(file);
  const compressed = await decrypted(file, all, sealing, keys);
  try {
    yield* through(compressed, createGunzip());
  } catch (error) {
    throw unzipFailure(file, error, sealing);
  }
}

/** How a file is encrypted; undefined for a file that no snapshot begins like. */
export async function readSealing(file: string): Promise<Sealing | undefined> {
  const { head, all } = await beginningOf(file);
  await all[Symbol.asyncIterator]().return?.();
  return sealingOf(head);
}

async function beginningOf(file: string) {
  try {
    return await peek(readFileBytes(file), TELLING);
  } catch (error) {
    throw inWords(error, 'read', file);
  }
}

async function* readFileBytes(file: string): AsyncGenerator<Uint8Array> {
  const stream: AsyncIterable<Uint8Array> = createReadStream(file, { highWaterMark: 256 * 1024 });
  yield* stream;
}

function sealingOf(head: Buffer): Sealing | undefined {
  if (head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) return 'none';
  const text = head.toString('latin1');
  if (text.startsWith(MAGIC)) return 'passphrase';
  return text.startsWith(AGE_MAGIC) ? 'age' : undefined;
}

async function decrypted(file: string, all: Bytes, sealing: Sealing, keys: Keys): Promise<Bytes> {
  if (sealing === 'none') return all;
  if (sealing === 'passphrase') {
    const passphrase = await keys.passphrase();
    if (passphrase !== undefined) return openWithPassphrase(file, all, passphrase, keys.made);
    throw wrongKey(
      file,
      'it needs its passphrase',
      'Set CALLSHEET_SNAPSHOT_PASSPHRASE, or name a file that holds it with --passphrase-file.',
    );
  }
  const identities = await keys.identities();
  if (identities.length > 0) return openWithAge(file, all, identities);
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
  if (!code.startsWith('Z_')) return inWords(error, 'read', file);
  const what = 'it was changed after it was written';
  return sealing === 'none' ? damaged(file, what, error) : noSnapshot(file);
}

/**
 * Encryption with a passphrase: scrypt makes a key of it, AES-256-GCM encrypts piece by piece in the manner of
 * the STREAM construction, so that nothing needs to be held in memory and no piece can be changed, moved, left
 * out or cut off unnoticed.
 *
 *     callsheet-sealed-snapshot/1 LF
 *     {"kdf":"scrypt","n":…,"r":…,"p":…,"salt":"…"} LF
 *     HMAC-SHA256 of the two lines above, base64 LF         a wrong passphrase is told from damage by it
 *     pieces of 64 KiB, each followed by its tag of 16 bytes
 *
 * The nonce of a piece is its number (11 bytes) and whether it is the last (1 byte). A file's salt is its own,
 * so its keys are, and no nonce is used twice under one key. HKDF-SHA256 parts the key that scrypt made into
 * one for the lines and one for the pieces.
 */
const MAGIC = 'callsheet-sealed-snapshot/';
const SEAL_VERSION = 1;
const CHUNK = 64 * 1024;
const TAG = 16;
const KEY = 32;
/** Three short lines. */
const LONGEST_HEAD = 1024;

/** What guessing costs, in the terms of scrypt. */
type Cost = { readonly n: number; readonly r: number; readonly p: number };

/** About half a second and 128 MB: dear for whoever guesses, bearable for whoever knows. */
const COST: Cost = { n: 2 ** 17, r: 8, p: 1 };
/** A file may not ask for more than this of whoever opens it. */
const MOST_MEMORY = 1024 ** 3;
const MOST_PARALLEL = 16;

type DerivedKeys = { readonly head: Buffer; readonly chunks: Buffer };

/** DerivedKeys that were made already, by what they were made of: a file is read more than once. */
export type MadeKeys = Map<string, Promise<DerivedKeys>>;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

async function keysOf(passphrase: string, salt: Buffer, { n, r, p }: Cost): Promise<DerivedKeys> {
  // The same characters, however the keyboard composed them.
  const text = passphrase.normalize('NFKC');
  const secret = await derive(text, salt, KEY, { N: n, r, p, maxmem: 256 * n * r + 1024 ** 2 });
  const part = (use: string) => Buffer.from(hkdfSync('sha256', secret, salt, use, KEY));
  return { head: part('callsheet snapshot head'), chunks: part('callsheet snapshot chunks') };
}

function madeKeys(
  passphrase: string,
  salt: Buffer,
  { n, r, p }: Cost,
  made: MadeKeys,
): Promise<DerivedKeys> {
  const name = JSON.stringify([passphrase, salt.toString('base64'), n, r, p]);
  const making = made.get(name) ?? keysOf(passphrase, salt, { n, r, p });
  made.set(name, making);
  return making;
}

function nonce(index: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUIntBE(index, 5, 6);
  bytes.writeUInt8(isLast ? 1 : 0, 11);
  return bytes;
}

/** Encrypts bytes with a passphrase. */
async function* sealWithPassphrase(
  source: Bytes,
  passphrase: string,
  cost: Cost = COST,
  made: MadeKeys = new Map(),
): AsyncGenerator<Buffer> {
  const salt = randomBytes(16);
  const keys = await madeKeys(passphrase, salt, cost, made);
  const settings = JSON.stringify({ kdf: 'scrypt', ...cost, salt: salt.toString('base64') });
  const lines = `${MAGIC}${SEAL_VERSION}\n${settings}\n`;
  yield Buffer.from(`${lines}${macOf(keys, lines).toString('base64')}\n`);
  let index = 0;
  for await (const { chunk, isLast } of inChunks(source, CHUNK)) {
    const cipher = createCipheriv('aes-256-gcm', keys.chunks, nonce(index, isLast));
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
    index += 1;
  }
}

function macOf({ head }: DerivedKeys, lines: string): Buffer {
  return createHmac('sha256', head).update(lines).digest();
}

/**
 * Decrypts what `sealWithPassphrase` made. Throws `CallsheetError('usage')` for another passphrase, and for a
 * file that is cut off or changed.
 */
async function* openWithPassphrase(
  file: string,
  source: Bytes,
  passphrase: string,
  made: MadeKeys = new Map(),
): AsyncGenerator<Buffer> {
  const { head, rest } = await takeHead(file, source);
  const { salt, mac, lines, ...cost } = readHead(file, head);
  const keys = await madeKeys(passphrase, salt, cost, made);
  const expected = macOf(keys, lines);
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
    const hint = 'Check CALLSHEET_SNAPSHOT_PASSPHRASE or --passphrase-file.';
    throw wrongKey(file, 'the passphrase is another one', hint);
  }
  let index = 0;
  for await (const { chunk, isLast } of inChunks(rest, CHUNK + TAG)) {
    if (chunk.length < TAG) throw damaged(file, 'it was cut off');
    const decipher = createDecipheriv('aes-256-gcm', keys.chunks, nonce(index, isLast), {
      authTagLength: TAG,
    });
    decipher.setAuthTag(chunk.subarray(-TAG));
    const plain = decipher.update(chunk.subarray(0, -TAG));
    try {
      decipher.final();
    } catch (cause) {
      // A piece that is the last only because the rest is missing was not encrypted as the last.
      const what = isLast ? 'it was cut off or changed' : 'it was changed after it was written';
      throw damaged(file, what, cause);
    }
    yield plain;
    index += 1;
  }
}

async function takeHead(file: string, source: Bytes) {
  const { head, all } = await peek(source, LONGEST_HEAD);
  const text = head.toString('latin1');
  let length = 0;
  for (let line = 0; line < 3; line += 1) {
    length = text.indexOf('\n', length) + 1;
    if (length === 0) throw damaged(file, 'its beginning is cut off');
  }
  return { head: text.slice(0, length), rest: after(all, length) };
}

async function* after(source: Bytes, count: number): AsyncGenerator<Uint8Array> {
  let skip = count;
  for await (const piece of source) {
    if (piece.byteLength > skip) yield piece.subarray(skip);
    skip = Math.max(0, skip - piece.byteLength);
  }
}

function readHead(file: string, head: string) {
  const [magic = '', settings = '', mac = ''] = head.split('\n');
  const version = Number(magic.slice(MAGIC.length));
  if (version > SEAL_VERSION) throw tooNew(file, version, SEAL_VERSION);
  const read = parsed(settings);
  const { kdf, n, r, p, salt } = isObject(read) ? read : {};
  const isSound =
    kdf === 'scrypt' &&
    typeof salt === 'string' &&
    isCount(n) &&
    isCount(r) &&
    isCount(p) &&
    Number.isInteger(Math.log2(n)) &&
    128 * n * r <= MOST_MEMORY &&
    p <= MOST_PARALLEL;
  if (!isSound) throw damaged(file, 'its beginning does not say how it was encrypted');
  return {
    n,
    r,
    p,
    salt: Buffer.from(salt, 'base64'),
    mac: Buffer.from(mac, 'base64'),
    lines: `${magic}\n${settings}\n`,
  };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What every file begins with that `age` encrypted. */
const AGE_MAGIC = 'age-encryption.org/';

const IDENTITY = /^AGE-SECRET-KEY-/;

/** Encrypts bytes for the holders of keys, as `age -r` does. Throws `CallsheetError('usage')` for what is no recipient. */
async function* sealWithAge(
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
async function* openWithAge(
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

/** Bytes as they come. */
export type Bytes = AsyncIterable<Uint8Array>;

/** What comes out of a stream that bytes are sent through. */
async function* through(source: Bytes, transform: Transform): AsyncGenerator<Buffer> {
  // What fails on the way fails the iteration too.
  yield* pipeline(Readable.from(source), transform, () => {});
}

/** Cuts bytes into pieces of one size; the last one is what is left, and may be empty. Each knows whether it is it. */
async function* inChunks(
  source: Bytes,
  size: number,
): AsyncGenerator<{ readonly chunk: Buffer; readonly isLast: boolean }> {
  let kept: Buffer[] = [];
  let length = 0;
  for await (const piece of source) {
    kept.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    length += piece.byteLength;
    if (length <= size) continue;
    const all = Buffer.concat(kept);
    let at = 0;
    // A full piece is only given once something follows it: otherwise it is the last.
    for (; length - at > size; at += size)
      yield { chunk: all.subarray(at, at + size), isLast: false };
    kept = [all.subarray(at)];
    length -= at;
  }
  yield { chunk: Buffer.concat(kept), isLast: true };
}

/** The first bytes, and everything from the beginning: to look at what something is before it is read. */
async function peek(
  source: Bytes,
  least: number,
): Promise<{ readonly head: Buffer; readonly all: Bytes }> {
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

/** What can be wrong with a snapshot file, in words. */

const COPY_AGAIN =
  'Copy it again from where it came from; if that is the only copy, take an older snapshot (callsheet snapshot list).';

/** The file is not what it says it is: some of it is missing or changed. */
export function damaged(file: string, what: string, cause?: unknown): CallsheetError {
  const given = cause === undefined ? {} : { cause };
  return new CallsheetError('usage', `the snapshot ${file} is damaged: ${what}`, {
    hint: COPY_AGAIN,
    ...given,
  });
}

export function noSnapshot(file: string): CallsheetError {
  return new CallsheetError('usage', `${file} is not a snapshot of Callsheet`, {
    hint: 'callsheet snapshot create makes one; callsheet snapshot list shows those in a folder.',
  });
}

export function tooNew(file: string, version: number, known: number): CallsheetError {
  const message = `the snapshot ${file} has version ${version} of the format; this Callsheet reads up to ${known}`;
  return new CallsheetError('usage', message, { hint: 'Read it with a newer Callsheet.' });
}

function wrongKey(file: string, what: string, hint: string): CallsheetError {
  return new CallsheetError('usage', `the snapshot ${file} cannot be decrypted: ${what}`, { hint });
}

/** The same failure in words, where the file system refused; anything else as it is. */
export function inWords(error: unknown, what: 'read' | 'written', file: string): unknown {
  const reason = fileSystemReason(error);
  if (reason === undefined) return error;
  const left = what === 'written' ? ' Nothing of it was left behind.' : '';
  return new CallsheetError('usage', `${file} cannot be ${what}: ${reason}.${left}`, {
    cause: error,
    ...(what === 'written' ? { hint: 'Name another place with --out, or make room.' } : {}),
  });
}
