import { expect, test } from 'vitest';
import { jobsIn, openGitlab } from '../../ci/gitlab.ts';
import { edited } from '../../ci/place.ts';

const PLANNED = { 'callsheet-validate': 'on_success', 'callsheet-plan': 'on_success' };

test.each([
  ['merge', { ...PLANNED, 'callsheet-note': 'always' }],
  ['fork', { 'callsheet-validate': 'on_success' }],
  ['main', { ...PLANNED, 'callsheet-apply': 'manual' }],
  ['rollouts', { ...PLANNED, 'callsheet-apply': 'manual', 'callsheet-rollout-start': 'manual' }],
  ['schedule', { 'callsheet-drift': 'on_success', 'callsheet-pending': 'always' }],
  [
    'rollback',
    {
      'callsheet-rollback-plan': 'on_success',
      'callsheet-rollback': 'manual',
      'callsheet-revert': 'on_success',
    },
  ],
  ['hourly', { 'callsheet-rollout': 'on_success' }],
] as const)('the jobs of a pipeline: %s', async (pipeline, jobs) => {
  expect(await jobsIn(pipeline)).toEqual(jobs);
});

test('a note is written, updated, and found among many; main is planned, applied and watched', async () => {
  const gitlab = await openGitlab('clinic');
  const { notes, run } = gitlab;
  const marker = '<!-- callsheet:plan clinic -->';
  const strangers = Array.from({ length: 150 }, (_, id) => ({
    id,
    body: `${marker}\nNote ${id}`,
    author: { id: 7 },
  }));
  notes.push(...strangers);
  const good = async (job: string, variables = {}) => {
    const { exit, log } = await run(job, variables);
    expect(exit, log).toBe(0);
    return log;
  };

  await good('callsheet-validate');
  await good('callsheet-plan');
  await good('callsheet-note');
  expect(notes).toHaveLength(151);
  expect(notes.at(-1)?.body).toMatch(new RegExp(`^${marker}\n\n### Plan: 2 new`));

  // A configuration that is broken: the plan in the note must not stand any longer.
  const whole = edited(gitlab, 'agents.yaml', 'greeting_message', 'greeting_message');
  gitlab.commit(edited(gitlab, 'agents.yaml', 'greeting_message', 'greeting_mesage'));
  expect((await run('callsheet-plan')).exit).toBe(1);
  await good('callsheet-note');
  expect(notes).toHaveLength(151);
  expect(notes.at(-1)?.body).toContain('### The plan failed');
  expect(notes.at(-1)?.body).toContain('greeting_mesage');
  gitlab.commit(whole);
  expect(notes.slice(0, 150)).toEqual(strangers);

  await good('callsheet-plan');
  const wrong = await run('callsheet-apply', { CALLSHEET_DIGEST: `sha256:${'0'.repeat(64)}` });
  expect(wrong.exit, wrong.log).toBe(5);
  expect(gitlab.sim.store.agents.size).toBe(0);
  await good('callsheet-apply');
  expect(gitlab.greeting('Front desk')).toBe('Harbor Dental.');
  // Once more: it is applied already.
  expect(await good('callsheet-apply')).toContain('applied this plan already');
  expect(await good('callsheet-plan')).not.toMatch(/adopt|create/);

  await good('callsheet-drift');
  gitlab.sim.edit(gitlab.agent('Front desk'), { greeting_message: 'By hand.' });
  const drift = await run('callsheet-drift');
  expect(drift.exit, drift.log).toBe(2);
});

test('a branch that left before the last apply is planned as it will be merged', async () => {
  const gitlab = await openGitlab('clinic');
  const { run, git, commit } = gitlab;
  const first = git('rev-parse', 'HEAD');
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD');
  commit(edited(gitlab, 'agents.yaml', 'Harbor Dental.', 'Good day.'));
  for (const job of ['callsheet-plan', 'callsheet-apply']) {
    const { exit, log } = await run(job);
    expect(exit, log).toBe(0);
  }
  git('checkout', '--quiet', '-b', 'topic', first);
  commit(edited(gitlab, 'agents.yaml', 'We are closed.', 'Closed until eight.'));

  const alone = await run('callsheet-plan');
  expect(alone.exit, alone.log).toBe(5);
  expect(alone.log).toContain('which this checkout does not have');
  const merged = await run('callsheet-plan', { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: branch });
  expect(merged.exit, merged.log).toBe(0);
  expect(merged.log).toContain('Closed until eight.');
  expect(merged.log).not.toContain('Good day.');
});

test('what is merged and not live has one issue; a rollback ends in a merge request', async () => {
  const gitlab = await openGitlab();
  const { kept, run } = gitlab;
  const good = async (job: string, variables = {}) => {
    const { exit, log } = await run(job, variables);
    expect(exit, log).toBe(0);
    return log;
  };
  await good('callsheet-plan');
  await good('callsheet-apply');
  await good('callsheet-drift');
  await good('callsheet-pending');
  expect(kept.issues).toEqual([]);

  const merge = gitlab.commit(
    edited(gitlab, 'agents.yaml', 'We are closed.', 'Closed.'),
    'Close\n\nSee merge request acme/agents!12',
  );
  kept.merges.set(merge, 12);
  await good('callsheet-drift');
  await good('callsheet-pending');
  const today = new Date().toISOString().slice(0, 10);
  expect(kept.issues).toMatchObject([
    { title: `main is ahead by 1 change since ${today} (callsheet)`, state: 'opened' },
  ]);
  expect(kept.issues[0]?.description).toContain(
    `| <code>agent.night</code> update: <code>greeting&#95;message</code> | !12 Close, ${today} | an apply`,
  );

  await good('callsheet-plan');
  await good('callsheet-apply');
  await good('callsheet-drift');
  await good('callsheet-pending');
  expect(kept.issues).toMatchObject([{ state: 'closed' }]);

  const back = { CALLSHEET_ROLLBACK: 'last', CALLSHEET_REASON: 'Too short for @all' };
  expect(await good('callsheet-rollback-plan', back)).toContain('We are closed.');
  await good('callsheet-rollback', back);
  expect(gitlab.greeting('Night desk')).toBe('We are closed.');
  await good('callsheet-revert', back);
  expect(kept.asked.map(([path]) => path)).toEqual([
    'repository/branches',
    `repository/commits/${merge}/revert`,
    'merge_requests',
  ]);
  expect(kept.asked[0]?.[1]).toMatchObject({ ref: 'main' });
  expect(kept.asked[2]?.[1]).toMatchObject({
    target_branch: 'main',
    description: expect.stringContaining('Too short for &#64;all'),
  });
  kept.conflicts = true;
  const conflict = await run('callsheet-revert', back);
  expect(conflict.exit).toBe(1);
  expect(conflict.log).toContain(`git revert ${merge}`);
});

test('in a freeze a plan is kept, and apply is a warning', async () => {
  const gitlab = await openGitlab();
  const freeze = 'guards: { freeze: [{ zone: Etc/UTC, dates: [2020-01-01..2099-01-01] }] }\n';
  gitlab.commit(
    edited(gitlab, 'callsheet.yaml', 'organization: harbor\n', `organization: harbor\n${freeze}`),
  );
  const planned = await gitlab.run('callsheet-plan');
  expect(planned.exit, planned.log).toBe(0);
  expect(planned.log).toContain('Frozen with no end within a year: the plan is kept.');
  const applied = await gitlab.run('callsheet-apply');
  expect(applied.exit, applied.log).toBe(75);
  expect(gitlab.sim.store.agents.size).toBe(0);
});
