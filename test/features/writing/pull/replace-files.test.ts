import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { replaceFiles } from '../../../../src/features/writing/pull/write.ts';
import { folderOf } from '../../../stack/stack-folder.ts';

const text = (before: string, after: string) => ({ before, after });

describe('files are replaced', () => {
  test('with their permissions and byte order marks, and behind links', () => {
    const dir = folderOf({ 'a.yaml': 'a: 1\n', 'b.md': '\uFEFFhello', 'real/c.yaml': 'c: 1\n' });
    chmodSync(join(dir, 'a.yaml'), 0o640);
    symlinkSync('real/c.yaml', join(dir, 'c.yaml'));
    replaceFiles(
      dir,
      new Map([
        ['a.yaml', text('a: 1\n', 'a: 2\n')],
        ['b.md', text('hello', 'good day')],
        ['c.yaml', text('c: 1\n', 'c: 2\n')],
      ]),
    );
    const read = (file: string) => readFileSync(join(dir, file), 'utf8');
    expect([read('a.yaml'), read('b.md'), read('real/c.yaml')]).toEqual([
      'a: 2\n',
      '\uFEFFgood day',
      'c: 2\n',
    ]);
    expect(statSync(join(dir, 'a.yaml')).mode & 0o777).toBe(0o640);
    expect(readdirSync(dir).sort()).toEqual(['a.yaml', 'b.md', 'c.yaml', 'real']);
  });

  test('all or none: one that changed in the meantime stops everything', () => {
    const dir = folderOf({ 'a.yaml': 'a: 1\n', 'b.yaml': 'b: 1\n' });
    writeFileSync(join(dir, 'b.yaml'), 'b: 7\n');
    const texts = new Map([
      ['a.yaml', text('a: 1\n', 'a: 2\n')],
      ['b.yaml', text('b: 1\n', 'b: 2\n')],
    ]);
    expect(() => replaceFiles(dir, texts)).toThrow('b.yaml was changed while pull was running');
    expect(readFileSync(join(dir, 'a.yaml'), 'utf8')).toBe('a: 1\n');
    expect(readdirSync(dir).sort()).toEqual(['a.yaml', 'b.yaml']);
  });

  test('or none at all where one is gone', () => {
    const dir = folderOf({ 'a.yaml': 'a: 1\n' });
    const texts = new Map([
      ['a.yaml', text('a: 1\n', 'a: 2\n')],
      ['gone.yaml', text('', 'b: 2\n')],
    ]);
    expect(() => replaceFiles(dir, texts)).toThrow(
      'nothing was written: there is no such file or folder',
    );
    expect(readdirSync(dir)).toEqual(['a.yaml']);
  });
});
