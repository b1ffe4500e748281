/**
 * A small runner for workflows of GitHub Actions: GitHub's own parser and evaluator read them, bash runs their `run`
 * steps, composite actions run step by step, and actions of others are replaced by stand-ins (`uses.ts`).
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeFolder, temporaryFolder } from '../temporary.ts';
import { type Contexts, holds, resolve, resolveTexts, type Status, textOf } from './expressions.ts';
import { spawnStep } from './spawn.ts';
import {
  githubOf,
  inputsOf,
  type JobResult,
  readOutputs,
  runnerEnv,
  type Surroundings,
} from './surroundings.ts';
import { STAND_INS } from './uses.ts';
import { type Job, readAction, readWorkflow, type Step } from './workflow.ts';

type Scope = {
  readonly around: Surroundings;
  readonly workspace: string;
  readonly temp: string;
  readonly contexts: Contexts;
  readonly env: Readonly<Record<string, string>>;
  readonly steps: Record<string, { outputs: Record<string, string>; outcome: string }>;
  readonly say: (text: string) => void;
  readonly actionPath: string;
  /** Where this job's summary is gathered. */
  readonly summary: string;
};

/** Runs a workflow to its end. */
export async function runWorkflow(
  file: string,
  around: Surroundings,
): Promise<Readonly<Record<string, JobResult>>> {
  const workflow = await readWorkflow(file);
  const done: Record<string, JobResult> = {};
  for (const job of workflow.jobs) {
    const kept = around.kept?.[job.id];
    if (kept !== undefined) {
      done[job.id] = kept;
      continue;
    }
    const needs = Object.fromEntries(
      job.needs.map((id) => {
        const { result = 'skipped', outputs = {} } = done[id] ?? {};
        return [id, { result, outputs }];
      }),
    );
    const results = Object.values(needs).map(({ result }) => result);
    const isCancelled = around.watch?.fate() === 'cancelled';
    const isGood = results.every((result) => result === 'success');
    const status = isCancelled ? 'cancelled' : isGood ? 'success' : 'failure';
    const contexts = { github: githubOf(around, workflow.name), vars: around.vars, needs };
    const isWanted = holds(job.if, { ...contexts, inputs: inputsOf(around) }, status);
    const nothing = { outputs: {}, log: '', summary: '' };
    const begun = isWanted ? ((await around.watch?.begin(job)) ?? 'go') : undefined;
    if (begun === 'go') {
      const env = resolveTexts(workflow.env, contexts, 'success');
      const result = await runJob(job, env, contexts, around);
      done[job.id] = result;
      around.watch?.end(job, result);
    } else {
      const instead = { cancelled: 'cancelled', rejected: 'failure' } as const;
      done[job.id] = { result: begun === undefined ? 'skipped' : instead[begun], ...nothing };
    }
  }
  return done;
}

async function runJob(
  job: Job,
  env: Readonly<Record<string, string>>,
  base: Contexts,
  around: Surroundings,
): Promise<JobResult> {
  const machine = temporaryFolder();
  const workspace = join(machine, 'work');
  const temp = join(machine, 'temp');
  for (const folder of [workspace, temp]) mkdirSync(folder);
  let log = '';
  const summary = join(machine, 'summary.md');
  writeFileSync(summary, '');
  const scope: Scope = {
    around,
    workspace,
    temp,
    // Secrets of an environment are there for jobs that name it, and for no other.
    contexts: {
      ...base,
      runner: { temp },
      secrets: job.token.find('environment') === undefined ? {} : around.secrets,
      inputs: inputsOf(around),
    },
    env,
    steps: {},
    say: (text) => {
      log += text;
    },
    actionPath: '',
    summary,
  };
  const result = await runSteps(job.steps, scope);
  const outputs = resolveTexts(job.token.find('outputs'), contextsOf(scope), result);
  const ended = { result, outputs, log, summary: readFileSync(summary, 'utf8') };
  // Of a month of jobs there would be thousands.
  removeFolder(machine);
  return ended;
}

async function runSteps(steps: readonly Step[], scope: Scope): Promise<Status> {
  let status: Status = 'success';
  for (const step of steps) {
    const isWanted = holds(step.if, contextsOf(scope), status);
    const ended = isWanted ? await runStep(step, scope, status) : { outcome: 'skipped' };
    if (step.id !== '') {
      scope.steps[step.id] = { outputs: {}, ...ended };
    }
    const fate = scope.around.watch?.fate();
    if (fate === 'lost') return 'failure';
    if (fate === 'cancelled') status = 'cancelled';
    else if (ended.outcome === 'failure') status = 'failure';
  }
  return status;
}

type Ended = {
  readonly outcome: 'success' | 'failure' | 'skipped';
  readonly outputs?: Record<string, string>;
};

async function runStep(step: Step, scope: Scope, status: Status): Promise<Ended> {
  const read = (key: string) => textOf(resolve(step.token.find(key), contextsOf(scope), status));
  const env = {
    ...scope.env,
    ...resolveTexts(step.token.find('env'), contextsOf(scope), status),
  };
  const uses = read('uses');
  if (uses === '') return runScript({ ...scope, env }, read);
  const inputs = resolveTexts(step.token.find('with'), contextsOf(scope), status);
  scope.say(`▶ ${uses}\n`);
  if (uses.startsWith('./')) return runComposite(uses, inputs, { ...scope, env });
  const [name = '', commit = ''] = uses.split('@');
  const standIn = STAND_INS[name];
  if (standIn === undefined) throw new Error(`there is no stand-in for ${uses}`);
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new Error(`${uses} is not pinned to a commit`);
  const { keep, run, event } = scope.around;
  try {
    standIn({ inputs, keep, workspace: scope.workspace, run, sha: event.sha, ref: event.ref });
    return { outcome: 'success' };
  } catch (error) {
    scope.say(`${String(error)}\n`);
    return { outcome: 'failure' };
  }
}

async function runComposite(
  path: string,
  given: Readonly<Record<string, string>>,
  scope: Scope,
): Promise<Ended> {
  const folder = join(scope.workspace, path);
  const action = readAction(join(folder, 'action.yml'));
  const unknown = Object.keys(given).filter((name) => !action.inputs.has(name));
  if (unknown.length > 0) throw new Error(`${path} has no input ${unknown.join(', ')}`);
  const inputs = Object.fromEntries(
    [...action.inputs].map(([name, input]) => {
      if (input.required && given[name] === undefined) throw new Error(`${name} is missing`);
      return [name, given[name] ?? textOf(resolve(input.default, scope.contexts, 'success'))];
    }),
  );
  // Secrets do not reach into an action: it has its inputs and the environment of its step.
  const { secrets: _, vars: __, needs: ___, ...contexts } = scope.contexts;
  const inner = { ...scope, contexts: { ...contexts, inputs }, steps: {}, actionPath: folder };
  const outcome = await runSteps(action.steps, inner);
  const outputs = Object.fromEntries(
    [...action.outputs].map(([name, value]) => [
      name,
      textOf(resolve(value, contextsOf(inner), outcome)),
    ]),
  );
  return { outcome: outcome === 'success' ? 'success' : 'failure', outputs };
}

async function runScript(scope: Scope, read: (key: string) => string): Promise<Ended> {
  const { around, workspace, temp } = scope;
  const shell = read('shell');
  const options = shell === 'bash' ? ['--noprofile', '--norc', '-eo', 'pipefail'] : ['-e'];
  const output = join(temp, `output-${randomUUID()}`);
  const script = `${output}.sh`;
  const event = join(temp, 'event.json');
  writeFileSync(output, '');
  writeFileSync(script, read('run'));
  writeFileSync(event, JSON.stringify(around.event.payload));
  const { exit, log } = await spawnStep(['bash', ...options, script], {
    cwd: join(workspace, read('working-directory')),
    env: {
      ...around.machine,
      ...runnerEnv(around),
      HOME: dirname(temp),
      RUNNER_TEMP: temp,
      GITHUB_WORKSPACE: workspace,
      GITHUB_ACTION_PATH: scope.actionPath,
      GITHUB_EVENT_PATH: event,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: scope.summary,
      ...scope.env,
    },
  });
  scope.say(log);
  return {
    outcome: exit === 0 ? 'success' : 'failure',
    outputs: readOutputs(readFileSync(output, 'utf8')),
  };
}

function contextsOf({ contexts, steps, env }: Scope): Contexts {
  return { ...contexts, steps, env };
}
