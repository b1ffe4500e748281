import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeAllOrNone, writeNamedFile } from '../../src/console/named-file.ts';
import { temporaryFolder } from '../temporary.ts';

async function folder(): Promise<string> {
  const dir = temporaryFolder();
  return dir;
}

test('a file that a flag names is written, and written over', async () => {
  const dir = await folder();
  const file = join(dir, 'plan.json');
  for (const text of ['one', 'two']) {
    await writeNamedFile('--out', file, text);
    expect(await readFile(file, 'utf8')).toBe(text);
  }
  expect(await readdir(dir)).toEqual(['plan.json']);
});

test('a file beside it is left alone, whatever it is called', async () => {
  const dir = await folder();
  const beside = join(dir, 'plan.json.new');
  await writeFile(beside, 'somebody else keeps this');
  await writeNamedFile('--out', join(dir, 'plan.json'), 'the plan');
  expect(await readFile(beside, 'utf8')).toBe('somebody else keeps this');
});

test('where it cannot be written, the one that was there stays, and words say why', async () => {
  const dir = await folder();
  const file = join(dir, 'plan.json');
  await writeFile(file, 'the plan of yesterday');
  function* half(): Generator<string> {
    yield 'half';
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  }
  await expect(writeNamedFile('--out', file, half())).rejects.toThrow(
    `--out ${file} cannot be written: the disk is full`,
  );
  expect(await readFile(file, 'utf8')).toBe('the plan of yesterday');
  expect(await readdir(dir)).toEqual(['plan.json']);
  await expect(writeNamedFile('--out', join(dir, 'a', 'b'), '')).rejects.toThrow(
    'cannot be written: there is no such file or folder',
  );
});

test('what cannot be taken back keeps nothing else from it, and is told', () => {
  const back: string[] = [];
  const write = () =>
    writeAllOrNone((takeBack) => {
      takeBack(() => void back.push('first'));
      takeBack(() => {
        throw new Error('the disk is gone, too');
      });
      takeBack(() => void back.push('third'));
      throw new Error('the disk failed');
    });
  expect(write).toThrow(
    'the disk failed; not all that was written could be taken back: the disk is gone',
  );
  expect(back).toEqual(['third', 'first']);
});

test('what cannot be taken back later is told as well', () => {
  const undo = writeAllOrNone((takeBack) =>
    takeBack(() => {
      throw new Error('the disk is gone');
    }),
  );
  expect(undo).toThrow('not all that was written could be taken back: the disk is gone');
});
