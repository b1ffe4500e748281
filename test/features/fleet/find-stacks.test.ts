import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findStacks } from '../../../src/features/fleet/request.ts';
import { loadStack } from '../../../src/stack/index.ts';
import { withReason } from '../../long.ts';
import { agents, settings, treeOf } from './tree.ts';

const pathsIn = (root: string) => findStacks(root).map(({ path }) => path);

test('every folder with a callsheet.yaml is a stack, whatever stands above it', () => {
  const root = treeOf({
    'b/callsheet.yaml': 'callsheet: 1',
    'a/b/callsheet.yaml': 'callsheet: 1',
    'a/callsheet.yaml': 'callsheet: 1',
    'a/agents.yaml': '',
    'B/callsheet.yaml': 'callsheet: 1',
    'docs/readme.md': '',
  });
  expect(findStacks(root)).toEqual(
    ['B', 'a', 'a/b', 'b'].map((path) => ({ path, dir: join(root, path) })),
  );
});

test('the folder itself may be one', () => {
  const root = treeOf({ 'callsheet.yaml': 'callsheet: 1', 'a/callsheet.yaml': 'callsheet: 1' });
  expect(pathsIn(root)).toEqual(['.', 'a']);
});

test('what holds no configuration is passed over', () => {
  const root = treeOf({
    'node_modules/x/callsheet.yaml': '',
    '.git/callsheet.yaml': '',
    'a/.callsheet/callsheet.yaml': '',
    'a/callsheet.yml': '',
  });
  mkdirSync(join(root, 'b/callsheet.yaml'), { recursive: true });
  expect(pathsIn(root)).toEqual([]);
});

test('links are not followed, neither out of the tree nor round in it', () => {
  const outside = treeOf({ 'callsheet.yaml': 'callsheet: 1' });
  const root = treeOf({ 'a/callsheet.yaml': 'callsheet: 1' });
  symlinkSync(outside, join(root, 'out'));
  symlinkSync(root, join(root, 'a/round'));
  symlinkSync(join(root, 'a'), join(root, 'twice'));
  expect(pathsIn(root)).toEqual(['a']);
});

test('a link is a fine root', () => {
  const root = treeOf({ 'real/a/callsheet.yaml': 'callsheet: 1' });
  symlinkSync(join(root, 'real'), join(root, 'link'));
  expect(pathsIn(join(root, 'link'))).toEqual(['a']);
});

test.each([
  ['nowhere', 'does not exist'],
  ['file', 'is not a folder'],
])('%s: %s', (name, words) => {
  const root = treeOf({ file: '' });
  expect(() => findStacks(join(root, name))).toThrow(words);
});

const isOrdinary = process.getuid?.() !== 0;
const unread = 'a folder that cannot be read stops everything';
test.runIf(isOrdinary)(
  withReason(unread, isOrdinary, 'the superuser can read every folder'),
  () => {
    const root = treeOf({ 'a/callsheet.yaml': '', 'b/callsheet.yaml': '' });
    chmodSync(join(root, 'b'), 0);
    expect(() => findStacks(root)).toThrow('the folder b cannot be read');
  },
);

test('a stack does not load what belongs to one inside it', async () => {
  const root = treeOf({
    'callsheet.yaml': settings(0, 'include: ["**/*.yaml"]\n'),
    'agents.yaml': agents('Outer'),
    'inner/callsheet.yaml': settings(0),
    'inner/agents.yaml': agents('Inner'),
    'inner/deep/more.yaml': agents('Deep'),
    'inner/deep/inmost/callsheet.yaml': settings(0),
    'inner/deep/inmost/agents.yaml': agents('Inmost'),
  });
  const loaded = await Promise.all(
    findStacks(root).map(async ({ path, dir }) => {
      const { stack } = await loadStack({ dir, env: {}, secrets: 'skip' });
      return [path, stack?.resources.map(({ address }) => address)];
    }),
  );
  expect(loaded).toEqual([
    ['.', ['agent.outer']],
    ['inner', ['agent.deep', 'agent.inner']],
    ['inner/deep/inmost', ['agent.inmost']],
  ]);
});
