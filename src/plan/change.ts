import { matchesAddress } from '../core/address.ts';
import { formatPath, type Path, parsePath } from '../core/path.ts';
import type { Change, PlanDocument, PlanOptions } from '../core/plan-document.ts';
import { mask } from '../core/redact.ts';
import { namesField } from '../core/schema.ts';
import { Blob, type JsonObject, type ValueObject } from '../core/value.ts';
import { twinsOn } from '../diff/along.ts';
import { compare, isWritten, type LeafChange } from '../diff/compare.ts';
import { leafChange } from '../diff/finding.ts';
import { knownSecrets } from '../diff/known-secrets.ts';
import { fieldSchema, leavesOf } from '../diff/leaves.ts';
import type { Sides, World } from '../diff/world.ts';
import { facetsSetUpElsewhere, type Kind } from '../kinds/kind.ts';
import { nextRequest } from '../kinds/making.ts';
import { base, unchanged } from './base.ts';
import type { Identity } from './identify.ts';
import { livePin, pinOf } from './pin.ts';
import type { LiveResource } from './reader.ts';
import { foundBy, twinsReason, updateReason } from './reasons.ts';
import { partTold, recall } from './recall.ts';
import { goingWith, planReplace, type Shape } from './replace.ts';
import { secretTravels } from './secrets.ts';
import { fieldChange, project } from './show.ts';
import { createSteps, ownFields, updateSteps } from './steps.ts';
import { type Support, unreadReason } from './unsupported.ts';

/** What planning one resource needs beside the resource. */
type ChangeContext = {
  readonly world: World;
  readonly options: PlanOptions;
  readonly now: Date;
  readonly purpose: PlanDocument['purpose'];
  /** Whether a rollback goes back to a snapshot. */
  readonly isToSnapshot: boolean;
  /** The history entry that a rollback would revert to. */
  readonly version: number | undefined;
  /** Whether it is let go of where it is no longer configured. */
  readonly isForgotten: boolean;
  readonly support: Support;
};

/** Plans one resource: the change, and what the comparison found, for the caller to remember. */
export function planChange(
  identity: Identity,
  live: LiveResource | undefined,
  context: ChangeContext,
): { readonly change: Change; readonly leaves: readonly LeafChange[] } {
  const { desired } = identity;
  if (desired === undefined) return { change: planAbsence(identity, live, context), leaves: [] };
  if (live === undefined) return { change: planCreate(identity, desired.document), leaves: [] };
  return planPresence(identity, desired.document, live, context);
}

/** What a comparison is told about one resource. */
export function sidesOf(identity: Identity, options: PlanOptions): Sides {
  const { address, desired, recorded, by } = identity;
  return {
    address,
    applied: by === 'state' ? recorded?.leaves : undefined,
    ignore: (desired?.lifecycle.ignore ?? [])
      .map(parsePath)
      .filter((path): path is Path => path !== undefined),
    isPartial: desired?.isPartial ?? false,
    isExact: desired?.isExact ?? false,
    resend: isResent(address, options),
  };
}

/** Whether the secrets of an address are to be sent again: all of them, or those of a fleet or a block. */
export function isResent(address: string, { resend_secrets: resend }: PlanOptions): boolean {
  return typeof resend === 'boolean'
    ? resend
    : resend.some((pattern) => matchesAddress(pattern, address));
}

function planCreate(identity: Identity, document: ValueObject): Change {
  const { kind, missing, isListed } = identity;
  const { leaves } = leavesOf(kind.schema, document);
  const fields = [...leaves.values()]
    .filter((leaf) => leaf.value !== null)
    .map((leaf) => fieldChange(kind, leafChange(leaf, undefined, leaf.value, 'changed')));
  const operations = createSteps(kind, Object.keys(document));
  const [absent] = facetsSetUpElsewhere(kind, document);
  return {
    ...base(identity),
    action: 'create',
    verdict: absent ? 'refused' : 'ok',
    reason: absent
      ? `${absent.field} cannot be set while it is created: ${absent.absent}`
      : missing
        ? `${missing}, which the state names, is gone from the platform`
        : isListed
          ? 'not on the platform yet'
          : 'not there as far as is known, as there is no list to look in',
    before: null,
    after: mask(kind.schema, document, { onlyOwn: true }),
    fields,
    ...travelling({ fields, operations }, { kind, document, live: undefined, known: NONE }),
    pin: null,
    operations,
  };
}

function planPresence(
  identity: Identity,
  document: ValueObject,
  live: LiveResource,
  context: ChangeContext,
): { readonly change: Change; readonly leaves: readonly LeafChange[] } {
  const { kind, by, recorded, movedFrom } = identity;
  const { world, options } = context;
  const compared = sidesOf(identity, options);
  const { told, untold } = partTold(document, live);
  const recalled = recall(kind, untold, compared, world);
  const found = [...compare(kind.schema, told, live.document, compared, world), ...recalled];
  const written = found.filter(isWritten);
  const names = [...new Set(written.map(({ path }) => path[0] ?? ''))];
  const twins = planTwins(kind, live, written);
  const due = names.length === 0 ? dueReason(identity, live, document, context) : undefined;
  const replaced = names.filter((name) => isImmutable(kind, name));
  const shape: Shape =
    recalled.length > 0
      ? planUnread(identity, recalled, context)
      : replaced.length > 0
        ? planReplace(kind, document, live, replaced)
        : twins !== undefined
          ? twins
          : names.length > 0 || due !== undefined
            ? planUpdate(identity, live, written, names, due, context)
            : {
                action: by === 'state' && movedFrom === undefined ? 'no_op' : 'adopt',
                verdict: 'ok',
                reason: sameReason(identity),
                operations: [],
              };
  const isMade = shape.action === 'replace' && shape.operations.length > 0;
  const leaves = isMade ? withHidden(kind, document, found) : found;
  // Most of a fleet, of which nothing else is asked.
  if (shape.action === 'no_op') return { change: unchanged(identity, live.id), leaves };
  const secrets = knownSecrets(kind.schema, document, recorded?.leaves);
  const fields = leaves.map((leaf) => fieldChange(kind, leaf, secrets));
  const sides = { kind, document, live: live.document, known: secrets };
  const change: Change = {
    ...base(identity),
    id: live.id,
    ...shape,
    before: project(kind, document, live.document, secrets),
    after: mask(kind.schema, document, { onlyOwn: true }),
    fields,
    ...travelling({ fields, operations: shape.operations }, sides),
    pin: livePin(kind, live, null),
  };
  return { change, leaves };
}

/** Whether another value takes another resource; of a kind that is never updated, also what the schema does not know. */
function isImmutable(kind: Kind, field: string): boolean {
  const isNew = !namesField(kind.schema, field) && kind.update === undefined && kind.refusesTwins;
  return isNew || fieldSchema(kind.schema, field)['x-immutable'] === true;
}

/** What is made anew is sent its secrets and files too, changed or not. */
function withHidden(
  kind: Kind,
  document: ValueObject,
  found: readonly LeafChange[],
): readonly LeafChange[] {
  const seen = new Set(found.filter(isWritten).map(({ text }) => text));
  const hidden = [...leavesOf(kind.schema, document).leaves.values()].filter(
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

const NONE: ReadonlySet<string> = new Set();

function travelling(...given: Parameters<typeof secretTravels>): Pick<Change, 'secrets'> {
  const secrets = secretTravels(...given);
  return secrets.length === 0 ? {} : { secrets };
}

/** Why a resource that equals the configuration is nothing to do, or taken over. */
function sameReason({ by, movedFrom, knownAs }: Identity): string {
  const before = movedFrom ?? knownAs;
  if (before !== undefined) return `it was ${before} before`;
  return by === 'state' ? 'nothing to change' : foundBy(by);
}

/** Why a resource that equals the configuration is written all the same. */
function dueReason(
  { kind, by, recorded, desired }: Identity,
  live: LiveResource,
  document: ValueObject,
  { now }: ChangeContext,
): string | undefined {
  // What a rollback puts back is not made anew: nobody keeps files.
  const answered = by === 'state' ? recorded?.unfinished : desired?.isPartial ? undefined : [];
  const lack = answered === undefined ? undefined : kind.lacking?.(live.record);
  if (lack !== undefined && answered !== undefined) {
    const next = nextRequest(kind, live.record, answered);
    return by === 'state'
      ? `a run ended before all of it was there: ${next?.resumed}`
      : `${foundBy(by)}; ${lack}: unless the platform is still at work on it, ${next?.resumed}`;
  }
  return kind.due?.(live.record, plainTexts(document), now);
}

/** What cannot be read is not written either: nobody could say what that would undo, or whether it took. */
function planUnread(
  { kind, recorded }: Identity,
  recalled: readonly LeafChange[],
  { support }: ChangeContext,
): Shape {
  const names = recalled.map(({ text }) => text).join(', ');
  const what = recorded === undefined ? `what is live is unknown` : `${names} cannot be compared`;
  const reason = `${what}: ${unreadReason(kind, support)}`;
  return { action: 'update', verdict: 'unsupported', reason, operations: [] };
}

/** What differs about elements that nobody can tell apart is not written: it might go to the wrong one, or delete one. */
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

function planUpdate(
  identity: Identity,
  live: LiveResource,
  written: readonly LeafChange[],
  names: readonly string[],
  due: string | undefined,
  context: ChangeContext,
): Shape {
  const { kind, by } = identity;
  const absent = kind.facets.find(
    (facet) => names.includes(facet.field) && live.document[facet.field] === undefined,
  );
  if (absent) {
    return { action: 'update', verdict: 'refused', reason: absent.absent, operations: [] };
  }
  const operations =
    names.length === 0
      ? [{ step: 'again' as const, fields: ownFields(kind, identity.desired?.document ?? {}) }]
      : updateSteps(kind, names, context.version);
  const conflicts = written.filter(({ cause }) => cause === 'conflict');
  const isRefused = conflicts.length > 0 && !context.options.accept_conflicts;
  return {
    action: 'update',
    verdict: isRefused ? 'refused' : 'ok',
    reason: due ?? updateReason(by, written, context.purpose, context.isToSnapshot),
    operations,
  };
}

/** The document's plain texts, for the rules of a kind that look at them. */
export function plainTexts(document: ValueObject): JsonObject {
  return Object.fromEntries(
    Object.entries(document).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

/** A resource that the configuration no longer mentions. */
function planAbsence(
  identity: Identity,
  live: LiveResource | undefined,
  { purpose, isToSnapshot, support, isForgotten }: ChangeContext,
): Change {
  const { kind } = identity;
  const common = { ...base(identity), before: null, after: null, fields: [], pin: null };
  if (live === undefined) {
    const reason = 'no longer configured, and gone from the platform';
    return { ...common, action: 'forget', verdict: 'ok', reason, operations: [] };
  }
  if (kind.delete === undefined || isForgotten) {
    const reason = isForgotten
      ? 'forget names it: it stays on the platform as it is'
      : 'no longer configured; it stays on the platform, which has no endpoint that deletes it';
    return { ...common, id: live.id, action: 'forget', verdict: 'ok', reason, operations: [] };
  }
  if (live.extent === 'nothing') {
    const reason = `no longer configured, and what is live is unknown: ${unreadReason(kind, support)}`;
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
      ? 'made since the snapshot'
      : purpose === 'rollback'
        ? 'the run made it'
        : `no longer configured${goingWith(kind, live)}`,
    before: project(kind, live.document, live.document, secrets),
    pin: pinOf(kind, live, null),
    operations: [{ step: 'delete', fields: [] }],
  };
}
