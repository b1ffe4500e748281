import {
  createDecipheriv,
  createHmac,
  hkdfSync,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto';
import { promisify } from 'node:util';
import { isObject, type Json } from '../core/value.ts';
import { damaged, tooNew, wrongKey } from './format.ts';

/**
 * Reads what earlier versions wrote with a passphrase, before age served for that, too (decision 17). The next
 * version does without this file.
 *
 *     callsheet-sealed-snapshot/1 LF
 *     {"kdf":"scrypt","n":…,"r":…,"p":…,"salt":"…"} LF
 *     HMAC-SHA256 of the two lines above, base64 LF         a wrong passphrase is told from damage by it
 *     pieces of 64 KiB, encrypted with AES-256-GCM, each followed by its tag of 16 bytes
 *
 * The nonce of a piece is its number (11 bytes) and whether it is the last (1 byte). HKDF-SHA256 parts the key
 * that scrypt made into one for the lines and one for the pieces.
 */
export const SEALED_V1 = 'callsheet-sealed-snapshot/';
const VERSION = 1;
const PIECE = 64 * 1024;
const TAG = 16;
const KEY = 32;
/** A file may not ask for more than this of whoever opens it. */
const MOST_MEMORY = 1024 ** 3;
const MOST_PARALLEL = 16;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** The parameters of a key, as the head of a file names them. */
type Head = {
  readonly n: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly mac: Buffer;
  /** What the MAC is of. */
  readonly lines: string;
  /** Bytes of the head. */
  readonly length: number;
};

/**
 * Decrypts a file that begins with `beginning`. `keep` gives a key that was made before for the same text. Throws
 * `CallsheetError('usage')` for another passphrase, and for a file that is cut off or changed.
 */
export async function* openSealedV1(
  file: string,
  { head: beginning, all }: { readonly head: Buffer; readonly all: AsyncIterable<Uint8Array> },
  passphrase: string,
  keep: (of: string, make: () => Promise<Uint8Array>) => Promise<Uint8Array>,
): AsyncGenerator<Buffer> {
  const { n, r, p, salt, mac, lines, length } = readHead(file, beginning.toString('latin1'));
  const secret = await keep(`${passphrase} ${lines}`, () =>
    derive(passphrase, salt, KEY, { N: n, r, p, maxmem: 256 * n * r + 1024 ** 2 }),
  );
  const part = (use: string) => Buffer.from(hkdfSync('sha256', secret, salt, use, KEY));
  const expected = createHmac('sha256', part('callsheet snapshot head')).update(lines).digest();
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
    const hint = 'Check CALLSHEET_SNAPSHOT_PASSPHRASE or --passphrase-file.';
    throw wrongKey(file, 'the passphrase is another one', hint);
  }
  const key = part('callsheet snapshot chunks');
  let index = 0;
  for await (const { piece, isLast } of inPieces(all, length)) {
    if (piece.length < TAG) throw damaged(file, 'it was cut off');
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(index, 5, 6);
    nonce.writeUInt8(isLast ? 1 : 0, 11);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
    decipher.setAuthTag(piece.subarray(-TAG));
    const plain = decipher.update(piece.subarray(0, -TAG));
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

function readHead(file: string, text: string): Head {
  const [magic = '', settings = '', mac = '', ...rest] = text.split('\n');
  if (rest.length === 0) throw damaged(file, 'its beginning is cut off');
  const version = Number(magic.slice(SEALED_V1.length));
  if (version > VERSION) throw tooNew(file, version, VERSION);
  const { kdf, n, r, p, salt } = parsed(settings);
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
  const lines = `${magic}\n${settings}\n`;
  return {
    n,
    r,
    p,
    salt: Buffer.from(salt, 'base64'),
    mac: Buffer.from(mac, 'base64'),
    lines,
    length: lines.length + mac.length + 1,
  };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}

function parsed(text: string): { readonly [member: string]: Json } {
  try {
    const read: Json = JSON.parse(text);
    return isObject(read) ? read : {};
  } catch {
    return {};
  }
}

/** The pieces that follow the head, with their tags; the last one is what is left, and may be empty. */
async function* inPieces(
  source: AsyncIterable<Uint8Array>,
  head: number,
): AsyncGenerator<{ readonly piece: Buffer; readonly isLast: boolean }> {
  const size = PIECE + TAG;
  let skip = head;
  let rest = Buffer.alloc(0);
  for await (const bytes of source) {
    rest = Buffer.concat([rest, bytes.subarray(skip)]);
    skip = Math.max(0, skip - bytes.byteLength);
    // A full piece is only given once something follows it: otherwise it is the last.
    for (; rest.length > size; rest = rest.subarray(size))
      yield { piece: rest.subarray(0, size), isLast: false };
  }
  yield { piece: rest, isLast: true };
}
