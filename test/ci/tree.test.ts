import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { longTest } from '../long.ts';
import { logOf, openRepository, resultsOf } from './actions.ts';
import { openGitlab } from './gitlab.ts';
import { openPlace, type Place, stackOf } from './place.ts';
import { spawnStep } from './spawn.ts';

const NAMES = ['bay', 'harbor', 'lagoon', 'reef', 'summit'];
const TREE = Object.assign({}, ...NAMES.map((name) => stackOf(name)));
const DESKS = ['Bay', 'Harbor', 'Lagoon', 'Reef', 'Summit'].map((name) => `${name} desk`);

/** The agents of the platform by name, with what each says. */
function liveIn({ sim }: Place) {
  const agents = [...sim.store.agents.values()].map(({ record }) => record);
  return Object.fromEntries(agents.map((one) => [one.name, one.greeting_message]));
}

/** The files of a pipeline, as Git has them. */
function pipelineIn({ git }: Place): readonly string[] {
  return git('ls-files')
    .split('\n')
    .filter((file) => !file.startsWith('clinics/'));
}

/** The stacks that a comment has a section of. */
function sectionsIn(body: string): readonly string[] {
  return [...body.matchAll(/^<details><summary><code>([^<]+)<\/code><\/summary>$/gm)].map(
    ([, path = '']) => path.replaceAll('&#47;', '/'),
  );
}

test.each(['github', 'gitlab', 'shell'] as const)(
  'a tree of five stacks has at most four files for %s, and a sixth stack none more',
  async (service) => {
    const place = await openPlace(service, '', '', '', TREE);
    const files = pipelineIn(place);
    expect(files.length, files.join()).toBeLessThanOrEqual(4);
    expect(files.length).toBeGreaterThan(1);
  },
);

const BROKEN = { 'clinics/lagoon/agents.yaml': 'agents: { desk: { nmae: Lagoon desk } }\n' };
const LIMITS = 'guards: { max_change_percent: 30, min_resources: 1 }\n';

/** Files in which these stacks say something else, the first beyond its limit. */
function changed(...names: readonly string[]): Readonly<Record<string, string>> {
  const files = names.flatMap((name, at) => Object.entries(stackOf(name, at === 0 ? LIMITS : '')));
  return Object.fromEntries(
    files.map(([path, text]) => [
      path,
      text.replace(/greeting_message: .*/, 'greeting_message: Good day.'),
    ]),
  );
}

describe('the tree of stacks on GitHub', () => {
  longTest('is planned in one comment, with a section for each stack, and applied', async () => {
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
    const files = pipelineIn(repository);
    const sixth = repository.open(stackOf('tower'));
    const again = await repository.plan(sixth);
    const [page] = github.comments.get(sixth.number) ?? [];
    expect(page?.body, logOf(again)).toContain('1 with changes, 5 unchanged; 1 to create');
    expect(sectionsIn(page?.body ?? '')).toEqual(['clinics/tower']);
    await repository.merge(sixth);
    expect(Object.keys(liveIn(repository)).sort()).toEqual([...DESKS, 'Tower desk']);
    expect(pipelineIn(repository)).toEqual(files);
  });

  test('goes on with four stacks where one is broken, and the check is red', async () => {
    const repository = await openRepository('', { tree: TREE });
    const pull = repository.open(BROKEN);
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

  longTest(
    'lets a guard of one stack pass by its label, and the others wait for nobody',
    async () => {
      const repository = await openRepository('', { tree: TREE });
      const first = await repository.byHand('apply');
      expect(first.apply?.result, logOf(first)).toBe('success');
      const pull = repository.open(changed('bay', 'harbor'));
      const comment = () => repository.github.comments.get(pull.number)?.[0]?.body ?? '';
      const refused = await repository.plan(pull);
      expect(resultsOf(refused), logOf(refused)).toMatchObject({
        plan: 'success',
        check: 'failure',
      });
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
    },
  );
});

/** A pipeline that runs the script in clones, with what one job keeps for the next. */
async function openShell() {
  const place = await openPlace('shell', '', '', '', TREE);
  const { machine, credentials, folder, origin } = place;
  const clone = mkdtempSync(join(folder, 'job-'));
  execFileSync('git', ['clone', '--quiet', origin, clone], { stdio: 'pipe' });
  const run = (job: string, variables: Readonly<Record<string, string>> = {}) => {
    execFileSync('git', ['-C', clone, 'pull', '--quiet'], { stdio: 'pipe' });
    const env = {
      ...machine,
      ...credentials.vars,
      ...credentials.secrets,
      CALLSHEET_STATE: join(folder, 'states/{environment}/{stack}.json'),
      HOME: folder,
      ...variables,
    };
    return spawnStep([join(clone, 'callsheet/callsheet.sh'), job], { cwd: clone, env });
  };
  return { ...place, run, jobs: { plan: 'plan', check: 'check', apply: 'apply' }, clone };
}

async function openGitlabTree() {
  const gitlab = await openGitlab('', '', TREE);
  const [plan, check, apply] = ['plan', 'check', 'apply'].map((job) => `callsheet-${job}`);
  return { ...gitlab, jobs: { plan, check, apply } as Record<'plan' | 'check' | 'apply', string> };
}

for (const [service, open] of [
  ['GitLab', openGitlabTree],
  ['a shell', openShell],
] as const) {
  longTest(`on ${service} four stacks go on, a sixth appears, and a guard is passed`, async () => {
    const place = await open();
    const { run, jobs, commit } = place;
    const note = async (): Promise<string> => {
      if ('clone' in place)
        return readFileSync(join(place.clone, 'callsheet-plan/plan.md'), 'utf8');
      const { exit, log } = await place.run('callsheet-note');
      expect(exit, log).toBe(0);
      expect(place.notes).toHaveLength(1);
      return place.notes[0]?.body ?? '';
    };
    const good = async (job: keyof typeof jobs, variables = {}) => {
      const { exit, log } = await run(jobs[job], variables);
      expect(exit, log).toBe(0);
      return log;
    };
    commit(BROKEN);
    const log = await good('plan');
    expect(log).toContain('── clinics/lagoon  failed');
    expect(log).not.toContain('<details>');
    expect(sectionsIn(await note())).toEqual(NAMES.map((name) => `clinics/${name}`));
    expect((await run(jobs.check)).exit).toBe(1);
    const applied = await run(jobs.apply);
    expect(applied.exit, applied.log).toBe(1);
    const four = DESKS.filter((name) => name !== 'Lagoon desk');
    expect(Object.keys(liveIn(place)).sort()).toEqual(four);

    const files = pipelineIn(place);
    commit({ ...stackOf('lagoon'), ...stackOf('tower') });
    await good('plan');
    expect(sectionsIn(await note())).toEqual(['clinics/lagoon', 'clinics/tower']);
    await good('check');
    await good('apply');
    expect(Object.keys(liveIn(place)).sort()).toEqual([...DESKS, 'Tower desk']);
    expect(pipelineIn(place)).toEqual(files);

    commit(changed('bay', 'harbor'));
    await good('plan');
    expect((await run(jobs.check)).exit).toBe(1);
    expect(await good('plan', { CALLSHEET_OVERRIDE_LIMITS: 'Spring' })).toContain('Spring');
    await good('check');
    await good('apply');
    expect(liveIn(place)).toMatchObject({ 'Bay desk': 'Good day.', 'Harbor desk': 'Good day.' });
  });
}
