import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import './build.ts';

const root = dirname(dirname(import.meta.dirname));
const run = promisify(execFile);

let home: string;
/** Where the tarball is installed. */
let place: string;

/** Runs the installed command in a folder. */
function callsheet(args: readonly string[], cwd = place) {
  const bin = join(place, 'node_modules', '.bin', 'callsheet');
  return run(bin, [...args], { cwd, env: { PATH: process.env.PATH } });
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'callsheet-package-'));
  place = join(home, 'place');
  await cp(join(root, 'examples', 'quickstart'), place, { recursive: true });
  await writeFile(join(place, 'package.json'), '{ "private": true }');
  // The bin that the other tests ran, not one that is built meanwhile.
  const packed = join(home, 'packed');
  for (const name of ['package.json', 'schemas', 'README.md', 'LICENSE', 'CHANGELOG.md'])
    await cp(join(root, name), join(packed, name), { recursive: true });
  await cp(dirname(inject('bin')), join(packed, 'dist'), { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home };
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', home], { cwd: packed, env });
  const [tarball = ''] = (await readdir(home)).filter((name) => name.endsWith('.tgz'));
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(home, tarball)];
  await run('npm', install, { cwd: place, env });
});

afterAll(() => rm(home, { recursive: true, force: true }));

test('the package installs into an empty folder with nothing to download, and its command works', async () => {
  const { stdout } = await callsheet(['--version']);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  const installed = await readdir(join(place, 'node_modules'));
  expect(installed.filter((name) => !name.startsWith('.'))).toEqual(['callsheet']);
});

test('the installed command validates the example', async () => {
  const { stdout } = await callsheet([
    'validate',
    '--no-secrets',
    '--var',
    'base_url=http://127.0.0.1:1',
  ]);
  expect(stdout).toContain('The configuration is valid: 23 resources.');
});

test('the package holds the bundle, the schemas and the licences, and no sources', async () => {
  const files = await readdir(join(place, 'node_modules', 'callsheet'));
  expect(files.sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'package.json',
    'schemas',
  ]);
  const dist = await readdir(join(place, 'node_modules', 'callsheet', 'dist'));
  expect(dist).toContain('THIRD-PARTY-LICENSES.md');
});
