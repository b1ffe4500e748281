import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { nearest } from './nearest.ts';
import type { Source } from './source.ts';

/** Most bytes that a YAML or text file may have. Prompts and templates are far smaller. */
export const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/** Why a path leads to no file that may be read. */
export type Unreadable =
  | { readonly reason: 'absolute' | 'parent' | 'backslash' | 'hidden' | 'link' | 'directory' }
  | { readonly reason: 'special' | 'unreadable' }
  | { readonly reason: 'missing'; readonly nearest: string | undefined }
  | { readonly reason: 'too-large'; readonly size: number }
  | { readonly reason: 'encoding' };

export type Found = { readonly absolute: string; readonly size: number };

export type FileText = {
  readonly source: Source;
  /** The file began with a byte order mark, which the source no longer has. */
  readonly bom: boolean;
};

/** The stack folder: the only place that files are read from. Every file is read once. */
export type Folder = {
  readonly dir: string;
  /** Finds a file by its path in the stack folder. */
  readonly find: (path: string, options?: { readonly hidden: boolean }) => Found | Unreadable;
  /** Files that are taken to be there, by their paths in the stack folder. */
  readonly added: () => readonly string[];
  /** Text of a file, checked to be UTF-8. */
  readonly text: (path: string) => FileText | Unreadable;
};

export function isUnreadable<T extends object>(outcome: T | Unreadable): outcome is Unreadable {
  return 'reason' in outcome;
}

/** Whether a real path lies in a real folder. */
function isInside(dir: string, path: string): boolean {
  const way = relative(dir, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** The file of the same folder whose name is closest to that of a missing one. */
function nearestFile(dir: string, path: string): string | undefined {
  try {
    const folder = dirname(path);
    const name = nearest(basename(path), readdirSync(join(dir, folder)));
    return name === undefined ? undefined : join(folder, name).split(sep).join('/');
  } catch {
    return undefined;
  }
}

/** What is wrong with a path before anything is looked up. */
function refusePath(path: string, hidden: boolean): Unreadable | undefined {
  if (isAbsolute(path) || /^[A-Za-z]:/.test(path)) return { reason: 'absolute' };
  if (path.includes('\\')) return { reason: 'backslash' };
  const parts = path.split('/');
  if (parts.includes('..')) return { reason: 'parent' };
  // `.git` and `.callsheet` hold credentials and state: a pull request must not be able to quote them.
  if (!hidden && parts.some((part) => part.startsWith('.') && part !== '.')) {
    return { reason: 'hidden' };
  }
  return undefined;
}

/** A stack folder with what was looked up of the folders inside it, so that each is followed once. */
type Place = { readonly dir: string; readonly realDir: string; readonly real: Map<string, string> };

/** A path without its links. Most files are none, and then only their folder has to be followed. */
function follow(
  path: string,
  { real }: Place,
): { readonly absolute: string; readonly stats: Stats } {
  const folder = dirname(path);
  const realFolder = real.get(folder) ?? realpathSync.native(folder);
  real.set(folder, realFolder);
  const direct = join(realFolder, basename(path));
  const stats = lstatSync(direct);
  if (!stats.isSymbolicLink()) return { absolute: direct, stats };
  const absolute = realpathSync.native(direct);
  return { absolute, stats: lstatSync(absolute) };
}

function findFile(place: Place, path: string, hidden: boolean): Found | Unreadable {
  const { dir, realDir } = place;
  const refused = refusePath(path, hidden);
  if (refused !== undefined) return refused;
  if (path === '' || path.includes('\0')) return { reason: 'missing', nearest: undefined };
  try {
    const { absolute, stats } = follow(resolve(dir, path), place);
    if (absolute !== realDir && !isInside(realDir, absolute)) return { reason: 'link' };
    // A link inside the folder must not lead to what cannot be named either.
    const inside = relative(realDir, absolute).split(sep).join('/');
    if (!hidden && refusePath(inside, false) !== undefined) return { reason: 'hidden' };
    if (stats.isDirectory()) return { reason: 'directory' };
    return stats.isFile() ? { absolute, size: stats.size } : { reason: 'special' };
  } catch (error) {
    const code = errorCode(error);
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENAMETOOLONG'
      ? { reason: 'missing', nearest: nearestFile(dir, path) }
      : { reason: 'unreadable' };
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws a `TypeError` where the file is not UTF-8. */
function decode(absolute: string): string {
  const text = readFileSync(absolute, 'utf8');
  // What is not UTF-8 has become this character, which may also stand in a file itself.
  return text.includes('\uFFFD') ? utf8.decode(readFileSync(absolute)) : text;
}

/** Reads a file as UTF-8 text. `file` is what diagnostics call it. */
export function readText(file: string, { absolute, size }: Found): FileText | Unreadable {
  if (size > MAX_TEXT_BYTES) return { reason: 'too-large', size };
  try {
    const text = decode(absolute);
    const bom = text.startsWith('\uFEFF');
    return { source: { file, text: bom ? text.slice(1) : text }, bom };
  } catch (error) {
    return { reason: error instanceof TypeError ? 'encoding' : 'unreadable' };
  }
}

/** `instead` holds texts that are read in the place of what files hold, by absolute path. */
export function openFolder(dir: string, instead: ReadonlyMap<string, string> = new Map()): Folder {
  const place: Place = { dir, realDir: realpathSync.native(dir), real: new Map() };
  const texts = new Map<string, FileText | Unreadable>();
  const find: Folder['find'] = (path, { hidden } = { hidden: false }) => {
    const found = findFile(place, path, hidden);
    const absolute = resolve(place.realDir, path);
    const given = isUnreadable(found) ? instead.get(absolute) : undefined;
    return given === undefined ? found : { absolute, size: given.length };
  };
  return {
    dir,
    find,
    added: () =>
      [...instead.keys()]
        .filter((path) => isInside(place.realDir, path))
        .map((path) => relative(place.realDir, path).split(sep).join('/')),
    text: (path) => {
      const known = texts.get(path);
      if (known !== undefined) return known;
      const found = find(path);
      const given = isUnreadable(found) ? undefined : instead.get(found.absolute);
      const outcome = isUnreadable(found)
        ? found
        : given === undefined
          ? readText(path, found)
          : { source: { file: path, text: given }, bom: false };
      texts.set(path, outcome);
      return outcome;
    },
  };
}
