import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/core/plan-document.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { type GuardInput, guardChanges, overriddenLimits } from '../../src/plan/guards.ts';
import type { PlanInput } from '../../src/plan/make.ts';
import { type Documents, NO_OPTIONS, world } from '../world.ts';
import { plans } from './rows.ts';

const DESK = { name: 'Desk' };
const OTHER = { 'agent.other': { name: 'Other' } };
const live = { agent: [{ id: 'a1', name: 'Desk' }] };
const written = (lifecycle: JsonObject = {}) => ({
  'agent.desk': { id: 'a1', ...DESK, lifecycle },
});
const allow_delete = { allow_delete: true };

describe('protection', () => {
  plans([
    {
      title: 'outlives the block that asked for it',
      desired: OTHER,
      live,
      applied: written({ protect: true }),
      options: allow_delete,
      says: 'delete refused',
      because: ['protected', 'configure it again without lifecycle.protect'],
    },
    {
      title: 'is not lifted by --delete-used',
      desired: OTHER,
      live,
      applied: written({ protect: true }),
      options: { ...allow_delete, force: true },
      says: 'delete refused',
    },
    {
      title: 'refuses even what is not allowed yet, so that it is known early',
      desired: OTHER,
      live,
      applied: written({ protect: true }),
      says: 'delete refused',
    },
    {
      title: 'holds for what would be made anew',
      address: 'sms_template.hello',
      desired: {
        'sms_template.hello': { name: 'Hi', message_type: 'mms', lifecycle: { protect: true } },
      },
      live: { sms_template: [{ id: 's1', name: 'Hi', message_type: 'sms' }] },
      applied: { 'sms_template.hello': { id: 's1', name: 'Hi', message_type: 'sms' } },
      options: allow_delete,
      says: 'replace refused',
      because: ['message_type', 'protected', 'take out lifecycle.protect'],
    },
    {
      title: 'is gone once it was taken out and applied',
      desired: OTHER,
      live,
      applied: written({ protect: false }),
      options: allow_delete,
      says: 'delete',
    },
    {
      title: 'does not keep what is gone from being forgotten',
      desired: OTHER,
      applied: written({ protect: true }),
      says: 'forget',
    },
    {
      title: 'does not keep a resource from being changed',
      desired: { 'agent.desk': { ...DESK, status: 'inactive', lifecycle: { protect: true } } },
      live,
      applied: written({ protect: true }),
      says: 'update',
    },
  ]);
});

describe('a configuration without resources', () => {
  plans([
    {
      title: 'never means to delete everything',
      live,
      applied: written(),
      options: allow_delete,
      says: 'delete refused',
      because: ['the configuration has no resources', '--target'],
    },
    { title: 'holds what it would delete', live, applied: written(), says: 'delete held' },
    {
      title: 'deletes what is named',
      live,
      applied: written(),
      options: { ...allow_delete, target: ['agent.desk'] },
      says: 'delete',
    },
    {
      title: 'does not delete what is only meant by its kind',
      live,
      applied: written(),
      options: { ...allow_delete, target: ['agent'] },
      says: 'delete refused',
    },
    {
      title: 'is what a rollback of a first run wants',
      live,
      applied: written(),
      options: allow_delete,
      input: { purpose: 'rollback' },
      says: 'delete',
    },
  ]);
});

/** `count` agents that exist, of which some are changed and some no longer configured. */
function fleet(count: number, changed: number, removed: number) {
  const all = Array.from({ length: count }, (_, index) => `n${index}`);
  const desired: Documents = Object.fromEntries(
    all
      .slice(removed)
      .map((name, index) => [
        `agent.${name}`,
        { name, ...(index < changed ? { status: 'inactive' } : {}) },
      ]),
  );
  return world()
    .desired(desired)
    .live({ agent: all.map((name) => ({ id: name, name })) })
    .applied(Object.fromEntries(all.map((name) => [`agent.${name}`, { id: name, name }])));
}

describe('thresholds', () => {
  const rows: readonly {
    readonly title: string;
    readonly size: readonly [count: number, changed: number, removed: number];
    readonly guards: PlanInput['guards'];
    readonly allow?: boolean;
    readonly refused: number;
    readonly because?: string;
  }[] = [
    {
      title: 'as many deletes as allowed',
      size: [20, 0, 2],
      guards: { max_delete: 2 },
      refused: 0,
    },
    {
      title: 'one delete too many refuses them all',
      size: [20, 0, 3],
      guards: { max_delete: 2 },
      refused: 3,
      because:
        'deletes 3 resources, more than guards.max_delete: 2 allows. Raise the limit, or plan a part with --target. To override the limit once: `callsheet plan --override-limits REASON`',
    },
    {
      title: 'updates beside too many deletes',
      size: [20, 4, 3],
      guards: { max_delete: 2 },
      refused: 3,
    },
    {
      title: 'no delete at all',
      size: [20, 0, 1],
      guards: { max_delete: 0 },
      refused: 1,
      because: 'the plan deletes 1 resource, more than guards.max_delete: 0 allows',
    },
    {
      title: 'held deletes do not count',
      size: [20, 0, 3],
      guards: { max_delete: 0 },
      allow: false,
      refused: 0,
    },
    {
      title: 'changes up to the share',
      size: [20, 6, 0],
      guards: { max_change_percent: 30 },
      refused: 0,
    },
    {
      title: 'changes above the share',
      size: [20, 7, 0],
      guards: { max_change_percent: 30 },
      refused: 7,
      because: 'the plan changes 7 of 20 resources, and guards.max_change_percent: 30 allows 6',
    },
    {
      title: 'deletes count as changes',
      size: [20, 5, 2],
      guards: { max_change_percent: 30 },
      refused: 7,
    },
    {
      title: 'held deletes are no part of the share',
      size: [20, 0, 10],
      guards: { max_change_percent: 30 },
      allow: false,
      refused: 0,
    },
    {
      title: 'a share of few says nothing',
      size: [9, 9, 0],
      guards: { max_change_percent: 30 },
      refused: 0,
    },
    {
      title: 'a share of ten says something',
      size: [10, 4, 0],
      guards: { max_change_percent: 30 },
      refused: 4,
    },
    {
      title: 'how few is what the stack says',
      size: [9, 9, 0],
      guards: { max_change_percent: 30, min_resources: 9 },
      refused: 9,
    },
    {
      title: 'or more than ten',
      size: [10, 4, 0],
      guards: { max_change_percent: 30, min_resources: 11 },
      refused: 0,
    },
    {
      title: 'a share that is just above the limit does not look like it',
      size: [102, 31, 0],
      guards: { max_change_percent: 30 },
      refused: 31,
      because: 'changes 31 of 102 resources, and guards.max_change_percent: 30 allows 30',
    },
    {
      title: 'a delete that both limits refuse names both, and that one reason overrides both',
      size: [20, 0, 7],
      guards: { max_change_percent: 30, max_delete: 5 },
      refused: 7,
      because:
        'the plan deletes 7 resources, more than guards.max_delete: 5 allows, and the plan changes 7 of 20 resources, and guards.max_change_percent: 30 allows 6. Raise the limits, or plan a part with --target. To override max_delete and max_change_percent once: `callsheet plan --override-limits REASON`',
    },
    {
      title: 'a share that binary fractions miss',
      size: [100, 29, 0],
      guards: { max_change_percent: 29 },
      refused: 0,
    },
    { title: 'no guards', size: [20, 10, 10], guards: {}, refused: 0 },
  ];
  test.each(rows)('$title', async ({ size, guards, allow = true, refused, because }) => {
    const { plan } = await fleet(...size)
      .options({ allow_delete: allow })
      .plan({ guards });
    expect(plan.summary.refused).toBe(refused);
    const struck = plan.changes.filter(({ verdict }) => verdict === 'refused');
    for (const { reason } of struck) if (because) expect(reason).toContain(because);
  });

  test('a part that is chosen is a share of all, so that a large change can go in parts', async () => {
    const target = Array.from({ length: 12 }, (_, index) => `agent.n${index}`);
    const { plan } = await fleet(40, 40, 0)
      .options({ target })
      .plan({ guards: { max_change_percent: 30 } });
    expect(plan.summary).toMatchObject({ update: 12, refused: 0 });
  });

  test('are overridden once with a reason, and the plan has each of them with its figures', async () => {
    const { plan } = await fleet(20, 10, 3)
      .options({ allow_delete: true, override_limits: 'new opening hours' })
      .plan({ guards: { max_change_percent: 30, max_delete: 2 } });
    expect(plan.summary).toMatchObject({ refused: 0 });
    expect(plan.notes.map(({ message }) => message)).toEqual([
      'the plan deletes 3 resources, more than guards.max_delete: 2 allows; overridden: new opening hours',
      'the plan changes 13 of 20 resources, and guards.max_change_percent: 30 allows 6; overridden: new opening hours',
    ]);
    expect(plan.overridden_limits).toEqual([
      { limit: 'max_delete', set: 2, allows: 2, counted: 3, existing: 20 },
      { limit: 'max_change_percent', set: 30, allows: 6, counted: 13, existing: 20 },
    ]);
    expect(plan.refusals).toBeUndefined();
  });

  test('a limit that the plan keeps is not overridden', async () => {
    const { plan } = await fleet(20, 10, 0)
      .options({ override_limits: 'new opening hours' })
      .plan({ guards: { max_change_percent: 30, max_delete: 2 } });
    expect(plan.overridden_limits?.map(({ limit }) => limit)).toEqual(['max_change_percent']);
    const { plan: small } = await fleet(20, 1, 0)
      .options({ override_limits: 'new opening hours' })
      .plan({ guards: { max_change_percent: 30, max_delete: 2 } });
    expect(small).not.toHaveProperty('overridden_limits');
    expect(small.notes).toEqual([]);
  });

  test('what is created does not count', async () => {
    const made = world().desired(
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`agent.n${n}`, { name: `n${n}` }])),
    );
    const { plan } = await made.plan({ guards: { max_change_percent: 1, max_delete: 0 } });
    expect(plan.summary).toMatchObject({ create: 20, refused: 0 });
  });
});

/** A delete of `agent.desk` unless given. */
const removal = (verdict: Change['verdict'], more: Partial<Change> = {}): Change => ({
  address: 'agent.desk',
  kind: 'agent',
  name: 'Desk',
  organization_id: null,
  id: 'a1',
  action: 'delete',
  verdict,
  reason: 'not configured any more',
  adopted: false,
  missing_id: null,
  before: null,
  after: null,
  fields: [],
  pin: null,
  operations: [{ step: 'delete', fields: [] }],
  source: null,
  ...more,
});

/** Ten resources, and a delete of one of them is allowed. */
const TEN: GuardInput = {
  purpose: 'apply',
  options: { ...NO_OPTIONS, ...allow_delete },
  guards: {},
  isProtected: () => false,
  existing: 10,
  isConfigurationEmpty: false,
  claims: [],
};

test.each(['unsupported', 'refused'] as const)(
  'a delete that is %s already stays so, with its reason',
  (verdict) => {
    const change = removal(verdict);
    expect(guardChanges([change], { ...TEN, isProtected: () => true })).toEqual([change]);
  },
);

test('what makes a resource anew is part of the share', () => {
  const operations = ['delete' as const, 'create' as const].map((step) => ({ step, fields: [] }));
  const replace = removal('ok', { action: 'replace', operations });
  expect(guardChanges([replace], { ...TEN, guards: { max_change_percent: 5 } })).toMatchObject([
    { verdict: 'refused', reason: expect.stringContaining('1 of 10 resources, and') },
  ]);
  expect(guardChanges([replace], TEN)).toEqual([replace]);
});

test.each([
  [
    'apply',
    'Raise the limit, or plan a part with --target. To override the limit once: `callsheet plan --override-limits REASON`',
  ],
  ['rollback', 'Raise the limit, or plan a part with --target'],
  [
    'restore',
    'Raise the limit, or restore a part with --organization. To override the limit once, pass --override-limits REASON',
  ],
] as const)('beyond a threshold, %s says how less is done: %s', (purpose, says) => {
  for (const [guards, exceeded] of [
    [
      { max_change_percent: 5 },
      'the plan changes 1 of 10 resources, and guards.max_change_percent: 5 allows 0',
    ],
    [{ max_delete: 0 }, 'the plan deletes 1 resource, more than guards.max_delete: 0 allows'],
  ] as const) {
    const [change] = guardChanges([removal('ok')], { ...TEN, purpose, guards });
    expect(change).toMatchObject({
      verdict: 'refused',
      reason: `${exceeded}. ${says}`,
      lifted_by: 'override_limits',
    });
  }
});

test('beyond a threshold, a strategy says how its first step is made smaller', () => {
  const strategy = { feature: 'rollout', name: 'hours', command: 'rollout start' };
  const options = { ...TEN.options, strategy };
  const guards = { max_change_percent: 5 };
  expect(guardChanges([removal('ok')], { ...TEN, options, guards })).toMatchObject([
    {
      verdict: 'refused',
      reason:
        'the first step of the rollout hours changes 1 of 10 resources, and guards.max_change_percent: 5 allows 0. Make its first step smaller. To override the limit once: `callsheet rollout start hours --override-limits REASON`',
    },
  ]);
});

test('nothing lifts protection, and no limit is overridden that nobody asked to', () => {
  const [change] = guardChanges([removal('ok')], { ...TEN, isProtected: () => true });
  expect(change).not.toHaveProperty('lifted_by');
  const guards = { max_delete: 0 };
  expect(overriddenLimits([removal('ok')], { ...TEN, guards })).toEqual([]);
});

describe('what a feature has for its own', () => {
  const claim = (address: string, id: string) => {
    return { by: 'rollout hours', address, id, held: 'held by the rollout hours', written: null };
  };
  const claims = [claim('agent.bay', 'a7'), claim('agent.desk', 'a1')];
  const update = (more: Partial<Change> = {}, verdict: Change['verdict'] = 'ok') =>
    removal(verdict, { action: 'update', operations: [{ step: 'update', fields: [] }], ...more });
  const guard = (change: Change, purpose: GuardInput['purpose'] = 'apply') =>
    guardChanges([change], { ...TEN, purpose, claims });

  test.each<[string, Change]>([
    ['has its address', update({ id: 'a2' })],
    ['has its id, wherever it was moved to', update({ address: 'agent.front' })],
    ['is deleted', removal('ok')],
  ])('holds what others plan for a resource of it that %s', (_title, change) => {
    expect(guard(change)).toEqual([
      {
        ...change,
        verdict: 'held',
        reason: 'not configured any more; held by the rollout hours',
      },
    ]);
  });

  test.each<[string, Change, GuardInput['purpose']?]>([
    ['another agent', update({ address: 'agent.front', id: 'a2' })],
    ['what writes nothing', update({ action: 'adopt', operations: [] })],
    ['what is refused', update({}, 'refused')],
    ['a rollback', update(), 'rollback'],
  ])('leaves %s as it is', (_title, change, purpose) => {
    expect(guard(change, purpose)).toEqual([change]);
  });

  test('leaves what was edited of a resource that has the change to be put back, whatever cannot be compared', () => {
    const field = { path: 'name', before: 'Desk', after: 'Front desk', secret: false } as const;
    const change = update({
      fields: [
        { ...field, cause: 'drifted' },
        { ...field, path: 'tools[crm].secret', secret: true, cause: 'unknown_secret' },
      ],
    });
    const written = { why: 'has the change', advice: 'Abort it.' };
    const input = { ...TEN, claims: claims.map((one) => ({ ...one, written })) };
    expect(guardChanges([change], input)).toEqual([change]);
    expect(guardChanges([removal('ok')], input)).toMatchObject([{ verdict: 'held' }]);
  });
});

describe("the team's rules", () => {
  const refusal = { guard: 'rule', message: 'not on Fridays', until: null, advice: '' } as const;
  const desk = world().live(live).applied(written());
  const isRefused = async (made: typeof desk) => {
    const rules = () => ({ refusals: [refusal], notes: [] });
    return ((await made.plan({ rules })).plan.refusals ?? []).length > 0;
  };

  test.each<[string, typeof desk, boolean]>([
    ['writes', desk.desired({ 'agent.desk': { ...DESK, status: 'inactive' } }), true],
    ['writes and holds', desk.desired(OTHER), true],
    ['changes nothing', desk.desired({ 'agent.desk': DESK }), false],
    ['only takes over', world().live(live).desired({ 'agent.desk': DESK }), false],
    ['only holds', desk.desired(OTHER).options({ target: ['agent.desk'] }), false],
  ])('are asked of a plan that %s: %s', async (_title, made, expected) => {
    expect(await isRefused(made)).toBe(expected);
  });
});

test('what the person who planned allowed stands in the plan', async () => {
  const { plan } = await world().desired(OTHER).options(allow_delete).plan();
  expect(plan.options).toEqual({ ...NO_OPTIONS, allow_delete: true });
});
