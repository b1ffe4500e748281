import { digestOf } from '../../core/digest.ts';
import { type Path, parsePath } from '../../core/path.ts';
import type { FieldSchema } from '../../core/schema.ts';
import type { Json, JsonObject } from '../../core/value.ts';
import { schemasAlong } from '../../diff/along.ts';
import { leavesOf, normalise } from '../../diff/leaves.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { HistoryEntry } from '../../plan/reader.ts';
import type { LedgerLine, SnapshotTaken } from '../../state/journal.ts';
import type { AppliedLeaf } from '../../state/model.ts';
import { linesOf } from './marks.ts';
import type { Receipt } from './receipts.ts';

/** A setting as far as it is known: of a long one that a run wrote a receipt keeps the digest. */
export type Setting =
  | { readonly value: Json }
  | { readonly digest: string }
  | { readonly unknown: true };

/** Recorded settings by their paths; those without a value are not among them. */
type Settings = ReadonlyMap<string, Setting>;

/** What Callsheet knows of a version. The platform tells nobody what settings a version had. */
export type Version = {
  readonly entry: number;
  readonly settings: Settings;
  /** Whether these are not all: of what a run made, only what it configured is known. */
  readonly isPartial: boolean;
  /** Where that is known from, for people: `before run …`. */
  readonly from: string;
};

/** What is live, and the entry that it belongs to. */
export type Live = { readonly entry: number; readonly document: JsonObject };

/**
 * The versions whose settings are known, by their entries:
 *
 * | version                        | known from                                            |
 * |--------------------------------|-------------------------------------------------------|
 * | newest now                     | what is live                                          |
 * | newest before a run            | the copy that the run took before it wrote            |
 * | newest that a run made         | that copy and what the run changed, read back         |
 * | the first, which a run made    | what the run configured, read back                    |
 * | a revert, or what it restored  | the other one of the two                              |
 *
 * Only settings that history records belong to a version: others change without one.
 */
export function knownVersions(
  kind: Kind,
  entries: readonly HistoryEntry[],
  receipts: readonly Receipt[],
  live: Live | undefined,
): ReadonlyMap<number, Version> {
  const known = new Map<number, Version>();
  const learn = (version: Version | undefined) => {
    if (version !== undefined && !known.has(version.entry)) known.set(version.entry, version);
  };
  if (live) {
    const settings = settingsOf(kind, live.document);
    learn({ entry: live.entry, settings, isPartial: false, from: 'live now' });
  }
  for (const receipt of receipts) learn(before(kind, receipt, entries));
  for (const receipt of receipts) learn(after(kind, receipt, entries));
  for (const receipt of receipts) learn(first(kind, receipt));
  for (let size = -1; size < known.size; ) {
    size = known.size;
    for (const { id, reverted_from_id: from } of entries) {
      if (from === null) continue;
      learn(equalTo(known.get(from), id, `restored from ${from}`));
      learn(equalTo(known.get(id), from, `restored as ${id}`));
    }
  }
  return known;
}

function equalTo(known: Version | undefined, entry: number, from: string): Version | undefined {
  return known && { ...known, entry, from };
}

/** The version that a run found. */
function before(
  kind: Kind,
  { began, entries }: Receipt,
  history: readonly HistoryEntry[],
): Version | undefined {
  const snapshot = entries.find((entry) => entry.type === 'snapshot');
  const entry = snapshot?.pin?.history_id ?? null;
  if (snapshot === undefined || snapshot.document === null || entry === null) return undefined;
  if (isNewer(snapshot, entry, history)) return undefined;
  const withheld = snapshot.withheld.filter((text) => isRecordedText(kind, text));
  const settings = new Map([
    ...settingsOf(kind, snapshot.document),
    ...withheld.map((text) => [text, { unknown: true }] as const),
  ]);
  return { entry, settings, isPartial: false, from: `before run ${began.run}` };
}

/** Whether a copy holds an edit already whose entry had not appeared when the run looked. */
function isNewer({ pin }: SnapshotTaken, entry: number, history: readonly HistoryEntry[]): boolean {
  const updated = pin?.updated_at ?? null;
  if (updated === null) return false;
  return history.some(
    ({ id, at }) => id > entry && at !== null && Date.parse(at) <= Date.parse(updated),
  );
}

/** The version that a run left, where nobody else wrote meanwhile. */
function after(
  kind: Kind,
  receipt: Receipt,
  history: readonly HistoryEntry[],
): Version | undefined {
  const found = before(kind, receipt, history);
  const line = linesOf(receipt).find(({ status }) => status === 'done');
  const written = receipt.entries.findLast((one) => one.type === 'resource')?.resource;
  const entry = line?.history?.after ?? null;
  if (!found || !line || !written || entry === null || entry === found.entry) return undefined;
  if (line.interleaved !== undefined && line.interleaved.length > 0) return undefined;
  const settings = changed(kind, found.settings, line, written.leaves);
  return { entry, settings, isPartial: false, from: `after run ${receipt.began.run}` };
}

/** The version that a run made a resource with. The platform may have filled in what was not sent. */
function first(kind: Kind, receipt: Receipt): Version | undefined {
  const line = linesOf(receipt).find(({ status }) => status === 'done');
  const made = receipt.entries.findLast((one) => one.type === 'resource')?.resource;
  const entry = line?.history?.after ?? null;
  if (line?.action !== 'create' || !made || entry === null || line.interleaved?.length) {
    return undefined;
  }
  const settings = changed(kind, new Map(), { fields: Object.keys(made.leaves) }, made.leaves);
  return { entry, settings, isPartial: true, from: `made by run ${receipt.began.run}` };
}

function changed(
  kind: Kind,
  found: Settings,
  { fields }: Pick<LedgerLine, 'fields'>,
  leaves: Readonly<Record<string, AppliedLeaf>>,
): Settings {
  const settings = new Map(found);
  for (const text of fields.filter((one) => isRecordedText(kind, one))) {
    const leaf = leaves[text];
    if (leaf !== undefined && 'value' in leaf && leaf.value === null) settings.delete(text);
    else settings.set(text, settingFrom(leaf));
  }
  return settings;
}

/** What is no longer configured was cleared or left as it was: a receipt does not say which. */
function settingFrom(leaf: AppliedLeaf | undefined): Setting {
  return leaf !== undefined && ('value' in leaf || 'digest' in leaf) ? leaf : { unknown: true };
}

function settingsOf(kind: Kind, document: JsonObject): Settings {
  const { leaves } = leavesOf(kind.schema, document);
  return new Map(
    [...leaves.values()].flatMap(({ text, path, schema, value }) => {
      if (!isRecorded(kind.schema, path)) return [];
      const normal = normalise(schema, value);
      return normal === null ? [] : [[text, { value: normal }] as const];
    }),
  );
}

function isRecordedText({ schema }: Kind, text: string): boolean {
  return isRecorded(schema, parsePath(text) ?? [text]);
}

function isRecorded(root: FieldSchema, path: Path): boolean {
  return schemasAlong(root, path).every((schema) => schema['x-revert'] !== false);
}

/** Long values that one version has as a digest and another one whole, by their digests. */
export function valuesByDigest(versions: Iterable<Version>): ReadonlyMap<string, Json> {
  const values = new Map<string, Json>();
  for (const { settings } of versions) {
    for (const setting of settings.values()) {
      if ('value' in setting && typeof setting.value === 'string') {
        values.set(digestOf(setting.value), setting.value);
      }
    }
  }
  return values;
}
