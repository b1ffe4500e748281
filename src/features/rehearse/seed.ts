import { formatPath, isIdentity, type Path, parsePath } from '../../core/path.ts';
import { dereference, type FieldSchema, memberSchema } from '../../core/schema.ts';
import {
  countEach,
  findFilled,
  isObject,
  isUuid,
  type Json,
  type JsonObject,
  valuesIn,
} from '../../core/value.ts';
import { placeValue, valueAt } from '../../core/walk.ts';
import { knownSecrets } from '../../diff/applied.ts';
import { kindNamed } from '../../kinds/index.ts';
import { listIn, recordIn } from '../../kinds/making.ts';
import type { KeyLevel } from '../../plan/reader.ts';
import { formatCount } from '../../render/wording.ts';
import { type Merchant, type SeedDocument, type SeedKey, TABLES } from '../../simulator/index.ts';
import type {
  AnswerRecord,
  ContentRecord,
  GapRecord,
  OrganizationRecord,
  ResourceRecord,
} from '../../snapshot/format.ts';
import type { ResourceState } from '../../state/model.ts';

/** A fleet as the simulator takes it, and what had to be made up for it. */
export type Replica = {
  readonly seed: SeedDocument;
  /** The key to use, where it is not one of the whole account. */
  readonly key: SeedKey | undefined;
  readonly copied: { readonly [kind: string]: number };
  /** Sentences, without a stop. */
  readonly filled: readonly string[];
};

export type Beside = {
  readonly account: string;
  /** Names of organizations, by id. */
  readonly organizations: { readonly [id: string]: string };
  /** Knowledge bases that the stack or its state names: some are empty. */
  readonly knowledgeBases: readonly { readonly id: string; readonly organization: string | null }[];
  readonly level: KeyLevel | undefined;
  /** Payment accounts that the platform was asked about, by organization. */
  readonly merchants: ReadonlyMap<string, Merchant>;
};

/** Makes a seed of what was read of a fleet, from the platform or from a snapshot. */
export function replicate(records: readonly ContentRecord[], beside: Beside): Replica {
  const of = <T extends ContentRecord['type']>(type: T) =>
    records.filter((one): one is Extract<ContentRecord, { type: T }> => one.type === type);
  const resources = of('resource');
  const secrets = { count: 0, resources: 0 };
  const filledIn = (one: ResourceRecord): JsonObject => {
    const { record, count } = fillSecrets(kindNamed(one.kind).schema, one.record, one.state);
    if (count > 0) {
      secrets.count += count;
      secrets.resources += 1;
    }
    return record;
  };
  const ofKind = (kind: string) => resources.filter((one) => one.kind === kind);
  const agents = ofKind('agent').map((one) => buildAgent(one, filledIn(one)));
  const lists: SeedDocument = Object.fromEntries(
    TABLES.map(({ kind: { name }, seeded }) => [
      seeded,
      name === 'agent' ? agents : ofKind(name).map((one) => owned(one, filledIn(one))),
    ]),
  );
  const unread = unreadPolicies(agents, lists.retry_policies ?? []);
  const named = listOrganizations(of('organization'), resources, beside);
  const scope = scopeIn(of('answer'), named, beside);
  const organizations = withReseller(named, scope);
  const key = scope && keyFor(scope);
  const seed: SeedDocument = {
    account_id: beside.account,
    ...(key === undefined ? {} : { keys: [key] }),
    ...withLocks(organizations, of('answer')),
    ...lists,
    retry_policies: [...(lists.retry_policies ?? []), ...unread],
    knowledge_bases: groupKnowledgeBases(ofKind('knowledge_source'), organizations, beside),
  };
  return {
    seed,
    key,
    copied: Object.fromEntries(countEach(resources.map(({ kind }) => kind))),
    filled: wordsFor({ secrets, unread: unread.length, resources, gaps: of('gap'), beside }),
  };
}

type Named = OrganizationRecord & { readonly name: string };

/** Every organization that is named anywhere: the platform lists none. */
function listOrganizations(
  recorded: readonly OrganizationRecord[],
  resources: readonly ResourceRecord[],
  { organizations: names, knowledgeBases }: Beside,
): readonly Named[] {
  const known = new Map(recorded.map((one) => [one.id, one]));
  const owners = resources.flatMap(({ record, scope }) => [
    record.organization_id,
    scope.organization_id,
  ]);
  const bases = knowledgeBases.map(({ organization }) => organization);
  const ids = [...known.keys(), ...Object.keys(names), ...owners, ...bases].flatMap(
    (id) => findFilled(id) ?? [],
  );
  return [...new Set(ids)].map((id) => ({
    type: 'organization',
    id,
    name: known.get(id)?.name ?? names[id] ?? id,
    reseller_id: known.get(id)?.reseller_id ?? null,
    reseller_name: known.get(id)?.reseller_name ?? null,
  }));
}

/** A reseller's key sees nothing but what is the reseller's, whether it may ask whose that is or not. */
function withReseller(organizations: readonly Named[], scope: Scope | undefined): readonly Named[] {
  if (scope?.level !== 'reseller') return organizations;
  return organizations.map((one) => ({ ...one, reseller_id: one.reseller_id ?? scope.id }));
}

type Chain = Pick<
  SeedDocument,
  'organizations' | 'resellers' | 'features' | 'llm_models' | 'stt_providers' | 'locks'
>;

function withLocks(organizations: readonly Named[], answers: readonly AnswerRecord[]): Chain {
  const { locksOfOrganization, locksOfReseller, ...account } = buildMatrix(answers);
  const resellers = new Map(
    organizations.flatMap(({ reseller_id: id, reseller_name: name }) =>
      id === null ? [] : [[id, name ?? id] as const],
    ),
  );
  return {
    ...account,
    resellers: [...resellers].map(([id, name]) => ({ id, name, locks: locksOfReseller(id) })),
    organizations: organizations.map(({ id, name, reseller_id: reseller }) => ({
      id,
      name,
      ...(reseller === null ? {} : { reseller_id: reseller }),
      locks: locksOfOrganization(id, reseller),
    })),
  };
}

/** An agent without what is null, which says no more than what is absent. */
function buildAgent({ facets, scope, id }: ResourceRecord, record: JsonObject) {
  const { payments } = facets;
  const filled = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
  const name = typeof filled.name === 'string' ? filled.name : id;
  const owner = filled.organization_id ?? scope.organization_id ?? '';
  const tool = isObject(payments) ? buildPayments(payments) : undefined;
  return {
    ...filled,
    id,
    name,
    organization_id: String(owner),
    ...(tool === undefined ? {} : { payments: tool }),
  };
}

/** Leaves out the limits while the tool is off: the platform returns limits then that may never have been set. */
function buildPayments({ tool_enabled: enabled, ...limits }: JsonObject) {
  if (enabled !== true) return { enabled: false };
  const filled = Object.entries(limits).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(filled), enabled: true };
}

function owned({ scope }: ResourceRecord, record: JsonObject): JsonObject {
  const owners = Object.entries(scope).filter(([, id]) => id !== '');
  return { ...record, ...Object.fromEntries(owners) };
}

function groupKnowledgeBases(
  sources: readonly ResourceRecord[],
  [first]: readonly Named[],
  { knowledgeBases }: Beside,
): NonNullable<SeedDocument['knowledge_bases']> {
  const owners = new Map<string, Json>(
    knowledgeBases.map(({ id, organization }) => [id, organization]),
  );
  for (const { record, scope } of sources) {
    const { knowledge_base_id: id } = scope;
    if (id) owners.set(id, record.organization_id ?? owners.get(id) ?? null);
  }
  return [...owners].map(([id, owner]) => ({
    id,
    name: id,
    organization_id: typeof owner === 'string' ? owner : (first?.id ?? ''),
  }));
}

/** Invents the policies that agents name and that were not read: an agent with a missing policy cannot be written. */
function unreadPolicies(
  agents: readonly JsonObject[],
  policies: readonly JsonObject[],
): readonly JsonObject[] {
  const known = new Set(policies.map(({ id }) => id));
  const named = agents
    .flatMap(({ default_retry_policy_id: id }) => findFilled(id) ?? [])
    .filter((id) => !known.has(id));
  return [...new Set(named)].map((id) => ({ id, name: `unread ${id}` }));
}

/** Returns the words for values that the platform does not return, and for their substitutes (docs/plans.md). */
function wordsFor(made: {
  readonly secrets: { readonly count: number; readonly resources: number };
  readonly unread: number;
  readonly resources: readonly ResourceRecord[];
  readonly gaps: readonly GapRecord[];
  readonly beside: Beside;
}): readonly string[] {
  const { secrets, resources, gaps, unread, beside } = made;
  const has = (kind: string) => resources.some((one) => one.kind === kind);
  const withheld = resources.reduce((sum, one) => sum + one.withheld.length, 0);
  const arms = resources.some(({ facets }) => isObject(facets.payments));
  return [
    ...(secrets.count === 0
      ? []
      : [
          `the platform returns no secrets: ${formatCount(secrets.count, 'placeholder')} in ${formatCount(secrets.resources, 'resource')} replace those that the platform may have`,
        ]),
    ...(withheld === 0
      ? []
      : [
          `the snapshot left ${formatCount(withheld, 'sensitive value')} out; they are missing in the copy`,
        ]),
    ...(has('agent') ? ['the history of each agent is one entry, with its current values'] : []),
    ...(has('knowledge_source') || has('custom_voice')
      ? [
          'documents and voice recordings are empty: the platform returns no files, so duplicates of an upload are not detected',
        ]
      : []),
    ...(arms
      ? [
          beside.merchants.size > 0
            ? 'payment accounts of organizations that were not read are assumed to be active'
            : 'payment accounts are active',
        ]
      : []),
    ...(unread === 0
      ? []
      : [
          `${formatCount(unread, 'retry policy', 'retry policies')} could not be read and is empty`,
        ]),
    ...gaps.map(({ of, why }) => `${of} could not be read: ${why}`),
    'locks come from the feature list: locks that the platform reports only on a write are not known',
    'there is no rate limit, and every write can be read at once',
  ];
}

type Scope = NonNullable<SeedKey['scope']>;

/** The key of a copy where the one of the platform is limited to a part of the account. */
function keyFor(scope: Scope): SeedKey {
  return { client_id: 'scoped-client', client_secret: 'scoped-secret', scope };
}

/**
 * Returns the scope of the key. The platform's answer about it has the id somewhere (Authentication 5, where the
 * names of its members are not shown): one that is known, or else the only other one that is there.
 */
function scopeIn(
  answers: readonly AnswerRecord[],
  organizations: readonly Named[],
  { level }: Beside,
): Scope | undefined {
  if (level === undefined) return undefined;
  const me = answers.find(({ operation }) => operation === 'getMe')?.answer ?? null;
  const known = new Set(organizations.flatMap((one) => [one.id, one.reseller_id ?? one.id]));
  const account = recordIn(me).account_id;
  const ids = valuesIn(me)
    .filter((one) => typeof one === 'string')
    .filter((text) => text !== account && text !== level);
  const id = ids.find((text) => known.has(text)) ?? ids.find((text) => isUuid(text));
  return id === undefined ? undefined : { level, id };
}

/** Stands in the copy wherever the platform holds a secret that it does not return. */
const PLACEHOLDER = 'not the secret: the platform does not return it';

type Filled = { readonly record: JsonObject; readonly count: number };

/**
 * A record with something in place of each secret that the platform may hold: members of the schema that are
 * never returned, and what the state remembers to have written. Only objects that are there are filled, so
 * that nothing gets connected which was not.
 */
function fillSecrets(root: FieldSchema, record: JsonObject, state: ResourceState | null): Filled {
  let count = 0;
  const stand = () => {
    count += 1;
    return PLACEHOLDER;
  };

  const remembered = [...knownSecrets(root, {}, state?.leaves)]
    .map(parsePath)
    .filter((path) => path !== undefined);
  // If the state knows the secrets of an object, it has no others.
  const known = new Set(remembered.map((path) => formatPath(path.slice(0, -1))));

  function fill(schema: FieldSchema, value: Json, path: Path): Json {
    if (!isObject(value)) return value;
    const own = dereference(root, schema);
    const members = Object.entries(value).map(
      ([key, member]) =>
        [key, fill(memberSchema(root, schema, key), member, [...path, key])] as const,
    );
    if (known.has(formatPath(path))) return Object.fromEntries(members);
    const missing = Object.keys(own.properties ?? {}).filter((key) => {
      const { writeOnly, 'x-secret': isSecret } = memberSchema(root, schema, key);
      return isSecret === true && writeOnly === true && (value[key] ?? null) === null;
    });
    return Object.fromEntries([...members, ...missing.map((key) => [key, stand()] as const)]);
  }

  const filled = fill(root, record, []);
  const whole = remembered.reduce(
    (one, path) => {
      const isFillable =
        isObject(valueAt(root, one, path.slice(0, -1))) &&
        (valueAt(root, one, path) ?? null) === null;
      // Lists are left as they are.
      return isFillable && !path.some(isIdentity) ? placeValue(root, one, path, stand()) : one;
    },
    isObject(filled) ? filled : record,
  );
  return { record: whole, count };
}

/** Features and models that may be used, and the owners of locks, from the platform's answers. */
type Matrix = Pick<
  SeedDocument,
  'features' | 'llm_models' | 'stt_providers' | 'feature_administration_enabled' | 'locks'
> & {
  readonly locksOfReseller: (id: string) => readonly string[];
  readonly locksOfOrganization: (id: string, reseller: string | null) => readonly string[];
};

/** A row with a text under `member`. */
type Row<M extends string> = JsonObject & { readonly [member in M]: string };

/**
 * Carries features, locks and catalogues over. A lock is placed where it was placed; one that is inherited from
 * a level which the key may not ask about is placed on the organization, where it weighs as much.
 */
function buildMatrix(answers: readonly AnswerRecord[]): Matrix {
  const rows = answers.filter(({ operation }) => operation === 'listFeatures');
  const account = rows.find((one) => one.organization_id === null && one.reseller_id === null);
  const ofAccount = new Set(lockedIn(account).map(({ key }) => key));
  const ofReseller = new Map(
    rows.flatMap((one) =>
      one.reseller_id === null ? [] : [[one.reseller_id, here(one)] as const],
    ),
  );
  const ofOrganization = new Map(rows.map((one) => [one.organization_id, lockedIn(one)]));
  const above = (reseller: string | null) =>
    new Set([...ofAccount, ...(ofReseller.get(reseller ?? '') ?? [])]);
  const models = listEntries(answers, 'listLlmModels', 'id');
  const features = listEntries(answers, 'listFeatures', 'key');
  const speech = listEntries(answers, 'listSttProviders', 'id');
  return {
    ...(features.length === 0 ? {} : { features: features.map(described) }),
    ...(models.length === 0 ? {} : { llm_models: withLocked(models, features) }),
    ...(speech.length === 0 ? {} : { stt_providers: speech }),
    feature_administration_enabled: rows.every(({ answer }) => isGoverned(answer)),
    locks: [...ofAccount],
    locksOfReseller: (id) => ofReseller.get(id) ?? [],
    locksOfOrganization: (id, reseller) => {
      const known = above(reseller);
      return (ofOrganization.get(id) ?? [])
        .filter(({ key, locked_scope: scope }) => scope === 'here' || !known.has(key))
        .map(({ key }) => key);
    },
  };
}

/** While the matrix does not govern, resellers have no say and older settings lock (Features, notes). */
function isGoverned(answer: Json): boolean {
  return !isObject(answer) || answer.feature_administration_enabled !== false;
}

function lockedIn(one: AnswerRecord | undefined): readonly Row<'key'>[] {
  return listRows(one?.answer ?? null, 'key').filter(({ state }) => state === 'locked');
}

function here(one: AnswerRecord): readonly string[] {
  return lockedIn(one)
    .filter(({ locked_scope: scope }) => scope === 'here')
    .map(({ key }) => key);
}

function listRows<M extends string>(answer: Json, member: M): readonly Row<M>[] {
  return listIn(answer).filter((row): row is Row<M> => typeof row[member] === 'string');
}

/** Each row of the answers to an operation once, the last that was answered. */
function listEntries<M extends string>(
  answers: readonly AnswerRecord[],
  operation: string,
  member: M,
): readonly Row<M>[] {
  const matching = answers.filter((one) => one.operation === operation);
  const rows = matching.flatMap(({ answer }) => listRows(answer, member));
  return [...new Map(rows.map((row) => [row[member], row])).values()];
}

function described({ key, name, description, category }: Row<'key'>) {
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : '');
  return { key, name: text(name), description: text(description), category: text(category) };
}

/** A model that is locked for everybody who was asked about is in no list of models, and is there all the same. */
function withLocked(
  models: readonly Row<'id'>[],
  features: readonly Row<'key'>[],
): readonly Row<'id'>[] {
  const known = new Set(models.map(({ id }) => id));
  const others = features
    .filter(({ key }) => key.startsWith('llm.'))
    .map(({ key }) => key.slice('llm.'.length))
    .filter((id) => !known.has(id));
  return [...models, ...others.map((id) => ({ id, name: id }))];
}
