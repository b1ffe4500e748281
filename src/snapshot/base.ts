import { basename } from 'node:path';
import { digestOf } from '../core/digest.ts';
import type { BaseMark, ContentRecord, SameRecord } from './format.ts';
import { keyOf } from './format.ts';
import type { SnapshotFile } from './read-file.ts';

/** What is known of a base while a snapshot is written on top of it. */
export type Base = {
  readonly mark: BaseMark;
  /** Digests of its records by what they are about. */
  readonly digests: ReadonlyMap<string, string>;
};

/** Reads a base from end to end: one that is damaged could not be read later either. */
export async function readBase({ file, header, records }: SnapshotFile): Promise<Base> {
  const digests = new Map<string, string>();
  let sha256 = '';
  for await (const record of records()) {
    if (record.type === 'end') {
      sha256 = record.sha256;
      continue;
    }
    const key = keyOf(record);
    if (key !== undefined) digests.set(key, digestOf(record));
  }
  return { mark: { file: basename(file), id: header.id, sha256 }, digests };
}

/** Records that the base has already are only referred to. */
export async function* withoutSame(
  records: AsyncIterable<ContentRecord>,
  base: Base['digests'],
): AsyncGenerator<ContentRecord | SameRecord> {
  for await (const record of records) {
    const key = keyOf(record);
    const digest = key === undefined ? undefined : base.get(key);
    const isSame = digest !== undefined && digest === digestOf(record);
    yield isSame && key !== undefined ? { type: 'same', key, digest } : record;
  }
}

/**
 * The records of a base that a snapshot refers to. Takes them off `wanted`, so that what is left there is
 * missing.
 */
export async function* referred(
  { records }: SnapshotFile,
  wanted: Map<string, string>,
): AsyncGenerator<ContentRecord> {
  for await (const record of records()) {
    if (record.type === 'end') continue;
    const key = keyOf(record);
    if (key === undefined || wanted.get(key) !== digestOf(record)) continue;
    wanted.delete(key);
    yield record;
  }
}
