import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { CallsheetError, explainSystemError, reasonIn } from '../../../core/errors.ts';
import { refuseNewStack, STACK_FILE } from '../../../stack/folder.ts';
import type { Spool } from './index.ts';

/** A folder that comes to be as a whole: written beside its place, and moved there once all of it is sound. */
export type NewFolder = {
  /** The folder in which it is written. */
  readonly draft: string;
  readonly write: (path: string, text: string) => Promise<void>;
  readonly spool: Spool;
  /** Moves everything to its place. */
  readonly commit: () => void;
  /** Takes away what was not committed. */
  readonly discard: () => void;
};

/** The operations of the file system; tests have it fail. */
type Disk = {
  readonly writeFile: (path: string, text: string) => Promise<void>;
  readonly rename: (from: string, to: string) => void;
};

const REAL: Disk = {
  // Small files: handing each to another thread takes longer than writing it.
  writeFile: async (path, text) => writeFileSync(path, text, { flag: 'wx' }),
  rename: renameSync,
};

/** Texts are gathered to pieces of this size before they go to disk. */
const PIECE = 1024 * 1024;

/** Throws where a new stack cannot stand in a folder; one that is not empty takes `overwrite`. */
export function refuseFolder(dir: string, overwrite: boolean): void {
  refuseNewStack(dir);
  // A repository that was just made has nothing in it yet.
  const isEmpty = () => readdirSync(dir).every((name) => name === '.git');
  if (overwrite || !existsSync(dir) || isEmpty()) return;
  throw new CallsheetError('usage', `${dir} is not empty`, {
    hint: 'Choose another folder, or overwrite files with --overwrite. Files that the export does not write stay.',
  });
}

/** Opens a new folder. Nothing stands in its place before `commit`. */
export function openNewFolder(dir: string, given: Partial<Disk> = {}): NewFolder {
  const disk = { ...REAL, ...given };
  const above = dirname(dir);
  const madeAbove = attempt(() => mkdirSync(above, { recursive: true }));
  const draft = join(above, `.${basename(dir)}.${randomBytes(6).toString('hex')}.callsheet-export`);
  attempt(() => mkdirSync(draft));
  const folders = new Set<string>([draft]);
  const makeFolder = (folder: string) => {
    if (folders.has(folder)) return;
    mkdirSync(folder, { recursive: true });
    folders.add(folder);
  };
  const spool = openSpool(`${draft}.spool`);
  const discard = () => {
    spool.close();
    rmSync(draft, { recursive: true, force: true });
    // Only folders that were made for this are still empty.
    if (madeAbove !== undefined && !existsSync(dir)) removeEmpty(above, madeAbove);
  };
  return {
    draft,
    spool,
    async write(path, text) {
      try {
        const file = join(draft, path);
        makeFolder(dirname(file));
        await disk.writeFile(file, text);
      } catch (error) {
        throw inWords(error);
      }
    },
    commit() {
      attempt(() => (existsSync(dir) ? moveInto(draft, dir, disk) : disk.rename(draft, dir)));
      discard();
    },
    discard,
  };
}

function removeEmpty(folder: string, last: string): void {
  try {
    rmdirSync(folder);
    if (folder !== last) removeEmpty(dirname(folder), last);
  } catch {
    // Somebody put something there.
  }
}

/** Moves every file of a folder into another; what it replaces comes back where one cannot be moved. */
function moveInto(draft: string, dir: string, { rename }: Disk): void {
  const kept = `${draft}.before`;
  const undo: (() => void)[] = [];
  const paths = filesIn(draft);
  for (const folder of new Set(paths.flatMap(listFolders))) refuseInner(dir, folder);
  for (const path of paths) refuseFolderAt(join(dir, path));
  try {
    for (const path of paths) {
      const [from, to, before] = [join(draft, path), join(dir, path), join(kept, path)];
      mkdirSync(dirname(to), { recursive: true });
      if (existsSync(to)) {
        mkdirSync(dirname(before), { recursive: true });
        rename(to, before);
        undo.push(() => rename(before, to));
      }
      rename(from, to);
      undo.push(() => rmSync(to, { force: true }));
    }
  } catch (error) {
    try {
      for (const back of undo.toReversed()) back();
    } catch (cause) {
      const message = `the files could not be moved, and not everything could be put back: ${reasonIn(error)}`;
      throw new CallsheetError('usage', message, { hint: `What is missing is in ${kept}.`, cause });
    }
    rmSync(kept, { recursive: true, force: true });
    throw error;
  }
  rmSync(kept, { recursive: true, force: true });
}

/** `harbor` and `harbor/agents` of `harbor/agents/desk.yaml`. */
function listFolders(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === '.' ? [] : [...listFolders(folder), folder];
}

/** Throws where what is written into a folder would lie elsewhere, or in a stack of its own: neither is read. */
function refuseInner(dir: string, folder: string): void {
  const place = join(dir, folder);
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink && !existsSync(join(place, STACK_FILE))) return;
  const what = isLink ? 'is a link, which leads elsewhere' : 'is a stack of its own';
  throw new CallsheetError('usage', `nothing was written: ${place} ${what}`, {
    hint: 'The export has a folder of that name. Move it away, or give --out another place.',
  });
}

/** Throws where a folder has the name of a file that is written: what is in it would go with it. */
function refuseFolderAt(place: string): void {
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  throw new CallsheetError('usage', `nothing was written: ${place} is a folder`, {
    hint: 'The export has a file of that name. Move the folder away, or give --out another place.',
  });
}

function filesIn(dir: string, within = ''): readonly string[] {
  return readdirSync(join(dir, within), { withFileTypes: true }).flatMap((entry) => {
    const path = join(within, entry.name);
    return entry.isDirectory() ? filesIn(dir, path) : [path];
  });
}

/** Keeps lines on disk, so that they take no memory. */
function openSpool(path: string): Spool & { readonly close: () => void } {
  let file: number | undefined;
  let waiting: string[] = [];
  let size = 0;
  let isClosed = false;
  const flush = () =>
    attempt(() => {
      file ??= openSync(path, 'wx', 0o600);
      appendFileSync(file, waiting.join(''));
      waiting = [];
      size = 0;
    });
  return {
    add(text) {
      // Resources may still be read after another could not be.
      if (isClosed) return;
      waiting.push(text, '\n');
      size += text.length;
      if (size >= PIECE) flush();
    },
    each() {
      flush();
      return createInterface({
        input: createReadStream(path),
        crlfDelay: Number.POSITIVE_INFINITY,
      });
    },
    close() {
      isClosed = true;
      if (file !== undefined) closeSync(file);
      file = undefined;
      rmSync(path, { force: true });
    },
  };
}

/** Does something with the file system, whose failures are put into words. */
function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw inWords(error);
  }
}

function inWords(error: unknown): unknown {
  const hint = 'Give --out a place that can be written and has room, and export again.';
  return explainSystemError(error, 'nothing was written', { hint });
}
