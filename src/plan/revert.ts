/**
 * How a rollback puts one resource back (DESIGN §6):
 *
 *   what the platform refuses now ──▶ left out, and said
 *   what history records ──────────▶ revert, if the version is still there and nothing in it is refused
 *   the rest ──────────────────────▶ update
 */
import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { fieldIn, overlaps, parsePaths, toPath } from '../core/path.ts';
import type {
  Change,
  FieldChange,
  PlanDocument,
  PlannedOperation,
  Undoing,
} from '../core/plan-document.ts';
import { getOwn, type JsonObject, refsIn } from '../core/value.ts';
import { isRecorded, schemaAt } from '../core/walk.ts';
import { compareWhole, isSent, isUnclearable, isWritten, UNCLEARABLE } from '../diff/compare.ts';
import { fieldSchema, type World } from '../diff/leaves.ts';
import type { Facet, Kind } from '../kinds/kind.ts';
import { type Barred, bars, reasonsIn, refuseBarred } from './preflight.ts';
import type { HistoryEntry, LiveResource } from './reader.ts';
import { ownFields, updateSteps } from './steps.ts';

/** Leaves fields as they are that null cannot clear and no revert brings back. */
export function leaveOutUnclearable(change: Change, kind: Kind): Change {
  if (change.verdict !== 'ok' || change.action !== 'update') return change;
  const reverts = change.operations.some(({ step }) => step === 'revert');
  const barred = change.fields.flatMap((field): Barred[] => {
    const isReverted = reverts && isRecorded(kind.schema, [fieldIn(field.path)]);
    const schema = schemaAt(kind.schema, toPath(field.path));
    const isBarred = isWritten(field) && isUnclearable({ after: field.after, schema });
    return isBarred && !isReverted ? [{ path: field.path, why: UNCLEARABLE }] : [];
  });
  return leaveOut(change, barred);
}

/**
 * Settles a change of which the platform would refuse something. A rollback leaves that out and does the rest;
 * facets, which are written by themselves, are left out with `--skip-refused`. Anything else refuses the change.
 */
export function settleBarred(
  change: Change,
  kind: Kind,
  barred: readonly Barred[],
  {
    purpose,
    skipsRefused,
  }: { readonly purpose: PlanDocument['purpose']; readonly skipsRefused: boolean },
): Change {
  if (barred.length === 0 || change.verdict !== 'ok') return change;
  if (purpose === 'rollback') return leaveOut(change, barred);
  const facets = new Map(
    barred.flatMap(({ path, why }) => {
      const field = path === null ? '' : fieldIn(path);
      return kind.facets.some((facet) => facet.field === field) ? [[field, why] as const] : [];
    }),
  );
  const isFacet = ({ path }: Barred) => path !== null && facets.has(fieldIn(path));
  // A replacement takes the facets of the old resource with it: they would be lost.
  if (!barred.every(isFacet) || change.action === 'replace') return refuseBarred(change, barred);
  const isRest = change.fields.some((field) => isSent(field) && !facets.has(fieldIn(field.path)));
  const own = [...facets].map(([path, why]) => ({ path, why }));
  if (isRest && skipsRefused) return leaveOut(change, own);
  const reasons = own.map(({ path, why }) => ({
    path,
    why: `${path} cannot be set: ${why}${isRest ? wayWithout(path) : ''}`,
  }));
  return { ...refuseBarred(change, reasons), operations: [] };
}

function wayWithout(field: string): string {
  return `. --skip-refused leaves ${field} out and writes the rest; lifecycle.ignore: [${field}] leaves it to the dashboard from then on`;
}

/**
 * Finds facets that a change would write and cannot: they are set up elsewhere, or the platform does not show what is
 * live. Before a delete, all facets are read, since only their copy could be restored.
 */
export function absentFacets(
  { operations }: Change,
  { facets }: Kind,
  live: LiveResource | undefined,
): readonly Barred[] {
  const isDeleted = operations.some(({ step }) => step === 'delete');
  const written = new Set(
    operations.flatMap(({ step, fields }) => (step === 'facet' ? fields : [])),
  );
  const unread = Object.entries(live?.unread ?? {})
    .filter(([field]) => isDeleted || written.has(field))
    .map(([field, why]) => ({ path: isDeleted ? null : field, why: unreadWhy(field, why) }));
  const isAbsent = ({ field, get }: Facet) =>
    written.has(field) &&
    live?.unread?.[field] === undefined &&
    (live === undefined ? get === undefined : getOwn(live.document, field) === undefined);
  const absent = facets.filter(isAbsent).map(({ field, absent: why }) => ({ path: field, why }));
  return [...unread, ...absent];
}

function unreadWhy(field: string, why: string): string {
  return `${field} cannot be read (${why}); plan again once the platform answers, or apply the rest with --skip-refused`;
}

/** Leaves out of a rollback what the platform would refuse now, so that the rest is done. */
export function leaveOut(change: Change, barred: readonly Barred[]): Change {
  if (barred.length === 0) return change;
  const fields = change.fields.map((field) => refusedField(field, barred));
  const left = fields.filter(isSent);
  if (left.length === 0) {
    const reason = `it cannot be put back now: ${reasonsIn(barred)} (${change.reason})`;
    return { ...change, fields, verdict: 'unsupported', reason, operations: [] };
  }
  const names = new Set(left.map(({ path }) => fieldIn(path)));
  const operations = change.operations.flatMap((operation): readonly PlannedOperation[] => {
    if (operation.fields.length === 0) return [operation];
    const kept = operation.fields.filter((name) => names.has(name));
    return kept.length === 0 ? [] : [{ ...operation, fields: kept }];
  });
  return { ...change, fields, operations };
}

function refusedField(field: FieldChange, barred: readonly Barred[]): FieldChange {
  const path = toPath(field.path);
  const reasons = barred.filter((one) => bars(one, path));
  return reasons.length === 0
    ? field
    : { ...field, refused: reasons.map(({ why }) => why).join('; ') };
}

/** The inputs of the choice. */
type Given = {
  readonly kind: Kind;
  readonly desired: DesiredResource;
  readonly live: JsonObject;
  /** The history entry that was newest before; undefined: none is known. */
  readonly version: number | undefined;
  /** The newest entries of its history, and whether there are no others. */
  readonly entries: { readonly read: readonly HistoryEntry[]; readonly isAll: boolean };
  readonly world: World;
  /** Tells whether a resource that is referred to has another id than it had then, or none yet. */
  readonly isOtherNow: (address: Address) => boolean;
};

/** Chooses between a revert, a revert with an update, and an update alone, and says why. */
export function chooseRevertOrUpdate(change: Change, given: Given): Change {
  if (change.verdict !== 'ok') return change;
  const { kind, version } = given;
  const left = change.fields.filter(isSent);
  const names = [...new Set(left.map(({ path }) => fieldIn(path)))];
  const own = ownFields(kind, names);
  if (own.length === 0) return change;
  const recorded = own.filter((name) => isRecorded(kind.schema, [name]));
  const bar = revertBar(change, recorded, given);
  if (bar !== undefined) return byUpdate(change, names, bar, given);
  const taken = takenAlong(recorded, given);
  const operations = updateSteps(kind, [...names, ...taken], version);
  const rest = own.filter((name) => !recorded.includes(name));
  const why = [
    ...(rest.length > 0 ? [`a revert does not restore ${rest.join(', ')}`] : []),
    ...(taken.length > 0
      ? [
          `a revert that switches ${formatTakers(recorded, given)} off takes ${taken.join(', ')} with it`,
        ]
      : []),
  ];
  const undoing: Undoing =
    why.length === 0
      ? { way: 'revert', why: 'history records all of it' }
      : { way: 'revert_and_update', why: why.join('; ') };
  return { ...change, operations, undoing };
}

function byUpdate(change: Change, names: readonly string[], why: string, { kind }: Given): Change {
  const operations = updateSteps(kind, names, undefined);
  return { ...change, operations, undoing: { way: 'update', why } };
}

/** Why no revert is made; undefined: one is. */
function revertBar(change: Change, recorded: readonly string[], given: Given): string | undefined {
  const { kind, version, entries } = given;
  if (recorded.length === 0) return 'a revert restores none of it';
  if (version === undefined) return 'no history entry from before is known';
  const refused = change.fields.find(
    ({ path, refused }) => refused !== undefined && isRecorded(kind.schema, [fieldIn(path)]),
  );
  if (refused !== undefined) return `the platform would refuse a revert: ${refused.refused}`;
  if (isGone(version, entries))
    return `its history no longer has entry ${version}, the newest one from before`;
  const other = otherIdIn(given);
  if (other !== undefined) return `the version has the old id of ${other}, which was created again`;
  const moved = sideEffects(change, given);
  return moved.length === 0
    ? undefined
    : `a revert would also take back ${moved.join(', ')}, which the run did not change`;
}

/** A resource that a version names by an id which it no longer has. */
function otherIdIn({ kind, desired, isOtherNow }: Given): Address | undefined {
  const fields = Object.entries(desired.whole?.document ?? desired.document).filter(([field]) =>
    isRecorded(kind.schema, [field]),
  );
  const refs = fields.flatMap(([, value]) => refsIn(value));
  return refs.find(({ address }) => isOtherNow(address))?.address;
}

/**
 * Returns the paths that a revert would move and that are not to be undone: a version restores all that history
 * records.
 */
function sideEffects(
  { address, fields }: Change,
  { kind, desired: { whole, lifecycle }, live, world }: Given,
): readonly string[] {
  if (whole === undefined) return [];
  const ignore = parsePaths(lifecycle.ignore);
  const planned = fields.filter(isWritten).map(({ path }) => toPath(path));
  return compareWhole(kind.schema, whole, live, { address, ignore }, world)
    .filter(({ path }) => !planned.some((one) => overlaps(path, one)))
    .filter((leaf) => isWritten(leaf) && isRecorded(kind.schema, leaf.path))
    .map(({ text }) => text);
}

/** True if the entries show that a version is gone: they go back behind it, or are all there are. */
function isGone(version: number, { read, isAll }: Given['entries']): boolean {
  return !read.some(({ id }) => id === version) && (isAll || read.some(({ id }) => id < version));
}

/** Fields that are to be on and that the revert switches off along with one of the reverted ones. */
function takenAlong(recorded: readonly string[], given: Given): readonly string[] {
  const { desired, live } = given;
  const whole = desired.whole?.document ?? desired.document;
  return switchedOff(recorded, given)
    .flatMap((name) => fieldSchema(given.kind.schema, name)['x-revert-takes'] ?? [])
    .filter((name) => getOwn(whole, name) === true && getOwn(live, name) === true);
}

function formatTakers(recorded: readonly string[], given: Given): string {
  return switchedOff(recorded, given)
    .filter((name) => fieldSchema(given.kind.schema, name)['x-revert-takes'] !== undefined)
    .join(', ');
}

function switchedOff(recorded: readonly string[], { desired, live }: Given): readonly string[] {
  return recorded.filter(
    (name) => getOwn(live, name) === true && getOwn(desired.document, name) !== true,
  );
}
