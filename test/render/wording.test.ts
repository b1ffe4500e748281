import { expect, test } from 'vitest';
import { formatDuration } from '../../src/core/errors.ts';
import {
  applyQuestion,
  formatAge,
  formatCalls,
  formatCount,
  formatFirst,
  formatNumber,
  formatPlanPlace,
  formatSize,
  headline,
  kindTitle,
  rollbackQuestion,
} from '../../src/render/wording.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

const AT = new Date('2026-03-02T08:30:00Z');

test.each([
  [formatNumber(999), '999'],
  [formatNumber(1_234_567), '1,234,567'],
  [formatCount(1, 'line'), '1 line'],
  [formatCount(2000, 'line'), '2,000 lines'],
  [formatFirst(['a', 'b', 'c'], 2), 'a, b, c'],
  [formatFirst(['a', 'b', 'c', 'd'], 2), 'a, b and 2 more'],
  [formatSize(1023), '1023 B'],
  [formatSize(5222), '5.1 KB'],
  [formatSize(2 * 1024 * 1024), '2 MB'],
  [formatSize(10 * 1024 * 1024 + 1), '10.1 MB'],
  [formatDuration(0.2), '1 s'],
  [formatDuration(130), '2 min 10 s'],
  [formatDuration(120), '2 min'],
  [formatDuration(3900), '1 h 5 min'],
  [formatDuration(7199), '2 h'],
  [formatDuration(47 * 3600), '47 h'],
  [formatDuration(76 * 3600), '3 days 4 h'],
  [formatDuration(9 * 86_400), '9 days'],
  [formatAge('2026-03-02T08:00:00Z', AT), '30 min ago'],
  [formatAge('2026-03-02T08:30:00Z', AT), 'just now'],
  [formatAge('2026-03-02T08:30:01Z', AT), 'ahead of the clock here'],
  [String(formatAge('yesterday', AT)), 'undefined'],
  [formatCalls({ calls: 0 }), 'no calls in 7 days'],
  [formatCalls({ calls: 1 }), '1 call in 7 days'],
  [formatCalls({ calls: 12_412 }), '12,412 calls in 7 days'],
  [String(formatCalls({})), 'undefined'],
  [kindTitle('retry_policy'), 'retry policies'],
  [kindTitle('agent'), 'agents'],
])('%#: %s', (text, expected) => {
  expect(text).toBe(expected);
});

const travel = (more: object) => ({
  path: 'integrations.smsProvider.auth_token',
  source: 'env:SMS',
  to: 'sms.example.test',
  before: 'sms.example.test',
  restorable: true,
  ...more,
});
const reversed = fieldOf(
  'system_prompt',
  'Be brief.\n\nDo not quote prices.\n',
  'Be brief.\n\nYou may quote prices.\n',
);

const priced = (now: string) =>
  fieldOf('system_prompt', 'Be brief.\n\nIt costs $90.\n', `Be brief.\n\nIt costs ${now}.\n`);

test.each([
  ['one sort of action is a sentence', [changeOf({ action: 'create' })], '1 new agent'],
  [
    'of several',
    ['a', 'b'].map((one) => changeOf({ address: `agent.${one}`, action: 'delete' })),
    '2 agents are deleted',
  ],
  ['of several kinds', [changeOf(), changeOf({ address: 'retry_policy.a' })], '2 resources change'],
  [
    'a delete among updates',
    [changeOf(), changeOf({ address: 'agent.b', action: 'delete' })],
    '2 agents change; 1 deleted',
  ],
  [
    'a delete that is held',
    [changeOf({ action: 'delete', verdict: 'held' })],
    '1 agent changes; 1 delete held',
  ],
  [
    'a stored secret that goes elsewhere',
    [changeOf({ secrets: [travel({ to: 'evil.example.test' })] })],
    '1 agent changes; 1 secret to a new host',
  ],
  [
    'a secret of something new',
    [changeOf({ secrets: [travel({ before: null })] })],
    '1 agent changes',
  ],
  ['a secret that stays', [changeOf({ secrets: [travel({})] })], '1 agent changes'],
  [
    'a secret that is removed',
    [changeOf({ secrets: [travel({ to: null })] })],
    '1 agent changes; 1 secret removed',
  ],
  [
    'a rule that is reversed in many is one',
    ['a', 'b'].map((one) => changeOf({ address: `agent.${one}`, fields: [reversed] })),
    '2 agents change; 1 rule reversed',
  ],
  [
    'a price that alone changed is named, in however many',
    ['a', 'b'].map((one) => changeOf({ address: `agent.${one}`, fields: [priced('$190')] })),
    '2 agents change; 1 price changed ($90 → $190)',
  ],
  [
    'of several prices there is the number',
    ['$190', '$80'].map((now) => changeOf({ address: `agent.${now}`, fields: [priced(now)] })),
    '2 agents change; 2 prices changed',
  ],
  [
    'what others did meanwhile',
    [
      changeOf({
        fields: [
          fieldOf('a', 1, 2, { cause: 'conflict' }),
          fieldOf('b', 1, 2, { cause: 'drifted' }),
          fieldOf('c', 1, 2, { cause: 'drifted' }),
        ],
      }),
    ],
    '1 agent changes; 1 conflict, 2 edits outside Callsheet undone',
  ],
  [
    'an edit of what is held is not undone yet',
    [
      changeOf({
        action: 'delete',
        verdict: 'held',
        fields: [fieldOf('a', 1, null, { cause: 'drifted' })],
      }),
    ],
    '1 agent changes; 1 delete held',
  ],
  [
    'a refusal is the worst',
    [changeOf({ verdict: 'refused' }), changeOf({ address: 'agent.b', action: 'create' })],
    'refused; 2 agents change; 1 new',
  ],
])('a headline begins with the worst: %s', (_, changes, expected) => {
  expect(headline(planOf(changes))).toBe(`Plan: ${expected}`);
});

test.each([
  [{}, ''],
  [{ stack: { name: 'clinics' }, environment: 'production' }, 'clinics · production'],
  [{ stack: { name: '/home/sam/clinics/' } }, 'clinics'],
  [
    {
      stack: {
        name: 'clinics',
        commit: {
          id: '1f3a9c0d2b4455667788990011223344aabbccdd',
          subject: 'x',
          author: 'y',
          at: '2026-03-02T09:00:00Z',
          is_changed: true,
        },
      },
    },
    'clinics · 1f3a9c0d2b44 with uncommitted changes',
  ],
])('a plan is from %j', (more, expected) => {
  expect(formatPlanPlace(planOf([], more))).toBe(expected);
});

test.each([
  [
    'what is adopted is no change',
    planOf([
      changeOf({ action: 'create' }),
      changeOf({ action: 'delete', verdict: 'held' }),
      changeOf({ action: 'adopt' }),
    ]),
    'Plan: 2 agents change; 1 delete held, 1 new',
  ],
  [
    'adoptions alone change nothing',
    planOf([changeOf({ action: 'adopt' })]),
    'No changes. The platform matches the configuration.',
  ],
  [
    'promises nothing of secrets that cannot be compared',
    planOf([], {
      notes: [{ severity: 'info', address: null, message: '2 secrets are', uncompared: 2 }],
    }),
    'No changes. The platform matches the configuration, apart from 2 secrets that cannot be compared.',
  ],
  [
    'promises nothing of them in an environment and of a snapshot either',
    planOf([], {
      purpose: 'restore',
      environment: 'staging',
      notes: [{ severity: 'info', address: null, message: '1 secret is', uncompared: 1 }],
    }),
    'No changes for staging. The platform matches the snapshot, apart from 1 secret that cannot be compared.',
  ],
  [
    'a rollback names its run',
    planOf([changeOf()], { purpose: 'rollback', undoes: 'r1' }),
    'Rollback of run r1: 1 agent changes',
  ],
  [
    'an empty rollback',
    planOf([], { purpose: 'rollback', undoes: 'r1' }),
    'No changes. Nothing of run r1 is left to roll back.',
  ],
  [
    'drift',
    planOf([changeOf()], { purpose: 'drift' }),
    'Drift: 1 resource changed outside Callsheet',
  ],
])('%s', (_, plan, expected) => {
  expect(headline(plan)).toBe(expected);
});

test('a question repeats what is worst', () => {
  const updates = Array.from({ length: 61 }, (_, at) =>
    changeOf({ address: `agent.c${at}`, action: 'update' }),
  );
  const gone = changeOf({ address: 'agent.old_front', action: 'delete' });
  const made = changeOf({ address: 'agent.new', action: 'create' });
  const held = changeOf({ address: 'agent.kept', action: 'delete', verdict: 'held' });
  expect(applyQuestion(planOf([...updates, gone, held]))).toBe(
    'Apply 61 updates and delete agent.old_front?',
  );
  expect(applyQuestion(planOf([made]))).toBe('Apply 1 create?');
  expect(applyQuestion(planOf([gone]))).toBe('Delete agent.old_front?');
  expect(rollbackQuestion('run r1', planOf([gone]))).toBe(
    'Roll back run r1 and delete agent.old_front?',
  );
});
