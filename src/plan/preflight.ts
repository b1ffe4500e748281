import { type Address, nameInWords } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { formatFirst, unreachable } from '../core/errors.ts';
import { editDistance } from '../core/nearest.ts';
import { formatPath, overlaps, type Path, toPath } from '../core/path.ts';
import type { Change, Note, PlannedOperation } from '../core/plan-document.ts';
import type { FieldSchema } from '../core/schema.ts';
import { isList, type JsonObject, Ref, type Value, type ValueObject } from '../core/value.ts';
import { ANY_KIND, idValuesIn, placeValue, schemasAlong, valueAt } from '../core/walk.ts';
import { isWritten, type LeafChange } from '../diff/compare.ts';
import { listLeaves } from '../diff/leaves.ts';
import { catalogueNamed } from '../kinds/catalogues.ts';
import { kindNamed, kinds } from '../kinds/index.ts';
import type { Kind, Readiness, Scope } from '../kinds/kind.ts';
import { findRecorded } from './identify.ts';
import { getScope, listKnown } from './natural-key.ts';
import type { Entitlements, KeyLevel, Lock, Reader } from './reader.ts';
import { listWrites } from './steps.ts';

/** Finds the place of a resource that a state, a receipt or a snapshot has; undefined if none has it. */
export type FindFormer = (
  kind: string,
  id: string,
) => Promise<{ readonly scope: Scope } | undefined>;

/** Whom preflight asks, and what it knows of the stack. */
export type PreflightContext = {
  readonly reader: Pick<Reader, 'list' | 'read'>;
  readonly entitlements: Entitlements;
  /** Names of organizations, by id. */
  readonly organizations: { readonly [id: string]: string };
  /** The organization that a resource of the stack belongs to; undefined where it belongs to none. */
  readonly findOwner: (address: Address) => string | undefined;
  /** The stack's organization, or that of all its resources, where they have but one. */
  readonly likelyOwner: string | undefined;
  /** Finds what is known of a resource that was there once. It is given where ids are put back that may be of what is gone. */
  readonly findFormer?: FindFormer;
};

/** Gives a change that the platform would refuse its verdict, with every reason (DESIGN §4.7). */
export function refuseBarred(change: Change, barred: readonly Barred[]): Change {
  if (barred.length === 0) return change;
  return { ...change, verdict: 'refused', reason: `${reasonsIn(barred)} (${change.reason})` };
}

/** Asks the platform what it would object to in a change. One that needs nothing, or is not carried out, asks nothing. */
export async function findRefusals(
  change: Change,
  written: Omit<Writing, 'kind' | 'operations'>,
  context: PreflightContext,
): Promise<{ readonly barred: readonly Barred[]; readonly notes: readonly Note[] }> {
  if (change.verdict !== 'ok') return { barred: [], notes: [] };
  const kind = kindNamed(change.kind);
  const writing: Writing = { ...written, kind, operations: change.operations };
  const requirements = listRequirements(writing).filter(
    ({ type }) => type !== 'existing' || context.findFormer !== undefined,
  );
  const id = requirements.length === 0 ? null : await findOrganization(writing, context);
  const subject: Subject = {
    ...context,
    change,
    organization: id,
    whose: describeOwner(id, context),
  };
  const calls = await Promise.all(
    listWrites(change, kind).map((operation) => checkOperation(operation, subject)),
  );
  const rights = await checkAll(requirements.filter(isRight), subject);
  const locked = new Set(rights.flatMap(({ path, why }) => (why === undefined ? [] : [path])));
  // A lock is reported once: that a catalogue leaves out the locked field too says nothing more.
  const rest = requirements.filter(
    (requirement) => !isRight(requirement) && !locked.has(requirement.path),
  );
  const found = [
    ...calls.map((finding) => ({ path: null, ...finding })),
    ...rights,
    ...(await checkAll(rest, subject)),
  ];
  return {
    barred: found.flatMap(({ path, why }) => (why === undefined ? [] : [{ path, why }])),
    notes: found.flatMap(({ note }) => note ?? []),
  };
}

/** An objection of the platform. `path` is null if it concerns the resource itself. */
export type Barred = { readonly path: string | null; readonly why: string };

/** Every reason once. */
export function reasonsIn(barred: readonly Barred[]): string {
  return [...new Set(barred.map(({ why }) => why))].join('; ');
}

/** True if it bars a path: it concerns the whole resource, or something that the path lies in or leads to. */
export function bars(barred: Barred, path: Path): boolean {
  return barred.path === null || overlaps(path, toPath(barred.path));
}

/** Finds the owners of a stack's resources. `organization`: the owner of resources that name none. */
export function findOwners(
  desired: readonly DesiredResource[],
  organization?: string,
): Pick<PreflightContext, 'findOwner' | 'likelyOwner'> {
  const owners = new Map(
    desired.flatMap(({ address, document }) => {
      const owner = ownerIn(document);
      return owner === undefined ? [] : [[address, owner] as const];
    }),
  );
  const [first, ...others] = new Set(owners.values());
  return {
    findOwner: (address) => owners.get(address),
    likelyOwner: organization ?? (others.length === 0 ? first : undefined),
  };
}

/** The same is not said twice of what many changes asked. */
export function distinctNotes(notes: readonly Note[]): readonly Note[] {
  return [...new Map(notes.map((note) => [`${note.address} ${note.message}`, note])).values()];
}

/** The change that is checked. */
type Subject = PreflightContext & {
  readonly change: Change;
  /** Null: there is none, or it is not known. Then only what the account says holds for sure. */
  readonly organization: string | null;
  readonly whose: Whose;
};

/** Why the platform would object, or what a person should know as it does not say. */
type Finding = { readonly why?: string; readonly note?: Note };

const NOTHING: Finding = {};

function checkAll(
  requirements: readonly Requirement[],
  subject: Subject,
): Promise<readonly (Finding & Pick<Requirement, 'path'>)[]> {
  return Promise.all(
    requirements.map(async (requirement) => ({
      path: requirement.path,
      ...(await checkRequirement(requirement, subject)),
    })),
  );
}

function isRight({ type }: Requirement): boolean {
  return type === 'feature' || type === 'feature_of_id';
}

function describeOwner(id: string | null, { organizations }: PreflightContext): Whose {
  return { organization: id === null ? undefined : (organizations[id] ?? id) };
}

/**
 * Finds the organization that a resource will belong to: it may move to another one. A resource that names none belongs
 * to that of its neighbours in the list, and without neighbours to the stack's organization.
 */
async function findOrganization(
  { kind, document, live }: Writing,
  { reader, likelyOwner }: PreflightContext,
): Promise<string | null> {
  const own = ownerIn(document) ?? ownerIn(live);
  if (own !== undefined) return own;
  const listed = await listKnown(reader, kind, getScope(kind, document));
  const isOwned = Object.hasOwn(kind.schema.properties ?? {}, 'organization_id');
  if (isOwned && listed?.length === 0) return likelyOwner ?? null;
  return listed?.map(({ record }) => ownerIn(record)).find((owner) => owner !== undefined) ?? null;
}

function ownerIn({ organization_id: owner }: ValueObject): string | undefined {
  return typeof owner === 'string' ? owner : undefined;
}

/** Refuses operations that the key may not call. */
async function checkOperation(operation: string, { entitlements }: Subject): Promise<Finding> {
  const level = await entitlements.closedTo(operation);
  if (level.type === 'unanswered') return unanswered('the permissions of the key', level.why);
  return level.value === undefined ? NOTHING : refused(keyMessage(operation, level.value));
}

/** Asks the platform about one requirement. */
function checkRequirement(requirement: Requirement, subject: Subject): Promise<Finding> | Finding {
  switch (requirement.type) {
    case 'feature':
      return checkFeature(requirement, subject);
    case 'feature_of_id':
      return checkId(requirement, subject);
    case 'reference':
      return checkReference(requirement, subject);
    case 'existing':
      return checkExisting(requirement, subject);
    case 'offer':
      return checkOffer(requirement, subject);
    case 'readiness':
      return checkReadiness(requirement, subject);
    default:
      return unreachable(requirement);
  }
}

type FeatureRequirement = Extract<Requirement, { type: 'feature' | 'feature_of_id' }>;

async function checkFeature(requirement: FeatureRequirement, subject: Subject): Promise<Finding> {
  const { entitlements, organization, whose } = subject;
  const whom =
    whose.organization === undefined ? 'the account' : `organization ${whose.organization}`;
  const locks = await entitlements.locks(organization);
  if (locks.type === 'unanswered') return unanswered(`the locked features of ${whom}`, locks.why);
  const lock = locks.value.get(requirement.feature);
  if (lock === undefined)
    return organization === null ? checkLikelyOwner(requirement, subject) : NOTHING;
  const place = await findPlace(requirement.feature, lock, organization, entitlements);
  return refused(lockMessage(requirement, lock, place, whose));
}

/** If the neighbours in a list do not name their organization, the stack's is likely, and no proof. */
async function checkLikelyOwner(
  requirement: FeatureRequirement,
  subject: Subject,
): Promise<Finding> {
  const { change, entitlements, likelyOwner, organizations } = subject;
  if (likelyOwner === undefined) return noted(change, 'info', ownerUnknownMessage(requirement));
  const locks = await entitlements.locks(likelyOwner);
  if (locks.type === 'unanswered' || !locks.value.has(requirement.feature)) return NOTHING;
  const name = organizations[likelyOwner] ?? likelyOwner;
  return noted(change, 'warning', likelyLockMessage(requirement, name));
}

/** An inherited lock is the account's if the account says so, and a reseller's otherwise. */
async function findPlace(
  feature: string,
  { scope }: Lock,
  organization: string | null,
  entitlements: Entitlements,
): Promise<LockPlace> {
  if (organization === null) return 'account';
  if (scope === 'here') return 'organization';
  if (scope !== 'inherited') return 'unknown';
  const above = await entitlements.locks(null);
  if (above.type === 'unanswered') return 'above';
  return above.value.has(feature) ? 'account' : 'reseller';
}

/** An id that is not in the list is one of the platform's own, which no lock concerns. */
async function checkId(
  requirement: Extract<Requirement, { type: 'feature_of_id' }>,
  subject: Subject,
): Promise<Finding> {
  const { organization, reader } = subject;
  const kind = kindNamed(requirement.kind);
  const listed = await listKnown(reader, kind, getScope(kind, { organization_id: organization }));
  const isOne = listed?.some(({ id }) => id === requirement.id) === true;
  return isOne ? checkFeature(requirement, subject) : NOTHING;
}

/**
 * A resource that is gone has an id that means nothing any more. An id that no field says the kind of, and one of a kind without a
 * read of its own that no list has, may be the platform's or another program's: there only one that was once known is
 * surely gone.
 */
async function checkExisting(
  { path, kind: name, id }: Extract<Requirement, { type: 'existing' }>,
  { organization, reader, findFormer }: Subject,
): Promise<Finding> {
  const candidates = name === ANY_KIND ? kinds : [kindNamed(name)];
  for (const kind of candidates) {
    const former = await findFormer?.(kind.name, id);
    if (former === undefined && (name === ANY_KIND || kind.get === undefined)) continue;
    const scope = former?.scope ?? getScope(kind, { organization_id: organization });
    const listed = await listKnown(reader, kind, scope);
    const isLive =
      (await findRecorded(kind, { id, scope, isUnread: false }, reader, listed)) !== undefined;
    if (!isLive && (kind.get !== undefined || listed !== undefined))
      return refused(goneMessage(path, kind.name, id));
  }
  return NOTHING;
}

function checkReference(
  requirement: Extract<Requirement, { type: 'reference' }>,
  { findOwner, organization, organizations, whose }: Subject,
): Finding {
  const owner = findOwner(requirement.address);
  if (owner === undefined || organization === null || owner === organization) return NOTHING;
  return refused(foreignMessage(requirement, organizations[owner] ?? owner, whose));
}

async function checkOffer(
  requirement: Extract<Requirement, { type: 'offer' }>,
  { entitlements, organization, whose }: Subject,
): Promise<Finding> {
  const offered = await entitlements.offers(requirement.catalogue, organization);
  if (offered.type === 'unanswered') {
    return unanswered(
      `whether this ${catalogueNamed(requirement.catalogue).noun} exists`,
      offered.why,
    );
  }
  return offered.value.has(requirement.value)
    ? NOTHING
    : refused(offerMessage(requirement, offered.value, whose));
}

async function checkReadiness(
  requirement: Extract<Requirement, { type: 'readiness' }>,
  subject: Subject,
): Promise<Finding> {
  const { readiness, path } = requirement;
  const { entitlements, change } = subject;
  const { address, id, operations } = change;
  // A resource that is made again has another id.
  if (id === null || operations.some(({ step }) => step === 'create')) {
    return noted(change, 'info', tooEarlyMessage(path));
  }
  const answer = await entitlements.about(readiness.ask(id));
  if (answer.type === 'unanswered')
    return unanswered(`whether ${address} is ready for it`, answer.why);
  const written = new Set(operations.flatMap(({ fields }) => fields));
  const why = readiness.refusal(answer.value, written);
  return why === undefined ? NOTHING : refused(`${path}: ${why}`);
}

function refused(why: string): Finding {
  return { why };
}

function noted({ address }: Change, severity: Note['severity'], message: string): Finding {
  return { note: { severity, address, message } };
}

function unanswered(question: string, why: string): Finding {
  const message = uncheckedMessage(question, why);
  return { note: { severity: 'warning', address: null, message } };
}

/** The objections to a change, in words for people: one sentence each, without a full stop. */

/** The level at which a feature is locked, as far as the platform reports it. */
type LockPlace = 'account' | 'reseller' | 'organization' | 'above' | 'unknown';

/** Whom a change concerns. */
type Whose = {
  /** Name or id; undefined: it is not known. */
  readonly organization: string | undefined;
};

function lockMessage(
  { path, feature }: FeatureRequirement,
  lock: Lock,
  place: LockPlace,
  { organization }: Whose,
): string {
  const what = path === null ? 'it needs' : `${path} needs`;
  const whom = organization === undefined ? '' : ` for organization ${organization}`;
  const legacy = lock.isLegacy ? ', by a setting older than the feature matrix' : '';
  return `${what} the feature ${feature}, which is locked${whom} ${PLACES[place]}${legacy}; have it unlocked there, or remove it from the configuration`;
}

const PLACES: { readonly [place in LockPlace]: string } = {
  account: 'at its account',
  reseller: 'at its reseller',
  organization: 'at the organization itself',
  above: 'at its reseller or account',
  unknown: 'on the platform',
};

/** The most names of a catalogue that a message lists. */
const MOST_NAMES = 10;

function offerMessage(
  { path, catalogue: name, value }: Extract<Requirement, { type: 'offer' }>,
  offered: ReadonlySet<string>,
  { organization }: Whose,
): string {
  const { noun, command, isOrganizations } = catalogueNamed(name);
  const whom =
    isOrganizations && organization !== undefined ? ` offers organization ${organization}` : ' has';
  const all = [...offered];
  const named = formatFirst(all, MOST_NAMES) || 'nothing';
  // Names of models are near to each other: only one slip is surely one.
  const close = all.find((name) => editDistance(name, value, 1) === 1);
  const instead = close === undefined ? 'choose one of' : `did you mean ${close}? They are`;
  return `${path}: the platform${whom} no ${noun} ${value}; ${instead}: ${named} (${command})`;
}

function foreignMessage(
  { path, address }: Extract<Requirement, { type: 'reference' }>,
  owner: string,
  { organization }: Whose,
): string {
  return `${path} refers to ${address}, which belongs to organization ${owner}, not to ${organization}; refer to one of its own organization`;
}

function goneMessage(path: string, kind: string, id: string): string {
  return `${path} had the ${nameInWords(kind)} ${id}, which was deleted since`;
}

function keyMessage(operation: string, level: KeyLevel): string {
  return `${operation} is closed to this key, which is limited to one ${level}; use a key of the whole account`;
}

function ownerUnknownMessage({ feature }: FeatureRequirement): string {
  return `Callsheet cannot tell whether ${feature} is locked: the platform does not say which organization this belongs to. Apply reports a refusal.`;
}

function likelyLockMessage({ feature }: FeatureRequirement, organization: string): string {
  return `${feature} is locked for organization ${organization}. The platform does not say whether this belongs to it; if so, apply is refused.`;
}

/** Says that a check must wait for the create. */
function tooEarlyMessage(path: string): string {
  return `${path} can be checked only after the create. Apply reports a refusal.`;
}

/** Says what could not be checked, once for everything that it concerns. */
function uncheckedMessage(question: string, why: string): string {
  return `Callsheet could not check ${question} before writing (${why}). Apply reports a refusal.`;
}

/** A thing that the platform must allow for a change. `path` is null if the resource itself needs it. */
export type Requirement =
  | { readonly type: 'feature'; readonly path: string | null; readonly feature: string }
  /** The feature, if the id turns out to be one of that kind. */
  | {
      readonly type: 'feature_of_id';
      readonly path: string;
      readonly feature: string;
      readonly kind: string;
      readonly id: string;
    }
  /** A resource of the stack, which must belong to the same organization. */
  | { readonly type: 'reference'; readonly path: string; readonly address: string }
  /** An id that a rollback puts back, which the platform must still have. */
  | {
      readonly type: 'existing';
      readonly path: string;
      readonly kind: string;
      readonly id: string;
    }
  | {
      readonly type: 'offer';
      readonly path: string;
      readonly catalogue: string;
      readonly value: string;
    }
  | { readonly type: 'readiness'; readonly path: string; readonly readiness: Readiness };

/** The writes to one resource. */
type Writing = {
  readonly kind: Kind;
  readonly operations: readonly PlannedOperation[];
  /** The leaves that differ. Of a resource that is made, all do. */
  readonly leaves: readonly LeafChange[];
  readonly document: { readonly [field: string]: Value };
  /** The live document; empty if there is none. */
  readonly live: JsonObject;
};

/**
 * Lists what a change needs, as the schemas say: only what it switches on or moves to another value. What is on already
 * may stay on, and switching off needs nothing (Revert, rule 2; Features, notes).
 */
export function listRequirements(writing: Writing): readonly Requirement[] {
  const { kind, operations } = writing;
  const isMade = operations.some(({ step }) => step === 'create');
  const live = isMade ? {} : writing.live;
  const leaves = isMade ? madeLeaves(writing) : writing.leaves.filter(isWritten);
  const lock = kind.schema['x-lock'];
  const isSent = operations.some(({ step }) => step !== 'delete');
  const own: readonly Requirement[] =
    lock === undefined || !isSent ? [] : [{ type: 'feature', path: null, feature: lock }];
  const all = [...own, ...leaves.flatMap((leaf) => leafRequirements(leaf, kind, live))];
  return [...new Map(all.map((requirement) => [getKey(requirement), requirement])).values()];
}

/** A leaf that comes to have another value, `after`. */
type Moved = Pick<LeafChange, 'path' | 'text' | 'schema' | 'after'>;

function madeLeaves({ kind, document }: Writing): readonly Moved[] {
  const { leaves } = listLeaves(kind.schema, document);
  return [...leaves.values()].map((leaf) => ({ ...leaf, after: leaf.value }));
}

/** Several leaves of one integration need its feature once. */
function getKey(requirement: Requirement): string {
  const { type, path } = requirement;
  return type === 'existing' ? `${type} ${path} ${requirement.id}` : `${type} ${path}`;
}

function leafRequirements(leaf: Moved, kind: Kind, live: JsonObject): readonly Requirement[] {
  if (leaf.after === undefined || leaf.after === null) return [];
  const locks = schemasAlong(kind.schema, leaf.path).flatMap((schema, index) =>
    lockRequirements({ schema, path: leaf.path.slice(0, index + 1) }, leaf, kind, live),
  );
  return [...locks, ...valueRequirements(leaf, kind, live)];
}

/** A schema on the way to a leaf, and the path that leads to it. */
type Place = { readonly schema: FieldSchema; readonly path: Path };

function lockRequirements(
  { schema, path }: Place,
  leaf: Moved,
  { schema: root }: Kind,
  live: JsonObject,
): readonly Requirement[] {
  const lock = schema['x-lock'];
  const kind = schema['x-ref'];
  const { after } = leaf;
  if (lock === undefined) return [];
  if (kind !== undefined) {
    return typeof after === 'string'
      ? [{ type: 'feature_of_id', path: leaf.text, feature: lock, kind, id: after }]
      : [{ type: 'feature', path: leaf.text, feature: lock }];
  }
  if (lock.includes('{key}')) {
    const key = leaf.path[path.length];
    if (key === undefined) return [];
    const unit = [...path, key];
    const isThere = (valueAt(root, live, unit) ?? null) !== null;
    return isThere ? [] : [feature(unit, lock.replace('{key}', key))];
  }
  if (lock.includes('{value}')) {
    return typeof after === 'string' ? [feature(path, lock.replace('{value}', after))] : [];
  }
  return switchesOn(valueAt(root, live, path), after) ? [feature(path, lock)] : [];
}

function feature(path: Path, key: string): Requirement {
  return { type: 'feature', path: formatPath(path), feature: key };
}

function valueRequirements(
  { text, after, path, schema }: Moved,
  { schema: root, facets }: Kind,
  live: JsonObject,
): readonly Requirement[] {
  const { 'x-one-of': catalogue, 'x-ref': target } = schema;
  const readiness = facets.find(({ field }) => field === path[0])?.readiness;
  return [
    ...(after instanceof Ref && target !== undefined
      ? [{ type: 'reference' as const, path: text, address: after.address }]
      : []),
    ...idsPutBack({ path, after }, root)
      .filter(({ kind }) => target === undefined || kind === target)
      .map(({ kind, id }) => ({ type: 'existing' as const, path: text, kind, id })),
    ...(catalogue !== undefined && typeof after === 'string'
      ? [{ type: 'offer' as const, path: text, catalogue, value: after }]
      : []),
    ...(schema['x-ready'] && readiness && switchesOn(valueAt(root, live, path), after)
      ? [{ type: 'readiness' as const, path: text, readiness }]
      : []),
  ];
}

/** Ids that are values of fields; those in texts stay what people wrote. */
function idsPutBack({ path, after }: Pick<Moved, 'path' | 'after'>, root: FieldSchema) {
  if (after === undefined || after === null) return [];
  const document = placeValue<Value>(root, {}, path, after, { adds: true });
  return idValuesIn(root, document);
}

/** True if something goes from off to on. Each element of a list counts by itself. */
function switchesOn(before: Value | undefined, after: Value | undefined): boolean {
  if (!isList(after)) return isOn(after) && !isOn(before);
  const had = new Set(isList(before) ? before.map(String) : []);
  return after.some((element) => !had.has(String(element)));
}

function isOn(value: Value | undefined): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}
