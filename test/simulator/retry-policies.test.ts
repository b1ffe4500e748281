import { expect } from 'vitest';
import { desk, IDS, section, type World } from './world.ts';

const path = { policyId: IDS.policy };
const create =
  (body: object) =>
  ({ call }: World) =>
    call('createRetryPolicy', { body });
const patch =
  (body: object) =>
  ({ call }: World) =>
    call('updateRetryPolicy', { path, body });

section('Retry policies', [
  {
    rule: 'a new policy has defaults for what it was not given',
    does: create({ name: 'Eager', rules: { no_answer: { delay_seconds: 60, max_attempts: 5 } } }),
    status: 201,
    body: {
      data: {
        id: expect.any(String),
        name: 'Eager',
        rules: { no_answer: { delay_seconds: 60, max_attempts: 5 } },
        contact_policy: null,
        on_exhausted: 'end',
        on_exhausted_target: null,
        reschedule_out_of_window: false,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    },
  },
  {
    rule: 'a name is required',
    does: create({}),
    status: 400,
    body: { details: [{ path: 'name' }] },
  },
  {
    rule: 'a name is unique in the account',
    does: create({ name: 'Gentle' }),
    status: 409,
    body: { error: 'conflict' },
  },
  {
    rule: 'a policy can be read',
    does: ({ call }) => call('getRetryPolicy', { path }),
    status: 200,
    body: { data: { id: IDS.policy, name: 'Gentle' } },
  },
  {
    rule: 'rules are replaced whole',
    does: patch({ rules: { no_answer: { delay_seconds: 1, max_attempts: 1 } } }),
    status: 200,
    also: (_, { body }) =>
      expect(Object(body.data).rules).toEqual({ no_answer: { delay_seconds: 1, max_attempts: 1 } }),
  },
  {
    rule: 'what is left out stays',
    does: patch({ reschedule_out_of_window: true }),
    status: 200,
    body: {
      data: { name: 'Gentle', reschedule_out_of_window: true, contact_policy: { max_per_day: 2 } },
    },
  },
  {
    rule: 'null removes the caps, also where null does not clear',
    options: { dialect: { nulls: 'rejected' } },
    does: patch({ contact_policy: null }),
    status: 200,
    body: { data: { contact_policy: null } },
  },
  {
    rule: 'on_exhausted_target comes with on_exhausted',
    does: patch({ on_exhausted_target: 'queue' }),
    status: 400,
    body: { error: 'invalid_request', details: [{ path: 'on_exhausted' }] },
  },
  {
    rule: 'together they are taken',
    does: patch({ on_exhausted: 'transfer', on_exhausted_target: 'queue' }),
    status: 200,
    body: { data: { on_exhausted: 'transfer', on_exhausted_target: 'queue' } },
  },
  {
    rule: 'a name that is taken is a conflict',
    does: async (world) => {
      await create({ name: 'Eager' })(world);
      return patch({ name: 'Eager' })(world);
    },
    status: 409,
  },
  { rule: 'its own name is not', does: patch({ name: 'Gentle' }), status: 200 },
  {
    rule: 'rules are an object',
    does: patch({ rules: [] }),
    status: 400,
    body: { details: [{ path: 'rules' }] },
  },
  {
    rule: 'a malformed id is a bad request',
    does: ({ call }) => call('getRetryPolicy', { path: { policyId: 'x' } }),
    status: 400,
    body: { error: 'invalid_request' },
  },
  {
    rule: 'an unknown id is not found',
    does: ({ call }) => call('deleteRetryPolicy', { path: { policyId: IDS.nobody } }),
    status: 404,
  },
  {
    rule: 'agents that followed a deleted policy no longer retry',
    does: ({ call }) => call('deleteRetryPolicy', { path }),
    status: 204,
    also: async (world) => {
      expect(desk(world)).not.toHaveProperty('default_retry_policy_id');
      expect((await world.call('getRetryPolicy', { path })).status).toBe(404);
    },
  },
  {
    rule: 'the list comes in pages',
    does: async (world) => {
      await create({ name: 'Eager' })(world);
      return world.call('listRetryPolicies', { query: { limit: '1', page: '2' } });
    },
    status: 200,
    body: { data: [{ name: 'Eager' }], pagination: { total: 2, totalPages: 2, hasPrev: true } },
  },
]);
