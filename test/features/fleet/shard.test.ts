import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assignShards,
  MAX_SHARDS,
  parseShard,
  roundWeight,
  takeShard,
  type Weighed,
  weighStack,
} from '../../../src/features/fleet/request.ts';
import { treeOf } from './tree.ts';

describe('--shard', () => {
  test.each([
    ['1/1', { index: 1, count: 1 }],
    ['2/4', { index: 2, count: 4 }],
    ['1024/1024', { index: 1024, count: 1024 }],
  ])('%s', (text, shard) => expect(parseShard(text)).toEqual(shard));

  test.each([
    ['0/4', 'Parts are counted from 1'],
    ['5/4', 'Parts are counted from 1: 1/4 to 4/4'],
    ['1/0', `N is 1 to ${MAX_SHARDS}`],
    ['1/1025', `N is 1 to ${MAX_SHARDS}`],
    ['1/99999999999999999999', '--shard 2/4'],
    ['a/b', '--shard 2/4'],
    ['-1/4', '--shard 2/4'],
    ['1.5/4', '--shard 2/4'],
    ['2', '--shard 2/4'],
    ['2/', '--shard 2/4'],
    ['/4', '--shard 2/4'],
    ['2/4/6', '--shard 2/4'],
    [' 2/4', '--shard 2/4'],
    ['', '--shard 2/4'],
  ])('%j is refused', (text, hint) => {
    let thrown: unknown;
    try {
      parseShard(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'usage', hint: expect.stringContaining(hint) });
  });
});

const segment = fc.string({ minLength: 1, maxLength: 8 });
const stacks = fc.uniqueArray(
  fc.record({ path: segment, weight: fc.integer({ min: 0, max: 50_000_000 }) }),
  { selector: ({ path }) => path, maxLength: 60 },
);
const counts = fc.integer({ min: 1, max: 20 });

const partsOf = (all: readonly Weighed[], count: number) =>
  Array.from({ length: count }, (_, at) => takeShard(all, { index: at + 1, count }));

const loadOf = (part: readonly Weighed[]) =>
  part.reduce((sum, { weight }) => sum + roundWeight(weight), 0);

test('every stack is in exactly one part, in the order of the tree', () => {
  fc.assert(
    fc.property(stacks, counts, (all, count) => {
      const parts = partsOf(all, count);
      expect(parts.flat().toSorted(byPath)).toEqual(all.toSorted(byPath));
      const order = new Map(all.map(({ path }, at) => [path, at]));
      for (const part of parts) {
        const places = part.map(({ path }) => order.get(path) ?? -1);
        expect(places).toEqual(places.toSorted((a, b) => a - b));
      }
    }),
  );
});

test('the order in which a machine finds the stacks does not matter', () => {
  const shuffled = stacks.chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
    ),
  );
  fc.assert(
    fc.property(shuffled, counts, ([all, other], count) => {
      expect(sorted(assignShards(other, count))).toEqual(sorted(assignShards(all, count)));
    }),
  );
});

test('no part has more than the fair share and one stack', () => {
  fc.assert(
    fc.property(stacks, counts, (all, count) => {
      const loads = partsOf(all, count).map(loadOf);
      const heaviest = Math.max(0, ...all.map(({ weight }) => roundWeight(weight)));
      expect(Math.max(...loads)).toBeLessThanOrEqual(loadOf(all) / count + heaviest);
    }),
  );
});

test('with as many stacks as parts or more, no part is empty', () => {
  fc.assert(
    fc.property(stacks, counts, (all, count) => {
      fc.pre(all.length >= count);
      expect(partsOf(all, count).every(({ length }) => length > 0)).toBe(true);
    }),
  );
});

test('400 stacks of like size are split within 3 % by what they really weigh', () => {
  const all = Array.from({ length: 400 }, (_, at) => ({
    path: `clinics/${at}`,
    weight: 20_000 + ((at * 7919) % 9000),
  }));
  const loads = partsOf(all, 4).map((part) => part.reduce((sum, { weight }) => sum + weight, 0));
  expect(Math.max(...loads) / Math.min(...loads)).toBeLessThan(1.03);
});

test('rounding moves a weight by an eighth at most', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 40 }), (weight) => {
      expect(Math.abs(roundWeight(weight) - weight) / weight).toBeLessThanOrEqual(1 / 8);
    }),
  );
});

test('a stack that changes within its class moves nothing', () => {
  fc.assert(
    fc.property(stacks, counts, fc.nat(), (all, count, pick) => {
      fc.pre(all.length > 0);
      const changed = all.map((stack, at) =>
        at === pick % all.length ? { ...stack, weight: roundWeight(stack.weight) } : stack,
      );
      expect(sorted(assignShards(changed, count))).toEqual(sorted(assignShards(all, count)));
    }),
  );
});

test('the split is this one, on every machine and in every release', () => {
  const all = ['a', 'b', 'c', 'd', 'e/f', 'e/g'].map((path, at) => ({ path, weight: 1000 * at }));
  expect(Object.fromEntries(assignShards(all, 3))).toMatchInlineSnapshot(`
    {
      "a": 1,
      "b": 2,
      "c": 3,
      "d": 3,
      "e/f": 2,
      "e/g": 1,
    }
  `);
});

test('a stack weighs its YAML and tables, without those of a stack inside it', () => {
  const files = {
    'callsheet.yaml': 'callsheet: 1\n',
    'agents.yaml': 'agents:\n',
    'clinics.csv': 'slug\nharbor\n',
    'prompts/desk.md': 'You are at the desk.',
    'inner/callsheet.yaml': 'callsheet: 1\n',
    'inner/deep/agents.yaml': 'agents:\n',
    '.callsheet/state.json': '{}',
    'node_modules/x/a.yaml': 'a: 1',
  };
  const weightOf = (given: Readonly<Record<string, string>>) =>
    weighStack({ path: '.', dir: treeOf(given) }).weight;
  const empty = weightOf({ 'callsheet.yaml': '' });
  expect(weightOf(files) - empty).toBe(13 + 8 + 12);
  const onWindows = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, text.replaceAll('\n', '\r\n')]),
  );
  expect(weightOf(onWindows)).toBe(weightOf(files));
});

function byPath(a: Weighed, b: Weighed): number {
  return a.path < b.path ? -1 : 1;
}

function sorted(shards: ReadonlyMap<string, number>) {
  return [...shards].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
