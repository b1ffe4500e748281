import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { ID } from './ids.ts';
import { answers, coded, expectReply, type Row, reads, section, writes } from './suite.ts';
import { type Reply, record, type World } from './world.ts';

const at = (id: string) => `/v1/retry-policies/${id}`;
const GENTLE = at(ID.gentle);

const change = ({ patch }: World, body: JsonObject): Promise<Reply> => patch(GENTLE, { body });

const CHANGES: { readonly [field: string]: JsonObject } = {
  name: { name: 'Patient' },
  rules: { rules: { no_answer: { delay_seconds: 60, max_attempts: 1 } } },
  contact_policy: { contact_policy: { max_per_day: 5 } },
  on_exhausted: { on_exhausted: 'end' },
  reschedule_out_of_window: { reschedule_out_of_window: false },
};

export const retryPolicies: readonly Row[] = [
  ...section(
    'Endpoints · Retry policies · Get',
    reads('a policy stands under data', async ({ get }) => {
      expect(record(await get(GENTLE))).toMatchObject({ id: ID.gentle, name: 'Gentle' });
    }),
    reads(
      'an unknown policy is not found',
      answers(({ get }) => get(at(ID.nobody)), 404, coded('not_found')),
    ),
    reads('an id that is no UUID is a bad request', async ({ get }) => {
      expect((await get(at('gentle'))).status).toBe(400);
    }),
    reads('a scoped key may read it', async ({ get }) => {
      expect(record(await get(GENTLE, { as: 'north-key' })).id).toBe(ID.gentle);
    }),
  ),
  ...section(
    'Endpoints · Retry policies · Update',
    Object.entries(CHANGES).map(([field, body]) =>
      writes(`${field} alone can be changed, and the policy is answered`, async (world) => {
        const before = record(await world.get(GENTLE));
        const after = record(await change(world, body));
        expect(after).toEqual({ ...before, ...body, updated_at: after.updated_at });
        expect(record(await world.get(GENTLE))).toEqual(after);
      }),
    ),
    writes('rules are replaced whole', async (world) => {
      const rules = { busy: { delay_seconds: 30, max_attempts: 2 } };
      expect(record(await change(world, { rules })).rules).toEqual(rules);
    }),
    writes('a contact policy of null removes the caps', async (world) => {
      expect(record(await change(world, { contact_policy: null })).contact_policy).toBeNull();
    }),
    writes('a target goes with what happens in the end', async (world) => {
      const body = { on_exhausted: 'end', on_exhausted_target: 'queue-1' };
      expect(record(await change(world, body))).toMatchObject(body);
    }),
    writes('a change of nothing is no mistake', async (world) => {
      expect(record(await change(world, {}))).toMatchObject({ id: ID.gentle, name: 'Gentle' });
    }),
    reads('a target alone is a bad request', async (world) => {
      expect((await change(world, { on_exhausted_target: 'queue-1' })).status).toBe(400);
    }),
    ...[
      { name: 7 },
      { rules: [] },
      { rules: { no_answer: { delay_seconds: 'soon' } } },
      { rules: { no_answer: { max_attempts: 'few' } } },
      { contact_policy: 'none' },
      { reschedule_out_of_window: 'yes' },
    ].map((body) =>
      reads(`a value of another type is a bad request: ${JSON.stringify(body)}`, async (world) => {
        expect((await change(world, body)).status).toBe(400);
      }),
    ),
    reads('an id that is no UUID is a bad request', async ({ patch }) => {
      expect((await patch(at('gentle'), { body: {} })).status).toBe(400);
    }),
    reads(
      'a scoped key may not change it',
      answers(
        ({ patch }) => patch(GENTLE, { as: 'north-key', body: { name: 'Mine' } }),
        403,
        coded('insufficient_scope'),
      ),
    ),
    reads(
      'an unknown policy is not found',
      answers(
        ({ patch }) => patch(at(ID.nobody), { body: { name: 'Other' } }),
        404,
        coded('not_found'),
      ),
    ),
    reads('a taken name is a conflict', async (world) => {
      expect((await change(world, { name: 'Brisk' })).status).toBe(409);
    }),
    writes('its own name is none', async (world) => {
      expect((await change(world, { name: 'Gentle' })).status).toBe(200);
    }),
  ),
  ...section(
    'Endpoints · Retry policies · Delete',
    writes('a deletion answers nothing', async (world) => {
      const { status, text } = await world.delete(GENTLE);
      expect({ status, text }).toEqual({ status: 204, text: '' });
      expectReply(await world.get(GENTLE), 404, coded('not_found'));
    }),
    writes('another policy stays', async (world) => {
      await world.delete(GENTLE);
      expect(record(await world.get(at(ID.brisk))).name).toBe('Brisk');
    }),
    reads('an id that is no UUID is a bad request', async (world) => {
      expect((await world.delete(at('gentle'))).status).toBe(400);
    }),
    reads(
      'a scoped key may not delete it',
      answers(
        (world) => world.delete(GENTLE, { as: 'tidewater-key' }),
        403,
        coded('insufficient_scope'),
      ),
    ),
    reads(
      'an unknown policy is not found',
      answers((world) => world.delete(at(ID.nobody)), 404, coded('not_found')),
    ),
  ),
];
