import { expect, onTestFinished, test } from 'vitest';
import { type Jobs, logOf, openRepository, type Repository, resultsOf } from '../../ci/actions.ts';
import { edited } from '../../ci/place.ts';
import { PASSWORD, startHttpServer } from '../../features/stores/http-server.ts';

const LABEL = 'callsheet-rollout';
const MARKER = '<!-- callsheet:rollout callsheet -->';

/** A repository whose stack has a rollout, and its state in a store. Both of its agents are there. */
async function opened(): Promise<Repository> {
  const states = await startHttpServer();
  onTestFinished(() => states.stop());
  const CALLSHEET_STATE = `${states.origin}/api/v4/projects/1/terraform/state/callsheet`;
  const repository = await openRepository('', {
    settings:
      'guards: { max_change_percent: 30, min_resources: 1 }\nrollouts: { careful: { steps: [1 agent, 100%] } }\n',
    vars: { CALLSHEET_STATE },
    env: {
      CALLSHEET_STATE,
      CALLSHEET_STATE_USERNAME: 'gitlab-ci-token',
      CALLSHEET_STATE_PASSWORD: PASSWORD,
    },
  });
  const first = repository.open(edited(repository, 'prompts/reception.md', 'phone', 'telephone'));
  await repository.plan(first);
  expectAll(await repository.merge(first), { ...APPLIED, apply: 'success', comment: 'success' });
  // What has no label is none of the workflow's.
  expectAll(await repository.atMain('rollout', 'push'), NOTHING);
  return repository;
}

const APPLIED = { reviewed: 'success', fresh: 'skipped' };
const SKIPPED = { fresh: 'skipped', start: 'skipped', run: 'skipped', comment: 'skipped' };
const NOTHING = { ...SKIPPED, reviewed: 'success' };

function expectAll(jobs: Jobs, results: Readonly<Record<string, string>>): void {
  expect(resultsOf(jobs), logOf(jobs)).toEqual(results);
}

/** Merges another greeting of both agents with the label. */
async function rollOut(repository: Repository) {
  const greeting = repository
    .git('show', 'main:agents.yaml')
    .replaceAll(/(greeting_message: .*)\./g, '$1!');
  const pull = repository.open({ 'agents.yaml': greeting });
  const planned = await repository.plan(pull, { labels: [LABEL] });
  expect(planned.plan?.result, logOf(planned)).toBe('success');
  expectAll(await repository.merge(pull, undefined, [LABEL]), {
    ...APPLIED,
    apply: 'skipped',
    comment: 'skipped',
  });
  return pull;
}

function reportsOf({ github }: Repository, number: number): readonly string[] {
  const bodies = (github.comments.get(number) ?? []).map(({ body }) => body);
  return bodies.filter((body) => body.startsWith(`${MARKER}\n`));
}

function greetings(repository: Repository): readonly unknown[] {
  return ['Front desk', 'Night desk'].map((name) => repository.greeting(name)).sort();
}

test('what is merged with the label goes to one agent, is looked at every hour, and is told in its pull request', async () => {
  const repository = await opened();
  const pull = await rollOut(repository);
  expectAll(await repository.atMain('rollout', 'push'), {
    ...SKIPPED,
    reviewed: 'success',
    start: 'success',
    comment: 'success',
  });
  expect(greetings(repository)).toHaveLength(2);
  const changed = () => greetings(repository).filter((text) => String(text).endsWith('!')).length;
  expect(changed()).toBe(1);
  expect(reportsOf(repository, pull.number)).toEqual([
    expect.stringContaining('### careful: waiting at step 1 of 2 (1 of 2 agents)'),
  ]);

  // Others of ours, and one that says the same rollout and is somebody else's.
  const [report = ''] = reportsOf(repository, pull.number);
  repository.github.comments.set(9, [
    { id: 90_001, body: report, user: { login: 'mallory' } },
    {
      id: 90_002,
      body: report.replace(/rollout-id [\w-]+/, 'rollout-id r-1'),
      user: { login: 'github-actions[bot]' },
    },
  ]);
  const before = [...(repository.github.comments.get(9) ?? [])].map(({ body }) => body);
  const hour = await repository.atMain('rollout', 'schedule');
  expectAll(hour, { ...SKIPPED, reviewed: 'skipped', run: 'success', comment: 'success' });
  expect(reportsOf(repository, pull.number)).toHaveLength(1);
  expect(reportsOf(repository, pull.number)[0]).not.toBe(report);
  expect(repository.github.comments.get(9)?.map(({ body }) => body)).toEqual(before);

  expectAll(await repository.byHand('rollout', { command: 'promote' }), {
    ...SKIPPED,
    reviewed: 'skipped',
    start: 'success',
    comment: 'success',
  });
  expect(changed()).toBe(2);
  const ended = reportsOf(repository, pull.number);
  expect(ended).toEqual([
    expect.stringContaining('### careful: done at step 2 of 2 (2 of 2 agents)'),
  ]);

  // Nothing is under way: what it came to stays.
  const quiet = await repository.atMain('rollout', 'schedule');
  expectAll(quiet, { ...SKIPPED, reviewed: 'skipped', run: 'success' });
  expect(reportsOf(repository, pull.number)).toEqual(ended);
});

test('started by hand it takes a plan of its own; aborted it is rolled back; held it is red', async () => {
  const repository = await opened();
  const pull = await rollOut(repository);
  const begun = {
    ...SKIPPED,
    reviewed: 'skipped',
    fresh: 'success',
    start: 'success',
    comment: 'success',
  };
  expectAll(await repository.byHand('rollout', { command: 'start' }), begun);
  // No pull request started it.
  expect(reportsOf(repository, pull.number)).toEqual([]);
  repository.git('checkout', '--quiet', 'main');
  repository.commit({
    'agents.yaml': repository.git('show', 'main:agents.yaml').replaceAll('!', '?'),
  });
  const held = await repository.byHand('rollout', { command: 'promote' });
  expectAll(held, { ...begun, fresh: 'skipped', start: 'failure' });
  expect(held.start?.summary).toContain('**Held, or refused by a guard (exit 4).**');
  const aborted = await repository.byHand('rollout', { command: 'abort' });
  expectAll(aborted, { ...SKIPPED, reviewed: 'skipped', run: 'success', comment: 'success' });
  expect(aborted.run?.summary).toContain('### careful: rolled back at step');
  expect(greetings(repository).join()).not.toMatch(/[!?]/);
});

test('a label without a plan that went well starts nothing, and the pull request says so', async () => {
  const repository = await opened();
  const pull = repository.open(edited(repository, 'agents.yaml', 'We are closed.', 'Closed.'));
  await repository.merge(pull, undefined, [LABEL]);
  const jobs = await repository.atMain('rollout', 'push');
  expectAll(jobs, { ...SKIPPED, reviewed: 'failure', comment: 'success' });
  expect(reportsOf(repository, pull.number)).toEqual([
    expect.stringContaining('Run the workflow callsheet rollout by hand, with start'),
  ]);
});
