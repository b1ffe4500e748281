import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { lstat, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { CallsheetError, errorCode, explainSystemError, reasonIn } from '../core/errors.ts';
import { foldersAbove, isStack, nearestFile, posixPath, resolveLinks } from '../stack/folder.ts';

/**
 * Does something with a file that a flag names. Where the file system refuses, that is a mistake on the
 * command line: `CallsheetError('usage')`.
 */
export async function withNamedFile<T>(
  flag: string,
  file: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explainSystemError(error, `${flag} ${file} cannot be written`);
  }
}

/**
 * Refuses to write through a link that a repository or stack may have brought: somebody else's pull request would say
 * which file is overwritten. Links elsewhere are the person's own. Throws `CallsheetError('usage')`.
 */
export function refuseLinks(flag: string, file: string): void {
  const path = resolve(file);
  const folders = foldersAbove(path);
  const root = folders.find((one) => existsSync(join(one, '.git'))) ?? folders.findLast(isStack);
  if (root === undefined) return;
  const between = folders.slice(0, folders.indexOf(root)).toReversed();
  const link = [...between, path].find(
    (one) => lstatSync(one, { throwIfNoEntry: false })?.isSymbolicLink() === true,
  );
  if (link === undefined) return;
  const name = posixPath(relative(root, link));
  throw new CallsheetError('usage', `${flag} ${file} is not written: ${name} is a link`, {
    hint: `The files around it may come from somebody else. Delete the link, or name the file that it leads to: ${readlinkSync(link)}`,
  });
}

/** Suggests a file with a similar name for one that does not exist. */
export function missingHint<T extends string | undefined>(
  file: string,
  cause: unknown,
  otherwise: T,
): string | T {
  const near = errorCode(cause) === 'ENOENT' ? nearestFile('.', file) : undefined;
  return near === undefined ? otherwise : `Did you mean ${near}?`;
}

/** Writes a file that a flag names, whole or not at all: on a full disk the one that was there stays. */
export async function writeNamedFile(
  flag: string,
  file: string,
  text: string | Iterable<string>,
): Promise<void> {
  await withNamedFile(flag, file, async () => {
    const there = await lstat(file).catch(() => undefined);
    // A pipe or a person's own link is written through, never replaced.
    if (there !== undefined && !there.isFile()) return writeFile(file, text);
    const draft = nameDraft(file, 'new');
    try {
      await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
      await rename(draft, file);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {});
      throw error;
    }
  });
}

/**
 * Writes what a file is to become into one beside it, with the same permissions, which is then renamed: so the
 * file is never half written. `command` tells whose draft it is, should one be left behind.
 *
 * @returns its path
 */
export function draftBeside(target: string, text: string, command: string): string {
  const draft = nameDraft(target, command);
  try {
    writeFileSync(draft, text, { flag: 'wx' });
    chmodSync(draft, statSync(target).mode);
    return draft;
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * Writes several files or none: where something fails, all that was done before is taken back, the last first. `work`
 * says of each thing that it did how it is taken back.
 *
 * @returns what takes back all of it, and throws where not all of it can be
 */
export function writeAllOrNone(work: (takeBack: (undo: () => void) => void) => void): () => void {
  const done: (() => void)[] = [];
  const undo = (because?: unknown) => {
    const failed: unknown[] = [];
    for (const one of done.toReversed()) {
      try {
        one();
      } catch (error) {
        failed.push(error);
      }
    }
    if (failed.length === 0) return;
    const first = because === undefined ? '' : `${reasonIn(because)}; `;
    const message = `${first}not all that was written could be taken back: ${reasonIn(failed[0])}`;
    throw new CallsheetError('usage', message, { cause: because ?? failed[0] });
  };
  try {
    work((one) => void done.push(one));
  } catch (cause) {
    undo(cause);
    if (cause instanceof CallsheetError) throw cause;
    throw new CallsheetError('usage', `nothing was written: ${reasonIn(cause)}`, { cause });
  }
  return () => undo();
}

/** Returns a name beside a file. It is random, so that no other process has it. */
function nameDraft(target: string, command: string): string {
  return join(dirname(target), `.${randomBytes(6).toString('hex')}.callsheet-${command}`);
}

/**
 * A folder as seen from the root of its repository, the nearest folder above that has a `.git`, with
 * forward slashes and empty for the root itself. Outside a repository it is seen from `working`.
 */
export function folderInRepository(dir: string, working: string): string {
  const folder = resolveLinks(resolve(working, dir));
  return posixPath(relative(rootAbove(folder) ?? resolveLinks(working), folder));
}

/** The folder itself, or the nearest above it, that has a `.git`. */
export function rootAbove(folder: string): string | undefined {
  // In a worktree or a submodule `.git` is a file.
  if (existsSync(join(folder, '.git'))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : rootAbove(above);
}
