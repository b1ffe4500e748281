// Packs Callsheet, installs the package into an empty folder beside each supported Node, and runs it there:
// `npm run check:nodes`. It needs the registry, so it is no part of `npm test`.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const VERSIONS = ['22', '24', '26'];

const run = promisify(execFile);
const root = dirname(import.meta.dirname);
const folder = await mkdtemp(join(tmpdir(), 'callsheet-nodes-'));

try {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: root,
  });
  const packed: unknown = JSON.parse(stdout.slice(stdout.search(/[[{]/)));
  const tarball = join(folder, filenameIn(packed));
  for (const version of VERSIONS) await check(version, tarball);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function check(version: string, tarball: string): Promise<void> {
  const place = join(folder, `node-${version}`);
  await mkdir(place);
  const manifest = { name: 'empty', private: true, allowScripts: { node: true } };
  await writeFile(join(place, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--no-audit', '--no-fund', `node@${version}`, tarball], {
    cwd: place,
  });
  const bin = join(place, 'node_modules', '.bin');
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const node = await run(join(bin, 'node'), ['--version'], { cwd: place, env });
  const own = await run(join(bin, 'callsheet'), ['--version'], { cwd: place, env });
  const help = await run(join(bin, 'callsheet'), ['plan', '--help'], { cwd: place, env });
  if (!help.stdout.includes('--detailed-exitcode')) throw new Error('plan --help is not complete');
  console.log(`Node ${node.stdout.trim()}: callsheet ${own.stdout.trim()}`);
}

/** npm prints a list, newer ones an object by package name. */
function filenameIn(packed: unknown): string {
  const [first] = Object.values(packed ?? {});
  if (typeof first?.filename === 'string') return first.filename;
  throw new Error('npm pack did not say what it wrote');
}
