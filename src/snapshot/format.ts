import type { Snapshot, SnapshotCommands } from '../core/documents.generated.ts';
import { CallsheetError } from '../core/errors.ts';
import { getOwn, type JsonObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Scope } from '../kinds/kind.ts';
import type { HistoryEntry } from '../plan/reader.ts';
import type { ResourceState } from '../state/model.ts';

/**
 * `snapshot/` keeps everything readable of an account in one file: it reads the account, writes the file,
 * checks what it wrote, reads it back and compares two of them. Records are written and read as they come,
 * so that a large account needs no more memory than a small one.
 *
 * This file: what a snapshot holds. It is JSON Lines, one record a line, compressed with gzip and, when asked,
 * encrypted. The first record is the header, the last one the end, and `schemas/snapshot.schema.json` describes
 * them all.
 */

/** How a file is encrypted, as its first bytes say. */
export type Sealing = 'none' | 'passphrase' | 'age';

/** The version that is written and read. Newer ones are refused. */
export const VERSION = 1;

export type Header = Omit<Snapshot.Header, 'version'> & {
  /** A newer version than `VERSION` is read as well, to be refused. */
  readonly version: number;
};

/** Which snapshot is the base, and what it is called beside the one that needs it. */
export type BaseMark = NonNullable<Header['base']>;

/** One resource. */
export type ResourceRecord = Omit<Snapshot.Resource, 'history' | 'state'> & {
  readonly history: HistoryEntry | null;
  /** The entry of the resource in the state of the stack. */
  readonly state: ResourceState | null;
};

/** An organization, as the billing report names it. */
export type OrganizationRecord = Snapshot.Organization;

/** An answer of the platform that is not about one resource: features, models, providers. */
export type AnswerRecord = Snapshot.Answer;

/** A list that was read to its end: what it does not hold was not there. */
export type ListRecord = Snapshot.List;

/** A piece of a file that a resource was made of, such as a voice's clip. */
export type MediaRecord = Snapshot.Media;

/** The description of a snapshot: the document that `--format json` prints. */
export type SnapshotSummary = SnapshotCommands.Summary;

export type Withheld = SnapshotSummary['withheld'][number];

export type Gap = SnapshotSummary['gaps'][number];

/** Something that could not be read, and why. */
export type GapRecord = Snapshot.Gap;

/** A record of the base that did not change. */
export type SameRecord = Snapshot.Same;

export type ContentRecord =
  | ResourceRecord
  | OrganizationRecord
  | AnswerRecord
  | ListRecord
  | MediaRecord
  | GapRecord;

export type End = Snapshot.End;

export type Line = Header | ContentRecord | SameRecord | End;

/** Returns the key by which a record is found in a base; undefined for records that are always written out. */
export function findKey(record: ContentRecord): string | undefined {
  switch (record.type) {
    case 'resource':
      return `resource ${record.kind} ${record.id}`;
    case 'organization':
      return `organization ${record.id}`;
    case 'answer':
      return `answer ${record.operation} ${record.organization_id ?? record.reseller_id ?? ''}`;
    case 'media':
      return `media ${record.sha256} ${record.part}`;
    case 'list':
    case 'gap':
      return undefined;
  }
}

/**
 * True if the lists of a snapshot have every resource of a kind in a scope: then a resource that it lacks did not
 * exist. Otherwise that is unknown.
 */
export function covers(lists: readonly ListRecord[], kind: string, scope: Scope): boolean {
  const isWithin = (narrowed: Scope) =>
    Object.entries(narrowed).every(([field, value]) => getOwn(scope, field) === value);
  return lists.some((one) => one.kind === kind && isWithin(one.scope));
}

/** Builds a resource as the snapshot has it, in the shape of the configuration, facets included. */
export function buildDocument({ kind: name, record, scope, facets }: ResourceRecord): JsonObject {
  const kind = kindNamed(name);
  const own = kind.facets.map((facet) => {
    const value = facet.get ? facets[facet.field] : facet.read(record);
    return value === undefined ? {} : { [facet.field]: value };
  });
  return Object.assign({}, kind.document(record, scope), ...own);
}

/** Digests (`sha256:…`) of the files that a resource was made of, by field, as far as a state knew them. */
export function filesIn({ kind, state }: Pick<ResourceRecord, 'kind' | 'state'>): {
  readonly [field: string]: string;
} {
  const { properties } = kindNamed(kind).schema;
  return Object.fromEntries(
    Object.entries(state?.leaves ?? {}).flatMap(([path, leaf]) =>
      'digest' in leaf && getOwn(properties, path)?.['x-file'] !== undefined
        ? [[path, leaf.digest]]
        : [],
    ),
  );
}

/** Collects what a snapshot holds while its records go by. */
type Tally = {
  readonly over: <T extends ContentRecord | End>(records: AsyncIterable<T>) => AsyncGenerator<T>;
  /** All that went by, as a document. */
  readonly document: (
    about: { readonly file: string; readonly size: number; readonly encryption: Sealing },
    header: Header,
    end: End,
  ) => Omit<SnapshotSummary, 'restore'>;
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
        withheld.push({ resource: formatLabel(record), name: getName(record), paths });
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

/** Names a resource by its address, or by its kind and id if it has none. */
export function formatLabel({ address, kind, id }: ResourceRecord): string {
  return address ?? `${kind} ${id}`;
}

function getName({ record }: ResourceRecord): string | null {
  return typeof record.name === 'string' ? record.name : null;
}

const COPY_AGAIN =
  'Copy it again from its source. If this is the only copy, use an older snapshot (`callsheet snapshot list`).';

/** The file is not what it says it is: some of it is missing or changed. */
export function damaged(file: string, what: string, cause?: unknown): CallsheetError {
  const given = cause === undefined ? {} : { cause };
  return new CallsheetError('usage', `the snapshot ${file} is damaged: ${what}`, {
    hint: COPY_AGAIN,
    ...given,
  });
}

export function noSnapshot(file: string): CallsheetError {
  return new CallsheetError('usage', `${file} is not a snapshot of Callsheet`, {
    hint: '`callsheet snapshot create` makes one. `callsheet snapshot list` shows the snapshots of a folder.',
  });
}

export function tooNew(file: string, version: number, known: number): CallsheetError {
  const message = `the snapshot ${file} has version ${version} of the format; this Callsheet reads up to ${known}`;
  return new CallsheetError('usage', message, { hint: 'Read it with a newer Callsheet.' });
}

export function wrongKey(file: string, what: string, hint: string): CallsheetError {
  return new CallsheetError('usage', `the snapshot ${file} cannot be decrypted: ${what}`, { hint });
}
