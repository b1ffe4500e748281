import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What GitHub keeps for a repository between jobs. */
export type Keep = {
  /** The repository that jobs check out. */
  readonly origin: string;
  /** Where artifacts and caches are. */
  readonly folder: string;
  /** Keys of caches, the oldest first, with the branch that they were saved on. */
  readonly caches: { readonly key: string; readonly ref: string }[];
};

/** What a step of somebody else's action is started with. */
export type Use = {
  readonly inputs: Readonly<Record<string, string>>;
  readonly keep: Keep;
  readonly workspace: string;
  readonly run: string;
  readonly sha: string;
  readonly ref: string;
};

/** Small stand-ins for actions of others: they do to files what the real ones do. */
export const STAND_INS: { readonly [action: string]: (use: Use) => void } = {
  'actions/checkout': checkOut,
  'actions/setup-node': () => undefined,
  'actions/upload-artifact': uploadArtifact,
  'actions/download-artifact': downloadArtifact,
  'actions/cache/restore': restoreCache,
  'actions/cache/save': saveCache,
};

function checkOut({ inputs, keep, workspace, sha }: Use): void {
  if (inputs['persist-credentials'] !== 'false') throw new Error('checkout would keep the token');
  const folder = join(workspace, inputs.path ?? '');
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, ...args], { stdio: 'pipe' });
  const { ref = sha, 'sparse-checkout': sparse, 'fetch-depth': depth = '1' } = inputs;
  // The whole repository need not be copied: its objects are read where they are.
  const isWhole = depth === '0';
  const start = ['--quiet', '--template='];
  if (isWhole)
    execFileSync('git', ['clone', ...start, '--no-checkout', '--shared', keep.origin, folder]);
  else execFileSync('git', ['init', ...start, folder], { stdio: 'pipe' });
  const remote = `[remote "origin"]\n\turl = file://${keep.origin}\n`;
  if (!isWhole) appendFileSync(join(folder, '.git', 'config'), remote);
  if (sparse !== undefined) git('sparse-checkout', 'set', sparse);
  if (!isWhole) git('fetch', '--quiet', '--depth', depth, 'origin', ref);
  const commit = isWhole
    ? execFileSync('git', ['-C', keep.origin, 'rev-parse', ref], { encoding: 'utf8' }).trim()
    : 'FETCH_HEAD';
  git('checkout', '--quiet', '--detach', commit);
}

function uploadArtifact({ inputs, keep, run }: Use): void {
  const { name = '', path = '', overwrite } = inputs;
  const target = artifactOf(keep, run, name);
  if (existsSync(target) && overwrite !== 'true') throw new Error(`${name} is there already`);
  if (!existsSync(path)) throw new Error(`there is nothing at ${path}`);
  if (!(Number(inputs['retention-days']) <= 30)) throw new Error(`${name} would be kept for long`);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(dirname(target), { recursive: true });
  // A file lies at the top of its artifact, and so does what is in a folder.
  cpSync(path, statSync(path).isDirectory() ? target : join(target, basename(path)), {
    recursive: true,
  });
}

function downloadArtifact({ inputs, keep, run }: Use): void {
  const { name = '', path = '' } = inputs;
  // Without a token it looks in its own run, whatever run is named.
  const from = inputs['github-token'] ? inputs['run-id'] || run : run;
  const source = artifactOf(keep, from, name);
  if (!existsSync(source)) throw new Error(`run ${from} has no artifact ${name}`);
  cpSync(source, path, { recursive: true });
}

function artifactOf({ folder }: Keep, run: string, name: string): string {
  return join(folder, 'artifacts', run, name);
}

function restoreCache({ inputs, keep, workspace, ref }: Use): void {
  const { key = '', path = '' } = inputs;
  const prefixes = (inputs['restore-keys'] ?? '').split('\n').flatMap((one) => one.trim() || []);
  // A job sees what its own branch and the default branch have saved.
  const seen = keep.caches.filter((one) => one.ref === ref || one.ref === 'refs/heads/main');
  const found =
    seen.find((one) => one.key === key) ??
    seen.findLast((one) => prefixes.some((prefix) => one.key.startsWith(prefix)));
  if (found === undefined) return;
  cpSync(cacheOf(keep, found.key), join(workspace, path), { recursive: true });
}

function saveCache({ inputs, keep, workspace, ref }: Use): void {
  const { key = '', path = '' } = inputs;
  if (!existsSync(join(workspace, path))) return;
  if (keep.caches.some((one) => one.key === key)) throw new Error(`${key} is cached already`);
  cpSync(join(workspace, path), cacheOf(keep, key), { recursive: true });
  keep.caches.push({ key, ref });
}

function cacheOf({ folder }: Keep, key: string): string {
  return join(folder, 'caches', encodeURIComponent(key));
}
