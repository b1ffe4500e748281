import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import {
  createWorld,
  desk,
  IDS,
  locked,
  type Reply,
  SEED,
  section,
  type World,
  withDesk,
} from './world.ts';

const path = { agentId: IDS.desk };
const features = (query?: Record<string, string>) => (world: World) =>
  world.call('listFeatures', query === undefined ? {} : { query });
const ofHarbor = features({ organization_id: IDS.harbor });

/** One row of the matrix. */
const row = ({ body }: Reply, key: string): JsonObject =>
  Object(Array.isArray(body.data) ? body.data.find((one) => Object(one).key === key) : undefined);
const says = (key: string, expected: JsonObject) => (_: World, reply: Reply) =>
  expect(row(reply, key)).toMatchObject(expected);

/** An account that older settings govern. */
const legacy = (fields: SeedDocument, ofOrganization: object = {}): SeedDocument => ({
  ...SEED,
  ...fields,
  feature_administration_enabled: false,
  organizations: (fields.organizations ?? SEED.organizations ?? []).map((one) =>
    one.id === IDS.harbor ? { ...one, ...ofOrganization } : one,
  ),
});

const HERE = { state: 'locked', locked_scope: 'here' };
const INHERITED = { state: 'locked', locked_scope: 'inherited' };
const FREE = { state: 'available', locked_scope: null, decided_by: 'default_available' };
const BY_MATRIX = { decided_by: 'feature_administration' };
const BY_SETTING = { decided_by: 'legacy_column' };

section('Features, while the matrix governs', [
  {
    rule: 'a lock is decided by feature administration',
    seed: locked('reseller', 'custom_voices'),
    does: ofHarbor,
    status: 200,
    body: { feature_administration_enabled: true },
    also: says('custom_voices', { ...INHERITED, ...BY_MATRIX }),
  },
  {
    rule: 'what nobody locked is available by default',
    does: ofHarbor,
    status: 200,
    also: says('custom_voices', FREE),
  },
  {
    rule: 'older settings do not count',
    seed: { ...SEED, legacy_settings: { custom_voices: false } },
    does: ofHarbor,
    status: 200,
    also: says('custom_voices', FREE),
  },
  {
    rule: 'integrations follow the allow-list of the account',
    seed: { ...SEED, integrations_allowed: ['smsProvider'] },
    does: features(),
    status: 200,
    also: (world, reply) => {
      says('integration.calendarA', { ...HERE, ...BY_SETTING })(world, reply);
      says('integration.smsProvider', { ...FREE, ...BY_SETTING })(world, reply);
    },
  },
  {
    rule: 'a reseller sees nothing of its organizations, and the account nothing of its resellers',
    seed: locked('organization', 'warm_transfer'),
    does: features({ reseller_id: 'reseller-1' }),
    status: 200,
    also: says('warm_transfer', FREE),
  },
]);

section('Features, while older settings govern', [
  {
    rule: "the account's settings reach its organizations",
    seed: legacy({ legacy_settings: { custom_voices: false } }),
    does: ofHarbor,
    status: 200,
    body: { feature_administration_enabled: false },
    also: says('custom_voices', { ...INHERITED, ...BY_SETTING }),
  },
  {
    rule: 'an organization has settings of its own',
    seed: legacy({}, { legacy_settings: { custom_voices: false, knowledge_base: true } }),
    does: ofHarbor,
    status: 200,
    also: (world, reply) => {
      says('custom_voices', { ...HERE, ...BY_SETTING })(world, reply);
      says('knowledge_base', { state: 'available', locked_scope: null, ...BY_SETTING })(
        world,
        reply,
      );
      says('warm_transfer', FREE)(world, reply);
    },
  },
  {
    rule: 'a reseller has none, so that its locks do not count',
    seed: legacy(locked('reseller', 'custom_voices')),
    does: ofHarbor,
    status: 200,
    also: says('custom_voices', FREE),
  },
  {
    rule: 'integrations follow the allow-list of the account all the same',
    seed: legacy({ integrations_allowed: [] }),
    does: ofHarbor,
    status: 200,
    also: says('integration.calendarB', { ...INHERITED, ...BY_SETTING }),
  },
  {
    rule: 'an integration that is not allowed cannot be connected',
    seed: legacy({ integrations_allowed: [] }),
    does: ({ call }) =>
      call('updateAgent', { path, body: { integrations: { calendarB: { calendar_name: 'B' } } } }),
    status: 403,
    body: { error: 'forbidden' },
  },
  {
    rule: 'writes are refused by the regime that governs',
    seed: legacy({ legacy_settings: { 'llm.alpha-4o': false } }),
    does: async ({ sim, call }) => {
      const body = { model: 'alpha-4o' };
      expect((await call('updateAgent', { path, body })).status).toBe(403);
      sim.store.account.featureAdministration = true;
      return call('updateAgent', { path, body });
    },
    status: 200,
  },
]);

section('Feature locks that are placed later', [
  {
    rule: 'a write that was taken before is refused from then on, and taken again after',
    does: async ({ sim, call }) => {
      const write = (model: string) => call('updateAgent', { path, body: { model } });
      expect((await write('alpha-4o')).status).toBe(200);
      sim.lock('reseller', 'reseller-1', 'llm.beta-3-fast');
      expect((await write('beta-3-fast')).status).toBe(403);
      sim.unlock('reseller', 'reseller-1', 'llm.beta-3-fast');
      return write('beta-3-fast');
    },
    status: 200,
  },
  {
    rule: 'what is on may be kept and switched off, not switched on again',
    seed: withDesk({ warm_transfer_handoff_instructions: 'Brief them.' }),
    does: async ({ sim, call }) => {
      const write = (text: string) =>
        call('updateAgent', { path, body: { warmTransferHandoffInstructions: text } });
      sim.lock('account', '', 'warm_transfer');
      expect((await write('Brief them well.')).status).toBe(200);
      expect((await write('')).status).toBe(200);
      return write('Brief them.');
    },
    status: 403,
    body: { error: 'forbidden', error_description: expect.stringContaining('warm_transfer') },
  },
  ...['phi_redaction', 'secure_access', 'use_reseller_smtp'].map((feature) => ({
    rule: `${feature}: a lock prevents new opt-ins and leaves existing use on`,
    seed: withDesk({ config: { [feature]: true } }),
    does: async (world: World) => {
      world.sim.lock('organization', IDS.harbor, feature);
      const config = { [feature]: true, inactivity_timeout: 10 };
      expect((await world.call('updateAgent', { path, body: { config } })).status).toBe(200);
      expect(desk(world).config).toEqual(config);
      const body = { name: 'New', organizationId: IDS.harbor, config };
      return world.call('createAgent', { body });
    },
    status: 403,
    body: { error: 'forbidden' },
  })),
  {
    rule: 'knowledge bases take nothing new while they are locked, and list what they have',
    does: async ({ sim, call }) => {
      sim.lock('account', '', 'knowledge_base');
      const base = { path: { knowledgeBaseId: IDS.base } };
      expect((await call('listKnowledgeSources', base)).status).toBe(200);
      const body = { sourceType: 'url', url: 'https://harbor.example.test/faq' };
      return call('createKnowledgeSource', { ...base, body });
    },
    status: 403,
    body: { error: 'forbidden', error_description: expect.stringContaining('RAG') },
  },
  {
    rule: 'a model that is locked is no longer listed',
    does: async ({ sim, call }) => {
      sim.lock('organization', IDS.harbor, 'llm.epsilon/model-4-31b-it');
      const harbor = await call('listLlmModels', { query: { organization_id: IDS.harbor } });
      expect(harbor.body.data).toHaveLength(8);
      return call('listLlmModels', { query: { organization_id: IDS.north } });
    },
    status: 200,
    also: (_, { body }) => expect(body.data).toHaveLength(9),
  },
]);

test.each([
  { what: 'the floor model', level: 'account', feature: 'llm.alpha-4.1', says: /never be locked/ },
  {
    what: 'an unknown feature',
    level: 'account',
    feature: 'teleport',
    says: /no feature teleport/,
  },
  { what: 'an unknown reseller', level: 'reseller', feature: 'warm_transfer', says: /no reseller/ },
] as const)('$what cannot be locked', async ({ level, feature, says: words }) => {
  await using world = await createWorld({ seed: SEED });
  expect(() => world.sim.lock(level, 'nobody', feature)).toThrow(words);
});
