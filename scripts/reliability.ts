// Writes docs/contributing/reliability.md: runs the long tests and the mutation tests, which write their figures down, and
// makes the page of them. They take an hour and more, so `-- torture` or `-- mutation` runs one of the two, and
// what the other came to stays, with the commit that it was measured at; `-- render` only makes the page. Whatever
// fails, the page is written of what there is; then the command fails, too, and says what is wrong.
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  collectFigures,
  type Ended,
  problemsOf,
  readKept,
  withFigures,
} from './reliability/collect.ts';
import { renderReliability } from './reliability/render.ts';

const ROOT = join(import.meta.dirname, '..');
const REPORTS = join(ROOT, 'reports');
const FIGURES = join(REPORTS, 'torture.json');
const MUTATIONS = ['pure', 'way-back'].map((name) => join(REPORTS, 'mutation', `${name}.json`));
const KEPT = join(ROOT, 'docs', 'contributing', 'reliability.json');
const PAGE = join(ROOT, 'docs', 'contributing', 'reliability.md');

const RUNS: Readonly<Record<string, readonly string[]>> = {
  torture: ['npm run torture'],
  mutation: ['npm run mutation -- --force', 'npm run mutation:way-back -- --force'],
  render: [],
};

const asked = process.argv[2];
const commands = asked === undefined ? Object.values(RUNS).flat() : RUNS[asked];
if (commands === undefined) {
  console.error(`${asked} is none of: ${Object.keys(RUNS).join(', ')}`);
  process.exit(1);
}

await mkdir(REPORTS, { recursive: true });
for (const file of [FIGURES, ...MUTATIONS]) await rm(file, { force: true });
const ended: Ended[] = [];
for (const command of commands) ended.push(await run(command));

const measured = { on: new Date().toISOString().slice(0, 10), at: commitOf() };
const figures = withFigures(
  await readKept(KEPT),
  await collectFigures(FIGURES, MUTATIONS),
  measured,
);
await writeFile(KEPT, `${JSON.stringify(figures, null, 2)}\n`);
await writeFile(PAGE, renderReliability(figures));
console.log('docs/contributing/reliability.md is written.');
const problems = problemsOf(ended, figures);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function commitOf(): string {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--', 'src', 'schemas', 'test') !== '';
  return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' and changes' : ''}`;
}

function run(command: string): Promise<Ended> {
  const [name = '', ...args] = command.split(' ');
  return new Promise((resolve) => {
    spawn(name, args, {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, CALLSHEET_TORTURE_OUT: FIGURES },
    })
      .on('error', () => resolve({ command, exit: null }))
      .on('close', (exit) => resolve({ command, exit }));
  });
}
