import { expect, test } from 'vitest';
import { type OperationId, operations } from '../../src/platform/operations.generated.ts';
import { createWorld, IDS, type Request, SEED, section, tokenOf, type World } from './world.ts';

/** A request to every operation that names what the account has in `harbor`, outside the scope of `scoped`. */
const REQUESTS: { readonly [id in OperationId]?: Request } = {
  createAgent: { body: { name: 'New', organizationId: IDS.harbor } },
  getAgent: { path: { agentId: IDS.desk } },
  updateAgent: { path: { agentId: IDS.desk }, body: { description: 'x' } },
  deleteAgent: { path: { agentId: IDS.desk } },
  listAgentHistory: { path: { agentId: IDS.desk } },
  revertAgent: { path: { agentId: IDS.desk, versionId: '1' } },
  setSipRegistration: { path: { agentId: IDS.desk }, body: { registrationEnabled: true } },
  getPaymentReadiness: { path: { agentId: IDS.desk } },
  setPaymentTool: { path: { agentId: IDS.desk }, body: { enabled: true } },
  listAgents: { query: { organization_id: IDS.harbor } },
  listFeatures: { query: { organization_id: IDS.harbor } },
  listLlmModels: { query: { organization_id: IDS.harbor } },
  listCustomVoices: { query: { organizationId: IDS.harbor } },
  listKnowledgeSources: { path: { knowledgeBaseId: IDS.base } },
  createKnowledgeSource: {
    path: { knowledgeBaseId: IDS.base },
    body: { sourceType: 'url', url: 'https://harbor.example.test/faq' },
  },
  enqueueKnowledgeSource: { path: { knowledgeBaseId: IDS.base, sourceId: IDS.nobody } },
  listEmailTemplates: { query: { organization_id: IDS.harbor } },
  createEmailTemplate: { body: { organization_id: IDS.harbor, name: 'New' } },
  getEmailTemplate: { path: { templateId: IDS.email } },
  updateEmailTemplate: { path: { templateId: IDS.email }, body: { name: 'New' } },
  deleteEmailTemplate: { path: { templateId: IDS.email } },
  listSmsTemplates: { query: { organization_id: IDS.harbor } },
  createSmsTemplate: { body: { organization_id: IDS.harbor, name: 'New', message_type: 'sms' } },
  getSmsTemplate: { path: { templateId: IDS.sms } },
  updateSmsTemplate: { path: { templateId: IDS.sms }, body: { name: 'New' } },
  deleteSmsTemplate: { path: { templateId: IDS.sms } },
};

const scoped = (world: World) => tokenOf(world, 'scoped', 'scoped-secret');
const outside = Object.entries(REQUESTS) as [OperationId, Request][];

section(
  'Authentication 4 and 5: outside the scope of a key',
  outside.map(([id, request]) => {
    const names = request.query !== undefined || /organization/i.test(JSON.stringify(request.body));
    return {
      rule: names
        ? `${id} that names an organization is forbidden`
        : `what ${id} asks for does not exist`,
      does: async (world: World) =>
        world.call(id, { ...request, authorization: await scoped(world) }),
      status: names ? 403 : 404,
      ...(names ? { body: { error: 'forbidden' } } : {}),
    };
  }),
);

const CLOSED = (Object.keys(operations) as OperationId[]).filter(
  (id) => operations[id].scoped === 'closed' && operations[id].auth === 'bearer',
);

section(
  'Authentication 6: closed to scoped keys',
  CLOSED.map((id) => ({
    rule: `${id} is refused, whatever it asks for`,
    does: async (world: World) =>
      world.call(id, { path: { policyId: IDS.policy }, authorization: await scoped(world) }),
    status: 403,
    body: { error: 'insufficient_scope' },
  })),
);

section('Authentication 5: inside the scope of a key', [
  ...(
    [
      ['listAgents', [{ id: IDS.recall }]],
      ['listEmailTemplates', []],
      ['listSmsTemplates', []],
      ['listRetryPolicies', [{ id: IDS.policy }]],
    ] as const
  ).map(([id, data]) => ({
    rule: `${id} shows what the key reaches`,
    does: async (world: World) => world.call(id, { authorization: await scoped(world) }),
    status: 200,
    body: { data },
  })),
  {
    rule: "a reseller's key reaches all of its organizations",
    does: async (world) =>
      world.call('getAgent', {
        path: { agentId: IDS.desk },
        authorization: await tokenOf(world, 'reseller', 'reseller-secret'),
      }),
    status: 200,
  },
  {
    rule: "an organization's key does not reach its reseller",
    seed: {
      ...SEED,
      keys: [
        {
          client_id: 'scoped',
          client_secret: 'scoped-secret',
          scope: { level: 'organization', id: IDS.harbor },
        },
      ],
    },
    does: async (world) =>
      world.call('listFeatures', {
        query: { reseller_id: 'reseller-1' },
        authorization: await scoped(world),
      }),
    status: 403,
    body: { error: 'forbidden' },
  },
  {
    rule: 'revert works inside the scope',
    does: async (world) => {
      const authorization = await scoped(world);
      const at = { path: { agentId: IDS.recall }, authorization };
      await world.call('updateAgent', { ...at, body: { greetingMessage: 'Hello' } });
      const { body } = await world.call('listAgentHistory', at);
      const first = Object(Array.isArray(body.data) ? body.data.at(-1) : undefined);
      const path = { agentId: IDS.recall, versionId: String(first.id) };
      return world.call('revertAgent', { path, authorization });
    },
    status: 200,
    body: { success: true },
  },
  {
    rule: 'me reports the scope',
    does: async (world) => world.call('getMe', { authorization: await scoped(world) }),
    status: 200,
    body: { account_id: 'account-1', scope: { level: 'organization', id: IDS.north } },
  },
  {
    rule: 'me reports no scope where there is none',
    does: ({ call }) => call('getMe'),
    status: 200,
    also: (_, { body }) => expect(body).toEqual({ account_id: 'account-1' }),
  },
]);

test('rotating a scoped key ends its tokens and nobody elses, and keeps its id', async () => {
  await using world = await createWorld({ seed: SEED });
  const authorization = await scoped(world);
  const secret = world.sim.rotateSecret('scoped');
  const { status, body } = await world.call('getMe', { authorization });
  expect([status, body.error_description]).toEqual([401, expect.stringContaining('rotated')]);
  expect((await world.call('getMe')).status).toBe(200);
  const renewed = await tokenOf(world, 'scoped', secret);
  expect((await world.call('getMe', { authorization: renewed })).status).toBe(200);
});
