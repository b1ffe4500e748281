import { expect, test } from 'vitest';
import type { Diagnostic } from '../../src/core/diagnostics.ts';
import { renderDiagnosticsText } from '../../src/render/diagnostics.ts';

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
    'callsheet validate --format json has those that are left out.',
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
