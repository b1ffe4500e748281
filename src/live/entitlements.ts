import type { Read } from '../core/documents.generated.ts';
import { isObject, type Json, type JsonObject, textOrNull } from '../core/value.ts';
import { buildFeaturesCall, catalogueNamed } from '../kinds/catalogues.ts';
import type { Call } from '../kinds/kind.ts';
import { listIn, recordIn } from '../kinds/making.ts';
import type { Answer, Entitlements, KeyLevel, Lock } from '../plan/reader.ts';
import type { Client } from '../platform/client.ts';
import { getEndpoint } from '../platform/endpoints.ts';
import { ApiError, describeApiError } from '../platform/errors.ts';

/** Entitlements over a client. `me` is what `/v1/me` answered, or is going to, where it was asked already. */
export function createEntitlements(
  client: Pick<Client, 'call'>,
  me?: Json | Promise<Json>,
): Entitlements {
  const asked = new Map<string, Promise<Answer<Json>>>();

  function ask(call: Call): Promise<Answer<Json>> {
    const key = JSON.stringify(call);
    const asking = asked.get(key) ?? readAnswer(client, call);
    asked.set(key, asking);
    return asking;
  }

  return {
    locks: async (organization) => mapAnswer(await ask(buildFeaturesCall(organization)), locksIn),
    offers: async (catalogue, organization) => {
      const { list, isOrganizations } = catalogueNamed(catalogue);
      return mapAnswer(await ask(list(isOrganizations ? organization : null)), idsIn);
    },
    about: async (call) => mapAnswer(await ask(call), recordIn),
    closedTo: async (operation) => {
      if (getEndpoint(operation).scoped !== 'closed') return { type: 'answered', value: undefined };
      const known: Answer<Json> =
        me === undefined
          ? await ask({ operation: 'getMe' })
          : { type: 'answered', value: await me };
      return mapAnswer(known, (answer) => levelIn(recordIn(answer)));
    },
  };
}

/** A platform that does not say is no obstacle: the write itself would be refused. */
async function readAnswer(client: Pick<Client, 'call'>, call: Call): Promise<Answer<Json>> {
  try {
    return { type: 'answered', value: await client.call(call) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 401) throw error;
    return { type: 'unanswered', why: describeApiError(error) };
  }
}

function mapAnswer<T>(answer: Answer<Json>, read: (value: Json) => T): Answer<T> {
  return answer.type === 'unanswered' ? answer : { type: 'answered', value: read(answer.value) };
}

function locksIn(answer: Json): ReadonlyMap<string, Lock> {
  return new Map(
    listIn(answer).flatMap(({ key, state, locked_scope: scope, decided_by: by }) =>
      typeof key === 'string' && state === 'locked'
        ? [[key, { scope: textOrNull(scope), isLegacy: by === 'legacy_column' }] as const]
        : [],
    ),
  );
}

function idsIn(answer: Json): ReadonlySet<string> {
  return new Set(listIn(answer).flatMap(({ id }) => (typeof id === 'string' ? [id] : [])));
}

const LEVELS: readonly KeyLevel[] = ['organization', 'reseller'];

/**
 * Finds the level that a key is limited to. The names of the members that say so are not shown (Authentication 5), but
 * a scope is always a reseller or an organization: so these words are looked for beside `account_id`.
 */
function levelIn({ account_id: _, ...beside }: JsonObject): KeyLevel | undefined {
  return LEVELS.find((level) => names(beside, level, false));
}

/** True if an id of that level is there, or the level's name where `isScope` says that a scope is meant. */
function names(value: Json, level: KeyLevel, isScope: boolean): boolean {
  if (!isObject(value)) return isScope && value === level;
  return Object.entries(value).some(
    ([key, member]) =>
      (isId(key, level) && typeof member === 'string' && member !== '') ||
      names(member, level, isScope || SCOPE.test(key)),
  );
}

/** A scope is chosen under Access. */
const SCOPE = /scope|access/i;

/** `organization_id`, `organizationId`, `scope_organization_id`. */
function isId(key: string, level: KeyLevel): boolean {
  return new RegExp(`(^|_)${level}_?id$`, 'i').test(key);
}

const DAY_MS = 86_400_000;

/** Names of the organizations, by id; none where the key may not read them. */
export async function organizationTitles(
  client: Pick<Client, 'call'>,
  now: Date,
): Promise<ReadonlyMap<string, string>> {
  const found = await readOrganizations(client, now);
  const known = found.type === 'answered' ? found.value : [];
  return new Map(known.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])));
}

/** An organization as the billing report names it; null for what it does not say. */
type NamedOrganization = Omit<Read.Organizations['data'][number], 'stack_name'>;

/**
 * The organizations of the account, once each. Only the billing report lists them, and those without an agent are
 * nowhere else. Scoped keys may not read it.
 */
export async function readOrganizations(
  client: Pick<Client, 'call'>,
  now: Date,
): Promise<Answer<readonly NamedOrganization[]>> {
  const date = (at: number) => new Date(at).toISOString().slice(0, 10);
  const query = { start_date: date(now.getTime() - DAY_MS), end_date: date(now.getTime()) };
  return mapAnswer(
    await readAnswer(client, { operation: 'getBillingReport', query }),
    organizationsIn,
  );
}

function organizationsIn(report: Json): readonly NamedOrganization[] {
  const byId = new Map<string, NamedOrganization>();
  for (const row of listIn(report)) {
    const { organization_id: id, organization_name: name } = row;
    if (typeof id !== 'string' || byId.has(id)) continue;
    const { reseller_id, reseller_name } = row;
    byId.set(id, {
      id,
      name: textOrNull(name),
      reseller_id: textOrNull(reseller_id),
      reseller_name: textOrNull(reseller_name),
    });
  }
  return [...byId.values()];
}
