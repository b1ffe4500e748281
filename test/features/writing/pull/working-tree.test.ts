import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lookAtWorkingTree } from '../../../../src/features/writing/pull/write.ts';
import { folderOf } from '../../../stack/stack-folder.ts';
import { git } from './stage.ts';

function repository(files: Readonly<Record<string, string>>): string {
  const dir = folderOf(files);
  git({ folder: dir }, 'init', '-q');
  git({ folder: dir }, 'add', '-A');
  git({ folder: dir }, 'commit', '-q', '-m', 'x');
  return dir;
}

const FILES = { 'stack/a.yaml': 'a', 'stack/prompts/é.md': 'p', 'other/b.yaml': 'b' };

const ROWS: readonly {
  readonly title: string;
  readonly change: (dir: string) => void;
  readonly found: readonly string[];
}[] = [
  { title: 'nothing changed', change: () => {}, found: [] },
  {
    title: 'a text of the stack',
    change: (dir) => writeFileSync(join(dir, 'stack/prompts/é.md'), 'q'),
    found: ['prompts/é.md'],
  },
  {
    title: 'a file that is staged',
    change: (dir) => {
      writeFileSync(join(dir, 'stack/a.yaml'), 'q');
      git({ folder: dir }, 'add', '-A');
    },
    found: ['a.yaml'],
  },
  {
    title: 'a file that was renamed',
    change: (dir) => git({ folder: dir }, 'mv', 'stack/a.yaml', 'stack/c.yaml'),
    found: ['c.yaml'],
  },
  {
    title: 'a file that is gone',
    change: (dir) => rmSync(join(dir, 'stack/a.yaml')),
    found: ['a.yaml'],
  },
  {
    title: 'a file of the stack that Git does not know, and one that is none of it',
    change: (dir) => {
      writeFileSync(join(dir, 'stack/own.yaml'), 'q');
      writeFileSync(join(dir, 'stack/plan.json'), 'q');
    },
    found: ['own.yaml'],
  },
  {
    title: 'a file that Git ignores where it is to be written, alone or with its folder',
    change: (dir) => {
      writeFileSync(join(dir, '.git/info/exclude'), 'ignored*\n');
      writeFileSync(join(dir, 'stack/ignored.yaml'), 'q');
      writeFileSync(join(dir, 'stack/ignored-other.yaml'), 'q');
      mkdirSync(join(dir, 'stack/ignored'));
      writeFileSync(join(dir, 'stack/ignored/a.md'), 'q');
    },
    found: ['ignored.yaml', 'ignored/a.md'],
  },
  {
    title: 'what lies beside the stack, and what begins with a dot',
    change: (dir) => {
      writeFileSync(join(dir, 'other/b.yaml'), 'q');
      mkdirSync(join(dir, 'stack/.callsheet'));
      writeFileSync(join(dir, 'stack/.callsheet/own.yaml'), 'q');
    },
    found: [],
  },
];

test.each(ROWS)('$title', async ({ change, found }) => {
  const dir = repository(FILES);
  change(dir);
  const written = new Set(['a.yaml', 'ignored.yaml', 'ignored/a.md']);
  const own = new Set([...written, 'own.yaml', 'ignored-other.yaml']);
  const tree = await lookAtWorkingTree(join(dir, 'stack'), { own, written });
  expect(tree).toEqual(found.length === 0 ? { type: 'clean' } : { type: 'dirty', files: found });
});

test('a folder in no repository', async () => {
  const tree = await lookAtWorkingTree(folderOf({ 'a.yaml': 'a' }), {
    own: new Set(),
    written: new Set(),
  });
  expect(tree).toEqual({ type: 'none', reason: 'it is in no Git repository' });
});
