import type { Call } from './kind.ts';

/** A list of the platform that values of a field stand in (`x-one-of`). */
type Catalogue = {
  /** The word for its entries, for people. */
  readonly noun: string;
  /** The command that shows it. */
  readonly command: string;
  /** True if its entries depend on the organization, as locks do. */
  readonly isOrganizations: boolean;
  /** Lists the entries of an organization, if they depend on one; otherwise those of the account. */
  readonly list: (organization: string | null) => Call;
};

/** Every catalogue, by the name that schemas use (LLM models, STT providers). */
export const catalogues: { readonly [name: string]: Catalogue } = {
  llm_models: {
    noun: 'language model',
    command: 'callsheet get models',
    isOrganizations: true,
    list: (organization) => ({
      operation: 'listLlmModels',
      query: organization === null ? {} : { organization_id: organization },
    }),
  },
  stt_providers: {
    noun: 'speech-to-text provider',
    command: 'callsheet get stt_providers',
    isOrganizations: false,
    list: () => ({ operation: 'listSttProviders' }),
  },
};

/** The catalogue of that name. Schemas are checked against this table, so an unknown one is a bug. */
export function catalogueNamed(name: string): Catalogue {
  const catalogue = catalogues[name];
  if (catalogue === undefined) throw new Error(`unknown catalogue: ${name}`);
  return catalogue;
}

/** Locks of an organization with those above it or, without one, of the account alone (Features). */
export function buildFeaturesCall(organization: string | null): Call {
  return {
    operation: 'listFeatures',
    query: organization === null ? {} : { organization_id: organization },
  };
}
