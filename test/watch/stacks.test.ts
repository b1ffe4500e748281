import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { gitEnv } from '../../src/run/actor.ts';
import { stacksOf, type WatchFlags } from '../../src/watch/watch.ts';
import { temporaryFolder } from '../temporary.ts';

async function nameOf(dir: string, env?: string): Promise<string | undefined> {
  const flags = { dir, ...(env === undefined ? {} : { env }) };
  return (await stacksOf(flags as WatchFlags))[0]?.name;
}

test('stacks whose folders have the same name are told apart', async () => {
  const root = temporaryFolder();
  for (const folder of ['a/clinic', 'b/clinic']) mkdirSync(join(root, folder), { recursive: true });
  const [a, b] = [join(root, 'a', 'clinic'), join(root, 'b', 'clinic')];
  // Outside of a repository nothing but the whole path does.
  expect([await nameOf(a), await nameOf(b)]).toEqual([a, b]);
  execFileSync('git', ['-C', root, 'init', '--quiet'], { env: gitEnv() });
  expect([await nameOf(a), await nameOf(b)]).toEqual(['a/clinic', 'b/clinic']);
  expect(await nameOf(a, 'production')).toBe('a/clinic (production)');
  expect(await nameOf(root)).toBe(basename(root));
});
