import { expect, test } from 'vitest';
import { logOf, openRepository, resultsOf } from '../../ci/actions.ts';
import { edited } from '../../ci/place.ts';

test('drift has one issue: opened, kept up to date, closed when it is gone, and opened anew', async () => {
  const repository = await openRepository();
  const { github, sim } = repository;
  const pull = repository.open(edited(repository, 'agents.yaml', 'We are closed.', 'Closed.'));
  await repository.plan(pull);
  await repository.merge(pull);
  // What is none of ours: somebody's own issue with the same first line, and a pull request.
  const marker = '<!-- callsheet:drift callsheet -->';
  const strangers = Array.from({ length: 120 }, (_, at) => ({
    id: at,
    number: 10_000 + at,
    title: 'Drift',
    state: 'open' as const,
    ...(at === 3
      ? { body: marker, user: { login: 'github-actions[bot]' }, pull_request: {} }
      : { body: marker, user: { login: 'mallory' } }),
  }));
  github.issues.push(...strangers);
  const ours = () => github.issues.slice(strangers.length);
  const night = async (issue: string) => {
    const jobs = await repository.byHand('drift');
    expect(resultsOf(jobs), logOf(jobs)).toEqual({ drift: 'success', issue });
  };

  await night('success');
  expect(ours()).toEqual([]);

  sim.edit(repository.agent('Front desk'), { greeting_message: 'By hand.' });
  await night('success');
  expect(ours()).toMatchObject([{ title: 'Drift in callsheet', state: 'open' }]);
  expect(ours()[0]?.body).toMatch(new RegExp(`^${marker}\n\n### Drift: 1 resource`));
  expect(ours()[0]?.body).toContain('By hand.');

  sim.edit(repository.agent('Night desk'), { greeting_message: 'Asleep.' });
  await night('success');
  expect(ours()).toHaveLength(1);
  expect(ours()[0]?.body).toContain('### Drift: 2 resources');

  sim.edit(repository.agent('Front desk'), { greeting_message: 'Harbor Dental.' });
  sim.edit(repository.agent('Night desk'), { greeting_message: 'Closed.' });
  await night('success');
  expect(ours()).toMatchObject([{ state: 'closed' }]);
  expect(github.comments.get(ours()[0]?.number ?? 0)?.[0]?.body).toContain('No drift any more');

  sim.edit(repository.agent('Front desk'), { greeting_message: 'Again.' });
  await night('success');
  expect(ours().map(({ state }) => state)).toEqual(['closed', 'open']);

  // It could not be looked for: the issue stays as it is, and the run is red.
  const body = ours()[1]?.body;
  await sim.close();
  const jobs = await repository.byHand('drift');
  expect(resultsOf(jobs), logOf(jobs)).toEqual({ drift: 'failure', issue: 'success' });
  expect(
    ours()
      .map((issue) => [issue.state, issue.body])
      .at(1),
  ).toEqual(['open', body]);
  expect(github.issues.slice(0, strangers.length)).toEqual(strangers);
});
