import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import {
  constants,
  copyFile,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
} from 'node:fs/promises';
import { dirname } from 'node:path';
import { COUNTED_FROM_BYTES, checkSize } from '../../core/bounds.ts';
import { callVerb, errorCode, explainSystemError, isSystemError } from '../../core/errors.ts';
import { createStateMeter, MOST_LINE_BYTES, MOST_STATE_BYTES, within } from '../bounds.ts';
import type { FileEnd } from '../journal-text.ts';
import type { Line } from '../state-text.ts';

/**
 * Every step that the file store takes on the disk, but for the lock's. A change is durable when it
 * resolves, and a crash leaves it either done or not done, but for `append` and `writeNew`, which may
 * leave a part. Tests stop and pause the store at each.
 */
export type Disk = {
  /** Returns the type of the path itself, a link not followed; undefined if there is nothing. */
  readonly look: (path: string) => Promise<'file' | 'folder' | 'link' | 'other' | undefined>;
  /** The text of a file; undefined when there is none. Throws where it is longer than a state may be. */
  readonly read: (path: string) => Promise<string | undefined>;
  /** The same line by line, for files of any size. Lines, and states as a whole, beyond their bounds throw `BeyondBounds`. */
  readonly readLines: (path: string, of?: 'state') => Promise<AsyncIterable<FileLine> | undefined>;
  /** A line that was read before, at once; undefined when there is no such file any more. */
  readonly readAgain: (path: string, line: FileLine) => string | undefined;
  /** The text of so many bytes at both ends of a file; undefined when there is none. */
  readonly readEnds: (path: string, bytes: number) => Promise<FileEnds | undefined>;
  /** The names in a folder; none when there is no folder. */
  readonly list: (path: string) => Promise<readonly string[]>;
  /** Makes a folder and those above it, for the owner alone. Resolves to the topmost that was made. */
  readonly makeFolder: (path: string) => Promise<string | undefined>;
  /** Writes a file that must not exist yet: a text, or the pieces of one, which are asked for as they are written. */
  readonly writeNew: (path: string, text: Iterable<string>) => Promise<void>;
  /** Gives a file another name, in place of the file that has it. */
  readonly rename: (from: string, to: string) => Promise<void>;
  /** Copies a file, byte by byte, to a name that must not be taken. */
  readonly copy: (from: string, to: string) => Promise<void>;
  /** Removes a file; one that is not there is no error. */
  readonly remove: (path: string) => Promise<void>;
  /** Opens a file for lines at its end. `new`: it must not exist yet. */
  readonly openEnd: (path: string, which: 'new' | 'existing') => Promise<FileEnd>;
};

/** A line of a file, and the bytes that it takes there. */
export type FileLine = Line & { readonly at: number; readonly size: number };

/** Characters that are written, and bytes that are read at once. */
const PIECE = 256 * 1024;
const LINE_BREAK = 0x0a;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Unlike `a`, it does not make a file that is not there. */
const AT_END = constants.O_WRONLY | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);

export const realDisk: Disk = {
  look: (path) =>
    orIfMissing(
      undefined,
      lstat(path).then((found) => {
        if (found.isFile()) return 'file';
        if (found.isDirectory()) return 'folder';
        return found.isSymbolicLink() ? 'link' : 'other';
      }),
    ),

  read: (path) =>
    orIfMissing(
      undefined,
      lstat(path).then(({ size }) => {
        if (size > MOST_STATE_BYTES) throw coded('ERR_FS_FILE_TOO_LARGE');
        return readFile(path, 'utf8');
      }),
    ),

  readLines: (path, of) =>
    orIfMissing(
      undefined,
      open(path, 'r').then((file) => readLines(file, path, of === 'state')),
    ),

  readAgain(path, { at, size }) {
    let file: number | undefined;
    try {
      file = openSync(path, 'r');
      const bytes = Buffer.allocUnsafe(size);
      let read = 0;
      for (let more = 1; more > 0 && read < size; read += more)
        more = readSync(file, bytes, read, size - read, at + read);
      return bytes.toString('utf8', 0, read);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  },

  readEnds: (path, bytes) =>
    orIfMissing<FileEnds | undefined>(
      undefined,
      new Promise((resolve) => {
        resolve(readBothEnds(path, bytes));
      }),
    ),

  list: (path) => orIfMissing([], readdir(path)),

  async makeFolder(path) {
    const topmost = await mkdir(path, { recursive: true, mode: FOLDER_MODE });
    if (topmost === undefined) return undefined;
    for (let made = path; made.startsWith(topmost); made = dirname(made))
      await syncFolder(dirname(made));
    return topmost;
  },

  async writeNew(path, text) {
    const file = await open(path, 'wx', FILE_MODE);
    try {
      await named(path, async () => {
        for (const piece of inPieces(text)) await file.appendFile(piece);
        await file.sync();
      });
    } finally {
      await file.close();
    }
    await syncFolder(dirname(path));
  },

  async rename(from, to) {
    await rename(from, to);
    await syncFolder(dirname(to));
  },

  async copy(from, to) {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    const file = await open(to, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await syncFolder(dirname(to));
  },

  async remove(path) {
    await rm(path, { force: true });
  },

  async openEnd(path, which) {
    const file = await open(path, which === 'new' ? 'ax' : AT_END, FILE_MODE);
    if (which === 'new') await syncFolder(dirname(path));
    return {
      append: (text) =>
        named(path, async () => {
          await file.appendFile(text);
          await file.datasync();
        }),
      close: () => file.close(),
    };
  },
};

type FileEnds = { readonly first: string; readonly last: string };

/** Reads without a wait in between: of ten thousand small files, waiting for a thread would take most of the time. */
function readBothEnds(path: string, bytes: number): FileEnds {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const read = (at: number, length: number) => {
      const piece = Buffer.allocUnsafe(length);
      return piece.toString('utf8', 0, readSync(file, piece, 0, length, at));
    };
    if (size > 2 * bytes) return { first: read(0, bytes), last: read(size - bytes, bytes) };
    const text = read(0, size);
    return { first: text, last: text };
  } finally {
    closeSync(file);
  }
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** By bytes: where a line begins must be right behind one that is no text, too. */
async function* readLines(
  file: FileHandle,
  path: string,
  isState: boolean,
): AsyncGenerator<FileLine> {
  let begun: Buffer[] = [];
  let at = 0;
  let size = 0;
  const stream: AsyncIterable<Buffer> = file.createReadStream({ highWaterMark: PIECE });
  const name = isState ? `the state ${path}` : path;
  const { size: whole } = await file.stat();
  const check = within(name, () => (isState ? checkState(whole) : () => {}));
  for await (const piece of stream) {
    within(name, () => {
      check(piece);
      checkSize(size + piece.length, MOST_LINE_BYTES, 'a line');
    });
    let from = 0;
    for (let end = piece.indexOf(LINE_BREAK); end >= 0; end = piece.indexOf(LINE_BREAK, from)) {
      const rest = end - from;
      const text =
        size === 0
          ? piece.toString('utf8', from, end)
          : Buffer.concat([...begun, piece.subarray(from, end)]).toString('utf8');
      yield { text, isWhole: true, at, size: size + rest };
      at += size + rest + 1;
      begun = [];
      size = 0;
      from = end + 1;
    }
    if (from === piece.length) continue;
    begun.push(piece.subarray(from));
    size += piece.length - from;
  }
  if (size > 0) yield { text: Buffer.concat(begun).toString('utf8'), isWhole: false, at, size };
}

/** A small state is not counted: whatever it holds takes little memory. */
function checkState(size: number): (piece: Uint8Array) => void {
  checkSize(size, MOST_STATE_BYTES, 'a size');
  const meter = size < COUNTED_FROM_BYTES ? undefined : createStateMeter();
  return (piece) => meter?.take(piece);
}

/** Small pieces put together, so that there are fewer writes. */
function* inPieces(text: Iterable<string>): Iterable<string> {
  if (typeof text === 'string') {
    yield text;
    return;
  }
  let waiting = '';
  for (const piece of text) {
    waiting += piece;
    if (waiting.length < PIECE) continue;
    yield waiting;
    waiting = '';
  }
  yield waiting;
}

/** Failures of an open file do not say which one it is. */
async function named<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, { path }) : error;
  }
}

/** File systems that cannot sync a folder, some network ones, keep names safe in their own way. */
const CANNOT_SYNC_FOLDERS = new Set(['EINVAL', 'ENOTSUP', 'ENOSYS', 'EISDIR', 'EPERM', 'EACCES']);

async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (!CANNOT_SYNC_FOLDERS.has(errorCode(error) ?? '')) throw error;
  }
}

async function orIfMissing<T>(missing: T, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return missing;
    throw error;
  }
}

/** Failures of the file system, put into words. */
const KEPT =
  'Nothing more is sent to the platform. The last committed state and everything that a run has journaled are kept.';
const AGAIN = 'then run the same command again: it recovers what is open, and continues.';
const ELSEWHERE = `${KEPT} Give this user the right to write there, ${AGAIN} If no run is open, you can keep the state elsewhere (state.file, CALLSHEET_STATE).`;
const FREE_SPACE = `${KEPT} Free some space, ${AGAIN}`;
const RECONNECT = `${KEPT} Bring it back, ${AGAIN}`;

const HINTS: { readonly [code: string]: string } = {
  ENOSPC: FREE_SPACE,
  EDQUOT: FREE_SPACE,
  EFBIG: FREE_SPACE,
  EROFS: ELSEWHERE,
  EACCES: ELSEWHERE,
  EPERM: ELSEWHERE,
  EISDIR: 'A state is a file: check state.file and CALLSHEET_STATE.',
  ENOTDIR: 'Check state.file and CALLSHEET_STATE.',
  EIO: RECONNECT,
  ESTALE: RECONNECT,
  ENOTCONN: RECONNECT,
  EHOSTDOWN: RECONNECT,
  ETIMEDOUT: RECONNECT,
};

/** Runs a part of a store's work, with failures of the file system put into words. */
export async function worded<T>(location: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const path = error.path ?? location;
    const isDenied = error.code === 'EACCES' || error.code === 'EPERM';
    throw explainSystemError(error, `cannot ${callVerb(error)} ${path}`, {
      code: 'state',
      hint: HINTS[error.code] ?? KEPT,
      more: isDenied ? whyDenied(path) : '',
    });
  }
}

/** Names the owner or the mode of the nearest existing path: the most usual reasons. */
function whyDenied(path: string): string {
  const me = process.geteuid?.();
  for (let at = path; ; at = dirname(at)) {
    const found = readOwner(at);
    if (found !== undefined) {
      if (found.uid !== me) return `: ${at} belongs to user ${found.uid}, and this is user ${me}`;
      return `: the mode of ${at} is ${(found.mode & 0o777).toString(8).padStart(4, '0')}`;
    }
    if (at === dirname(at)) return '';
  }
}

function readOwner(path: string): { readonly uid: number; readonly mode: number } | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
