import { CallsheetError } from '../core/errors.ts';
import type { JsonObject } from '../core/value.ts';
import type { Outcome, Sentiment } from './calls/call.ts';
import schema from './seed.schema.json' with { type: 'json' };
import type { CatalogueEntry, Feature, Merchant } from './store.ts';
import { RESTS, type RestSection, TABLES } from './tables.ts';
import { ajv, problemsIn, readDocument } from './validation.ts';

/** What a simulated account holds when it starts. Records are as the platform returns them, with their secrets. */
export type SeedDocument = { readonly [section in RestSection]?: readonly JsonObject[] } & {
  readonly account_id?: string;
  readonly feature_administration_enabled?: boolean;
  /** Features that the account locks. */
  readonly locks?: readonly string[];
  readonly legacy_settings?: LegacySettings;
  readonly integrations_allowed?: readonly string[];
  readonly keys?: readonly SeedKey[];
  readonly resellers?: readonly SeedReseller[];
  readonly organizations?: readonly SeedOrganization[];
  readonly agents?: readonly SeedAgent[];
  readonly knowledge_bases?: readonly SeedKnowledgeBase[];
  readonly sources?: readonly JsonObject[];
  readonly custom_voices?: readonly JsonObject[];
  readonly calls?: readonly SeedCall[];
  readonly profiles?: readonly SeedProfile[];
  readonly claims?: readonly SeedClaim[];
  readonly pbx_api_keys?: readonly string[];
  /** What the platform offers, where it is not what the simulator has. */
  readonly features?: readonly Feature[];
  readonly llm_models?: readonly CatalogueEntry[];
  readonly stt_providers?: readonly CatalogueEntry[];
};

/** What older settings say of features: whether each is on. */
type LegacySettings = { readonly [feature: string]: boolean };

export type SeedKey = {
  readonly client_id: string;
  readonly client_secret: string;
  readonly scope?: { readonly level: 'reseller' | 'organization'; readonly id: string };
};
type SeedReseller = {
  readonly id: string;
  readonly name: string;
  readonly locks?: readonly string[];
};
export type SeedOrganization = SeedReseller & {
  readonly reseller_id?: string;
  readonly legacy_settings?: LegacySettings;
  readonly merchant?: Merchant;
  /** Numbers on its SMS account that can send texts. */
  readonly sms_numbers?: readonly string[];
};
/**
 * A record, beside it whether the API may write to the agent, what its payment tool was told, what people
 * changed since it was made, and whether it is gone and only its calls and its history are left.
 */
export type SeedAgent = JsonObject & {
  readonly id?: string;
  readonly organization_id: string;
  readonly name: string;
  readonly supported?: boolean;
  readonly payments?: JsonObject & { readonly enabled: boolean };
  readonly edits?: readonly SeedEdit[];
  readonly deleted?: boolean;
};
/** A change in the names that reads use; nested objects are merged, null clears. */
export type SeedEdit = JsonObject & {
  readonly actor: string;
  readonly changes: JsonObject;
  /** `dashboard` unless given. */
  readonly source?: string;
  readonly at?: string;
};
/** A call; what is left out is made up. */
export type SeedCall = {
  readonly id?: string;
  readonly agent_id: string;
  readonly call_started_at: string;
  /** Whole seconds. */
  readonly call_duration: number;
  /** `resolved` unless given. */
  readonly outcome?: Outcome;
  readonly sentiment?: Sentiment;
  /** Why a call was transferred. */
  readonly reason?: string;
  readonly caller_id?: string;
  /** Whether it was recorded; as the agent's settings say unless given. */
  readonly recorded?: boolean;
};
type SeedProfile = { readonly id: string; readonly organization_id: string };
type SeedClaim = { readonly id: string; readonly profile_id: string };
type SeedKnowledgeBase = {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
};

const validate = ajv.compile<SeedDocument>({
  ...schema,
  properties: {
    ...schema.properties,
    ...Object.fromEntries(RESTS.map(({ section, key }) => [section, listOf(key)])),
  },
});

/** The schema of a list whose records are known by those fields. */
function listOf(key: readonly string[]) {
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
  const seed = readDocument(text, wrongSeed);
  const problems = checkSeed(seed);
  if (problems.length > 0) throw wrongSeed(problems);
  // Checked just above.
  return seed as SeedDocument;
}

/** What is wrong with a seed, as sentences. */
export function checkSeed(seed: unknown): readonly string[] {
  return validate(seed) ? danglingOwners(seed) : problemsIn(validate, seed);
}

function wrongSeed(problems: readonly string[]): CallsheetError {
  return new CallsheetError('config', `the seed is wrong: ${problems.join('; ')}`, {
    hint: 'callsheet help simulator describes what a seed holds.',
  });
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
