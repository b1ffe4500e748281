import { coded, data } from '../answer.ts';
import { isNamed } from '../catalogue.ts';
import { accountLocks, allowedBy, type Locks, organizationLocks, resellerLocks } from '../locks.ts';
import type { Input, Platform, Routes } from '../platform.ts';
import { namedOrganization, namedReseller } from '../reach.ts';
import type { Level } from '../store.ts';

/** What may be used, and by whom it is locked (Features, LLM models, STT providers). */
export const catalogue: Routes<'listFeatures' | 'listLlmModels' | 'listSttProviders'> = {
  listFeatures: (input, platform) => {
    const { level, id, locks } = featureScope(platform, input);
    const all = platform.catalogue.features;
    const features = platform.dialect.featureRows === 'all' ? all : all.filter(isNamed);
    return {
      status: 200,
      body: {
        feature_administration_enabled: platform.store.account.featureAdministration,
        scope: { level, id },
        data: features.map((feature) => {
          const lock = locks.get(feature.key);
          return {
            ...feature,
            state: lock === undefined ? 'available' : 'locked',
            locked_scope: lock === undefined ? null : lock.level === level ? 'here' : 'inherited',
            decided_by: lock?.by ?? allowedBy(platform, feature.key, id),
          };
        }),
      },
    };
  },

  listLlmModels: ({ key, query }, platform) => {
    const id = query.organization_id;
    const locks =
      id === undefined
        ? accountLocks(platform)
        : organizationLocks(platform, namedOrganization(platform, key, String(id)));
    return data(platform.catalogue.models.filter((model) => !locks.has(`llm.${model.id}`)));
  },

  listSttProviders: (_input, { catalogue: { speech } }) => data(speech),
};

type FeatureScope = { readonly level: Level; readonly id: string; readonly locks: Locks };

function featureScope(platform: Platform, { key, query }: Input): FeatureScope {
  const { organization_id: organizationId, reseller_id: resellerId } = query;
  if (organizationId !== undefined && resellerId !== undefined)
    throw coded(400, 'invalid_request', 'organization_id and reseller_id exclude each other');
  if (organizationId !== undefined) {
    const organization = namedOrganization(platform, key, String(organizationId));
    return {
      level: 'organization',
      id: organization.id,
      locks: organizationLocks(platform, organization),
    };
  }
  if (resellerId !== undefined) {
    const { id } = namedReseller(platform, key, String(resellerId));
    return { level: 'reseller', id, locks: resellerLocks(platform, id) };
  }
  return { level: 'account', id: platform.store.account.id, locks: accountLocks(platform) };
}
