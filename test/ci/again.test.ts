import { expect, test } from 'vitest';
import { longTest } from '../long.ts';
import { type Jobs, logOf, openRepository, type Repository } from './actions.ts';
import { openGitlab } from './gitlab.ts';
import { edited } from './place.ts';

const GREETING = ['agents.yaml', 'Harbor Dental.', 'Harbor Dental, good day.'] as const;
const CLOSED = ['agents.yaml', 'We are closed.', 'Closed.'] as const;

/** Every comment of a repository, as people read it now. */
function commentsOf({ github }: Repository): string {
  const all = [...github.comments].flatMap(([number, comments]) =>
    comments.map(({ body }) => `#${number} ${body}`),
  );
  return all.join('\n\n');
}

function expectGood(jobs: Jobs): void {
  const bad = Object.values(jobs).filter(({ result }) => !['success', 'skipped'].includes(result));
  expect(bad, logOf(jobs)).toEqual([]);
}

test('a run that was applied is done when it is started again, whole or one job of it, and its comment stands', async () => {
  const repository = await openRepository();
  const { again, lastRun, open } = repository;
  const pull = open(edited(repository, ...GREETING));
  await repository.plan(pull);
  const planned = lastRun();
  await repository.merge(pull);
  const applied = lastRun();
  const written = commentsOf(repository);
  expect(written).toContain('### Applied\n');
  for (const job of ['apply', 'comment', undefined]) {
    const jobs = await again(applied, job);
    expectGood(jobs);
    if (job === 'apply')
      expect(jobs.apply?.summary).toMatch(/Run \d{8}t\S+ applied this plan already/);
    expect(commentsOf(repository), job).toBe(written);
  }

  // Another pull request is planned twice. The first run, started again, tells of what nobody proposes any more.
  const other = open(edited(repository, ...CLOSED));
  await repository.plan(other);
  const first = lastRun();
  repository.git('checkout', '--quiet', other.branch);
  repository.commit(edited(repository, 'agents.yaml', 'Closed.', 'Closed for today.'));
  repository.git('checkout', '--quiet', 'main');
  await repository.plan(other);
  const newest = commentsOf(repository);
  expectGood(await again(first));
  expect(commentsOf(repository)).toBe(newest);
  await repository.merge(other);
  const both = commentsOf(repository);
  for (const [run, job] of [
    [applied, 'apply'],
    [planned, undefined],
  ] as const) {
    const jobs = await again(run, job);
    // Its plan would take back what was merged since, and is refused.
    if (run === applied) expectGood(jobs);
    expect(commentsOf(repository), logOf(jobs)).toBe(both);
  }
  expect(repository.greeting('Night desk')).toBe('Closed for today.');
});

longTest(
  'a run that ended in part is not told anew by its old job once another one did the rest',
  async () => {
    const repository = await openRepository();
    const { again, lastRun, sim } = repository;
    const pull = repository.open(edited(repository, ...GREETING));
    await repository.plan(pull);
    sim.faults.add({ operation: 'createAgent', skip: 1, status: 400 });
    await repository.merge(pull);
    const applied = lastRun();
    expect(commentsOf(repository)).toContain('### Applied in part');
    expectGood(await repository.byHand('apply'));
    const written = commentsOf(repository);
    expect(written).not.toContain('in part');
    await again(applied, 'apply');
    expect(commentsOf(repository)).toBe(written);
  },
);

test('GitLab: the log of a plan is text and its note Markdown, and an older pipeline overwrites no note', async () => {
  const { run, notes } = await openGitlab();
  const first = { CI_PIPELINE_ID: '41' };
  const second = { CI_PIPELINE_ID: '42' };
  const { exit, log } = await run('callsheet-plan', first);
  expect(exit, log).toBe(0);
  expect(log).toContain('+ Front desk');
  expect(log).not.toMatch(/<details|<!--|&#\d+;|^###/m);
  expect((await run('callsheet-note', second)).exit).toBe(0);
  const [{ body } = { body: '' }] = notes;
  expect(body).toMatch(/^<!-- callsheet:plan callsheet -->\n\n### Plan: 2 new/);
  expect((await run('callsheet-note', first)).exit).toBe(0);
  expect(notes.map((note) => note.body)).toEqual([body]);
});
