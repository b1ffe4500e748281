import { isObject, type Json, type JsonObject } from '../core/value.ts';
import type { CallBook } from './calls/call.ts';
import { type Camel, camelCase, RESTS, type RestSection, TABLES } from './tables.ts';

/** A record whose members change. Nested values are replaced, never changed in place. */
export type Fields = { [key: string]: Json };

export type Level = 'account' | 'reseller' | 'organization';

type Account = {
  readonly id: string;
  /** True if the feature matrix governs; otherwise the older `settings` do. */
  featureAdministration: boolean;
  locks: Set<string>;
  /** Older settings: true for a feature that is on. */
  readonly settings: Map<string, boolean>;
  /** Integrations that the account may use, such as `calendarA`; all where it is undefined. */
  integrationsAllowed: ReadonlySet<string> | undefined;
};
export type Reseller = { readonly id: string; name: string; locks: Set<string> };
export type Organization = {
  readonly id: string;
  name: string;
  readonly resellerId: string | undefined;
  locks: Set<string>;
  /** As an account's. */
  readonly settings: Map<string, boolean>;
  /** The payment account as the payment processor has it. */
  merchant: Merchant;
  /** The same as the platform knows it, from when it asked last. */
  knownMerchant: Merchant;
  /** Numbers on its SMS account that can send texts; undefined where nothing is known of them. */
  readonly smsNumbers: ReadonlySet<string> | undefined;
};
/** The states of a payment account. */
export const MERCHANT_STATUSES = ['not_started', 'onboarding', 'active', 'restricted'] as const;
export type Merchant = {
  status: (typeof MERCHANT_STATUSES)[number];
  charges: boolean;
};

/** Credentials of the API. A rotated key keeps its id; its generation tells older tokens. */
export type Key = {
  readonly clientId: string;
  clientSecret: string;
  generation: number;
  readonly scope: { readonly level: 'reseller' | 'organization'; readonly id: string } | undefined;
};
type Token = {
  readonly clientId: string;
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** The payment tool as it was written; limits that were not written have defaults. */
type PaymentTool = { readonly enabled: boolean; readonly limits: JsonObject };

export type Agent = {
  readonly id: string;
  readonly organizationId: string;
  /** In the names that reads use, secrets included. Replaced whole by every write. */
  record: JsonObject;
  payments: PaymentTool;
  /** True if the agent is on the provider that the API may write to. */
  readonly supported: boolean;
};

export type HistoryEntry = {
  readonly id: number;
  readonly version: number;
  readonly action: 'created' | 'updated' | 'reverted';
  readonly revertedFrom: number | null;
  readonly actor: string;
  readonly source: string;
  readonly createdAt: string;
  /** Milliseconds since the epoch. */
  readonly visibleAt: number;
  /** The settings that history records, as they were after the change. */
  readonly settings: JsonObject;
};

export type KnowledgeBase = {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
};

export type Source = {
  readonly id: string;
  readonly knowledgeBaseId: string;
  record: Fields;
  /** Only a document has one. */
  upload?: Upload;
  /** Reads that still show the ingestion as running; undefined when none runs. */
  pendingReads: number | undefined;
  /** True if the running ingestion is going to fail. */
  isDoomed?: boolean;
};

export type Upload = {
  readonly fileKey: string;
  readonly mime: string;
  /** Bytes that were declared. */
  readonly size: number;
  readonly contentHash: string | undefined;
  bytes: Buffer | undefined;
};

export type Voice = {
  readonly id: string;
  readonly organizationId: string;
  readonly record: JsonObject;
  readonly clip: Buffer;
};

/** A change of a registration's flag on its way to the registrar. */
type SipChange = {
  readonly agentId: string;
  /** The flag before and after. */
  readonly before: boolean;
  readonly enabled: boolean;
  readonly at: string;
  /** When the registrar knows of it; may lie ahead. */
  readonly pickedUpAt: string;
};

/** A text message that an agent is to send, from a template if one is named. */
export type TextOrder = {
  readonly agentId: string;
  readonly templateId?: string;
  /** Phone number. */
  readonly to: string;
};

/** A text message that an agent sent, and what the carrier made of it. */
export type SentText = {
  readonly agentId: string;
  readonly templateId: string | null;
  readonly from: string;
  readonly to: string;
  readonly status: 'sent' | 'rejected';
  /** The carrier's, such as 21606. */
  readonly errorCode: number | null;
  readonly at: string;
};

/** An embedded application's session belongs to a profile (Sessions). */
export type Profile = { readonly id: string; readonly organizationId: string };

/** A user base of the PBX provider that may use a profile. */
type PbxClaim = { readonly id: string; readonly profileId: string };

/** A feature can be locked (Feature entry). */
export type Feature = {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
};

/** The lists of one platform: a seed's, or the simulator's own. */
export type Catalogue = {
  readonly features: readonly Feature[];
  readonly models: readonly CatalogueEntry[];
  readonly speech: readonly CatalogueEntry[];
};

/** An entry of a list, with at least its id. */
export type CatalogueEntry = JsonObject & { readonly id: string };

/** Everything that the simulated platform knows. */
export type Store = RestRecords & {
  readonly account: Account;
  readonly resellers: Map<string, Reseller>;
  readonly organizations: Map<string, Organization>;
  readonly keys: Map<string, Key>;
  readonly tokens: Map<string, Token>;
  readonly agents: Map<string, Agent>;
  /** By agent, oldest first. Outlives the agent. */
  readonly history: Map<string, HistoryEntry[]>;
  readonly knowledgeBases: Map<string, KnowledgeBase>;
  readonly sources: Map<string, Source>;
  readonly voices: Map<string, Voice>;
  readonly sipChanges: SipChange[];
  readonly texts: SentText[];
  /** By agent. Outlives the agent. */
  readonly calls: Map<string, CallBook>;
  readonly profiles: Map<string, Profile>;
  readonly claims: Map<string, PbxClaim>;
  readonly pbxApiKeys: Set<string>;
};

export function emptyStore(accountId: string): Store {
  return {
    account: {
      id: accountId,
      featureAdministration: true,
      locks: new Set(),
      settings: new Map(),
      integrationsAllowed: undefined,
    },
    resellers: new Map(),
    organizations: new Map(),
    keys: new Map(),
    tokens: new Map(),
    agents: new Map(),
    history: new Map(),
    knowledgeBases: new Map(),
    sources: new Map(),
    voices: new Map(),
    sipChanges: [],
    texts: [],
    calls: new Map(),
    profiles: new Map(),
    claims: new Map(),
    pbxApiKeys: new Set(),
    ...emptyTables(),
  };
}

/** Records by id of each kind in `REST_TABLES`: `retryPolicies` and so on. */
type RestRecords = { readonly [section in RestSection as Camel<section>]: Map<string, Fields> };

function emptyTables(): RestRecords {
  const tables = RESTS.map(({ section }) => [camelCase(section), new Map()]);
  // Every section of the type has a row.
  return Object.fromEntries(tables) as RestRecords;
}

/** The records of a section, by id. */
export function getTable(store: Store, section: RestSection): Map<string, Fields> {
  return store[camelCase(section)];
}

/** The records of a kind as they are stored, secrets included. */
export function recordsIn(store: Store, kind: string): readonly JsonObject[] {
  const stored = TABLES.find((table) => table.kind.name === kind)?.stored;
  const entries: unknown = Object.entries(store).find(([name]) => name === stored)?.[1];
  if (!(entries instanceof Map)) throw new Error(`no kind ${kind}`);
  return [...entries.values()].map((entry: JsonObject) => recordIn(entry));
}

/** The record of an entry: some tables hold records, others records with what belongs to them. */
export function recordIn(entry: JsonObject): JsonObject {
  return isObject(entry.record) ? entry.record : entry;
}

/** The store as plain JSON: maps as objects, sets as lists, bytes as their length. Keys and tokens are left out. */
export function dumpStore(store: Store): JsonObject {
  const { keys: _, tokens: __, pbxApiKeys: ___, ...rest } = store;
  const dumped: unknown = JSON.parse(
    JSON.stringify(rest, (_key, value: unknown) => {
      if (value instanceof Map) return Object.fromEntries(value);
      if (value instanceof Set) return [...value];
      return isBufferJson(value) ? value.data.length : value;
    }),
  );
  return dumped as JsonObject;
}

/** A `Buffer` looks like this once its own `toJSON` ran. */
function isBufferJson(value: unknown): value is { readonly data: readonly number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
}
