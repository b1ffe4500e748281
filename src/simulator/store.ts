import type { Json, JsonObject } from '../core/value.ts';

/** A record whose members change. Nested values are replaced, never changed in place. */
export type Fields = { [key: string]: Json };

export type Level = 'account' | 'reseller' | 'organization';

export type Account = { readonly id: string; featureAdministration: boolean; locks: Set<string> };
export type Reseller = { readonly id: string; name: string; locks: Set<string> };
export type Organization = {
  readonly id: string;
  name: string;
  readonly resellerId: string | undefined;
  locks: Set<string>;
  merchant: { status: 'not_started' | 'onboarding' | 'active' | 'restricted'; charges: boolean };
};

/** Credentials of the API. A rotated key keeps its id; its generation tells older tokens. */
export type Key = {
  readonly clientId: string;
  clientSecret: string;
  generation: number;
  readonly scope: { readonly level: 'reseller' | 'organization'; readonly id: string } | undefined;
};
export type Token = {
  readonly clientId: string;
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** What the payment tool was told; what was not told has defaults. */
export type PaymentTool = { readonly enabled: boolean; readonly limits: JsonObject };

export type Agent = {
  readonly id: string;
  readonly organizationId: string;
  /** In the names that reads use, secrets included. Replaced whole by every write. */
  record: JsonObject;
  payments: PaymentTool;
  /** Whether the agent is on the provider that the API may write to. */
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
  /** Where the bytes go, for a document. */
  readonly upload?: Upload;
  /** Reads that still show the ingestion as running; undefined when none runs. */
  pendingReads: number | undefined;
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
export type SipChange = {
  readonly agentId: string;
  readonly enabled: boolean;
  readonly at: string;
  pickedUpAt: string | null;
};

/** Everything that the simulated platform knows. */
export type Store = {
  readonly account: Account;
  readonly resellers: Map<string, Reseller>;
  readonly organizations: Map<string, Organization>;
  readonly keys: Map<string, Key>;
  readonly tokens: Map<string, Token>;
  readonly agents: Map<string, Agent>;
  /** By agent, oldest first. Outlives the agent. */
  readonly history: Map<string, HistoryEntry[]>;
  readonly retryPolicies: Map<string, Fields>;
  readonly emailTemplates: Map<string, Fields>;
  readonly smsTemplates: Map<string, Fields>;
  readonly knowledgeBases: Map<string, KnowledgeBase>;
  readonly sources: Map<string, Source>;
  readonly voices: Map<string, Voice>;
  readonly sipChanges: SipChange[];
};

export function emptyStore(accountId: string): Store {
  return {
    account: { id: accountId, featureAdministration: true, locks: new Set() },
    resellers: new Map(),
    organizations: new Map(),
    keys: new Map(),
    tokens: new Map(),
    agents: new Map(),
    history: new Map(),
    retryPolicies: new Map(),
    emailTemplates: new Map(),
    smsTemplates: new Map(),
    knowledgeBases: new Map(),
    sources: new Map(),
    voices: new Map(),
    sipChanges: [],
  };
}

/** The store as plain JSON: maps as objects, sets as lists, bytes as their length. Keys and tokens are left out. */
export function dumpStore(store: Store): JsonObject {
  const { keys: _, tokens: __, ...rest } = store;
  const dumped: unknown = JSON.parse(
    JSON.stringify(rest, (_key, value: unknown) => {
      if (value instanceof Map) return Object.fromEntries(value);
      if (value instanceof Set) return [...value];
      return isBufferJson(value) ? value.data.length : value;
    }),
  );
  return dumped as JsonObject;
}

/** What a `Buffer` looks like once its own `toJSON` ran. */
function isBufferJson(value: unknown): value is { readonly data: readonly number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
}
