import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Jobs, logOf, openRepository, type Repository, resultsOf } from '../../ci/actions.ts';
import { edited } from '../../ci/place.ts';

const WRITES = new Set(['POST', 'PATCH', 'PUT', 'DELETE']);

/** What was written to the platform, but for tokens. */
function writes({ sim }: Repository): readonly string[] {
  return sim.requests
    .filter(({ method, operation }) => WRITES.has(method) && operation !== 'createToken')
    .map(({ operation }) => operation ?? '');
}

function expectAll(jobs: Jobs, results: Readonly<Record<string, string>>): void {
  expect(resultsOf(jobs), logOf(jobs)).toEqual(results);
}

const GOOD = { reviewed: 'success', fresh: 'skipped', apply: 'success', comment: 'success' };
const STALE = { ...GOOD, apply: 'failure' };
const NONE = { ...GOOD, reviewed: 'failure', apply: 'skipped' };

const GREETING = ['agents.yaml', 'Harbor Dental.', 'Harbor Dental, good day.'] as const;

/** The comment that says what became of a merge. */
function outcome({ github }: Repository, number: number): string {
  const comments = github.comments.get(number) ?? [];
  const found = comments.filter(({ body }) =>
    body.startsWith('<!-- callsheet:apply callsheet -->'),
  );
  expect(found).toHaveLength(1);
  return found[0]?.body ?? '';
}

test('a merge applies the plan that was reviewed; the next one goes on from its state', async () => {
  const repository = await openRepository();
  const first = repository.open(edited(repository, ...GREETING));
  const planned = await repository.plan(first);
  expect(writes(repository)).toEqual([]);
  const applied = await repository.merge(first);
  expectAll(applied, GOOD);
  expect(repository.greeting('Front desk')).toBe('Harbor Dental, good day.');
  expect(applied.reviewed?.outputs.digest).toBe(planned.plan?.outputs.digest);
  expect(outcome(repository, first.number)).toContain('### Applied');
  expect(repository.keep.caches).toHaveLength(1);

  const second = repository.open(edited(repository, 'agents.yaml', 'We are closed.', 'Closed.'));
  await repository.plan(second);
  // With the state of the first: what it wrote is no news.
  const comment = repository.github.comments.get(second.number)?.[0]?.body;
  expect(comment).toContain('### Plan of this pull request: 1 agent changes');
  expect(comment).not.toContain('adopt');
  expectAll(await repository.merge(second), GOOD);
  expect(repository.greeting('Night desk')).toBe('Closed.');
});

test('a plan that main overtook is stale; by hand it is planned anew and applied', async () => {
  const repository = await openRepository();
  const one = repository.open(edited(repository, ...GREETING));
  const other = repository.open(edited(repository, 'agents.yaml', 'We are closed.', 'Closed.'));
  await repository.plan(one);
  await repository.plan(other);
  expectAll(await repository.merge(one), GOOD);
  const before = writes(repository).length;
  expectAll(await repository.merge(other), STALE);
  expect(writes(repository)).toHaveLength(before);
  const said = outcome(repository, other.number);
  expect(said).toContain('### Not applied as reviewed: the plan is stale (exit 5)');
  expect(said).toContain('agent.reception');
  expect(said).toContain('Run the workflow callsheet apply by hand');

  const fresh = await repository.byHand('apply');
  expectAll(fresh, { reviewed: 'skipped', fresh: 'success', apply: 'success', comment: 'success' });
  expect(outcome(repository, other.number)).toContain('### Applied\n\nBy hand, with everything');
  expect(fresh.fresh?.summary).toContain('agent.night');
  expect(repository.greeting('Night desk')).toBe('Closed.');
});

test('what somebody edited on the platform since the review is not overwritten', async () => {
  const repository = await openRepository();
  const begin = repository.open(edited(repository, 'prompts/reception.md', 'phone', 'telephone'));
  await repository.plan(begin);
  await repository.merge(begin);
  const pull = repository.open(edited(repository, ...GREETING));
  await repository.plan(pull);
  repository.sim.edit(repository.agent('Front desk'), { greeting_message: 'By hand.' });
  expectAll(await repository.merge(pull), STALE);
  expect(repository.greeting('Front desk')).toBe('By hand.');
});

test.each<[string, (repository: Repository, number: number) => void, string]>([
  [
    'its comment names another plan',
    ({ github }, number) => {
      const comment = github.comments.get(number)?.[0];
      if (comment)
        comment.body = comment.body.replace(
          /sha256:[0-9a-f]{64} -->$/,
          `sha256:${'0'.repeat(64)} -->`,
        );
    },
    'the plan is stale (exit 5)',
  ],
  [
    'somebody else wrote the comment with the digest',
    ({ github }, number) => {
      const [comment] = github.comments.get(number) ?? [];
      github.comments.set(number, [
        { id: 1, body: comment?.body ?? '', user: { login: 'mallory' } },
      ]);
    },
    'has the digest of a plan that can be applied',
  ],
  [
    'the last plan of that commit failed',
    ({ github }) => {
      const [run] = github.runs;
      if (run) github.runs.push({ ...run, run_number: run.run_number + 1, conclusion: 'failure' });
    },
    'No plan went well of',
  ],
  [
    'another plan of that commit is not ready',
    ({ github }) => {
      const [run] = github.runs;
      const more = { run_number: 900, status: 'in_progress', conclusion: null } as const;
      if (run) github.runs.push({ ...run, ...more });
    },
    'was merged while run 101 still planned it',
  ],
  [
    'the plan is too old to be kept',
    ({ github }) => {
      for (const artifact of [...github.artifacts.values()].flat()) artifact.expired = true;
    },
    'is no longer kept',
  ],
  [
    'the plan is one of a fork of the same commit',
    ({ github }) => {
      const [run] = github.runs.splice(0);
      if (run) github.runs.push({ ...run, head_repository: { full_name: 'mallory/agents' } });
    },
    'No plan went well of',
  ],
])('nothing is applied where %s', async (_, harm, said) => {
  const repository = await openRepository();
  const pull = repository.open(edited(repository, ...GREETING));
  await repository.plan(pull);
  harm(repository, pull.number);
  const jobs = await repository.merge(pull);
  expectAll(jobs, said.startsWith('the plan') ? STALE : NONE);
  const told = outcome(repository, pull.number);
  expect(told).toContain(said);
  if (jobs.reviewed?.result === 'failure')
    expect(told).toContain('### Not applied: there is no reviewed plan\n\n');
  expect(writes(repository)).toEqual([]);
});

test('a push without a pull request applies nothing and says how to go on', async () => {
  const repository = await openRepository();
  const sha = repository.commit(edited(repository, ...GREETING));
  const jobs = await repository.run('apply', {
    name: 'push',
    payload: {},
    sha,
    ref: 'refs/heads/main',
  });
  expectAll(jobs, { ...NONE, comment: 'skipped' });
  expect(jobs.reviewed?.log).toMatch(/^::error .*was pushed without a pull request.*by hand/m);
  expect(writes(repository)).toEqual([]);
});

test('a delete waits for its label, and is applied with it', async () => {
  const repository = await openRepository();
  const begin = repository.open(edited(repository, ...GREETING));
  await repository.plan(begin);
  await repository.merge(begin);
  const night = / {2}night:[\s\S]*$/.exec(
    readFileSync(join(repository.origin, 'agents.yaml'), 'utf8'),
  );
  const pull = repository.open(edited(repository, 'agents.yaml', night?.[0] ?? '', ''));
  expectAll(await repository.plan(pull), {
    validate: 'success',
    plan: 'success',
    comment: 'success',
  });
  const comment = () => repository.github.comments.get(pull.number)?.[0]?.body ?? '';
  expect(comment()).toContain('held');
  const jobs = await repository.plan(pull, { labels: ['callsheet-allow-delete'] });
  expect(comment()).not.toContain('held');
  expectAll(await repository.merge(pull), GOOD);
  expect(() => repository.agent('Night desk')).toThrow();
  for (const secret of Object.values(repository.credentials.secrets)) {
    expect(logOf(jobs)).not.toContain(secret);
  }
});
