import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { resolve } from '../ci/expressions.ts';
import { type FakeGithub, fakeGithub } from '../ci/github.ts';
import { runWorkflow } from '../ci/runner.ts';
import { type Event, githubOf, inputsOf, type JobResult, type Watch } from '../ci/surroundings.ts';
import type { Keep } from '../ci/uses.ts';
import { type Job, readWorkflow, type Workflow } from '../ci/workflow.ts';
import { type Agenda, MINUTE, SECOND } from './agenda.ts';
import type { Texts } from './fleet.ts';

/** A clone of somebody. */
export type Clone = {
  readonly who: string;
  readonly folder: string;
  readonly git: (...args: readonly string[]) => string;
  /** The same where it may fail. */
  readonly tryGit: (...args: readonly string[]) => boolean;
  readonly read: (path: string) => string;
  readonly write: (texts: Texts) => void;
  readonly commit: (texts: Texts, message: string) => void;
};

export type Pull = {
  readonly number: number;
  readonly branch: string;
  readonly title: string;
  readonly by: string;
  readonly labels: Set<string>;
  state: 'open' | 'merged' | 'closed';
  /** The commit on main; empty before it is merged. */
  commit: string;
  /** Main as it was right before. */
  before: string;
};

export type Run = {
  readonly id: number;
  readonly workflow: string;
  readonly event: Event;
  readonly pull: Pull | undefined;
  /** How often it was started. */
  attempt: number;
  state: 'pending' | 'running' | 'waiting' | 'done';
  isCancelled: boolean;
  conclusion: 'success' | 'failure' | 'cancelled' | 'skipped' | null;
  readonly results: Record<string, JobResult>;
};

/** What the hub shows somebody: a comment, an issue, the summary of a job, each as it is written. */
export type Page = {
  readonly where: 'comment' | 'issue' | 'summary';
  /** Number of the pull request or issue, or of the run. */
  readonly number: number;
  readonly text: string;
};

export type Outside = {
  readonly agenda: Agenda;
  readonly folder: string;
  readonly machine: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string>>;
  readonly secrets: () => Readonly<Record<string, string>>;
  /** Somebody decides on a job that waits for an approval. */
  readonly approve: (run: Run) => Promise<boolean>;
  readonly onPage: (page: Page) => void;
  /** A run ended, or was dropped before it began. */
  readonly onEnd: (run: Run) => void;
};

export type Hub = {
  readonly github: FakeGithub;
  readonly keep: Keep;
  readonly pulls: readonly Pull[];
  readonly runs: readonly Run[];
  /** The run whose job is at work right now. */
  readonly current: () => Run | undefined;
  /** Makes the machine of the job that is at work go away. */
  readonly loseMachine: () => void;
  readonly git: (...args: readonly string[]) => string;
  readonly clone: (who: string) => Clone;
  readonly main: () => string;
  /** The files of a commit, by their paths; throws for one that it does not have. */
  readonly filesOf: (commit: string) => (path: string) => string;
  readonly open: (clone: Clone, branch: string, title: string) => Pull;
  /** What follows a push to the branch of a pull request. */
  readonly push: (pull: Pull) => void;
  /** Closes and opens one that a workflow opened: GitHub plans it only then. */
  readonly reopen: (pull: Pull) => void;
  readonly label: (pull: Pull, label: string) => void;
  /** False where main and the branch conflict. */
  readonly merge: (pull: Pull, how: 'merge' | 'squash') => boolean;
  readonly close: (pull: Pull) => void;
  /** The last finished run that planned it, or is doing so. */
  readonly planOf: (pull: Pull) => Run | undefined;
  readonly isMergeable: (pull: Pull) => boolean;
  readonly dispatch: (
    workflow: string,
    by: string,
    inputs?: Readonly<Record<string, string | boolean>>,
  ) => Run;
  /** Lets workflows begin that a schedule starts, but for those that would find nothing to do. */
  readonly keepSchedules: (isIdle: (workflow: string) => boolean) => void;
  readonly has: (workflow: string) => boolean;
};

const REPOSITORY = 'acme/agents';

/** Who opens the pull requests of workflows. */
export const BOT = 'github-actions[bot]';

/** How long a job takes, and waits for a machine. */
const JOB = 40 * SECOND;

type Group = {
  at: Run | undefined;
  readonly pending: { readonly run: Run; readonly go: () => void }[];
};

/** A repository on GitHub: pull requests, workflows with their queues, and what they write. */
export async function openHub(first: Texts, outside: Outside): Promise<Hub> {
  const { agenda, folder } = outside;
  const origin = join(folder, 'origin.git');
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', origin]);
  const dates = () => {
    const date = agenda.now().toISOString();
    return { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  };
  const gitIn =
    (place: string, who: string) =>
    (...args: readonly string[]) =>
      execFileSync(
        'git',
        ['-C', place, '-c', `user.name=${who}`, '-c', `user.email=${who}@example.test`, ...args],
        {
          encoding: 'utf8',
          stdio: 'pipe',
          env: { ...process.env, ...dates() },
        },
      ).trim();
  const git = gitIn(origin, 'github');
  const github = await fakeGithub();
  const keep: Keep = { origin, folder: join(folder, 'kept'), caches: [] };
  mkdirSync(keep.folder);

  const pulls: Pull[] = [];
  const runs: Run[] = [];
  const groups = new Map<string, Group>();
  /** Texts of files by their ids. */
  const texts = new Map<string, string>();
  const known = new Map<string, string>();
  let current: Run | undefined;
  let isLost = false;

  const clone = (who: string): Clone => {
    const place = join(folder, who);
    execFileSync('git', ['clone', '--quiet', origin, place], { stdio: 'pipe' });
    const run = gitIn(place, who);
    const write = (texts: Texts) => {
      for (const [path, text] of Object.entries(texts)) {
        mkdirSync(dirname(join(place, path)), { recursive: true });
        writeFileSync(join(place, path), text);
      }
    };
    return {
      who,
      folder: place,
      git: run,
      tryGit(...args) {
        try {
          run(...args);
          return true;
        } catch {
          return false;
        }
      },
      read: (path) => readFileSync(join(place, path), 'utf8'),
      write,
      commit(texts, message) {
        write(texts);
        run('add', '--all');
        run('commit', '--quiet', '--allow-empty', '--message', message);
      },
    };
  };

  // The workflows are those of main, which nobody changes here.
  const founder = clone('founder');
  founder.git('checkout', '--quiet', '-B', 'main');
  founder.commit(first, 'Begin');
  founder.git('push', '--quiet', 'origin', 'main');
  const workflowFolder = join(founder.folder, '.github/workflows');
  const workflows = new Map<string, Workflow>();
  for (const name of readdirSync(workflowFolder))
    workflows.set(name, await readWorkflow(join(workflowFolder, name)));

  /** Everything that was written or changed since the last look. */
  const readPages = () => {
    const look = (key: string, page: Page) => {
      if (known.get(key) === page.text) return;
      known.set(key, page.text);
      outside.onPage(page);
    };
    for (const [number, comments] of github.comments)
      for (const { id, body } of comments)
        look(`comment ${id}`, { where: 'comment', number, text: body });
    for (const { number, body, title } of github.issues)
      look(`issue ${number}`, { where: 'issue', number, text: `${title}\n${body}` });
  };

  const triggersOf = ({ on }: Workflow): Readonly<Record<string, unknown>> => {
    const written = resolve(on, {}, 'success');
    const names = typeof written === 'string' ? [written] : written;
    return Array.isArray(names)
      ? Object.fromEntries(names.map((name) => [name, {}]))
      : Object(names);
  };

  /** Starts what an event starts. */
  const happen = (event: Event, pull?: Pull): readonly Run[] =>
    [...workflows].flatMap(([name, workflow]) => {
      const triggers = triggersOf(workflow);
      if (!Object.hasOwn(triggers, event.name)) return [];
      const { types } = Object(triggers[event.name]);
      if (Array.isArray(types) && !types.includes(event.payload.action)) return [];
      return [start(name, event, pull)];
    });

  const start = (name: string, event: Event, pull?: Pull): Run => {
    const run: Run = {
      id: 101 + runs.length,
      workflow: name,
      event,
      pull,
      attempt: 1,
      state: 'pending',
      isCancelled: false,
      conclusion: null,
      results: {},
    };
    runs.push(run);
    if (name === 'callsheet-plan.yaml') noteRun(run);
    agenda.begin(() => live(run));
    return run;
  };

  const live = async (run: Run): Promise<void> => {
    const workflow = workflows.get(run.workflow);
    if (workflow === undefined) throw new Error(`there is no workflow ${run.workflow}`);
    const leave = await enter(run, workflow);
    if (leave === undefined) return finish(run, 'cancelled');
    run.state = 'running';
    noteRun(run);
    const jobs = await runWorkflow(join(workflowFolder, run.workflow), {
      keep,
      event: run.event,
      run: String(run.id),
      attempt: run.attempt,
      machine: { ...outside.machine, GITHUB_API_URL: github.url },
      vars: outside.vars,
      secrets: outside.secrets(),
      watch: watch(run),
    });
    Object.assign(run.results, jobs);
    const results = Object.values(jobs).map(({ result }) => result);
    const found = (['cancelled', 'failure', 'success'] as const).find((one) =>
      results.includes(one),
    );
    finish(run, run.isCancelled ? 'cancelled' : (found ?? 'skipped'));
    leave();
  };

  /** What a run left that is kept, but for what was deleted since. */
  const artifactsIn = (run: Run): string => join(keep.folder, 'artifacts', String(run.id));
  const noteArtifacts = (run: Run) => {
    const names = tryRead(() => readdirSync(artifactsIn(run)));
    github.artifacts.set(
      run.id,
      names.map((name, index) => ({ id: run.id * 100 + index, name, expired: false })),
    );
  };

  /** Starts a run again, as the API was asked to. */
  const again = (id: number) => {
    const run = runs.find((one) => one.id === id);
    if (run === undefined) throw new Error(`there is no run ${id}`);
    const left = github.artifacts.get(id) ?? [];
    for (const name of tryRead(() => readdirSync(artifactsIn(run))))
      if (left.every((one) => one.name !== name))
        rmSync(join(artifactsIn(run), name), { recursive: true });
    Object.assign(run, { attempt: run.attempt + 1, state: 'pending', isCancelled: false });
    run.conclusion = null;
    agenda.begin(() => live(run));
  };

  /** What jobs asked the API for. */
  const answer = () => {
    for (const id of github.rerun.splice(0)) again(id);
    for (const { title = '', head = '' } of github.opened.splice(0)) addPull(BOT, head, title);
  };

  const addPull = (by: string, branch: string, title: string): Pull => {
    const pull: Pull = {
      number: pulls.length + 1,
      branch,
      title,
      by,
      labels: new Set(),
      state: 'open',
      commit: '',
      before: '',
    };
    pulls.push(pull);
    return pull;
  };

  const finish = (run: Run, conclusion: Run['conclusion']) => {
    run.state = 'done';
    run.conclusion = conclusion;
    noteArtifacts(run);
    readPages();
    answer();
    noteRun(run);
    outside.onEnd(run);
    const { name } = workflows.get(run.workflow) ?? {};
    for (const [other, workflow] of workflows) {
      const { workflows: after = [] } = Object(triggersOf(workflow).workflow_run);
      if (after.includes(name))
        start(
          other,
          {
            ...atMain('workflow_run', {
              workflow_run: {
                id: run.id,
                conclusion,
                event: run.event.name,
                head_sha: run.event.sha,
              },
            }),
          },
          run.pull,
        );
    }
  };

  /** Waits until nobody else is in the group of a run. What it answers lets the next one in; undefined if it was dropped. */
  const enter = async (run: Run, workflow: Workflow): Promise<(() => void) | undefined> => {
    if (workflow.concurrency === undefined) return () => undefined;
    const contexts = {
      github: githubOf({ event: run.event, run: String(run.id) }, workflow.name),
      inputs: inputsOf(run),
      vars: outside.vars,
    };
    const written = resolve(workflow.concurrency, contexts, 'success');
    const {
      group: named,
      'cancel-in-progress': cancels = 'false',
      queue = 'single',
    } = typeof written === 'string' ? { group: written } : Object(written);
    const key = String(named);
    const group = groups.get(key) ?? { at: undefined, pending: [] };
    groups.set(key, group);
    const leave = () => {
      group.at = undefined;
      group.pending.shift()?.go();
    };
    if (group.at === undefined) {
      group.at = run;
      return leave;
    }
    // Of those that wait GitHub keeps the newest, unless the group says otherwise.
    if (queue !== 'max')
      for (const { run: other, go } of group.pending.splice(0)) {
        other.isCancelled = true;
        go();
      }
    if (String(cancels) === 'true') group.at.isCancelled = true;
    let isFree = false;
    group.pending.push({
      run,
      go: () => {
        isFree = true;
      },
    });
    while (!isFree) await agenda.sleep(5 * SECOND);
    if (run.isCancelled) return undefined;
    group.at = run;
    return leave;
  };

  const watch = (run: Run): Watch => ({
    async begin(job) {
      readPages();
      const wasCancelled = run.isCancelled;
      let isRejected = false;
      if (needsApproval(job)) {
        run.state = 'waiting';
        isRejected = !(await outside.approve(run));
        run.state = 'running';
      } else await agenda.sleep(JOB);
      if (run.isCancelled && !wasCancelled) return 'cancelled';
      if (isRejected) return 'rejected';
      isLost = false;
      current = run;
      return 'go';
    },
    end(job, result) {
      current = undefined;
      isLost = false;
      run.results[job.id] = result;
      readPages();
      if (result.summary !== '')
        outside.onPage({ where: 'summary', number: run.id, text: result.summary });
    },
    fate: () => (isLost ? 'lost' : run.isCancelled ? 'cancelled' : undefined),
  });

  const needsApproval = ({ token }: Job) =>
    /callsheet-production/.test(
      JSON.stringify(
        resolve(
          token.find('environment'),
          { env: {}, vars: {}, inputs: {}, github: {}, needs: {} },
          'success',
        ) ?? '',
      ),
    );

  /** What the API says of runs that plan. */
  const noteRun = (run: Run) => {
    if (run.workflow !== 'callsheet-plan.yaml' || run.pull === undefined) return;
    const index = github.runs.findIndex(({ id }) => id === run.id);
    const { head } = Object(run.event.payload.pull_request);
    const at = index < 0 ? agenda.now().toISOString() : github.runs[index]?.created_at;
    const noted = {
      id: run.id,
      run_number: run.id,
      head_sha: String(head.sha),
      created_at: at ?? '',
      status: run.state === 'done' ? 'completed' : 'in_progress',
      conclusion: run.conclusion,
      head_repository: { full_name: REPOSITORY },
    } as const;
    if (index < 0) github.runs.push(noted);
    else github.runs[index] = noted;
  };

  let tip = git('rev-parse', 'main');
  const main = () => tip;
  const atMain = (name: string, payload: Event['payload'] = {}, actor = 'ana'): Event => ({
    name,
    payload,
    sha: main(),
    ref: 'refs/heads/main',
    actor,
  });

  /** What main would be with it; undefined where they conflict. */
  const treeOf = ({ branch }: Pull): string | undefined => {
    try {
      return git('merge-tree', '--write-tree', 'main', branch).split('\n')[0];
    } catch {
      return undefined;
    }
  };

  const happenTo = (pull: Pull, action: string) => {
    const tree = pull.state === 'open' ? treeOf(pull) : undefined;
    // GitHub runs nothing for a pull request that conflicts.
    if (tree === undefined) return;
    const sha = git(
      'commit-tree',
      tree,
      '-p',
      'main',
      '-p',
      pull.branch,
      '-m',
      `Merge ${pull.branch}`,
    );
    const ref = `refs/pull/${pull.number}/merge`;
    git('update-ref', ref, sha);
    const payload = {
      action,
      number: pull.number,
      pull_request: {
        number: pull.number,
        state: 'open',
        title: pull.title,
        head: {
          sha: git('rev-parse', pull.branch),
          ref: pull.branch,
          repo: { full_name: REPOSITORY },
        },
        base: { sha: main(), ref: 'main' },
        labels: [...pull.labels].map((name) => ({ name })),
        user: { login: pull.by },
      },
    };
    happen({ name: 'pull_request', payload, sha, ref, actor: pull.by }, pull);
  };

  return {
    github,
    keep,
    pulls,
    runs,
    current: () => current,
    loseMachine: () => {
      isLost = true;
    },
    git,
    clone,
    main,
    filesOf(commit) {
      const ids = new Map(
        git('ls-tree', '-r', '--format=%(path)%x09%(objectname)', commit)
          .split('\n')
          .map((line) => line.split('\t') as [string, string]),
      );
      return (path) => {
        const id = ids.get(path);
        if (id === undefined) throw new Error(`${commit} has no ${path}`);
        const text = texts.get(id) ?? git('cat-file', 'blob', id);
        texts.set(id, text);
        return text;
      };
    },
    open({ who }, branch, title) {
      const pull = addPull(who, branch, title);
      happenTo(pull, 'opened');
      return pull;
    },
    push: (pull) => happenTo(pull, 'synchronize'),
    reopen: (pull) => happenTo(pull, 'reopened'),
    label(pull, label) {
      pull.labels.add(label);
      happenTo(pull, 'labeled');
    },
    merge(pull, how) {
      const tree = treeOf(pull);
      if (tree === undefined || pull.state !== 'open') return false;
      pull.before = main();
      const head = git('rev-parse', pull.branch);
      const parents = how === 'merge' ? ['-p', 'main', '-p', head] : ['-p', 'main'];
      pull.commit = git('commit-tree', tree, ...parents, '-m', `${pull.title} (#${pull.number})`);
      git('update-ref', 'refs/heads/main', pull.commit);
      tip = pull.commit;
      pull.state = 'merged';
      github.pulls.push({
        number: pull.number,
        merged_at: agenda.now().toISOString(),
        merge_commit_sha: pull.commit,
        base: { ref: 'main' },
        head: { sha: head, repo: { full_name: REPOSITORY } },
        labels: [...pull.labels].map((name) => ({ name })),
      });
      happen(atMain('push', { before: pull.before, after: pull.commit }, pull.by), pull);
      return true;
    },
    close(pull) {
      pull.state = 'closed';
    },
    planOf: (pull) =>
      runs.findLast(
        (run) =>
          run.pull === pull &&
          run.workflow === 'callsheet-plan.yaml' &&
          run.conclusion !== 'cancelled',
      ),
    isMergeable: (pull) => treeOf(pull) !== undefined,
    dispatch: (workflow, by, inputs = {}) =>
      start(workflow, atMain('workflow_dispatch', { inputs }, by)),
    keepSchedules(isIdle) {
      for (const [name, workflow] of workflows)
        for (const { cron } of [Object(triggersOf(workflow)).schedule ?? []].flat())
          agenda.begin(async () => {
            for (;;) {
              await agenda.sleep(untilNext(cron, agenda.now()));
              if (!isIdle(name)) start(name, atMain('schedule', { schedule: cron }));
            }
          });
    },
    has: (workflow) => workflows.has(workflow),
  };
}

function tryRead(read: () => readonly string[]): readonly string[] {
  try {
    return read();
  } catch {
    return [];
  }
}

/** Milliseconds until the next minute of a schedule of five fields. */
function untilNext(cron: string, now: Date): number {
  const fields = cron.split(' ');
  const isIn = (field: string, value: number) =>
    field.split(',').some((part) => {
      const [range = '', step = '1'] = part.split('/');
      const [from = '0', to = from] = range === '*' ? ['0', '99'] : range.split('-');
      return (
        value >= Number(from) && value <= Number(to) && (value - Number(from)) % Number(step) === 0
      );
    });
  for (let minutes = 1; ; minutes += 1) {
    const at = new Date(Math.floor(now.getTime() / MINUTE) * MINUTE + minutes * MINUTE);
    const values = [
      at.getUTCMinutes(),
      at.getUTCHours(),
      at.getUTCDate(),
      at.getUTCMonth() + 1,
      at.getUTCDay(),
    ];
    if (values.every((value, index) => isIn(fields[index] ?? '*', value)))
      return at.getTime() - now.getTime();
  }
}
