import { expect } from 'vitest';
import { IDS, section, tokenOf, type World } from './world.ts';

const credentials = ({ sim }: World) => ({
  client_id: sim.clientId,
  client_secret: sim.clientSecret,
  audience: `${sim.url}/`,
  grant_type: 'client_credentials',
});

section('Token', [
  {
    rule: 'a key and the right audience give a bearer token for a day',
    does: (world) => world.call('createToken', { body: credentials(world) }),
    status: 200,
    body: { token_type: 'Bearer', expires_in: 86_400 },
  },
  ...['client_id', 'client_secret', 'audience', 'grant_type'].map((name) => ({
    rule: `${name} is required and named when it is missing`,
    does: (world: World) =>
      world.call('createToken', { body: { ...credentials(world), [name]: undefined } }),
    status: 400,
    body: { error: 'invalid_request', error_description: expect.stringContaining(name) },
  })),
  {
    rule: 'the audience has a trailing slash',
    does: (world) =>
      world.call('createToken', { body: { ...credentials(world), audience: world.sim.url } }),
    status: 401,
    body: { error: 'unauthorized', error_description: expect.stringContaining('audience') },
  },
  {
    rule: 'there is no other grant',
    does: (world) =>
      world.call('createToken', { body: { ...credentials(world), grant_type: 'password' } }),
    status: 400,
    body: { error: 'invalid_request' },
  },
  {
    rule: 'a wrong secret gives no token',
    does: (world) =>
      world.call('createToken', { body: { ...credentials(world), client_secret: 'x' } }),
    status: 401,
    body: { error: 'unauthorized' },
  },
]);

const day = { at: new Date('2026-01-01T00:00:00Z') };

section('Authentication', [
  ...[null, 'Token abc', 'Bearer'].map((authorization) => ({
    rule: `header ${authorization ?? 'missing'} is missing or malformed`,
    does: ({ call }: World) => call('getMe', { authorization }),
    status: 401,
    body: {
      error: 'invalid_request',
      error_description: expect.stringMatching(/missing or malformed/i),
    },
  })),
  {
    rule: 'an unknown token is invalid',
    does: ({ call }) => call('getMe', { authorization: 'Bearer nonsense' }),
    status: 401,
    body: { error: 'invalid_token' },
  },
  {
    rule: 'agents and STT providers answer invalid_token',
    does: ({ call }) => call('listAgents', { authorization: null }),
    status: 401,
    body: { error: 'invalid_token' },
  },
  {
    rule: 'features and models answer unauthorized',
    does: ({ call }) => call('listFeatures', { authorization: 'Bearer nonsense' }),
    status: 401,
    body: { error: 'unauthorized' },
  },
  {
    rule: 'revert answers invalid_request to any of them',
    does: ({ call }) =>
      call('revertAgent', {
        path: { agentId: IDS.desk, versionId: '1' },
        authorization: 'Bearer nonsense',
      }),
    status: 401,
    body: { error: 'invalid_request' },
  },
  {
    rule: 'a token ends after a day',
    options: { now: () => day.at },
    does: async ({ call }) => {
      day.at = new Date('2026-01-01T00:00:00Z');
      await call('getMe');
      day.at = new Date('2026-01-02T00:00:00Z');
      return call('getMe');
    },
    status: 401,
    body: { error: 'invalid_token', error_description: expect.stringContaining('expired') },
  },
  {
    rule: 'rotating the secret ends earlier tokens',
    does: async ({ sim, call }) => {
      await call('getMe');
      sim.rotateSecret();
      return call('getMe');
    },
    status: 401,
    body: { error_description: expect.stringContaining('rotated') },
  },
  {
    rule: 'a scoped key sees its scope only, and a missing agent outside it',
    does: async (world) => {
      const authorization = await tokenOf(world, 'scoped', 'scoped-secret');
      const list = await world.call('listAgents', { authorization });
      expect(list.body.data).toMatchObject([{ id: IDS.recall }]);
      return world.call('getAgent', { path: { agentId: IDS.desk }, authorization });
    },
    status: 404,
    body: { error: 'not_found' },
  },
  {
    rule: 'a scoped key that names an organization outside its scope is refused',
    does: async (world) => {
      const authorization = await tokenOf(world, 'reseller', 'reseller-secret');
      return world.call('listLlmModels', { query: { organization_id: IDS.north }, authorization });
    },
    status: 403,
    body: { error: 'forbidden' },
  },
  {
    rule: 'a scoped key reads retry policies',
    does: async (world) => {
      const authorization = await tokenOf(world, 'scoped', 'scoped-secret');
      return world.call('getRetryPolicy', { path: { policyId: IDS.policy }, authorization });
    },
    status: 200,
  },
  {
    rule: 'a scoped key does not change retry policies',
    does: async (world) => {
      const authorization = await tokenOf(world, 'scoped', 'scoped-secret');
      return world.call('deleteRetryPolicy', { path: { policyId: IDS.policy }, authorization });
    },
    status: 403,
    body: { error: 'insufficient_scope' },
  },
]);

section('Account', [
  {
    rule: 'me names the account',
    does: ({ call }) => call('getMe'),
    status: 200,
    body: { account_id: 'account-1' },
  },
]);
