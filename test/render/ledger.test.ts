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
