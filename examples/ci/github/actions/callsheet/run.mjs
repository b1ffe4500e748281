// Runs Callsheet for a job: its output goes to the log as it comes, and ends up as a page.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasPage, kindOf, pageOf, resultOf } from './page.mjs';
import { annotate, setOutput, summarise } from './runner.mjs';

const { COMMAND, NAME, ENVIRONMENT = '', PLAN_FILE, EXPECT, FLAGS = '', RUNNER_TEMP } = process.env;
const { ROLLOUT = '', CALLSHEET_STATE = '' } = process.env;

/** What rollouts have alike. A run of another job may have the state for a while. */
const ROLLING = ['--format', 'markdown', '--lock-timeout', '10m'];
const named = ROLLOUT === '' ? [] : [ROLLOUT];
const ARGUMENTS = {
  validate: ['validate', '--format', 'github'],
  plan: ['plan', '--format', 'markdown', '--detailed-exitcode', '--out', PLAN_FILE],
  apply: ['apply', PLAN_FILE, '--no-color', ...(EXPECT ? ['--expect', EXPECT] : [])],
  drift: ['drift', '--format', 'markdown', '--detailed-exitcode'],
  'rollout-start': [
    'rollout',
    'start',
    PLAN_FILE,
    ...ROLLING,
    ...(EXPECT ? ['--expect', EXPECT] : []),
    ...named.flatMap((name) => ['--rollout', name]),
  ],
  'rollout-run': ['rollout', 'run', ...named, ...ROLLING],
  'rollout-promote': ['rollout', 'promote', ...named, ...ROLLING, '--auto-approve'],
  'rollout-abort': ['rollout', 'abort', ...named, ...ROLLING, '--auto-approve'],
};

/** What does not fail the job: plans and drift with changes are what somebody is to look at, and a rollout may wait. */
const FINE = {
  validate: [0],
  plan: [0, 2],
  apply: [0],
  drift: [0, 2],
  'rollout-start': [0, 2],
  'rollout-run': [0, 2],
  'rollout-promote': [0, 2],
  'rollout-abort': [0],
};

if (!Object.hasOwn(ARGUMENTS, COMMAND ?? '')) {
  throw new Error(`command is "${COMMAND}"; it is one of ${Object.keys(ARGUMENTS).join(', ')}`);
}
// What a rollout has come to is in the state. With one that ends with the job, the next would know of none.
if (COMMAND.startsWith('rollout-') && CALLSHEET_STATE === '' && !namesState('callsheet.yaml')) {
  throw new Error('a rollout takes days, so its state needs a store: callsheet help stores');
}
const folder = join(RUNNER_TEMP, 'callsheet');
mkdirSync(folder, { recursive: true });
mkdirSync(dirname(PLAN_FILE), { recursive: true });

const words = FLAGS.split('\n').map((line) => line.trim());
// What is live on the platform was written by others: in a log it is text, and no command to the runner.
const silence = randomUUID();
const isSilenced = COMMAND !== 'validate';
if (isSilenced) process.stdout.write(`::stop-commands::${silence}\n`);
const { exit, out, err } = await run([
  ...ARGUMENTS[COMMAND],
  ...(ENVIRONMENT === '' ? [] : ['--env', ENVIRONMENT]),
  ...words.filter((word) => word !== ''),
]);
if (isSilenced) process.stdout.write(`\n::${silence}::\n`);
setOutput('exit-code', exit);
if (COMMAND === 'validate') process.exit(exit);

const digest = COMMAND === 'plan' && [0, 2].includes(exit) ? digestOf(PLAN_FILE) : '';
const result = { command: COMMAND, name: NAME, environment: ENVIRONMENT, exit, out, err, digest };
const isFine = FINE[COMMAND].includes(exit);
// Where no rollout is under way, what the last one came to is not overwritten.
if (COMMAND === 'rollout-run' && exit === 0 && !hasPage(result)) process.exit(0);
const report = join(folder, `${kindOf(COMMAND)}.md`);
const page = pageOf(result, process.env);
writeFileSync(report, page);
setOutput('report', report);
setOutput('digest', digest);
summarise(page);
const { title, advice } = resultOf(result);
if (!isFine) annotate('error', title, advice);
else if (COMMAND === 'drift' && exit === 2) annotate('warning', title, advice);
process.exit(isFine ? 0 : exit);

/** Passes on what the runner says to this process, so that Callsheet can end a run cleanly. */
function run(args) {
  const child = spawn('callsheet', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.out += text;
    process.stdout.write(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.err += text;
    process.stderr.write(text);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...said, exit: code ?? 130 }));
  });
}

function namesState(file) {
  return existsSync(file) && /^\s*state:/m.test(readFileSync(file, 'utf8'));
}

function digestOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).digest;
}
