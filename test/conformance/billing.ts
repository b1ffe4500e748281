import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { MONTH } from './calls.ts';
import { ID } from './ids.ts';
import { answers, type Row, reads, section } from './suite.ts';
import { record, records, type World } from './world.ts';

const SPAN = `start_date=${MONTH.from}&end_date=${MONTH.to}`;

const report = async ({ get }: World, query = ''): Promise<readonly JsonObject[]> =>
  records(await get(`/v1/billing-report?${SPAN}${query}`));

const owners = async (world: World, query: string): Promise<readonly unknown[]> =>
  (await report(world, query)).map((row) => row.organization_id).sort();

const NORTH: { readonly [field: string]: unknown } = {
  organization_id: ID.north,
  organization_name: 'Northside Vets',
  reseller_id: ID.lakeside,
  reseller_name: 'Lakeside',
  voice_minutes: 5,
  agent_count: 1,
};

const invalid = (path: string) => ({
  error: 'invalid_request',
  details: expect.arrayContaining([{ path, message: expect.stringMatching(/\S/) }]),
});

const refused = (rule: string, query: string, path: string) =>
  reads(rule, async ({ get }) => {
    const { status, body } = await get(`/v1/billing-report?${query}`);
    expect({ status, body }).toMatchObject({ status: 400, body: invalid(path) });
  });

export const billing: readonly Row[] = [
  ...section(
    'Endpoints · Billing report',
    reads(
      'rows and the period are the whole answer',
      answers(({ get }) => get(`/v1/billing-report?${SPAN}`), 200, {
        data: expect.any(Array),
        period: { start_date: '01/01/2026', end_date: '01/31/2026' },
      }),
    ),
    Object.entries(NORTH).map(([field, value]) =>
      reads(`${field} is told of an organization`, async (world) => {
        const row = (await report(world)).find((one) => one.organization_id === ID.north);
        expect(row?.[field]).toEqual(value);
      }),
    ),
    reads('there is one row per organization', async (world) => {
      expect(await owners(world, '')).toEqual([ID.harbor, ID.north, ID.west]);
    }),
    reads('agents that are there are counted', async (world) => {
      const row = (await report(world)).find((one) => one.organization_id === ID.harbor);
      expect(row?.agent_count).toBe(3);
    }),
    reads('its minutes are those of the metrics', async (world) => {
      const query = `startDate=${MONTH.from}&endDate=${MONTH.to}&organizationId=${ID.harbor}`;
      const { metrics } = record(await world.get(`/v1/metrics?${query}`));
      const row = (await report(world)).find((one) => one.organization_id === ID.harbor);
      expect(metrics).toMatchObject({
        totalMinutes: expect.closeTo(Number(row?.voice_minutes), 0),
      });
    }),
    reads('a day in the input is a day in US notation in the answer', async ({ get }) => {
      const { body } = await get('/v1/billing-report?start_date=2026-02-03&end_date=2026-12-04');
      expect(body.period).toEqual({ start_date: '02/03/2026', end_date: '12/04/2026' });
    }),
    ...[
      ['one organization', `&organization_ids=${ID.north}`, [ID.north]],
      [
        'organizations with commas',
        `&organization_ids=${ID.north},${ID.west}`,
        [ID.north, ID.west],
      ],
      [
        'organizations one by one',
        `&organization_ids[]=${ID.north}&organization_ids[]=${ID.west}`,
        [ID.north, ID.west],
      ],
      ['one reseller', `&reseller_ids=${ID.tidewater}`, [ID.harbor, ID.west]],
      [
        'resellers with commas',
        `&reseller_ids=${ID.tidewater},${ID.lakeside}`,
        [ID.harbor, ID.north, ID.west],
      ],
      [
        'resellers one by one',
        `&reseller_ids[]=${ID.tidewater}&reseller_ids[]=${ID.lakeside}`,
        [ID.harbor, ID.north, ID.west],
      ],
    ].map(([what, query, expected]) =>
      reads(`it can be asked of ${String(what)}`, async (world) => {
        expect(await owners(world, String(query))).toEqual(expected);
      }),
    ),
    refused('start_date is required', 'end_date=2026-01-31', 'start_date'),
    refused('end_date is required', 'start_date=2026-01-01', 'end_date'),
    refused('days are ISO 8601', 'start_date=01/01/2026&end_date=2026-01-31', 'start_date'),
    refused('a day has no time', 'start_date=2026-01-01&end_date=2026-01-31T00:00:00Z', 'end_date'),
    refused(
      'a day is one of the calendar',
      'start_date=2026-02-30&end_date=2026-03-01',
      'start_date',
    ),
  ),
];
