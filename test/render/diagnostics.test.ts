import { expect, test } from 'vitest';
import type { Diagnostic } from '../../src/core/diagnostics.ts';
import { renderDiagnosticsText } from '../../src/render/diagnostics.ts';
import { expectGolden } from './golden.ts';

const PLAIN = { width: 80, color: false, verbose: false };

const DIAGNOSTICS: readonly Diagnostic[] = [
  {
    severity: 'error',
    rule: 'secret/missing',
    message: 'the secret env:SMS_TOKEN of agent.reception is not set',
    hint: 'Set the environment variable SMS_TOKEN.',
    address: 'agent.reception',
    path: 'integrations.smsProvider.auth_token',
  },
  {
    severity: 'warning',
    rule: 'text/token',
    message: 'nothing supplies {{patient_nmae}} in the system prompt of agent.recall',
    position: { file: 'agents/recall.yaml', line: 9, column: 3 },
    hint: 'Did you mean {{patient_name}}?',
  },
  {
    severity: 'error',
    rule: 'schema/unknown',
    message: 'agent.reception has no field greeting_mesage',
    hint: 'Did you mean greeting_message?',
    address: 'agent.reception',
    path: 'greeting_mesage',
    position: { file: 'agents/reception.yaml', line: 12, column: 5 },
    frame:
      '  11 |     name: Front desk\n> 12 |     greeting_mesage: Hello, you have reached the practice of Harbor Dental, how can I help?\n     |     ^^^^^^^^^^^^^^^\n  13 |     model: alpha-4.1',
  },
  {
    severity: 'error',
    rule: 'schema/enum',
    message: 'agent.reception: agent_type cannot be "recepionist"',
    position: { file: 'agents/reception.yaml', line: 4, column: 17 },
  },
];

test('by file and place, those without a place last, counts at the end', () => {
  expectGolden('diagnostics.txt', renderDiagnosticsText(DIAGNOSTICS, PLAIN));
});

test.each<[string, readonly Diagnostic[], string]>([
  ['no problem is no text', [], ''],
  [
    'one warning',
    [{ severity: 'warning', rule: 'a/b', message: 'odd' }],
    'warning  odd  (a/b)\n\n1 warning\n',
  ],
  [
    'control characters of a file',
    [
      {
        severity: 'error',
        rule: 'a/b',
        message: 'x\u001b',
        position: { file: 'a\u202e', line: 1, column: 2 },
      },
    ],
    'a\\u{202e}:1:2  error  x\\x1b  (a/b)\n\n1 error\n',
  ],
])('%s', (_, diagnostics, text) => {
  expect(renderDiagnosticsText(diagnostics, PLAIN)).toBe(text);
});
