import { type FastifyRequest, fastify } from 'fastify';
import { onTestFinished } from 'vitest';

export type Text = { readonly id: number; body: string; readonly user: { readonly login: string } };
export type Issue = Text & {
  readonly number: number;
  title: string;
  state: 'open' | 'closed';
  readonly pull_request?: object;
};
export type Pull = {
  readonly number: number;
  readonly merged_at: string | null;
  readonly merge_commit_sha: string | null;
  readonly base: { readonly ref: string };
  readonly head: { readonly sha: string; readonly repo: { readonly full_name: string } | null };
  readonly labels?: readonly { readonly name: string }[];
};
export type WorkflowRun = {
  readonly id: number;
  readonly run_number: number;
  readonly head_sha: string;
  readonly created_at: string;
  readonly status: 'in_progress' | 'completed';
  readonly conclusion: string | null;
  readonly head_repository: { readonly full_name: string };
};

export type Artifact = { readonly id: number; readonly name: string; expired: boolean };

/** An event of a pull request about one of its labels. */
export type Labelled = {
  readonly event: 'labeled' | 'unlabeled';
  readonly label: { readonly name: string };
  readonly actor: { readonly login: string } | null;
};

export type FakeGithub = {
  readonly url: string;
  /** Comments by the number of their issue or pull request. */
  readonly comments: Map<number, Text[]>;
  readonly issues: Issue[];
  readonly pulls: Pull[];
  readonly runs: WorkflowRun[];
  /** Artifacts by the number of their run. */
  readonly artifacts: Map<number, Artifact[]>;
  /** Runs that were started again. */
  readonly rerun: number[];
  /** Reviews by the number of their pull request. */
  readonly reviews: Map<
    number,
    { readonly user: { readonly login: string }; readonly state: string }[]
  >;
  /** Labels that were set and taken away, by the number of their pull request. */
  readonly labelled: Map<number, Labelled[]>;
  /** What somebody may do in the repository; who is not listed may write. */
  readonly permissions: Map<string, string>;
  /** Who approved the environment of any run. */
  readonly approvers: string[];
  /** Pull requests that were opened by a workflow. */
  readonly opened: Readonly<Record<string, string | undefined>>[];
  /** Method and path of each request, in order. */
  readonly asked: string[];
};

const BOT = { login: 'github-actions[bot]' };

/** As much of GitHub's REST API, on loopback, as pipelines need; it closes with the test. */
export async function fakeGithub(): Promise<FakeGithub> {
  const server = fastify();
  onTestFinished(() => server.close());
  const fake: Omit<FakeGithub, 'url'> = {
    comments: new Map(),
    issues: [],
    pulls: [],
    runs: [],
    artifacts: new Map(),
    rerun: [],
    reviews: new Map(),
    labelled: new Map(),
    permissions: new Map(),
    approvers: [],
    opened: [],
    asked: [],
  };
  let last = 1_000;
  const commentsOf = (number: number) => {
    const known = fake.comments.get(number) ?? [];
    fake.comments.set(number, known);
    return known;
  };
  const allComments = () => [...fake.comments.values()].flat();
  const add = (body: string): Text & { html_url: string } => {
    last += 1;
    return { id: last, body, user: BOT, html_url: `https://github.example.test/#${last}` };
  };

  server.addHook('onRequest', async (request, reply) => {
    fake.asked.push(`${request.method} ${request.url}`);
    if (request.headers.authorization !== 'Bearer job-token') return reply.code(401).send({});
  });
  server.register(
    async (repository) => {
      repository.get('/commits/:sha/pulls', async (request, reply) => {
        const { sha } = paramsOf(request);
        const found = fake.pulls.filter(
          (pull) => pull.merge_commit_sha === sha || pull.head.sha === sha,
        );
        return page(request, reply, found);
      });
      repository.get('/actions/workflows/:workflow/runs', async (request) => {
        const { head_sha: sha } = queryOf(request);
        return { workflow_runs: fake.runs.filter((run) => run.head_sha === sha) };
      });
      repository.get('/actions/runs/:number/artifacts', async (request) => {
        const { name } = queryOf(request);
        const all = fake.artifacts.get(numberOf(request)) ?? [];
        return { artifacts: all.filter((artifact) => artifact.name === name) };
      });
      repository.get('/actions/artifacts', async (request) => {
        const { name } = queryOf(request);
        const artifacts = [...fake.artifacts].flatMap(([run, all]) =>
          all.map((one) => ({ ...one, workflow_run: { id: run } })),
        );
        return { artifacts: artifacts.filter((one) => one.name === name) };
      });
      repository.delete('/actions/artifacts/:number', async (request, reply) => {
        for (const [run, all] of fake.artifacts) {
          const left = all.filter(({ id }) => id !== numberOf(request));
          fake.artifacts.set(run, left);
        }
        return reply.code(204).send();
      });
      repository.post('/actions/runs/:number/rerun', async (request, reply) => {
        fake.rerun.push(numberOf(request));
        return reply.code(201).send({});
      });
      repository.get('/actions/runs/:number/approvals', async () =>
        fake.approvers.map((login) => ({ state: 'approved', user: { login } })),
      );
      repository.get('/pulls/:number/reviews', async (request, reply) =>
        page(request, reply, fake.reviews.get(numberOf(request)) ?? []),
      );
      repository.get('/issues/:number/events', async (request, reply) =>
        page(request, reply, fake.labelled.get(numberOf(request)) ?? []),
      );
      repository.get('/collaborators/:login/permission', async (request) => ({
        permission: fake.permissions.get(paramsOf(request).login ?? '') ?? 'write',
      }));
      repository.get('/pulls/:number', async (request) => {
        const number = numberOf(request);
        const merged = fake.pulls.find((pull) => pull.number === number);
        return merged ?? { number, merged_at: null };
      });
      repository.post('/pulls', async (request, reply) => {
        fake.opened.push(bodyOf(request));
        return reply.code(201).send({ html_url: 'https://github.example.test/pull/99' });
      });
      repository.get('/issues', async (request, reply) => {
        const { state } = queryOf(request);
        return page(
          request,
          reply,
          fake.issues.filter((issue) => issue.state === state),
        );
      });
      repository.post('/issues', async (request, reply) => {
        const { title = '', body = '' } = bodyOf(request);
        checkLength(body);
        const issue: Issue = { ...add(body), number: last, title, state: 'open' };
        fake.issues.push(issue);
        return reply.code(201).send(issue);
      });
      repository.patch('/issues/:number', async (request) => {
        const issue = fake.issues.find(({ number }) => number === numberOf(request));
        if (issue === undefined) throw Object.assign(new Error('Not Found'), { statusCode: 404 });
        const { body, state, title } = bodyOf(request);
        if (title !== undefined) issue.title = title;
        if (body !== undefined) issue.body = body;
        if (state === 'closed') issue.state = state;
        return issue;
      });
      repository.get('/issues/:number/comments', async (request, reply) =>
        page(request, reply, commentsOf(numberOf(request))),
      );
      repository.post('/issues/:number/comments', async (request, reply) => {
        const { body = '' } = bodyOf(request);
        checkLength(body);
        const comment = add(body);
        commentsOf(numberOf(request)).push(comment);
        return reply.code(201).send(comment);
      });
      repository.get('/issues/comments', async (request, reply) =>
        page(
          request,
          reply,
          allComments().toSorted((a, b) => b.id - a.id),
        ),
      );
      repository.patch('/issues/comments/:number', async (request, reply) => {
        const comment = allComments().find(({ id }) => id === numberOf(request));
        if (comment === undefined) return reply.code(404).send({ message: 'Not Found' });
        const { body = '' } = bodyOf(request);
        checkLength(body);
        comment.body = body;
        return comment;
      });
    },
    { prefix: '/repos/acme/agents' },
  );
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  return { url, ...fake };

  function page<T>(
    request: FastifyRequest,
    reply: { header: (name: string, value: string) => unknown },
    all: readonly T[],
  ): readonly T[] {
    const { per_page: size = '30', page: at = '1', ...rest } = queryOf(request);
    const count = Math.min(100, Number(size));
    const end = Number(at) * count;
    if (end < all.length) {
      const query = new URLSearchParams({ ...rest, per_page: size, page: String(Number(at) + 1) });
      const path = request.url.split('?')[0];
      reply.header('link', `<${url}${path}?${query}>; rel="next", <${url}${path}>; rel="last"`);
    }
    return all.slice(end - count, end);
  }
}

function checkLength(body: string): void {
  if (body.length <= 65_536) return;
  throw Object.assign(new Error('Body is too long'), { statusCode: 422 });
}

function paramsOf({ params }: FastifyRequest): { readonly [name: string]: string } {
  return params as { readonly [name: string]: string };
}

function queryOf({ query }: FastifyRequest): { readonly [name: string]: string } {
  return query as { readonly [name: string]: string };
}

function bodyOf({ body }: FastifyRequest): { readonly [name: string]: string | undefined } {
  return body as { readonly [name: string]: string | undefined };
}

function numberOf(request: FastifyRequest): number {
  return Number(paramsOf(request).number);
}
