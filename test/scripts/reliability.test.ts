import { expect, test } from 'vitest';
import { foldersIn } from '../../scripts/reliability/figures.ts';
import { renderReliability } from '../../scripts/reliability/render.ts';

const mutants = (...statuses: readonly string[]) => ({
  mutants: statuses.map((status) => ({ status })),
});

test('mutants are counted by folder, those that never ran for nothing', () => {
  const files = {
    'src/diff/a.ts': mutants('Killed', 'Timeout', 'Survived', 'Ignored', 'CompileError'),
    'src/diff/b.ts': mutants('NoCoverage', 'RuntimeError', 'Pending'),
    'src/plan/c.ts': mutants('Killed'),
  };
  expect(foldersIn(files)).toEqual([
    { folder: 'src/diff', files: 2, detected: 2, undetected: 2 },
    { folder: 'src/plan', files: 1, detected: 1, undetected: 0 },
  ]);
});

test('the page shows every figure, and what is missing', () => {
  const page = renderReliability({
    kill_matrix: {
      points: 1200,
      converged: 1199,
      by: { update: { points: 200, converged: 200 }, create: { points: 1000, converged: 999 } },
    },
    worlds: { worlds: 500, steps: 1100, faults: 900, seed: 7 },
    canaries: { positions: 28, commands: 400, checks: 11_200, leaks: 0 },
    mutation: [
      { folder: 'src/diff', files: 2, detected: 9, undetected: 1 },
      { folder: 'src/plan', files: 3, detected: 8, undetected: 2 },
    ],
  });
  expect(page.split('\n').filter((line) => /^\| .*\d/.test(line))).toEqual([
    '| `create` | 1,000 | 999 | 1 |',
    '| `update` | 200 | 200 | 0 |',
    '| **all** | 1,200 | 1,199 | 1 |',
    '| 500 | 1,100 | 900 | 500 |',
    '| 28 | 400 | 11,200 | 0 |',
    '| `src/diff` | 2 | 10 | 9 | 90.0 % |',
    '| `src/plan` | 3 | 10 | 8 | 80.0 % |',
    '| **both** | 5 | 20 | 17 | 85.0 % |',
  ]);
  expect(renderReliability({}).match(/Not measured/g)).toHaveLength(4);
});
