import { expect } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../src/core/value.ts';
import { MONTH } from './calls.ts';
import { ID } from './ids.ts';
import { type Row, reads, section } from './suite.ts';
import { type Ask, record, type World } from './world.ts';

const SPAN = `startDate=${MONTH.from}&endDate=${MONTH.to}`;

const figures = async ({ get }: World, query = '', ask: Ask = {}): Promise<JsonObject> =>
  record(await get(`/v1/metrics?${SPAN}${query}`, ask));

const block = async (world: World, name: string, query = '', ask: Ask = {}): Promise<JsonObject> =>
  objectOf((await figures(world, query, ask))[name]);

const rows = async (world: World, name: string, query = ''): Promise<readonly JsonObject[]> => {
  const items: Json = (await figures(world, query))[name] ?? null;
  if (!Array.isArray(items)) throw new Error(`no list ${name}`);
  return items.map((item: Json) => objectOf(item));
};

function objectOf(value: Json | undefined): JsonObject {
  if (!isObject(value)) throw new Error('no object');
  return value;
}

const sum = (items: readonly JsonObject[], field: string): number =>
  items.reduce((total, item) => total + Number(item[field]), 0);

const COUNT = expect.toSatisfy((value) => Number.isInteger(value) && value >= 0, 'a count');
const AMOUNT = expect.toSatisfy((value) => typeof value === 'number' && value >= 0, 'an amount');
const PERCENT = expect.toSatisfy(
  (value) => typeof value === 'number' && value >= 0 && value <= 100,
  'a percentage',
);
const PERCENT_OR_NULL = expect.toSatisfy(
  (value) => value === null || (typeof value === 'number' && value >= 0 && value <= 100),
  'a percentage or null',
);
const AMOUNT_OR_NULL = expect.toSatisfy(
  (value) => value === null || (typeof value === 'number' && value >= 0),
  'an amount or null',
);

const TOTALS = {
  totalCalls: 8,
  totalMinutes: AMOUNT,
  resolutionRate: PERCENT,
  avgDuration: AMOUNT,
  activeAgents: COUNT,
  responseTime: AMOUNT_OR_NULL,
  sentimentPercent: PERCENT_OR_NULL,
  escalationRate: PERCENT_OR_NULL,
};

const INSIGHTS = {
  intentAccuracy: PERCENT_OR_NULL,
  contextRetention: PERCENT_OR_NULL,
  speechRecognition: PERCENT_OR_NULL,
  entityExtraction: PERCENT_OR_NULL,
  responseLatency: AMOUNT_OR_NULL,
  trainingSessions: 8,
};

const PERFORMANCE = {
  agentId: ID.desk,
  agentName: 'Front desk',
  totalCalls: 4,
  resolved: 1,
  transferred: 1,
  abandoned: 1,
  other: 1,
  resolvedPercent: 25,
  transferredPercent: 25,
  abandonedPercent: 25,
  otherPercent: 25,
  avgDuration: 75,
  sentimentPercent: PERCENT_OR_NULL,
  status: 'active',
};

const OUTCOMES = ['resolved', 'transferred', 'abandoned', 'other'];

const agent = async (world: World, id: string): Promise<JsonObject> =>
  objectOf((await rows(world, 'agentPerformance')).find(({ agentId }) => agentId === id));

export const metrics: readonly Row[] = [
  ...section(
    'Endpoints · Metrics · Request',
    ...['startDate', 'endDate'].map((name) =>
      reads(`${name} is required`, async ({ get }) => {
        const query = SPAN.split('&').filter((part) => !part.startsWith(name));
        expect((await get(`/v1/metrics?${query.join('&')}`)).status).toBe(400);
      }),
    ),
    ...['startDate=soon&endDate=2026-01-31', 'startDate=2026-01-01&endDate=01/31/2026'].map(
      (query) =>
        reads(`dates are ISO 8601: ${query}`, async ({ get }) => {
          expect((await get(`/v1/metrics?${query}`)).status).toBe(400);
        }),
    ),
    reads('dates may have a time', async ({ get }) => {
      const span = 'startDate=2026-01-01T00:00:00Z&endDate=2026-01-31T23:59:59Z';
      const { metrics: totals } = record(await get(`/v1/metrics?${span}`));
      expect(totals).toMatchObject({ totalCalls: 8 });
    }),
    reads('calls outside the span do not count', async ({ get }) => {
      const span = 'startDate=2026-01-11&endDate=2026-01-14';
      const { metrics: totals } = record(await get(`/v1/metrics?${span}`));
      expect(totals).toMatchObject({ totalCalls: 4 });
    }),
    reads('without a filter all organizations count', async (world) => {
      expect(await block(world, 'metrics')).toMatchObject({ totalCalls: 8 });
    }),
    reads('organizationId counts one', async (world) => {
      const totals = await block(world, 'metrics', `&organizationId=${ID.north}`);
      expect(totals).toMatchObject({ totalCalls: 1, avgDuration: 300 });
    }),
    reads('resellerId counts its organizations together', async (world) => {
      const totals = await block(world, 'metrics', `&resellerId=${ID.tidewater}`);
      expect(totals).toMatchObject({ totalCalls: 7 });
    }),
    reads('the structure is the same for a reseller', async (world) => {
      const query = `&resellerId=${ID.tidewater}`;
      expect(Object.keys(await figures(world, query))).toEqual(Object.keys(await figures(world)));
    }),
    reads('a scoped key counts what it reaches', async (world) => {
      const totals = await block(world, 'metrics', '', { as: 'north-key' });
      expect(totals).toMatchObject({ totalCalls: 1 });
    }),
  ),
  ...section(
    'Endpoints · Metrics · Totals',
    Object.entries(TOTALS).map(([field, matcher]) =>
      reads(`${field} is told, in its range`, async (world) => {
        expect((await block(world, 'metrics'))[field]).toEqual(matcher);
      }),
    ),
    reads('minutes are those of all calls together', async (world) => {
      expect((await block(world, 'metrics')).totalMinutes).toBeCloseTo(735 / 60, 0);
    }),
    reads('the resolution rate is the part that was resolved', async (world) => {
      expect((await block(world, 'metrics')).resolutionRate).toBeCloseTo(37.5, 0);
    }),
    reads('the average duration is in seconds', async (world) => {
      expect((await block(world, 'metrics')).avgDuration).toBeCloseTo(735 / 8, 0);
    }),
  ),
  ...section(
    'Endpoints · Metrics · Distributions',
    reads('a day has its date and its calls', async (world) => {
      const days = await rows(world, 'dailyVolume');
      expect(days).toContainEqual({ date: '2026-01-10', totalCalls: 2, resolvedCalls: 1 });
      expect(days.filter(({ date }) => !/^\d{4}-\d\d-\d\d$/.test(String(date)))).toEqual([]);
    }),
    reads('the days add up', async (world) => {
      const days = await rows(world, 'dailyVolume');
      expect([sum(days, 'totalCalls'), sum(days, 'resolvedCalls')]).toEqual([8, 3]);
    }),
    reads('the hours are the 24 of a day, in order', async (world) => {
      const hours = (await rows(world, 'hourlyDistribution')).map(({ hour }) => hour);
      const all = Array.from({ length: 24 }, (_, at) => `${String(at).padStart(2, '0')}:00`);
      expect(hours).toEqual(all);
    }),
    reads('the hours add up', async (world) => {
      const hours = await rows(world, 'hourlyDistribution');
      expect(sum(hours, 'calls')).toBe(8);
      expect(sum(hours, 'minutes')).toBeCloseTo(735 / 60, 0);
    }),
    reads('outcomes are counted', async (world) => {
      expect(await block(world, 'resolutionBreakdown')).toEqual({
        resolved: 3,
        transferred: 3,
        abandoned: 1,
        other: 1,
      });
    }),
  ),
  ...section(
    'Endpoints · Metrics · Agents',
    Object.entries(PERFORMANCE).map(([field, matcher]) =>
      reads(`${field} is told of an agent`, async (world) => {
        expect((await agent(world, ID.desk))[field]).toEqual(matcher);
      }),
    ),
    reads('an agent that is inactive is told so', async (world) => {
      expect((await agent(world, ID.night)).status).toBe('inactive');
    }),
    reads('an agent that is gone is told so', async (world) => {
      expect(await agent(world, ID.gone)).toMatchObject({ status: 'deleted', totalCalls: 1 });
    }),
    reads('outcomes of an agent add up to its calls', async (world) => {
      for (const one of await rows(world, 'agentPerformance'))
        expect(OUTCOMES.reduce((total, name) => total + Number(one[name]), 0)).toBe(one.totalCalls);
    }),
    reads('calls of agents add up to all calls', async (world) => {
      expect(sum(await rows(world, 'agentPerformance'), 'totalCalls')).toBe(8);
    }),
  ),
  ...section(
    'Endpoints · Metrics · Insights',
    Object.entries(INSIGHTS).map(([field, matcher]) =>
      reads(`${field} is told, in its range`, async (world) => {
        expect((await block(world, 'aiInsights'))[field]).toEqual(matcher);
      }),
    ),
    reads('latency and response time have one source', async (world) => {
      const { responseLatency } = await block(world, 'aiInsights');
      expect(responseLatency).toBe((await block(world, 'metrics')).responseTime);
    }),
  ),
  ...section(
    'Endpoints · Metrics · Escalations',
    reads('reasons come with the most frequent first', async (world) => {
      const reasons = await rows(world, 'escalationReasons');
      expect(reasons.map(({ reason, count }) => [reason, count])).toEqual([
        ['Wants a person', 2],
        ['Billing question', 1],
      ]);
    }),
    reads('each has its part of all and a time', async (world) => {
      const reasons = await rows(world, 'escalationReasons');
      for (const reason of reasons)
        expect(reason).toMatchObject({ percentOfTotal: PERCENT, avgTimeBeforeEscalation: AMOUNT });
      expect(sum(reasons, 'percentOfTotal')).toBeCloseTo(100, 0);
    }),
    reads('there are none where nobody was transferred', async (world) => {
      expect(await rows(world, 'escalationReasons', `&organizationId=${ID.north}`)).toEqual([]);
    }),
  ),
  ...section(
    'Limits · Hourly distribution',
    ...['', `&organizationId=${ID.north}`, `&resellerId=${ID.tidewater}`].map((query) =>
      reads(`it has 24 entries ${query === '' ? 'for all' : query.slice(1, 13)}`, async (world) => {
        expect(await rows(world, 'hourlyDistribution', query)).toHaveLength(24);
      }),
    ),
    reads('it has 24 entries where nobody called', async ({ get }) => {
      const span = 'startDate=2025-01-01&endDate=2025-01-02';
      expect(record(await get(`/v1/metrics?${span}`)).hourlyDistribution).toHaveLength(24);
    }),
  ),
];
