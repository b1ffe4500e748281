import { isObject, type Json, type JsonObject, objectsIn } from '../core/value.ts';
import { editedRecord, NEW_AGENT } from './agent-write.ts';
import { type CallBook, createCall } from './calls/call.ts';
import { countCalls, openBook } from './calls/callers.ts';
import type { Offers } from './catalogue.ts';
import type { Seed } from './documents.generated.ts';
import { recordHistory } from './history.ts';
import { without } from './json.ts';
import type { Platform } from './platform.ts';
import { plantRecord } from './rest.ts';
import schema from './seed.schema.json' with { type: 'json' };
import type { Agent, Merchant, Organization } from './store.ts';
import { RESTS, type RestSection, TABLES } from './tables.ts';
import { ajv, problemsIn, readDocument, wrongDocument } from './validation.ts';

/** Records of an account at its start, as the platform returns them, with their secrets. */
export type SeedDocument = { readonly [section in RestSection]?: readonly JsonObject[] } & Omit<
  Seed.Document,
  keyof OpenSections
> &
  OpenSections;

/** Lists whose records have more than the schema names. */
type OpenSections = Offers & {
  readonly agents?: readonly SeedAgent[];
  readonly sources?: readonly JsonObject[];
  readonly custom_voices?: readonly JsonObject[];
};

export type SeedKey = Seed.Key;
export type SeedOrganization = Seed.Organization;
/**
 * A record, beside it whether the API may write to the agent, what its payment tool was set to, what people
 * changed since it was made, and whether it is gone and only its calls and its history are left.
 */
export type SeedAgent = JsonObject & Seed.Agent;

const validate = ajv.compile<SeedDocument>({
  ...schema,
  properties: {
    ...schema.properties,
    ...Object.fromEntries(RESTS.map(({ section, key }) => [section, getSeedList(key)])),
  },
});

/** The schema of a list whose records are known by those fields. */
function getSeedList(key: readonly string[]) {
  const fields = key.map((name) => [
    name,
    { type: 'string', ...(name === 'organization_id' ? { format: 'uuid' } : { minLength: 1 }) },
  ]);
  return {
    type: 'array',
    items: { type: 'object', required: key, properties: Object.fromEntries(fields) },
  };
}

/**
 * Reads a seed from YAML or JSON. Throws a `CallsheetError` (`config`) whose message lists everything that
 * is wrong with it: syntax, shape, and records that name an owner that the seed does not have.
 */
export function readSeed(text: string): SeedDocument {
  const seed = readDocument(text, 'seed');
  const problems = checkSeed(seed);
  if (problems.length > 0) throw wrongDocument('seed', problems);
  // Checked just above.
  return seed as SeedDocument;
}

/** Returns the problems of a seed as sentences. */
export function checkSeed(seed: unknown): readonly string[] {
  return validate(seed) ? danglingOwners(seed) : problemsIn(validate, seed);
}

/** Lists whose records name an owner: by which member, of which list, its noun, and what tells the record. */
const OWNERS: readonly (readonly [string, string, owners: string, noun: string, label?: string])[] =
  [
    ['organizations', 'reseller_id', 'resellers', 'reseller', 'name'],
    ...TABLES.filter(({ kind }) => kind.scope.includes('organization_id')).map(
      ({ seeded }) => [seeded, 'organization_id', 'organizations', 'organization', 'name'] as const,
    ),
    ['knowledge_bases', 'organization_id', 'organizations', 'organization', 'name'],
    ['sources', 'knowledge_base_id', 'knowledge_bases', 'knowledge base'],
    ['calls', 'agent_id', 'agents', 'agent'],
    ['profiles', 'organization_id', 'organizations', 'organization', 'id'],
    ['claims', 'profile_id', 'profiles', 'profile', 'id'],
  ];

function danglingOwners(seed: SeedDocument): readonly string[] {
  // The schema says so of every list that is named above.
  const lists = seed as { readonly [list: string]: readonly JsonObject[] | undefined };
  return OWNERS.flatMap(([list, member, owners, noun, label = '']) => {
    const ids = new Set(lists[owners]?.map(({ id }) => id));
    return (lists[list] ?? [])
      .filter(({ [member]: id }) => id !== undefined && !ids.has(id))
      .map(({ [member]: id, [label]: name = 'one' }) => {
        const named = `${list}: ${String(name)} names the ${noun} ${String(id)}`;
        return `${named}, which is not there`;
      });
  });
}

/** Who made what a seed holds. */
const SEEDER = { actor: 'user:seed', source: 'dashboard' };

/** Puts a seed's records into the store, in the order of their dependencies. */
export function plantSeed(platform: Platform, seed: SeedDocument): void {
  const { store } = platform;
  if (seed.feature_administration_enabled !== undefined)
    store.account.featureAdministration = seed.feature_administration_enabled;
  for (const lock of seed.locks ?? []) store.account.locks.add(lock);
  for (const [feature, isOn] of Object.entries(seed.legacy_settings ?? {}))
    store.account.settings.set(feature, isOn);
  if (seed.integrations_allowed !== undefined)
    store.account.integrationsAllowed = new Set(seed.integrations_allowed);
  for (const { client_id: clientId, client_secret: clientSecret, scope } of seed.keys ?? [])
    store.keys.set(clientId, { clientId, clientSecret, generation: 1, scope });
  for (const { id, name, locks } of seed.resellers ?? [])
    store.resellers.set(id, { id, name, locks: new Set(locks) });
  for (const organization of seed.organizations ?? [])
    store.organizations.set(organization.id, plantOrganization(organization));
  for (const rest of RESTS)
    for (const record of seed[rest.section] ?? []) plantRecord(rest, platform, record);
  for (const { id, organization_id: organizationId, name } of seed.knowledge_bases ?? [])
    store.knowledgeBases.set(id, { id, organizationId, name });
  for (const source of seed.sources ?? []) plantSource(platform, source);
  for (const voice of seed.custom_voices ?? []) plantVoice(platform, voice);
  for (const agent of seed.agents ?? []) plantAgent(platform, agent);
  plantCalls(platform, seed.calls ?? []);
  for (const { id, organization_id: organizationId } of seed.profiles ?? [])
    store.profiles.set(id, { id, organizationId });
  for (const { id, profile_id: profileId } of seed.claims ?? [])
    store.claims.set(id, { id, profileId });
  for (const key of seed.pbx_api_keys ?? []) store.pbxApiKeys.add(key);
}

function plantOrganization(seed: SeedOrganization): Organization {
  const { id, name, reseller_id: resellerId, sms_numbers: numbers } = seed;
  const merchant: Merchant = { status: 'active', charges: true, ...seed.merchant };
  return {
    id,
    name,
    resellerId,
    locks: new Set(seed.locks),
    settings: new Map(Object.entries(seed.legacy_settings ?? {})),
    merchant,
    knownMerchant: { ...merchant },
    smsNumbers: numbers === undefined ? undefined : new Set(numbers),
  };
}

/** Puts one agent into the store, with the entries of its creation and of its edits. */
function plantAgent(platform: Platform, seed: SeedAgent): Agent {
  const { supported = true, payments, edits = [], deleted = false } = seed;
  const id = typeof seed.id === 'string' ? seed.id : platform.ids.uuid('agent');
  const made = platform.stamp();
  const agent: Agent = {
    id,
    organizationId: seed.organization_id,
    record: {
      status: 'active',
      ...NEW_AGENT,
      created_at: made,
      updated_at: made,
      ...withConnectionIds(platform, without(seed, 'supported', 'payments', 'edits', 'deleted')),
      id,
    },
    payments: {
      enabled: payments?.enabled ?? false,
      limits: payments === undefined ? {} : without(payments, 'enabled'),
    },
    supported,
  };
  platform.store.agents.set(id, agent);
  recordHistory(at(platform, agent.record.created_at), agent, 'created', SEEDER);
  for (const edit of edits) plantEdit(platform, agent, edit);
  if (deleted) {
    openBook(platform.store, agent);
    platform.store.agents.delete(id);
  }
  return agent;
}

function plantEdit(platform: Platform, agent: Agent, edit: Seed.Edit): void {
  const then = at(platform, edit.at);
  agent.record = editedRecord(then, agent.record, edit.changes);
  const { actor, source = 'dashboard' } = edit;
  recordHistory(then, agent, 'updated', { actor, source });
}

/** The platform at a time of the past, for what a seed dates. */
function at(platform: Platform, time: Json | undefined): Platform {
  return typeof time === 'string' ? { ...platform, stamp: () => time } : platform;
}

function withConnectionIds({ ids }: Platform, record: JsonObject): JsonObject {
  const { extensions } = record;
  if (!isObject(extensions) || extensions.mcp_servers === undefined) return record;
  const servers = objectsIn(extensions.mcp_servers).map((server) => ({
    id: ids.uuid('mcp'),
    tools: [],
    ...server,
  }));
  return { ...record, extensions: { ...extensions, mcp_servers: servers } };
}

function plantSource(platform: Platform, seed: JsonObject): void {
  const { store, ids } = platform;
  const id = typeof seed.id === 'string' ? seed.id : ids.uuid('source');
  const baseId = String(seed.knowledge_base_id);
  const at = platform.stamp();
  const isPage = seed.url !== undefined;
  const hash = typeof seed.content_hash === 'string' ? seed.content_hash : undefined;
  store.sources.set(id, {
    id,
    knowledgeBaseId: baseId,
    record: {
      id,
      organization_id: store.knowledgeBases.get(baseId)?.organizationId ?? null,
      source_type: isPage ? 'url' : 'file',
      name: seed.url ?? null,
      status: 'active',
      chunk_count: 1,
      last_synced_at: at,
      created_at: at,
      ...without(seed, 'content_hash'),
    },
    ...(isPage
      ? {}
      : {
          upload: {
            fileKey: `documents/${ids.uuid('file')}`,
            mime: 'text/plain',
            size: 0,
            contentHash: hash,
            bytes: Buffer.alloc(0),
          },
        }),
    pendingReads: undefined,
  });
}

function plantVoice({ store, ids }: Platform, seed: JsonObject): void {
  const id = typeof seed.id === 'string' ? seed.id : ids.uuid('voice');
  const record = {
    provider: 'cartx',
    custom: true,
    language: 'en',
    ...without(seed, 'organization_id'),
    id,
  };
  store.voices.set(id, {
    id,
    organizationId: String(seed.organization_id),
    record,
    clip: Buffer.alloc(0),
  });
}

/** Enters a seed's calls into the books of their agents. */
function plantCalls({ store }: Platform, calls: readonly Seed.Call[]): void {
  const first = countCalls(store);
  for (const [index, call] of calls.entries()) {
    const book = openCallBook(store, call.agent_id);
    const entered = createCall(book, {
      number: first + index,
      startedAt: Date.parse(call.call_started_at),
      duration: call.call_duration,
      outcome: call.outcome ?? 'resolved',
      id: call.id,
      sentiment: call.sentiment,
      reason: call.reason,
      callerId: call.caller_id,
      agent: call.recorded === undefined ? undefined : { ...book.first, isRecorded: call.recorded },
    });
    book.calls.push(entered);
  }
}

/** A deleted agent has its book from when it was planted. */
function openCallBook(store: Platform['store'], agentId: string): CallBook {
  const agent = store.agents.get(agentId);
  const book = agent === undefined ? store.calls.get(agentId) : openBook(store, agent);
  if (book === undefined) throw new Error(`a call names the agent ${agentId}, which is not there`);
  return book;
}
