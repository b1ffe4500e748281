import { createReadStream } from 'node:fs';
import { createGunzip, createGzip } from 'node:zlib';
import { CallsheetError } from '../core/errors.ts';
import { type Bytes, peek, through } from './bytes.ts';
import { codeOf, damaged, inWords, noSnapshot, wrongKey } from './failures.ts';
import { AGE_MAGIC, openWithAge, sealWithAge } from './seal/age.ts';
import {
  type Cost,
  MAGIC,
  type MadeKeys,
  openWithPassphrase,
  sealWithPassphrase,
} from './seal/passphrase.ts';

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
  const code = codeOf(error) ?? '';
  if (code === 'Z_BUF_ERROR') return damaged(file, 'it was cut off', error);
  if (!code.startsWith('Z_')) return inWords(error, 'read', file);
  const what = 'it was changed after it was written';
  return sealing === 'none' ? damaged(file, what, error) : noSnapshot(file);
}
