import type { Gap, SnapshotSummary, Withheld } from '../render/snapshot.ts';
import type { Sealing } from './container.ts';
import type { ContentRecord, End, Header, ResourceRecord } from './format.ts';

/** Collects what a snapshot holds while its records go by. */
type Tally = {
  readonly over: <T extends ContentRecord | End>(records: AsyncIterable<T>) => AsyncGenerator<T>;
  /** All that went by, as a document. */
  readonly document: (
    about: { readonly file: string; readonly size: number; readonly encryption: Sealing },
    header: Header,
    end: End,
  ) => SnapshotSummary;
};

export function createTally(): Tally {
  const resources: Record<string, number> = {};
  const withheld: Withheld[] = [];
  const gaps: Gap[] = [];
  let organizations = 0;
  let answers = 0;
  const see = (record: ContentRecord | End) => {
    if (record.type === 'resource') {
      resources[record.kind] = (resources[record.kind] ?? 0) + 1;
      const { withheld: paths } = record;
      if (paths.length > 0)
        withheld.push({ resource: labelOf(record), name: nameOf(record), paths });
    }
    if (record.type === 'organization') organizations += 1;
    if (record.type === 'answer') answers += 1;
    if (record.type === 'gap') gaps.push({ of: record.of, why: record.why });
  };
  return {
    async *over(records) {
      for await (const record of records) {
        see(record);
        yield record;
      }
    },
    document: (about, header, end) => ({
      format: 'callsheet-snapshot-summary',
      version: 1,
      ...about,
      made_at: header.made_at,
      made_by: header.made_by,
      platform: header.platform,
      organization: header.organization,
      sensitive: header.sensitive,
      base: header.base?.file ?? null,
      sha256: end.sha256,
      resources,
      organizations,
      answers,
      withheld,
      gaps,
    }),
  };
}

/** What people call a resource: its address, or its kind and id where it has none. */
export function labelOf({ address, kind, id }: ResourceRecord): string {
  return address ?? `${kind} ${id}`;
}

function nameOf({ record }: ResourceRecord): string | null {
  return typeof record.name === 'string' ? record.name : null;
}
