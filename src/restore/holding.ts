import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type MediaFile, readMedia, type SnapshotFile } from '../snapshot/file.ts';
import type { Header } from '../snapshot/format.ts';
import { type Exception, type Held, heldFrom, type Keep } from './held.ts';

/** All that a snapshot holds which can be made again. */
export type Holding = {
  readonly file: string;
  readonly header: Header;
  readonly sha256: string;
  readonly all: readonly Held[];
  /** Names of organizations by id; null where the snapshot knows none. */
  readonly organizations: ReadonlyMap<string, string | null>;
  /** What is not in it. */
  readonly gaps: readonly Exception[];
  /** Files that it holds, by `sha256:…`. */
  readonly media: ReadonlyMap<string, MediaFile>;
  /** The bytes of one of them: a pass over the snapshot, which all that wait for one share. */
  readonly bytesOf: (sha256: string) => Promise<Buffer>;
};

/** Reads a snapshot from end to end, so that one that is damaged is refused before anything is asked. */
export async function readHolding({ file, header, records }: SnapshotFile): Promise<Holding> {
  const all: Held[] = [];
  const organizations = new Map<string, string | null>();
  const gaps: Exception[] = [];
  const media = new Map<string, MediaFile>();
  const keep = packDocuments();
  let sha256 = '';
  for await (const record of records()) {
    if (record.type === 'end') sha256 = record.sha256;
    if (record.type === 'organization') organizations.set(record.id, record.name);
    if (record.type === 'media') media.set(`sha256:${record.sha256}`, fileOf(record));
    if (record.type === 'gap') gaps.push(gapOf(record));
    if (record.type !== 'resource') continue;
    const held = heldFrom(record, keep);
    all.push(held);
    const { organization_id: owner } = held.scope;
    if (owner && !organizations.has(owner)) organizations.set(owner, null);
  }
  const bytesOf = shared((wanted) => readMedia(records(), wanted));
  return { file, header, sha256, all, organizations, gaps, media, bytesOf };
}

function gapOf({ of, why }: { readonly of: string; readonly why: string }): Exception {
  return { what: 'unread', address: null, message: `${of}: not in the snapshot (${why})` };
}

/** Without the piece of it, which would stay in memory. */
function fileOf({ sha256, name, mime, size }: MediaFile): MediaFile {
  return { sha256, name, mime, size };
}

/** Whoever asks while a pass is under way is served together by the next. */
function shared(
  read: (wanted: ReadonlySet<string>) => Promise<ReadonlyMap<string, Buffer>>,
): Holding['bytesOf'] {
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

/** Documents of one group: as they are while there are few, packed with one call once there are enough. */
type Block = {
  texts: Buffer[];
  size: number;
  /** Where each text begins; the last one is the end. */
  packed: { readonly bytes: Buffer; readonly starts: readonly number[] } | undefined;
};

/** So many bytes of text are packed together: what they have in common is kept once. */
const BLOCK = 256 * 1024;
/** So many bytes stay unpacked, over all groups: a snapshot of an account that is not large is never packed. */
const MOST_OPEN = 8 * 1024 * 1024;
/** So many blocks stay unpacked after they were read: a resource and the few that it refers to. */
const MOST_READ = 12;

/**
 * Packing each document on its own was tried, and left more behind in memory than it saved: every call of zlib
 * does, until a large collection. So blocks of a group are packed, a group being what is read together.
 */
export function packDocuments(
  { block: full, open: mostOpen }: { readonly block: number; readonly open: number } = {
    block: BLOCK,
    open: MOST_OPEN,
  },
): Keep {
  const filling = new Map<string, Block>();
  const read = new Map<Block, Buffer>();
  let open = 0;

  function pack(group: string, block: Block): void {
    filling.delete(group);
    open -= block.size;
    const starts = [0];
    for (const { length } of block.texts) starts.push((starts.at(-1) ?? 0) + length);
    // A copy: what zlib returns may lie in a larger piece of memory.
    const bytes = Buffer.from(deflateRawSync(Buffer.concat(block.texts), { level: LEVEL }));
    block.packed = { bytes, starts };
    block.texts = [];
  }

  function unpack(block: Block, packed: NonNullable<Block['packed']>): Buffer {
    const known = read.get(block);
    read.delete(block);
    const whole = known ?? inflateRawSync(packed.bytes, { chunkSize: Math.max(block.size, 64) });
    read.set(block, whole);
    const [oldest] = read.keys();
    if (read.size > MOST_READ && oldest !== undefined) read.delete(oldest);
    return whole;
  }

  function textAt(block: Block, index: number): string {
    const { packed, texts } = block;
    if (packed === undefined) return texts[index]?.toString() ?? '';
    const { [index]: start, [index + 1]: end } = packed.starts;
    return unpack(block, packed).toString('utf8', start, end);
  }

  return (group, document) => {
    const block = filling.get(group) ?? { texts: [], size: 0, packed: undefined };
    filling.set(group, block);
    const text = Buffer.from(JSON.stringify(document));
    const index = block.texts.push(text) - 1;
    block.size += text.length;
    open += text.length;
    if (block.size >= full) pack(group, block);
    else if (open > mostOpen) pack(...largestOf(filling, [group, block]));
    return () => JSON.parse(textAt(block, index));
  };
}

/** Quick: it is done while a person waits for the first plan. */
const LEVEL = 1;

function largestOf(
  filling: ReadonlyMap<string, Block>,
  first: readonly [string, Block],
): readonly [string, Block] {
  let largest = first;
  for (const one of filling) if (one[1].size > largest[1].size) largest = one;
  return largest;
}
