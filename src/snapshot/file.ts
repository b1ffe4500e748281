import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { computeDigest } from '../core/digest.ts';
import { CallsheetError, errorCode, explainSystemError } from '../core/errors.ts';
import { Blob, findText } from '../core/value.ts';
import { type Bytes, type Keys, pack, type Seal, unpack } from './container.ts';
import {
  type BaseMark,
  type ContentRecord,
  damaged,
  type End,
  findKey,
  type Header,
  type MediaRecord,
  type ResourceRecord,
  type SameRecord,
} from './format.ts';
import { type Body, readLines, writeLines } from './lines.ts';
import type { Earlier } from './unchanged.ts';

/** A snapshot that is read record by record, as often as it is asked for. */
export type SnapshotFile = {
  readonly file: string;
  readonly header: Header;
  /**
   * Every record, in a new pass over the file, those of its base after its own; the end comes last. Throws
   * where the file turns out to be damaged.
   */
  readonly records: () => AsyncGenerator<ContentRecord | End>;
};

/** A base may have one itself. More than this is a knot, or a file that was made to be one. */
const LONGEST_CHAIN = 100;

/** Opens a snapshot and reads its header. Throws `CallsheetError('usage')` for a file that is none. */
export async function openSnapshot(
  file: string,
  keys: Keys,
  left: number = LONGEST_CHAIN,
): Promise<SnapshotFile> {
  const header = await readHeader(file, keys);
  if (left === 0) throw damaged(file, `it depends on more than ${LONGEST_CHAIN} others`);
  const { base: mark } = header;
  const base = mark === null ? undefined : await openBase(file, mark, keys, left - 1);
  return { file, header, records: () => readRecords(file, keys, base) };
}

/** The header alone, without looking for the base. */
export async function readHeader(file: string, keys: Keys): Promise<Header> {
  for await (const line of readLines(file, unpack(file, keys))) {
    if (line.type === 'header') return line;
  }
  throw new Error('a snapshot begins with its header');
}

async function openBase(
  file: string,
  { file: name, id }: BaseMark,
  keys: Keys,
  left: number,
): Promise<SnapshotFile> {
  const path = join(dirname(file), name);
  const hint = `Put the snapshot ${name} next to ${file}.`;
  const needs = `the snapshot ${file} needs its base ${name}`;
  const base = await openSnapshot(path, keys, left).catch((cause: unknown) => {
    if (!(cause instanceof CallsheetError)) throw cause;
    throw new CallsheetError('usage', `${needs}: ${cause.message}`, {
      hint: cause.hint ?? hint,
      cause,
    });
  });
  if (base.header.id === id) return base;
  throw new CallsheetError('usage', `${needs}, and ${path} is another snapshot`, { hint });
}

async function* readRecords(
  file: string,
  keys: Keys,
  base: SnapshotFile | undefined,
): AsyncGenerator<ContentRecord | End> {
  const wanted = new Map<string, string>();
  for await (const line of readLines(file, unpack(file, keys))) {
    if (line.type === 'header') continue;
    if (line.type === 'same') wanted.set(line.key, line.digest);
    else if (line.type !== 'end') yield line;
    else {
      if (base !== undefined) yield* referred(base, wanted);
      const [lost] = wanted.keys();
      if (lost !== undefined) throw damaged(file, `its base does not hold ${lost}`);
      yield line;
    }
  }
}

/** A base on which a snapshot is written. */
export type Base = {
  readonly mark: BaseMark;
  /** Digests of its records by what they are about. */
  readonly digests: ReadonlyMap<string, string>;
  readonly header: Header;
  /** The parts that may be taken over from it (`unchanged.ts`). */
  readonly earlier: Earlier;
};

/** Reads a base from end to end: one that is damaged could not be read later either. */
export async function readBase({ file, header, records }: SnapshotFile): Promise<Base> {
  const digests = new Map<string, string>();
  const stamps = new Map<string, string>();
  let sha256 = '';
  for await (const record of records()) {
    if (record.type === 'end') {
      sha256 = record.sha256;
      continue;
    }
    const key = findKey(record);
    if (key !== undefined) digests.set(key, computeDigest(record));
    if (record.type !== 'resource' || record.certain !== true) continue;
    const stamp = findText(record.record.updated_at);
    if (stamp !== undefined) stamps.set(`${record.kind} ${record.id}`, stamp);
  }
  const earlier = { stampOf: (kind: string, id: string) => stamps.get(`${kind} ${id}`), records };
  return { mark: { file: basename(file), id: header.id, sha256 }, digests, header, earlier };
}

/** Records that the base has already are only referred to. */
export async function* withoutSame(
  records: AsyncIterable<ContentRecord>,
  base: Base['digests'],
): AsyncGenerator<ContentRecord | SameRecord> {
  for await (const record of records) {
    const key = findKey(record);
    const digest = key === undefined ? undefined : base.get(key);
    const isSame = digest !== undefined && digest === computeDigest(record);
    yield isSame && key !== undefined ? { type: 'same', key, digest } : record;
  }
}

/**
 * The records of a base that a snapshot refers to. Takes them off `wanted`, so that what is left there is
 * missing.
 */
async function* referred(
  { records }: SnapshotFile,
  wanted: Map<string, string>,
): AsyncGenerator<ContentRecord> {
  for await (const record of records()) {
    if (record.type === 'end') continue;
    const key = findKey(record);
    if (key === undefined || wanted.get(key) !== computeDigest(record)) continue;
    wanted.delete(key);
    yield record;
  }
}

const MODE = 0o600;

const UNWRITTEN = {
  hint: 'Nothing of it was left behind. Choose another place with --out, or free some space.',
};

/** Throws `CallsheetError('usage')` where there is something already: a backup is never written over. */
export async function refuseExisting(file: string): Promise<void> {
  const found = await lstat(file).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw explainSystemError(error, `${file} cannot be written`, UNWRITTEN);
  });
  if (found === undefined) return;
  throw new CallsheetError(
    'usage',
    `${file} already exists, and Callsheet never overwrites a snapshot`,
    {
      hint: 'Name another file with --out, or remove that one.',
    },
  );
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
    const written = await writePart(part, header, body, (text) => pack(text, seal));
    await verify(part, written, seal);
    await rename(part, file);
    await syncFolder(dirname(file));
    return written.end;
  } catch (error) {
    await rm(part, { force: true });
    throw explainSystemError(error, `${file} cannot be written`, UNWRITTEN);
  }
}

type Written = { readonly end: End /** Hash of the bytes on disk. */; readonly sha256: string };

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
async function verify(part: string, { end, sha256 }: Written, seal: Seal): Promise<void> {
  const isSame =
    seal.type === 'age' ? (await digestOfFile(part)) === sha256 : await holds(part, end, seal);
  if (!isSame) throw damaged(part, 'the file read back differs from the file written');
}

async function digestOfFile(part: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(part)) hash.update(bytes);
  return hash.digest('hex');
}

async function holds(part: string, { sha256 }: End, seal: Seal): Promise<boolean> {
  const keys: Keys = {
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

/** Bytes of a record: a record is read into memory whole. */
const PIECE = 1024 * 1024;

/** A file that resources were made of: its digest in lower-case hex, and the last part of its path. */
type MediaFile = Pick<MediaRecord, 'sha256' | 'name' | 'mime' | 'size'>;

/** Digests of the files that a resource was made of, as far as the stack's state knows them. */
function digestsIn({ state }: ResourceRecord): readonly string[] {
  return Object.values(state?.leaves ?? {}).flatMap((leaf) =>
    'digest' in leaf ? [leaf.digest] : [],
  );
}

/**
 * Records, and after them the files that they were made of. The platform returns no bytes: only those of the
 * stack can be kept, and only where they are still those that were applied.
 */
export async function* withMedia(
  records: AsyncIterable<ContentRecord>,
  files: readonly (MediaFile & { readonly read: () => Promise<Buffer> })[],
): AsyncGenerator<ContentRecord> {
  const wanted = new Set<string>();
  for await (const record of records) {
    if (record.type === 'resource') for (const digest of digestsIn(record)) wanted.add(digest);
    yield record;
  }
  for (const file of files) {
    if (!wanted.delete(`sha256:${file.sha256}`)) continue;
    const bytes = await file.read();
    const parts = Math.max(1, Math.ceil(bytes.byteLength / PIECE));
    const { sha256, name, mime, size } = file;
    for (let part = 0; part < parts; part += 1) {
      const data = bytes.subarray(part * PIECE, (part + 1) * PIECE).toString('base64');
      yield { type: 'media', sha256, name, mime, size, part, parts, data };
    }
  }
}

/** The files that a snapshot holds. */
export type Media = {
  /** Takes note of the file that a record is a piece of. */
  readonly note: (record: MediaRecord) => void;
  /** The file of a digest (`sha256:…`), under its own name or the one given; undefined where the snapshot has none. */
  readonly find: (digest: string | undefined, name?: string) => Blob | undefined;
  /** The bytes of such a file: a pass over the snapshot, shared by all that wait for one. Undefined for other files. */
  readonly open: (file: Blob) => Promise<globalThis.Blob | undefined>;
};

/** Marks a file that lies in a snapshot; what follows the slash is its name. */
const IN_SNAPSHOT = 'snapshot:/';

/** The files of a snapshot, as far as their records were noted. */
export function openMedia(records: SnapshotFile['records']): Media {
  const noted = new Map<string, MediaFile>();
  const readBytes = shared((wanted) => readMedia(records(), wanted));
  return {
    // Without the piece of it, which would stay in memory.
    note: ({ sha256, name, mime, size }) => {
      noted.set(`sha256:${sha256}`, { sha256, name, mime, size });
    },
    find(digest, name) {
      const kept = noted.get(digest ?? '');
      return (
        kept && new Blob(`${IN_SNAPSHOT}${name ?? kept.name}`, kept.sha256, kept.size, kept.mime)
      );
    },
    async open({ path, sha256, mime }) {
      if (!path.startsWith(IN_SNAPSHOT)) return undefined;
      return new globalThis.Blob([new Uint8Array(await readBytes(sha256))], { type: mime });
    },
  };
}

/** Callers that ask while a pass is under way are served together by the next. */
function shared(
  read: (wanted: ReadonlySet<string>) => Promise<ReadonlyMap<string, Buffer>>,
): (sha256: string) => Promise<Buffer> {
  let waiting: {
    readonly wanted: Set<string>;
    readonly pass: Promise<ReadonlyMap<string, Buffer>>;
  };
  let last: Promise<unknown> = Promise.resolve();
  let isOpen = false;
  return async (sha256) => {
    if (!isOpen) {
      const wanted = new Set<string>();
      const pass = last
        .catch(() => {})
        .then(() => {
          isOpen = false;
          return read(wanted);
        });
      waiting = { wanted, pass };
      last = pass;
      isOpen = true;
    }
    waiting.wanted.add(sha256);
    const bytes = (await waiting.pass).get(sha256);
    if (bytes === undefined) throw new Error('the snapshot no longer has a file that it had');
    return bytes;
  };
}

/** The bytes of the wanted files, in one pass over a snapshot. Only they are held in memory. */
async function readMedia(
  records: AsyncIterable<ContentRecord | End>,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Buffer>> {
  const pieces = new Map<string, Buffer[]>();
  for await (const record of records) {
    if (record.type !== 'media' || !wanted.has(record.sha256)) continue;
    const all = pieces.get(record.sha256) ?? [];
    all[record.part] = Buffer.from(record.data, 'base64');
    pieces.set(record.sha256, all);
  }
  return new Map([...pieces].map(([sha256, all]) => [sha256, Buffer.concat(all)]));
}
