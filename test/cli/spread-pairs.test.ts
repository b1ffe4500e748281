import { expect, test } from 'vitest';
import { openTable } from '../../src/cli/command-table.ts';
import { spreadPairs } from '../../src/cli/program.ts';
import { features } from '../../src/features/index.ts';

test.each([
  [
    'restore F --map-organization a=b c=d',
    'restore F --map-organization a=b --map-organization c=d',
  ],
  [
    'restore --map-organization a=b c=d F',
    'restore --map-organization a=b --map-organization c=d F',
  ],
  ['restore --map-organization a=b F', 'restore --map-organization a=b F'],
  [
    'restore --map-organization a=b c=d --over --map-knowledge-base x=y z=w F',
    'restore --map-organization a=b --map-organization c=d --over --map-knowledge-base x=y --map-knowledge-base z=w F',
  ],
  // What follows the file belongs to nothing.
  ['restore --map-organization a=b F c=d', 'restore --map-organization a=b F c=d'],
  ['restore --map-organization --over a=b', 'restore --map-organization --over a=b'],
  ['plan --var a=b c=d', 'plan --var a=b c=d'],
])('%s', (given, spread) => {
  expect(spreadPairs(given.split(' '), openTable(features)).join(' ')).toBe(spread);
});
