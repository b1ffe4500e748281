// Writes docs/reliability.md: runs the long tests and the mutation tests, which write their figures down, and
// makes the page of them. `--render` only makes the page, from what the last runs wrote. Whatever fails, the
// page is written of what there is; then the command fails, too, and says what is wrong.
import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { collectFigures, type Ended, problemsOf } from './reliability/collect.ts';
import { renderReliability } from './reliability/render.ts';

const ROOT = join(import.meta.dirname, '..');
const REPORTS = join(ROOT, 'reports');
const FIGURES = join(REPORTS, 'torture.json');
const MUTATIONS = ['pure', 'way-back'].map((name) => join(REPORTS, 'mutation', `${name}.json`));
const PAGE = join(ROOT, 'docs', 'reliability.md');

const ended: Ended[] = [];
if (!process.argv.includes('--render')) {
  await mkdir(REPORTS, { recursive: true });
  for (const file of [FIGURES, ...MUTATIONS]) await rm(file, { force: true });
  ended.push(
    await run('npm run torture'),
    await run('npm run mutation -- --force'),
    await run('npm run mutation:way-back -- --force'),
  );
}

const figures = await collectFigures(FIGURES, MUTATIONS);
await writeFile(PAGE, renderReliability(figures));
console.log('docs/reliability.md is written.');
const problems = problemsOf(ended, figures);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

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
