import { describe, expect, test } from 'vitest';
import {
  type Change,
  isRefused,
  type PlanDocument,
  summarise,
} from '../../src/core/plan-document.ts';
import { hasChanges, isActing, planDigest } from '../../src/plan/document.ts';
import { changeOf, fieldOf } from '../render/sample.ts';
import { BAY, HARBOR, NO_OPTIONS, type WorldBuilder, world } from '../world.ts';

const DESIRED = {
  'retry_policy.gentle': { name: 'Gentle', rules: { no_answer: { delay_seconds: 900 } } },
  'agent.desk': {
    name: 'Desk',
    greeting_message: 'Good day',
    voice_settings: { speed: 1, language: 'en' },
  },
};
const LIVE = {
  agent: [
    { id: 'a1', name: 'Desk', greeting_message: 'Hello', updated_at: '2026-03-01T00:00:00Z' },
  ],
};
const APPLIED = { 'agent.desk': { id: 'a1', name: 'Desk', greeting_message: 'Hello' } };
const BASE = world().desired(DESIRED).live(LIVE).applied(APPLIED);

const digestOf = async (made: WorldBuilder, input = {}) => (await made.plan(input)).plan.digest;

describe('the digest of a plan', () => {
  test('is a SHA-256', async () => {
    expect(await digestOf(BASE)).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  const turned = {
    'retry_policy.gentle': { rules: { no_answer: { delay_seconds: 900 } }, name: 'Gentle' },
    'agent.desk': {
      voice_settings: { language: 'en', speed: 1 },
      greeting_message: 'Good day',
      name: 'Desk',
    },
  };
  const elsewhere = BASE.wanted().map((one) => ({
    ...one,
    position: { file: 'moved.yaml', line: 99, column: 1 },
  }));
  test.each<[string, WorldBuilder, object]>([
    ['the time', BASE, { now: new Date('2027-01-01T00:00:00Z') }],
    ['how fast reading was', BASE, { secondsPerRequest: () => 9 }],
    ['the order of keys in the configuration', BASE.desired(turned), {}],
    ['where a resource stands in the files', BASE.wanting(elsewhere), {}],
    ['assumptions', BASE, { findAssumption: () => 'some.assumption' }],
  ])('does not depend on %s', async (_title, made, input) => {
    expect(await digestOf(made, input)).toBe(await digestOf(BASE));
  });

  const greeting = {
    ...DESIRED,
    'agent.desk': { ...DESIRED['agent.desk'], greeting_message: 'Hi' },
  };
  const [record] = LIVE.agent;
  test.each<[string, WorldBuilder, object]>([
    ['what is wanted', BASE.desired(greeting), {}],
    ['what is live', BASE.live({ agent: [{ ...record, greeting_message: 'Hey' }] }), {}],
    ['the id', BASE.live({ agent: [{ ...record, id: 'a2' }] }), {}],
    [
      'the account',
      BASE,
      { platform: { base_url: 'https://platform.example.test', account_id: 'account-2' } },
    ],
    [
      'the address of the platform',
      BASE,
      { platform: { base_url: 'https://other.example.test', account_id: 'account-1' } },
    ],
    ['names of organizations', BASE, { organizations: { [HARBOR]: 'renamed', [BAY]: 'bay' } }],
    ['the lineage of the state', BASE, { state: { ...BASE.state(), lineage: 'another' } }],
    ['the purpose', BASE, { purpose: 'rollback', undoes: 'run-1' }],
    ['what was allowed', BASE.options({ accept_conflicts: true }), {}],
    ['what was left out', BASE.options({ exclude: ['agent.other'] }), {}],
  ])('depends on %s', async (_title, made, input) => {
    expect(await digestOf(made, input)).not.toBe(await digestOf(BASE));
  });

  test.each<[string, typeof BASE, object]>([
    ['what is live and not owned', BASE.live({ agent: [{ ...record, description: 'x' }] }), {}],
    [
      'when it was changed',
      BASE.live({ agent: [{ ...record, updated_at: '2026-03-02T00:00:00Z' }] }),
      {},
    ],
    [
      'its history',
      BASE.history({
        a1: [{ id: 7, action: null, actor: null, source: null, at: null, reverted_from_id: null }],
      }),
      {},
    ],
    ['the rest of the configuration', BASE, { configDigest: 'sha256:another' }],
    ['the serial of the state', BASE, { state: { ...BASE.state(), serial: 5 } }],
  ])('does not depend on %s', async (_title, made, input) => {
    expect(await digestOf(made, input)).toBe(await digestOf(BASE));
  });

  test('depends on what a reviewer is shown, and not on what may be said otherwise next time', async () => {
    const { plan } = await BASE.plan();
    const withChanges = (more: Partial<Change>) =>
      planDigest({ ...plan, changes: plan.changes.map((change) => ({ ...change, ...more })) });
    expect(withChanges({ source: 'y:1' })).toBe(plan.digest);
    expect(withChanges({ reason: 'x' })).not.toBe(plan.digest);
    const note = { severity: 'info', address: null, message: 'x' } as const;
    const varying = { ...note, varies: true } as const;
    expect(planDigest({ ...plan, notes: [...plan.notes, varying] })).toBe(plan.digest);
    expect(planDigest({ ...plan, notes: [...plan.notes, note] })).not.toBe(plan.digest);
  });

  test('depends on which fields are read once for several resources, not on where they stand', async () => {
    const { plan } = await BASE.plan();
    const digestWith = (fields: NonNullable<PlanDocument['groups']>[number]['fields']) => {
      const addresses = ['agent.a', 'agent.b', 'agent.c'];
      const groups = [{ kind: 'agent', action: 'update', addresses, fields } as const];
      return planDigest({ ...plan, groups });
    };
    const model = { path: 'model', source: 'bases.yaml:3' };
    const digest = digestWith([model]);
    expect(digest).not.toBe(plan.digest);
    expect(digestWith([{ ...model, source: null }])).toBe(digest);
    expect(digestWith([{ ...model, path: 'name' }])).not.toBe(digest);
    expect(digestWith([model, { ...model, path: 'name' }])).not.toBe(digest);
  });

  test('depends on the fields of a change, in any order, but for secrets that nobody can compare', async () => {
    const { plan } = await BASE.plan();
    const digestWith = (...fields: Change['fields']) =>
      planDigest({ ...plan, changes: [changeOf({ fields })] });
    const [model, name] = [fieldOf('model', 'a', 'b'), fieldOf('name', 'a', 'b')];
    const secret = fieldOf('token', '(secret)', '(secret)', { cause: 'unknown_secret' });
    const digest = digestWith(model, name);
    expect(digestWith(secret, name, model)).toBe(digest);
    expect(digestWith({ ...secret, cause: 'secret_changed' }, name, model)).not.toBe(digest);
    expect(digestWith(model)).not.toBe(digest);
  });

  test.each<[string, Partial<Change>]>([
    ['a verdict', { verdict: 'held' }],
    ['an action', { action: 'delete' }],
    ['a step', { operations: [] }],
    ['what it was made from', { basis: { configured: null, entry: null, live: {} } }],
    ['an id', { id: 'a9' }],
  ])('depends on %s', async (_title, more) => {
    const { plan } = await BASE.plan();
    const changes = plan.changes.map((change) => ({ ...change, ...more }));
    expect(planDigest({ ...plan, changes })).not.toBe(plan.digest);
  });
});

describe('the summary', () => {
  test('counts actions and verdicts', async () => {
    const { plan } = await world()
      .desired({
        'agent.same': { name: 'Same' },
        'agent.new': { name: 'New' },
        'agent.changed': { name: 'Changed', status: 'inactive' },
        'agent.found': { name: 'Found' },
        'agent.both': { name: 'Both', status: 'inactive' },
        'sms_template.t': { name: 'T', message_type: 'mms' },
      })
      .live({
        agent: [
          { id: '1', name: 'Same' },
          { id: '2', name: 'Changed', status: 'active' },
          { id: '3', name: 'Found' },
          { id: '4', name: 'Old' },
          { id: '5', name: 'Both', status: 'cancelled' },
        ],
        sms_template: [{ id: '6', name: 'T', message_type: 'sms' }],
      })
      .applied({
        'agent.same': { id: '1', name: 'Same' },
        'agent.changed': { id: '2', name: 'Changed', status: 'active' },
        'agent.old': { id: '4', name: 'Old' },
        'agent.both': { id: '5', name: 'Both', status: 'active' },
        'agent.gone': { id: '9', name: 'Gone' },
        'sms_template.t': { id: '6', name: 'T', message_type: 'sms' },
      })
      .plan();
    expect(plan.summary).toEqual({
      create: 1,
      update: 2,
      replace: 1,
      delete: 1,
      adopt: 1,
      forget: 1,
      no_op: 1,
      refused: 1,
      held: 2,
      unsupported: 0,
    });
    expect(plan.changes).toHaveLength(7);
  });

  test('counts what is left out of the changes', () => {
    expect(summarise([], 4812).no_op).toBe(4812);
    expect(summarise([changeOf({ action: 'no_op' }), changeOf()], 2).no_op).toBe(3);
  });
});

describe('the forecast', () => {
  test('counts the reads and writes of what apply does', async () => {
    const { plan } = await BASE.plan({ secondsPerRequest: () => 0.5 });
    // The policy is made: one write and its proof. The agent: its pin is read before that, too.
    expect(plan.requests).toEqual({ reads: 1 + 2, writes: 2, seconds: 3 });
  });

  test('leaves out what apply leaves out', async () => {
    const held = world()
      .desired({ 'agent.other': { name: 'Other' } })
      .live(LIVE)
      .applied({
        ...APPLIED,
        'agent.other': { id: 'a2', name: 'Other' },
      });
    const { plan } = await held
      .live({ agent: [...LIVE.agent, { id: 'a2', name: 'Other' }] })
      .plan();
    expect(plan.summary.held).toBe(1);
    expect(plan.requests).toEqual({ reads: 0, writes: 0, seconds: 0 });
  });
});

describe('a plan', () => {
  const having = (...changes: readonly Partial<Change>[]) =>
    ({ changes, options: { skip_refused: false } }) as unknown as PlanDocument;

  test.each([
    [[], false],
    [[{ action: 'adopt' }], false],
    [[{ action: 'no_op' }], false],
    [[{ action: 'update' }], true],
    [[{ action: 'forget' }], true],
  ] as const)('with %j has changes: %s', (changes, expected) => {
    expect(hasChanges(having(...changes))).toBe(expected);
  });

  test.each<[string, Partial<Change>, boolean]>([
    ['is ok', {}, true],
    ['is held', { verdict: 'held' }, false],
    ['is refused', { verdict: 'refused' }, false],
    ['is refused until an option lifts that', { verdict: 'refused', lifted_by: 'force' }, true],
    ['no option makes possible', { verdict: 'unsupported', lifted_by: 'force' }, false],
    ['has no steps', { operations: [] }, false],
  ])('acts by a change that %s: %j %s', (_title, more, expected) => {
    const change = changeOf({ operations: [{ step: 'update', fields: [] }], ...more });
    expect(isActing(change, NO_OPTIONS)).toBe(expected);
    const isLeftOut = { ...NO_OPTIONS, skip_refused: true };
    expect(isActing(change, isLeftOut)).toBe(expected && change.verdict === 'ok');
  });

  test('is refused where a change is, unless that is left out', () => {
    const plan = having({ verdict: 'held' }, { verdict: 'refused' });
    expect(isRefused(plan)).toBe(true);
    expect(isRefused({ ...plan, options: { ...plan.options, skip_refused: true } })).toBe(false);
    expect(isRefused(having({ verdict: 'held' }, { verdict: 'unsupported' }))).toBe(false);
  });
});
