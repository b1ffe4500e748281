import { expect, test } from 'vitest';
import { logOf, openRepository, resultsOf } from './actions.ts';
import { edited } from './place.ts';

// The rest of what the workflows do is in test/torture/ci.
test('a pull request is planned in a comment, and what is merged is applied by that plan', async () => {
  const repository = await openRepository();
  const { github } = repository;
  const pull = repository.open(edited(repository, 'agents.yaml', 'We are closed.', 'Closed.'));
  const marker = '<!-- callsheet:plan callsheet -->';
  const strangers = Array.from({ length: 120 }, (_, id) => ({
    id,
    body: `${marker}\nComment ${id}`,
    user: { login: 'mallory' },
  }));
  const old = { id: 900, body: `${marker}\n\nOld.`, user: { login: 'github-actions[bot]' } };
  const comments = [...strangers, old];
  github.comments.set(pull.number, comments);

  const planned = await repository.plan(pull);
  expect(resultsOf(planned), logOf(planned)).toEqual({
    validate: 'success',
    plan: 'success',
    comment: 'success',
  });
  expect(comments).toHaveLength(121);
  expect(comments.slice(0, -1)).toEqual(strangers);
  expect(old.body).toMatch(new RegExp(`^${marker}\n\n### Plan: 2 to create`));
  expect(old.body).toContain(`<!-- digest ${planned.plan?.outputs.digest} -->`);

  const applied = await repository.merge(pull);
  expect(resultsOf(applied), logOf(applied)).toEqual({
    reviewed: 'success',
    fresh: 'skipped',
    apply: 'success',
    comment: 'success',
  });
  expect(repository.greeting('Night desk')).toBe('Closed.');
  expect(comments.at(-1)?.body).toContain('### Applied');
});
