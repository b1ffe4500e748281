import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { apply } from '../../src/console/apply.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { STATE, stateCommands } from './state-stage.ts';

const setAside = ({ folder }: Stage) => rename(join(folder, STATE), join(folder, 'kept.json'));

const ROWS: readonly (readonly [string, (stage: Stage) => Promise<unknown>, RegExp, string])[] = [
  [
    'a folder',
    async (stage) => {
      await setAside(stage);
      await mkdir(join(stage.folder, STATE));
    },
    /the state \S+ is a folder\n/,
    'CALLSHEET_STATE',
  ],
  [
    'a symbolic link',
    async (stage) => {
      await setAside(stage);
      await symlink('../kept.json', join(stage.folder, STATE));
    },
    /the state \S+ is a symbolic link\n/,
    'Set the path of that file',
  ],
  [
    'in a folder that is a file',
    async (stage) => {
      await stage.forget();
      await writeFile(join(stage.folder, '.callsheet'), '');
    },
    /a part of its path is not a folder\n/,
    'CALLSHEET_STATE',
  ],
  [
    'of a newer Callsheet',
    async (stage) =>
      stage.write(STATE, (await stage.read(STATE)).replace('"version":2', '"version":3')),
    /was written by a newer Callsheet/,
    'Use the newer Callsheet',
  ],
];

describe('apply and repair say why, and write nothing, where the state is', () => {
  for (const [name, prepare, words, hint] of ROWS) {
    staged(name, async (stage) => {
      await stage.apply();
      await prepare(stage);
      const before = stage.writes().length;
      const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
      const applied = await stage.run((to) => apply(undefined, flags, to), { exit: 1 });
      for (const { err } of [applied, await stateCommands(stage).repair({ exit: 1 })]) {
        expect(err).toMatch(words);
        expect(err).toContain(hint);
      }
      expect(stage.writes().length).toBe(before);
    });
  }
});
