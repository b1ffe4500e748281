import { type Address, matchesAny, nameInWords } from '../core/address.ts';
import { codeSpan, quoted } from '../core/command-line.ts';
import { type DesiredResource, valuesInClear } from '../core/desired.ts';
import type { SourcePosition } from '../core/diagnostics.ts';
import { fieldIn, formatPath, parsePaths, toPath } from '../core/path.ts';
import {
  type Action,
  type Change,
  type FieldChange,
  isKept,
  type Note,
  type Pin,
  type PlanDocument,
  type PlannedOperation,
  type PlanOptions,
  type SecretTravel,
  type Verdict,
} from '../core/plan-document.ts';
import { contextAt, type InClear, isInClear, mask, maskAt, maskScalar } from '../core/redact.ts';
import { namesField } from '../core/schema.ts';
import {
  Blob,
  findFilled,
  getOwn,
  isSameJson,
  type JsonObject,
  Secret,
  type Value,
  type ValueObject,
} from '../core/value.ts';
import { placeValue, twinsOn, valueAt } from '../core/walk.ts';
import { isLeafInClear, knownSecrets, wasInClear } from '../diff/applied.ts';
import {
  compare,
  compareWritten,
  goneElement,
  isSent,
  isWritten,
  type LeafChange,
  leafChange,
  shownValue,
} from '../diff/compare.ts';
import {
  fieldSchema,
  type Leaves,
  listLeaves,
  normalise,
  type Sides,
  type World,
} from '../diff/leaves.ts';
import { facetsSetUpElsewhere, type Kind } from '../kinds/kind.ts';
import { nextRequest } from '../kinds/making.ts';
import { isDelete, refuse } from './document.ts';
import { findMisfit, type Identity, type Span } from './identify.ts';
import {
  foundBy,
  misfitReason,
  missingReason,
  storedMessage,
  successorReason,
  twinsReason,
  unfitReason,
  updateReason,
  withOtherName,
} from './messages.ts';
import { getNaturalKey } from './natural-key.ts';
import type { LiveResource } from './reader.ts';
import { compareLastApplied, splitByRead } from './refresh.ts';
import { secretsDeleted, secretTravels } from './secrets.ts';
import {
  carryOver,
  createSteps,
  ownFields,
  type Support,
  unreadReason,
  updateSteps,
} from './steps.ts';

type ChangeContext = {
  /** The pin of the live resource, without its history; null if there is nothing to read. */
  readonly pin: Pin | null;
  readonly world: World;
  readonly options: PlanOptions;
  /** See `Sides`. */
  readonly keepsEdits?: boolean;
  readonly now: Date;
  readonly purpose: PlanDocument['purpose'];
  readonly isToSnapshot: boolean;
  /** The history entry that a rollback would revert to. */
  readonly version: number | undefined;
  /** See `PlanInput`. */
  readonly ran?: Span | undefined;
  /** True if it is removed from the state, not deleted, when it is no longer configured. */
  readonly isForgotten: boolean;
  /** Tells whether another resource is part of the plan, and may give its name up by it. */
  readonly isPlanned: (address: string) => boolean;
  readonly support: Support;
  /** See `Sides`. */
  readonly bases?: Sides['bases'];
};

/** Plans one resource: the change, and what the comparison found, for the caller to remember. */
export function planChange(
  identity: Identity,
  live: LiveResource | undefined,
  context: ChangeContext,
): { readonly change: Change; readonly leaves: readonly LeafChange[] } {
  const { desired } = identity;
  if (live === undefined && desired !== undefined)
    return { change: planCreate(identity, desired, context), leaves: [] };
  const planned =
    desired === undefined || live === undefined
      ? planAbsence(identity, live, context)
      : planPresence(identity, desired, live, context);
  const change = nameLive(planned.change, identity, live);
  const refused =
    refuseTaken(change, identity, context) ??
    refuseOther(change, planned.leaves, identity, context);
  return { ...planned, change: refused ?? refuseMisfit(change, identity, live, context) };
}

/** A change that would give a name which somebody else's resource has is refused, as the platform would. */
function refuseTaken(
  change: Change,
  { kind, address, takenBy, takenFrom }: Identity,
  { purpose, isPlanned }: Pick<ChangeContext, 'purpose' | 'isPlanned'>,
): Change | undefined {
  const key = new Set(kind.naturalKey.flat());
  const isNaming = change.fields.some((field) => isSent(field) && key.has(fieldIn(field.path)));
  if (takenBy === undefined || change.operations.length === 0 || !isNaming) return undefined;
  if (takenFrom !== undefined && isPlanned(takenFrom)) return undefined;
  if (purpose !== 'rollback')
    return refuse(change, `${change.reason}; ${takenReason('its new name', takenBy, address)}`);
  const holder = takenFrom === undefined ? takenBy : `${takenFrom} (${takenBy})`;
  const way = 'Rename or delete that one, and roll back again';
  return refuse(change, `${change.reason}; the name that it had is taken by ${holder}. ${way}`);
}

/**
 * A rollback knows by its id what it puts back. What has the name of one that is gone is somebody else's, or another one
 * that was made since: nothing is written to it.
 */
function refuseOther(
  change: Change,
  leaves: readonly LeafChange[],
  { kind, by }: Identity,
  { purpose }: Pick<ChangeContext, 'purpose'>,
): Change | undefined {
  if (purpose !== 'rollback' || by !== 'natural_key' || kind.tie !== 'error') return undefined;
  if (change.operations.length === 0 && !leaves.some(isWritten)) return undefined;
  const noun = nameInWords(kind.name);
  const reason = `another live ${noun} has its name: ${change.id}. A rollback does not write to that one: rename or delete it in the dashboard, and roll back again`;
  return refuse(change, reason);
}

/** That something has a name already, and how to go on. */
function takenReason(name: string, takenBy: string, address: Address): string {
  const forget = codeSpan(`callsheet state rm ${quoted(address)}`);
  return `${name} is taken by ${takenBy}. To manage that one instead, run ${forget} and plan again; otherwise rename or delete it in the dashboard`;
}

/**
 * Gives a change the name that its resource has on the platform, unless it writes another: others may have written the
 * state's. A change that deletes the resource, to replace it or not, has both names where they differ.
 */
function nameLive(change: Change, { recorded }: Identity, live: LiveResource | undefined): Change {
  const name = findFilled(live?.document.name);
  if (name === undefined || change.action === 'no_op') return change;
  const isGoing = change.action === 'delete';
  const isGiven =
    change.action === 'replace' ||
    change.fields.some((field) => field.path === 'name' && isWritten(field));
  const shown = isGiven && !isGoing ? change.name : name;
  const known = isGoing ? recorded?.name : change.name;
  const isOther =
    isDelete(change) && known !== undefined && known !== name && known !== change.address;
  return { ...change, name: shown, ...(isOther && { reason: withOtherName(change, name, known) }) };
}

/** A change that would write to a resource of which the state's record may not be is refused. */
function refuseMisfit(
  change: Change,
  identity: Identity,
  live: LiveResource | undefined,
  { ran }: Pick<ChangeContext, 'ran'>,
): Change {
  if (live === undefined || change.verdict === 'unsupported' || change.operations.length === 0)
    return change;
  // A rollback deletes what its run made.
  const misfit = findMisfit(identity, live, change.action === 'delete' ? ran : undefined);
  if (misfit === undefined) return change;
  const isAgainstAll = misfit.type === 'rivals' || misfit.type === 'created';
  return isAgainstAll || isDelete(change)
    ? refuse(change, misfitReason(change, misfit, identity))
    : change;
}

/** Returns a resource's side of a comparison. */
export function getSides(
  { address, recorded, by, missing }: Pick<Identity, 'address' | 'recorded' | 'by' | 'missing'>,
  { lifecycle, isPartial, isExact = false }: DesiredResource,
  options: Pick<PlanOptions, 'resend_secrets'>,
): Sides {
  return {
    address,
    applied: by === 'state' ? recorded?.leaves : undefined,
    ignore: parsePaths(lifecycle.ignore),
    isPartial,
    isExact,
    resend: isResent(address, options),
    isSuccessor: missing !== undefined,
  };
}

/** True if the secrets of an address are sent again: `resend_secrets` may mean all, or those of a fleet or a block. */
export function isResent(
  address: string,
  { resend_secrets: resend }: Pick<PlanOptions, 'resend_secrets'>,
): boolean {
  return typeof resend === 'boolean' ? resend : matchesAny(resend, address);
}

/** The document's plain texts, for the rules of a kind that look at them. */
export function plainTexts(document: ValueObject): JsonObject {
  return Object.fromEntries(
    Object.entries(document).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

/** Facts about the values of a resource that do not follow from their places. */
type Known = {
  /** See `knownSecrets`. */
  readonly secrets?: ReadonlySet<string>;
  /** Values of the configuration that the files have in clear. */
  readonly given?: InClear | undefined;
  /** Live values that the files have in clear, or had when they were written. */
  readonly live?: InClear | undefined;
};

/** A leaf's change as a plan shows it, masked. */
export function fieldChange(kind: Kind, leaf: LeafChange, known: Known = {}): FieldChange {
  const { text, path, before, after, cause, base } = leaf;
  const isConcealed = known.secrets?.has(text) === true;
  const isSensitive = leaf.sensitive || isConcealed;
  // Only a name lets go of what it hides.
  const named = isSensitive ? contextAt(kind.schema, path) : undefined;
  const isShown = (value: Value | undefined, inClear: InClear | undefined) =>
    named?.secrecy.hidden === 'name' &&
    (value ?? null) !== null &&
    isInClear(named, value, text, inClear);
  const isLiveShown = !isConcealed && isShown(before, known.live);
  const isGivenShown = isShown(after, known.given);
  const show = (value: Value | undefined, inClear: InClear | undefined, isMasked: boolean) => {
    const shown = maskAt(kind.schema, path, value, { inClear });
    return isMasked && typeof shown !== 'object' ? maskScalar(value) : shown;
  };
  const isThere = (before ?? null) !== null;
  return {
    path: text,
    before:
      isConcealed && isThere
        ? maskScalar(before)
        : show(before, known.live, isSensitive && !isLiveShown),
    after: show(after, known.given, isSensitive && !isGivenShown),
    secret: isSensitive && !isLiveShown && !isGivenShown,
    cause,
    ...(leaf.isAlike === true ? { is_alike: true as const } : {}),
    ...(base === undefined || isSensitive ? {} : { base: show(base, undefined, false) }),
  };
}

/** Values that the platform stored otherwise, which nothing is written of, as far as a plan has to say so. */
export function storedNotes(
  { kind, address, desired, recorded }: Identity,
  leaves: readonly LeafChange[],
): readonly Note[] {
  const said = leaves.filter(({ cause }) => cause === 'stored_as');
  const secrets = knownSecrets(kind.schema, desired?.document, recorded?.leaves);
  return said.map((leaf) => {
    const { path, before, after } = fieldChange(kind, leaf, { secrets });
    const message = storedMessage(address, path, before, after, leaf.isAlike === true);
    return { severity: 'info', address, message };
  });
}

/** Keeps no documents of a resource that stays as it is: those of a large fleet would fill the memory. */
export function unchanged(identity: Identity): Change {
  return {
    ...base(identity),
    id: identity.found?.id ?? null,
    action: 'no_op',
    verdict: 'ok',
    reason: 'nothing to change',
    before: null,
    after: null,
    fields: [],
    pin: null,
    operations: [],
  };
}

function planCreate(
  identity: Identity,
  desired: DesiredResource,
  { purpose, isPlanned, world }: ChangeContext,
): Change {
  const { kind, missing, isListed, namesake } = identity;
  const { document } = desired;
  const given = valuesInClear(desired);
  const { leaves } = listLeaves(kind.schema, document);
  const fields = [...leaves.values()]
    .filter((leaf) => leaf.value !== null)
    .map((leaf) =>
      fieldChange(kind, leafChange(leaf, undefined, shownValue(leaf, world), 'changed'), { given }),
    );
  const operations = createSteps(kind, Object.keys(document), document);
  const why = missing
    ? missingReason(missing, purpose)
    : isListed
      ? 'not on the platform yet'
      : 'not known to exist; the platform has no list to search';
  const isTaken = namesake !== undefined && !isPlanned(namesake.holder);
  return {
    ...base(identity),
    action: 'create',
    verdict: isTaken ? 'refused' : 'ok',
    reason: isTaken
      ? `${why}; its name is taken by ${namesake.holder} (${namesake.id}), which this does not change`
      : why,
    before: null,
    after: mask(kind.schema, document, { onlyOwn: true, inClear: given }),
    fields,
    ...travelling(
      secretTravels(
        { fields, operations },
        { kind, document, live: undefined, known: NONE, applied: undefined },
      ),
    ),
    pin: null,
    operations,
  };
}

function planPresence(
  identity: Identity,
  desired: DesiredResource,
  live: LiveResource,
  context: ChangeContext,
): { readonly change: Change; readonly leaves: readonly LeafChange[] } {
  const { kind, by, recorded, movedFrom } = identity;
  const { world, options, keepsEdits = false } = context;
  const { document } = desired;
  const isOther = context.purpose === 'rollback' && by === 'natural_key';
  const sides = getSides(identity, desired, options);
  const sent = world.findContent?.(kind.name, live.id);
  const compared = { ...sides, sent, bases: context.bases, keepsEdits, isOther };
  const { read, unread } = splitByRead(document, live);
  const unreadChanges = compareLastApplied(kind, unread, compared, world);
  const isRead = ({ path }: LeafChange) => !Object.hasOwn(unread, path[0] ?? '');
  const readChanges = compare(kind.schema, read, live.document, compared, world).filter(isRead);
  const found = [...readChanges, ...unreadChanges];
  const written = found.filter(isWritten);
  const names = [...new Set(written.map(({ path }) => path[0] ?? ''))];
  const barred = planTwins(kind, live, written) ?? planUnfit(kind, document, live, written);
  const due = names.length === 0 ? dueReason(identity, live, desired, context) : undefined;
  const replaced = names.filter((name) => isImmutable(kind, name));
  // The new resource has no edits: as of a delete, the plan shows those that go with the old one.
  if (keepsEdits && replaced.length > 0)
    return planPresence(identity, desired, live, { ...context, keepsEdits: false });
  const shape: Shape =
    unreadChanges.length > 0 && live.extent !== 'whole'
      ? planUnread(identity, unreadChanges, context)
      : replaced.length > 0
        ? planReplace(identity, document, live, replaced)
        : barred !== undefined
          ? barred
          : names.length > 0 || due !== undefined
            ? planUpdate(identity, document, written, names, due, context)
            : {
                action: by === 'state' && movedFrom === undefined ? 'no_op' : 'adopt',
                verdict: 'ok',
                reason: sameReason(identity, context.purpose),
                operations: [],
              };
  const isMade = shape.action === 'replace' && shape.operations.length > 0;
  const leaves = isMade ? withHidden(kind, document, found) : found;
  // Most of a fleet, of which nothing else is asked.
  const isKeeping = found.some(isKept);
  if (shape.action === 'no_op' && !isKeeping) return { change: unchanged(identity), leaves };
  const known = knownSecrets(kind.schema, document, recorded?.leaves);
  const given = valuesInClear(desired);
  const shown = liveInClear(kind, desired, live.document, compared, world);
  const secrets = new Set([...known].filter((text) => !shown(text)));
  const values: Known = { secrets, given, live: shown };
  const fields = leaves.map((leaf) => fieldChange(kind, leaf, values));
  if (shape.action === 'no_op') return { change: { ...unchanged(identity), fields }, leaves };
  const { applied } = compared;
  const about = { kind, document, live: live.document, known, applied };
  const before = project(kind, document, live.document, values);
  const edits = found.filter(isKept);
  const show = () =>
    withEdits(kind, mask(kind.schema, document, { onlyOwn: true, inClear: given }), before, edits);
  const after = show();
  const change: Change = {
    ...base(identity),
    id: live.id,
    ...shape,
    ...(compared.isSuccessor
      ? { reason: `${successorReason(identity.missing)}; ${shape.reason}` }
      : {}),
    before,
    after,
    fields,
    ...travelling(secretTravels({ fields, operations: shape.operations }, about)),
    pin: context.pin,
  };
  return { change: isSameJson(before, after) ? shownWhenAsked(change, show) : change, leaves };
}

/** The resource after the change: configured, but for edits that stay. Both documents are masked. */
function withEdits(
  { schema }: Kind,
  configured: JsonObject,
  live: JsonObject,
  edits: readonly LeafChange[],
): JsonObject {
  return edits.reduce<JsonObject>((document, { path }) => {
    const place = goneElement(schema, live, path) ?? path;
    return placeValue(schema, document, place, valueAt(schema, live, path), { adds: true });
  }, configured);
}

const SHOW = Symbol('show');
type Shown = { readonly [SHOW]: () => JsonObject };

/** One for all: objects whose getters are functions of their own would share no layout. */
function shown(this: Shown): JsonObject {
  return this[SHOW]();
}

/**
 * The same change, whose document is put together whenever it is read: those of a fleet that is taken over as it is
 * would fill the memory.
 */
function shownWhenAsked(change: Change, show: () => JsonObject): Change {
  const document = { enumerable: true, get: shown };
  return Object.defineProperties(
    { ...change, before: null, after: null },
    {
      [SHOW]: { value: show },
      before: document,
      after: document,
    },
  );
}

/**
 * True if another value takes another resource. If a kind is never updated, fields unknown to the schema are such too.
 */
function isImmutable(kind: Kind, field: string): boolean {
  const isNew = !namesField(kind.schema, field) && kind.update === undefined && kind.refusesTwins;
  return isNew || fieldSchema(kind.schema, field)['x-immutable'] === true;
}

/** Adds secrets and files, changed or not: a resource that is made again is sent all of them. */
function withHidden(
  kind: Kind,
  document: ValueObject,
  found: readonly LeafChange[],
): readonly LeafChange[] {
  const seen = new Set(found.filter(isWritten).map(({ text }) => text));
  const hidden = [...listLeaves(kind.schema, document).leaves.values()].filter(
    ({ facts, text, value }) => facts.unreadable && value !== null && !seen.has(text),
  );
  const texts = new Set(hidden.map(({ text }) => text));
  const resent = hidden.map((leaf) =>
    leafChange(
      leaf,
      undefined,
      leaf.value,
      leaf.value instanceof Blob ? 'changed' : 'secret_resent',
    ),
  );
  return [...found.filter(({ text }) => !texts.has(text)), ...resent];
}

function travelling(secrets: readonly SecretTravel[]): Pick<Change, 'secrets'> {
  return secrets.length === 0 ? {} : { secrets };
}

/** Why a resource that equals the configuration is taken over. */
function sameReason(
  { by, movedFrom, knownAs }: Identity,
  purpose: PlanDocument['purpose'],
): string {
  const before = movedFrom ?? knownAs;
  return before === undefined ? foundBy(by, purpose) : `it was ${before} before`;
}

/**
 * Why a resource that equals the configuration is written all the same; undefined: it is not. The run that was to write it
 * asks again, by what it reads (`apply/create.ts`).
 */
export function dueReason(
  { kind, by, recorded }: Pick<Identity, 'kind' | 'by' | 'recorded'>,
  { record }: Pick<LiveResource, 'record'>,
  { document, isPartial }: Pick<DesiredResource, 'document' | 'isPartial'>,
  { now, purpose }: Pick<ChangeContext, 'now' | 'purpose'>,
): string | undefined {
  const isKnown = by === 'state';
  const unready = kind.unready?.(record);
  const resumed = (answered: readonly string[]) => nextRequest(kind, record, answered)?.resumed;
  if (unready !== undefined && isKnown && recorded?.unfinished !== undefined)
    return `an interrupted run left it incomplete: ${resumed(recorded.unfinished)}`;
  // A resource that a rollback puts back is not made again: its files are not kept.
  if (unready !== undefined && !isPartial) {
    const { phase, says } = unready;
    const found = isKnown ? '' : `${foundBy(by, purpose)}; `;
    if (phase === 'running') return undefined;
    if (phase === 'failed') return `${found}${says}: ${resumed([])}`;
    if (!isKnown)
      return `${found}${says}: unless the platform is still working on it, ${resumed([])}`;
  }
  const asked = isKnown ? recorded?.asked_at : undefined;
  return kind.due?.(record, plainTexts(document), now, asked);
}

/** Refuses to write fields that cannot be read: neither what that undoes nor whether it took could be reported. */
function planUnread(
  { kind, recorded }: Identity,
  unreadChanges: readonly LeafChange[],
  { support }: ChangeContext,
): Shape {
  const names = unreadChanges.map(({ text }) => text).join(', ');
  const what =
    recorded === undefined ? 'its live values are unknown' : `${names} cannot be compared`;
  const reason = `${what}: ${unreadReason(kind, support)}`;
  return { action: 'update', verdict: 'unsupported', reason, operations: [] };
}

/** Refuses changes of elements that look the same: a write might change or delete the wrong one. */
function planTwins(
  { schema }: Kind,
  { document }: LiveResource,
  written: readonly LeafChange[],
): Shape | undefined {
  const found = new Map(
    written.flatMap(({ path }) => {
      const twins = twinsOn(schema, document, path);
      return twins === undefined
        ? []
        : [[formatPath([...twins.list, twins.name]), twinsReason(schema, twins)] as const];
    }),
  );
  if (found.size === 0) return undefined;
  const reason = [...found.values()].join('; ');
  return { action: 'update', verdict: 'refused', reason, operations: [] };
}

/** A write is refused that would break what the kind asks of the whole, of which the configuration may have a part alone. */
function planUnfit(
  { schema: { if: when, then } }: Kind,
  document: ValueObject,
  live: LiveResource,
  written: readonly LeafChange[],
): Shape | undefined {
  if (when === undefined || then === undefined || live.extent !== 'whole') return undefined;
  const whole = { ...live.document, ...document };
  const isGiven = (name: string) => (whole[name] ?? null) !== null;
  const wanted = Object.entries(when.properties ?? {});
  const isMet =
    (when.required ?? []).every(isGiven) &&
    wanted.every(([name, { const: value }]) => value === undefined || whole[name] === value);
  const touched = new Set(written.map(({ path }) => path[0] ?? ''));
  const isTouched = [...wanted.map(([name]) => name), ...(when.required ?? [])].some((name) =>
    touched.has(name),
  );
  const broken = [
    ...(then.required ?? []).filter((name) => !isGiven(name) && (isTouched || touched.has(name))),
    ...written.flatMap(({ path: [name = '', ...below], after }) => {
      const types = [then.properties?.[name]?.type ?? []].flat();
      const isBarred = types.length > 0 && !types.includes('null');
      return isBarred && below.length === 0 && (after ?? null) === null ? [name] : [];
    }),
  ];
  const [field] = broken;
  if (!isMet || field === undefined) return undefined;
  return { action: 'update', verdict: 'refused', reason: unfitReason(field, when), operations: [] };
}

function planUpdate(
  { kind, by }: Identity,
  document: ValueObject,
  written: readonly LeafChange[],
  names: readonly string[],
  due: string | undefined,
  context: ChangeContext,
): Shape {
  const operations =
    names.length === 0
      ? [{ step: 'again' as const, fields: ownFields(kind, Object.keys(document)) }]
      : updateSteps(kind, names, context.version);
  const conflicts = written.filter(({ cause }) => cause === 'conflict');
  const isRefused = conflicts.length > 0 && !context.options.accept_conflicts;
  return {
    action: 'update',
    verdict: isRefused ? 'refused' : 'ok',
    ...(isRefused ? { lifted_by: 'accept_conflicts' as const } : {}),
    reason: due ?? updateReason(by, written, context.purpose, context.isToSnapshot),
    operations,
  };
}

/** A resource that the configuration no longer mentions. */
function planAbsence(
  identity: Identity,
  live: LiveResource | undefined,
  context: ChangeContext,
): { readonly change: Change; readonly leaves: readonly LeafChange[] } {
  const change = planGone(identity, live, context);
  const { kind, address, recorded } = identity;
  // A rollback compares a resource that its run made with the record of that run.
  const isCompared = change.action === 'delete' && context.purpose === 'apply';
  if (!isCompared || live === undefined || recorded === undefined) return { change, leaves: [] };
  const leaves = compareWritten(
    kind.schema,
    live.document,
    recorded.leaves,
    address,
    context.world,
  );
  const secrets = knownSecrets(kind.schema, {}, recorded.leaves);
  const fields = leaves.map((leaf) => {
    const base = context.bases?.get(leaf.text);
    return fieldChange(kind, base === undefined ? leaf : { ...leaf, base }, { secrets });
  });
  const isEdited = fields.length > 0;
  const reason = isEdited ? `${change.reason}; edited since the last apply` : change.reason;
  return { change: { ...change, fields, reason }, leaves };
}

function planGone(
  identity: Identity,
  live: LiveResource | undefined,
  { pin, purpose, isToSnapshot, support, isForgotten }: ChangeContext,
): Change {
  const { kind } = identity;
  const common = { ...base(identity), before: null, after: null, fields: [], pin: null };
  if (live === undefined) {
    const reason = 'no longer configured, and no longer on the platform';
    return { ...common, action: 'forget', verdict: 'ok', reason, operations: [] };
  }
  if (kind.delete === undefined || isForgotten) {
    const reason = isForgotten
      ? 'forget lists it: it stays on the platform, unchanged'
      : 'no longer configured; it stays on the platform, which has no endpoint that deletes it';
    return { ...common, id: live.id, action: 'forget', verdict: 'ok', reason, operations: [] };
  }
  if (live.extent === 'nothing') {
    const reason = `no longer configured, and its live values are unknown: ${unreadReason(kind, support)}`;
    const left = { verdict: 'unsupported' as const, reason, operations: [] };
    return { ...common, id: live.id, action: 'delete', ...left };
  }
  const secrets = knownSecrets(kind.schema, {}, identity.recorded?.leaves);
  return {
    ...common,
    id: live.id,
    action: 'delete',
    verdict: 'ok',
    reason: isToSnapshot
      ? 'created since the snapshot'
      : purpose === 'rollback'
        ? 'the run created it'
        : `no longer configured${goingWith(kind, live)}`,
    before: project(kind, live.document, live.document, { secrets }),
    ...travelling(secretsDeleted(kind, live.document, identity.recorded?.leaves)),
    pin,
    operations: [{ step: 'delete', fields: [] }],
  };
}

/** Returns the members of a change that do not depend on its action. */
function base(identity: Identity) {
  const { address, kind, desired, recorded, scope, by, missing, movedFrom } = identity;
  const name = desired?.document.name;
  return {
    address,
    kind: kind.name,
    name: typeof name === 'string' ? name : (recorded?.name ?? address),
    organization_id: scope.organization_id ?? null,
    id: null,
    adopted: by === 'natural_key' || by === 'adopt',
    missing_id: missing ?? null,
    ...(movedFrom === undefined ? {} : { moved_from: movedFrom }),
    source: desired?.position ? formatPosition(desired.position) : null,
  };
}

function formatPosition({ file, line }: SourcePosition): string {
  return `${file}:${line}`;
}

/** The action on a live resource, and why. */
type Shape = {
  readonly action: Action;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly lifted_by?: NonNullable<Change['lifted_by']>;
  readonly operations: readonly PlannedOperation[];
};

/** Another value of an immutable field means another resource. */
function planReplace(
  { kind, address, takenBy }: Identity,
  document: ValueObject,
  live: LiveResource,
  fields: readonly string[],
): Shape {
  const what = `${fields.join(', ')} cannot be changed once it exists`;
  if (takenBy !== undefined) {
    const reason = `${what}, and ${takenReason('the name of the new one', takenBy, address)}`;
    return { action: 'replace', verdict: 'refused', reason, operations: [] };
  }
  const [absent] = facetsSetUpElsewhere(kind, document);
  if (absent) {
    // With --skip-refused, too: the delete would remove the facet, which Callsheet cannot set up again.
    const way = `To replace it without ${absent.field}, remove ${absent.field} from its block`;
    const reason = `${what}, and for a new one ${absent.field} cannot be set: ${absent.absent}. ${way}`;
    return { action: 'replace', verdict: 'refused', reason, operations: [] };
  }
  const isSameKey = getNaturalKey(kind, document) === getNaturalKey(kind, live.document);
  const { fields: carried } = carryOver(kind, document, live.document);
  const create = createSteps(kind, [...Object.keys(document), ...carried], document);
  if (kind.delete === undefined) {
    return isSameKey
      ? {
          action: 'replace',
          verdict: 'unsupported',
          reason: `${what}, and the platform cannot delete the old resource; give the new one another name`,
          operations: [],
        }
      : {
          action: 'replace',
          verdict: 'ok',
          reason: `${what}; a new resource is created, and the old one (${live.id}) stays, because the platform cannot delete it`,
          operations: create,
        };
  }
  const remove: PlannedOperation = { step: 'delete', fields: [] };
  return {
    action: 'replace',
    verdict: 'ok',
    reason: `${what}; it is replaced and gets a new id${goingWith(kind, live)}`,
    // A name that stays the same must be free first; otherwise the new one exists before the old one goes.
    operations: isSameKey ? [remove, ...create] : [...create, remove],
  };
}

/** Names the facets deleted along with a resource that cannot be made again from here; empty if there are none. */
function goingWith(kind: Kind, { document }: LiveResource): string {
  const gone = facetsSetUpElsewhere(kind, document).map(({ field, goes = field }) => goes);
  return gone.length === 0 ? '' : `; this also deletes ${gone.join(' and ')}`;
}

const NONE: ReadonlySet<string> = new Set();

/** The live values of the top-level fields that the configuration has, masked. */
function project(
  kind: Kind,
  document: ValueObject,
  live: JsonObject,
  { secrets = NONE, live: inClear }: Known,
): JsonObject {
  const owned = Object.entries(live).filter(([field]) => getOwn(document, field) !== undefined);
  return mask(kind.schema, Object.fromEntries(owned), { secrets, onlyOwn: true, inClear });
}

/**
 * The live values that Git has in clear: the files give the same value now, or gave it when it was last written.
 * Anything else there may be a secret of somebody else, whatever the files have.
 */
function liveInClear(
  { schema: root }: Kind,
  desired: DesiredResource,
  live: JsonObject,
  { address, applied }: Sides,
  world: World,
): InClear {
  const given = valuesInClear(desired);
  // Nearly all resources have no value with the name of a secret.
  let both: { readonly wanted: Leaves['leaves']; readonly found: Leaves['leaves'] } | undefined;
  return (text) => {
    both ??= {
      wanted: listLeaves(root, desired.document).leaves,
      found: listLeaves(root, live).leaves,
    };
    const { wanted, found } = both;
    const path = toPath(text);
    const at = path.findIndex((_, index) => found.has(formatPath(path.slice(0, index + 1))));
    const leaf = at < 0 ? undefined : found.get(formatPath(path.slice(0, at + 1)));
    if (leaf === undefined) return false;
    const value = normalise(leaf.schema, leaf.value);
    const own = wanted.get(leaf.text);
    // A value that is a secret now is none that may be shown.
    if (own?.value instanceof Secret) return false;
    const isGiven = own !== undefined && isLeafInClear(own, given);
    if (isGiven && isSameJson(normalise(own.schema, own.value), value)) return true;
    return wasInClear(getOwn(applied, leaf.text), value, address, leaf.text, world);
  };
}
