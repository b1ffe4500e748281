import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { watchedName } from '../../../src/features/watch/watch.ts';
import { gitEnv } from '../../../src/run/actor.ts';
import { temporaryFolder } from '../../temporary.ts';

test('stacks whose folders have the same name are told apart', async () => {
  const root = temporaryFolder();
  for (const folder of ['a/clinic', 'b/clinic']) mkdirSync(join(root, folder), { recursive: true });
  const [a, b] = [join(root, 'a', 'clinic'), join(root, 'b', 'clinic')];
  // Outside of a repository nothing but the whole path does.
  expect([
    await watchedName({ dir: a, env: undefined }),
    await watchedName({ dir: b, env: undefined }),
  ]).toEqual([a, b]);
  execFileSync('git', ['-C', root, 'init', '--quiet'], { env: gitEnv() });
  expect([
    await watchedName({ dir: a, env: undefined }),
    await watchedName({ dir: b, env: undefined }),
  ]).toEqual(['a/clinic', 'b/clinic']);
  expect(await watchedName({ dir: a, env: 'production' })).toBe('a/clinic (production)');
  expect(await watchedName({ dir: root, env: undefined })).toBe(basename(root));
});
