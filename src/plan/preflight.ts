import type { Address } from '../core/address.ts';
import type { DesiredResource } from '../core/desired.ts';
import { unreachable } from '../core/errors.ts';
import type { Change, Note } from '../core/plan-document.ts';
import { catalogueNamed } from '../kinds/catalogues.ts';
import { kindNamed } from '../kinds/index.ts';
import { type Demand, demandsOf, type Writing } from './demands.ts';
import { scopeOf } from './natural-key.ts';
import { writesOf } from './operations.ts';
import type { Reader } from './reader.ts';
import {
  foreignRefusal,
  keyRefusal,
  type LockPlace,
  likelyRefusal,
  lockRefusal,
  offerRefusal,
  ownerUnknown,
  placeOf,
  tooEarly,
  unchecked,
  type Whose,
} from './refusals.ts';
import type { Lock, Terms } from './terms.ts';

/** Whom preflight asks, and what it knows of the stack. */
export type PreflightContext = {
  readonly reader: Pick<Reader, 'list'>;
  readonly terms: Terms;
  /** Names of organizations, by id. */
  readonly organizations: { readonly [id: string]: string };
  /** The organization that a resource of the stack belongs to; undefined where it belongs to none. */
  readonly ownerOf: (address: Address) => string | undefined;
  /** The organization of all resources of the stack, where they have but one. */
  readonly likelyOwner: string | undefined;
};

/** Whose the resources of a stack are. */
export function ownersOf(
  desired: readonly DesiredResource[],
): Pick<PreflightContext, 'ownerOf' | 'likelyOwner'> {
  const owners = new Map(
    desired.flatMap(({ address, document: { organization_id: owner } }) =>
      typeof owner === 'string' ? [[address, owner] as const] : [],
    ),
  );
  const [first, ...others] = new Set(owners.values());
  return {
    ownerOf: (address) => owners.get(address),
    likelyOwner: others.length === 0 ? first : undefined,
  };
}

/** What the platform would object to, and what it does not say. */
export type Findings = {
  readonly refusals: readonly string[];
  readonly notes: readonly Note[];
};

const NOTHING: Findings = { refusals: [], notes: [] };

/** Gives a change that the platform would refuse its verdict, with every reason (DESIGN §4.7). */
export async function preflight(
  change: Change,
  writing: Omit<Writing, 'kind' | 'operations'>,
  context: PreflightContext,
): Promise<{ readonly change: Change; readonly notes: readonly Note[] }> {
  if (change.verdict !== 'ok') return { change, notes: [] };
  const { refusals, notes } = await findRefusals(change, writing, context);
  if (refusals.length === 0) return { change, notes };
  const reason = [change.reason, ...refusals].join('; ');
  return { change: { ...change, verdict: 'refused', reason }, notes };
}

/** Asks the platform what it would object to in a change. A change that needs nothing asks nothing. */
export async function findRefusals(
  change: Change,
  written: Omit<Writing, 'kind' | 'operations'>,
  context: PreflightContext,
): Promise<Findings> {
  const kind = kindNamed(change.kind);
  const writing: Writing = { ...written, kind, operations: change.operations };
  const demands = demandsOf(writing);
  const id = demands.length === 0 ? null : await organizationOf(change, writing, context);
  const subject: Subject = { ...context, change, organization: id, whose: whoseOf(id, context) };
  // What a lock refuses is told by the lock: what else is missing there can wait.
  const [first, then] = [demands.filter(isPlain), demands.filter((one) => !isPlain(one))];
  const found = await Promise.all([
    ...writesOf(change, kind).map((operation) => judgeOperation(operation, subject)),
    ...first.map((demand) => judge(demand, subject)),
  ]);
  if (found.every(({ refusals }) => refusals.length === 0)) {
    found.push(...(await Promise.all(then.map((demand) => judge(demand, subject)))));
  }
  return {
    refusals: [...new Set(found.flatMap(({ refusals }) => refusals))],
    notes: found.flatMap(({ notes }) => notes),
  };
}

function isPlain({ type }: Demand): boolean {
  return type !== 'readiness';
}

type Subject = PreflightContext & {
  readonly change: Change;
  /** Null: there is none, or it is not known. Then only what the account says holds for sure. */
  readonly organization: string | null;
  readonly whose: Whose;
};

function whoseOf(id: string | null, { organizations }: PreflightContext): Whose {
  return { organization: id === null ? undefined : (organizations[id] ?? id) };
}

/** What does not say whose it is belongs to whom its neighbours in the list belong to. */
async function organizationOf(
  { organization_id: own }: Change,
  { kind, document, live }: Writing,
  { reader }: PreflightContext,
): Promise<string | null> {
  if (own !== null) return own;
  if (typeof live.organization_id === 'string') return live.organization_id;
  const listed = (await reader.list(kind, scopeOf(kind, document))) ?? [];
  const owner = listed.find(({ record }) => typeof record.organization_id === 'string');
  return owner === undefined ? null : String(owner.record.organization_id);
}

async function judgeOperation(operation: string, { terms }: Subject): Promise<Findings> {
  const level = await terms.closedTo(operation);
  if (level.type === 'untold') return untold('what the key may do', level.why);
  return level.value === undefined ? NOTHING : refused(keyRefusal(operation, level.value));
}

function judge(demand: Demand, subject: Subject): Promise<Findings> | Findings {
  switch (demand.type) {
    case 'feature':
      return judgeFeature(demand, subject);
    case 'feature_of_id':
      return judgeId(demand, subject);
    case 'reference':
      return judgeReference(demand, subject);
    case 'offer':
      return judgeOffer(demand, subject);
    case 'readiness':
      return judgeReadiness(demand, subject);
    default:
      return unreachable(demand);
  }
}

type FeatureDemand = Extract<Demand, { type: 'feature' | 'feature_of_id' }>;

async function judgeFeature(demand: FeatureDemand, subject: Subject): Promise<Findings> {
  const { terms, organization, whose } = subject;
  const whom =
    whose.organization === undefined ? 'the account' : `organization ${whose.organization}`;
  const locks = await terms.locks(organization);
  if (locks.type === 'untold') return untold(`what is locked for ${whom}`, locks.why);
  const lock = locks.value.get(demand.feature);
  if (lock === undefined) return organization === null ? judgeLikely(demand, subject) : NOTHING;
  const place = await findPlace(demand.feature, lock, organization, terms);
  return refused(lockRefusal(demand, lock, place, whose));
}

/** Where nobody says whose a resource is, the stack's only organization is likely, and no proof. */
async function judgeLikely(demand: FeatureDemand, subject: Subject): Promise<Findings> {
  const { change, terms, likelyOwner, organizations } = subject;
  if (likelyOwner === undefined) return noted(change, 'info', ownerUnknown(demand));
  const locks = await terms.locks(likelyOwner);
  if (locks.type === 'untold' || !locks.value.has(demand.feature)) return NOTHING;
  const name = organizations[likelyOwner] ?? likelyOwner;
  return noted(change, 'warning', likelyRefusal(demand, name));
}

/** An inherited lock is the account's if the account says so, and a reseller's otherwise. */
async function findPlace(
  feature: string,
  lock: Lock,
  organization: string | null,
  terms: Terms,
): Promise<LockPlace> {
  if (organization === null) return 'account';
  if (lock.scope !== 'inherited') return placeOf(lock, undefined);
  const above = await terms.locks(null);
  return placeOf(lock, above.type === 'told' ? above.value.has(feature) : undefined);
}

/** An id that is not in the list is one of the platform's own, which no lock concerns. */
async function judgeId(
  demand: Extract<Demand, { type: 'feature_of_id' }>,
  subject: Subject,
): Promise<Findings> {
  const { organization, reader } = subject;
  const kind = kindNamed(demand.kind);
  const scope = Object.fromEntries(kind.scope.map((field) => [field, organization ?? '']));
  const listed = await reader.list(kind, scope);
  const isOne = listed?.some(({ id }) => id === demand.id) === true;
  return isOne ? judgeFeature(demand, subject) : NOTHING;
}

function judgeReference(
  demand: Extract<Demand, { type: 'reference' }>,
  { ownerOf, organization, organizations, whose }: Subject,
): Findings {
  const owner = ownerOf(demand.address);
  if (owner === undefined || organization === null || owner === organization) return NOTHING;
  return refused(foreignRefusal(demand, organizations[owner] ?? owner, whose));
}

async function judgeOffer(
  demand: Extract<Demand, { type: 'offer' }>,
  { terms, organization, whose }: Subject,
): Promise<Findings> {
  const offered = await terms.offers(demand.catalogue, organization);
  if (offered.type === 'untold') {
    return untold(`whether there is such a ${catalogueNamed(demand.catalogue).noun}`, offered.why);
  }
  return offered.value.has(demand.value)
    ? NOTHING
    : refused(offerRefusal(demand, offered.value, whose));
}

async function judgeReadiness(
  demand: Extract<Demand, { type: 'readiness' }>,
  subject: Subject,
): Promise<Findings> {
  const { facet, path } = demand;
  const { terms, change } = subject;
  const { readiness } = facet;
  const { address, id, operations } = change;
  if (readiness === undefined) return NOTHING;
  if (id === null || operations.some(({ step }) => step === 'create')) {
    return noted(change, 'info', tooEarly(path));
  }
  const answer = await terms.about(readiness.ask(id));
  if (answer.type === 'untold') return untold(`whether ${address} is ready for it`, answer.why);
  const before = operations.filter(({ step }) => step !== 'facet').flatMap(({ fields }) => fields);
  const why = readiness.refusal(answer.value, new Set(before));
  return why === undefined ? NOTHING : refused(`${path}: ${why}`);
}

function refused(reason: string): Findings {
  return { refusals: [reason], notes: [] };
}

function noted({ address }: Change, severity: Note['severity'], message: string): Findings {
  return { refusals: [], notes: [{ severity, address, message }] };
}

function untold(question: string, why: string): Findings {
  const message = unchecked(question, why);
  return { refusals: [], notes: [{ severity: 'warning', address: null, message }] };
}

/** The same is not said twice of what many changes asked. */
export function distinctNotes(notes: readonly Note[]): readonly Note[] {
  return [...new Map(notes.map((note) => [`${note.address} ${note.message}`, note])).values()];
}
