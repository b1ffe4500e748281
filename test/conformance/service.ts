import { expect } from 'vitest';
import { ID, TIMESTAMP, UUID } from './ids.ts';
import { locking } from './seed.ts';
import { answers, expectReply, type Row, reads, section, writes } from './suite.ts';
import { record, records, type World } from './world.ts';

/** What is managed, and where it is read. */
const AREAS: { readonly [thing: string]: string } = {
  agents: '/v1/agents',
  'an agent’s history': `/v1/agents/${ID.desk}/history`,
  'call logs': `/v1/agents/${ID.desk}/call-logs`,
  'usage metrics': '/v1/metrics?startDate=2026-01-01&endDate=2026-01-31',
  'a billing report': '/v1/billing-report?start_date=2026-01-01&end_date=2026-01-31',
  'feature availability': '/v1/features',
  'language models': '/v1/llm-models',
  'speech-to-text providers': '/v1/stt-providers',
  'cloned voices': `/v1/custom-voices?organizationId=${ID.harbor}`,
  'knowledge sources': `/v1/knowledge-bases/${ID.base}/sources`,
  'e-mail templates': '/v1/email-templates',
  'retry policies': `/v1/retry-policies/${ID.gentle}`,
  'payment readiness': `/v1/agents/${ID.desk}/payments/readiness`,
};

const SCOPES = {
  account: '',
  reseller: `?reseller_id=${ID.tidewater}`,
  'other reseller': `?reseller_id=${ID.lakeside}`,
  organization: `?organization_id=${ID.harbor}`,
  sibling: `?organization_id=${ID.west}`,
  'other organization': `?organization_id=${ID.north}`,
} as const;

async function lockStates({ get }: World): Promise<{ readonly [scope: string]: unknown }> {
  const states = Object.entries(SCOPES).map(async ([name, query]) => {
    const features = records(await get(`/v1/features${query}`));
    return [name, features.find(({ key }) => key === 'secure_access')?.locked_scope] as const;
  });
  return Object.fromEntries(await Promise.all(states));
}

export const service: readonly Row[] = [
  ...section(
    'Service · Form',
    reads('answers are JSON', async ({ get }) => {
      const { headers } = await get('/v1/me');
      expect(headers['content-type']).toMatch(/^application\/json\b/);
    }),
    reads('refusals are JSON as well', async ({ get }) => {
      const { headers, status } = await get(`/v1/agents/${ID.nobody}`);
      expect({ status, type: headers['content-type'] }).toEqual({
        status: 404,
        type: expect.stringMatching(/^application\/json\b/),
      });
    }),
    reads('voice cloning takes a form and no JSON', async ({ post }) => {
      const { status } = await post('/v1/custom-voices', {
        body: { name: 'Bay', consent: 'true', organizationId: ID.harbor },
      });
      expect(status).toBe(400);
    }),
    reads('a body that is not JSON is a bad request', async ({ post }) => {
      const { status } = await post('/v1/agents', {
        raw: '{"name":',
        headers: { 'content-type': 'application/json' },
      });
      expect(status).toBe(400);
    }),
  ),
  ...section(
    'Service · Managed things',
    Object.entries(AREAS).map(([thing, path]) =>
      reads(`${thing} can be read`, async ({ get }) => expectReply(await get(path), 200)),
    ),
  ),
  ...section(
    'Service · Ownership',
    reads('an account reaches the agents of all its organizations', async ({ get }) => {
      const owners = records(await get('/v1/agents')).map((agent) => agent.organization_id);
      expect(new Set(owners)).toEqual(new Set([ID.harbor, ID.north, ID.west]));
    }),
    reads('an agent belongs to one organization', async ({ get }) => {
      expect(record(await get(`/v1/agents/${ID.recall}`)).organization_id).toBe(ID.north);
    }),
    reads('a reseller owns organizations', async ({ get }) => {
      const report = records(
        await get('/v1/billing-report?start_date=2026-01-01&end_date=2026-01-31'),
      );
      expect(report.map((row) => [row.organization_id, row.reseller_id]).sort()).toEqual([
        [ID.harbor, ID.tidewater],
        [ID.north, ID.lakeside],
        [ID.west, ID.tidewater],
      ]);
    }),
  ),
  ...section(
    'Service · Feature locks',
    reads('nothing is locked unless somebody locked it', async (world) => {
      expect(new Set(Object.values(await lockStates(world)))).toEqual(new Set([null]));
    }),
    writes(
      'a lock on the account holds for every reseller and organization',
      async (world) => {
        expect(await lockStates(world)).toEqual({
          account: 'here',
          reseller: 'inherited',
          'other reseller': 'inherited',
          organization: 'inherited',
          sibling: 'inherited',
          'other organization': 'inherited',
        });
      },
      locking('account', 'secure_access'),
    ),
    writes(
      'a lock on a reseller holds for its organizations and for nobody else',
      async (world) => {
        expect(await lockStates(world)).toEqual({
          account: null,
          reseller: 'here',
          'other reseller': null,
          organization: 'inherited',
          sibling: 'inherited',
          'other organization': null,
        });
      },
      locking('reseller', 'secure_access'),
    ),
    writes(
      'a lock on an organization holds for it alone',
      async (world) => {
        expect(await lockStates(world)).toEqual({
          account: null,
          reseller: null,
          'other reseller': null,
          organization: 'here',
          sibling: null,
          'other organization': null,
        });
      },
      locking('organization', 'secure_access'),
    ),
  ),
];

const identified = (what: string, path: string, create: (world: World) => Promise<unknown>) =>
  writes(`the id of ${what} is a UUID`, async (world) => {
    expect(await create(world), path).toMatch(UUID);
  });

export const conventions: readonly Row[] = [
  ...section(
    'Resources · Conventions',
    identified(
      'an agent',
      '/v1/agents',
      async ({ post }) =>
        record(await post('/v1/agents', { body: { name: 'New', organizationId: ID.harbor } })).id,
    ),
    identified(
      'an e-mail template',
      '/v1/email-templates',
      async ({ post }) =>
        record(
          await post('/v1/email-templates', { body: { name: 'New', organization_id: ID.harbor } }),
        ).id,
    ),
    identified(
      'an SMS template',
      '/v1/sms-templates',
      async ({ post }) =>
        record(
          await post('/v1/sms-templates', {
            body: { name: 'New', organization_id: ID.harbor, message_type: 'sms' },
          }),
        ).id,
    ),
    identified(
      'a knowledge source',
      '/v1/knowledge-bases',
      async ({ post }) =>
        record(
          await post(`/v1/knowledge-bases/${ID.base}/sources`, {
            body: { sourceType: 'url', url: 'https://harbor.example.test/new' },
          }),
        ).sourceId,
    ),
    reads('timestamps are ISO 8601', async ({ get }) => {
      const { created_at, updated_at } = record(await get(`/v1/agents/${ID.desk}`));
      expect([created_at, updated_at]).toEqual([
        expect.stringMatching(TIMESTAMP),
        expect.stringMatching(TIMESTAMP),
      ]);
    }),
    reads(
      'a single record stands under data',
      answers(({ get }) => get(`/v1/agents/${ID.bare}`), 200, {
        data: expect.objectContaining({ id: ID.bare }),
      }),
    ),
    reads(
      'a list stands under data',
      answers(({ get }) => get(`/v1/knowledge-bases/${ID.northBase}/sources`), 200, { data: [] }),
    ),
  ),
];
