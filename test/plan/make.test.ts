import { describe, expect, test } from 'vitest';
import type { PlanInput } from '../../src/plan/make.ts';
import { HARBOR, world } from '../world.ts';

const LIVE = {
  agent: [
    { id: 'a1', name: 'Desk', organization_id: HARBOR, greeting_message: 'Hello' },
    { id: 'a2', name: 'Night', organization_id: HARBOR },
  ],
};
const APPLIED = {
  'agent.desk': { id: 'a1', name: 'Desk', greeting_message: 'Hello' },
  'agent.night': { id: 'a2', name: 'Night' },
};
const DESIRED = {
  'agent.desk': { name: 'Desk', greeting_message: 'Good day' },
  'agent.night': { name: 'Night' },
};
const BASE = world().desired(DESIRED).live(LIVE).applied(APPLIED);

describe('a plan says of itself', () => {
  const given: Partial<PlanInput> = {
    purpose: 'rollback',
    undoes: 'run-7',
    snapshot: { made_at: '2026-03-01T00:00:00Z', sha256: 'aa' },
    environment: 'staging',
    endpoints: [
      {
        operation: 'updateAgent',
        method: 'PUT',
        path: '/v2/agents/{agentId}',
        instead_of: { method: 'PATCH', path: '/agents/{agentId}' },
      },
    ],
    settled: { run: 'run-6', findings: [] },
  };
  const OPTIONAL = ['undoes', 'snapshot', 'environment', 'endpoints', 'settled'] as const;

  test('what it undoes, goes back to, is made for, and found on its way', async () => {
    const { plan } = await BASE.plan(given);
    for (const name of OPTIONAL) expect(plan[name]).toEqual(given[name]);
  });

  test('nothing of what there is not', async () => {
    for (const endpoints of [undefined, []]) {
      const { plan } = await BASE.plan(endpoints === undefined ? {} : { endpoints });
      const none = [...OPTIONAL, 'groups'].filter((name) => Object.hasOwn(plan, name));
      expect(none).toEqual([]);
    }
  });

  test('which of its changes are alike', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
    const all = (model: string) =>
      Object.fromEntries(names.map((id) => [`agent.${id}`, { id, name: id, model }]));
    const { plan } = await world()
      .desired(
        Object.fromEntries(names.map((id) => [`agent.${id}`, { name: id, model: 'alpha-4o' }])),
      )
      .live({ agent: Object.values(all('alpha-4.1')) })
      .applied(all('alpha-4.1'))
      .plan();
    expect(plan.groups).toMatchObject([
      { kind: 'agent', action: 'update', addresses: names.map((id) => `agent.${id}`) },
    ]);
  });
});

describe('what a comparison found', () => {
  test('is handed on, unmasked, for what differs alone', async () => {
    const made = BASE.desired({ ...DESIRED, 'agent.new': { name: 'New' } }).applied({
      ...APPLIED,
      'agent.gone': { id: 'a9', name: 'Gone' },
    });
    const { plan, found } = await made.plan();
    expect(plan.changes.map(({ address }) => address)).toEqual([
      'agent.desk',
      'agent.new',
      'agent.gone',
    ]);
    expect(
      [...found].map(([address, leaves]) => [address, leaves.map(({ text }) => text)]),
    ).toEqual([['agent.desk', ['greeting_message']]]);
  });

  test('knows the id of whatever is live', async () => {
    const made = BASE.desired({ ...DESIRED, 'agent.new': { name: 'New' } });
    expect([...(await made.plan()).ids]).toEqual([
      ['agent.desk', 'a1'],
      ['agent.night', 'a2'],
    ]);
  });
});

describe('what could not be compared', () => {
  const [SID, TOKEN] = ['integrations.smsProvider.account_sid', 'env:TOKEN'];
  const using = (source: string) => ({
    integrations: { smsProvider: { account_sid: SID, auth_token: { $secret: source } } },
  });
  const NEVER =
    'the platform does not return secrets, and the state does not record what was written';
  const made = world()
    .desired({
      'agent.desk': { name: 'Desk', ...using(TOKEN) },
      'agent.night': { name: 'Night', ...using('env:OTHER') },
    })
    .live({
      agent: ['Desk', 'Night'].map((name, at) => ({
        id: `a${at + 1}`,
        name,
        organization_id: HARBOR,
        integrations: { smsProvider: { account_sid: SID } },
      })),
    });

  test('is told in words, one sentence after the other', async () => {
    const { plan, uncompared } = await made.secrets({ [TOKEN]: 'canary' }).plan();
    expect(plan.notes).toHaveLength(2);
    expect(uncompared).toBe(plan.notes.map(({ message }) => message).join(' '));
    expect(uncompared).toMatch(
      new RegExp(`^1 secret is not set here, .*\\. 1 secret is .*${NEVER}`),
    );
  });

  test('is not told where the state knows all of it', async () => {
    const known = made
      .applied({
        'agent.desk': { id: 'a1', name: 'Desk', ...using(TOKEN) },
        'agent.night': { id: 'a2', name: 'Night', ...using('env:OTHER') },
      })
      .secrets({}, { [TOKEN]: 'canary', 'env:OTHER': 'canary' });
    const { plan, uncompared } = await known.plan();
    expect(plan.notes).toMatchObject([{ known: true }]);
    expect(uncompared).toBeUndefined();
  });

  test('is not told where there is none', async () => {
    expect((await BASE.plan()).uncompared).toBeUndefined();
  });
});

test('a change of what a feature has for its own is left to it', async () => {
  const claim = { by: 'rollout a', address: 'agent.desk', id: 'a1', held: 'held', written: null };
  const { plan } = await BASE.plan({ claims: [claim] });
  expect(plan.changes).toMatchObject([{ address: 'agent.desk', verdict: 'held' }]);
});

describe('of what is planned', () => {
  const planned = async (made = BASE, input: Partial<PlanInput> = {}) => {
    const { changes, summary } = (await made.plan(input)).plan;
    return [...changes.map(({ action, address }) => `${action} ${address}`), summary.no_op];
  };

  test('whatever is no longer configured is a part only where it is pruned', async () => {
    const made = BASE.desired({ 'agent.desk': DESIRED['agent.desk'] });
    expect(await planned(made)).toEqual(['update agent.desk', 'delete agent.night', 0]);
    expect(await planned(made, { prune: false })).toEqual(['update agent.desk', 0]);
  });

  const ROWS = {
    'agent.clinic': { name: 'Clinic' },
    'agent.clinic["bay"]': { name: 'Bay' },
    'agent.desk': { name: 'Other desk' },
  };
  const rows = world().desired(ROWS);
  test.each<[string, PlanInput['purpose'], readonly string[], readonly string[]]>([
    [
      'a target means its rows too',
      'apply',
      ['agent.clinic'],
      ['agent.clinic', 'agent.clinic["bay"]'],
    ],
    ['a target of a rollback means itself alone', 'rollback', ['agent.clinic'], ['agent.clinic']],
    ['a rollback without targets means everything', 'rollback', [], Object.keys(ROWS)],
    ['everything is meant without targets', 'apply', [], Object.keys(ROWS)],
    [
      'several targets are all meant',
      'apply',
      ['agent.desk', 'agent.clinic["bay"]'],
      ['agent.clinic["bay"]', 'agent.desk'],
    ],
  ])('%s', async (_title, purpose, target, expected) => {
    const { plan } = await rows.options({ target }).plan({ purpose });
    expect(plan.changes.map(({ address }) => address).sort()).toEqual([...expected].sort());
  });
});

describe('what lifecycle.adopt names and is gone', () => {
  const made = world().desired({ 'agent.desk': { name: 'Desk', lifecycle: { adopt: 'a9' } } });
  test.each(['rollback', 'restore'] as const)('is made anew by a %s', async (purpose) => {
    const { plan } = await made.plan({ purpose });
    expect(plan.changes.map(({ action }) => action)).toEqual(['create']);
  });
  test.each(['apply', 'drift', 'comparison'] as const)('is an error of %s', async (purpose) => {
    await expect(made.plan({ purpose })).rejects.toMatchObject({ code: 'config' });
  });
});

test('the share of what a plan touches is one of what is live, not of what is to be', async () => {
  const more = {
    'agent.new': { name: 'New' },
    'agent.newer': { name: 'Newer' },
    'agent.newest': { name: 'Newest' },
  };
  const made = BASE.desired({ ...DESIRED, ...more });
  const guards = { max_change_percent: 40, min_resources: 1 };
  const { plan } = await made.plan({ guards });
  expect(plan.changes.find(({ address }) => address === 'agent.desk')).toMatchObject({
    verdict: 'refused',
    reason: expect.stringContaining(
      'the plan changes 1 of 2 resources, and guards.max_change_percent: 40 allows 0',
    ),
  });
});

describe('what is no longer configured', () => {
  const made = BASE.desired({ 'agent.desk': DESIRED['agent.desk'] }).options({
    allow_delete: true,
  });
  test('stays protected by what the state remembers', async () => {
    const guarded = made.applied({
      ...APPLIED,
      'agent.night': { ...APPLIED['agent.night'], lifecycle: { protect: true } },
    });
    const change = (await guarded.changes()).get('agent.night');
    expect(change).toMatchObject({ action: 'delete', verdict: 'refused' });
    expect(change?.reason).toContain('it is protected');
  });
  test('is deleted where nothing protected it', async () => {
    expect((await made.changes()).get('agent.night')?.verdict).toBe('ok');
  });
});
