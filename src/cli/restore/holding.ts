import type { Exception } from '../../restore/exceptions.ts';
import { type Held, heldFrom } from '../../restore/held.ts';
import type { Header } from '../../snapshot/format.ts';
import { type MediaFile, readMedia } from '../../snapshot/media.ts';
import type { SnapshotFile } from '../../snapshot/read-file.ts';
import { packDocuments } from './documents.ts';

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
    if (bytes === undefined) throw new Error('the snapshot held a file that it no longer has');
    return bytes;
  };
}
