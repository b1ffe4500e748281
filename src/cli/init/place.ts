import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { discover, STACK_FILE } from '../../config/discover.ts';
import { CallsheetError } from '../../core/errors.ts';
import { rootAbove } from '../repository.ts';
import type { NewFile, Surroundings } from './files.ts';

const SCHEMA = 'callsheet/schemas/callsheet.schema.json';

/** The folders above one, the nearest first. */
export function foldersAbove(dir: string): readonly string[] {
  const above = dirname(dir);
  return above === dir ? [] : [above, ...foldersAbove(above)];
}

function posix(path: string): string {
  return path.split(sep).join('/');
}

/** Whether a folder is a stack already. */
export function isStack(dir: string): boolean {
  return existsSync(join(dir, STACK_FILE));
}

/** Looks around the folder of a new stack, or of one to add to. Throws where no stack can stand. */
export function lookAround(dir: string, adds = false): Surroundings {
  if (existsSync(dir) && !statSync(dir).isDirectory()) {
    throw new CallsheetError('usage', `${dir} is not a folder`);
  }
  if (isStack(dir) && !adds) {
    const hint =
      'See what is in it with: callsheet validate. A pipeline is added with --keep-existing --ci github, or gitlab';
    throw new CallsheetError('usage', `${dir} is a stack already: it has a ${STACK_FILE}`, {
      hint,
    });
  }
  const above = foldersAbove(dir);
  const outer = above.find((folder) => existsSync(join(folder, STACK_FILE)));
  if (outer !== undefined) {
    const hint = 'Add resources to that stack, or make the new one outside of it';
    throw new CallsheetError('usage', `${dir} lies inside the stack ${outer}`, { hint });
  }
  const folders = [dir, ...above];
  const top = rootAbove(dir);
  const installed = folders.find((folder) => existsSync(join(folder, 'node_modules', SCHEMA)));
  return {
    inRepository: top && posix(relative(top, dir)),
    toRepository: '../'.repeat(folders.indexOf(top ?? dir)),
    installedSchema:
      installed === undefined
        ? undefined
        : posix(relative(dir, join(installed, 'node_modules', SCHEMA))),
    hasOtherYaml: existsSync(dir) && discover(dir, undefined, []).files.length > 0,
  };
}

/** What is to be done with each file of a new stack. */
export type Sorted = {
  readonly fresh: readonly NewFile[];
  /** The same text stands there already. */
  readonly same: readonly NewFile[];
  /** Left as they are, with the lines that they lack. */
  readonly lacking: readonly { readonly path: string; readonly lines: readonly string[] }[];
  /** Something else stands there. */
  readonly taken: readonly NewFile[];
};

/** Compares the files of a new stack with what there is. */
export function sortFiles(dir: string, files: readonly NewFile[]): Sorted {
  const sorted = { fresh: [], same: [], lacking: [], taken: [] } as {
    fresh: NewFile[];
    same: NewFile[];
    lacking: { path: string; lines: readonly string[] }[];
    taken: NewFile[];
  };
  for (const file of files) {
    const there = textOf(join(dir, file.path));
    if (there === undefined) sorted.fresh.push(file);
    else if (there === file.text) sorted.same.push(file);
    else if (file.lines === undefined) sorted.taken.push(file);
    else {
      const own = there.split(/\r?\n/).map((line) => line.trim());
      const lines = file.lines.filter((line) => !own.includes(line));
      if (lines.length > 0) sorted.lacking.push({ path: file.path, lines });
      else sorted.same.push(file);
    }
  }
  return sorted;
}

/** The text of a file; empty for what is no file, undefined for nothing. */
function textOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  return statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
}

/** Writes all files or, where that fails, none: what was made is taken away again. */
export function writeAll(dir: string, files: readonly NewFile[]): { readonly undo: () => void } {
  const made: { readonly path: string; readonly isFolder: boolean }[] = [];
  const undo = () => {
    for (const { path, isFolder } of made.toReversed()) {
      if (isFolder) rmdirSync(path);
      else rmSync(path, { force: true });
    }
  };
  const makeFolder = (path: string): void => {
    if (existsSync(path)) return;
    makeFolder(dirname(path));
    mkdirSync(path);
    made.push({ path, isFolder: true });
  };
  try {
    for (const file of files) {
      const path = join(dir, file.path);
      makeFolder(dirname(path));
      // Never over a file that came in between.
      writeFileSync(path, file.text, { flag: 'wx' });
      made.push({ path, isFolder: false });
    }
  } catch (cause) {
    undo();
    const reason = cause instanceof Error ? cause.message.split(',')[0] : String(cause);
    throw new CallsheetError('usage', `nothing was written: ${reason}`, { cause });
  }
  return { undo };
}
