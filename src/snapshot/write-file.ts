import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CallsheetError } from '../core/errors.ts';
import type { Bytes } from './bytes.ts';
import { type Keys, pack, type Seal, unpack } from './container.ts';
import { codeOf, damaged, inWords } from './failures.ts';
import type { End, Header } from './format.ts';
import { type Body, readLines, writeLines } from './lines.ts';
import type { MadeKeys } from './seal/passphrase.ts';

const MODE = 0o600;

/** Throws `CallsheetError('usage')` where there is something already: a backup is never written over. */
export async function refuseExisting(file: string): Promise<void> {
  const found = await lstat(file).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw inWords(error, 'written', file);
  });
  if (found === undefined) return;
  throw new CallsheetError('usage', `${file} exists already, and a snapshot is never overwritten`, {
    hint: 'Name another file with --out, or remove that one.',
  });
}

/**
 * Writes a snapshot: under a passing name, then read back and compared, and only then under its own. Whatever
 * fails on the way, nothing is left behind. Only the owner can read it.
 */
export async function writeSnapshot(
  file: string,
  header: Header,
  body: AsyncIterable<Body>,
  seal: Seal,
): Promise<End> {
  const part = join(dirname(file), `.${basename(file)}.${randomBytes(4).toString('hex')}.part`);
  try {
    const made: MadeKeys = new Map();
    const written = await writePart(part, header, body, (text) => pack(text, seal, made));
    await verify(part, written, seal, made);
    await rename(part, file);
    await syncFolder(dirname(file));
    return written.end;
  } catch (error) {
    await rm(part, { force: true });
    throw inWords(error, 'written', file);
  }
}

type Written = { readonly end: End /** Of the bytes on the disk. */; readonly sha256: string };

async function writePart(
  part: string,
  header: Header,
  body: AsyncIterable<Body>,
  packed: (text: Bytes) => Bytes,
): Promise<Written> {
  const ends: End[] = [];
  const text = writeLines(header, body, (one) => ends.push(one));
  const hash = createHash('sha256');
  const target = await open(part, 'wx', MODE);
  try {
    for await (const bytes of packed(text)) {
      hash.update(bytes);
      await writeAll(target, bytes);
    }
    await target.sync();
  } finally {
    await target.close();
  }
  const [end] = ends;
  if (end === undefined) throw new Error('a snapshot was written without its end');
  return { end, sha256: hash.digest('hex') };
}

async function writeAll(target: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) {
    const { bytesWritten } = await target.write(bytes, at);
    at += bytesWritten;
  }
}

/**
 * Reads back what is on the disk, decrypts it, and checks every record. What was encrypted for the holders of
 * other keys cannot be opened here: there the bytes are compared with those that were written.
 */
async function verify(
  part: string,
  { end, sha256 }: Written,
  seal: Seal,
  made: MadeKeys,
): Promise<void> {
  const isSame =
    seal.type === 'age'
      ? (await digestOfFile(part)) === sha256
      : await holds(part, end, seal, made);
  if (!isSame) throw damaged(part, 'what was read back is not what was written');
}

async function digestOfFile(part: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(part)) hash.update(bytes);
  return hash.digest('hex');
}

async function holds(part: string, { sha256 }: End, seal: Seal, made: MadeKeys): Promise<boolean> {
  const keys: Keys = {
    made,
    passphrase: async () => (seal.type === 'passphrase' ? seal.passphrase : undefined),
    identities: async () => [],
  };
  for await (const line of readLines(part, unpack(part, keys))) {
    if (line.type === 'end') return line.sha256 === sha256;
  }
  return false;
}

/** So that the name survives a power cut. File systems that cannot do it keep names safe in their own way. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  try {
    await folder?.sync().catch(() => {});
  } finally {
    await folder?.close();
  }
}
