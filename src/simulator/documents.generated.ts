// Generated from src/simulator/*.schema.json by `npm run generate`.
import type { Json, JsonObject } from '../core/value.ts';

export declare namespace Seed {
/** Keys of features. */
export type Locks = readonly string[];
export type Offers = readonly {
  readonly id: string;
}[];

/** What a simulated account holds when it starts. Records are given as the platform returns them, with their secrets; ids that are left out are made. */
export type Document = {
  /** The account. */
  readonly account_id?: string;
  /** Whether the feature matrix governs. True unless given. */
  readonly feature_administration_enabled?: boolean;
  readonly locks?: Locks;
  readonly legacy_settings?: LegacySettings;
  /** Integrations that the account may use, such as calendarA. All unless given. */
  readonly integrations_allowed?: readonly string[];
  /** API keys beside the account's own. */
  readonly keys?: readonly Key[];
  readonly resellers?: readonly Reseller[];
  readonly organizations?: readonly Organization[];
  readonly agents?: readonly Agent[];
  /** Features that can be locked, in place of the simulator's own. */
  readonly features?: readonly {
    readonly key: string;
  }[];
  readonly llm_models?: Offers;
  readonly stt_providers?: Offers;
  readonly knowledge_bases?: readonly KnowledgeBase[];
  /** Items: A page, or a document that was ingested. */
  readonly sources?: readonly {
    readonly knowledge_base_id: string;
    readonly url?: string;
    readonly name?: string;
    readonly content_hash?: string;
  }[];
  readonly custom_voices?: readonly Owned[];
  /** Calls that metrics, billing and call logs are made from. What is left out is made up. */
  readonly calls?: readonly Call[];
  /** What sessions of embedded applications are minted for. */
  readonly profiles?: readonly Profile[];
  /** User bases of the PBX provider, each with the profile that it may use. */
  readonly claims?: readonly Claim[];
  /** Keys that the PBX provider calls with. */
  readonly pbx_api_keys?: readonly string[];
};
/** Whether features are on by older settings, by key. They count while the matrix does not govern. */
export type LegacySettings = {
  readonly [k: string]: boolean;
};
export type Key = {
  readonly client_id: string;
  readonly client_secret: string;
  /** What a scoped key is limited to. */
  readonly scope?: {
    readonly level: 'reseller' | 'organization';
    readonly id: string;
  };
};
export type Reseller = {
  readonly id: string;
  readonly name: string;
  readonly locks?: Locks;
};
export type Organization = {
  readonly id: string;
  readonly name: string;
  readonly reseller_id?: string;
  readonly locks?: Locks;
  readonly legacy_settings?: LegacySettings;
  /** Numbers on its SMS account that can send texts. Any number can unless given. */
  readonly sms_numbers?: readonly string[];
  /** The organization's payment account. Active with charges unless given. */
  readonly merchant?: {
    readonly status: 'not_started' | 'onboarding' | 'active' | 'restricted';
    readonly charges: boolean;
  };
};
/** An agent's record, and what is to be said beside it. */
export type Agent = {
  readonly id?: string;
  readonly organization_id: string;
  readonly name: string;
  /** Whether the API may write to it. True unless given. */
  readonly supported?: boolean;
  /** The payment tool; limits that are left out have defaults. */
  readonly payments?: {
    readonly enabled: boolean;
  };
  /** What people changed since the agent was made, oldest first. History has an entry for each. */
  readonly edits?: readonly Edit[];
  /** Whether the agent is gone, so that only its calls and its history are left. */
  readonly deleted?: boolean;
};
/** A change in the names that reads use; nested objects are merged, null clears. */
export type Edit = {
  readonly actor: string;
  /** `dashboard` unless given. */
  readonly source?: string;
  readonly at?: string;
  /** The fields that were changed. */
  readonly changes: JsonObject;
};
export type KnowledgeBase = {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
};
export type Owned = {
  readonly organization_id: string;
  readonly name: string;
};
export type Call = {
  readonly id?: string;
  readonly agent_id: string;
  readonly call_started_at: string;
  /** Whole seconds. */
  readonly call_duration: number;
  /** `resolved` unless given. */
  readonly outcome?: 'resolved' | 'transferred' | 'abandoned' | 'other';
  readonly sentiment?: 'Positive' | 'Neutral' | 'Negative';
  /** Why a call was transferred. */
  readonly reason?: string;
  readonly caller_id?: string;
  /** Whether it was recorded; as the agent's settings say unless given. */
  readonly recorded?: boolean;
};
export type Profile = {
  readonly id: string;
  readonly organization_id: string;
};
export type Claim = {
  readonly id: string;
  readonly profile_id: string;
};
}

export declare namespace Simulation {
export type Milliseconds = number;

/** How a simulated platform behaves: what it holds, how it reads the specification, and what goes wrong. */
export type Document = {
  /** What the account holds: a file, relative to this one, or the seed itself. */
  readonly seed?: JsonObject;
  /** Options of the dialect, by name. */
  readonly dialect?: JsonObject;
  readonly faults?: readonly Fault[];
  /** Where the draws of faults with a probability begin. */
  readonly chaosSeed?: string | number;
  readonly rateLimit?: RateLimit;
  readonly latencyMs?: Milliseconds;
  readonly callers?: Callers;
};
/** Something that goes wrong on purpose. A fault that is spent is forgotten. */
export type Fault = {
  /** The request that it befalls: an operation, `upload` (the PUT to a presigned address), `ingestion` (of a source, which then fails, or with `hang` never ends), or `*`, which is every request. */
  readonly operation: string;
  /** How often; once unless it says otherwise, without end where there is a `probability`. */
  readonly times?: number;
  /** How many requests pass unharmed before it strikes. */
  readonly skip?: number;
  /** Only requests whose path contains this, such as an agent's id. */
  readonly path?: string;
  /** Between 0 and 1: how likely it strikes. The same seed, method and path strike alike in every run. */
  readonly probability?: number;
  readonly delayMs?: Milliseconds;
  /** Answered instead of what the operation would answer; nothing is done. Without `body` and `text`, 429 and 5xx have the body that the specification gives them. */
  readonly status?: number;
  /** Answered as JSON. */
  readonly body?: Json;
  /** The body as it stands, JSON or not; with status 200 unless `status` says otherwise. */
  readonly text?: string;
  /** Of the answer. */
  readonly headers?: {
    readonly [k: string]: string;
  };
  /** The operation is done although `status`, `body` or `text` is answered. */
  readonly done?: boolean;
  /** The connection breaks: before the operation is done; after it is done and before its answer; or after the head of the answer. */
  readonly reset?: 'before' | 'after' | 'head';
  /** The connection breaks in the middle of the answer's body, whose whole length was announced. */
  readonly truncate?: boolean;
  /** No answer comes, before or after the operation is done, until the caller gives up or `hangMs` passed. */
  readonly hang?: 'before' | 'after';
  readonly hangMs?: Milliseconds;
  /** The simulator dies as in a crash, before or after the operation is done. Only where it runs alone. */
  readonly kill?: 'before' | 'after';
};
/** How many requests the platform takes. The specification gives no figures (Limits). */
export type RateLimit = {
  /** On average; any number unless given. */
  readonly perSecond?: number;
  /** How they are counted. `bucket`, unless given, holds `burst` requests and fills by `perSecond`. `fixed`: windows follow each other, and each takes so many. `sliding`: no window, wherever it begins, takes more. */
  readonly shape?: 'bucket' | 'fixed' | 'sliding';
  /** Of a bucket: requests that may come at once; `perSecond`, and at least one, unless given. */
  readonly burst?: number;
  /** Of a window: how long it is; a second unless given. */
  readonly windowSeconds?: number;
  /** Requests that may be under way at once; any number unless given. */
  readonly inFlight?: number;
  /** Whether a refused request is told when to come again; it is unless this is false. */
  readonly retryAfter?: boolean;
};
/** How agents are called as the clock moves on. */
export type Callers = {
  /** Calls of an agent on an average day, by the mean of many agents; 40 unless given. */
  readonly perDay?: number;
  /** Whole weeks before the start in which they called already; 9 unless given. */
  readonly weeks?: number;
  /** Another one has other callers; 1 unless given. */
  readonly seed?: number;
};
}
