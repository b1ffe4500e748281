import type { MediaRecord, ResourceRecord } from './format.ts';

/** Bytes of a record: a record is read into memory whole. */
const PIECE = 1024 * 1024;

/** A file that resources were made of. */
export type MediaFile = {
  /** Lower-case hex of its bytes. */
  readonly sha256: string;
  /** Last part of its path. */
  readonly name: string;
  readonly mime: string;
  readonly size: number;
};

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
export async function* withMedia<T extends { readonly type: string }>(
  records: AsyncIterable<T | ResourceRecord>,
  files: readonly (MediaFile & { readonly read: () => Promise<Buffer> })[],
): AsyncGenerator<T | ResourceRecord | MediaRecord> {
  const wanted = new Set<string>();
  for await (const record of records) {
    if (isResource(record)) for (const digest of digestsIn(record)) wanted.add(digest);
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

function isResource(record: { readonly type: string }): record is ResourceRecord {
  return record.type === 'resource';
}

/** The bytes of the wanted files, in one pass over a snapshot. Only they are held in memory. */
export async function readMedia(
  records: AsyncIterable<{ readonly type: string } | MediaRecord>,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Buffer>> {
  const pieces = new Map<string, Buffer[]>();
  for await (const record of records) {
    if (!isMedia(record) || !wanted.has(record.sha256)) continue;
    const all = pieces.get(record.sha256) ?? [];
    all[record.part] = Buffer.from(record.data, 'base64');
    pieces.set(record.sha256, all);
  }
  return new Map([...pieces].map(([sha256, all]) => [sha256, Buffer.concat(all)]));
}

function isMedia(record: { readonly type: string }): record is MediaRecord {
  return record.type === 'media';
}
