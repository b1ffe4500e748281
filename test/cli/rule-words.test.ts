import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RULES, wordsOfRule } from '../../src/features/review/sarif.ts';
import { namedRules } from '../../src/features/rules/lint.ts';

const root = new URL('../../', import.meta.url);

/** Every rule that the code of the configuration names, in any of the ways in which one is written. */
function rulesInCode(): ReadonlySet<string> {
  const files = ['src/stack/**/*.ts', 'src/{cli,console,features}/**/*.ts'].flatMap((pattern) =>
    globSync(pattern, { cwd: root }),
  );
  const code = files.map((file) => readFileSync(new URL(file, root), 'utf8')).join('\n');
  const written = code.matchAll(
    /\b(?:rule(?:: |\) => |\s*=\s*)|(?:warn|problem|add)\(\s*|rule:[^,\n]*[?:] |: \[)['`]([a-z-]+\/[a-z-]+)['`]/g,
  );
  return new Set([...written].map(([, rule = '']) => rule));
}

test('every rule in the code is in the table', () => {
  const found = rulesInCode();
  expect(found.size).toBeGreaterThan(50);
  expect([...found].filter((rule) => !RULES.has(rule)).sort()).toEqual([]);
});

test('the table has no rule that the code does not have', () => {
  // These are put together from the member of `platform.endpoints` that they are about.
  const found = new Set([
    ...rulesInCode(),
    ...namedRules.map(({ name }) => name),
    'platform/method',
    'platform/operation',
    'platform/path',
  ]);
  expect([...RULES.keys()].filter((rule) => !found.has(rule))).toEqual([]);
});

test('rules stand in the order of their names, each once, in whole sentences', () => {
  expect([...RULES.keys()]).toEqual([...new Set(RULES.keys())].sort());
  for (const { summary, remedy } of RULES.values()) {
    expect(summary).toMatch(/^[A-Za-z].*\.$/);
    expect(remedy.trim()).not.toBe('');
  }
});

test('a rule that is not listed has words all the same', () => {
  expect(wordsOfRule('team/greeting').summary).toContain('team/greeting');
});
