import type { Keys } from './container.ts';
import { unpack } from './container.ts';
import type { ContentRecord, End, Header } from './format.ts';
import { readLines } from './lines.ts';

/** A snapshot that is read record by record, as often as it is asked for. */
export type SnapshotFile = {
  readonly file: string;
  readonly header: Header;
  /** Every record, in a new pass over the file. Throws where the file turns out to be damaged. */
  readonly records: () => AsyncGenerator<ContentRecord | End>;
};

/** Opens a snapshot and reads its header. Throws `CallsheetError('usage')` for a file that is none. */
export async function openSnapshot(file: string, keys: Keys): Promise<SnapshotFile> {
  const header = await readHeader(file, keys);
  return {
    file,
    header,
    async *records() {
      for await (const line of readLines(file, unpack(file, keys))) {
        if (line.type === 'header' || line.type === 'same') continue;
        yield line;
      }
    },
  };
}

async function readHeader(file: string, keys: Keys): Promise<Header> {
  for await (const line of readLines(file, unpack(file, keys))) {
    if (line.type === 'header') return line;
  }
  throw new Error('a snapshot begins with its header');
}
