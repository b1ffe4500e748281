import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../src/core/diagnostics.ts';
import { renderDiagnosticsBeside, renderDiagnosticsText } from '../../src/render/diagnostics.ts';
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

const options = { width: 80, color: false, verbose: false };

function problem(line: number, more: Partial<Diagnostic> = {}): Diagnostic {
  const address = `agent.clinic["${line}"]`;
  return {
    severity: 'error',
    rule: 'schema/type',
    message: `${address}: voice_settings.speed must be a number, not text`,
    address,
    position: { file: 'clinics.csv', line, column: 5 },
    ...more,
  };
}

const lines = (count: number, of: (line: number) => Diagnostic) =>
  renderDiagnosticsText(
    Array.from({ length: count }, (_, index) => of(index + 2)),
    options,
  ).split('\n');

test('a bad column in 20,000 rows is told thrice, and counted', () => {
  expect(lines(20_000, (line) => problem(line)).filter((text) => text !== '')).toEqual([
    'clinics.csv:2:5  error  agent.clinic["2"]: voice_settings.speed must be a',
    '  number, not text  (schema/type)',
    'clinics.csv:3:5  error  agent.clinic["3"]: voice_settings.speed must be a',
    '  number, not text  (schema/type)',
    'clinics.csv:4:5  error  agent.clinic["4"]: voice_settings.speed must be a',
    '  number, not text  (schema/type)',
    '  and 19,997 others alike, the last in line 20001',
    '20,000 errors',
    '`callsheet validate --format json` lists all of them.',
  ]);
});

test('values that differ are shown up to a number for each rule and file', () => {
  const said = lines(300, (line) => problem(line, { message: `status cannot be "${line}"` }));
  expect(said.filter((text) => text.startsWith('clinics.csv'))).toHaveLength(20);
  expect(said).toContain('  and 280 other problems of schema/type in clinics.csv');
});

test.each([4, 1])('%i that are alike are all shown', (count) => {
  const said = lines(count, (line) => problem(line));
  expect(said.filter((text) => text.startsWith('clinics.csv'))).toHaveLength(count);
  expect(said.join('\n')).not.toContain('json');
});

test('the same words in two files and of two rules are no echoes', () => {
  const all = Array.from({ length: 4 }, (_, line) => [
    problem(line, { position: { file: 'a.csv', line, column: 1 } }),
    problem(line, { position: { file: 'b.csv', line, column: 1 } }),
    problem(line, { position: { file: 'b.csv', line, column: 1 }, rule: 'schema/limit' }),
  ]).flat();
  const said = renderDiagnosticsText(all, options).split('\n');
  expect(said.filter((text) => /^[ab]\.csv/.test(text))).toHaveLength(12);
});

describe('beside the results of a command', () => {
  const unset = (index: number) =>
    problem(3, {
      rule: 'secret/missing',
      message: `TOKEN_${index} is not set`,
      position: { file: `agents/${index}.yaml`, line: 3, column: 5 },
    });
  const odd = (index: number) => ({
    ...unset(index),
    severity: 'warning' as const,
    rule: 'prompt/odd',
    message: 'it is odd',
  });
  const beside = (problems: readonly Diagnostic[], more: Partial<typeof options> = {}) =>
    renderDiagnosticsBeside(problems, { ...options, ...more })
      .split('\n')
      .filter((line) => line !== '');
  const many = (of: (index: number) => Diagnostic) =>
    Array.from({ length: 40 }, (_, index) => of(index + 10));

  const unread = (index: number) => ({ ...odd(index), rule: 'stack/include' });

  test('of warnings that are no lint there is one of each rule', () => {
    expect(beside([...many(odd), ...many(unread)])).toEqual([
      'agents/10.yaml:3:5  warning  it is odd  (stack/include)',
      '  and 39 more of stack/include in 39 files',
      '80 warnings in 40 files',
      '`callsheet validate` shows all of them.',
    ]);
  });

  test('what lint says is counted in a line, with its rules', () => {
    expect(beside(many(odd))).toEqual([
      '40 warnings in the configuration (prompt/odd): `callsheet validate` shows them.',
    ]);
    expect(beside([odd(1)])).toEqual([
      '1 warning in the configuration (prompt/odd): `callsheet validate` shows it.',
    ]);
  });

  test('of errors there are three, and no warning that would hide them', () => {
    expect(beside([...many(odd), ...many(unset)])).toEqual([
      'agents/10.yaml:3:5  error  TOKEN_10 is not set  (secret/missing)',
      'agents/11.yaml:3:5  error  TOKEN_11 is not set  (secret/missing)',
      'agents/12.yaml:3:5  error  TOKEN_12 is not set  (secret/missing)',
      '  and 37 more of secret/missing in 37 files',
      '40 errors, 40 warnings in 40 files',
      '`callsheet validate` shows all of them.',
    ]);
  });

  test('with --verbose all are there', () => {
    const all = beside([...many(odd), ...many(unset)], { verbose: true });
    expect(all.filter((line) => line.startsWith('agents'))).toHaveLength(80);
  });
});
