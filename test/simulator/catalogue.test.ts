import { expect } from 'vitest';
import { IDS, locked, SEED, section, type World } from './world.ts';

section(
  'Features',
  [
    {
      rule: 'without a parameter only the account counts',
      does: ({ call }: World) => call('listFeatures'),
      scope: { level: 'account', id: 'account-1' },
      states: [null, null, 'here'],
    },
    {
      rule: 'reseller_id adds its own locks',
      does: ({ call }: World) => call('listFeatures', { query: { reseller_id: 'reseller-1' } }),
      scope: { level: 'reseller', id: 'reseller-1' },
      states: [null, 'here', 'inherited'],
    },
    {
      rule: 'organization_id reflects the whole chain',
      does: ({ call }: World) => call('listFeatures', { query: { organization_id: IDS.harbor } }),
      scope: { level: 'organization', id: IDS.harbor },
      states: ['here', 'inherited', 'inherited'],
    },
  ].map(({ rule, does, scope, states }) => ({
    rule,
    does,
    status: 200,
    body: { feature_administration_enabled: true, scope },
    also: (_: World, { body }: { body: { data?: unknown } }) => {
      const features = Array.isArray(body.data) ? body.data : [];
      const keys = features.map(({ key }) => String(key));
      expect(keys).toEqual([...keys].sort());
      expect(keys).not.toContain('llm.alpha-4.1');
      const chain = ['llm.alpha-4o', 'custom_voices', 'knowledge_base'].map((wanted) =>
        features.find(({ key }) => key === wanted),
      );
      expect(chain.map(({ locked_scope: where }) => where)).toEqual(states);
      expect(chain.map(({ state }) => state)).toEqual(
        states.map((where) => (where === null ? 'available' : 'locked')),
      );
    },
  })),
  {
    ...SEED,
    locks: ['knowledge_base'],
    resellers: [{ id: 'reseller-1', name: 'Tidewater', locks: ['custom_voices'] }],
    organizations: [
      { id: IDS.harbor, name: 'Harbor Dental', reseller_id: 'reseller-1', locks: ['llm.alpha-4o'] },
      { id: IDS.north, name: 'Northside' },
    ],
  },
);

section('Features', [
  ...[
    { organization_id: IDS.harbor, reseller_id: 'reseller-1' },
    { organization_id: '' },
    { reseller_id: '' },
  ].map((query) => ({
    rule: `${JSON.stringify(query)} is refused`,
    does: ({ call }: World) => call('listFeatures', { query: query as Record<string, string> }),
    status: 400,
    body: { error: 'invalid_request' },
  })),
  ...[{ organization_id: IDS.nobody }, { reseller_id: 'nobody' }].map((query) => ({
    rule: `${Object.keys(query).join()} outside the account is not found`,
    does: ({ call }: World) => call('listFeatures', { query: query as Record<string, string> }),
    status: 404,
    body: { error: 'not_found' },
  })),
  {
    rule: 'the older settings decide where the matrix does not govern',
    seed: { ...SEED, locks: ['knowledge_base'], feature_administration_enabled: false },
    does: ({ call }) => call('listFeatures'),
    status: 200,
    body: { feature_administration_enabled: false },
    also: (_, { body }) => expect(JSON.stringify(body)).toContain('legacy_column'),
  },
]);

section('LLM models and STT providers', [
  {
    rule: 'nine models, the floor model first',
    does: ({ call }) => call('listLlmModels'),
    status: 200,
    also: (_, { body }) => {
      expect(body.data).toHaveLength(9);
      expect(body.data).toMatchObject([
        { id: 'alpha-4.1', provider: 'alpha' },
        ...Array(8).fill({}),
      ]);
    },
  },
  {
    rule: 'models locked for the organization are left out for it',
    seed: locked('organization', 'llm.beta-3-fast', 'llm.alpha-4o'),
    does: ({ call }) => call('listLlmModels', { query: { organization_id: IDS.harbor } }),
    status: 200,
    also: (_, { body }) => expect(body.data).toHaveLength(7),
  },
  {
    rule: 'without the parameter only account locks count',
    seed: locked('organization', 'llm.beta-3-fast'),
    does: ({ call }) => call('listLlmModels'),
    status: 200,
    also: (_, { body }) => expect(body.data).toHaveLength(9),
  },
  {
    rule: 'an organization outside the account is not found',
    does: ({ call }) => call('listLlmModels', { query: { organization_id: IDS.nobody } }),
    status: 404,
  },
  {
    rule: 'the speech-to-text provider',
    does: ({ call }) => call('listSttProviders'),
    status: 200,
    body: { data: [{ id: 'voxc' }] },
  },
]);
