import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/**
 * A folder as seen from the root of its repository, the nearest folder above that has a `.git`, with
 * forward slashes and empty for the root itself. Outside a repository it is seen from `working`.
 */
export function folderInRepository(dir: string, working: string): string {
  const folder = realOf(resolve(working, dir));
  return relative(rootAbove(folder) ?? realOf(working), folder)
    .split(sep)
    .join('/');
}

/** A path without links: GitHub knows a file only by where it really is. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : resolve(realOf(above), relative(above, path));
  }
}

/** The folder itself, or the nearest above it, that has a `.git`. */
export function rootAbove(folder: string): string | undefined {
  // In a worktree or a submodule `.git` is a file.
  if (existsSync(join(folder, '.git'))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : rootAbove(above);
}
