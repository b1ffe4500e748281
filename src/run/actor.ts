import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { devNull, hostname, userInfo } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { allowanceFlags, type PlanDocument, type PlanOptions } from '../core/plan-document.ts';
import { foldersAbove, isStack, resolveLinks, withoutLinks } from '../stack/folder.ts';
import type { StackSettings } from '../stack/index.ts';
import type { Claimant } from '../state/failures.ts';
import type { Actor } from '../state/journal.ts';
import type { Holder } from '../state/store.ts';
import type { RunContext } from './context.ts';
import type { Revert } from './document.ts';

/**
 * Who runs this and from what: the person or job, the commit of the stack, the pipeline's own address, and the pull
 * request with its approvals, which the shipped pipelines look up. A pipeline's variables name its commit where there is
 * no repository; a job may have checked out another one.
 */
export async function describeActor(
  dir: string,
  { env }: Pick<RunContext, 'env'>,
  given?: Checkout | undefined,
): Promise<Actor> {
  const checkout = given ?? (await describeCheckout(dir));
  const own = env.GITHUB_SHA ?? env.CI_COMMIT_SHA ?? null;
  return {
    user: env.GITHUB_ACTOR ?? env.GITLAB_USER_LOGIN ?? userName(),
    host: hostname(),
    pid: process.pid,
    // A job leaves files of its own in its checkout, and changes nothing there.
    commit: checkout === undefined || checkout.head === own ? own : nameCommit(checkout),
    pipeline: findPipeline(env),
    pull_request: env.CALLSHEET_PULL_REQUEST?.trim() || null,
    approved_by: listNames(env.CALLSHEET_APPROVED_BY),
  };
}

/** The names in a list with commas, each once. */
function listNames(list = ''): readonly string[] {
  const names = list.split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

/**
 * Who gave the flags of a plan that lift a guard, as a pipeline tells in `CALLSHEET_ALLOWED_BY`:
 * `allow-delete=ana,override-limits=bo`. What the plan was not given is left out; undefined where nothing is told.
 */
export function listAllowed(
  { env }: Pick<RunContext, 'env'>,
  options: PlanOptions,
): PlanDocument['allowed'] {
  const given = new Set(allowanceFlags(options).map((flag) => flag.split(' ', 1)[0]));
  const told = listNames(env.CALLSHEET_ALLOWED_BY).map((text) => /^([a-z-]+)=(.+)$/.exec(text));
  const allowed = told.flatMap((found) => {
    const [, name = '', by = ''] = found ?? [];
    return given.has(`--${name}`) ? [{ flag: `--${name}`, by }] : [];
  });
  return allowed.length === 0 ? undefined : allowed;
}

/** Who takes the lease for a command; `run` is empty for what is no run. */
export function holderFor(
  run: string,
  command: string,
  { user, pid }: Pick<Actor, 'user' | 'pid'>,
  { now }: Pick<RunContext, 'now'>,
): Holder {
  return { run, command, user, host: hostname(), pid, since: now().toISOString() };
}

function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}

/** The only variables that git gets: secrets are read from the environment. */
const FOR_GIT =
  /^(PATH|HOME|LANG|LC_\w+|TMPDIR|XDG_CONFIG_HOME|SYSTEMROOT|USERPROFILE|GIT_(DIR|WORK_TREE|CEILING_DIRECTORIES|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)))$/i;

/** The environment of git: it answers in English, never prompts, and writes no index where it only looks. */
export function gitEnv(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => FOR_GIT.test(name));
  return {
    ...Object.fromEntries(own),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
}

/** Names the commit of a checkout, and says where what is applied is not all in it. */
function nameCommit({ head, isChanged }: Checkout): string {
  return isChanged ? `${head} with uncommitted changes` : head;
}

/** The commit that a folder was checked out from. */
export type Checkout = {
  readonly head: string;
  /** Git's digest of the folder in that commit; undefined where the commit does not have the folder. */
  readonly tree: string | undefined;
  /** The folder has changes that are not committed. */
  readonly isChanged: boolean;
};

/** The checkout that a folder belongs to. Undefined outside of a repository, and where Git cannot read it. */
export async function describeCheckout(dir: string): Promise<Checkout | undefined> {
  if (!isInRepository(dir)) return undefined;
  try {
    const [head, status, tree] = await Promise.all([
      askGit(dir, 'rev-parse', 'HEAD'),
      askGit(dir, 'status', '--porcelain', '--', '.'),
      askGit(dir, 'rev-parse', 'HEAD:./').catch(() => undefined),
    ]);
    return { head, tree, isChanged: status !== '' };
  } catch {
    return undefined;
  }
}

/** Names a stack, and its commit in Git's words: a reviewer sees where a plan is from. */
export async function describePlace({
  dir,
  id,
}: Pick<StackSettings, 'dir' | 'id'>): Promise<NonNullable<PlanDocument['stack']>> {
  const [name, commit] = await Promise.all([id ?? nameStack(dir), describeCommit(dir)]);
  return { name, ...(commit && { commit }) };
}

async function describeCommit(
  dir: string,
): Promise<NonNullable<PlanDocument['stack']>['commit'] | undefined> {
  if (!isInRepository(dir)) return undefined;
  try {
    const [logEntry, status] = await Promise.all([
      askGit(dir, 'log', '-1', '--no-show-signature', '--format=%H%x00%s%x00%an%x00%cI'),
      askGit(dir, 'status', '--porcelain', '--', '.'),
    ]);
    const [id = '', subject = '', author = '', at = ''] = logEntry.split('\0');
    return { id, subject, author, at, is_changed: status !== '' };
  } catch {
    return undefined;
  }
}

/** A folder lies in a repository. The check starts no process. */
export function isInRepository(dir: string): boolean {
  const folder = resolveLinks(resolve(dir));
  const around = [folder, ...foldersAbove(folder)];
  return process.env.GIT_DIR !== undefined || around.some((one) => existsSync(join(one, '.git')));
}

/**
 * Names a stack among all that one team watches: its folder below the top of the repository (`clinics/harbor`), as
 * `--recursive` and the queue call it. At the top the folder's own name; outside of a repository the whole path.
 */
export async function nameStack(dir: string): Promise<string> {
  const folder = resolve(dir);
  const below = await findPrefix(dir);
  return below === '' ? basename(folder) : (below ?? folder);
}

/**
 * The path of a folder below the top of its repository, empty at the top. Undefined outside of one, where no process is
 * started to hear it.
 */
async function findPrefix(dir: string): Promise<string | undefined> {
  if (!isInRepository(dir)) return undefined;
  try {
    return (await askGit(dir, 'rev-parse', '--show-prefix')).replace(/\/$/, '');
  } catch {
    return undefined;
  }
}

/**
 * Finds the owner of a stack's state (DESIGN §5): the stack and the environment. A state inside the folder goes with
 * the folder, so that it is recorded without the name of its stack.
 */
export async function findOwner({
  dir,
  state,
  id,
  environment = null,
}: Pick<StackSettings, 'dir' | 'state' | 'id'> & {
  readonly environment?: string | null | undefined;
}): Promise<Claimant> {
  // Git is asked where the answer counts: most states are in the folder of their stack.
  const findName = async () => id ?? (await findFolder(dir));
  const isOwn = 'file' in state && findStackAround(state.file) === resolveLinks(resolve(dir));
  return { findName, owner: { stack: isOwn ? null : await findName(), environment } };
}

/** The stack whose folder a file lies in. A stack inside of another one has its files for itself. */
function findStackAround(file: string): string | undefined {
  return foldersAbove(withoutLinks(file)).find(isStack);
}

/** The folder of a stack below the top of its repository; its path outside of one. */
async function findFolder(dir: string): Promise<string> {
  const below = await findPrefix(dir);
  return below === undefined ? resolve(dir) : `./${below}`;
}

/** The last committed versions of a file in a folder, the newest first; none outside of a repository. */
export async function readVersions(
  dir: string,
  file: string,
  most: number,
): Promise<readonly string[]> {
  try {
    const commits = await askGit(dir, 'log', '--format=%H', `-${most}`, '--', file);
    const ids = commits.split('\n').filter((id) => id !== '');
    const texts = ids.map((id) => runGit(dir, 'show', `${id}:./${file}`).catch(() => undefined));
    return (await Promise.all(texts)).filter((text) => text !== undefined);
  } catch {
    return [];
  }
}

/**
 * Finds how to take an applied commit back in Git. Null if no `git revert` fits: outside of a repository, or if the
 * commit is unknown, not part of this checkout, not about the folder, or reverted already. A commit with uncommitted
 * changes is not what was applied.
 */
export async function findRevert(
  dir: string,
  { commit: applied, pull_request: pull }: Pick<Actor, 'commit' | 'pull_request'>,
): Promise<Revert | null> {
  if (applied === null || !/^[0-9a-f]{7,64}$/.test(applied)) return null;
  try {
    const commit = await askGit(dir, 'rev-parse', '--verify', '--quiet', `${applied}^{commit}`);
    await askGit(dir, 'merge-base', '--is-ancestor', commit, 'HEAD');
    // A shallow clone hides parents from everything but the commit itself.
    const [head = ''] = (await askGit(dir, 'cat-file', 'commit', commit)).split('\n\n', 1);
    const parents = [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].flatMap(([, one]) => one ?? []);
    if (!(await isAbout(dir, commit, parents[0]))) return null;
    const note = `--grep=This reverts commit ${commit}`;
    const later = await askGit(dir, 'log', '--format=%H', '-1', '-F', note, `${commit}..HEAD`);
    if (later !== '') return null;
    const mainline = parents.length > 1 ? '-m 1 ' : '';
    const command = `git revert ${mainline}${commit}`;
    return { commit, command, ...(pull ? { pull_request: pull } : {}) };
  } catch {
    return null;
  }
}

/** A commit changed something below a folder; a shallow clone that lacks the parent cannot tell otherwise. */
async function isAbout(dir: string, commit: string, parent: string | undefined): Promise<boolean> {
  const sides = parent === undefined ? ['--root', commit] : [parent, commit];
  try {
    const own = ['--no-commit-id', '--name-only', '-r', ...sides, '--', '.'];
    return (await askGit(dir, 'diff-tree', ...own)) !== '';
  } catch {
    return true;
  }
}

export async function askGit(...given: Parameters<typeof runGit>): Promise<string> {
  return (await runGit(...given)).trim();
}

/** Asks Git. Throws where it refuses, or does not answer in time. */
export async function runGit(dir: string, ...args: readonly string[]): Promise<string> {
  const readsFiles = args[0] === 'status' || args[0] === 'diff';
  const quiet = readsFiles ? await withoutFilters(dir) : [];
  return startGit(dir, [...quiet, ...args]);
}

async function startGit(dir: string, args: readonly string[]): Promise<string> {
  const options = { env: gitEnv(), timeout: GIT_TIMEOUT_MS, maxBuffer: MOST_GIT_BYTES };
  return (await promisify(execFile)('git', [...gitArguments(dir), ...args], options)).stdout;
}

/** Arguments that switch off the filters which the repository's own configuration has, but for those of Git LFS. */
async function withoutFilters(dir: string): Promise<readonly string[]> {
  const asked = [
    '--null',
    '--show-scope',
    '--get-regexp',
    '^filter\\..*\\.(clean|smudge|process)$',
  ];
  // There is none where Git finds nothing, and an error comes again from what was asked for.
  const parts = (await startGit(dir, ['config', ...asked]).catch(() => '')).split('\0');
  const off = parts.flatMap((part, at) => {
    const [key = '', value = ''] = part.split('\n');
    const isOwn = ['local', 'worktree'].includes(parts[at - 1] ?? '');
    if (at % 2 === 0 || !isOwn || LFS.test(value)) return [];
    return [`${key}=`, `${key.slice(0, key.lastIndexOf('.'))}.required=false`];
  });
  return off.flatMap((setting) => ['-c', setting]);
}

/** The commands that Git LFS writes into a configuration. */
const LFS = /^git-lfs (?:filter-process|(?:clean|smudge)(?: --skip)? -- %f|filter-process --skip)$/;

const GIT_TIMEOUT_MS = 60_000;
const MOST_GIT_BYTES = 64 * 1024 * 1024;

/** Git in a folder, without the hooks and the monitor that the repository may configure, nor one that lies inside of another. */
export function gitArguments(dir: string): readonly string[] {
  const settings = [
    'core.fsmonitor=false',
    `core.hooksPath=${devNull}`,
    'safe.bareRepository=explicit',
  ];
  return ['-C', dir, ...settings.flatMap((setting) => ['-c', setting])];
}

function findPipeline(env: RunContext['env']): string | null {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = env;
  if (server && repository && run) return `${server}/${repository}/actions/runs/${run}`;
  return env.CI_JOB_URL ?? null;
}

/** Sorts by time and is unique: `20261121t094500z-1f3a9c`. */
export function runId(now: Date): string {
  const time = now
    .toISOString()
    .replace(/[-:]|\.\d+/g, '')
    .toLowerCase();
  return `${time}-${randomBytes(3).toString('hex')}`;
}
