import { expect } from 'vitest';
import { createEmail } from './email-templates.ts';
import { ID } from './ids.ts';
import { add, document } from './knowledge.ts';
import { locking, SEED } from './seed.ts';
import { createSms } from './sms-templates.ts';
import { type Row, reads, section, writes } from './suite.ts';
import { clone } from './voices.ts';
import { credentials, records } from './world.ts';

const letters = (length: number) => 'x'.repeat(length);

/** More records than a page can hold. */
const MANY = {
  seed: {
    ...SEED,
    agents: Array.from({ length: 120 }, (_, at) => ({
      organization_id: ID.harbor,
      name: `Agent ${at}`,
    })),
    calls: [],
    email_templates: Array.from({ length: 120 }, (_, at) => ({
      organization_id: ID.harbor,
      name: `Template ${at}`,
    })),
  },
};

const EMAIL = { name: 100, subject: 998, from_name: 128 };
const SMS = { name: 100, description: 300 };

export const limits: readonly Row[] = [
  ...section(
    'Limits · Access token',
    reads('a token holds for 86400 seconds', async ({ post, sim }) => {
      const { body } = await post('/oauth/token', { authorization: null, body: credentials(sim) });
      expect(body.expires_in).toBe(86400);
    }),
  ),
  ...section(
    'Limits · Page size',
    ...['/v1/agents', '/v1/email-templates'].flatMap((path) => [
      writes(
        `${path} has 50 on its first page unless asked otherwise`,
        async ({ get }) => {
          const reply = await get(path);
          expect(records(reply)).toHaveLength(50);
          expect(reply.body.pagination).toMatchObject({ page: 1, limit: 50, total: 120 });
        },
        MANY,
      ),
      writes(
        `${path} has 100 on a page where they are asked for`,
        async ({ get }) => {
          expect(records(await get(`${path}?limit=100`))).toHaveLength(100);
        },
        MANY,
      ),
      writes(
        `${path} never has more than 100`,
        async ({ get }) => {
          const reply = await get(`${path}?limit=101`);
          const count = reply.status === 200 ? records(reply).length : 0;
          expect(count).toBeLessThanOrEqual(100);
        },
        MANY,
      ),
      writes(
        `${path} takes a page of one`,
        async ({ get }) => {
          expect(records(await get(`${path}?limit=1`))).toHaveLength(1);
        },
        MANY,
      ),
    ]),
  ),
  ...section(
    'Limits · File source size',
    writes('50 MB are taken', async (world) => {
      expect((await add(world, document({ fileSize: 50_000_000 }))).status).toBe(201);
    }),
    reads('more are not', async (world) => {
      expect((await add(world, document({ fileSize: 50 * 1024 * 1024 + 1 }))).status).toBe(400);
    }),
    reads('no bytes are none', async (world) => {
      expect((await add(world, document({ fileSize: -1 }))).status).toBe(400);
    }),
  ),
  ...section(
    'Limits · Voice clip size',
    writes('4 MB are taken', async (world) => {
      expect((await clone(world, {}, { size: 4_000_000 })).status).toBeLessThan(300);
    }),
    reads('more are not', async (world) => {
      expect((await clone(world, {}, { size: 4 * 1024 * 1024 + 1 })).status).toBe(400);
    }),
  ),
  ...section(
    'Limits · Email template',
    Object.entries(EMAIL).flatMap(([field, most]) => [
      writes(`${field} may have ${most} characters`, async (world) => {
        expect((await createEmail(world, { [field]: letters(most) })).status).toBeLessThan(300);
      }),
      reads(`${field} may not have ${most + 1}`, async (world) => {
        expect((await createEmail(world, { [field]: letters(most + 1) })).status).toBe(400);
      }),
    ]),
  ),
  ...section(
    'Limits · SMS template',
    Object.entries(SMS).flatMap(([field, most]) => [
      writes(`${field} may have ${most} characters`, async (world) => {
        expect((await createSms(world, { [field]: letters(most) })).status).toBe(201);
      }),
      reads(`${field} may not have ${most + 1}`, async (world) => {
        expect((await createSms(world, { [field]: letters(most + 1) })).status).toBe(400);
      }),
    ]),
  ),
  ...section(
    'Limits · Rate',
    writes(
      'requests beyond the limit are refused until time has passed',
      async ({ bearer, get, sim }) => {
        const authorization = await bearer();
        const statuses = async () =>
          (await Promise.all([1, 2, 3, 4].map(() => get('/v1/me', { authorization })))).map(
            ({ status }) => status,
          );
        expect(await statuses()).toContain(429);
        sim.advance(60_000);
        expect((await get('/v1/me', { authorization })).status).toBe(200);
      },
      { rateLimit: { perSecond: 0.05, burst: 3 } },
    ),
  ),
  ...section(
    'Limits · Feature locks',
    ...(['account', 'reseller', 'organization'] as const).map((level) =>
      writes(
        `a lock of the ${level} limits what a save accepts`,
        async ({ put }) => {
          const body = { voiceSettings: { voice_id: ID.voice } };
          expect((await put(`/v1/agents/${ID.bare}`, { body })).status).toBe(403);
        },
        locking(level, 'custom_voices'),
      ),
    ),
    writes(
      'a lock elsewhere limits nothing',
      async ({ put }) => {
        const body = { model: 'beta-3-fast' };
        expect((await put(`/v1/agents/${ID.recall}`, { body })).status).toBe(200);
      },
      locking('reseller', 'llm.beta-3-fast'),
    ),
    writes(
      'what a lock does not name is accepted',
      async ({ put }) => {
        const body = { model: 'alpha-4o', greetingMessage: 'Hi.' };
        expect((await put(`/v1/agents/${ID.bare}`, { body })).status).toBe(200);
      },
      locking('account', 'llm.beta-3-fast', 'custom_voices'),
    ),
  ),
  ...section(
    'Limits · Default model',
    writes(
      'alpha-4.1 can be assigned whatever is locked',
      async ({ put }) => {
        const body = { model: 'alpha-4.1' };
        expect((await put(`/v1/agents/${ID.recall}`, { body })).status).toBe(200);
      },
      {
        seed: {
          ...SEED,
          locks: ['llm.alpha-4.1'],
          calls: [],
          agents: [
            { id: ID.recall, organization_id: ID.north, name: 'Recall', model: 'beta-3-fast' },
          ],
        },
      },
    ),
    writes(
      'alpha-4.1 is given to new agents whatever is locked',
      async ({ post }) => {
        const body = { name: 'New', organizationId: ID.harbor };
        expect((await post('/v1/agents', { body })).status).toBeLessThan(300);
      },
      { seed: { ...SEED, locks: ['llm.alpha-4.1'] } },
    ),
  ),
];
