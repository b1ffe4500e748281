import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { Origin } from '../../src/core/origin.ts';
import { openStateStore } from '../../src/state/open.ts';
import { withReason } from '../long.ts';
import { failureOf, holder } from './sample.ts';
import { doRun, newStore, openStore } from './stores.ts';

const IS_ROOT = process.getuid?.() === 0;
const NOBODY = 65_534;

/** Works as a user who owns nothing. The superuser alone can, and may write everywhere otherwise. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}

test('a place of a scheme that no feature has is refused in words', async () => {
  const place = { url: 'postgres://user:hidden@db.example.test/states', stack: 'desk' };
  const failure = await failureOf(async () =>
    openStateStore(
      { postgres: place, by: 'operator' },
      { features: [{}], env: {}, admit: async ({ url }) => Origin.given(url) },
    ),
  );
  expect(failure.code).toBe('usage');
  expect(failure.message).toBe(
    'this Callsheet has no store for a state in postgres://db.example.test/states#desk',
  );
  expect(failure.hint).toContain('Keep the state in a file');
});

describe('what is no file of its own is refused in its own words, and left as it is', () => {
  test.each<[string, (path: string) => unknown, string]>([
    ['a folder', (path) => mkdir(path), 'is a folder'],
    ['a symbolic link', (path) => symlink('elsewhere.json', path), 'is a symbolic link'],
    [
      'a link to a state',
      async (path) => {
        await writeFile(join(path, '../real.json'), '');
        await symlink('real.json', path);
      },
      'is a symbolic link',
    ],
    // Reading it would wait for ever.
    ['a pipe', (path) => spawnSync('mkfifo', [path]), 'is neither a file nor a folder'],
  ])('%s', async (_name, make, words) => {
    const { path, store } = await newStore('there/state.json');
    await mkdir(join(path, '..'));
    await make(path);
    const before = await readdir(join(path, '..'));
    for (const work of [() => store.load(), () => store.acquire(holder('r1'))]) {
      const failure = await failureOf(work);
      expect(failure.code).toBe('state');
      expect(failure.message).toContain(words);
      expect(failure.hint).toContain('CALLSHEET_STATE');
    }
    expect(await readdir(join(path, '..'))).toEqual(before);
  });

  test.each(['runs', 'state.lock'])('%s beside it that leads elsewhere', async (name) => {
    const { path, store } = await newStore('there/state.json');
    const elsewhere = join(path, '../../elsewhere');
    await mkdir(join(path, '..'));
    await mkdir(elsewhere);
    await symlink(elsewhere, join(path, '..', name));
    const failure = await failureOf(() => store.acquire(holder('r1')));
    expect(failure.code).toBe('state');
    expect(failure.message).toContain(`${name} is a symbolic link`);
    expect(failure.hint).toContain('Delete the link');
    expect(await readdir(elsewhere)).toEqual([]);
  });

  test('but a link to a folder is followed', async () => {
    const { path } = await newStore('there/state.json');
    const folder = join(path, '..');
    await mkdir(`${folder}-real`);
    await symlink(`${folder}-real`, folder);
    await doRun(openStore(path));
    expect((await openStore(`${folder}-real/state.json`).load()).state?.serial).toBe(1);
  });
});

const OTHERS = 'what belongs to somebody else';
describe.runIf(IS_ROOT)(
  withReason(OTHERS, IS_ROOT, 'only the superuser can be another user'),
  () => {
    test('a folder that only its owner may write is refused, and the owner is named', async () => {
      const { path, store } = await newStore('there/state.json');
      await doRun(store);
      const folder = join(path, '..');
      for (const at of [join(folder, '..'), folder, join(folder, 'state.lock')])
        await chmod(at, 0o755);
      await chmod(path, 0o644);
      const before = await readdir(join(folder, 'state.lock'));
      const failure = await asNobody(() => failureOf(() => openStore(path).acquire(holder('r2'))));
      expect(failure.code).toBe('state');
      expect(failure.message).toMatch(
        new RegExp(
          `permission denied: ${folder}\\S* belongs to user 0, and this is user ${NOBODY}`,
        ),
      );
      expect(failure.hint).toContain('Give this user the right to write there');
      expect(await readdir(join(folder, 'state.lock'))).toEqual(before);
    });

    test('a state that only its owner may read is refused, and the owner is named', async () => {
      const { path, store } = await newStore('there/state.json');
      await doRun(store);
      for (const at of [join(path, '../..'), join(path, '..')]) await chmod(at, 0o755);
      const failure = await asNobody(() => failureOf(() => openStore(path).load()));
      expect(failure.message).toContain(
        `cannot open ${path}: permission denied: ${path} belongs to`,
      );
    });

    test('a folder of one’s own that may not be written is told by its mode', async () => {
      const { path } = await newStore('there/state.json');
      const folder = join(path, '..');
      await chmod(join(folder, '..'), 0o777);
      const failure = await asNobody(async () => {
        await mkdir(folder);
        await chmod(folder, 0o500);
        return failureOf(() => openStore(path).acquire(holder('r1')));
      });
      expect(failure.message).toContain(`the mode of ${folder} is 0500`);
      await rm(folder, { recursive: true });
    });

    test('a shared folder that everybody may write is used', async () => {
      const { path } = await newStore('there/state.json');
      await mkdir(join(path, '..'));
      await chmod(join(path, '../..'), 0o755);
      await chmod(join(path, '..'), 0o777);
      await asNobody(() => doRun(openStore(path)));
      expect((await openStore(path).load()).state?.serial).toBe(1);
    });

    test('nothing else but a failure of the store comes of it', async () => {
      const { path } = await newStore('there/state.json');
      const failure = await asNobody(() => openStore(path).acquire(holder('r1'))).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(CallsheetError);
    });
  },
);
