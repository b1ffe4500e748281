import type { JsonObject } from '../../src/core/value.ts';
import type { SeedDocument } from '../../src/simulator/index.ts';
import { IDS, type Reply, tokenOf, type World } from './world.ts';

export const NOW = '2026-03-06T12:00:00.000Z';

export const REPORT_IDS = {
  ...IDS,
  lake: '9d0f7a31-55c2-4b1e-8f64-2f1f6f3a0c33',
  tide: 'aaaaaaaa-0000-4000-a000-000000000001',
  summit: 'aaaaaaaa-0000-4000-a000-000000000002',
  night: 'aaaaaaaa-0000-4000-a000-000000000003',
  gone: 'aaaaaaaa-0000-4000-a000-000000000004',
} as const;
const { harbor, lake, north, tide, summit, desk, night, recall, gone } = REPORT_IDS;

const hook = (name: string, condition: string): JsonObject => ({
  type: 'webhook',
  name,
  condition,
  method: 'POST',
  url: 'https://crm.example.test/c',
});

/** Three organizations, one of them without calls; an agent that is gone; eight calls in four days. */
export const REPORTS: SeedDocument = {
  account_id: 'account-1',
  resellers: [
    { id: tide, name: 'Tidewater' },
    { id: summit, name: 'Summit' },
  ],
  organizations: [
    { id: harbor, name: 'Harbor Dental', reseller_id: tide },
    { id: lake, name: 'Lakeview Vets', reseller_id: tide },
    { id: north, name: 'Northside' },
  ],
  keys: [
    { client_id: 'north', client_secret: 'x', scope: { level: 'organization', id: north } },
    { client_id: 'tide', client_secret: 'x', scope: { level: 'reseller', id: tide } },
  ],
  agents: [
    { id: desk, organization_id: harbor, name: 'Front desk', enable_recording: true },
    {
      id: night,
      organization_id: harbor,
      name: 'Night',
      status: 'inactive',
      extensions: {
        tools: [
          hook('prefetch', 'before_call'),
          hook('lookup', 'during_call'),
          hook('archive', 'after_call'),
        ],
      },
    },
    { id: recall, organization_id: north, name: 'Recall', language: 'es-US' },
    { id: gone, organization_id: harbor, name: 'Gone', deleted: true },
  ],
  calls: [
    call(desk, '2026-03-02T09:15:00.000Z', 120, 'resolved', { sentiment: 'Positive', id: 'log-1' }),
    call(desk, '2026-03-02T14:00:00.000Z', 61, 'transferred', {
      sentiment: 'Negative',
      reason: 'Complaint',
      caller_id: '+12065550101',
    }),
    call(desk, '2026-03-03T09:59:59.999Z', 30, 'abandoned', { recorded: false }),
    call(desk, '2026-03-05T00:00:00.000Z', 45, 'other'),
    call(night, '2026-03-03T23:59:59.999Z', 300, 'transferred', { reason: 'Bill', id: 'log-5' }),
    call(night, '2026-03-04T00:00:00.000Z', 90, 'transferred', { reason: 'Complaint' }),
    call(recall, '2026-03-04T10:00:00.000Z', 90, 'resolved', { sentiment: 'Neutral' }),
    call(gone, '2026-03-02T11:00:00.000Z', 75, 'resolved', { sentiment: 'Positive' }),
  ],
};

type SeedCall = NonNullable<SeedDocument['calls']>[number];

function call(
  agent: string,
  at: string,
  duration: number,
  outcome: NonNullable<SeedCall['outcome']>,
  rest: Partial<SeedCall> = {},
): SeedCall {
  return { agent_id: agent, call_started_at: at, call_duration: duration, outcome, ...rest };
}

/** The whole span of those calls. */
export const ALL = { startDate: '2026-03-02', endDate: '2026-03-05' };
export const ALL_BILLED = { start_date: '2026-03-02', end_date: '2026-03-05' };

export const metrics = ({ call }: World, query: JsonObject = {}): Promise<Reply> =>
  call('getMetrics', { query: { ...ALL, ...texts(query) } });

export const billing = (
  { call }: World,
  query: { readonly [name: string]: string | readonly string[] } = {},
): Promise<Reply> => call('getBillingReport', { query: { ...ALL_BILLED, ...query } });

export const logs = ({ call }: World, agentId: string, query: JsonObject = {}): Promise<Reply> =>
  call('listCallLogs', { path: { agentId }, query: texts(query) });

/** The same with the token of a scoped key. */
export async function scoped(world: World, clientId: string): Promise<World> {
  const authorization = await tokenOf(world, clientId, 'x');
  return { ...world, call: (id, request) => world.call(id, { ...request, authorization }) };
}

function texts(query: JsonObject): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
}
