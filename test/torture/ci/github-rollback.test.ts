import { expect, test } from 'vitest';
import { type Jobs, logOf, openRepository, type Repository, resultsOf } from '../../ci/actions.ts';
import { edited } from '../../ci/place.ts';

function expectAll(jobs: Jobs, results: Readonly<Record<string, string>>): void {
  expect(resultsOf(jobs), logOf(jobs)).toEqual(results);
}

const ASKED = { run: 'last', reason: 'Callers hear "Hi" @all', edits: 'stop and say so' };
const GOOD = { 'dry-run': 'success', rollback: 'success', revert: 'success' };

/** Two merges that were applied. */
async function openApplied(): Promise<Repository> {
  const repository = await openRepository();
  for (const greeting of ['Good day.', 'Hi.']) {
    const from = repository.git('show', 'main:agents.yaml').match(/greeting_message: (.*)/)?.[1];
    const pull = repository.open(edited(repository, 'agents.yaml', from ?? '', greeting));
    await repository.plan(pull);
    expect(resultsOf(await repository.merge(pull)).apply).toBe('success');
  }
  return repository;
}

test('a run is rolled back from the pipeline, and a pull request reverts its merge', async () => {
  const repository = await openApplied();
  const { github } = repository;
  const merge = repository.git('rev-parse', 'main');
  const jobs = await repository.byHand('rollback', ASKED);
  expectAll(jobs, GOOD);
  expect(jobs['dry-run']?.summary).toContain('Hi.');
  expect(jobs['dry-run']?.summary).toContain('Good day.');
  expect(repository.greeting('Front desk')).toBe('Good day.');
  expect(jobs.rollback?.summary).toContain('### Rolled back');

  const [pull] = github.opened;
  const undone = jobs['dry-run']?.outputs.undoes ?? '';
  expect(pull).toMatchObject({
    base: 'main',
    head: `callsheet-revert-${undone}`,
    title: expect.stringContaining('Revert “Merge branch'),
  });
  expect(pull?.body).toContain(`Run \`${undone}\` was rolled back by run \``);
  expect(pull?.body).toContain('Callers hear "Hi" &#64;all');
  expect(pull?.body).toContain(merge);
  const files = repository.git('show', `callsheet-revert-${undone}:agents.yaml`);
  expect(files).toContain('Good day.');

  // Merged, it brings nothing but peace: the platform is so already.
  const number = 40;
  const head = repository.git('rev-parse', `callsheet-revert-${undone}`);
  const reverting = { number, branch: `callsheet-revert-${undone}`, head };
  const planned = await repository.plan(reverting);
  expectAll(planned, { validate: 'success', plan: 'success', comment: 'success' });
  expect(github.comments.get(number)?.[0]?.body).toContain('No changes');
});

test('a revert that conflicts is left to a person, with the command', async () => {
  const repository = await openApplied();
  const merge = repository.git('rev-parse', 'main');
  repository.commit(edited(repository, 'agents.yaml', 'Hi.', 'Hello.'));
  const jobs = await repository.byHand('rollback', ASKED);
  expectAll(jobs, { ...GOOD, revert: 'failure' });
  expect(repository.greeting('Front desk')).toBe('Good day.');
  expect(jobs.revert?.summary).toContain(`git revert --no-edit -m 1 ${merge}`);
  expect(jobs.revert?.log).toMatch(/^::error title=The revert is missing::/m);
  expect(repository.github.opened).toEqual([]);
});

test('what somebody edited since stops it, unless it is said what becomes of it', async () => {
  const repository = await openApplied();
  repository.sim.edit(repository.agent('Front desk'), { greeting_message: 'By hand.' });
  const refused = { 'dry-run': 'failure', rollback: 'skipped', revert: 'skipped' };
  const jobs = await repository.byHand('rollback', ASKED);
  expectAll(jobs, refused);
  expect(jobs['dry-run']?.summary).toContain('### Not rolled back (exit 4)');
  expect(jobs['dry-run']?.summary).toContain('was edited since the run, last by user:dashboard');
  expect(repository.greeting('Front desk')).toBe('By hand.');
  expectAll(await repository.byHand('rollback', { ...ASKED, edits: 'undo as well' }), GOOD);
  expect(repository.greeting('Front desk')).toBe('Good day.');
});
