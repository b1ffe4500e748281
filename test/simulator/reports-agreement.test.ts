import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { runs } from '../long.ts';
import { createWorld, type World } from './world.ts';

/**
 * Metrics, billing and call logs are asked for the same spans and the same organizations. Call logs are the
 * oracle: they are read once, page by page, and counted here.
 */
const NOW = Date.parse('2026-03-06T12:34:56.000Z');
const DAY = 86_400_000;

type Log = {
  readonly agentId: string;
  readonly organizationId: string;
  readonly startedAt: number;
  readonly seconds: number;
};

let world: World & AsyncDisposable;
let logs: readonly Log[];

const ACCOUNT = { agents: 40, resellers: 2, organizations: 7 };

/** A world whose clock shows `NOW` at last. */
const ACCOUNTS: readonly [string, () => Promise<World & AsyncDisposable>][] = [
  [
    'calls of the last 90 days',
    () => createWorld({ ...ACCOUNT, calls: 700, now: () => new Date(NOW) }),
  ],
  [
    'callers, who go on while agents are changed and deleted',
    async () => {
      const hours = 3_600_000;
      const live = await createWorld({
        ...ACCOUNT,
        callers: { perDay: 0.25, weeks: 12 },
        now: () => new Date(NOW - 20 * hours),
      });
      const [first = '', second = ''] = live.sim.store.agents.keys();
      live.sim.advance(9 * hours);
      live.sim.edit(first, { status: 'inactive' });
      expect((await live.call('deleteAgent', { path: { agentId: second } })).status).toBe(204);
      live.sim.advance(11 * hours);
      // Enters the last calls of the deleted agent, which nobody can ask the logs for.
      await live.call('getMetrics', { query: { startDate: iso(0), endDate: iso(0) } });
      return live;
    },
  ],
];

async function readLogs({ sim, call }: World): Promise<readonly Log[]> {
  const all: Log[] = [];
  for (const { id, organizationId } of sim.store.agents.values())
    for (let page = 1, more = true; more; page += 1) {
      const { body } = await call('listCallLogs', {
        path: { agentId: id },
        query: { page: String(page), limit: '20' },
      });
      for (const log of listOf(body.data))
        all.push({
          agentId: id,
          organizationId,
          startedAt: Date.parse(String(log.call_started_at)),
          seconds: Number(log.call_duration),
        });
      more = Object(body.pagination).hasNext;
    }
  return all;
}

/** Logs of a deleted agent cannot be read (Call logs); metrics and billing count its calls all the same. */
function deletedLogs({ sim: { store } }: World): readonly Log[] {
  return [...store.calls.values()]
    .filter(({ agentId }) => !store.agents.has(agentId))
    .flatMap(({ agentId, organizationId, calls }) =>
      calls.map(({ startedAt, duration }) => ({
        agentId,
        organizationId,
        startedAt,
        seconds: duration,
      })),
    );
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value : [];
}

const sum = (numbers: readonly unknown[]) => numbers.reduce<number>((a, b) => a + Number(b), 0);
/** Minutes are rounded to two decimals, so that the seconds behind them can be had back. */
const seconds = (minutes: unknown) => Math.round(Number(minutes) * 60);
const iso = (day: number) => new Date(Math.floor(NOW / DAY) * DAY - day * DAY).toISOString();

const spans = fc
  .tuple(fc.integer({ min: -2, max: 95 }), fc.integer({ min: 0, max: 97 }))
  .map(([last, length]) => ({
    start: iso(last + length).slice(0, 10),
    end: iso(last).slice(0, 10),
  }));
const filters = fc.oneof(
  fc.constant('all' as const),
  fc.nat({ max: 6 }).map((organization) => ({ organization })),
  fc.nat({ max: 1 }).map((reseller) => ({ reseller })),
);
type Filter = typeof filters extends fc.Arbitrary<infer T> ? T : never;

/** The organizations of a filter, and how it is said to each of the two endpoints. */
function read(filter: Filter) {
  const { organizations, resellers } = world.sim.store;
  const all = [...organizations.values()];
  if (filter === 'all') return { ids: all.map(({ id }) => id), metrics: {}, billing: {} };
  if ('organization' in filter) {
    const id = all[filter.organization]?.id ?? '';
    return { ids: [id], metrics: { organizationId: id }, billing: { organization_ids: id } };
  }
  const id = [...resellers.keys()][filter.reseller] ?? '';
  return {
    ids: all.filter(({ resellerId }) => resellerId === id).map((one) => one.id),
    metrics: { resellerId: id },
    billing: { 'reseller_ids[]': [id] },
  };
}

describe.each(ACCOUNTS)('%s', (_calls, create) => {
  beforeAll(async () => {
    world = await create();
    logs = [...(await readLogs(world)), ...deletedLogs(world)];
    expect(logs.length).toBeGreaterThan(500);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test('Metrics, Billing report and Call logs agree over any span and any organizations', agree);
});

async function agree(): Promise<void> {
  await fc.assert(
    fc.asyncProperty(spans, filters, async ({ start, end }, filter) => {
      const { ids, ...query } = read(filter);
      const within = logs.filter(
        ({ organizationId, startedAt }) =>
          ids.includes(organizationId) &&
          startedAt >= Date.parse(start) &&
          startedAt < Date.parse(end) + DAY,
      );
      const { body } = await world.call('getMetrics', {
        query: { startDate: start, endDate: end, ...query.metrics },
      });
      const data: JsonObject = Object(body.data);
      countsCalls(data, within);
      splitsByTime(data, within, { start, end });
      splitsByAgent(data, within);
      splitsEscalations(data);

      const bill = await world.call('getBillingReport', {
        query: { start_date: start, end_date: end, ...query.billing },
      });
      const rows = listOf(bill.body.data);
      expect(rows.map((row) => [row.organization_id, seconds(row.voice_minutes)])).toEqual(
        ids.map((id) => [
          id,
          sum(within.filter((log) => log.organizationId === id).map((log) => log.seconds)),
        ]),
      );
    }),
    { numRuns: runs(60) },
  );
}

function countsCalls(data: JsonObject, within: readonly Log[]): void {
  const whole: JsonObject = Object(data.metrics);
  const counts: JsonObject = Object(data.resolutionBreakdown);
  const talked = sum(within.map((log) => log.seconds));
  expect(whole.totalCalls).toBe(within.length);
  expect(seconds(whole.totalMinutes)).toBe(talked);
  expect(Number(whole.avgDuration)).toBeCloseTo(within.length ? talked / within.length : 0, 0);
  expect(sum(Object.values(counts))).toBe(within.length);
  expect(Number(whole.resolutionRate)).toBeCloseTo(
    within.length ? (100 * Number(counts.resolved)) / within.length : 0,
    0,
  );
  const insights: JsonObject = Object(data.aiInsights);
  expect(insights.trainingSessions).toBe(within.length);
  expect(insights.responseLatency).toBe(whole.responseTime);
  expect(whole.escalationRate === null).toBe(within.length === 0);
}

function splitsByTime(
  data: JsonObject,
  within: readonly Log[],
  { start, end }: { readonly start: string; readonly end: string },
): void {
  const days = listOf(data.dailyVolume);
  const hours = listOf(data.hourlyDistribution);
  expect(days).toHaveLength((Date.parse(end) - Date.parse(start)) / DAY + 1);
  for (const { date, totalCalls } of days)
    expect(totalCalls).toBe(within.filter((log) => at(log).startsWith(String(date))).length);
  expect(sum(days.map((day) => day.resolvedCalls))).toBe(Object(data.resolutionBreakdown).resolved);
  expect(hours.map(({ hour }) => hour)).toEqual(
    Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`),
  );
  for (const { hour, calls, minutes } of hours) {
    const then = within.filter((log) => at(log).slice(11, 13) === String(hour).slice(0, 2));
    expect([calls, seconds(minutes)]).toEqual([then.length, sum(then.map((log) => log.seconds))]);
  }
}

const at = ({ startedAt }: Log) => new Date(startedAt).toISOString();

const OUTCOMES = ['resolved', 'transferred', 'abandoned', 'other'];

function splitsByAgent(data: JsonObject, within: readonly Log[]): void {
  const agents = listOf(data.agentPerformance);
  expect(agents.map(({ agentId }) => agentId).sort()).toEqual(
    [...new Set(within.map(({ agentId }) => agentId))].sort(),
  );
  for (const name of OUTCOMES)
    expect(sum(agents.map((agent) => agent[name]))).toBe(Object(data.resolutionBreakdown)[name]);
  for (const agent of agents) {
    expect(agent.totalCalls).toBe(within.filter((log) => log.agentId === agent.agentId).length);
    expect(sum(OUTCOMES.map((name) => agent[name]))).toBe(agent.totalCalls);
    expect(sum(OUTCOMES.map((name) => agent[`${name}Percent`]))).toBeCloseTo(100, 0);
    expect(agent.status === 'deleted').toBe(!world.sim.store.agents.has(String(agent.agentId)));
  }
}

function splitsEscalations(data: JsonObject): void {
  const reasons = listOf(data.escalationReasons);
  const counts = reasons.map(({ count }) => Number(count));
  expect(sum(counts)).toBe(Object(data.resolutionBreakdown).transferred);
  expect(counts).toEqual([...counts].sort((a, b) => b - a));
  if (reasons.length > 0)
    expect(sum(reasons.map(({ percentOfTotal }) => percentOfTotal))).toBeCloseTo(100, 0);
}
