import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { applied, type World } from './harness.ts';

const STATE = '.callsheet/state.json';

/** Commands that need no state, or none that is sound. */
const WORKING = [['validate'], ['runs'], ['get', 'agents'], ['state', 'unlock']];

/** Commands that need a sound state; `test/cli/state-repair.test.ts` knows more of them. */
const REFUSING = [
  ['plan'],
  ['apply', '--auto-approve'],
  ['drift'],
  ['rollback', '--auto-approve'],
  ['state', 'list'],
];

async function refused(
  world: World,
  words: RegExp,
  hint: string,
  commands: readonly (readonly string[])[] = REFUSING.slice(0, 2),
): Promise<void> {
  const before = world.writes().length;
  for (const command of commands) {
    const { err } = await world.run(command, { exit: 1 });
    expect(err).toMatch(words);
    expect(err).toContain(hint);
    expect(err).not.toMatch(/\n\s+at \S+ \(|Callsheet itself failed/);
  }
  expect(world.writes().length).toBe(before);
}

applied(
  'a damaged state: what needs it refuses, the rest works, repair rebuilds it',
  async (world) => {
    const damaged = (await world.read(STATE)).slice(0, -30);
    await world.write(STATE, damaged);
    await refused(world, /the state \S+ was cut off: its end/, 'callsheet state repair', REFUSING);
    for (const command of WORKING) await world.run(command);
    expect(await world.read(STATE)).toBe(damaged);

    const before = world.writes().length;
    const { out } = await world.run(['state', 'repair']);
    expect(out).toContain('8 resources kept');
    await world.apply();
    expect(world.writes().length).toBe(before);
    const { runs } = JSON.parse((await world.run(['runs', '--format', 'json'])).out);
    expect(runs.map(({ purpose }: { purpose: string }) => purpose)).toEqual([
      'state repair',
      'apply',
    ]);
  },
);

applied('a folder in place of the state', async (world) => {
  await rename(join(world.folder, STATE), join(world.folder, 'kept.json'));
  await mkdir(join(world.folder, STATE));
  await refused(world, /the state \S+ is a folder\n/, 'CALLSHEET_STATE');
  const { err } = await world.run(['state', 'repair'], { exit: 1 });
  expect(err).toContain('is a folder');
});

applied('a symbolic link in place of the state', async (world) => {
  await rename(join(world.folder, STATE), join(world.folder, 'kept.json'));
  await symlink('../kept.json', join(world.folder, STATE));
  await refused(world, /the state \S+ is a symbolic link\n/, 'Name that file itself');
});

applied('a file in place of the folder of the state', async (world) => {
  await world.forget();
  await writeFile(join(world.folder, '.callsheet'), '');
  await refused(world, /a part of its path is not a folder\n/, 'CALLSHEET_STATE');
});

applied('a state of a newer Callsheet is not touched by repair either', async (world) => {
  const newer = (await world.read(STATE)).replace('"version":1', '"version":2');
  await world.write(STATE, newer);
  await refused(world, /was written by a newer Callsheet/, 'Use the newer Callsheet');
  const { err } = await world.run(['state', 'repair'], { exit: 1 });
  expect(err).toContain('was written by a newer Callsheet');
  expect(await world.read(STATE)).toBe(newer);
});
