import { expect, test } from 'vitest';
import { longTest } from '../long.ts';
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
  expect(old.body).toMatch(
    new RegExp(
      `^${marker}\n\n### Plan of this pull request: 1 new agent; main has 1 change already`,
    ),
  );
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

longTest(
  'in a folder of a repository, too: of a fork without secrets, and what is merged is applied',
  async () => {
    const repository = await openRepository('clinic');
    const { github, sim } = repository;
    const secret = 'integrations: { smsProvider: { auth_token: { $secret: env:SMS_TOKEN } } }';
    const theirs = repository.open(
      edited(repository, 'agents.yaml', 'We are closed.', `Closed.\n    ${secret}`),
    );
    const forked = await repository.plan(theirs, { from: 'mallory/agents' });
    expect(resultsOf(forked), logOf(forked)).toEqual({
      validate: 'success',
      plan: 'skipped',
      comment: 'skipped',
    });
    expect([...github.asked, ...sim.requests]).toEqual([]);
    // A maintainer has it planned, with credentials for reading and none of the stack's secrets.
    const byHand = await repository.byHand('plan-fork', { 'pull-request': String(theirs.number) });
    expect(resultsOf(byHand), logOf(byHand)).toEqual({ plan: 'success', comment: 'success' });
    const [comment] = github.comments.get(theirs.number) ?? [];
    expect(comment?.body).toMatch(
      /^<!-- callsheet:plan clinic -->\n\n### Plan of this pull request: 1 new agent; main has 1 change already/,
    );
    expect(comment?.body).toContain('SMS_TOKEN');

    const ours = repository.open(edited(repository, 'agents.yaml', 'We are closed.', 'Closed.'));
    const planned = await repository.plan(ours);
    expect(planned.plan?.outputs.digest, logOf(planned)).toMatch(/^sha256:/);
    expect(sim.store.agents.size).toBe(0);
    const applied = await repository.merge(ours);
    expect(resultsOf(applied), logOf(applied)).toMatchObject({
      reviewed: 'success',
      apply: 'success',
    });
    expect(applied.reviewed?.outputs.digest).toBe(planned.plan?.outputs.digest);
    expect(repository.greeting('Night desk')).toBe('Closed.');
    expect(repository.keep.caches.map(({ key }) => key)).toEqual([
      expect.stringMatching(/^callsheet-state:clinic::/),
    ]);
  },
);
