import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { clip, formatCount, formatNumber } from '../core/errors.ts';
import type { Problem } from './diagnostics.ts';
import { interpolate } from './expressions.ts';
import { type Folder, isInside, openFolder, posixPath, STACK_FILE } from './folder.ts';
import { findMember, type SourceRange, type SyntaxNode, textIn } from './source.ts';
import type { Variables } from './variables.ts';

type Discovered = {
  /** Paths of the YAML files beside `callsheet.yaml`, relative to the stack folder, in order. */
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
};

/** Folders that hold no configuration. */
export function isSkipped(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules';
}

/** A folder that is a link is not entered: it is either read where it really stands, or it leads away. */
function linkedFolder(dir: string, path: string): Problem | undefined {
  try {
    const target = realpathSync(join(dir, path));
    if (!statSync(target).isDirectory()) return undefined;
    const real = realpathSync(dir);
    if (target === real || isInside(real, target)) return undefined;
  } catch {
    return undefined;
  }
  return {
    severity: 'warning',
    rule: 'file/outside',
    message: `the folder ${path} is a link that leads out of the stack and is not read`,
    hint: 'Copy it into the stack folder, or make it a stack of its own',
  };
}

/**
 * Every YAML file below a stack folder but `callsheet.yaml` itself. Folders that begin with a dot,
 * `node_modules` and folders that are stacks themselves are not entered.
 */
function walk({ dir, has }: Pick<Folder, 'dir' | 'has'>): Discovered {
  const files: string[] = [];
  const problems: Problem[] = [];
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    let entries: ReturnType<typeof readEntries>;
    try {
      entries = readEntries(join(dir, folder));
    } catch {
      problems.push({
        rule: 'file/unreadable',
        message: `the folder ${folder} cannot be read`,
        hint: 'Check its permissions',
      });
      continue;
    }
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (isSkipped(entry.name) || path === STACK_FILE) continue;
      if (entry.isDirectory()) {
        if (!has(`${path}/${STACK_FILE}`)) pending.push(path);
        continue;
      }
      if (/\.ya?ml$/i.test(entry.name)) files.push(path);
      else if (entry.isSymbolicLink()) {
        const problem = linkedFolder(dir, path);
        if (problem !== undefined) problems.push(problem);
      }
    }
  }
  return { files: files.sort(), problems };
}

/** Returns true if the file would be found, if it existed. */
function isOwn(file: string, { has }: Pick<Folder, 'has'>): boolean {
  if (!/\.ya?ml$/i.test(file) || file === STACK_FILE) return false;
  const names = file.split('/');
  const folders = names.slice(0, -1).map((_, at) => names.slice(0, at + 1).join('/'));
  return !names.some(isSkipped) && !folders.some((folder) => has(`${folder}/${STACK_FILE}`));
}

function readEntries(path: string) {
  return readdirSync(path, { withFileTypes: true });
}

/** A pattern of `include`, which begins at the stack folder. */
export type Pattern = { readonly pattern: string; readonly range: SourceRange };

/** The patterns of `include`, filled in; undefined where it names none. One that cannot be filled in is left out. */
export function patternsIn(
  root: SyntaxNode | undefined,
  variables: Variables,
): readonly Pattern[] | undefined {
  const include = findMember(root, 'include')?.value;
  const items = include?.type === 'list' ? include.items : [include];
  const written = items.flatMap((item) => {
    const text = textIn(item);
    return item === undefined || text === undefined ? [] : [{ text, range: item.range }];
  });
  if (written.length === 0) return undefined;
  return written.flatMap(({ text, range }) => {
    const { text: pattern } = interpolate(text, { variables });
    return pattern === undefined ? [] : [{ pattern, range }];
  });
}

/** The files of a stack that `include` lets in: all of them where it is undefined. */
export function discover(
  dir: string,
  include: readonly Pattern[] | undefined,
  without: readonly string[],
  folder: Pick<Folder, 'dir' | 'has' | 'added' | 'removed'> = openFolder(dir),
): Discovered {
  const { files: found, problems } = walk(folder);
  const more = folder.added().filter((file) => isOwn(file, folder));
  const gone = new Set(folder.removed());
  const files = [...new Set([...found, ...more])].filter((file) => !gone.has(file)).sort();
  // A file of variables that lies in the stack holds no resources.
  const skipped = new Set(without.map((path) => posixPath(relative(dir, path))));
  const present = files.filter((file) => !skipped.has(file));
  if (include === undefined) return { files: present, problems };
  const globs: (Pattern & { readonly glob: Glob })[] = [];
  const unfit: Problem[] = [];
  for (const one of include) {
    const glob = readGlob(one.pattern.replace(/^\.\//, ''));
    if (typeof glob !== 'string') globs.push({ ...one, glob });
    else unfit.push(includeProblem(one, glob, 'error'));
  }
  const empty = globs.filter(({ glob }) => !present.some(glob));
  return {
    files: present.filter((file) => globs.some(({ glob }) => glob(file))),
    problems: [
      ...problems,
      ...unfit,
      ...empty.map((one) => includeProblem(one, 'matches no YAML file', 'warning')),
    ],
  };
}

/** Characters of a pattern that a message shows. */
const MOST_SHOWN = 80;

function includeProblem(
  { pattern, range }: Pattern,
  what: string,
  severity: 'error' | 'warning',
): Problem {
  const shown = clip(pattern, MOST_SHOWN);
  return {
    severity,
    rule: 'stack/include',
    message: `${STACK_FILE}: include has ${JSON.stringify(shown)}, which ${what}`,
    hint: 'Patterns begin at the stack folder and can use *, ?, [a-z], {one,other}, and ** for any folders',
    range,
  };
}

/**
 * Patterns of file names: `*` and `?` within a name, `[a-z]` and `[!a-z]`, `{one,other}`, and `**` for any folders.
 * They come from a stack that may be a stranger's, so a match takes no more steps than pattern times path: no regular
 * expression that tries every way is made of them.
 */
type Glob = (path: string) => boolean;

/** Characters of a pattern. Paths have at most 4,096, and a pattern says less than a path. */
const MOST_PATTERN_CHARACTERS = 1_000;
/** Patterns that the braces of one come to. */
const MOST_ALTERNATIVES = 100;

/** A sign of a name, or any number of any of them. */
type Token = '*' | Sign;
type Sign = (character: string) => boolean;
/** A name, or any number of any folders. */
type Part = '**' | readonly Token[];

/** Reads a pattern. Gives what is wrong with it, in words that follow its own, where it cannot be used. */
export function readGlob(pattern: string): Glob | string {
  if (pattern.length > MOST_PATTERN_CHARACTERS) {
    return `has ${formatCount(pattern.length, 'character')}; a pattern may have ${formatNumber(MOST_PATTERN_CHARACTERS)}`;
  }
  if (/[@!+*?]\(/.test(pattern)) return 'uses ( ), which patterns do not support';
  const written = expandBraces(pattern);
  if (written === undefined) {
    return `expands to more than ${MOST_ALTERNATIVES} patterns through its braces`;
  }
  const globs = written.map((one) =>
    one.split('/').map((part): Part => (part === '**' ? part : listTokens(part))),
  );
  return (path) => {
    const names = path.split('/').map((name) => [...name]);
    return globs.some((parts) =>
      matches<'**', readonly Token[], readonly string[]>(parts, names, '**', isName),
    );
  };
}

function isName(part: Exclude<Part, '**'>, name: readonly string[]): boolean {
  const one = (sign: Sign, character: string) => sign(character);
  return matches<'*', Sign, string>(part, name, '*', one);
}

/**
 * Returns true if a pattern matches the whole sequence. Only the last star has to be tried with more: what an earlier
 * one could take, the last one can take as well.
 */
function matches<S extends string, P, T>(
  pattern: readonly (P | S)[],
  text: readonly T[],
  star: S,
  one: (part: P, item: T) => boolean,
): boolean {
  const isStar = (part: P | S | undefined): part is S => part === star;
  let [at, next] = [0, 0];
  let last: { readonly after: number; from: number } | undefined;
  while (at < text.length) {
    const part = pattern[next];
    const item = text[at];
    if (isStar(part)) {
      last = { after: next + 1, from: at };
      next += 1;
    } else if (part !== undefined && item !== undefined && one(part, item)) {
      at += 1;
      next += 1;
    } else if (last === undefined) return false;
    else {
      last.from += 1;
      at = last.from;
      next = last.after;
    }
  }
  return pattern.slice(next).every(isStar);
}

const CLASS = /^\[([!^]?)(\]?[^\]]*)\]/;

function listTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let rest = text; rest !== ''; ) {
    const [whole, not, members] = CLASS.exec(rest) ?? [];
    const [first = ''] = rest;
    if (whole !== undefined && members !== undefined && members !== '') {
      tokens.push((character) => isIn(members, character) === (not === ''));
    } else if (first === '*') tokens.push('*');
    else tokens.push((character) => first === '?' || character === first);
    rest = rest.slice(whole === undefined || members === '' ? first.length : whole.length);
  }
  return tokens;
}

function isIn(members: string, character: string): boolean {
  for (const [, from = '', to = from] of members.matchAll(/(.)(?:-(.))?/gsu)) {
    if (from <= character && character <= to) return true;
  }
  return false;
}

/** The patterns that braces come to; undefined where they are too many. */
function expandBraces(pattern: string): readonly string[] | undefined {
  let open = [pattern];
  for (;;) {
    const expanded = open.flatMap((one) => {
      // The innermost braces first.
      const [whole, members] = /\{([^{},]*(?:,[^{},]*)+)\}/.exec(one) ?? [];
      if (whole === undefined || members === undefined) return [one];
      return members.split(',').map((member) => one.replace(whole, () => member));
    });
    if (expanded.length > MOST_ALTERNATIVES) return undefined;
    if (expanded.length === open.length) return expanded;
    open = expanded;
  }
}
