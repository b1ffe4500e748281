import { expect, test } from 'vitest';
import { type Jobs, logOf, openRepository, type Repository, resultsOf } from '../../ci/actions.ts';
import { edited } from '../../ci/place.ts';

const MARK = 'callsheet-frozen-callsheet';

/** A repository with a freeze that lasts as long as `during.dates` says. */
async function openFrozen() {
  const during = { CALLSHEET_VAR_DATES: '2020-01-01..2029-12-31' };
  const settings = `guards: { freeze: [{ reason: Holidays, zone: Etc/UTC, dates: ["\${var.dates}"] }] }\n`;
  const repository = await openRepository('', {
    settings,
    env: during,
    variables: '  dates: { env: CALLSHEET_VAR_DATES }\n',
  });
  return { repository, thaw: () => Object.assign(during, { CALLSHEET_VAR_DATES: '2020-01-01' }) };
}

function bodyOf({ github }: Repository, number: number, kind: 'plan' | 'apply'): string {
  const marker = `<!-- callsheet:${kind} callsheet -->`;
  const found = (github.comments.get(number) ?? []).filter(({ body }) => body.startsWith(marker));
  expect(found).toHaveLength(1);
  return found[0]?.body ?? '';
}

function expectAll(jobs: Jobs, results: Readonly<Record<string, string>>): void {
  expect(resultsOf(jobs), logOf(jobs)).toEqual(results);
}

test('what is merged in a freeze waits with its plan, and is applied by it afterwards', async () => {
  const { repository, thaw } = await openFrozen();
  const { github, sim } = repository;
  const pulls = [
    repository.open(edited(repository, 'agents.yaml', 'Harbor Dental.', 'Good day.')),
    repository.open(edited(repository, 'agents.yaml', 'We are closed.', 'Closed.')),
  ] as const;
  // The check is green: there is nothing to mend, and the plan is the one that will be applied.
  const first = await repository.plan(pulls[0]);
  expectAll(first, { validate: 'success', plan: 'success', comment: 'success' });
  expect(bodyOf(repository, 1, 'plan')).toMatch(
    /> \[!NOTE\]\n> \*\*Frozen with no end within a year\.\*\* The plan is kept\. .*callsheet resume/,
  );
  expect(bodyOf(repository, 1, 'plan')).toContain(`<!-- digest ${first.plan?.outputs.digest} -->`);

  // Nobody is asked for an approval of what would be refused.
  const waits = { reviewed: 'success', fresh: 'skipped', apply: 'skipped', comment: 'success' };
  expectAll(await repository.merge(pulls[0]), waits);
  const run = repository.lastRun();
  expect(bodyOf(repository, 1, 'apply')).toContain('### Not applied yet: frozen');
  expect(github.artifacts.get(run)).toMatchObject([{ name: MARK }]);
  expect(sim.store.agents.size).toBe(0);
  const resumed = { resume: 'success' };
  expectAll(await repository.byHand('resume'), resumed);
  expect(github.rerun).toEqual([]);

  // The second is planned with a plan of the first in the way: of its own it says why it is not applied.
  await repository.plan(pulls[1]);
  expectAll(await repository.merge(pulls[1]), waits);
  const second = repository.lastRun();

  thaw();
  expectAll(await repository.byHand('resume'), resumed);
  expect(github.rerun).toEqual([run, second]);
  expect([...github.artifacts.values()].flat().filter(({ name }) => name === MARK)).toEqual([]);
  const good = { reviewed: 'success', fresh: 'skipped', apply: 'success', comment: 'success' };
  expectAll(await repository.again(run), good);
  expect(repository.greeting('Front desk')).toBe('Good day.');
  expect(bodyOf(repository, 1, 'apply')).toContain('### Applied\n');
  expectAll(await repository.again(second), { ...good, apply: 'failure' });
  expect(bodyOf(repository, 2, 'apply')).toContain('the plan is stale (exit 5)');
  expectAll(await repository.byHand('resume'), resumed);
  expect(github.rerun).toHaveLength(2);

  // All of main by hand: what was merged and not live is told so, and is not applied once more.
  expectAll(await repository.byHand('apply'), {
    reviewed: 'skipped',
    fresh: 'success',
    apply: 'success',
    comment: 'success',
  });
  expect(repository.greeting('Night desk')).toBe('Closed.');
  expect(bodyOf(repository, 2, 'apply')).toContain('### Applied\n\nBy hand, with everything');
  expectAll(await repository.again(second), { ...good, apply: 'skipped', comment: 'skipped' });
});

test('by hand in a freeze nothing is applied, and what it waits for is said', async () => {
  const { repository } = await openFrozen();
  const jobs = await repository.byHand('apply');
  expectAll(jobs, { reviewed: 'skipped', fresh: 'success', apply: 'skipped', comment: 'skipped' });
  expect(jobs.fresh?.summary).toContain('**Frozen with no end within a year.**');
});
