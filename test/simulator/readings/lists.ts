import { expect } from 'vitest';
import { IDS, type Reply, SEED } from '../world.ts';
import { answer, at, history, keys, listOf, type Readings, record, update } from './reading.ts';

const names = async (reply: Promise<Reply>) => listOf(await reply).map(({ name }) => name);
const callOn = (day: string) => callAt(`${day}T10:00:00Z`);
const callAt = (at: string, agent: string = IDS.desk) => ({
  agent_id: agent,
  call_started_at: at,
  call_duration: 60,
});
const MINUTES_AGO = new Date(Date.now() - 600_000).toISOString();

/** What lists hold, and in which order. */
export const listsReadings: Readings<
  | 'listOrder'
  | 'listFields'
  | 'listUpdatedAt'
  | 'listPages'
  | 'emptyListPages'
  | 'pageLimit'
  | 'historyOrder'
  | 'historyCreatedAt'
  | 'historyLagMs'
  | 'historyRetention'
  | 'emptyUpdates'
  | 'facetEntries'
  | 'featureRows'
  | 'callLogOrder'
  | 'metrics'
> = {
  listOrder: {
    look: ({ call }) => names(call('listAgents')),
    shows: [
      ['created', ['Front desk', 'Recall', 'Legacy']],
      ['newest', ['Legacy', 'Recall', 'Front desk']],
      ['name', ['Front desk', 'Legacy', 'Recall']],
    ],
  },
  listFields: {
    look: async ({ call }) =>
      keys(listOf(await call('listAgents'))[0])
        .sort()
        .join(),
    shows: [
      ['fewest', 'id,name,updated_at'],
      ['some', expect.stringContaining('agent_type')],
      ['all', expect.stringContaining('system_prompt')],
    ],
  },
  listUpdatedAt: {
    look: async ({ call }) => keys(listOf(await call('listAgents'))[0]).includes('updated_at'),
    shows: [
      [true, true],
      [false, false],
    ],
  },
  listPages: {
    look: async (world) => [
      await answer(world, 'listRetryPolicies'),
      listOf(await world.call('listRetryPolicies', { query: { page: '2' } })).length,
    ],
    shows: [
      ['counted', [[200, 'data,pagination'], 0]],
      ['bare', [[200, 'data'], 0]],
      ['whole', [[200, 'data'], 1]],
    ],
  },
  emptyListPages: {
    look: async ({ call }) => {
      const { body } = await call('listEmailTemplates', { query: { organization_id: IDS.north } });
      return body.pagination;
    },
    shows: [
      [0, expect.objectContaining({ total: 0, totalPages: 0, hasNext: false })],
      [1, expect.objectContaining({ total: 0, totalPages: 1, hasNext: false })],
    ],
  },
  pageLimit: {
    look: async ({ call }) => {
      const { status, body } = await call('listAgents', { query: { limit: '1000' } });
      return [status, Object(body.pagination).limit];
    },
    shows: [
      ['refused', [400, undefined]],
      ['clamped', [200, 100]],
    ],
  },
  historyOrder: {
    look: async (world) => {
      await update(world, { description: 'A' });
      await update(world, { description: 'B' });
      const entries = listOf(
        await world.call('listAgentHistory', { ...at, query: { limit: '2' } }),
      );
      return entries.map(({ version }) => version);
    },
    shows: [
      ['newest', [3, 2]],
      ['oldest', [2, 3]],
    ],
  },
  historyCreatedAt: {
    look: async (world) => keys((await history(world))[0]).includes('created_at'),
    shows: [
      [true, true],
      [false, false],
    ],
  },
  historyLagMs: {
    look: async (world) => {
      world.sim.advance(60_000);
      await update(world, { description: 'A' });
      return (await history(world)).length;
    },
    shows: [
      [0, 2],
      [5000, 1],
    ],
  },
  historyRetention: {
    look: async (world) => {
      for (const description of ['A', 'B', 'C']) await update(world, { description });
      return (await history(world)).length;
    },
    shows: [
      [null, 4],
      [2, 2],
    ],
  },
  emptyUpdates: {
    look: async (world) => {
      const before = world.sim.store.agents.get(IDS.desk)?.record.updated_at;
      const after = record(await update(world, { name: 'Front desk' })).updated_at;
      return [(await history(world)).length, before === after];
    },
    shows: [
      ['recorded', [2, false]],
      ['ignored', [1, true]],
    ],
  },
  facetEntries: {
    look: async (world) => {
      await world.call('setSipRegistration', { ...at, body: { registrationEnabled: false } });
      await world.call('setPaymentTool', { ...at, body: { enabled: true } });
      return (await history(world)).length;
    },
    shows: [
      [false, 1],
      [true, 3],
    ],
  },
  featureRows: {
    look: async ({ call }) =>
      listOf(await call('listFeatures')).some(({ key }) => key === 'warm_transfer'),
    shows: [
      ['all', true],
      ['named', false],
    ],
  },
  callLogOrder: {
    seed: { ...SEED, calls: ['2026-01-01', '2026-01-02'].map(callOn) },
    look: async (world) =>
      listOf(await world.call('listCallLogs', at)).map(({ call_started_at }) =>
        String(call_started_at).slice(0, 10),
      ),
    shows: [
      ['newest', ['2026-01-02', '2026-01-01']],
      ['oldest', ['2026-01-01', '2026-01-02']],
    ],
  },
  metrics: {
    seed: {
      ...SEED,
      calls: [
        callOn('2026-01-01'),
        ...[IDS.desk, IDS.recall, IDS.foreign].map((agent) => callAt(MINUTES_AGO, agent)),
      ],
    },
    look: async ({ call }) => {
      const span = { startDate: '2026-01-01', endDate: '9999-12-31' };
      const { metrics, agentPerformance } = record(await call('getMetrics', { query: span }));
      return [Object(metrics).totalCalls, Object(agentPerformance).length];
    },
    shows: [
      ['complete', [4, 3]],
      ['late', [1, 1]],
      ['partial', [4, 2]],
    ],
  },
};
