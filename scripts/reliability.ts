// Writes docs/reliability.md: runs the long tests and the mutation tests, which write their figures down, and
// makes the page of them. `--render` only makes the page, from what the last runs wrote. Fails where a test
// does, after the page is written.
import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Figures, foldersIn, type MutationReport } from './reliability/figures.ts';
import { renderReliability } from './reliability/render.ts';

const ROOT = join(import.meta.dirname, '..');
const REPORTS = join(ROOT, 'reports');
const FIGURES = join(REPORTS, 'torture.json');
const MUTATION = ['pure', 'preflight'].map((name) => join(REPORTS, 'mutation', `${name}.json`));
const PAGE = join(ROOT, 'docs', 'reliability.md');

const exits: (number | null)[] = [];
if (!process.argv.includes('--render')) {
  await mkdir(REPORTS, { recursive: true });
  for (const file of [FIGURES, ...MUTATION]) await rm(file, { force: true });
  exits.push(await run('npm', ['run', 'torture']), await run('npm', ['run', 'mutation']));
}

const figures: Figures = await readJson(FIGURES, {});
const reports = await Promise.all(
  MUTATION.map((file) => readJson<MutationReport>(file, { files: {} })),
);
const mutation = foldersIn(Object.assign({}, ...reports.map(({ files }) => files)));
const all = mutation.length === 0 ? figures : { ...figures, mutation };
await writeFile(PAGE, renderReliability(all));
console.log('docs/reliability.md is written.');
if (exits.some((exit) => exit !== 0)) process.exitCode = 1;

async function readJson<T>(file: string, otherwise: T): Promise<T> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? otherwise : JSON.parse(text);
}

function run(command: string, args: readonly string[]): Promise<number | null> {
  return new Promise((resolve, reject) => {
    spawn(command, args, {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, CALLSHEET_TORTURE_OUT: FIGURES },
    })
      .on('error', reject)
      .on('close', resolve);
  });
}
