import type { Address } from '../core/address.ts';
import { unreachable } from '../core/errors.ts';
import type { Change, Note } from '../core/plan-document.ts';
import { catalogueNamed } from '../kinds/catalogues.ts';
import { kindNamed } from '../kinds/index.ts';
import type { Demand } from './demands.ts';
import { listKnown } from './listed.ts';
import { scopeOf } from './natural-key.ts';
import type { Reader } from './reader.ts';
import {
  foreignRefusal,
  keyRefusal,
  type LockPlace,
  likelyRefusal,
  lockRefusal,
  offerRefusal,
  ownerUnknown,
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
  /** The stack's organization, or that of all its resources, where they have but one. */
  readonly likelyOwner: string | undefined;
};

/** The change that is judged. */
export type Subject = PreflightContext & {
  readonly change: Change;
  /** Null: there is none, or it is not known. Then only what the account says holds for sure. */
  readonly organization: string | null;
  readonly whose: Whose;
};

/** What the platform would object to, and what it does not say. */
export type Findings = {
  readonly refusals: readonly string[];
  readonly notes: readonly Note[];
};

const NOTHING: Findings = { refusals: [], notes: [] };

/** What the key may not call. */
export async function judgeOperation(operation: string, { terms }: Subject): Promise<Findings> {
  const level = await terms.closedTo(operation);
  if (level.type === 'untold') return untold('what the key may do', level.why);
  return level.value === undefined ? NOTHING : refused(keyRefusal(operation, level.value));
}

/** Asks the platform about one demand. */
export function judge(demand: Demand, subject: Subject): Promise<Findings> | Findings {
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

/** Where others of a list do not say whose they are, the stack's organization is likely, and no proof. */
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
  { scope }: Lock,
  organization: string | null,
  terms: Terms,
): Promise<LockPlace> {
  if (organization === null) return 'account';
  if (scope === 'here') return 'organization';
  if (scope !== 'inherited') return 'unknown';
  const above = await terms.locks(null);
  if (above.type === 'untold') return 'above';
  return above.value.has(feature) ? 'account' : 'reseller';
}

/** An id that is not in the list is one of the platform's own, which no lock concerns. */
async function judgeId(
  demand: Extract<Demand, { type: 'feature_of_id' }>,
  subject: Subject,
): Promise<Findings> {
  const { organization, reader } = subject;
  const kind = kindNamed(demand.kind);
  const listed = await listKnown(reader, kind, scopeOf(kind, { organization_id: organization }));
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
  const { readiness, path } = demand;
  const { terms, change } = subject;
  const { address, id, operations } = change;
  // What is made anew has another id.
  if (id === null || operations.some(({ step }) => step === 'create')) {
    return noted(change, 'info', tooEarly(path));
  }
  const answer = await terms.about(readiness.ask(id));
  if (answer.type === 'untold') return untold(`whether ${address} is ready for it`, answer.why);
  const written = new Set(operations.flatMap(({ fields }) => fields));
  const why = readiness.refusal(answer.value, written);
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
