// Runs Callsheet in every stack of a tree for a job on GitHub: its output goes to the log as it comes, and ends up as one
// page.
//   node run.mjs   with COMMAND (validate, plan or apply), NAME, FOLDER, ENVIRONMENT, EXPECT and FLAGS in the environment
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasPage, pageOf, resultOf } from '../github/actions/callsheet/page.mjs';
import {
  annotate,
  runCallsheet,
  setOutput,
  summarise,
  withoutCommands,
} from '../github/actions/callsheet/runner.mjs';
import { readTree } from './plans.mjs';

const { COMMAND, NAME, FOLDER, ENVIRONMENT = '', EXPECT, FLAGS = '' } = process.env;
const { RUNNER_TEMP, GITHUB_WORKSPACE, CALLSHEET_STATE = '' } = process.env;
const folder = join(RUNNER_TEMP, 'callsheet');
const plans = join(folder, 'plans');
const ARGUMENTS = {
  validate: ['validate', '--format', 'github'],
  plan: ['plan', '--format', 'markdown', '--detailed-exitcode', '--out', plans],
  apply: ['apply', plans, '--no-color', ...(EXPECT ? ['--expect', EXPECT] : [])],
};
const THEN = 'When this is merged, the others are applied.';
const AGAIN = 'Put right what is wrong, and run the workflow callsheet by hand.';
/** How a tree ended some of whose stacks did not do what was asked. */
const TOLD = {
  plan: {
    3: { title: 'Some stacks cannot be planned (exit 3)', advice: `Below it says why. ${THEN}` },
    4: { title: 'A guard refuses some stacks (exit 4)', advice: `Below it says why. ${THEN}` },
  },
  apply: Object.fromEntries(
    [1, 3, 4, 5, 6].map((code) => [
      code,
      {
        title: `Not all stacks are applied (exit ${code})`,
        advice: `The list below ends with what came of each. ${AGAIN}`,
      },
    ]),
  ),
};

if (!Object.hasOwn(ARGUMENTS, COMMAND ?? '')) throw new Error(`there is no command ${COMMAND}`);
mkdirSync(folder, { recursive: true });
const words = FLAGS.split('\n').map((line) => line.trim());
const env = { ...process.env, CALLSHEET_STATE: CALLSHEET_STATE || cachedState() };
const run = () =>
  runCallsheet(
    [
      ...ARGUMENTS[COMMAND],
      ...['--recursive', '--dir', FOLDER],
      ...(ENVIRONMENT === '' ? [] : ['--env', ENVIRONMENT]),
      ...words.filter((word) => word !== ''),
    ],
    env,
  );
const { exit, out, err } = await (COMMAND === 'validate' ? run() : withoutCommands(run));
setOutput('exit-code', exit);
if (COMMAND === 'validate') process.exit(exit);

const { digest, ways, waits } = readTree(plans);
const result = {
  command: COMMAND,
  name: NAME,
  environment: ENVIRONMENT,
  exit,
  out,
  err,
  digest: COMMAND === 'plan' && hasPage({ command: COMMAND, out }) ? digest : '',
  waits: COMMAND === 'apply' && exit === 0 ? waits : '',
  ways: COMMAND === 'plan' ? ways : [],
  told: TOLD[COMMAND][exit],
};
const report = join(folder, `${COMMAND}.md`);
const page = pageOf(result, process.env);
writeFileSync(report, page);
setOutput('report', report);
setOutput('digest', result.digest);
summarise(page);
// Plans that were made are carried out, whatever was wrong with other stacks: another job is red for these.
const isFine = exit === 0 || result.digest !== '';
const { title, advice } = resultOf(result);
if (exit !== 0 && exit !== 2) annotate(isFine ? 'warning' : 'error', title, advice);
process.exit(isFine ? 0 : exit);

/** Where the cache of the repository is; empty where the stacks name a place themselves. */
function cachedState() {
  const stacks = globSync('**/callsheet.yaml', {
    cwd: FOLDER,
    exclude: (name) => name === 'node_modules' || (name.startsWith('.') && name !== '.'),
  });
  const own = stacks.filter((file) => /^\s*state:/m.test(readFileSync(join(FOLDER, file), 'utf8')));
  if (own.length > 0 && own.length === stacks.length) return '';
  if (own.length > 0) {
    throw new Error(
      `${own[0]} names the place of its state, and other stacks do not: set the variable CALLSHEET_STATE, with {stack} in it`,
    );
  }
  return join(GITHUB_WORKSPACE, '.callsheet/{environment}/{stack}/state.json');
}
