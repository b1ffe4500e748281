import { expect, test } from 'vitest';
import { tellRefused } from '../../src/console/result.ts';
import type { Change, Note, PlanDocument } from '../../src/core/plan-document.ts';
import { footersAbove, footersBelow } from '../../src/render/footers.ts';
import { quietContext } from '../cli/quiet-context.ts';
import { changeOf, planOf } from './sample.ts';

const footersOf = (plan: PlanDocument) => [...footersAbove(plan), ...footersBelow(plan)];
const noteOf = (address: string | null, message: string): Note => ({
  severity: 'info',
  address,
  message,
});
const itemsOf = (notes: readonly Note[]) =>
  footersOf(planOf([], { notes })).flatMap(({ items }) => items);

test.each<[string, readonly Note[], readonly unknown[]]>([
  [
    'one note stands as it is',
    [noteOf('agent.a', 'agent.a is odd')],
    [{ address: 'agent.a', text: 'agent.a is odd' }],
  ],
  ['a note about the plan', [noteOf(null, 'slow')], [{ address: null, text: 'slow' }]],
  [
    'the same of several is said once',
    ['agent.a', 'agent.b', 'agent.c'].map((address) =>
      noteOf(address, `key: --resend-secrets ${address}`),
    ),
    [{ address: 'agent.a, agent.b, agent.c', text: 'key: --resend-secrets ADDRESS' }],
  ],
  [
    'the same of many names the first three',
    ['a', 'b', 'c', 'd', 'e'].map((name) => noteOf(`agent.${name}`, 'odd')),
    [{ address: 'agent.a, agent.b, agent.c and 2 more', text: 'odd' }],
  ],
  [
    'the same twice of one names it once',
    [noteOf('agent.a', 'odd'), noteOf('agent.a', 'odd'), noteOf('agent.b', 'odd')],
    [{ address: 'agent.a, agent.b', text: 'odd' }],
  ],
  [
    'the same twice of one alone',
    [noteOf('agent.a', 'agent.a is odd'), noteOf('agent.a', 'agent.a is odd')],
    [{ address: 'agent.a', text: 'agent.a is odd' }],
  ],
  [
    'different notes of one resource',
    [noteOf('agent.a', 'x'), noteOf('agent.a', 'y')],
    [
      { address: 'agent.a', text: 'x' },
      { address: 'agent.a', text: 'y' },
    ],
  ],
])('%s', (_, notes, items) => {
  expect(itemsOf(notes)).toEqual(items);
});

test.each([
  [
    'held',
    {},
    'Held: the rollback leaves out 1 change.',
    'Roll back with --allow-delete to undo what is held.',
  ],
  [
    'refused',
    { skip_refused: true },
    'Refused: the rollback leaves out 1 change, as --skip-refused asks.',
    null,
  ],
] as const)(
  'a rollback that leaves out what is %s says that it is one',
  (verdict, options, title, advice) => {
    const { options: own } = planOf([]);
    const change = changeOf({ action: 'delete', verdict, lifted_by: 'allow_delete' });
    const plan = planOf([change], { purpose: 'rollback', options: { ...own, ...options } });
    expect(footersOf(plan)).toMatchObject([{ title, advice }]);
  },
);

test.each<[string, readonly Change['lifted_by'][], string | null]>([
  [
    'a flag',
    ['allow_delete', 'allow_delete'],
    'Plan with --allow-delete to apply the held changes.',
  ],
  [
    'a flag or a rollout',
    ['allow_delete', undefined],
    'Plan with --allow-delete to apply the changes that wait for --allow-delete.',
  ],
  ['a rollout', [undefined], null],
])('what waits for %s is told with what helps', (_, lifts, advice) => {
  const held = lifts.map((lift, at) =>
    changeOf({
      address: `agent.a${at}`,
      verdict: 'held',
      ...(lift === undefined ? {} : { lifted_by: lift }),
    }),
  );
  expect(footersOf(planOf(held))).toMatchObject([{ advice }]);
});

test('held deletes are told first how they would be none', () => {
  const held = changeOf({
    address: 'agent.clinic["a"]',
    action: 'delete',
    verdict: 'held',
    lifted_by: 'allow_delete',
  });
  const [footer] = footersOf(planOf([held]));
  const ways = ['under forget', 'list both under moved', `state mv 'agent.clinic["a"]' --to`];
  const advice = footer?.advice ?? '';
  const last = advice.indexOf('Plan with --allow-delete');
  for (const way of ways)
    expect([advice.includes(way), advice.indexOf(way) < last]).toEqual([true, true]);
});

test.each([
  ['nothing', [], 'Frozen until Mon 06:00: apply does not run this plan meanwhile.', 'warning'],
  [
    'what main is refused for already',
    [{ guard: 'rule', message: 'no', until: null, advice: 'Ask.', origin: 'base' }],
    'Frozen until Mon 06:00: apply does not run this plan meanwhile.',
    'warning',
  ],
  [
    'a hold',
    [{ guard: 'hold', message: 'held', until: null, advice: 'Change it.' }],
    'Refused: apply does not run this plan now.',
    'error',
  ],
] as const)('a freeze and %s', (_, others, title, weight) => {
  const freeze = { until: '2026-11-23T06:00:00Z', ends: 'Mon 06:00', reason: 'Weekend' };
  const frozen = {
    guard: 'freeze',
    message: 'frozen',
    until: freeze.until,
    advice: 'Wait.',
  } as const;
  for (const origin of [{}, { origin: 'base' }] as const) {
    const refusals = [{ ...frozen, ...origin }, ...others];
    expect(footersOf(planOf([], { freeze, refusals }))[0]).toMatchObject({ title, weight });
  }
});

test.each(['apply', 'rollback'] as const)(
  'what stands against a plan for %s as a whole comes first, with all that can be done',
  (purpose) => {
    const refusals = [
      { guard: 'freeze', message: 'frozen', until: null, advice: 'Wait.' },
      { guard: 'hold', message: 'held', until: null, advice: 'Change it.' },
      { guard: 'hold', message: 'held, too', until: null, advice: 'Change it.' },
    ] as const;
    const [first] = footersOf(planOf([], { purpose, refusals, notes: [noteOf(null, 'slow')] }));
    expect(first).toMatchObject({
      weight: 'error',
      title:
        purpose === 'apply'
          ? 'Refused: apply does not run this plan now.'
          : 'Refused: this rollback is not run now.',
      items: [{ text: 'frozen' }, { text: 'held' }, { text: 'held, too' }],
      advice: 'Wait. Change it.',
    });
  },
);

test('what was found out about a run that died', () => {
  const finding = { severity: 'info', address: 'agent.a', message: 'was created (id 1)' } as const;
  const plan = (findings: readonly (typeof finding)[]) =>
    planOf([], { settled: { run: 'r1', findings } });
  expect(footersOf(plan([finding]))).toMatchObject([
    {
      weight: 'info',
      title: 'Settled from run r1, which died:',
      items: [{ address: 'agent.a', text: 'was created (id 1)' }],
    },
  ]);
  expect(footersOf(plan([]))).toMatchObject([
    { items: [{ address: null, text: 'its journal already records everything that it did' }] },
  ]);
});

test('what is refused is left out by a command that keeps what the plan was allowed', () => {
  const { options } = planOf([]);
  const given = { accept_conflicts: true, force: true, target: ['agent.a', 'agent.b["c 1"]'] };
  const plan = planOf([changeOf({ verdict: 'refused', reason: 'locked' })], {
    environment: 'staging',
    options: { ...options, ...given } as typeof options,
  });
  expect(footersOf(plan)).toMatchObject([
    {
      advice:
        'Fix the refused changes. To leave them out: `callsheet apply --accept-conflicts --skip-refused --target agent.a \'agent.b["c 1"]\' --delete-used --env staging`',
    },
  ]);
});

test('a refused restore that would only record the rest does not offer it, in the plan or below it', () => {
  const changes = [
    changeOf({ verdict: 'refused', reason: 'it was edited' }),
    changeOf({ address: 'agent.bay', action: 'adopt', operations: [], fields: [] }),
  ];
  const plan = planOf(changes, { purpose: 'restore' });
  const { context, said } = quietContext();
  expect(footersOf(plan)[0]?.advice).toBe('Fix the refused changes.');
  tellRefused(plan, context.terminal);
  expect(said.err).not.toContain('--skip-refused');
});
