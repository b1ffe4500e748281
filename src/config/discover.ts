import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type Glob, readGlob } from './glob.ts';
import type { Problem } from './problems.ts';
import type { Place } from './source.ts';

/** The file that makes a folder a stack. */
export const STACK_FILE = 'callsheet.yaml';

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
    const way = relative(realpathSync(dir), target);
    if (!way.startsWith('..')) return undefined;
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
function walk(dir: string): Discovered {
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
        if (!existsSync(join(dir, path, STACK_FILE))) pending.push(path);
        continue;
      }
      if (/\.ya?ml$/.test(entry.name)) files.push(path);
      else if (entry.isSymbolicLink()) {
        const problem = linkedFolder(dir, path);
        if (problem !== undefined) problems.push(problem);
      }
    }
  }
  return { files: files.sort(), problems };
}

function readEntries(path: string) {
  return readdirSync(path, { withFileTypes: true });
}

/** A pattern of `include`, which begins at the stack folder. */
export type Pattern = { readonly pattern: string; readonly place: Place };

/**
 * The files of a stack that `include` lets in: all of them where it is undefined. `added` are taken to be there
 * as well.
 */
export function discover(
  dir: string,
  include: readonly Pattern[] | undefined,
  without: readonly string[],
  added: readonly string[] = [],
): Discovered {
  const { files: found, problems } = walk(dir);
  const more = added.filter((file) => /\.ya?ml$/.test(file) && file !== STACK_FILE);
  const files = [...new Set([...found, ...more])].sort();
  // A file of variables that lies in the stack holds no resources.
  const skipped = new Set(without.map((path) => relative(dir, path).split(sep).join('/')));
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
  { pattern, place }: Pattern,
  what: string,
  severity: 'error' | 'warning',
): Problem {
  const shown = pattern.length > MOST_SHOWN ? `${pattern.slice(0, MOST_SHOWN)}…` : pattern;
  return {
    severity,
    rule: 'stack/include',
    message: `${STACK_FILE}: include has ${JSON.stringify(shown)}, which ${what}`,
    hint: 'Patterns begin at the stack folder and are made of *, ?, [a-z] and {one,other}; ** stands for any folders',
    place,
  };
}
