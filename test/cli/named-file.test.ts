import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTable } from '../../src/cli/command-table.ts';
import { COMMON_FLAGS } from '../../src/console/flags.ts';
import { writeAllOrNone, writeNamedFile } from '../../src/console/named-file.ts';
import { features } from '../../src/features/index.ts';
import { runHere } from '../e2e/in-process.ts';
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

/** Flags whose file is read alone. */
const READ = [
  '--check',
  '--base',
  '--config',
  '--dir',
  '--identity',
  '--key',
  '--media',
  '--passphrase-file',
  '--recipients-file',
  '--secrets',
  '--seed',
  '--var-file',
];

const fileFlags = openTable(features).commands.flatMap((command) =>
  [...COMMON_FLAGS, ...(command.flags ?? [])].flatMap((flag) => {
    const [, name = '', place] = /(--[a-z-]+) <(file|folder)>/.exec(flag.spelling) ?? [];
    return place === undefined ? [] : [{ command, name, place, flag }];
  }),
);

test('every flag that names a file says whether it is written', () => {
  const unclear = fileFlags.filter(
    ({ name, flag }) => READ.includes(name) === (flag.isWritten === true),
  );
  expect(unclear.map(({ command, name }) => `${command.name} ${name}`)).toEqual([]);
});

const written = fileFlags
  .filter(({ flag }) => flag.isWritten === true)
  .map(({ command, name }) => ({ command, name, title: `${command.name} ${name}` }));

test.each(written)('$title follows no link that a stack or a repository brings', async (row) => {
  const { command, name } = row;
  for (const mark of ['callsheet.yaml', '.git']) {
    const [dir, elsewhere] = [await folder(), await folder()];
    const victim = join(elsewhere, 'victim');
    await writeFile(victim, 'mine');
    if (mark === '.git') await mkdir(join(dir, mark));
    await writeFile(join(dir, 'callsheet.yaml'), 'callsheet: 1\n');
    await symlink(victim, join(dir, 'link'));
    await symlink(join(elsewhere, 'new'), join(dir, 'dangling'));
    await symlink(elsewhere, join(dir, 'out'));
    const required = (command.flags ?? []).filter((flag) => flag.isRequired === true);
    const others = required.flatMap(({ spelling }) => {
      const long = /--[a-z-]+/.exec(spelling)?.[0] ?? '';
      return long === name ? [] : [long, 'x'];
    });
    const args = (command.args ?? []).flatMap((one) =>
      one.name.startsWith('<') ? [one.choices?.[0] ?? 'x'] : [],
    );
    for (const target of ['link', 'dangling', 'out/new', join(dir, 'out', 'victim')]) {
      const line = [...command.name.split(' '), ...args, ...others, name, target];
      const { exit, err } = await runHere(line, { cwd: dir, env: {} });
      expect(err).toContain(`${name} ${target} is not written: `);
      expect(err).toMatch(/ is a link\n/);
      expect(exit).toBe(1);
    }
    expect(await readdir(elsewhere)).toEqual(['victim']);
    expect(await readFile(victim, 'utf8')).toBe('mine');
  }
});

test('a link of the person, outside of every repository and stack, is written through', async () => {
  const dir = await folder();
  await symlink(join(dir, 'plan.json'), join(dir, 'link'));
  await writeNamedFile('--out', join(dir, 'link'), 'the plan');
  expect(await readFile(join(dir, 'plan.json'), 'utf8')).toBe('the plan');
});
