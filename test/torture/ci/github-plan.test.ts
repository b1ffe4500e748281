import { expect, test } from 'vitest';
import { logOf, openRepository, resultsOf } from '../../ci/actions.ts';
import { edited } from '../../ci/place.ts';

const GREETING = ['agents.yaml', 'Harbor Dental.', 'Harbor Dental, good day.'] as const;

test('a pull request gets one comment, which later pushes update, and no other is touched', async () => {
  const repository = await openRepository();
  const { github } = repository;
  const pull = repository.open(edited(repository, ...GREETING));
  const marker = '<!-- callsheet:plan callsheet -->';
  // More than a page of them, and one by somebody who knows the marker.
  const others = Array.from({ length: 230 }, (_, id) => ({
    id,
    body: `${marker}\nComment ${id}`,
    user: { login: 'mallory' },
  }));
  github.comments.set(pull.number, [...others]);

  const first = await repository.plan(pull);
  expect(resultsOf(first), logOf(first)).toEqual({
    validate: 'success',
    plan: 'success',
    comment: 'success',
  });
  const comments = github.comments.get(pull.number) ?? [];
  expect(comments).toHaveLength(others.length + 1);
  const ours = comments.at(-1);
  expect(ours?.body.split('\n')[0]).toBe(marker);
  expect(ours?.body).toContain('agent.reception');
  expect(ours?.body).toContain(`Commit ${pull.head.slice(0, 12)}`);
  expect(ours?.body).toContain(`<!-- digest ${first.plan?.outputs.digest} -->`);
  expect(first.plan?.summary).toContain('agent.reception');

  repository.git('checkout', '--quiet', pull.branch);
  const head = repository.commit(edited(repository, 'agents.yaml', 'We are closed.', 'Closed.'));
  repository.git('checkout', '--quiet', 'main');
  const second = await repository.plan(pull);
  expect(resultsOf(second).comment, logOf(second)).toBe('success');
  expect(comments).toHaveLength(others.length + 1);
  expect(comments.at(-1)?.body).toContain(`Commit ${head.slice(0, 12)}`);
  expect(comments.slice(0, -1)).toEqual(others);
  expect(github.asked.filter((one) => one.startsWith('PATCH'))).toEqual([
    `PATCH /repos/acme/agents/issues/comments/${ours?.id}`,
  ]);
});

test('a plan that fails takes the place of the one that stood in the comment', async () => {
  const repository = await openRepository();
  const pull = repository.open(edited(repository, ...GREETING));
  await repository.plan(pull);
  repository.git('checkout', '--quiet', pull.branch);
  repository.commit(edited(repository, 'agents.yaml', 'agent_type: receptionist', 'agent_tpye: x'));
  repository.git('checkout', '--quiet', 'main');
  const jobs = await repository.plan(pull);
  expect(resultsOf(jobs)).toEqual({ validate: 'failure', plan: 'failure', comment: 'success' });
  expect(jobs.validate?.log).toMatch(/^::error file=agents\.yaml,line=\d+/m);
  const comments = repository.github.comments.get(pull.number) ?? [];
  expect(comments).toHaveLength(1);
  expect(comments[0]?.body).toContain('### The plan failed (exit 1)');
  expect(comments[0]?.body).toContain('agent_tpye');
  expect(comments[0]?.body).not.toContain('<!-- digest');
});

test('a plan that a guard refuses is shown, and the check is red', async () => {
  const repository = await openRepository();
  const rule = 'rules: { no-agents: { over: change, require: "false", message: Holidays } }\n';
  const pull = repository.open({
    ...edited(
      repository,
      'callsheet.yaml',
      'organization: harbor\n',
      `organization: harbor\n${rule}`,
    ),
  });
  const jobs = await repository.plan(pull);
  expect(resultsOf(jobs)).toEqual({ validate: 'success', plan: 'failure', comment: 'success' });
  const [comment] = repository.github.comments.get(pull.number) ?? [];
  expect(comment?.body).toContain('**A guard refuses this plan (exit 4).**');
  expect(comment?.body).toContain('agent.reception');
  expect(comment?.body).toContain('Holidays');
  expect(comment?.body).not.toContain('<!-- digest');
});

test('a pull request from a fork is validated and gets no secrets', async () => {
  const repository = await openRepository();
  const pull = repository.open(edited(repository, ...GREETING));
  const jobs = await repository.plan(pull, { from: 'mallory/agents' });
  expect(resultsOf(jobs)).toEqual({ validate: 'success', plan: 'skipped', comment: 'skipped' });
  expect(jobs.validate?.summary).toContain('validated here');
  expect(repository.github.asked).toEqual([]);
  expect(repository.sim.requests).toEqual([]);
});

test('a merge queue plans what it is about to merge, and comments nowhere', async () => {
  const repository = await openRepository();
  const { head } = repository.open(edited(repository, ...GREETING));
  const jobs = await repository.run('plan', {
    name: 'merge_group',
    payload: { merge_group: { head_sha: head } },
    sha: head,
    ref: 'refs/heads/gh-readonly-queue/main/pr-1',
  });
  expect(resultsOf(jobs), logOf(jobs)).toEqual({
    validate: 'success',
    plan: 'success',
    comment: 'skipped',
  });
  expect(repository.github.asked).toEqual([]);
});

test('a label on a merged pull request plans nothing, and takes no plan away from the apply', async () => {
  const repository = await openRepository();
  const { github } = repository;
  const pull = repository.open(edited(repository, 'agents.yaml', 'We are closed.', 'Closed.'));
  await repository.plan(pull);
  const [run] = github.runs;
  if (run === undefined) throw new Error('there is no run');
  const late = {
    created_at: '2026-11-21T09:00:05Z',
    status: 'in_progress',
    conclusion: null,
  } as const;
  github.runs.push(
    { ...run, ...late, id: 901, run_number: 901 },
    { ...run, id: 902, run_number: 902, conclusion: 'skipped' },
    { ...run, id: 903, run_number: 903, head_sha: 'f'.repeat(40) },
  );
  const applied = await repository.merge(pull);
  expect(resultsOf(applied), logOf(applied)).toMatchObject({
    reviewed: 'success',
    apply: 'success',
  });
  expect(applied.reviewed?.outputs['run-id']).toBe(String(run.id));
  const asked = github.asked.length;
  const jobs = await repository.plan(pull, { state: 'closed', labels: ['callsheet-allow-delete'] });
  expect(resultsOf(jobs)).toEqual({ validate: 'skipped', plan: 'skipped', comment: 'skipped' });
  expect(github.asked).toHaveLength(asked);
});
