/**
 * The basis of a plan (DESIGN §5). A plan is made at one time and applied at another, and meanwhile the configuration,
 * the state and the platform go on. Each change therefore says what it was made from, and apply holds that against what
 * is there now:
 *
 * | member       | is a digest over                                                                           |
 * |--------------|--------------------------------------------------------------------------------------------|
 * | `configured` | the block of the configuration, with secrets by their source                               |
 * | `entry`      | the state's entry of the resource, except when that was last read                           |
 * | `live`       | the live values, by field: owned leaves, and all documented members of a field that goes whole |
 * | `refs`       | nothing: the ids of the resources that it refers to                                        |
 *
 * Another address, a field that the configuration does not set, a field that no schema knows and `updated_at` are not
 * among them, so they make no plan stale. An address without a change may have an entry to remember (`agreed`): the
 * state takes it over if the first two members still hold.
 */
import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { computeDigest } from '../core/digest.ts';
import type { Plan } from '../core/documents.generated.ts';
import { fieldIn, isTextBelow, isWithin, parsePaths, toPath } from '../core/path.ts';
import type { Change, PlanDocument } from '../core/plan-document.ts';
import { isEchoed } from '../core/schema.ts';
import { isObject, isSameJson, type Json, oncePer, Secret } from '../core/value.ts';
import { compareApplied } from '../diff/applied.ts';
import { type Leaves, listLeaves, normalise, type World, walkLeaves } from '../diff/leaves.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { contentIn, type RememberedPin, type ResourceState, type State } from '../state/model.ts';
import type { LiveResource } from './reader.ts';
import { keptSince, moveEntry, rememberResource } from './state-entry.ts';

export type Basis = NonNullable<Change['basis']>;

/** A resource without a change, of which the state is to remember what the plan found. */
export type Agreed = Plan.Agreed;

/** The three sources of a change: its block, the state's entry, and the live resource. */
type Sources = {
  readonly kind: Kind;
  readonly desired: DesiredResource | undefined;
  /** As the state has it, under this address or the one before. */
  readonly recorded: ResourceState | undefined;
  readonly live: LiveResource | undefined;
};

/** Says what a change was made from. */
export function buildBasis(
  change: Pick<Change, 'operations'>,
  { kind, desired, recorded, live }: Sources,
  { findId }: Pick<World, 'findId'>,
): Basis {
  const refs = (desired?.references ?? []).flatMap((address): (readonly [Address, string])[] => {
    const id = findId(address);
    return id === undefined ? [] : [[address, id]];
  });
  return {
    configured: digestConfigured(desired),
    entry: digestEntry(recorded),
    live: live === undefined ? {} : digestLive(change, kind, { desired, recorded }, live),
    ...(refs.length === 0 ? {} : { refs: Object.fromEntries(refs) }),
  };
}

/** Null where the configuration has no such resource. */
function digestConfigured(desired: DesiredResource | undefined): string | null {
  return desired === undefined ? null : digestBlock(desired);
}

/** A plan file is checked before the lease is taken, and under it. */
const digestBlock = oncePer(
  ({ document, lifecycle, isPartial, isExact = false }: DesiredResource) =>
    computeDigest({ document, lifecycle, isPartial, isExact }),
);

/** Null where the state has no such resource. A pin is left out: a later reading alone changes nothing. */
function digestEntry(recorded: ResourceState | undefined): string | null {
  return recorded === undefined ? null : digestRecorded(recorded);
}

const digestRecorded = oncePer(({ id, scope, leaves, protect, unfinished }: ResourceState) =>
  computeDigest({ id, scope, leaves, protect, unfinished }),
);

/** Digests of what is live, by field, as far as a change rests on it. */
export function digestLive(
  { operations }: Pick<Change, 'operations'>,
  { schema: root }: Kind,
  { desired, recorded }: Pick<Sources, 'desired' | 'recorded'>,
  { document, unread = {} }: Pick<LiveResource, 'document' | 'unread'>,
): Readonly<Record<string, string>> {
  const wanted = desired && listLeaves(root, desired.document);
  const lists = [...(wanted?.lists.keys() ?? [])];
  const ignore = parsePaths(desired?.lifecycle.ignore ?? []);
  const isOwned = (text: string) =>
    (wanted?.leaves.has(text) ?? Object.hasOwn(recorded?.leaves ?? {}, text)) ||
    lists.some((list) => isTextBelow(text, list)) ||
    (wanted !== undefined && isOtherShape(wanted, text));
  const isAll = operations.some(
    ({ step }) => !(step === 'update' || step === 'facet' || step === 'delete'),
  );
  const whole = new Set(operations.flatMap(({ fields }) => fields));
  const members = new Map<string, [string, Json][]>();
  walkLeaves(root, document, {
    leaf(text, given, { schema }) {
      const field = fieldIn(text);
      const isSentAlong = (isAll || whole.has(field)) && Object.keys(schema).length > 0;
      if (!isOwned(text) && !isSentAlong) return;
      if (ignore.length > 0 && isWithin(toPath(text), ignore)) return;
      const value = normalise(schema, given);
      if (value === null) return;
      members.set(field, [...(members.get(field) ?? []), [text, value]]);
    },
  });
  const digests = [...members].map(
    ([field, own]) => [field, computeDigest(own.sort(byText)).slice(...SHORT)] as const,
  );
  return Object.fromEntries([...digests, ...Object.keys(unread).map((field) => [field, UNREAD])]);
}

/** Stands for the digest of a field that the platform did not show: nothing is known to have moved in it. */
const UNREAD = '0'.repeat(16);

/** Tells whether the live value at a path has another shape than the wanted one, and is replaced with it. */
function isOtherShape({ leaves }: Leaves, text: string): boolean {
  return [...leaves.values()].some(
    (leaf) =>
      isTextBelow(leaf.text, text) || (!isObject(leaf.value) && isTextBelow(text, leaf.text)),
  );
}

/** Enough of a digest to tell two values apart: a plan has one for each field of each change. */
const SHORT = ['sha256:'.length, 'sha256:'.length + 16] as const;

function byText([one]: readonly [string, Json], [other]: readonly [string, Json]): number {
  return one < other ? -1 : 1;
}

/** Tells whether a plan was made without something of a resource that the platform did not show. */
export function isPartlyUnread({ live }: Basis): boolean {
  return Object.values(live).includes(UNREAD);
}

/** Fields of which something else is live now than a plan saw, in alphabetical order. */
export function movedFields({ live: before }: Basis, now: Basis['live']): readonly string[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(now)]);
  const isKnown = (field: string) => before[field] !== UNREAD && now[field] !== UNREAD;
  return [...fields].filter((field) => isKnown(field) && before[field] !== now[field]).sort();
}

/** Says what of a change's basis is another one by now, what is live apart; undefined: nothing. */
export function findMovedBasis(
  change: Change,
  desired: DesiredResource | undefined,
  { resources }: Pick<State, 'resources'>,
  world: World,
): string | undefined {
  const { address, basis, moved_from: prior } = change;
  const { findId } = world;
  if (basis === undefined) return `${address}: the plan does not say what it was made from`;
  const entry = entryAt(resources, address, prior);
  if (digestConfigured(desired) !== basis.configured) {
    const fields = desired === undefined ? [] : editedFields(change, desired, entry, world);
    const named = fields.length === 0 ? '' : `: ${fields.join(', ')}`;
    return `${address} was changed in the configuration since the plan${named}`;
  }
  if (digestEntry(entry) !== basis.entry)
    return `${address} was written by another run since the plan`;
  const moved = Object.entries(basis.refs ?? {}).find(([other, id]) => findId(other) !== id);
  if (moved === undefined) return undefined;
  const [other, id] = moved;
  return `${address} refers to ${other}, which was ${id} when it was planned and is ${findId(other) ?? 'gone'} now`;
}

/**
 * Fields of the configuration that are not as a plan was made from them, as far as plan and state tell: a plan lists what is
 * not as it was last written.
 */
function editedFields(
  { kind, address, fields }: Change,
  desired: DesiredResource,
  entry: ResourceState | undefined,
  world: World,
): readonly string[] {
  const planned = new Map(fields.map((field) => [field.path, field]));
  const { leaves } = listLeaves(kindNamed(kind).schema, desired.document);
  return [...leaves.values()].flatMap((leaf) => {
    const { text, value } = leaf;
    if (value instanceof Secret) return [];
    const field = planned.get(text);
    const isEdited =
      field === undefined
        ? compareApplied(leaf, entry?.leaves[text], address, world) === 'different'
        : !field.secret && !isObject(value) && !isSameJson(value, field.after);
    return isEdited ? [text] : [];
  });
}

/** Gives the state's entry under an address, or under the one that the resource had before. */
function entryAt(
  resources: State['resources'],
  address: Address,
  prior: Address | undefined,
): ResourceState | undefined {
  return resources[address] ?? (prior === undefined ? undefined : resources[prior]);
}

/** Says what the state is to remember of a resource that equals the configuration. */
export function describeAgreed(
  address: Address,
  { kind, desired, recorded, live }: Sources & { desired: DesiredResource; live: LiveResource },
  known: ResourceState | undefined,
  now: ResourceState,
  stored: ReadonlyMap<string, string>,
): Agreed {
  const { leaves } = listLeaves(kind.schema, desired.document);
  const learned = [...leaves.values()].flatMap(({ text, value }) => {
    const leaf = now.leaves[text];
    const isLearned =
      value instanceof Secret &&
      leaf !== undefined &&
      'fingerprint' in leaf &&
      !isSameJson(leaf, known?.leaves[text]);
    return isLearned ? [text] : [];
  });
  const unseen = Object.keys(desired.document).filter(
    (field) => !isEchoed(kind.schema, field, live.document),
  );
  const { id, scope, pin, created_at: created } = now;
  return {
    address,
    kind: kind.name,
    id,
    scope,
    configured: digestConfigured(desired),
    entry: digestEntry(recorded),
    pin,
    ...(learned.length === 0 ? {} : { secrets: learned }),
    ...(unseen.length === 0 ? {} : { unseen }),
    ...(stored.size === 0 ? {} : { stored: Object.fromEntries(stored) }),
    ...(known !== undefined || created === undefined ? {} : { created_at: created }),
    ...(isSameJson({ ...now, pin: null }, { ...recorded, pin: null })
      ? { is_read_again: true }
      : {}),
  };
}

/** The configuration and the state of now, which a plan is compared with. */
type Now = {
  readonly desired: ReadonlyMap<Address, DesiredResource>;
  readonly state: Pick<State, 'resources' | 'let_go'>;
};

/**
 * Gives what the state is to remember by a plan, by address: made from the configuration and the state of now, where both
 * are still what the plan was made from. `isGiven`: the plan was made by another command. A secret that was compared with
 * what is live may be another one by now, so the next plan reads such a resource again.
 */
export function recallAgreed(
  { agreed = [], changes }: Pick<PlanDocument, 'agreed' | 'changes'>,
  { desired, state }: Now,
  world: World,
  isGiven: boolean,
): ReadonlyMap<Address, ResourceState> {
  const { resources } = state;
  const priors = new Map(changes.map(({ address, moved_from: prior }) => [address, prior]));
  return new Map(
    agreed.flatMap((one): (readonly [Address, ResourceState])[] => {
      const { address, id, scope, secrets = [], unseen = [], created_at: created } = one;
      const stored = new Map(Object.entries(one.stored ?? {}));
      const wanted = desired.get(address);
      const prior = priors.get(address);
      const entry = entryAt(resources, address, prior);
      const isSame =
        digestConfigured(wanted) === one.configured && digestEntry(entry) === one.entry;
      if (!isSame || wanted === undefined) return [];
      const kind = kindNamed(one.kind);
      const isMoved =
        entry !== undefined && resources[address] === undefined && prior !== undefined;
      const recorded = isMoved ? moveEntry(kind, wanted, entry, prior, world) : entry;
      const learned = new Set(secrets);
      const seen = Object.keys(wanted.document).filter((field) => !unseen.includes(field));
      const at = {
        id,
        scope,
        pin: isGiven && learned.size > 0 ? withoutCertainty(one.pin) : one.pin,
        document: Object.fromEntries(seen.map((field) => [field, null])),
        ...(created === undefined ? {} : { created_at: created }),
      };
      const compared: World = {
        ...world,
        findContent: contentIn(state),
        findSecret: (source, path) =>
          learned.has(path) ? world.findSecret(source, path) : undefined,
      };
      const known = recorded?.id === id ? recorded : undefined;
      const remembered = rememberResource(kind, wanted, at, known, new Set(), compared, stored);
      // The pin stays where the resource has edits that are kept.
      const isKept = known !== undefined && isSameJson(one.pin, known.pin);
      return [[address, isKept ? { ...remembered, ...keptSince(known) } : remembered]];
    }),
  );
}

function withoutCertainty(pin: RememberedPin | null): RememberedPin | null {
  if (pin === null) return null;
  const { certain: _, ...rest } = pin;
  return rest;
}
