import type { Exception } from '../../restore/exceptions.ts';
import { type Held, heldFrom } from '../../restore/held.ts';
import type { Header } from '../../snapshot/format.ts';
import type { SnapshotFile } from '../../snapshot/read-file.ts';

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
};

/** Reads a snapshot from end to end, so that one that is damaged is refused before anything is asked. */
export async function readHolding({ file, header, records }: SnapshotFile): Promise<Holding> {
  const all: Held[] = [];
  const organizations = new Map<string, string | null>();
  const gaps: Exception[] = [];
  let sha256 = '';
  for await (const record of records()) {
    if (record.type === 'end') sha256 = record.sha256;
    if (record.type === 'organization') organizations.set(record.id, record.name);
    if (record.type === 'gap') gaps.push(gapOf(record));
    if (record.type !== 'resource') continue;
    const held = heldFrom(record);
    all.push(held);
    const { organization_id: owner } = held.scope;
    if (owner && !organizations.has(owner)) organizations.set(owner, null);
  }
  return { file, header, sha256, all, organizations, gaps };
}

function gapOf({ of, why }: { readonly of: string; readonly why: string }): Exception {
  return { what: 'unread', address: null, message: `${of}: not in the snapshot (${why})` };
}
