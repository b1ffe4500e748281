import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { logOf, openRepository, resultsOf } from './actions.ts';
import { openPlace, stackOf } from './place.ts';

const NAMES = ['bay', 'harbor', 'lagoon', 'reef', 'summit'];
const TREE = Object.assign({}, ...NAMES.map((name) => stackOf(name)));
const DESKS = ['Bay', 'Harbor', 'Lagoon', 'Reef', 'Summit'].map((name) => `${name} desk`);

/** The agents of the platform by name, with what each says. */
function liveIn({ sim }: Awaited<ReturnType<typeof openPlace>>) {
  const agents = [...sim.store.agents.values()].map(({ record }) => record);
  return Object.fromEntries(agents.map((one) => [one.name, one.greeting_message]));
}

/** The files of a pipeline, as Git has them. */
function pipelineIn(origin: string): readonly string[] {
  return globSync('{.*,.*/**/*,*.sh}', { cwd: origin, exclude: ['.git'], withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name).slice(origin.length + 1))
    .filter((file) => !file.startsWith('.git/'))
    .sort();
}

/** The stacks that a comment has a section of. */
function sectionsIn(body: string): readonly string[] {
  return [...body.matchAll(/^<details><summary><code>([^<]+)<\/code><\/summary>$/gm)].map(
    ([, path = '']) => path.replaceAll('&#47;', '/'),
  );
}

test.each(['github', 'gitlab'] as const)(
  'a tree of five stacks has at most four files for %s, and a sixth stack none more',
  async (service) => {
    const { origin } = await openPlace(service, '', '', '', TREE);
    const files = pipelineIn(origin);
    expect(files.length, files.join()).toBeLessThanOrEqual(4);
    expect(files.length).toBeGreaterThan(1);
  },
);

describe('the tree of stacks on GitHub', () => {
  test('is planned in one comment, with a section for each stack, and applied', async () => {
    const repository = await openRepository('', { tree: TREE });
    const { github } = repository;
    const pull = repository.open({ 'clinics/README.md': 'Clinics\n' });
    const planned = await repository.plan(pull);
    expect(resultsOf(planned), logOf(planned)).toMatchObject({
      validate: 'success',
      plan: 'success',
      comment: 'success',
      check: 'success',
    });
    const [comment, ...more] = github.comments.get(pull.number) ?? [];
    expect(more).toEqual([]);
    expect(comment?.body).toMatch(
      /^<!-- callsheet:plan callsheet -->\n\n### Planned 5 stacks: 5 with changes/,
    );
    expect(sectionsIn(comment?.body ?? '')).toEqual(NAMES.map((name) => `clinics/${name}`));
    const applied = await repository.merge(pull);
    expect(resultsOf(applied), logOf(applied)).toMatchObject({
      apply: 'success',
      applied: 'success',
    });
    expect(Object.keys(liveIn(repository)).sort()).toEqual(DESKS);
    expect(github.comments.get(pull.number)?.[1]?.body).toContain('### Applied\n');

    // Nothing to do: the states were kept. A sixth stack appears, and no file for it.
    const files = pipelineIn(repository.origin);
    const sixth = repository.open(stackOf('tower'));
    const again = await repository.plan(sixth);
    const [page] = github.comments.get(sixth.number) ?? [];
    expect(page?.body, logOf(again)).toContain('1 with changes, 5 unchanged; 1 to create');
    expect(sectionsIn(page?.body ?? '')).toEqual(['clinics/tower']);
    await repository.merge(sixth);
    expect(Object.keys(liveIn(repository)).sort()).toEqual([...DESKS, 'Tower desk']);
    expect(pipelineIn(repository.origin)).toEqual(files);
  });

  test('goes on with four stacks where one is broken, and the check is red', async () => {
    const repository = await openRepository('', { tree: TREE });
    const pull = repository.open({
      'clinics/lagoon/agents.yaml': 'agents: { desk: { nmae: Lagoon desk } }\n',
    });
    const planned = await repository.plan(pull);
    expect(resultsOf(planned), logOf(planned)).toMatchObject({
      plan: 'success',
      comment: 'success',
      check: 'failure',
    });
    const [comment] = repository.github.comments.get(pull.number) ?? [];
    expect(sectionsIn(comment?.body ?? '')).toEqual(NAMES.map((name) => `clinics/${name}`));
    expect(comment?.body).toContain('no field "nmae"');
    const applied = await repository.merge(pull);
    expect(resultsOf(applied), logOf(applied)).toMatchObject({
      apply: 'failure',
      applied: 'success',
    });
    expect(Object.keys(liveIn(repository)).sort()).toEqual(
      DESKS.filter((name) => name !== 'Lagoon desk'),
    );
    expect(repository.github.comments.get(pull.number)?.[1]?.body).toContain('clinics/lagoon');
  });

  test('lets a guard of one stack pass by its label, and the others wait for nobody', async () => {
    const repository = await openRepository('', { tree: TREE });
    const first = await repository.byHand('apply');
    expect(first.apply?.result, logOf(first)).toBe('success');
    const limits = 'guards: { max_change_percent: 30, min_resources: 1 }\n';
    const files = Object.fromEntries(
      ['bay', 'harbor'].flatMap((name) =>
        Object.entries(stackOf(name, name === 'bay' ? limits : '')).map(([path, text]) => [
          path,
          text.replace(/greeting_message: .*/, 'greeting_message: Good day.'),
        ]),
      ),
    );
    const pull = repository.open(files);
    const comment = () => repository.github.comments.get(pull.number)?.[0]?.body ?? '';
    const refused = await repository.plan(pull);
    expect(resultsOf(refused), logOf(refused)).toMatchObject({ plan: 'success', check: 'failure' });
    expect(comment()).toContain('> - `callsheet-override-limits`');
    const labelled = await repository.plan(pull, { labels: ['callsheet-override-limits'] });
    expect(resultsOf(labelled), logOf(labelled)).toMatchObject({
      plan: 'success',
      check: 'success',
    });
    expect(comment()).toContain('by ana');
    const applied = await repository.merge(pull);
    expect(resultsOf(applied), logOf(applied)).toMatchObject({ apply: 'success' });
    expect(liveIn(repository)).toMatchObject({
      'Bay desk': 'Good day.',
      'Harbor desk': 'Good day.',
    });
  });
});
