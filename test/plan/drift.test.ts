import { describe, expect, test } from 'vitest';
import { planDigest } from '../../src/plan/document.ts';
import { keepDrift, withoutHealed } from '../../src/plan/drift.ts';
import { world } from '../world.ts';

const TOOL = { type: 'webhook', name: 'crm', url: 'https://crm.example.test' };
const APPLIED = {
  'agent.drifted': { id: '1', name: 'Drifted', greeting_message: 'Hello', model: 'alpha-4.1' },
  'agent.edited': { id: '2', name: 'Edited', greeting_message: 'Hello' },
  'agent.both': { id: '3', name: 'Both', greeting_message: 'Hello' },
  'agent.same': { id: '4', name: 'Same' },
  'agent.missing': { id: '5', name: 'Missing' },
  'agent.tools': { id: '6', name: 'Tools', extensions: { tools: [] } },
  'agent.old': { id: '7', name: 'Old' },
};
const DESIRED = {
  'agent.drifted': { name: 'Drifted', greeting_message: 'Hello', model: 'alpha-4o' },
  'agent.edited': { name: 'Edited', greeting_message: 'Good day' },
  'agent.both': { name: 'Both', greeting_message: 'Good day' },
  'agent.same': { name: 'Same' },
  'agent.missing': { name: 'Missing' },
  'agent.tools': { name: 'Tools', extensions: { tools: [] } },
  'agent.new': { name: 'New' },
};
const LIVE = {
  agent: [
    { id: '1', name: 'Drifted', greeting_message: 'Hi', model: 'alpha-4.1' },
    { id: '2', name: 'Edited', greeting_message: 'Hello' },
    { id: '3', name: 'Both', greeting_message: 'Hi' },
    { id: '4', name: 'Same', description: 'not ours' },
    { id: '6', name: 'Tools', extensions: { tools: [TOOL] } },
    { id: '7', name: 'Old' },
  ],
};

async function drifted() {
  const { plan } = await world().desired(DESIRED).live(LIVE).applied(APPLIED).plan();
  const drift = keepDrift(plan, () => []);
  return { plan, drift, changes: new Map(drift.changes.map((one) => [one.address, one])) };
}

describe('drift', () => {
  test('is what the platform moved, and nothing of what the configuration changed', async () => {
    const { changes } = await drifted();
    expect([...changes.keys()]).toEqual([
      'agent.drifted',
      'agent.both',
      'agent.missing',
      'agent.tools',
    ]);
  });

  test('says nothing of what a plan would refuse', async () => {
    const { plan, drift, changes } = await drifted();
    expect(plan.summary.refused).toBe(1);
    expect(drift.summary.refused).toBe(0);
    expect(changes.get('agent.both')?.verdict).toBe('ok');
  });

  test('says what should be, then what is live', async () => {
    const { changes } = await drifted();
    expect(changes.get('agent.drifted')?.fields).toEqual([
      { path: 'greeting_message', before: 'Hello', after: 'Hi', secret: false, cause: 'drifted' },
    ]);
    expect(changes.get('agent.drifted')).toMatchObject({
      before: { greeting_message: 'Hello' },
      after: { greeting_message: 'Hi' },
    });
    // The configuration of a conflict was never applied.
    expect(changes.get('agent.both')?.fields).toMatchObject([
      {
        path: 'greeting_message',
        before: 'Hello',
        after: 'Hi',
        configured: 'Good day',
        cause: 'conflict',
      },
    ]);
    expect(changes.get('agent.both')).toMatchObject({
      before: { greeting_message: 'Hello' },
      after: { greeting_message: 'Hi' },
    });
    expect(changes.get('agent.tools')?.fields).toMatchObject([
      { path: 'extensions.tools[crm]', before: null, after: TOOL },
    ]);
    expect(changes.get('agent.missing')).toMatchObject({
      missing_id: '5',
      before: { name: 'Missing' },
      after: null,
    });
  });

  test('says why, and of what is gone nothing of what apply would do', async () => {
    const { plan, changes } = await drifted();
    const planned = plan.changes.find(({ address }) => address === 'agent.drifted');
    expect(changes.get('agent.drifted')?.reason).toBe(planned?.reason);
    expect(changes.get('agent.missing')?.reason).toBe('it is no longer on the platform (id 5)');
  });

  test('asks for nothing', async () => {
    const { drift } = await drifted();
    expect(drift.purpose).toBe('drift');
    expect(drift.assumptions).toEqual([]);
    expect(drift.requests).toEqual({ reads: 0, writes: 0, seconds: 0 });
    for (const { operations } of drift.changes) expect(operations).toEqual([]);
  });

  test('counts everything that was compared', async () => {
    const { plan, drift } = await drifted();
    const counted = (summary: typeof plan.summary) => {
      const { create, update, replace, delete: deleted, adopt, forget, no_op } = summary;
      return create + update + replace + deleted + adopt + forget + no_op;
    };
    expect(counted(plan.summary)).toBe(8);
    expect(counted(drift.summary)).toBe(8);
  });

  test('has a digest of its own, which fits it', async () => {
    const { plan, drift } = await drifted();
    const { digest, ...rest } = drift;
    expect(digest).not.toBe(plan.digest);
    expect(planDigest(rest)).toBe(digest);
  });
});

test('without state, whatever differs from the configuration is drift', async () => {
  const made = world()
    .desired({
      'agent.a': { name: 'A', greeting_message: 'Hello' },
      'agent.b': { name: 'B' },
      'agent.new': { name: 'New' },
      'sms_template.hi': { name: 'Hi', message_type: 'sms' },
    })
    .live({
      agent: [
        { id: '1', name: 'A', greeting_message: 'Hi' },
        { id: '2', name: 'B' },
      ],
      sms_template: [{ id: '3', name: 'Hi', message_type: 'mms' }],
    });
  const { plan } = await made.plan();
  const addresses = keepDrift(plan, () => []).changes.map(({ address }) => address);
  expect(addresses).toEqual(['sms_template.hi', 'agent.a']);
});

test('a resource that has the place of one that is gone is drift for that', async () => {
  const { plan } = await world()
    .desired({ 'agent.a': { name: 'A', sip: { registration_enabled: true } } })
    .live({ agent: [{ id: '2', name: 'A' }] })
    .applied({ 'agent.a': { id: '1', name: 'A', sip: { registration_enabled: true } } })
    .plan();
  expect(plan.changes[0]?.reason).toMatch(
    /^sip cannot be set: the agent has no SIP registration, .* \(the resource with the recorded id 1 is gone, and another one has its place/,
  );
  expect(keepDrift(plan, () => []).changes).toMatchObject([
    {
      address: 'agent.a',
      reason: 'the resource with the recorded id 1 is gone, and another one has its place',
    },
  ]);
});

test('no drift is no change', async () => {
  const made = world()
    .desired({ 'agent.same': { name: 'Same' } })
    .live({ agent: [{ id: '4', name: 'Same' }] })
    .applied({ 'agent.same': { id: '4', name: 'Same' } });
  const { plan } = await made.plan();
  expect(keepDrift(plan, () => [])).toMatchObject({
    changes: [],
    summary: { no_op: 1 },
  });
});

test('what neither side has any more is no drift', async () => {
  const made = world()
    .desired({ 'agent.same': { name: 'Same' } })
    .live({ agent: [{ id: '4', name: 'Same' }] })
    .applied({ 'agent.same': { id: '4', name: 'Same' }, 'agent.old': { id: '7', name: 'Old' } });
  const { plan } = await made.plan();
  expect(plan.changes).toMatchObject([{ address: 'agent.old', action: 'forget' }]);
  expect(keepDrift(plan, () => []).changes).toEqual([]);
});

test('without state, a secret that nobody can compare is no drift', async () => {
  const token = (given: object) => ({
    name: 'Desk',
    greeting_message: 'Hello',
    integrations: { smsProvider: { account_sid: 'AC1', ...given } },
  });
  const { plan } = await world()
    .desired({ 'agent.desk': token({ auth_token: { $secret: 'env:TOKEN' } }) })
    .live({ agent: [{ id: '1', ...token({}), greeting_message: 'Hi' }] })
    .secrets({ 'env:TOKEN': 'canary' })
    .plan();
  expect(plan.changes[0]?.fields.map(({ cause }) => cause)).toContain('unknown_secret');
  expect(keepDrift(plan, () => []).changes[0]?.fields).toMatchObject([
    { path: 'greeting_message' },
  ]);
});

test('the document of a conflict has what was last written, in an element of a list too', async () => {
  const tool = (url: string) => ({ name: 'A', extensions: { tools: [{ ...TOOL, url }] } });
  const { plan } = await world()
    .desired({ 'agent.a': tool('https://files.example.test') })
    .live({ agent: [{ id: '1', ...tool('https://live.example.test') }] })
    .applied({ 'agent.a': { id: '1', ...tool(TOOL.url) } })
    .plan();
  const [change] = keepDrift(plan, () => []).changes;
  expect(change?.fields).toMatchObject([
    { path: 'extensions.tools[crm].url', before: TOOL.url, cause: 'conflict' },
  ]);
  expect(change?.before?.extensions).toEqual({ tools: [TOOL] });
});

test('of a conflict over what the files no longer have, what was last written is what should be', async () => {
  const { plan } = await world()
    .desired({ 'agent.a': { name: 'A' } })
    .live({ agent: [{ id: '1', name: 'A', description: 'two' }] })
    .applied({ 'agent.a': { id: '1', name: 'A', description: 'one' } })
    .plan();
  const [change] = keepDrift(plan, () => []).changes;
  expect(change?.fields).toMatchObject([
    { path: 'description', before: 'one', after: 'two', configured: null, cause: 'conflict' },
  ]);
  expect(change?.before).toMatchObject({ description: 'one' });
});

describe('drift of which some was put back', () => {
  test('is the rest, and what was put back counts as equal', async () => {
    const { drift } = await drifted();
    const left = withoutHealed(drift, new Set(['agent.drifted', 'agent.tools', 'agent.other']));
    expect(left.changes).toEqual(
      drift.changes.filter(({ address }) => ['agent.both', 'agent.missing'].includes(address)),
    );
    expect(left.summary).toEqual({
      ...drift.summary,
      update: drift.summary.update - 2,
      no_op: drift.summary.no_op + 2,
    });
    expect(left).toMatchObject({ purpose: 'drift', state: drift.state });
    const { digest, ...rest } = left;
    expect(digest).not.toBe(drift.digest);
    expect(planDigest(rest)).toBe(digest);
  });

  test('is the same where nothing of it was put back', async () => {
    const { drift } = await drifted();
    expect(withoutHealed(drift, new Set(['agent.same']))).toBe(drift);
  });
});
