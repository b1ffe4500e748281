import { execFile } from 'node:child_process';
import { join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { type Instead, isInside, resolveLinks } from '../stack/folder.ts';
import { gitArguments, gitEnv, runGit } from './actor.ts';
import type { StackOptions } from './context.ts';

/**
 * The files of a stack that a commit has otherwise than the checkout, read from Git without a checkout: what `loadStack`
 * takes to load the stack as it was. Throws where Git cannot read them.
 */
export async function readCommit(
  commit: string,
  { dir, varFile = [] }: Pick<StackOptions, 'dir' | 'varFile'>,
): Promise<Instead> {
  const git = (...args: readonly string[]) => runGit(dir, ...args);
  const top = resolveLinks((await git('rev-parse', '--show-toplevel')).trim());
  const inside = varFile
    .map((file) => resolve(file))
    .filter((file) => isInside(top, resolveLinks(file)));
  const [changed, untracked] = await Promise.all([
    git('diff', ...DIFF, commit, '--', '.', ...inside),
    git('ls-files', '--others', '--exclude-standard', '--full-name', '-z', '--', '.', ...inside),
  ]);
  const paths = [...new Set([...listPaths(changed), ...listPaths(untracked)])];
  return readFiles(dir, commit, top, paths);
}

/** Names of files that differ between the commit and the checkout, whatever is configured to show differences. */
const DIFF = ['--name-only', '--no-renames', '--no-ext-diff', '--no-textconv', '-z'] as const;

function listPaths(text: string): readonly string[] {
  return text.split('\0').filter((path) => path !== '');
}

/** Files of a commit, by their absolute paths; null for what is none there. */
async function readFiles(
  dir: string,
  commit: string,
  top: string,
  paths: readonly string[],
): Promise<Instead> {
  const files = new Map<string, Buffer | null>();
  // Nothing can be asked of Git line by line whose name has a line break.
  const asked = paths.filter((path) => !path.includes('\n'));
  const answer = await catFiles(
    dir,
    asked.map((path) => `${commit}:${path}`),
  );
  let at = 0;
  for (const path of asked) {
    const end = answer.indexOf('\n', at);
    const head = answer.toString('utf8', at, end);
    at = end + 1;
    const [, type = '', digits = ''] = SIZED.exec(head) ?? [];
    const size = Number(digits);
    files.set(
      join(top, path.split('/').join(sep)),
      type === 'blob' ? answer.subarray(at, at + size) : null,
    );
    if (digits !== '') at += size + 1;
  }
  return files;
}

/** The line before what Git answers; a link that leads out of the repository, to nothing or in circles is no file. */
const SIZED = /(?:^|\s)(blob|tree|commit|tag|symlink|dangling|loop|notdir) (\d+)$/;

/** Most bytes of files that differ between a branch and its base. */
const MOST_BYTES = 1024 * 1024 * 1024;

async function catFiles(dir: string, names: readonly string[]): Promise<Buffer> {
  if (names.length === 0) return Buffer.alloc(0);
  const args = [...gitArguments(dir), 'cat-file', '--batch', '--follow-symlinks'];
  const reading = promisify(execFile)('git', args, {
    env: gitEnv(),
    encoding: 'buffer',
    maxBuffer: MOST_BYTES,
  });
  const { stdin } = reading.child;
  // Where Git ends early, its exit says so.
  stdin?.on('error', () => {});
  stdin?.end(names.map((name) => `${name}\n`).join(''));
  return (await reading).stdout;
}
