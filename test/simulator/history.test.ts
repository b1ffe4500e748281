import { expect } from 'vitest';
import { desk, entries, IDS, revert, section, type World } from './world.ts';

const path = { agentId: IDS.desk };
const update = (world: World, body: object) => world.call('updateAgent', { path, body });

section('Agent history', [
  {
    rule: 'an update through the API is signed by the account',
    does: async (world) => {
      await update(world, { greetingMessage: 'Hello' });
      return world.call('listAgentHistory', { path });
    },
    status: 200,
    body: {
      data: [
        {
          id: expect.any(Number),
          version: 2,
          action: 'updated',
          reverted_from_id: null,
          actor: { id: 'api:account-1' },
          source: 'dashboard-api',
        },
        { version: 1, action: 'created', source: 'dashboard' },
      ],
    },
  },
  {
    rule: 'an edit in the dashboard is signed by a person',
    does: async (world) => {
      world.sim.edit(IDS.desk, { greeting_message: 'Edited' }, 'user:kim');
      return world.call('listAgentHistory', { path, query: { limit: '1' } });
    },
    status: 200,
    body: { data: [{ actor: { id: 'user:kim' }, source: 'dashboard' }] },
    also: (world) => expect(desk(world).greeting_message).toBe('Edited'),
  },
  {
    rule: 'a creation is the first entry',
    does: async ({ call }) => {
      const { body } = await call('createAgent', {
        body: { name: 'New', organizationId: IDS.harbor },
      });
      return call('listAgentHistory', { path: { agentId: String(Object(body.data).id) } });
    },
    status: 200,
    body: { data: [{ action: 'created', version: 1, source: 'dashboard-api' }] },
  },
  {
    rule: 'entries can be seen after a while',
    options: { dialect: { historyLagMs: 5000 }, now: () => clock.now },
    does: async (world) => {
      clock.now = new Date('2026-01-01T00:00:00Z');
      await update(world, { greetingMessage: 'Hello' });
      expect(await entries(world)).toHaveLength(0);
      clock.now = new Date('2026-01-01T00:00:06Z');
      return world.call('listAgentHistory', { path });
    },
    status: 200,
    also: (_, { body }) => expect(body.data).toHaveLength(2),
  },
  {
    rule: 'a version that retention removed is not found',
    options: { dialect: { historyRetention: 2 } },
    does: async (world) => {
      const [first] = await entries(world);
      for (const greetingMessage of ['A', 'B', 'C']) await update(world, { greetingMessage });
      expect(await entries(world)).toHaveLength(2);
      return revert(world, first?.id);
    },
    status: 404,
    body: { error: 'not_found' },
  },
  {
    rule: 'an unknown agent has no history',
    does: ({ call }) => call('listAgentHistory', { path: { agentId: IDS.nobody } }),
    status: 404,
  },
]);

const clock = { now: new Date('2026-01-01T00:00:00Z') };
