import { digestOf } from '../core/digest.ts';
import {
  type AnswerRecord,
  type ContentRecord,
  keyOf,
  type OrganizationRecord,
  type ResourceRecord,
} from './format.ts';
import type { SnapshotFile } from './read-file.ts';

/** The records by which two snapshots differ. */
export type Difference = {
  /** Of the earlier, by kind and id. */
  readonly before: ReadonlyMap<string, ResourceRecord>;
  readonly after: readonly ResourceRecord[];
  /** Of both, by what was asked. */
  readonly answers: ReadonlyMap<string, AnswerPair>;
  /** Names by id. */
  readonly organizations: Readonly<Record<string, string>>;
  /** How many resources are the same in both. */
  readonly equal: number;
};

type AnswerPair = { readonly before?: AnswerRecord; readonly after?: AnswerRecord };

/**
 * Finds what differs in three passes: digests of the earlier, the later against them, and then the earlier
 * again for what turned out to differ.
 */
export async function differenceOf(
  earlier: SnapshotFile,
  later: SnapshotFile,
): Promise<Difference> {
  const old = new Map<string, string>();
  for await (const [key, record] of keyed(earlier)) old.set(key, contentDigest(record));
  const after: ResourceRecord[] = [];
  const answers = new Map<string, AnswerPair>();
  const organizations: Record<string, string> = {};
  let equal = 0;
  for await (const [key, record] of keyed(later)) {
    if (record.type === 'organization') nameIn(organizations, record);
    const isSame = old.get(key) === contentDigest(record);
    if (isSame) old.delete(key);
    if (isSame && record.type === 'resource') equal += 1;
    if (isSame) continue;
    if (record.type === 'resource') after.push(record);
    if (record.type === 'answer') answers.set(key, { after: record });
  }
  const before = new Map<string, ResourceRecord>();
  for await (const [key, record] of keyed(earlier)) {
    if (!old.has(key)) continue;
    if (record.type === 'organization') nameIn(organizations, record);
    if (record.type === 'resource') before.set(`${record.kind} ${record.id}`, record);
    if (record.type === 'answer') answers.set(key, { ...answers.get(key), before: record });
  }
  return { before, after, answers, organizations, equal };
}

async function* keyed(snapshot: SnapshotFile): AsyncGenerator<readonly [string, ContentRecord]> {
  for await (const record of snapshot.records()) {
    if (record.type === 'end') continue;
    const key = keyOf(record);
    if (key !== undefined) yield [key, record];
  }
}

/** Over what the platform said, not over what a stack calls it or remembers of it. */
function contentDigest(record: ContentRecord): string {
  if (record.type !== 'resource') return digestOf(record);
  return digestOf([record.record, record.facets, record.withheld]);
}

function nameIn(names: Record<string, string>, { id, name }: OrganizationRecord): void {
  if (name !== null) names[id] ??= name;
}
