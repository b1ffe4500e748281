import { execFile } from 'node:child_process';
import { join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { type Instead, isInside, resolveLinks } from '../stack/folder.ts';
import { askGit, gitArguments, gitEnv, runGit } from './actor.ts';
import type { StackOptions } from './context.ts';

/**
 * The files of a stack that a commit has otherwise than the checkout, read from Git without a checkout: what `loadStack`
 * takes to load the stack as it was. Throws where Git cannot read them.
 */
export async function readCommit(commit: string, options: FilesOptions): Promise<Instead> {
  const { dir } = options;
  const [top, paths] = await Promise.all([findTop(dir), listDiffering(commit, options)]);
  const [instead = new Map()] = await readFiles(dir, top, [{ commit, paths }]);
  return instead;
}

type FilesOptions = Pick<StackOptions, 'dir' | 'varFile'>;

/**
 * The same of many commits, in their order, by few processes however many they are. Commits whose files are those of the
 * one before are left out.
 */
export async function* readCommits(
  commits: readonly string[],
  options: FilesOptions,
): AsyncGenerator<{ readonly commit: string; readonly instead: Instead }> {
  const { dir } = options;
  const [top, dirty, changes] = await Promise.all([
    findTop(dir),
    listDiffering('HEAD', options),
    compareWithHead(commits, options),
  ]);
  const distinct = commits.filter(
    (_, at) => at === 0 || changes[at]?.text !== changes[at - 1]?.text,
  );
  const changedPaths = new Map(commits.map((commit, at) => [commit, changes[at]?.paths ?? []]));
  // Most of the time the first is the one that is looked for.
  for (let from = 0, count = 1; from < distinct.length; from += count, count *= 2) {
    const asked = distinct.slice(from, from + count).map((commit) => ({
      commit,
      paths: [...new Set([...(changedPaths.get(commit) ?? []), ...dirty])],
    }));
    const read = await readFiles(dir, top, asked);
    for (const [index, instead] of read.entries()) {
      const { commit = '' } = asked[index] ?? {};
      yield { commit, instead };
    }
  }
}

async function findTop(dir: string): Promise<string> {
  return resolveLinks(await askGit(dir, 'rev-parse', '--show-toplevel'));
}

/** Files of the checkout that are not as a commit has them, those among them that Git does not know. */
async function listDiffering(commit: string, options: FilesOptions): Promise<readonly string[]> {
  const { dir } = options;
  const within = ['--', ...(await listPathspecs(options))];
  const [changed, untracked] = await Promise.all([
    runGit(dir, 'diff', ...DIFF, commit, ...within),
    runGit(dir, 'ls-files', '--others', '--exclude-standard', '--full-name', '-z', ...within),
  ]);
  return [...new Set([...listPaths(changed), ...listPaths(untracked)])];
}

/** The folder of the stack, and files of variables that the repository has elsewhere. */
async function listPathspecs({ dir, varFile = [] }: FilesOptions): Promise<readonly string[]> {
  if (varFile.length === 0) return ['.'];
  const top = await findTop(dir);
  const files = varFile.map((file) => resolve(file));
  return ['.', ...files.filter((file) => isInside(top, resolveLinks(file)))];
}

/** Compares commits with HEAD: the paths that differ, and a text that is the same for the same files. */
async function compareWithHead(
  commits: readonly string[],
  options: FilesOptions,
): Promise<readonly { readonly paths: readonly string[]; readonly text: string }[]> {
  const { dir } = options;
  const asked = ['HEAD', ...commits].map((commit) => `${commit}^{tree}`);
  const [head = '', ...trees] = (await askGit(dir, 'rev-parse', ...asked)).split('\n');
  const within = ['--', ...(await listPathspecs(options))];
  const args = ['diff-tree', '-r', '--raw', '--no-renames', '-z', '--stdin', ...within];
  const distinct = [...new Set(trees)];
  const answer = await talkToGit(dir, args, distinct.map((tree) => `${tree} ${head}\n`).join(''));
  const byTree = new Map<string, { readonly paths: string[]; text: string }>();
  let at: { readonly paths: string[]; text: string } | undefined;
  for (const part of answer
    .toString('utf8')
    .split('\0')
    .flatMap((one) => one.split('\n'))) {
    const [, tree] = PAIR.exec(part) ?? [];
    if (tree !== undefined) {
      at = { paths: [], text: '' };
      byTree.set(tree, at);
    } else if (at !== undefined && part !== '') {
      at.text += `${part}\0`;
      if (!part.startsWith(':')) at.paths.push(part);
    }
  }
  return trees.map((tree) => byTree.get(tree) ?? { paths: [], text: '' });
}

/** The line before what two trees have otherwise. */
const PAIR = /^([0-9a-f]{40,64}) [0-9a-f]{40,64}$/;

/** Names of files that differ between the commit and the checkout, whatever is configured to show differences. */
const DIFF = ['--name-only', '--no-renames', '--no-ext-diff', '--no-textconv', '-z'] as const;

function listPaths(text: string): readonly string[] {
  return text.split('\0').filter((path) => path !== '');
}

/** Files of commits, by their absolute paths; null for what is none there. */
async function readFiles(
  dir: string,
  top: string,
  wanted: readonly { readonly commit: string; readonly paths: readonly string[] }[],
): Promise<readonly Instead[]> {
  // Nothing can be asked of Git line by line whose name has a line break.
  const asked = wanted.map(({ commit, paths }) => ({
    commit,
    paths: paths.filter((path) => !path.includes('\n')),
  }));
  const names = asked.flatMap(({ commit, paths }) => paths.map((path) => `${commit}:${path}\n`));
  const args = ['cat-file', '--batch', '--follow-symlinks'];
  const answer = names.length === 0 ? Buffer.alloc(0) : await talkToGit(dir, args, names.join(''));
  let at = 0;
  const next = (): Buffer | null => {
    const end = answer.indexOf('\n', at);
    const head = answer.toString('utf8', at, end);
    at = end + 1;
    const [, type = '', digits = ''] = SIZED.exec(head) ?? [];
    const size = Number(digits);
    const found = type === 'blob' ? answer.subarray(at, at + size) : null;
    if (digits !== '') at += size + 1;
    return found;
  };
  return asked.map(
    ({ paths }) => new Map(paths.map((path) => [join(top, path.split('/').join(sep)), next()])),
  );
}

/** The line before what Git answers; a link that leads out of the repository, to nothing or in circles is no file. */
const SIZED = /(?:^|\s)(blob|tree|commit|tag|symlink|dangling|loop|notdir) (\d+)$/;

/** Most bytes of files that differ between a branch and its base. */
const MOST_BYTES = 1024 * 1024 * 1024;

/** Asks Git what is written to it. */
async function talkToGit(dir: string, args: readonly string[], input: string): Promise<Buffer> {
  const reading = promisify(execFile)('git', [...gitArguments(dir), ...args], {
    env: gitEnv(),
    encoding: 'buffer',
    maxBuffer: MOST_BYTES,
  });
  const { stdin } = reading.child;
  // If Git ends early, its exit status says so.
  stdin?.on('error', () => {});
  stdin?.end(input);
  return (await reading).stdout;
}
