import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { ID } from './ids.ts';
import { locking } from './seed.ts';
import { coded, expectReply, flat, type Row, reads, section, writes } from './suite.ts';
import { type Ask, type Reply, record, records, type World } from './world.ts';

const TEMPLATES = '/v1/email-templates';

/** Creates an e-mail template of Harbor Dental. */
export function createEmail(
  { post }: World,
  fields: JsonObject = {},
  ask: Ask = {},
): Promise<Reply> {
  return post(TEMPLATES, { body: { organization_id: ID.harbor, name: 'New', ...fields }, ...ask });
}

const without = (name: string): JsonObject =>
  Object.fromEntries(
    Object.entries({ organization_id: ID.harbor, name: 'New' }).filter(([key]) => key !== name),
  );

const refused = (rule: string, fields: JsonObject) =>
  reads(rule, async (world) => {
    expect((await createEmail(world, fields)).status).toBe(400);
  });

const names = async ({ get }: World, query: string): Promise<readonly unknown[]> =>
  records(await get(`${TEMPLATES}${query}`)).map(({ name }) => name);

export const emailTemplates: readonly Row[] = [
  ...section(
    'Endpoints · Email templates · List',
    reads('templates of all organizations are listed', async (world) => {
      expect((await names(world, '')).toSorted()).toEqual(['Confirmation', 'Newsletter']);
    }),
    reads('organization_id narrows the list', async (world) => {
      expect(await names(world, `?organization_id=${ID.north}`)).toEqual(['Newsletter']);
    }),
    reads('status active narrows the list', async (world) => {
      expect(await names(world, '?status=active')).toEqual(['Confirmation']);
    }),
    reads('status draft narrows the list', async (world) => {
      expect(await names(world, '?status=draft')).toEqual(['Newsletter']);
    }),
    reads('status archived is one to ask for', async (world) => {
      expect(await names(world, '?status=archived')).toEqual([]);
    }),
    reads('no other status is', async ({ get }) => {
      expect((await get(`${TEMPLATES}?status=sent`)).status).toBe(400);
    }),
    reads('page and limit choose a page', async (world) => {
      expect(await names(world, '?limit=1&page=2')).toHaveLength(1);
    }),
    reads('the organization belongs to the account', async ({ get }) => {
      expectReply(await get(`${TEMPLATES}?organization_id=${ID.nobody}`), 403, coded('forbidden'));
    }),
  ),
  ...section(
    'Endpoints · Email templates · Create',
    writes('the whole template is answered', async (world) => {
      const reply = await createEmail(world, {
        subject: 'Hi',
        body_html: '<p>Hi</p>',
        from_name: 'Harbor',
      });
      expect(reply.status).toBeLessThan(300);
      expect(record(reply)).toEqual({
        id: expect.any(String),
        organization_id: ID.harbor,
        name: 'New',
        subject: 'Hi',
        body_html: '<p>Hi</p>',
        from_name: 'Harbor',
        status: 'draft',
        version: 1,
      });
    }),
    ...['organization_id', 'name'].map((field) =>
      reads(`${field} is required`, async ({ post }) => {
        expect((await post(TEMPLATES, { body: without(field) })).status).toBe(400);
      }),
    ),
    writes('a template starts as draft', async (world) => {
      expect(record(await createEmail(world)).status).toBe('draft');
    }),
    writes('a draft needs no subject', async (world) => {
      expect((await createEmail(world, { status: 'draft' })).status).toBeLessThan(300);
    }),
    writes('a template can start as active', async (world) => {
      const reply = await createEmail(world, { status: 'active', subject: 'Hi' });
      expect(record(reply).status).toBe('active');
    }),
    refused('an active template needs a subject', { status: 'active' }),
    refused('no template starts as archived', { status: 'archived' }),
    writes('HTML is stored as given', async (world) => {
      const body_html = ' <div onclick="x()">\n<script>1 < 2</script>{{ name }} &nbsp;</div>\n';
      expect(record(await createEmail(world, { body_html })).body_html).toBe(body_html);
    }),
    writes('the sender may hold tokens', async (world) => {
      const from_name = '{{agent|Harbor}}';
      expect(record(await createEmail(world, { from_name })).from_name).toBe(from_name);
    }),
    refused('the name is text', { name: 7 }),
    refused('the body is text', { body_html: [] }),
    reads('a taken name is refused', async (world) => {
      const { status, body } = await createEmail(world, { name: 'Confirmation' });
      expect(body).toEqual(flat('A template with this name already exists.'));
      expect(status).toBeGreaterThanOrEqual(400);
    }),
    writes('another organization may use the same name', async (world) => {
      const fields = { name: 'Confirmation', organization_id: ID.north };
      expect((await createEmail(world, fields)).status).toBeLessThan(300);
    }),
    writes(
      'nothing is created while the feature is locked',
      async (world) => {
        const { status, body } = await createEmail(world);
        expect(body).toEqual(flat('email_templates_locked'));
        expect(status).toBeGreaterThanOrEqual(400);
        expect(await names(world, '')).toHaveLength(2);
      },
      locking('organization', 'email_templates'),
    ),
    writes(
      'a lock of one organization leaves the others',
      async (world) => {
        const { status } = await createEmail(world, { organization_id: ID.north });
        expect(status).toBeLessThan(300);
      },
      locking('organization', 'email_templates'),
    ),
    reads('the organization belongs to the account', async (world) => {
      const { status } = await createEmail(world, { organization_id: ID.nobody });
      expect([403, 404]).toContain(status);
    }),
    reads('the organization is inside the scope', async (world) => {
      expectReply(await createEmail(world, {}, { as: 'north-key' }), 403, coded('forbidden'));
    }),
  ),
];
