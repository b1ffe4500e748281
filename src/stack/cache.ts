import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
} from 'node:crypto';
import {
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { DOCUMENT_LEVELS, parseWithin } from '../core/bounds.ts';
import type { DesiredResource } from '../core/desired.ts';
import type { Diagnostic, SourcePosition } from '../core/diagnostics.ts';
import type { RolloutSettings } from '../core/rollout.ts';
import { Blob, oncePer, Ref, Secret, type Value, type ValueObject } from '../core/value.ts';
import { type Folder, type Instead, isUnreadable, STACK_FILE } from './folder.ts';
import type { Moves } from './moves.ts';
import { type FilledText, filledTexts, leanDocument, type Resolved } from './resolved.ts';
import type { SecretPlace } from './secrets.ts';
import type { Member, Source, SourceRange, SyntaxNode } from './source.ts';
import { hasAnchors, type ParsedYaml, parseYaml } from './yaml.ts';

/**
 * What the files of a stack came to the last time, under `.callsheet/cache`, so that a stack that did not change is
 * neither parsed nor checked again, and of one that did the changed files alone are parsed.
 *
 * | entry    | holds                              | found by                                                        |
 * |----------|------------------------------------|-----------------------------------------------------------------|
 * | stack    | the whole stack, resolved          | the program, `callsheet.yaml`, the environment, the values of    |
 * |          |                                    | its variables, the YAML files by path and content; and whatever  |
 * |          |                                    | else was read must still be the same                             |
 * | settings | `callsheet.yaml`, parsed           | the program; each file by its content                            |
 * | files    | the other YAML files, parsed       | the program; each file by its content                            |
 *
 * Content decides and nothing else does: no size, no time. A stack with errors is not kept.
 *
 * An entry is sealed (AES-256-GCM) with a key that no repository holds. A stack can come from a stranger, and an entry
 * says what is planned without being checked again: one that is committed must not be believed. The seal also shows
 * every damage, and keeps values of the environment out of the disk in clear. Whatever cannot be opened or written is
 * taken as not there.
 */
export type Cache = {
  /** Parses YAML, or takes what parsing the same text came to. */
  readonly parse: (source: Source) => ParsedYaml;
  /** What a stack came to; undefined where that is not known. `onCounted` is told first how many resources it has. */
  readonly find: (
    inputs: StackInputs,
    folder: Folder,
    onCounted?: (resources: number) => void,
  ) => KeptStack | undefined;
  /** `read`: everything that was read for it. */
  readonly keep: (inputs: StackInputs, stack: NewStack, read: Reads, folder: Folder) => void;
  /** Keeps what was parsed. */
  readonly keepParsed: () => void;
};

/** What a stack is made of, but for the files that its YAML names. */
export type StackInputs = {
  readonly main: Source;
  /** The YAML files beside `callsheet.yaml`. */
  readonly files: readonly string[];
  readonly environment: string | undefined;
  /** What each variable stands for. */
  readonly variables: readonly unknown[];
  /** What was said of it before any resource was looked at. */
  readonly diagnostics: readonly Diagnostic[];
};

/** A stack without what follows from `callsheet.yaml` alone, and without its places. */
export type KeptStack = {
  readonly resources: readonly KeptResource[];
  readonly moves: Moves;
  readonly secrets: readonly SecretPlace[];
  readonly diagnostics: readonly Diagnostic[];
  readonly digest: string;
  /** Whole, as it takes the rows of tables to say which agents they select. */
  readonly rollouts: readonly RolloutSettings[];
};

/** Its resources come one by one, as all of them together are large. */
type NewStack = Omit<KeptStack, 'resources'> & {
  readonly count: number;
  readonly resources: Iterable<KeptResource>;
};

/** `file` is the YAML file that has the resource; the position of a row is in its table. */
export type KeptResource = Omit<DesiredResource, 'locate' | 'position'> & {
  readonly file: string;
  readonly position: SourcePosition;
};

/** Names the program, and is set when it is built. Run from its sources it changes unnoticed, so nothing is kept. */
declare const CALLSHEET_BUILD: string | undefined;
const BUILD = typeof CALLSHEET_BUILD === 'undefined' ? undefined : CALLSHEET_BUILD;

type CacheOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names the program, for tests of other ones. */
  readonly program?: string | undefined;
  /** What is read in the place of files: such a stack has an entry beside that of the folder. */
  readonly instead?: Instead;
};

export const NO_CACHE: Cache = {
  parse: parseYaml,
  find: () => undefined,
  keep: () => {},
  keepParsed: () => {},
};

/** The cache of a stack folder; one that knows nothing and keeps nothing where there can be none. */
export function openCache(dir: string, { env, program = BUILD, instead }: CacheOptions): Cache {
  if (program === undefined) return NO_CACHE;
  const key = keyIn(env);
  if (key === undefined) return NO_CACHE;
  const { node, icu, tz, unicode } = process.versions;
  const entries = openEntries(join(dir, '.callsheet'), key);
  const nameOf = (...parts: readonly unknown[]) => {
    const text = JSON.stringify([program, node, icu, tz, unicode, ...parts]);
    return createHmac('sha256', key).update(text).digest('hex');
  };
  const settings = openTrees(entries, nameOf('settings'));
  const files = openTrees(entries, nameOf('files'));
  const nameOfStack = ({ main, ...inputs }: StackInputs, folder: Folder) => {
    const contents = inputs.files.map((file) => [file, readContent(folder, file)]);
    const which = instead === undefined ? [] : ['instead'];
    return nameOf('stack', digestOf(main), inputs, contents, ...which);
  };
  return {
    parse: (source) => (source.file === STACK_FILE ? settings : files).parse(source),
    find(inputs, folder, onCounted = () => {}) {
      return entries.read(nameOfStack(inputs, folder), (lines) =>
        decodeStack(lines, folder, onCounted),
      );
    },
    keepParsed() {
      settings.keep();
      files.keep();
    },
    keep(inputs, stack, read, folder) {
      const own = new Set([STACK_FILE, ...inputs.files]);
      const what = read.filter(([how, path]) => how !== 'text' || !own.has(path));
      try {
        const read = { what, digest: digestOfReads(what, folder) };
        entries.write(nameOfStack(inputs, folder), encodeStack(stack, read, folder));
      } catch (error) {
        // A name that nothing should have.
        if (!(error instanceof RangeError)) throw error;
      }
    },
  };
}

type Env = CacheOptions['env'];

/** Names of what only those have who may apply, the steadiest first. */
const SECRETS = ['CALLSHEET_FINGERPRINT_KEY', 'CALLSHEET_CLIENT_SECRET', 'CALLSHEET_ACCESS_TOKEN'];

/** The key of all entries; undefined where there is nothing to make one of. */
function keyIn(env: Env): Buffer | undefined {
  const secret = SECRETS.map((name) => env[name]).find(Boolean) ?? personalKey(env);
  if (secret === undefined) return undefined;
  return Buffer.from(hkdfSync('sha256', secret, '', 'callsheet cache', KEY_BYTES));
}

/** The key of a person who has no credential at hand, made the first time. */
function personalKey({ XDG_STATE_HOME: states, HOME: home }: Env): string | undefined {
  const folder = states || (home && join(home, '.local', 'state'));
  if (!folder) return undefined;
  const file = join(folder, 'callsheet', 'cache-key');
  const known = keyOfFile(file);
  if (known !== undefined) return known;
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, randomBytes(KEY_BYTES).toString('hex'), { mode: 0o600, flag: 'wx' });
    renameSync(draft, file);
  } catch {
    return undefined;
  }
  // Another process may have made it at the same time.
  return keyOfFile(file);
}

const KEY_BYTES = 32;

function keyOfFile(file: string): string | undefined {
  try {
    const key = readFileSync(file, 'utf8');
    return key.length === 2 * KEY_BYTES ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Sealed texts by name, line by line, as all of one together is large. */
type Entries = {
  /** `take` has the lines of an entry that was found to be sound as a whole; undefined where there is none. */
  readonly read: <T>(name: string, take: (lines: Iterable<string>) => T) => T | undefined;
  readonly write: (name: string, lines: Iterable<string>) => void;
};

/** Entries that are kept, of all environments and programs. */
const MOST_ENTRIES = 24;
/** Bytes of all of them: some stacks of 100,000 agents. */
const MOST_BYTES = 256 * 1024 * 1024;

/** A line is no longer than all of them, and so has no more values. */
const LINE_BOUNDS = { levels: DOCUMENT_LEVELS, values: MOST_BYTES };

const CIPHER = 'aes-256-gcm';
const [NONCE_BYTES, TAG_BYTES] = [12, 16];

/** `above` is the folder `.callsheet`, which keeps itself out of Git. */
function openEntries(above: string, key: Buffer): Entries {
  const folder = join(above, 'cache');
  return {
    read(name, take) {
      const file = join(folder, name);
      let from: number | undefined;
      try {
        if (!isFolder(above) || !isFolder(folder)) return undefined;
        from = openSync(file, 'r');
        // Nothing is made of what a stranger may have put there.
        for (const _ of unsealed(from, name, key));
        noteUse(file);
        return take(linesIn(unsealed(from, name, key)));
      } catch {
        return undefined;
      } finally {
        if (from !== undefined) closeSync(from);
      }
    },
    write(name, lines) {
      const draft = join(folder, `${name}.${randomBytes(6).toString('hex')}`);
      try {
        if (makeFolder(above)) writeFileSync(join(above, '.gitignore'), '*\n', { flag: 'wx' });
        // A link that a stranger put there leads elsewhere.
        if (!isFolder(above)) return;
        makeFolder(folder);
        if (!isFolder(folder)) return;
        const bytes = writeSealed(draft, lines, name, key);
        makeRoom(folder, [basename(draft), name], bytes);
        renameSync(draft, join(folder, name));
      } catch (error) {
        discard(draft);
        if (error instanceof RangeError) throw error;
      }
    },
  };
}

function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // Of a folder that another user made, nothing is to be removed.
  }
}

function noteUse(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // A disk that cannot be written is no reason not to read.
  }
}

/** Whether the folder was made. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path).isDirectory();
}

/** Removes what was not used for longest, until another entry fits in. Drafts of dead processes go as entries do. */
function makeRoom(folder: string, own: readonly string[], bytes: number): void {
  const others = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !own.includes(entry.name))
    .map((entry) => ({ path: join(folder, entry.name), ...readStat(join(folder, entry.name)) }))
    .sort((a, b) => b.used - a.used);
  let left = MOST_BYTES - bytes;
  for (const [at, { path, size }] of others.entries()) {
    left -= size;
    if (left < 0 || at >= MOST_ENTRIES - 1) rmSync(path, { force: true });
  }
}

/** Another process may have removed it meanwhile. */
function readStat(path: string): { readonly used: number; readonly size: number } {
  try {
    const { mtimeMs, size } = lstatSync(path);
    return { used: mtimeMs, size };
  } catch {
    return { used: 0, size: 0 };
  }
}

/**
 * Writes a new file: a nonce, the sealed text and its tag. The name is part of what is sealed, so that no entry stands
 * for another. Throws where it is larger than what is kept, as where the disk refuses.
 */
function writeSealed(file: string, lines: Iterable<string>, name: string, key: Buffer): number {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(name));
  const into = openSync(file, 'wx', 0o600);
  try {
    let bytes = 0;
    const write = (piece: Buffer) => {
      writeFileSync(into, piece);
      bytes += piece.length;
    };
    write(nonce);
    for (const line of lines) {
      write(cipher.update(`${line}\n`, 'utf8'));
      if (bytes > MOST_BYTES) throw new Error('too large to be kept');
    }
    cipher.final();
    write(cipher.getAuthTag());
    return bytes;
  } finally {
    closeSync(into);
  }
}

/** Bytes that are read at once. */
const PIECE_BYTES = 1024 * 1024;

/**
 * What a sealed file holds, piece by piece. Throws at its end where it is damaged, or was sealed with another key or
 * under another name.
 */
function* unsealed(from: number, name: string, key: Buffer): Iterable<Buffer> {
  const read = (at: number, length: number) => {
    const piece = Buffer.alloc(length);
    if (readSync(from, piece, 0, length, at) < length) throw new Error('cut off');
    return piece;
  };
  const end = fstatSync(from).size - TAG_BYTES;
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv(CIPHER, key, read(0, NONCE_BYTES), options);
  decipher.setAAD(Buffer.from(name)).setAuthTag(read(end, TAG_BYTES));
  for (let at = NONCE_BYTES; at < end; at += PIECE_BYTES)
    yield decipher.update(read(at, Math.min(PIECE_BYTES, end - at)));
  decipher.final();
}

function* linesIn(pieces: Iterable<Buffer>): Iterable<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for (const piece of pieces) {
    const [first = '', ...lines] = decoder.write(piece).split('\n');
    rest += first;
    for (const line of lines) {
      yield rest;
      rest = line;
    }
  }
}

const digestOf = oncePer(({ text }: Source) => hash('sha256', text));

/** What a file of text holds, or why it cannot be read. */
function readContent(folder: Folder, path: string): string {
  const read = folder.text(path);
  if (isUnreadable(read)) return JSON.stringify(read);
  return `${read.bom ? 'bom ' : ''}${digestOf(read.source)}`;
}

/** What was read of a folder: texts, and files that are sent as they are, with what they are for. */
type Reads = readonly (readonly ['text', string] | readonly ['local', string, string])[];

/** A folder that remembers what is read of it. */
export function recordReads(folder: Folder): {
  readonly folder: Folder;
  readonly read: () => Reads;
} {
  const reads = new Map<string, Reads[number]>();
  const record = (read: Reads[number]) => reads.set(read.join('\0'), read);
  return {
    folder: {
      ...folder,
      text(path) {
        record(['text', path]);
        return folder.text(path);
      },
      local(path, use) {
        record(['local', path, use]);
        return folder.local(path, use);
      },
    },
    read: () => [...reads.values()],
  };
}

function digestOfReads(reads: Reads, folder: Folder): string {
  const digest = createHash('sha256');
  for (const [how, path, use] of reads) {
    const found =
      how === 'text' ? readContent(folder, path) : JSON.stringify(folder.local(path, use));
    digest.update(JSON.stringify([how, path, found]));
  }
  return digest.digest('hex');
}

type Trees = {
  readonly parse: (source: Source) => ParsedYaml;
  readonly keep: () => void;
};

/** Parsed files of one entry, a line each: the digest of its text, and the file itself. */
function openTrees(entries: Entries, name: string): Trees {
  let known: ReadonlyMap<string, string> | undefined;
  const used = new Map<string, string>();
  let hasNew = false;
  return {
    parse(source) {
      known ??= entries.read(name, linesByDigest) ?? new Map<string, string>();
      const digest = digestOf(source);
      const line = known.get(digest);
      const tree = line && readTree(line, source);
      if (line && tree) {
        used.set(digest, line);
        return { root: tree, problems: [] };
      }
      const parsed = parseYaml(source);
      const { root, problems } = parsed;
      // Aliases share what they stand for, which a tree does not tell.
      if (root !== undefined && problems.length === 0 && !hasAnchors(source)) {
        hasNew = true;
        used.set(digest, JSON.stringify(encodeTree(root)));
      }
      return parsed;
    },
    keep() {
      if (!hasNew) return;
      entries.write(
        name,
        [...used].map(([digest, line]) => `${digest}${line}`),
      );
      hasNew = false;
    },
  };
}

const DIGEST_CHARACTERS = 64;

/** The tree of a line; undefined where that is none. */
function readTree(line: string, source: Source): SyntaxNode | undefined {
  try {
    return decodeTree(parseWithin(line, { ...LINE_BOUNDS, levels: 1 }) as Flat, source);
  } catch {
    return undefined;
  }
}

function linesByDigest(lines: Iterable<string>): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  for (const line of lines)
    known.set(line.slice(0, DIGEST_CHARACTERS), line.slice(DIGEST_CHARACTERS));
  return known;
}

/**
 * A tree as a flat list, in the order in which it is written. A text that stands in the file as it reads is not written
 * once more.
 *
 * | type  | followed by                                            |
 * |-------|--------------------------------------------------------|
 * | MAP   | start, end, count, and for each: key, start, end, node |
 * | LIST  | start, end, count, nodes                               |
 * | SAME  | start, end                                             |
 * | OTHER | start, end, value, text, whether it is empty           |
 */
type Flat = (string | number | boolean | null)[];
const [MAP, LIST, SAME, OTHER] = [0, 1, 2, 3];

function encodeTree(node: SyntaxNode, into: Flat = []): Flat {
  const { start, end } = node.range;
  if (node.type === 'map') {
    into.push(MAP, start, end, node.members.size);
    for (const { key, keyPlace, value } of node.members.values()) {
      into.push(key, keyPlace.start, keyPlace.end);
      encodeTree(value, into);
    }
  } else if (node.type === 'list') {
    into.push(LIST, start, end, node.items.length);
    for (const item of node.items) encodeTree(item, into);
  } else {
    const { value, text, empty } = node;
    const isSame = value === text && node.range.source.text.slice(start, end) === text;
    if (isSame && !empty) into.push(SAME, start, end);
    else into.push(OTHER, start, end, value, text, empty);
  }
  return into;
}

function decodeTree(flat: Flat, source: Source): SyntaxNode {
  let at = 0;
  const next = <T extends Flat[number]>() => {
    at += 1;
    return flat[at - 1] as T;
  };
  const place = (): SourceRange => ({ source, start: next<number>(), end: next<number>() });
  const node = (): SyntaxNode => {
    const type = next<number>();
    const here = place();
    if (type === MAP) {
      const members = new Map<string, Member>();
      for (let left = next<number>(); left > 0; left -= 1) {
        const key = next<string>();
        members.set(key, { key, keyPlace: place(), value: node() });
      }
      return { type: 'map', range: here, members };
    }
    if (type === LIST) {
      const items = Array.from({ length: next<number>() }, node);
      return { type: 'list', range: here, items };
    }
    if (type === SAME) {
      const text = source.text.slice(here.start, here.end);
      return { type: 'scalar', range: here, value: text, text, empty: false };
    }
    const [value, text, empty] = [next(), next<string>(), next<boolean>()];
    return { type: 'scalar', range: here, value, text, empty };
  };
  return node();
}

/** Where a value stands among the values of a stored stack. */
type At = number;

/**
 * A stack as it is stored: a line with what it has but resources, and one for each part of them. A part has the
 * values that no part before it has, and its resources as what they are made of.
 */
type StoredStack = Omit<NewStack, 'resources' | 'rollouts'> & {
  readonly read: { readonly what: Reads; readonly digest: string };
};

type StoredPart = {
  readonly values: readonly Stored[];
  /** Where those stand that are not what they seem, but a `Special`. */
  readonly special: readonly At[];
  readonly resources: readonly StoredResource[];
  /** Of the last part, as they name agents of all. */
  readonly rollouts: readonly StoredRollout[];
};

type StoredRollout = Omit<RolloutSettings, 'agents'> & { readonly agents: readonly At[] };

type Stored = Value | Special;

/** Numbers alone, which take little memory: where the values stand, those of the document's fields in turn. */
type StoredResource = readonly [
  address: At,
  kind: At,
  file: At,
  placeFile: At,
  line: number,
  column: number,
  lifecycle: At,
  references: At,
  inClear: At,
  ...document: At[],
];

/** What stands in the place of what JSON does not have: under a name that no field of the platform begins with. */
const SPECIAL = '\0';
type Special = { readonly [SPECIAL]: Meant };
type Meant =
  | readonly ['ref', string]
  | readonly ['secret', string]
  | readonly ['blob', string, string, number, string]
  /** The text of a file. */
  | readonly ['text', string]
  /** A filled template: what stands between, and what was filled in. */
  | readonly ['filled', At, readonly string[]];

/** Shorter texts are told again for less than where they stand. */
const LONG_TEXT = 200;

/** Resources of one part. */
const PART = 1000;

/** Throws `RangeError` where a value has a name that nothing should have. */
function* encodeStack(
  { resources, rollouts: written, ...rest }: NewStack,
  read: StoredStack['read'],
  folder: Folder,
): Iterable<string> {
  const known = new Map<string, At>();
  const byIdentity = new Map<unknown, At>();
  let texts: string[] = [];
  let special: At[] = [];
  let stored: string[] = [];
  const add = (text: string, isSpecial = false): At => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const at = known.size;
    known.set(text, at);
    texts.push(text);
    if (isSpecial) special.push(at);
    return at;
  };
  const fileOf = new Map<string, string>();
  for (const [how, path] of read.what) {
    const found = how === 'text' ? folder.text(path) : undefined;
    if (found === undefined || isUnreadable(found) || found.source.text.length < LONG_TEXT)
      continue;
    fileOf.set(found.source.text, path);
  }
  const meant = (what: Meant): At => add(JSON.stringify({ [SPECIAL]: what }), true);
  const plain = (value: unknown): At => {
    const before = byIdentity.get(value);
    if (before !== undefined) return before;
    const file = typeof value === 'string' ? fileOf.get(value) : undefined;
    if (file !== undefined) return meant(['text', file]);
    const { stored, isSpecial } = parseStored(value);
    const at = add(JSON.stringify(stored), isSpecial);
    if (typeof value === 'object') byIdentity.set(value, at);
    return at;
  };
  const field = (document: ValueObject, filled: Filled, name: string): At => {
    const text = filled?.get(name);
    if (text === undefined) return plain(document[name]);
    return meant(['filled', plain(text.between), text.values]);
  };
  const part = (rollouts: readonly StoredRollout[] = []) => {
    const own = `"rollouts":${JSON.stringify(rollouts)},"resources":[${stored}]`;
    const line = `{"values":[${texts}],"special":[${special}],${own}}`;
    [texts, special, stored] = [[], [], []];
    return line;
  };
  yield JSON.stringify({ ...rest, read });
  for (const resource of resources) {
    const { address, kind, file, position, lifecycle, references, document } = resource;
    const { inClear = [] } = resource;
    const filled = filledTexts(document);
    const fields = Object.keys(document).flatMap((name) => [
      plain(name),
      field(document, filled, name),
    ]);
    const place = [plain(position.file), position.line, position.column];
    const own = [plain(address), plain(kind), plain(file), ...place];
    const facts = [lifecycle, references, inClear].map(plain);
    stored.push(`[${[...own, ...facts, ...fields].join()}]`);
    if (stored.length === PART) yield part();
  }
  yield part(written.map((one) => ({ ...one, agents: one.agents.map(plain) })));
}

type Filled = ReadonlyMap<string, FilledText> | undefined;

/** A value as JSON has it. Throws where it has a member that is called as what is special. */
function parseStored(value: unknown): { readonly stored: unknown; readonly isSpecial: boolean } {
  let isSpecial = false;
  const walk = (inner: unknown): unknown => {
    if (typeof inner !== 'object' || inner === null) return inner;
    if (Array.isArray(inner)) return inner.map(walk);
    const meant = meantBy(inner);
    if (meant === undefined)
      return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, walk(one)]));
    isSpecial = true;
    return { [SPECIAL]: meant };
  };
  return { stored: walk(value), isSpecial };
}

function meantBy(value: object): Meant | undefined {
  if (value instanceof Ref) return ['ref', value.address];
  if (value instanceof Secret) return ['secret', value.source];
  if (value instanceof Blob) return ['blob', value.path, value.sha256, value.size, value.mime];
  if (SPECIAL in value) throw new RangeError('the name of what is special is taken');
  return undefined;
}

/** Undefined where what was read for it is no longer the same. */
function decodeStack(
  lines: Iterable<string>,
  folder: Folder,
  onCounted: (resources: number) => void,
): KeptStack | undefined {
  const values: unknown[] = [];
  const filled = new Map<At, FilledText>();
  const become = (what: Meant, at: At): unknown => {
    switch (what[0]) {
      case 'ref':
        return new Ref(what[1]);
      case 'secret':
        return new Secret(what[1]);
      case 'blob':
        return new Blob(what[1], what[2], what[3], what[4]);
      case 'text': {
        const found = folder.text(what[1]);
        return isUnreadable(found) ? undefined : found.source.text;
      }
      case 'filled':
        filled.set(at, { between: values[what[1]] as readonly string[], values: what[2] });
        // It stands for a text until it is asked for.
        return '';
      default:
        return what satisfies never;
    }
  };
  const walk = (value: unknown, at: At): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => walk(item, at));
    if (SPECIAL in value) return become(value[SPECIAL] as Meant, at);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, at)]));
  };
  const resourceOf = (numbers: StoredResource): KeptResource => {
    const [address, kind, file, place, line, column, lifecycle, references, inClear, ...fields] =
      numbers;
    const texts = new Map<string, FilledText>();
    const document: [string, Resolved][] = [];
    for (let at = 0; at < fields.length; at += 2) {
      const [field = 0, value = 0] = [fields[at], fields[at + 1]];
      const name = values[field] as string;
      const text = filled.get(value);
      if (text !== undefined) texts.set(name, text);
      document.push([name, values[value] as Resolved]);
    }
    return {
      address: values[address] as string,
      kind: values[kind] as string,
      file: values[file] as string,
      position: { file: values[place] as string, line, column },
      lifecycle: values[lifecycle] as KeptResource['lifecycle'],
      references: values[references] as KeptResource['references'],
      inClear: values[inClear] as readonly string[],
      isPartial: false,
      document: leanDocument(Object.fromEntries(document), texts) as ValueObject,
    };
  };
  let stack: Omit<KeptStack, 'resources' | 'rollouts'> | undefined;
  const resources: KeptResource[] = [];
  const rollouts: RolloutSettings[] = [];
  for (const line of lines) {
    if (stack === undefined) {
      const { read, count, ...rest } = parseWithin(line, LINE_BOUNDS) as StoredStack;
      if (read.digest !== digestOfReads(read.what, folder)) return undefined;
      onCounted(count);
      stack = rest;
      continue;
    }
    const part = parseWithin(line, LINE_BOUNDS) as StoredPart;
    for (const value of part.values) values.push(value);
    for (const at of part.special) values[at] = walk(values[at], at);
    for (const one of part.resources) resources.push(resourceOf(one));
    for (const one of part.rollouts)
      rollouts.push({ ...one, agents: one.agents.map((at) => values[at] as string) });
  }
  return stack && { ...stack, resources, rollouts };
}
