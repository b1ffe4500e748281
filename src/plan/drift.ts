import type { Address } from '../core/address.ts';
import { isBefore, mayFollow } from '../core/moment.ts';
import { fieldIn, toPath } from '../core/path.ts';
import {
  type Attribution,
  type Change,
  type Doubt,
  type DriftPolicy,
  type FieldCause,
  type FieldChange,
  type FindCallouts,
  type HistoryEntry,
  isAbsent,
  isEdited,
  isGone,
  isStateless,
  isWritten,
  type Pin,
  type PlanDocument,
  summarise,
} from '../core/plan-document.ts';
import { isRecorded, placeValue } from '../core/walk.ts';
import { kindNamed } from '../kinds/index.ts';
import type { ResourceState } from '../state/model.ts';
import { withCallouts, withDigest } from './document.ts';
import { missingReason, successorReason } from './messages.ts';

/**
 * The drift in a plan: what differs because the platform moved, not because the configuration did.
 * `before` is what Callsheet last wrote, `after` is what is live.
 */
export function keepDrift(plan: PlanDocument, findCallouts: FindCallouts): PlanDocument {
  const isUnknown = isStateless(plan);
  const changes = plan.changes.flatMap((change) => {
    const isMissing = isGone(change) || (isUnknown && isAbsent(change));
    const fields = change.fields.filter((field) => isDrift(field, change)).map(turnRound);
    if (fields.length === 0 && !isMissing) return [];
    const { before, after, secrets: _, lifted_by: __, missing_id: missing, ...rest } = change;
    // Reasons against writing it are no drift.
    const reason =
      missing === null
        ? isMissing
          ? NOT_THERE
          : change.reason
        : isGone(change)
          ? missingReason(missing, 'drift')
          : successorReason(missing);
    // A plan says if apply would put it back.
    const verdict = 'ok' as const;
    const drifted = {
      ...rest,
      // A resource that is no longer configured is still live.
      action: rest.action === 'delete' ? ('update' as const) : rest.action,
      missing_id: missing,
      reason,
      verdict,
      before: lastWritten(change),
      after: before,
      fields,
      operations: [],
    };
    return [withCallouts(drifted, findCallouts)];
  });
  // Nothing stands against looking.
  const { refusals: _, groups: __, kept: ___, ...rest } = plan;
  return withDigest({
    ...rest,
    purpose: 'drift',
    changes,
    summary: summarise(changes, plan.changes.length + plan.summary.no_op - changes.length),
    requests: { reads: 0, writes: 0, seconds: 0 },
    assumptions: [],
  });
}

const NOT_THERE = 'not on the platform; without a state nothing tells whether it ever was';

/** The drift that is left once some of it was put back. */
export function withoutHealed(drift: PlanDocument, healed: ReadonlySet<Address>): PlanDocument {
  const changes = drift.changes.filter(({ address }) => !healed.has(address));
  if (changes.length === drift.changes.length) return drift;
  const compared = drift.changes.length + drift.summary.no_op;
  return withDigest({
    ...drift,
    changes,
    summary: summarise(changes, compared - changes.length),
  });
}

/** A drifted resource with who changed each of its leaves, as far as its history tells. */
export function attributeChange(change: Change, edits: Edits): Change {
  const { entries } = edits;
  const recorded = attributeRecorded(edits);
  const fields = change.fields.map((field) => {
    const doubt = findDoubt(change.kind, field.path);
    return { ...field, attribution: doubt === null ? recorded : unknown(doubt, entries) };
  });
  const attributed = { ...change, fields, edits: entries };
  return isAbsent(change) ? { ...attributed, attribution: unknown('gone', entries) } : attributed;
}

/** The edits since Callsheet last wrote a resource, or last saw it as configured. */
export type Edits = {
  /** Newest first. */
  readonly entries: readonly HistoryEntry[];
  /** The entry that stands for the last run. */
  readonly base: number | null;
  /** Why these need not be all; null where they are. */
  readonly doubt: Doubt | null;
};

/** The end of a run: the pin that the state keeps. Undefined if there is none. */
export type Since = (Place & { readonly lastRun?: Place | undefined }) | undefined;

type Place = Pick<Pin, 'history_id' | 'updated_at'>;

/**
 * Returns the pin after which edits of a resource may begin. Runs that kept edits came after them: their entries, up to
 * that of the last one (`lastRun`), are no edits.
 */
export function getSince(recorded: Pick<ResourceState, 'pin' | 'kept_since'> | undefined): Since {
  const { kept_since: kept, pin } = recorded ?? {};
  return kept === undefined ? (pin ?? undefined) : { ...kept, lastRun: pin ?? undefined };
}

/** The history without the entries of runs that kept edits. `author`: how changes through the API are signed. */
export function withoutRuns(
  history: readonly HistoryEntry[],
  since: Since,
  author: string | undefined,
): readonly HistoryEntry[] {
  const { lastRun } = since ?? {};
  if (since === undefined || lastRun === undefined) return history;
  const base = baseEntry(history, since) ?? 0;
  const isOfRun = ({ id, at, actor }: HistoryEntry) =>
    actor === author &&
    id > base &&
    (lastRun.history_id === null
      ? !isBefore(lastRun.updated_at, at, -STAMPED_TOGETHER_MS)
      : id <= lastRun.history_id);
  return history.filter((entry) => !isOfRun(entry));
}

/**
 * The entries since a run, of a history that is given newest first. A pin that names no entry, as that of a
 * resource which was taken over, is found by its time where entries carry times (`history.list-shape`).
 *
 * @param author how changes through the API are signed
 */
export function editsSince(
  all: readonly HistoryEntry[],
  since: Since,
  author: string | undefined,
): Edits {
  const history = withoutRuns(all, since, author);
  const known = since?.updated_at ?? null;
  const base = baseEntry(history, since);
  if (base === null) {
    // Every run leaves an entry: where all there are came later, it was dropped.
    const isDropped = history.length > 0 && history.every(({ at }) => isBefore(known, at, 0));
    return isDropped
      ? { entries: history, base, doubt: 'retention' }
      : { entries: [], base, doubt: 'no_beginning' };
  }
  const newer = history.filter(({ id, at }) => id > base && !isBefore(at, known, 0));
  const late = lateOwn(history, newer, base, known, author);
  // Retention takes the oldest: where one from before is left, all that came since are.
  const reaches = history.some(({ id, at }) => id <= base || isBefore(at, known, 0));
  return {
    entries: newer.filter((entry) => entry !== late),
    base,
    doubt: reaches ? null : 'retention',
  };
}

/** True if the live resource was changed after the newest entry, which then says nothing of that change. */
export function isAhead(updated: string | null, [newest]: readonly HistoryEntry[]): boolean {
  return newest !== undefined && isBefore(newest.at, updated, -STAMPED_TOGETHER_MS);
}

/**
 * `callsheet watch --heal` may put back by itself only changes that do nothing but write what Callsheet wrote before
 * and somebody else changed since.
 *
 * | the plan would                              | is it healed?                                      |
 * |---------------------------------------------|----------------------------------------------------|
 * | write drifted fields alone                  | yes                                                |
 * | write a change of the configuration as well | no: it was not applied yet                         |
 * | settle a conflict                           | no: both sides changed                             |
 * | write a secret                              | no: an edit of it by somebody else cannot be seen |
 * | make, replace, delete or adopt it           | no: that is for a person                           |
 * | write what it is known by, as its name      | no: it may be another one                          |
 * | undo an edit against `guards.drift`         | no: `keep` and `refuse` leave that to a person     |
 */

/** Drift that is marked to be healed and is left alone, and why. */
export type SkippedHeal = { readonly address: Address; readonly why: string };

export type SelfHealing = {
  readonly heal: readonly Address[];
  readonly left: readonly SkippedHeal[];
};

/** Which of the drifted resources are healed. `isMarked`: whether the configuration says `heal: true` of one. */
export function planSelfHealing(
  plan: PlanDocument,
  drifted: ReadonlySet<Address>,
  isMarked: (address: Address) => boolean,
  policy: DriftPolicy,
): SelfHealing {
  const marked = plan.changes.filter(({ address }) => drifted.has(address) && isMarked(address));
  const isLeft = policy !== 'undo';
  const drifts = marked.map((change) => ({
    address: change.address,
    why: isLeft ? `guards.drift: ${policy} lets no edit be healed` : whyNotHealed(change),
  }));
  return {
    heal: drifts.flatMap(({ address, why }) => (why === undefined ? [address] : [])),
    left: drifts.flatMap(({ address, why }) => (why === undefined ? [] : [{ address, why }])),
  };
}

/** The reason that a change is not healed, whatever guards say of it; undefined where nothing speaks against it. */
export function whyNotHealed(change: Change): string | undefined {
  return whyMore(change) ?? whyUnnamed(change);
}

/** Tells whether a change does nothing but put back what was edited. */
export function isPuttingBack(change: Change): boolean {
  return whyMore(change) === undefined;
}

/** Returns why an edit of a name is not healed: a state with exchanged ids looks the same, and there is no review. */
function whyUnnamed({ kind, fields }: Change): string | undefined {
  const known = new Set(kindNamed(kind).naturalKey.flat());
  const named = fields.find((field) => isWritten(field) && known.has(fieldIn(field.path)));
  return (
    named &&
    `it would write ${named.path}, by which it is recognised: a person must decide whether it is still the same`
  );
}

function whyMore(change: Change): string | undefined {
  const { action, fields, operations } = change;
  if (isGone(change)) return 'it was deleted: a person must decide whether to create it again';
  if (action !== 'update') return `it would ${action} the resource, and self-heal only updates`;
  if (operations.some(({ step }) => !WRITING_STEPS.has(step)))
    return 'more than its fields would be written';
  const other = fields.find((field) => !isHealed(field));
  return other && (WHY[other.cause] ?? UNAPPLIED);
}

/** Without state nothing says which side moved: then whatever differs from the configuration counts. */
function isDrift(field: FieldChange, { adopted }: Change): boolean {
  return isEdited(field) || (adopted && field.cause === 'changed');
}

/**
 * Turns a field round for drift. The configured side of a conflict was not applied yet, so the expected value is the
 * one last written, if known.
 */
function turnRound(field: FieldChange): FieldChange {
  const { before: live, after: configured, base = configured } = field;
  const both = field.cause === 'conflict' ? { configured } : {};
  return { ...field, before: base, after: live, ...both };
}

/** Returns the wanted document with the values last written in place of the configured side of conflicts. */
function lastWritten({ kind, fields, after }: Change): Change['after'] {
  if (after === null) return null;
  const { schema } = kindNamed(kind);
  return fields.reduce(
    (document, { path, base }) =>
      base === undefined
        ? document
        : placeValue(schema, document, toPath(path), base ?? undefined, { adds: true }),
    after,
  );
}

/** Why no history could tell who changed a leaf; null where it could. */
function findDoubt(kindName: string, text: string): Doubt | null {
  const kind = kindNamed(kindName);
  if (kind.history === undefined) return 'no_history';
  return isRecorded(kind.schema, toPath(text)) ? null : 'not_recorded';
}

/**
 * Who changed settings that history records. A revert sets all of them (revert rule 1), so that nothing
 * before it is left: what is live was set by the revert or later, and later where it restored what the run
 * had written.
 */
function attributeRecorded({ entries, base, doubt }: Edits): Attribution {
  const at = entries.findIndex(({ action }) => action === 'reverted');
  const last = entries[at];
  if (doubt === 'late') return unknown(doubt, entries);
  if (last === undefined)
    return doubt === null ? mergeAttributions(entries) : unknown(doubt, entries);
  const isBack = last.reverted_from_id === base;
  return mergeAttributions(entries.slice(0, isBack ? at : at + 1));
}

function mergeAttributions(entries: readonly HistoryEntry[]): Attribution {
  const [first] = entries;
  if (first === undefined) return unknown('no_entry');
  const isOneActor = first.actor !== null && entries.every(({ actor }) => actor === first.actor);
  const certainty = entries.length === 1 ? 'entry' : isOneActor ? 'actor' : 'one_of';
  return { certainty, because: null, entries: listIds(entries) };
}

function unknown(because: Doubt, entries: readonly HistoryEntry[] = []): Attribution {
  return { certainty: 'unknown', because, entries: listIds(entries) };
}

function listIds(entries: readonly HistoryEntry[]): readonly number[] {
  return entries.map(({ id }) => id);
}

/** How a history signs what a key of the account changed. */
export function findAuthor(account: string): string {
  return `api:${account}`;
}

/** A platform may stamp an entry a moment after the change that it tells of. */
export const STAMPED_TOGETHER_MS = 1000;

/** The newest entry that a resource had when it was as a pin says; null where that is unknown. */
export function baseEntry(history: readonly HistoryEntry[], since: Since): number | null {
  return since?.history_id ?? entryAt(history, since?.updated_at ?? null);
}

/** The entry of the change that a resource was last seen with; null where the times do not tell. */
function entryAt(history: readonly HistoryEntry[], updated: string | null): number | null {
  if (history.some(({ at }) => at === null)) return null;
  const atOnce = history.filter(({ at }) => mayFollow(at, updated, STAMPED_TOGETHER_MS));
  return (atOnce.at(-1) ?? history.find(({ at }) => isBefore(at, updated, 0)))?.id ?? null;
}

/**
 * The entry of the run's own write, where it appeared after the run had looked: then the pin names an older
 * one, which somebody else may have made. By its time it belongs to what the run read back.
 */
function lateOwn(
  history: readonly HistoryEntry[],
  newer: readonly HistoryEntry[],
  base: number,
  updated: string | null,
  author: string | undefined,
): HistoryEntry | undefined {
  const isOwn = (entry: HistoryEntry | undefined) =>
    entry !== undefined &&
    entry.actor === author &&
    (mayFollow(entry.at, updated, STAMPED_TOGETHER_MS) ||
      mayFollow(updated, entry.at, STAMPED_TOGETHER_MS));
  const oldest = newer.at(-1);
  return isOwn(oldest) && !isOwn(history.find(({ id }) => id === base)) ? oldest : undefined;
}

/** The operations that write fields of a resource that stays. */
const WRITING_STEPS: ReadonlySet<string> = new Set(['update', 'facet']);

function isHealed({ cause }: FieldChange): boolean {
  // A field that is not written does not matter, unless the configuration has released it since.
  return cause === 'drifted' || (!isWritten({ cause }) && cause !== 'released');
}

const UNAPPLIED = 'its configuration has changes that are not applied yet';

const WHY: { readonly [cause in FieldCause]?: string } = {
  conflict: 'the configuration changed too',
  secret_changed: 'a secret of it changed and was not applied yet',
  secret_source_changed: 'a secret of it has another source that was not applied yet',
  secret_account_changed: 'a secret of it would be written with its account',
  secret_unwritten: 'a secret of it was not written yet',
  secret_resent: 'a secret of it would be written again',
};
