import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeGithub, fakeGithub } from './github.ts';
import { openPlace, type Place } from './place.ts';
import { runWorkflow } from './runner.ts';
import type { Event, JobResult } from './surroundings.ts';
import type { Keep } from './uses.ts';
import { readWorkflow } from './workflow.ts';

export type Jobs = Readonly<Record<string, JobResult>>;

type Pushed = { readonly number: number; readonly branch: string; readonly head: string };

/** Of a pull request: the repository that it comes from, its labels, and whether it is still open. */
type About = {
  readonly from?: string;
  readonly labels?: readonly string[];
  readonly state?: 'open' | 'closed';
};

/** A repository on GitHub with the workflows that `init` writes. */
export type Repository = Place & {
  readonly github: FakeGithub;
  readonly keep: Keep;
  /** Opens a pull request with these files. */
  readonly open: (files: Readonly<Record<string, string>>) => Pushed;
  /** Runs the workflow that plans, as an event of the pull request does. */
  readonly plan: (pull: Pushed, about?: About) => Promise<Jobs>;
  /** Merges, and runs the workflow that applies. */
  readonly merge: (pull: Pushed, head?: string, labels?: readonly string[]) => Promise<Jobs>;
  /** Runs a workflow as what was pushed to main, or as its schedule. */
  readonly atMain: (workflow: 'rollout', event: 'push' | 'schedule') => Promise<Jobs>;
  readonly byHand: (
    workflow: 'apply' | 'drift' | 'plan-fork' | 'resume' | 'rollback' | 'rollout',
    inputs?: Readonly<Record<string, string | boolean>>,
  ) => Promise<Jobs>;
  readonly run: (workflow: string, event: Event) => Promise<Jobs>;
  /**
   * Starts a run again, as GitHub does: the same event and number, the next attempt. With a job, that one and those
   * that need it; the others keep their results.
   */
  readonly again: (run: number, job?: string) => Promise<Jobs>;
  /** The number of the last run. */
  readonly lastRun: () => number;
};

/** What a repository may have beside what `init` writes for a stack without settings. */
type More = {
  /** More of callsheet.yaml. */
  readonly settings?: string;
  /** More of its variables. */
  readonly variables?: string;
  /** Variables of the repository. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Variables of every job. */
  readonly env?: Readonly<Record<string, string>>;
  /** The files of a tree of stacks, with the one workflow of trees. */
  readonly tree?: Readonly<Record<string, string>>;
};

/** @param stack the folder of the stack; empty for the top of the repository */
export async function openRepository(
  stack = '',
  { settings = '', variables = '', vars = {}, env = {}, tree }: More = {},
): Promise<Repository> {
  const place = await openPlace('github', stack, settings, variables, tree);
  const suffix = stack === '' ? '' : `-${stack}`;
  const fileOf = (workflow: string) =>
    tree === undefined ? `callsheet-${workflow}${suffix}.yaml` : 'callsheet.yaml';
  const github = await fakeGithub();
  const keep: Keep = { origin: place.origin, folder: join(place.folder, 'kept'), caches: [] };
  mkdirSync(keep.folder);
  let numbers = 0;
  let runs = 100;

  const started = new Map<number, readonly [workflow: string, event: Event]>();
  const attempts = new Map<number, Jobs[]>();
  const run: Repository['run'] = async (workflow, event) => {
    runs += 1;
    started.set(runs, [workflow, event]);
    return again(runs);
  };
  const again: Repository['again'] = async (number, job) => {
    const [workflow, event] = started.get(number) ?? [];
    if (workflow === undefined || event === undefined) throw new Error(`there is no run ${number}`);
    const kept = join(keep.folder, 'artifacts', String(number));
    const listKept = () => (existsSync(kept) ? readdirSync(kept) : []);
    // What was deleted since the run before is not there again.
    const left = github.artifacts.get(number) ?? [];
    for (const name of listKept())
      if (left.every((one) => one.name !== name)) rmSync(join(kept, name), { recursive: true });
    const { machine, credentials } = place;
    const file = join(place.origin, '.github/workflows', fileOf(workflow));
    const before = attempts.get(number) ?? [];
    const jobs = await runWorkflow(file, {
      attempt: before.length + 1,
      ...(job !== undefined && { kept: await keptFor(file, job, before.at(-1) ?? {}) }),
      keep,
      event,
      run: String(number),
      machine: { ...machine, ...env, GITHUB_API_URL: github.url },
      ...credentials,
      vars: { ...credentials.vars, ...vars },
      ...(isOfFork(event) ? { secrets: {} } : {}),
    });
    attempts.set(number, [...before, jobs]);
    github.artifacts.set(
      number,
      listKept().map((name, at) => ({ id: number * 100 + at, name, expired: false })),
    );
    return jobs;
  };
  const atMain = (name: string, payload: Event['payload'] = {}): Event => ({
    name,
    payload,
    sha: place.git('rev-parse', 'main'),
    ref: 'refs/heads/main',
  });

  return {
    ...place,
    github,
    keep,
    run,
    again,
    lastRun: () => runs,
    open(files) {
      numbers += 1;
      const branch = `change-${numbers}`;
      place.git('checkout', '--quiet', '-b', branch, 'main');
      const head = place.commit(files);
      place.git('checkout', '--quiet', 'main');
      return { number: numbers, branch, head };
    },
    async plan({ number, branch }, { from = 'acme/agents', labels = [], state = 'open' } = {}) {
      const head = place.git('rev-parse', branch);
      const set = github.labelled.get(number) ?? [];
      const events = labels
        .filter((name) => set.every(({ label }) => label.name !== name))
        .map((name) => ({
          event: 'labeled' as const,
          label: { name },
          actor: { login: 'ana' },
        }));
      github.labelled.set(number, [...set, ...events]);
      // GitHub plans what main would be once the pull request is merged.
      place.git('checkout', '--quiet', '--detach', 'main');
      place.git('merge', '--quiet', '--no-ff', '--no-edit', branch);
      const sha = place.git('rev-parse', 'HEAD');
      place.git('branch', '--force', `merge-${number}`, sha);
      place.git('update-ref', `refs/pull/${number}/merge`, sha);
      place.git('checkout', '--quiet', 'main');
      const jobs = await run('plan', {
        name: 'pull_request',
        sha,
        ref: `refs/pull/${number}/merge`,
        payload: {
          pull_request: {
            number,
            state,
            title: '$(touch /tmp/owned)',
            head: { sha: head, repo: { full_name: from } },
            labels: labels.map((name) => ({ name })),
            user: { login: 'ana' },
          },
        },
      });
      const results = Object.values(jobs).map(({ result }) => result);
      const conclusion =
        ['failure', 'success'].find((one) => results.some((result) => result === one)) ?? 'skipped';
      github.runs.push({
        id: runs,
        run_number: runs,
        head_sha: head,
        created_at: `2026-11-21T${state === 'open' ? '08' : '10'}:00:00Z`,
        status: 'completed',
        conclusion,
        head_repository: { full_name: from },
      });
      return jobs;
    },
    async merge({ number, branch }, head = place.git('rev-parse', branch), labels = []) {
      place.git('merge', '--quiet', '--no-ff', '--no-edit', branch);
      const sha = place.git('rev-parse', 'main');
      github.pulls.push({
        number,
        merged_at: '2026-11-21T09:00:00Z',
        merge_commit_sha: sha,
        base: { ref: 'main' },
        head: { sha: head, repo: { full_name: 'acme/agents' } },
        labels: labels.map((name) => ({ name })),
      });
      return run('apply', atMain('push'));
    },
    atMain: (workflow, event) => run(workflow, atMain(event)),
    byHand: (workflow, inputs = {}) => run(workflow, atMain('workflow_dispatch', { inputs })),
  };
}

/** The results that stand where one job is run again: all but its own and those of the jobs that need it. */
async function keptFor(file: string, job: string, before: Jobs): Promise<Jobs> {
  const again = new Set([job]);
  for (const { id, needs } of (await readWorkflow(file)).jobs)
    if (needs.some((one) => again.has(one))) again.add(id);
  return Object.fromEntries(Object.entries(before).filter(([id]) => !again.has(id)));
}

/** Whether GitHub gives the workflows of an event no secrets. */
function isOfFork({ payload }: Event): boolean {
  const { pull_request: pull } = payload as {
    readonly pull_request?: { readonly head: { readonly repo: { readonly full_name: string } } };
  };
  return pull !== undefined && pull.head.repo.full_name !== 'acme/agents';
}

/** How each job ended. */
export function resultsOf(jobs: Jobs): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(jobs).map(([id, { result }]) => [id, result]));
}

/** Everything that the jobs printed, for the message of a failed expectation. */
export function logOf(jobs: Jobs): string {
  return Object.entries(jobs)
    .map(([id, { log }]) => `── ${id}\n${log}`)
    .join('\n');
}
