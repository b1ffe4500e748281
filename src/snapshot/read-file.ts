import { basename, dirname, join } from 'node:path';
import { digestOf } from '../core/digest.ts';
import { CallsheetError } from '../core/errors.ts';
import { type Keys, unpack } from './container.ts';
import { damaged } from './failures.ts';
import {
  type BaseMark,
  type ContentRecord,
  type End,
  type Header,
  keyOf,
  type SameRecord,
} from './format.ts';
import { readLines } from './lines.ts';

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
  if (left === 0) throw damaged(file, `it stands on more than ${LONGEST_CHAIN} others`);
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
  const hint = `Put the snapshot ${name} beside ${file}.`;
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
async function* referred(
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
