import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The built bin, absolute. */
    readonly bin: string;
    /** Where Node keeps what it compiled of the bin, which is a third of a short command's time. */
    readonly compiled: string;
    /** A folder of this run's own, for everything temporary: see `test/temporary.ts`. */
    readonly temporary: string;
  }
}

const root = dirname(dirname(import.meta.dirname));
const dist = join(root, 'dist');

/** What the bundle is made of. */
const SOURCES = ['src', 'schemas', 'scripts/build.ts', 'scripts/build', 'package.json'];

/**
 * Builds the bin where a source is newer than it, and gives the tests a copy, so that a build that
 * somebody starts meanwhile does not pull it away from under them. It lies in the folder of the run, in which everything
 * temporary stays.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [built, ...changed] = await Promise.all(
    [join(dist, 'main.js'), ...SOURCES.map((path) => join(root, path))].map(newest),
  );
  if (changed.some((time) => time >= (built ?? 0))) {
    await promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: root });
  }
  const folder = await mkdtemp(join(await placeForFolders(project), 'callsheet-'));
  // Tests of the superuser let others in.
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'home'));
  await cp(dist, join(folder, 'dist'), { recursive: true });
  // Node takes the bundle for a module because of the package that it lies in.
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  // `callsheet help TOPIC` shows the pages that come with the package.
  await cp(join(root, 'docs'), join(folder, 'docs'), { recursive: true });
  project.provide('bin', join(folder, 'dist', 'main.js'));
  project.provide('compiled', join(folder, 'compiled'));
  project.provide('temporary', folder);
  return () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** What all temporary files of a run take at most, with room to spare. */
const ROOM_BYTES = 4 * 1024 ** 3;

/**
 * A disk in memory where the machine has one with room, from which programs may be started. A state is written
 * through to the disk line by line, and the suite would wait for that a third of its time; `npm run torture` does.
 */
async function placeForFolders({ config }: TestProject): Promise<string> {
  const memory = '/dev/shm';
  const isTorture = config.env?.CALLSHEET_TORTURE === '1';
  const room = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '');
  const options = / \/dev\/shm tmpfs (\S+)/.exec(mounts)?.[1]?.split(',') ?? ['noexec'];
  const isFit = !options.includes('noexec') && room > ROOM_BYTES;
  return isFit && !isTorture && process.env.TMPDIR === undefined ? memory : tmpdir();
}

/** When the newest file at or below a path was written; 0 where there is none. */
async function newest(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.mtimeMs;
  const times = await Promise.all((await readdir(path)).map((name) => newest(join(path, name))));
  return Math.max(0, ...times);
}
