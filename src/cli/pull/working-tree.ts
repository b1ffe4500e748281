import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { gitEnv } from '../actor.ts';

/** What Git says of the folder of a stack. */
type WorkingTree =
  | { readonly type: 'none'; readonly reason: string }
  /** Git is there and does not say. */
  | { readonly type: 'unknown'; readonly reason: string }
  | { readonly type: 'clean' }
  /** Paths from the folder of the stack. */
  | { readonly type: 'dirty'; readonly files: readonly string[] };

const run = promisify(execFile);

/** Git writes to its index even where it only looks; another process may be at work there. */
const ENV = { GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
const STATUS = [
  'status',
  '--porcelain=v1',
  '-z',
  '--untracked-files=all',
  // Folders that are ignored as a whole are not looked into.
  '--ignored=matching',
  '--',
  '.',
] as const;
const MOST_BYTES = 64 * 1024 * 1024;

/** Files by their paths from the folder of the stack. */
type StackFiles = {
  /** All that the stack is made of. */
  readonly own: ReadonlySet<string>;
  /** Those that pull writes. */
  readonly written: ReadonlySet<string>;
};

/**
 * Whether files of a stack have changes that are not committed, so that what pull writes could not be told from
 * them. A file that Git does not know counts where it is one of the stack's own, and one that Git ignores where
 * it is to be written: nothing could bring it back.
 */
export async function lookAtWorkingTree(
  dir: string,
  { own, written }: StackFiles,
): Promise<WorkingTree> {
  const git = async (...args: readonly string[]) => {
    const options = { env: { ...gitEnv(), ...ENV }, maxBuffer: MOST_BYTES };
    return (await run('git', ['-C', dir, ...args], options)).stdout;
  };
  try {
    const prefix = (await git('rev-parse', '--show-prefix')).trim();
    const status = await git(...STATUS);
    const files = entriesOf(status).flatMap(({ state, path }) => {
      const file = path.startsWith(prefix) ? path.slice(prefix.length) : path;
      // What begins with a dot is no part of the configuration: the state is kept there.
      if (file.split('/').some((part) => part.startsWith('.'))) return [];
      if (state === '!!') return [...written].filter((one) => one === file || isBelow(one, file));
      return state !== '??' || own.has(file) ? [file] : [];
    });
    return files.length === 0 ? { type: 'clean' } : { type: 'dirty', files };
  } catch (error) {
    return reasonOf(error);
  }
}

/** An ignored folder is named once, with a slash at its end. */
function isBelow(file: string, folder: string): boolean {
  return folder.endsWith('/') && file.startsWith(folder);
}

function entriesOf(status: string): readonly { readonly state: string; readonly path: string }[] {
  const parts = status.split('\0').filter((part) => part !== '');
  const entries: { state: string; path: string }[] = [];
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? '';
    const state = part.slice(0, 2);
    entries.push({ state, path: part.slice(3) });
    // The old name of what was renamed follows.
    if (/[RC]/.test(state)) index += 1;
  }
  return entries;
}

function reasonOf(error: unknown): WorkingTree {
  const failure: { readonly code?: unknown; readonly stderr?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  if (failure.code === 'ENOENT') return { type: 'none', reason: 'git is not installed' };
  const words = String(failure.stderr ?? '');
  if (/not a git repository/i.test(words)) {
    return { type: 'none', reason: 'it is in no Git repository' };
  }
  return { type: 'unknown', reason: words.split('\n')[0] ?? '' };
}
