import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logOf, openRepository, type Repository, resultsOf } from '../../ci/actions.ts';
import { edited } from '../../ci/place.ts';

async function night(repository: Repository): Promise<void> {
  const jobs = await repository.byHand('drift');
  expect(resultsOf(jobs), logOf(jobs)).toEqual({ drift: 'success', issue: 'success' });
}

const pending = ({ github }: Repository) =>
  github.issues.filter(({ body }) => body.startsWith('<!-- callsheet:pending callsheet -->'));

test('what is merged and not live has one issue, with its pull request, until an apply of main', async () => {
  const repository = await openRepository();
  const { github, sim } = repository;
  const begin = repository.open(edited(repository, 'prompts/reception.md', 'phone', 'telephone'));
  await repository.plan(begin);
  github.reviews.set(begin.number, [
    { user: { login: 'ben' }, state: 'APPROVED' },
    { user: { login: 'cleo' }, state: 'APPROVED' },
    { user: { login: 'cleo' }, state: 'CHANGES_REQUESTED' },
    { user: { login: 'ben' }, state: 'COMMENTED' },
  ]);
  github.approvers.push('dora');
  const applied = await repository.merge(begin);
  expect(applied.apply?.log).toContain('Done: 2 created');
  // The receipt has the pull request, and who approved it last and in the environment.
  const cached = globSync('**/*', { cwd: repository.keep.folder, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'));
  expect(cached.join('\n')).toMatch(
    /"pull_request":\s*"https:\/\/github\.example\.test\/acme\/agents\/pull\/1",\s*"approved_by":\s*\["ben",\s*"dora"\]/,
  );
  await night(repository);
  expect(pending(repository)).toEqual([]);

  // A delete without its label is merged: the comment names what waits, and so does the night.
  const text = readFileSync(join(repository.origin, 'agents.yaml'), 'utf8');
  const block = / {2}night:[\s\S]*$/.exec(text)?.[0] ?? '';
  const gone = repository.open(edited(repository, 'agents.yaml', block, ''));
  await repository.plan(gone);
  const merged = await repository.merge(gone);
  expect(resultsOf(merged).apply, logOf(merged)).toBe('success');
  const said = () =>
    github.comments.get(gone.number)?.find(({ body }) => body.startsWith('<!-- callsheet:apply'))
      ?.body ?? '';
  expect(said()).toContain('### Applied; 1 delete waits for `--allow-delete`');
  // An edit of it on the platform is drift, and none of what is pending.
  sim.edit(repository.agent('Front desk'), { greeting_message: 'By hand.' });
  // Another change never came to be applied: its run was cancelled.
  const lost = repository.open(
    edited(repository, 'prompts/reception.md', '# Front desk', '# Desk | @all'),
  );
  repository.git('merge', '--quiet', '--no-ff', '--no-edit', lost.branch);
  github.pulls.push({
    number: lost.number,
    merged_at: '2026-11-21T09:00:00Z',
    merge_commit_sha: repository.git('rev-parse', 'main'),
    base: { ref: 'main' },
    head: { sha: lost.head, repo: { full_name: 'acme/agents' } },
  });
  await night(repository);
  const [issue] = pending(repository);
  const today = new Date().toISOString().slice(0, 10);
  expect(issue?.title).toBe(`main is ahead by 2 changes since ${today} (callsheet)`);
  expect(issue?.body).toContain(
    `| <code>agent.night</code> delete | #${gone.number} Change, ${today} | \`--allow-delete\`: run callsheet apply by hand`,
  );
  expect(issue?.body).toContain(
    `| <code>agent.reception</code> update: <code>system&#95;prompt</code> | #${lost.number} Change, ${today} | an apply`,
  );
  expect(issue?.body).not.toContain('greeting');
  await night(repository);
  expect(pending(repository)).toHaveLength(1);

  const all = await repository.byHand('apply', { 'allow-delete': true });
  expect(resultsOf(all), logOf(all)).toMatchObject({ apply: 'success', comment: 'success' });
  expect(() => repository.agent('Night desk')).toThrow();
  expect(said()).toContain('### Applied\n\nBy hand, with everything');
  await night(repository);
  expect(pending(repository)).toMatchObject([{ state: 'closed' }]);
  expect(github.comments.get(issue?.number ?? 0)?.[0]?.body).toContain(
    'Everything on main is live',
  );
});
