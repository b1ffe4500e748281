import { expect, test } from 'vitest';
import { stepCounts } from '../../../src/features/rollout/record.ts';
import type { StepSize } from '../../../src/stack/formats.ts';

const percent = (...shares: readonly number[]): readonly StepSize[] =>
  shares.map((share) => ({ percent: share }));

test.each<[string, readonly StepSize[], number, readonly number[]]>([
  ['a share is rounded up', percent(10, 50, 100), 21, [3, 11, 21]],
  ['a share of nothing is nothing', percent(10, 100), 0, [0, 0]],
  ['the smallest share is one agent', percent(0.01, 100), 40, [1, 40]],
  ['agents and shares', [{ agents: 3 }, ...percent(10, 100)], 40, [3, 4, 40]],
  ['no step is more than all', [{ agents: 9 }, ...percent(100)], 4, [4, 4]],
  // 3000 * 1.1 / 100 is 33.00000000000001, and 7 % of 100 is 7.000000000000001 if multiplied as 0.07.
  ['binary fractions add no agent', percent(1.1, 7, 28), 3000, [33, 210, 840]],
])('%s', (_title, steps, agents, counts) => {
  expect(stepCounts(steps, agents)).toEqual(counts);
});
