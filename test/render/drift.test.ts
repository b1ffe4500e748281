import { expect, test } from 'vitest';
import { renderDriftText } from '../../src/render/drift.ts';
import { changeOf, fieldOf, planOf } from './sample.ts';

const PLAIN = { width: 80, color: false, verbose: false };
const driftOf = (...changes: Parameters<typeof planOf>[0]) =>
  renderDriftText(planOf(changes, { purpose: 'drift' }), PLAIN);

test('no drift is one sentence and what was compared', () => {
  expect(driftOf()).toBe('No drift. Nothing changed outside Callsheet.\n12 resources compared.\n');
});

test.each([
  ['a value', fieldOf('speed', 1, 2, { cause: 'drifted' }), '~ speed  1 → 2'],
  ['a value added', fieldOf('description', null, 'x', { cause: 'drifted' }), '+ description  "x"'],
  [
    'a value removed',
    fieldOf('description', 'x', null, { cause: 'drifted' }),
    '- description  "x"',
  ],
  [
    'a masked value',
    fieldOf('key', '(secret)', '(secret)', { cause: 'drifted', secret: true }),
    '~ key  (secret)  changed',
  ],
  [
    'both sides',
    fieldOf('speed', 1, 2, { cause: 'conflict' }),
    '~ speed  1 → 2  the configuration changed too',
  ],
])('shows %s', (_, field, line) => {
  expect(driftOf(changeOf({ fields: [field] }))).toContain(`    ${line}\n`);
});

test('a resource that is gone is shown as gone', () => {
  const reason = '5d2b, which the state names, is gone from the platform';
  const text = driftOf(changeOf({ action: 'create', reason, missing_id: '5d2b', fields: [] }));
  expect(text).toContain(
    `  - agent.reception  Front desk  agents/reception.yaml:4\n    ${reason}\n`,
  );
});
