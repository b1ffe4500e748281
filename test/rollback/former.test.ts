import { expect, test } from 'vitest';
import { Ref } from '../../src/core/value.ts';
import { type Former, undoTo } from '../../src/rollback/former.ts';
import { HARBOR, world } from '../world.ts';

const POLICY: Former = {
  address: 'retry_policy.gentle',
  kind: 'retry_policy',
  id: 'p1',
  document: { name: 'Gentle', rules: { no_answer: { delay_seconds: 9 } } },
  pin: null,
  resource: null,
  withheld: [],
};
const DESK: Former = {
  address: 'agent.desk',
  kind: 'agent',
  id: 'a1',
  document: { organization_id: HARBOR, name: 'Desk', default_retry_policy_id: 'p1' },
  pin: { digest: 'sha256:then', updated_at: null, history_id: 41 },
  resource: null,
  withheld: [],
};

test('documents are a desired side: exactly these, references in the place of ids', async () => {
  const undo = undoTo([DESK, POLICY]);
  expect(undo.addresses).toEqual(['agent.desk', 'retry_policy.gentle']);
  expect([...undo.versions]).toEqual([['agent.desk', 41]]);
  expect(undo.desired[0]?.document.default_retry_policy_id).toBeInstanceOf(Ref);
  const { plan } = await world()
    .wanting(undo.desired)
    .live({ agent: [{ id: 'a1', organization_id: HARBOR, name: 'Desk', description: 'Since' }] })
    .having({ purpose: 'rollback' })
    .plan({ versions: undo.versions });
  expect(plan.changes).toMatchObject([
    { address: 'retry_policy.gentle', action: 'create' },
    {
      address: 'agent.desk',
      action: 'update',
      fields: [
        { path: 'default_retry_policy_id', after: { $ref: 'retry_policy.gentle' } },
        { path: 'description', before: 'Since', after: null },
      ],
    },
  ]);
});

test('a resource that was not there is taken away, or named where nothing deletes it', () => {
  const gone = { id: null, document: null, pin: null };
  const undo = undoTo([
    { ...POLICY, ...gone },
    { ...POLICY, ...gone, address: 'custom_voice.new', kind: 'custom_voice' },
  ]);
  expect(undo.desired).toEqual([]);
  expect(undo.impossible).toMatchObject([
    { address: 'custom_voice.new', why: expect.stringContaining('no endpoint that deletes') },
  ]);
});

test('values that no snapshot holds are left alone', () => {
  const [desk] = undoTo([{ ...DESK, withheld: ['integrations.smsProvider.auth_token'] }]).desired;
  expect(desk?.lifecycle.ignore).toEqual(['integrations.smsProvider.auth_token']);
});
