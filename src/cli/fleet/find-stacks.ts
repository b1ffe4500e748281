/**
 * `fleet/` runs a command in every stack of a tree, in one process: finds them (`find-stacks.ts`), takes the part of
 * them that is this job's (`shard.ts`), refuses those that reach for the same thing (`overlap.ts`), runs the command
 * in each (`run-stack.ts`), a few at a time, and tells what came of all in one summary.
 */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isSkipped, STACK_FILE } from '../../config/discover.ts';
import { CallsheetError } from '../../core/errors.ts';
import { reasonIn } from '../../snapshot/failures.ts';

/** A stack of a tree. */
export type FoundStack = {
  /** Its folder below the root, with forward slashes on every machine; `.` for the root itself. */
  readonly path: string;
  /** Its folder as the commands take it: `--dir`. */
  readonly dir: string;
};

/**
 * Every stack below a folder, and the folder itself where it is one, by path. A stack may stand inside another one.
 * Folders that the loader passes over (whose names begin with a dot, `node_modules`) are passed over here, and no link
 * is followed. Throws `CallsheetError` where a folder cannot be read: a stack that nobody sees must not go missing
 * silently.
 */
export function findStacks(root: string): readonly FoundStack[] {
  refuseNoFolder(root);
  const paths: string[] = [];
  const pending = ['.'];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const folder = path;
    const entries = readFolder(join(root, folder), folder);
    if (entries.some((entry) => entry.name === STACK_FILE && !entry.isDirectory())) {
      paths.push(folder);
    }
    pending.push(
      ...entries
        .filter((entry) => entry.isDirectory() && !isSkipped(entry.name))
        .map(({ name }) => (folder === '.' ? name : `${folder}/${name}`)),
    );
  }
  return inOrder(paths.map((path) => ({ path, dir: join(root, path) })));
}

/** By path, in an order that no locale changes. */
function inOrder<T extends { readonly path: string }>(stacks: readonly T[]): readonly T[] {
  return stacks.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function refuseNoFolder(root: string): void {
  const found = statSync(root, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  const why = found === undefined ? 'does not exist' : 'is no folder';
  throw new CallsheetError('usage', `--dir ${root} ${why}`, {
    hint: 'With --recursive it is the folder that the stacks lie in.',
  });
}

function readFolder(absolute: string, path: string): readonly Dirent[] {
  try {
    return readdirSync(absolute, { withFileTypes: true });
  } catch (cause) {
    throw new CallsheetError('config', `the folder ${path} cannot be read: ${reasonIn(cause)}`, {
      hint: 'A stack may lie in it, so nothing was begun. Check its permissions.',
      cause,
    });
  }
}
