import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { fastify } from 'fastify';
import { onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { PASSWORD, startHttpServer } from '../features/stores/http-server.ts';
import { temporaryFolder } from '../temporary.ts';
import { EXAMPLES, openPlace, type Place } from './place.ts';
import { type Ended, spawnStep } from './spawn.ts';

const require = createRequire(import.meta.url);

type Variables = Readonly<Record<string, string>>;

export type GitlabJob = {
  readonly before_script?: readonly string[];
  readonly script: readonly string[];
  readonly variables?: Variables;
  readonly environment?: { readonly name: string };
  readonly artifacts?: {
    readonly paths?: readonly string[];
    readonly reports?: { readonly dotenv?: string };
  };
};

const MERGE_REQUEST = {
  CI_PIPELINE_SOURCE: 'merge_request_event',
  CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '1217',
};

/** The jobs of a merge request's pipeline, of one of a fork's, of main and of schedules. */
export const PIPELINES = {
  merge: { ...MERGE_REQUEST, CI_COMMIT_BRANCH: '' },
  fork: { ...MERGE_REQUEST, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '666', CI_COMMIT_BRANCH: '' },
  main: { CI_PIPELINE_SOURCE: 'push', CI_COMMIT_BRANCH: 'main' },
  rollouts: { CI_PIPELINE_SOURCE: 'push', CI_COMMIT_BRANCH: 'main', CALLSHEET_ROLLOUTS: 'true' },
  schedule: { CI_PIPELINE_SOURCE: 'schedule', CI_COMMIT_BRANCH: 'main' },
  rollback: { CI_PIPELINE_SOURCE: 'web', CI_COMMIT_BRANCH: 'main', CALLSHEET_ROLLBACK: 'last' },
  hourly: {
    CI_PIPELINE_SOURCE: 'schedule',
    CI_COMMIT_BRANCH: 'main',
    CALLSHEET_SCHEDULE: 'rollout',
  },
} as const;

/** What gitlab-ci-local says of the pipeline in a folder; it fails where GitLab's own schema does. */
async function gitlabCiLocal(from: string, ...args: readonly string[]): Promise<string> {
  const folder = temporaryFolder();
  cpSync(from, folder, { recursive: true });
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-C', folder, ...words], { stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  // It includes only what Git knows.
  git('add', '--all');
  git('remote', 'add', 'origin', 'git@gitlab.example.test:acme/agents.git');
  const bin = require.resolve('gitlab-ci-local');
  const given = ['--home', join(folder, 'home'), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...given], { cwd: folder });
  return stdout;
}

/** The jobs that a pipeline has, with when they run. */
export async function jobsIn(
  pipeline: keyof typeof PIPELINES,
): Promise<Readonly<Record<string, string>>> {
  const variables = Object.entries(PIPELINES[pipeline]);
  const args = variables.flatMap(([name, value]) => ['--variable', `${name}=${value}`]);
  const names = variables.map(([name]) => name).join(',');
  const given = ['--list-json', '--ignore-predefined-vars', names, ...args];
  const text = await gitlabCiLocal(join(EXAMPLES, 'gitlab'), ...given);
  const jobs: readonly { readonly name: string; readonly when: string }[] = JSON.parse(text);
  return Object.fromEntries(
    jobs.flatMap(({ name, when }) => (when === 'never' ? [] : [[name, when]])),
  );
}

export type Note = { readonly id: number; body: string; readonly author: { readonly id: number } };

export type GitlabIssue = {
  readonly iid: number;
  readonly author: { readonly id: number };
  title: string;
  description: string;
  state: 'opened' | 'closed';
};

/** What the fake API keeps. */
type Kept = {
  readonly notes: Note[];
  readonly issues: GitlabIssue[];
  /** Merged merge requests by the commits that they brought. */
  readonly merges: Map<string, number>;
  /** Bodies of branches, reverts and merge requests that were asked for, in order. */
  readonly asked: (readonly [path: string, body: Readonly<Record<string, unknown>>])[];
  /** Whether a revert has conflicts. */
  conflicts: boolean;
};

export type Gitlab = Place & {
  readonly notes: Note[];
  readonly kept: Kept;
  /** Runs a job of the example on what is checked out. */
  readonly run: (job: string, variables?: Variables) => Promise<Ended>;
};

const TOKEN = 'glpat-of-the-project';
const SELF = 42;

/**
 * A project on GitLab with the pipeline that `init` writes.
 *
 * @param stack the folder of the stack; empty for the top of the repository
 * @param settings more of callsheet.yaml
 * @param tree the files of many stacks, in the place of the one
 */
export async function openGitlab(
  stack = '',
  settings = '',
  tree?: Readonly<Record<string, string>>,
): Promise<Gitlab> {
  const place = await openPlace('gitlab', stack, settings, '', tree);
  const notes: Note[] = [];
  const kept: Kept = { notes, issues: [], merges: new Map(), asked: [], conflicts: false };
  const url = await fakeApi(kept);
  const expanded: Readonly<Record<string, GitlabJob>> & { readonly variables: Variables } = parse(
    await gitlabCiLocal(place.origin, '--preview'),
  );
  const states = await startHttpServer();
  onTestFinished(() => states.stop());
  const artifacts = join(place.folder, 'artifacts');
  mkdirSync(artifacts);

  // What a job reports is a variable of those after it.
  let reported: Readonly<Record<string, string | undefined>> = {};
  const run: Gitlab['run'] = async (name, variables = {}) => {
    const job = expanded[name];
    if (job === undefined) throw new Error(`there is no job ${name}`);
    const clone = mkdtempSync(join(place.folder, 'job-'));
    execFileSync('git', ['clone', '--quiet', place.origin, clone], { stdio: 'pipe' });
    cpSync(artifacts, clone, { recursive: true });
    const hasEnvironment = job.environment !== undefined;
    const isNote = job.environment?.name === 'callsheet-note';
    const { vars, secrets } = place.credentials;
    const ended = await spawnStep(
      ['bash', '-eo', 'pipefail', '-c', [...(job.before_script ?? []), ...job.script].join('\n')],
      {
        cwd: clone,
        env: {
          ...place.machine,
          ...withStates(expanded.variables, `${states.origin}/api/v4`),
          ...(hasEnvironment && !isNote ? { ...vars, ...secrets } : {}),
          ...(isNote ? { CALLSHEET_GITLAB_TOKEN: TOKEN } : {}),
          HOME: clone,
          CI: 'true',
          CI_API_V4_URL: url,
          CI_PROJECT_ID: '1217',
          CI_MERGE_REQUEST_IID: '7',
          CI_COMMIT_BRANCH: 'main',
          CI_DEFAULT_BRANCH: 'main',
          CI_PROJECT_URL: 'https://gitlab.example.test/acme/agents',
          GITLAB_USER_LOGIN: 'ana',
          CI_COMMIT_SHA: place.git('rev-parse', 'HEAD'),
          CI_COMMIT_MESSAGE: place.git('log', '-1', '--format=%B'),
          CI_PIPELINE_URL: 'https://gitlab.example.test/acme/agents/-/pipelines/1',
          ...reported,
          ...variables,
        },
      },
    );
    copyAll(job.artifacts?.paths ?? [], clone, artifacts);
    const dotenv = join(clone, job.artifacts?.reports?.dotenv ?? '.no-report');
    if (existsSync(dotenv)) reported = { ...reported, ...parseEnv(readFileSync(dotenv, 'utf8')) };
    return ended;
  };
  return { ...place, notes, kept, run };
}

/** The variables of the example that name others, as GitLab fills them in. States have a server of their own here. */
function withStates(variables: Variables, api: string): Variables {
  const known: Variables = {
    ...variables,
    CI_API_V4_URL: api,
    CI_PROJECT_ID: '1217',
    CI_JOB_TOKEN: PASSWORD,
  };
  return Object.fromEntries(
    Object.entries(variables).map(([name, text]) => [
      name,
      String(text).replace(/\$\{?(\w+)\}?/g, (whole, other) => known[other] ?? whole),
    ]),
  );
}

function copyAll(paths: readonly string[], from: string, to: string): void {
  for (const path of paths) {
    // What a job keeps is what it has, not what one before it had.
    rmSync(join(to, path), { recursive: true, force: true });
    if (existsSync(join(from, path))) cpSync(join(from, path), join(to, path), { recursive: true });
  }
}

/** As much of GitLab's API as the jobs need. */
async function fakeApi(kept: Kept): Promise<string> {
  const { notes, issues } = kept;
  const server = fastify();
  onTestFinished(() => server.close());
  const path = '/projects/1217/merge_requests/7/notes';
  server.addHook('onRequest', async (request, reply) => {
    if (request.headers['private-token'] !== TOKEN) return reply.code(401).send({});
  });
  server.get('/user', async () => ({ id: SELF }));
  server.get<{ Querystring: { per_page: string; page: string } }>(path, async ({ query }) => {
    const size = Math.min(100, Number(query.per_page));
    return notes.slice((Number(query.page) - 1) * size, Number(query.page) * size);
  });
  server.post<{ Body: { body: string } }>(path, async ({ body }, reply) => {
    const note = { id: 5_000 + notes.length, body: body.body, author: { id: SELF } };
    notes.push(note);
    return reply.code(201).send(note);
  });
  server.put<{ Body: { body: string }; Params: { id: string } }>(
    `${path}/:id`,
    async ({ body, params }, reply) => {
      const note = notes.find(({ id }) => String(id) === params.id);
      if (note === undefined) return reply.code(404).send({});
      note.body = body.body;
      return note;
    },
  );
  type Issued = {
    Body: { title?: string; description?: string; state_event?: string; body?: string };
    Params: { iid: string };
  };
  server.get('/projects/1217/issues', async () => issues.filter(({ state }) => state === 'opened'));
  server.post<Issued>('/projects/1217/issues', async ({ body }, reply) => {
    const { title = '', description = '' } = body;
    const iid = 300 + issues.length;
    const issue: GitlabIssue = { iid, title, description, state: 'opened', author: { id: SELF } };
    issues.push(issue);
    return reply.code(201).send({ ...issue, web_url: `https://gitlab.example.test/${iid}` });
  });
  server.put<Issued>('/projects/1217/issues/:iid', async ({ body, params }, reply) => {
    const issue = issues.find(({ iid }) => String(iid) === params.iid);
    if (issue === undefined) return reply.code(404).send({});
    const { state_event: event, ...texts } = body;
    Object.assign(issue, texts, event === 'close' ? { state: 'closed' } : {});
    return issue;
  });
  server.post<Issued>('/projects/1217/issues/:iid/notes', async (_, reply) =>
    reply.code(201).send({ id: 1 }),
  );
  server.get<{ Params: { sha: string } }>(
    '/projects/1217/repository/commits/:sha/merge_requests',
    async ({ params }) => {
      const iid = kept.merges.get(params.sha);
      return iid === undefined ? [] : [{ iid, state: 'merged', target_branch: 'main' }];
    },
  );
  for (const path of ['branches', 'commits/:sha/revert', 'merge_requests']) {
    const below = path === 'merge_requests' ? path : `repository/${path}`;
    server.post<{ Body: Readonly<Record<string, unknown>> | undefined }>(
      `/projects/1217/${below}`,
      async ({ url, body }, reply) => {
        kept.asked.push([url.replace('/projects/1217/', ''), body ?? {}]);
        if (path.endsWith('revert') && kept.conflicts)
          return reply.code(400).send({ message: 'conflicts', error_code: 'conflict' });
        return reply.code(201).send({ web_url: 'https://gitlab.example.test/-/merge_requests/8' });
      },
    );
  }
  return server.listen({ host: '127.0.0.1', port: 0 });
}
