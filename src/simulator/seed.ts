import { parseDocument } from 'yaml';
import { CallsheetError } from '../core/errors.ts';
import type { JsonObject } from '../core/value.ts';
import schema from './seed.schema.json' with { type: 'json' };
import type { Organization } from './store.ts';
import { ajv } from './validation.ts';
import { violationsOf } from './violations.ts';

/** What a simulated account holds when it starts. Records are as the platform returns them, with their secrets. */
export type SeedDocument = {
  readonly account_id?: string;
  readonly feature_administration_enabled?: boolean;
  /** Features that the account locks. */
  readonly locks?: readonly string[];
  readonly keys?: readonly SeedKey[];
  readonly resellers?: readonly SeedReseller[];
  readonly organizations?: readonly SeedOrganization[];
  readonly agents?: readonly SeedAgent[];
  readonly retry_policies?: readonly JsonObject[];
  readonly email_templates?: readonly JsonObject[];
  readonly sms_templates?: readonly JsonObject[];
  readonly knowledge_bases?: readonly SeedKnowledgeBase[];
  readonly sources?: readonly JsonObject[];
  readonly custom_voices?: readonly JsonObject[];
};

type SeedKey = {
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
  readonly merchant?: Organization['merchant'];
};
/** A record, beside it whether the API may write to the agent and what its payment tool was told. */
export type SeedAgent = JsonObject & {
  readonly organization_id: string;
  readonly name: string;
  readonly supported?: boolean;
  readonly payments?: JsonObject & { readonly enabled: boolean };
};
type SeedKnowledgeBase = {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
};

const validate = ajv.compile<SeedDocument>(schema);

/**
 * Reads a seed from YAML or JSON. Throws a `CallsheetError` (`config`) whose message lists everything that
 * is wrong with it: syntax, shape, and records that name an owner that the seed does not have.
 */
export function readSeed(text: string): SeedDocument {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw wrongSeed([error.message.split('\n')[0] ?? 'not YAML']);
  const seed: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  if (!validate(seed))
    throw wrongSeed(
      violationsOf(validate.errors ?? [], seed).map(({ path, message }) =>
        path.length === 0 ? message : `${path.join('.')}: ${message}`,
      ),
    );
  const dangling = danglingOwners(seed);
  if (dangling.length > 0) throw wrongSeed(dangling);
  return seed;
}

function wrongSeed(problems: readonly string[]): CallsheetError {
  return new CallsheetError('config', `the seed is wrong: ${problems.join('; ')}`, {
    hint: 'docs/simulator.md describes what a seed holds.',
  });
}

const OWNED = [
  'agents',
  'email_templates',
  'sms_templates',
  'knowledge_bases',
  'custom_voices',
] as const;

function danglingOwners(seed: SeedDocument): readonly string[] {
  const ids = (records: readonly { readonly id?: unknown }[] = []) =>
    new Set(records.map(({ id }) => id));
  const [resellers, organizations, bases] = [
    ids(seed.resellers),
    ids(seed.organizations),
    ids(seed.knowledge_bases),
  ];
  return [
    ...(seed.organizations ?? [])
      .filter(({ reseller_id: id }) => id !== undefined && !resellers.has(id))
      .map(
        ({ name, reseller_id: id }) =>
          `organizations: ${name} names the reseller ${String(id)}, which is not there`,
      ),
    ...OWNED.flatMap((list) =>
      (seed[list] ?? [])
        .filter(({ organization_id: id }) => !organizations.has(id))
        .map(
          ({ name, organization_id: id }) =>
            `${list}: ${String(name)} names the organization ${String(id)}, which is not there`,
        ),
    ),
    ...(seed.sources ?? [])
      .filter(({ knowledge_base_id: id }) => !bases.has(id))
      .map(
        ({ knowledge_base_id: id }) =>
          `sources: one names the knowledge base ${String(id)}, which is not there`,
      ),
  ];
}
