import { CallsheetError, fileSystemReason } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/value.ts';
import { kindNamed } from '../kinds/index.ts';
import type { HistoryEntry } from '../plan/reader.ts';
import type { Gap, SnapshotSummary, Withheld } from '../render/snapshot.ts';
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

/** The version that is written. Older ones are read too, newer ones are refused. */
export const VERSION = 1;

export type Header = {
  readonly type: 'header';
  readonly format: 'callsheet-snapshot';
  readonly version: number;
  /** Tells it from every other snapshot, before anything else of it is read. */
  readonly id: string;
  readonly made_at: string;
  /** Version of Callsheet. */
  readonly made_by: string;
  readonly platform: { readonly base_url: string; readonly account_id: string };
  /** The one organization that it was narrowed to; null: everything that the credentials see. */
  readonly organization: string | null;
  /** Whether sensitive values are in it. Without encryption they are left out and listed. */
  readonly sensitive: boolean;
  /** The stack that it was made in, whose addresses it holds; null where there was none. */
  readonly stack: { readonly lineage: string } | null;
  /** The snapshot that holds the records which did not change; null for one that stands alone. */
  readonly base: BaseMark | null;
};

/** Which snapshot is the base, and what it is called beside the one that needs it. */
export type BaseMark = { readonly file: string; readonly id: string; readonly sha256: string };

/** One resource. */
export type ResourceRecord = {
  readonly type: 'resource';
  readonly kind: string;
  readonly id: string;
  /** Values of its kind's scope fields. */
  readonly scope: { readonly [field: string]: string };
  /** Whether all of it could be read, or what its list shows. */
  readonly extent: 'whole' | 'listed';
  /** As the platform returned it. */
  readonly record: JsonObject;
  /** Parts with endpoints of their own, in the shape of the configuration. */
  readonly facets: JsonObject;
  /** The newest history entry, for kinds that have a history. */
  readonly history: HistoryEntry | null;
  /** Paths of sensitive values that were left out. */
  readonly withheld: readonly string[];
  /** Its address in the stack that the snapshot was made in, and what the state said of it. */
  readonly address: string | null;
  readonly state: ResourceState | null;
};

/** An organization, as the billing report names it. */
export type OrganizationRecord = {
  readonly type: 'organization';
  readonly id: string;
  readonly name: string | null;
  readonly reseller_id: string | null;
  readonly reseller_name: string | null;
};

/** What the platform answered to a question that is not about one resource: features, models, providers. */
export type AnswerRecord = {
  readonly type: 'answer';
  readonly operation: string;
  /** For what depends on the organization or reseller; both null for the account. */
  readonly organization_id: string | null;
  readonly reseller_id: string | null;
  readonly answer: Json;
};

/** A list that was read to its end: what it does not hold was not there. */
type ListRecord = {
  readonly type: 'list';
  readonly kind: string;
  /** What it was narrowed to; nothing: it is all that the credentials see. */
  readonly scope: { readonly [field: string]: string };
};

/** A piece of a file that a resource was made of, such as a voice's clip. */
export type MediaRecord = {
  readonly type: 'media';
  /** Lower-case hex of the whole file. */
  readonly sha256: string;
  readonly name: string;
  readonly mime: string;
  /** Bytes of the whole file. */
  readonly size: number;
  /** Counted from 0. */
  readonly part: number;
  readonly parts: number;
  /** In base64. */
  readonly data: string;
};

/** Something that could not be read, and why. */
export type GapRecord = { readonly type: 'gap'; readonly of: string; readonly why: string };

/** A record of the base that did not change. */
export type SameRecord = { readonly type: 'same'; readonly key: string; readonly digest: string };

/** What an account is made of. */
export type ContentRecord =
  | ResourceRecord
  | OrganizationRecord
  | AnswerRecord
  | ListRecord
  | MediaRecord
  | GapRecord;

export type End = {
  readonly type: 'end';
  /** Records by type, without header and end. */
  readonly records: { readonly [type: string]: number };
  /** Resources by kind, those of the base included. */
  readonly resources: { readonly [kind: string]: number };
  /** Sensitive values that were left out. */
  readonly withheld: number;
  /** Of every line before this one: `sha256:…`. */
  readonly sha256: string;
};

export type Line = Header | ContentRecord | SameRecord | End;

/** What a record is about, by which it is found in a base. Undefined: it is always written out. */
export function keyOf(record: ContentRecord): string | undefined {
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

/** What was kept of a resource, in the shape of the configuration, facets included. */
export function documentOf({ kind: name, record, scope, facets }: ResourceRecord): JsonObject {
  const kind = kindNamed(name);
  const own = kind.facets.map((facet) => {
    const value = facet.get ? facets[facet.field] : facet.read(record);
    return value === undefined ? {} : { [facet.field]: value };
  });
  return Object.assign({}, kind.document(record, scope), ...own);
}

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

/** What can be wrong with a snapshot file, in words. */

const COPY_AGAIN =
  'Copy it again from its source. If this is the only copy, use an older snapshot (callsheet snapshot list).';

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
    hint: 'callsheet snapshot create makes one. callsheet snapshot list shows the snapshots of a folder.',
  });
}

export function tooNew(file: string, version: number, known: number): CallsheetError {
  const message = `the snapshot ${file} has version ${version} of the format; this Callsheet reads up to ${known}`;
  return new CallsheetError('usage', message, { hint: 'Read it with a newer Callsheet.' });
}

export function wrongKey(file: string, what: string, hint: string): CallsheetError {
  return new CallsheetError('usage', `the snapshot ${file} cannot be decrypted: ${what}`, { hint });
}

/** The same failure in words, where the file system refused; anything else as it is. */
export function inWords(error: unknown, what: 'read' | 'written', file: string): unknown {
  const reason = fileSystemReason(error);
  if (reason === undefined) return error;
  const left = what === 'written' ? ' Nothing of it was left behind.' : '';
  return new CallsheetError('usage', `${file} cannot be ${what}: ${reason}.${left}`, {
    cause: error,
    ...(what === 'written' ? { hint: 'Choose another place with --out, or free some space.' } : {}),
  });
}
