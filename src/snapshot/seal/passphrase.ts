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
import { promisify } from 'node:util';
import { isObject, type Json } from '../../core/value.ts';
import { type Bytes, inChunks, peek } from '../bytes.ts';
import { damaged, tooNew, wrongKey } from '../failures.ts';

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
export const MAGIC = 'callsheet-sealed-snapshot/';
const SEAL_VERSION = 1;
const CHUNK = 64 * 1024;
const TAG = 16;
const KEY = 32;
/** Three short lines. */
const LONGEST_HEAD = 1024;

/** What guessing costs, in the terms of scrypt. */
export type Cost = { readonly n: number; readonly r: number; readonly p: number };

/** About half a second and 128 MB: dear for whoever guesses, bearable for whoever knows. */
const COST: Cost = { n: 2 ** 17, r: 8, p: 1 };
/** A file may not ask for more than this of whoever opens it. */
const MOST_MEMORY = 1024 ** 3;
const MOST_PARALLEL = 16;

type Keys = { readonly head: Buffer; readonly chunks: Buffer };

/** Keys that were made already, by what they were made of: a file is read more than once. */
export type MadeKeys = Map<string, Promise<Keys>>;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

async function keysOf(passphrase: string, salt: Buffer, { n, r, p }: Cost): Promise<Keys> {
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
): Promise<Keys> {
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
export async function* sealWithPassphrase(
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

function macOf({ head }: Keys, lines: string): Buffer {
  return createHmac('sha256', head).update(lines).digest();
}

/**
 * Decrypts what `sealWithPassphrase` made. Throws `CallsheetError('usage')` for another passphrase, and for a
 * file that is cut off or changed.
 */
export async function* openWithPassphrase(
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
