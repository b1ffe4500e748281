import { expect, test } from 'vitest';
import { type LedgerLine, renderLedgerText } from '../../src/render/ledger.ts';
import { expectGolden } from './golden.ts';

const PLAIN = { width: 80, color: false, verbose: false };

function lineOf(address: string, more: Partial<LedgerLine> = {}): LedgerLine {
  return {
    address,
    action: 'update',
    status: 'done',
    id: 'id-1',
    message: null,
    fields: [],
    history: null,
    ...more,
  };
}

const MIXED: readonly LedgerLine[] = [
  lineOf('custom_voice.harbor', {
    action: 'create',
    status: 'failed',
    id: null,
    message:
      'POST https://voice.example.test/v1/custom-voices answered 502: cloning failed upstream; the platform could not clone the recording',
  }),
  lineOf('retry_policy.gentle', { fields: ['rules'], history: null }),
  lineOf('agent.reception', {
    fields: ['system_prompt', 'model'],
    history: { before: 41, after: 43 },
  }),
  lineOf('agent.recall["uptown"]', {
    action: 'create',
    status: 'blocked',
    id: null,
    message: 'custom_voice.harbor failed',
  }),
  lineOf('sms_template.old', {
    action: 'delete',
    status: 'not_attempted',
    message: 'the run was interrupted',
  }),
  lineOf('email_template.hello', { action: 'create', id: 'id-2', fields: ['name'] }),
];

test.each([
  ['ledger.txt', false],
  ['ledger.verbose.txt', true],
])('%s', (name, verbose) => {
  expectGolden(name, renderLedgerText(MIXED, { ...PLAIN, verbose }));
});

test('what an interrupt left is counted beyond ten, unless all of it is asked for', () => {
  const left = Array.from({ length: 14 }, (_, index) =>
    lineOf(`agent.a${index}`, { status: 'not_attempted', message: 'the run was stopped' }),
  );
  const text = renderLedgerText(left, PLAIN);
  expect(text.match(/agent\.a\d+/g)).toHaveLength(10);
  expect(text).toContain('  ⋯ 4 more not attempted; --verbose lists them\n');
  expect(text).toContain('14 not attempted');
  const whole = renderLedgerText(left, { ...PLAIN, verbose: true });
  expect(whole.match(/agent\.a\d+/g)).toHaveLength(14);
});

test('that somebody else wrote in between is said last', () => {
  const lines = [
    lineOf('agent.a', { interleaved: [{ order: 'before' }] }),
    lineOf('agent.b', { interleaved: [{ order: 'after' }] }),
  ];
  expect(renderLedgerText(lines, { ...PLAIN, width: 200 })).toMatch(
    /Done: 2 updated\.\n1 resource was written by somebody else at the same moment: .*\n$/,
  );
});

test.each<[string, readonly LedgerLine[], string]>([
  ['nothing', [], 'Nothing was written.\n'],
  [
    'all done',
    [lineOf('agent.a'), lineOf('agent.b'), lineOf('agent.c', { action: 'delete' })],
    '\nDone: 2 updated, 1 deleted.\n',
  ],
  [
    'all done but what the plan left out',
    [
      lineOf('agent.a'),
      lineOf('agent.b', { status: 'not_attempted', verdict: 'refused', message: 'it is locked' }),
      lineOf('agent.c', { status: 'not_attempted', verdict: 'held' }),
    ],
    '◦ left out       agent.b  (update)\n    it is locked\n',
  ],
  [
    'the counts of what was left out',
    [
      lineOf('agent.a'),
      lineOf('agent.b', { status: 'not_attempted', verdict: 'refused' }),
      lineOf('agent.c', { status: 'not_attempted', verdict: 'held' }),
    ],
    '\nDone: 1 updated; left out: 1 refused, 1 held.\n',
  ],
  [
    'all failed',
    [lineOf('agent.a', { status: 'failed' })],
    '\nNot everything was done: 1 failed.\n',
  ],
  [
    'live text',
    [lineOf('agent.a', { status: 'failed', message: 'bad \u001b[2Jname' })],
    '\n    bad \\x1b[2Jname\n',
  ],
])('%s', (_, lines, end) => {
  expect(renderLedgerText(lines, PLAIN)).toContain(end);
});
