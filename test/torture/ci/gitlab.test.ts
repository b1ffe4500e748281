import { expect, test } from 'vitest';
import { jobsIn, openGitlab } from '../../ci/gitlab.ts';
import { edited } from '../../ci/place.ts';

const PLANNED = { 'callsheet-validate': 'on_success', 'callsheet-plan': 'on_success' };

test.each([
  ['merge', { ...PLANNED, 'callsheet-note': 'always' }],
  ['fork', { 'callsheet-validate': 'on_success' }],
  ['main', { ...PLANNED, 'callsheet-apply': 'manual' }],
  ['rollouts', { ...PLANNED, 'callsheet-apply': 'manual', 'callsheet-rollout-start': 'manual' }],
  ['schedule', { 'callsheet-drift': 'on_success' }],
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
  expect(notes.at(-1)?.body).toMatch(new RegExp(`^${marker}\n\n### Plan: 2 to create`));

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
  // Once more: the state moved, and main is planned with it.
  const again = await run('callsheet-apply');
  expect(again.exit, again.log).toBe(5);
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
