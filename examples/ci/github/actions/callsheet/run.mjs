// Runs Callsheet for a job: its output goes to the log as it comes, and ends up as a page.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasPage, kindOf, pageOf, resultOf } from './page.mjs';
import { describeFreeze, findFreezeAlone, findPending, findWaiting, findWays } from './pending.mjs';
import { annotate, runCallsheet, setOutput, summarise, withoutCommands } from './runner.mjs';

const { COMMAND, NAME, ENVIRONMENT = '', PLAN_FILE, EXPECT, FLAGS = '', RUNNER_TEMP } = process.env;
const { ROLLOUT = '', RUN = '', REASON = '', CALLSHEET_STATE = '' } = process.env;

/** What rollouts have alike. A run of another job may have the state for a while. */
const ROLLING = ['--format', 'markdown', '--lock-timeout', '10m'];
const named = ROLLOUT === '' ? [] : [ROLLOUT];
const undone = [
  ...(RUN === '' || RUN === 'last' ? [] : [RUN]),
  ...(REASON === '' ? [] : ['--override-freeze', REASON]),
];
const PLAN = ['plan', '--format', 'markdown', '--detailed-exitcode', '--out', PLAN_FILE];
const ARGUMENTS = {
  validate: ['validate', '--format', 'github'],
  freeze: ['validate', '--format', 'json'],
  plan: PLAN,
  pending: PLAN,
  apply: ['apply', PLAN_FILE, '--no-color', ...(EXPECT ? ['--expect', EXPECT] : [])],
  drift: ['drift', '--format', 'markdown', '--detailed-exitcode'],
  'rollback-plan': ['rollback', ...undone, '--dry-run', '--format', 'json'],
  rollback: ['rollback', ...undone, '--auto-approve', '--no-color'],
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
  freeze: [0, 1],
  plan: [0, 2],
  pending: [0, 2, 4],
  'rollback-plan': [0],
  rollback: [0],
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
const place = ENVIRONMENT === '' ? [] : ['--env', ENVIRONMENT];
const { exit, out, err } = await (COMMAND === 'validate'
  ? runCommand()
  : withoutCommands(runCommand));
setOutput('exit-code', exit);
if (COMMAND === 'validate') process.exit(exit);
if (COMMAND === 'freeze') {
  setOutput('frozen', describeFreeze(exit === 0 ? JSON.parse(out).freeze : undefined));
  setOutput('resumes', hasResume());
  process.exit(0);
}

const plan = existsSync(PLAN_FILE) ? JSON.parse(readFileSync(PLAN_FILE, 'utf8')) : undefined;
const frozen = findFrozen();
const isPlanned = COMMAND === 'plan' && ([0, 2].includes(exit) || frozen !== '');
const result = {
  command: COMMAND,
  name: NAME,
  environment: ENVIRONMENT,
  exit,
  out,
  err,
  digest: isPlanned ? plan.digest : '',
  frozen,
  waits: COMMAND === 'apply' && exit === 0 ? findWaiting(plan) : '',
  ways: COMMAND === 'plan' && plan ? findWays(plan) : [],
  passesFreeze: plan?.options?.override_freeze !== undefined,
  resumes: hasResume(),
  isWhole: COMMAND === 'apply' && process.env.GITHUB_EVENT_NAME === 'workflow_dispatch',
};
const isFine = FINE[COMMAND].includes(exit) || frozen !== '';
// Where no rollout is under way, what the last one came to is not overwritten.
if (COMMAND === 'rollout-run' && exit === 0 && !hasPage(result)) process.exit(0);
const report = join(folder, `${kindOf(COMMAND)}.md`);
const page = pageOf(result, process.env);
writeFileSync(report, page);
setOutput('report', report);
setOutput('digest', result.digest);
setOutput('frozen', frozen);
setOutput('resumes', result.resumes);
setOutput('run', /^ {2}callsheet runs (\S+)/m.exec(err)?.[1] ?? '');
summarise(page);
if (COMMAND === 'pending' && isFine) {
  writeFileSync(join(folder, 'pending.json'), JSON.stringify(findPending(plan, '.')));
}
const { title, advice } = resultOf(result);
if (!isFine) annotate('error', title, advice);
else if (frozen !== '' || (COMMAND === 'drift' && exit === 2)) annotate('warning', title, advice);
process.exit(isFine ? 0 : exit);

async function runCommand() {
  const more = words.filter((word) => word !== '');
  const ended = await runCallsheet([...ARGUMENTS[COMMAND], ...place, ...more]);
  return COMMAND === 'rollback-plan' ? showRollback(ended) : ended;
}

/** Whether the repository has the workflow that applies what a freeze held back of this stack. */
function hasResume() {
  const folder = join(process.env.GITHUB_WORKSPACE ?? '.', '.github/workflows');
  if (!existsSync(folder)) return false;
  return readdirSync(folder)
    .filter((name) => name.startsWith('callsheet-resume'))
    .some((name) => readFileSync(join(folder, name), 'utf8').includes(`\n  NAME: ${NAME}\n`));
}

/** The plan of a rollback for people; which run it undoes, and the commit to revert, for the jobs after this one. */
async function showRollback(planned) {
  const told = readJson(planned.out);
  if (told?.format === 'callsheet-run')
    return { ...planned, out: `Run ${told.undoes} changed nothing.` };
  // Standard error has it in words.
  if (told?.format !== 'callsheet-plan') return { ...planned, out: '' };
  const { undoes } = told;
  setOutput('undoes', undoes);
  const receipt = readJson(
    (await runCallsheet(['runs', undoes, '--format', 'json', ...place])).out,
  );
  const began = receipt?.entries?.find(({ type }) => type === 'began');
  // Null: none fits, such as of what is reverted already.
  const commit = told.revert === undefined ? began?.actor.commit : told.revert?.commit;
  setOutput('commit', commit ?? '');
  writeFileSync(PLAN_FILE, planned.out);
  const { out } = await runCallsheet(['show', PLAN_FILE, '--format', 'markdown']);
  return { ...planned, out };
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Until when a freeze lasts that nothing but stands against the plan; empty where it is not so. */
function findFrozen() {
  // With --base a freeze that main has, too, does not decide the exit code.
  if (COMMAND === 'plan' && [2, 4].includes(exit))
    return describeFreeze(findFreezeAlone(plan ?? {}));
  // It began after the plan was made, and after it was last asked whether there is one.
  const [, until = ''] =
    /guards\.freeze is in force ((?:until|with no end)[^:]*(?::\d\d[^:]*)?):/.exec(err) ?? [];
  return COMMAND === 'apply' && exit === 4 ? until : '';
}

function namesState(file) {
  return existsSync(file) && /^\s*state:/m.test(readFileSync(file, 'utf8'));
}
