// Plans every stack of a tree for a pipeline: as text into its log, and as Markdown into a page.
//   node plan.mjs FOLDER FLAGS…   with CALLSHEET_FOLDER, and the variables of the guards that may be passed
// The folder gets the plans (plans/), their page (plan.md), what is wrong (plan.txt), what lets them pass their guards
// (ways.md), and their digest and exit code (plan.env). It ends well where there are plans to go on with: whether all
// stacks are well is for a job of its own, by the exit code.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeWays } from '../github/actions/callsheet/pending.mjs';
import { readTree } from './plans.mjs';

const [folder, ...flags] = process.argv.slice(2);
const { CALLSHEET_FOLDER: root = '.' } = process.env;
const plans = join(folder, 'plans');
const [page, said] = ['plan.md', 'plan.txt'].map((name) => join(folder, name));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const exit = plan();
process.stderr.write(readFileSync(said));
const { digest, stacks, ways } = readTree(plans);
for (const { path, status, reason, plan_file: file } of stacks) {
  process.stdout.write(`\n── ${[path, status, reason ?? ''].join('  ').trim()}\n`);
  if (file !== null && status !== 'unchanged')
    spawnSync('callsheet', ['show', join(plans, file)], { stdio: 'inherit' });
}
process.stdout.write(`\n${digest}\n`);
writeFileSync(join(folder, 'ways.md'), describeWays(ways));
writeFileSync(join(folder, 'plan.env'), `CALLSHEET_DIGEST=${digest}\nCALLSHEET_EXIT=${exit}\n`);
process.exitCode = digest === '' ? exit : 0;

function plan() {
  const allowed = new URL('../gitlab/.gitlab/callsheet/callsheet-allowed.mjs', import.meta.url);
  const [out, err] = [page, said].map((file) => openSync(file, 'w'));
  const { status } = spawnSync(
    process.execPath,
    [
      fileURLToPath(allowed),
      ...['plan', '--recursive', '--dir', root, '--format', 'markdown', '--detailed-exitcode'],
      ...['--out', plans, ...flags],
    ],
    { stdio: ['ignore', out, err] },
  );
  for (const file of [out, err]) closeSync(file);
  return status ?? 130;
}
