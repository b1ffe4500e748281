import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeNamedFile } from '../../src/console/named-file.ts';
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

test('where it cannot be written, the one that was there stays, and words say why', async () => {
  const dir = await folder();
  const file = join(dir, 'plan.json');
  await writeFile(file, 'the plan of yesterday');
  await mkdir(`${file}.new`);
  await expect(writeNamedFile('--out', file, 'half')).rejects.toThrow(
    `--out ${file} cannot be written: it is a folder`,
  );
  expect(await readFile(file, 'utf8')).toBe('the plan of yesterday');
  await expect(writeNamedFile('--out', join(dir, 'a', 'b'), '')).rejects.toThrow(
    'cannot be written: there is no such file or folder',
  );
});
