import { expect } from 'vitest';
import { billing, NOW, REPORT_IDS, REPORTS, scoped } from './reports-seed.ts';
import { type Reply, type Row, section, type World } from './world.ts';

const { harbor, lake, north, tide, summit, nobody } = REPORT_IDS;
const options = { now: () => new Date(NOW) };
const rows = (...all: readonly Row[]): readonly Row[] => all.map((row) => ({ options, ...row }));

const billed = (...names: readonly string[]) => ({
  data: names.map((organization_name) => ({ organization_name })),
});

section(
  'Billing report',
  rows(
    {
      rule: 'a row for each organization, those without calls and without a reseller too',
      does: (world) => billing(world),
      status: 200,
      also: (_, { body }) =>
        expect(body).toEqual({
          data: [
            {
              organization_id: harbor,
              organization_name: 'Harbor Dental',
              reseller_id: tide,
              reseller_name: 'Tidewater',
              voice_minutes: 12.02,
              agent_count: 2,
            },
            {
              organization_id: lake,
              organization_name: 'Lakeview Vets',
              reseller_id: tide,
              reseller_name: 'Tidewater',
              voice_minutes: 0,
              agent_count: 0,
            },
            {
              organization_id: north,
              organization_name: 'Northside',
              reseller_id: null,
              reseller_name: null,
              voice_minutes: 1.5,
              agent_count: 1,
            },
          ],
          // Asked for in ISO 8601, answered in US notation.
          period: { start_date: '03/02/2026', end_date: '03/05/2026' },
        }),
    },
    ...[
      { query: { organization_ids: `${north},${lake}` }, names: ['Lakeview Vets', 'Northside'] },
      { query: { 'organization_ids[]': [north, harbor] }, names: ['Harbor Dental', 'Northside'] },
      {
        query: { organization_ids: north, 'organization_ids[]': [lake] },
        names: ['Lakeview Vets', 'Northside'],
      },
      { query: { 'organization_ids[]': north }, names: ['Northside'] },
      { query: { reseller_ids: `${tide},${summit}` }, names: ['Harbor Dental', 'Lakeview Vets'] },
      { query: { 'reseller_ids[]': [summit] }, names: [] },
      {
        query: { reseller_ids: tide, organization_ids: `${lake},${north}` },
        names: ['Lakeview Vets'],
      },
    ].map(({ query, names }) => ({
      rule: `${Object.keys(query).join(' with ')} gives ${names.join(' and ') || 'nothing'}`,
      does: (world: World) => billing(world, query),
      status: 200,
      body: billed(...names),
      also: (_: World, { body }: Reply) => expect(body.data).toHaveLength(names.length),
    })),
    ...[
      { query: { start_date: '' }, path: 'start_date' },
      { query: { start_date: '03/02/2026' }, path: 'start_date' },
      { query: { end_date: '2026-03-05T00:00:00Z' }, path: 'end_date' },
      { query: { organization_ids: '' }, path: 'organization_ids' },
      { query: { 'reseller_ids[]': [''] }, path: 'reseller_ids' },
    ].map(({ query, path }) => ({
      rule: `${JSON.stringify(query)} is refused with details`,
      does: (world: World) => billing(world, query),
      status: 400,
      body: { error: 'invalid_request', details: [{ path, message: expect.any(String) }] },
    })),
    {
      rule: 'both days are required',
      does: ({ call }) => call('getBillingReport'),
      status: 400,
      body: { details: [{ path: 'start_date' }, { path: 'end_date' }] },
    },
    ...['organization_ids', 'reseller_ids[]'].map((name) => ({
      rule: `an id of ${name} outside the account is not found (Authentication 4)`,
      does: (world: World) => billing(world, { [name]: nobody }),
      status: 404,
      body: { error: 'not_found' },
    })),
    ...['north', 'tide'].map((key) => ({
      rule: `it is closed to a key limited to ${key} (Authentication 6)`,
      does: async (world: World) => billing(await scoped(world, key)),
      status: 403,
      body: { error: 'insufficient_scope' },
    })),
    {
      rule: 'a token that does not hold is unauthorized',
      does: ({ call }) => call('getBillingReport', { authorization: 'Bearer nonsense' }),
      status: 401,
      body: { error: 'unauthorized' },
    },
  ),
  REPORTS,
);
