import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderInRepository } from '../../src/console/named-file.ts';
import { folderOf } from '../stack/stack-folder.ts';

/** A temporary folder with these folders in it. */
function treeOf(...folders: readonly string[]): string {
  const root = realpathSync(folderOf({}));
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true });
  return root;
}

test.each([
  ['the root itself', ['.git'], '.', ''],
  ['a folder below it', ['.git', 'stacks/harbor'], 'stacks/harbor', 'stacks/harbor'],
  ['the nearest root', ['.git', 'a/.git', 'a/b'], 'a/b', 'b'],
  ['a folder that does not exist', ['.git'], 'stacks/nowhere', 'stacks/nowhere'],
])('in a repository: %s', (_, folders, dir, expected) => {
  const root = treeOf(...folders);
  expect(folderInRepository(join(root, dir), '/')).toBe(expected);
  expect(folderInRepository(dir, root)).toBe(expected);
});

test('the working directory does not matter within a repository', () => {
  const root = treeOf('.git', 'stacks/harbor', 'elsewhere');
  expect(folderInRepository('../stacks/harbor', join(root, 'elsewhere'))).toBe('stacks/harbor');
});

test('in a worktree .git is a file', () => {
  const root = treeOf('stack');
  writeFileSync(join(root, '.git'), 'gitdir: /somewhere\n');
  expect(folderInRepository('stack', root)).toBe('stack');
});

test('a link is followed to where the folder is', () => {
  const root = treeOf('.git', 'stacks/harbor');
  symlinkSync('stacks/harbor', join(root, 'current'));
  expect(folderInRepository('current', root)).toBe('stacks/harbor');
});

test('outside a repository the working directory counts', () => {
  const root = treeOf('stack', 'other');
  expect(folderInRepository('stack', root)).toBe('stack');
  expect(folderInRepository('../stack', join(root, 'other'))).toBe('../stack');
});
