import { hash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import {
  basename,
  dirname,
  extname,
  isAbsolute,
  join,
  posix,
  relative,
  resolve,
  sep,
} from 'node:path';
import type { Diagnostic } from '../core/diagnostics.ts';
import { CallsheetError, errorCode, formatSize } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import { Blob, getOwn } from '../core/value.ts';
import type { Problem, ProblemMessage } from './diagnostics.ts';
import type { Source } from './source.ts';

/** The file that makes a folder a stack. */
export const STACK_FILE = 'callsheet.yaml';

/** Most bytes that a YAML or text file may have. Prompts and templates are far smaller. */
const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/** Why a path leads to no file that may be read. */
export type Unreadable =
  | { readonly reason: keyof typeof REASONS }
  | { readonly reason: 'missing' }
  | { readonly reason: 'too-large'; readonly size: number }
  | { readonly reason: 'encoding' };

export type Found = { readonly absolute: string; readonly size: number };

/** Contents to read instead of files, by absolute path without links; null: the file is taken not to exist. */
export type Instead = ReadonlyMap<string, string | Buffer | null>;

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
  /** Files that are taken to be there, and not to be there, by their paths in the stack folder. */
  readonly added: () => readonly string[];
  readonly removed: () => readonly string[];
  /** Tells whether a path leads to something, readable or not. */
  readonly has: (path: string) => boolean;
  /** Text of a file, checked to be UTF-8. */
  readonly text: (path: string) => FileText | Unreadable;
  /**
   * The file that is most likely meant by the path of a missing one: of the same name elsewhere, otherwise of nearly the
   * same name beside it. None that was read for something else.
   */
  readonly suggest: (path: string) => string | undefined;
  /**
   * The file that a field with `x-file` names, checked for type and size. The type follows from the name and must
   * agree with the first bytes, so that a renamed file is found before an upload fails. `use` is the field's `x-file`.
   */
  readonly local: (path: string, use: string) => LocalFileOutcome;
};

export function isUnreadable<T extends object>(outcome: T | Unreadable): outcome is Unreadable {
  return 'reason' in outcome;
}

export function isInside(dir: string, path: string): boolean {
  const way = relative(dir, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** A path with forward slashes, as messages, documents and YAML have it on every machine. */
export function posixPath(path: string): string {
  return path.split(sep).join('/');
}

/** A path without its links, as far as it exists. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(resolveLinks(above), basename(path));
  }
}

/** The path of a file that may not be there yet, in a folder without links. */
export function withoutLinks(file: string): string {
  return join(resolveLinks(dirname(file)), basename(file));
}

/** The file of the same folder whose name is closest to that of a missing one. `dir`: where a relative path begins. */
export function nearestFile(
  dir: string,
  path: string,
  isUsed: (path: string) => boolean = () => false,
): string | undefined {
  try {
    const folder = dirname(path);
    const there = readdirSync(resolve(dir, folder));
    const name = nearest(
      basename(path),
      there.filter((one) => !isUsed(posixPath(join(folder, one)))),
    );
    return name === undefined ? undefined : posixPath(join(folder, name));
  } catch {
    return undefined;
  }
}

/** Entries of folders that are looked through for a file that was moved. */
const MOST_ENTRIES = 20_000;

/** The paths of all files below a folder, by their names in lower case; without those that may not be named. */
function filesByName(dir: string): ReadonlyMap<string, readonly string[]> {
  const found: string[] = [];
  const pending = [''];
  for (let at = 0; at < pending.length && found.length < MOST_ENTRIES; at += 1) {
    const folder = pending[at] ?? '';
    const entries = readdirSync(join(dir, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      else found.push(path);
    }
  }
  return Map.groupBy(found, (path) => basename(path).toLowerCase());
}

/** Returns why a path is refused before anything is looked up. */
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
type RealFolder = {
  readonly dir: string;
  readonly realDir: string;
  readonly real: Map<string, string>;
};

/** A path without its links. Most files are none, and then only their folder has to be followed. */
function follow(
  path: string,
  { real }: RealFolder,
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

function findFile(place: RealFolder, path: string, hidden: boolean): Found | Unreadable {
  const { dir, realDir } = place;
  const refused = refusePath(path, hidden);
  if (refused !== undefined) return refused;
  if (path === '' || path.includes('\0')) return MISSING;
  try {
    const { absolute, stats } = follow(resolve(dir, path), place);
    if (absolute !== realDir && !isInside(realDir, absolute)) return { reason: 'link' };
    // A link inside the folder must not lead to what cannot be named either.
    const inside = posixPath(relative(realDir, absolute));
    if (!hidden && refusePath(inside, false) !== undefined) return { reason: 'hidden' };
    if (stats.isDirectory()) return { reason: 'directory' };
    return stats.isFile() ? { absolute, size: stats.size } : { reason: 'special' };
  } catch (error) {
    const code = errorCode(error);
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENAMETOOLONG'
      ? MISSING
      : { reason: 'unreadable' };
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws a `TypeError` where the file is not UTF-8. */
function decode(absolute: string): string {
  const text = readFileSync(absolute, 'utf8');
  // Bytes that are not UTF-8 have become this character, which may also stand in a file itself.
  return text.includes('\uFFFD') ? utf8.decode(readFileSync(absolute)) : text;
}

/** Reads a file as UTF-8 text. `file` is what diagnostics call it, and `given` what is read in its place. */
function readText(
  file: string,
  { absolute, size }: Found,
  given: string | Buffer | null | undefined,
): FileText | Unreadable {
  if (typeof given === 'string') return { source: { file, text: given }, bom: false };
  if (size > MAX_TEXT_BYTES) return { reason: 'too-large', size };
  try {
    const text = given ? utf8.decode(given) : decode(absolute);
    const bom = text.startsWith('\uFEFF');
    return { source: { file, text: bom ? text.slice(1) : text }, bom };
  } catch (error) {
    return { reason: error instanceof TypeError ? 'encoding' : 'unreadable' };
  }
}

const MISSING: Unreadable = { reason: 'missing' };

/** Reads a text wherever it is: one that a person names on the command line. */
export function readTextAt(
  file: string,
  absolute: string,
  instead?: Instead,
): FileText | Unreadable {
  const given = instead?.get(resolveLinks(absolute));
  if (given === null) return MISSING;
  if (given !== undefined) return readText(file, { absolute, size: given.length }, given);
  try {
    const stats = statSync(absolute);
    if (stats.isDirectory()) return { reason: 'directory' };
    return stats.isFile()
      ? readText(file, { absolute, size: stats.size }, undefined)
      : { reason: 'special' };
  } catch {
    return MISSING;
  }
}

/** Opens a stack folder. `onText` gets the characters of each text that is read. */
export function openFolder(
  dir: string,
  instead: Instead = new Map(),
  onText: (characters: number) => void = () => {},
): Folder {
  const place: RealFolder = { dir, realDir: realpathSync.native(dir), real: new Map() };
  const byPath = new Map<string, FileText | Unreadable>();
  // However its path is spelled a file is one source: what is masked in it is masked for all who read it.
  const texts = new Map<string, FileText | Unreadable>();
  const uploads = new Set<string>();
  let used: ReadonlySet<string> | undefined;
  let byName: ReturnType<typeof filesByName> | undefined;
  const find: Folder['find'] = (path, { hidden } = { hidden: false }) => {
    const found = findFile(place, path, hidden);
    const isFound = !isUnreadable(found);
    // A path that may not be followed leads to nothing that is given in its place either.
    if (!isFound && found.reason !== 'missing' && found.reason !== 'directory') return found;
    const absolute = isFound ? found.absolute : resolve(place.realDir, path);
    const given = instead.get(absolute);
    if (given === null) return isFound ? MISSING : found;
    return given === undefined ? found : { absolute, size: given.length };
  };
  const listGiven = (isGone: boolean) =>
    [...instead]
      .filter(([path, given]) => (given === null) === isGone && isInside(place.realDir, path))
      .map(([path]) => posixPath(relative(place.realDir, path)));
  return {
    dir,
    find,
    added: () => listGiven(false),
    removed: () => listGiven(true),
    has: (path) => {
      const given = instead.get(resolve(place.realDir, path));
      return given === undefined ? existsSync(join(dir, path)) : given !== null;
    },
    text: (path) => {
      const known = byPath.get(path);
      if (known !== undefined) return known;
      const found = find(path);
      const absolute = resolve(place.realDir, path);
      const outcome = isUnreadable(found)
        ? found
        : (texts.get(absolute) ?? readText(path, found, instead.get(found.absolute)));
      byPath.set(path, outcome);
      if (!isUnreadable(outcome) && !texts.has(absolute)) onText(outcome.source.text.length);
      if (!isUnreadable(found)) texts.set(absolute, outcome);
      return outcome;
    },
    local: (path, use) => {
      const outcome = readLocalFile({ find, instead }, path, use);
      if ('blob' in outcome) uploads.add(outcome.blob.path);
      return outcome;
    },
    suggest: (path) => {
      used ??= new Set(
        [...[...byPath].filter(([, text]) => !isUnreadable(text)), ...uploads.entries()].map(
          ([other]) => posix.normalize(other),
        ),
      );
      const isUsed = (other: string) => used?.has(other) === true;
      byName ??= filesByName(dir);
      const same = byName.get(basename(path).toLowerCase()) ?? [];
      return same.find((other) => !isUsed(other)) ?? nearestFile(dir, path, isUsed);
    },
  };
}

/** Throws where no stack can be made of a folder: it is a file, or lies inside of one. */
export function refuseNewStack(dir: string): void {
  if (existsSync(dir) && !statSync(dir).isDirectory())
    throw new CallsheetError('usage', `${dir} is not a folder`);
  const outer = foldersAbove(dir).find(isStack);
  if (outer === undefined) return;
  throw new CallsheetError('usage', `${dir} is inside the stack ${outer}`, {
    hint: 'Its YAML would belong to that stack. Add resources to it, or choose a folder outside of it.',
  });
}

/** Tells whether a folder is a stack. */
export function isStack(dir: string): boolean {
  return existsSync(join(dir, STACK_FILE));
}

/** The folders above one, the nearest first. */
export function foldersAbove(dir: string): readonly string[] {
  const above = dirname(dir);
  return above === dir ? [] : [above, ...foldersAbove(above)];
}

/** Why a folder is no stack, or undefined where it is one. */
export function refuseFolder(dir: string): Omit<Diagnostic, 'severity'> | undefined {
  const rule = 'stack/missing';
  if (!existsSync(dir))
    return { rule, message: `the folder ${dir} does not exist`, hint: 'Check --dir' };
  if (!statSync(dir).isDirectory()) {
    return {
      rule,
      message: `${dir} is not a folder`,
      hint: `Set --dir to the folder that holds ${STACK_FILE}`,
    };
  }
  if (existsSync(join(dir, STACK_FILE))) return undefined;
  const other = existsSync(join(dir, 'callsheet.yml'));
  return {
    rule,
    message: `there is no ${STACK_FILE} in ${dir}`,
    hint: other
      ? `Rename callsheet.yml to ${STACK_FILE}`
      : 'Write one with `callsheet init`, export the live fleet with `callsheet export --out FOLDER`, or set --dir to the folder that holds it',
  };
}

const INSIDE = 'Paths are relative to the stack folder and must stay inside it';

/** By reason: the rule, the message behind the path, and the hint. */
const REASONS = {
  absolute: ['file/outside', ', an absolute path', INSIDE],
  parent: ['file/outside', ', which leaves its folder', INSIDE],
  link: [
    'file/outside',
    ', a link that leads out of the stack folder',
    'Copy the file into the stack folder',
  ],
  hidden: [
    'file/outside',
    ', and Callsheet does not read names that begin with a dot',
    'Such files hold credentials and state; move the text to a file without the dot',
  ],
  backslash: ['file/outside', ', which has a backslash', 'Write paths with forward slashes'],
  directory: ['file/kind', ', which is a folder', 'Name a file'],
  special: ['file/kind', ', which is not a regular file', 'Name a regular file'],
  unreadable: ['file/unreadable', ', which cannot be read', 'Check the permissions of the file'],
} as const;

/** The same as `fileMessage`, with a suggestion that is made once it is known which files are used. */
export function fileProblem(
  path: string,
  why: Unreadable,
  folder: Pick<Folder, 'suggest'>,
): Problem {
  const words = fileMessage(path, why);
  return why.reason === 'missing' ? withSuggestion(words, path, folder) : words;
}

/** A message of a file of the stack: one that is missing may be elsewhere. */
export function withSuggestion(
  words: ProblemMessage,
  path: string,
  { suggest }: Pick<Folder, 'suggest'>,
): Problem {
  if (words.rule !== 'file/missing') return words;
  const { hint = '' } = words;
  const late = () => {
    const close = suggest(path);
    return close === undefined ? hint : `Did you mean "${close}"?`;
  };
  return { ...words, hint: late };
}

/** Why a file cannot be used. The message begins with a verb: the caller puts before it what names the file. */
export function fileMessage(path: string, why: Unreadable): ProblemMessage {
  const names = `names ${JSON.stringify(path)}`;
  switch (why.reason) {
    case 'missing': {
      const hint = 'Paths begin at the stack folder';
      return { rule: 'file/missing', message: `${names}, which does not exist`, hint };
    }
    case 'too-large': {
      const message = `${names}, which has ${formatSize(why.size)}; texts may have ${formatSize(MAX_TEXT_BYTES)}`;
      return { rule: 'file/size', message };
    }
    case 'encoding': {
      const hint = /\.csv$/i.test(path)
        ? 'Save it as CSV UTF-8, which a spreadsheet offers next to plain CSV'
        : 'Save it as UTF-8';
      return { rule: 'file/encoding', message: `${names}, which is not UTF-8 text`, hint };
    }
    default: {
      const [rule, what, hint] = REASONS[why.reason];
      return { rule, message: names + what, hint };
    }
  }
}

type FileType = {
  readonly mime: string;
  /** Returns true if the first bytes are those of the type; a text type has no mark of its own. */
  readonly matches: (head: Buffer, whole: Buffer) => boolean;
};

type Rule = {
  readonly noun: string;
  readonly maxBytes: number;
  /** The specification refuses an empty clip, and says nothing of an empty document. */
  readonly mayBeEmpty: boolean;
  readonly types: Readonly<Record<string, FileType>>;
};

function begins(head: Buffer, text: string, at = 0): boolean {
  return head.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'));
}

/** A frame of layer III, with a bitrate and a sampling rate that there are: AAC and UTF-16 begin alike. */
function isFrame([sync = 0, kind = 0, rate = 0]: Buffer): boolean {
  const isLayer3 = sync === 0xff && (kind & 0xe6) === 0xe2;
  return isLayer3 && rate >> 4 !== 0xf && ((rate >> 2) & 3) !== 3;
}

const isMp3 = (head: Buffer) => begins(head, 'ID3') || isFrame(head);
/** EBML is Matroska's as well: the document type says which. */
const isWebm = (head: Buffer) => begins(head, '\x1a\x45\xdf\xa3') && head.includes('webm');
/** Readers look for the mark in the first kilobyte. */
const isPdf = (head: Buffer) => head.subarray(0, 1024).includes('%PDF-');
const isZip = (head: Buffer) => begins(head, 'PK\x03\x04');
/** Every file of an office is a ZIP archive; a text document has its parts below `word/`. */
const isWord = (head: Buffer, whole: Buffer) => isZip(head) && whole.includes('word/');
/** UTF-16 has zero bytes, and says so by its byte order mark. */
const isUtf16 = (head: Buffer) => begins(head, '\xff\xfe') || begins(head, '\xfe\xff');
const isPlain = (head: Buffer) =>
  isUtf16(head) || (!head.includes(0) && !isPdf(head) && !isZip(head));

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const WAV: FileType = {
  mime: 'audio/wav',
  matches: (head) => (begins(head, 'RIFF') || begins(head, 'RF64')) && begins(head, 'WAVE', 8),
};
const OGG: FileType = { mime: 'audio/ogg', matches: (head) => begins(head, 'OggS') };
const WEBM: FileType = { mime: 'audio/webm', matches: isWebm };
const HTML: FileType = { mime: 'text/html', matches: isPlain };
const MARKDOWN: FileType = { mime: 'text/markdown', matches: isPlain };

/** Types and sizes that the platform takes, by `x-file` (Custom voices; Knowledge base sources; Limits). */
const RULES: Readonly<Record<string, Rule>> = {
  clip: {
    noun: 'a recording',
    maxBytes: 4 * 1024 * 1024,
    mayBeEmpty: false,
    types: {
      mp3: { mime: 'audio/mpeg', matches: isMp3 },
      wav: WAV,
      wave: WAV,
      flac: { mime: 'audio/flac', matches: (head) => begins(head, 'fLaC') },
      ogg: OGG,
      oga: OGG,
      opus: OGG,
      webm: WEBM,
      weba: WEBM,
    },
  },
  document: {
    noun: 'a document',
    maxBytes: 50 * 1024 * 1024,
    mayBeEmpty: true,
    types: {
      pdf: { mime: 'application/pdf', matches: isPdf },
      docx: { mime: WORD, matches: isWord },
      txt: { mime: 'text/plain', matches: isPlain },
      html: HTML,
      htm: HTML,
      csv: { mime: 'text/csv', matches: isPlain },
      md: MARKDOWN,
      markdown: MARKDOWN,
    },
  },
};

/** Enough for every signature, and for a zero byte to show that a text is none. */
const HEAD_BYTES = 4096;

/** A file, with a warning about it, or why it cannot be sent. Words begin with a verb. */
type LocalFileOutcome =
  | { readonly blob: Blob; readonly warning?: ProblemMessage }
  | { readonly words: ProblemMessage };

function readLocalFile(
  { find, instead }: Pick<Folder, 'find'> & { readonly instead: Instead },
  path: string,
  use: string,
): LocalFileOutcome {
  const rule = RULES[use];
  if (rule === undefined) throw new Error(`no rule for files of the kind ${use}`);
  const found = find(path);
  if (isUnreadable(found)) return { words: fileMessage(path, found) };
  const names = `names ${JSON.stringify(path)}`;
  const extension = extname(path).slice(1).toLowerCase();
  const type = getOwn(rule.types, extension);
  if (type === undefined) {
    const allowed = Object.keys(rule.types).join(', ');
    const message = `${names}, whose type is not one that ${rule.noun} may have`;
    return { words: { rule: 'file/type', message, hint: `Use one of ${allowed}` } };
  }
  const empty = { rule: 'file/size', message: `${names}, which is empty`, hint: 'Add its content' };
  if (found.size === 0 && !rule.mayBeEmpty) return { words: empty };
  if (found.size > rule.maxBytes) {
    const message = `${names}, which has ${formatSize(found.size)}; the platform accepts ${formatSize(rule.maxBytes)}`;
    return { words: { rule: 'file/size', message, hint: 'Make it shorter or compress it' } };
  }
  let bytes: Buffer;
  try {
    const given = instead.get(found.absolute);
    bytes =
      typeof given === 'string' ? Buffer.from(given) : (given ?? readFileSync(found.absolute));
  } catch {
    return { words: fileMessage(path, { reason: 'unreadable' }) };
  }
  const sha256 = hash('sha256', bytes);
  const blob = new Blob(path.replace(/^(?:\.\/+)+/, ''), sha256, bytes.length, type.mime);
  if (bytes.length === 0) return { blob, warning: empty };
  if (type.matches(bytes.subarray(0, HEAD_BYTES), bytes)) return { blob };
  const message = `${names}, whose content does not look like that of a .${extension} file`;
  const hint = 'It is sent as it is. If the platform refuses it, export it again in that format';
  return { blob, warning: { rule: 'file/type', message, hint } };
}
