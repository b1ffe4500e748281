import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openNewFolder } from '../../../../src/features/writing/export/new-folder.ts';
import { temporaryFolder } from '../../../temporary.ts';

async function place() {
  const above = temporaryFolder();
  return { above, dir: join(above, 'deep/stack') };
}

test.each([
  ['ENOSPC', 'nothing was written: the disk is full'],
  ['EACCES', 'nothing was written: permission denied'],
  ['EIO', 'nothing was written: the disk reports an error'],
  ['ENXIO', 'nothing was written: ENXIO'],
])('%s is a sentence, and leaves nothing behind', async (code, said) => {
  const { above, dir } = await place();
  const writeFile = async () => {
    throw Object.assign(new Error(code), { code });
  };
  const folder = openNewFolder(dir, { writeFile });
  await expect(folder.write('a/b.yaml', 'text')).rejects.toThrow(said);
  folder.discard();
  expect(readdirSync(above)).toEqual([]);
});

test('nothing stands in its place before it is committed, and nothing beside it afterwards', async () => {
  const { above, dir } = await place();
  const folder = openNewFolder(dir);
  await folder.write('a/b.yaml', 'text');
  folder.spool.add('line');
  expect(existsSync(dir)).toBe(false);
  folder.commit();
  expect(readdirSync(join(above, 'deep'))).toEqual(['stack']);
  expect(readdirSync(dir, { recursive: true }).sort()).toEqual(['a', 'a/b.yaml']);
});

test('what cannot be put back in its place is kept, and told', async () => {
  const { above, dir } = await place();
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'a.yaml'), 'somebody keeps this');
  const folder = openNewFolder(dir, {
    rename(from, to) {
      const isStuck = ['callsheet-export/b.yaml', '.before/a.yaml'].some((end) =>
        from.endsWith(end),
      );
      if (isStuck) throw new Error('EIO: i/o error');
      renameSync(from, to);
    },
  });
  for (const path of ['a.yaml', 'b.yaml']) await folder.write(path, 'text');
  expect(() => folder.commit()).toThrow('not everything could be put back');
  folder.discard();
  const kept = readdirSync(join(above, 'deep')).find((name) => name.endsWith('.before')) ?? '';
  expect(readFileSync(join(above, 'deep', kept, 'a.yaml'), 'utf8')).toBe('somebody keeps this');
});

test('a folder in the place of a file is never taken away', async () => {
  const { dir } = await place();
  mkdirSync(join(dir, 'bases.yaml'), { recursive: true });
  writeFileSync(join(dir, 'bases.yaml/notes.txt'), 'somebody keeps this');
  const folder = openNewFolder(dir);
  await folder.write('a.yaml', 'text');
  await folder.write('bases.yaml', 'text');
  expect(() => folder.commit()).toThrow('bases.yaml is a folder');
  folder.discard();
  expect(readFileSync(join(dir, 'bases.yaml/notes.txt'), 'utf8')).toBe('somebody keeps this');
  expect(readdirSync(dir)).toEqual(['bases.yaml']);
});

test('lines come back as they were kept, and take their file with them', async () => {
  const { above, dir } = await place();
  const folder = openNewFolder(dir);
  const lines = Array.from({ length: 300 }, (_, index) => `${index} ${'x'.repeat(10_000)}`);
  for (const line of lines) folder.spool.add(line);
  const back: string[] = [];
  for await (const line of folder.spool.each()) back.push(line);
  expect(back).toEqual(lines);
  folder.discard();
  expect(readdirSync(above)).toEqual([]);
});

test('what is read after a failure is not kept', () => {
  const folder = temporaryFolder();
  const { spool, discard } = openNewFolder(join(folder, 'stack'));
  discard();
  // Others were on their way when one failed.
  spool.add('x'.repeat(4 * 1024 * 1024));
  expect(readdirSync(folder)).toEqual([]);
});
