import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { logOf, openRepository, resultsOf } from '../../ci/actions.ts';
import { openGitlab } from '../../ci/gitlab.ts';
import { EXAMPLES, edited, type Place } from '../../ci/place.ts';

type Guard = {
  readonly name: string;
  readonly flag: string;
  readonly label: string;
  readonly variable: string;
  readonly takesReason: boolean;
};

const { GUARDS }: { readonly GUARDS: readonly Guard[] } = await import(
  join(EXAMPLES, 'github/actions/callsheet/guards.mjs')
);

/** What a pipeline can do in a world, before the guard is hit. */
type Tools = { readonly apply: () => Promise<void>; readonly rollBack: () => Promise<void> };

type World = {
  /** More of callsheet.yaml from the beginning. */
  readonly settings?: string;
  /** Files that hit the guard, once the stack is applied. */
  readonly hit: (place: Place, tools: Tools) => Promise<Readonly<Record<string, string>>>;
  /** Guards that are hit as well. */
  readonly beside?: readonly string[];
  /** What is so once the guard was passed. */
  readonly done: (place: Place) => void;
};

const CLOSED = ['agents.yaml', 'We are closed.', 'Closed.'] as const;
const isClosed = (place: Place) => expect(place.greeting('Night desk')).toBe('Closed.');

function without(place: Place, file: string, block: RegExp): Readonly<Record<string, string>> {
  const [text = ''] = block.exec(readFileSync(join(place.origin, file), 'utf8')) ?? [];
  return edited(place, file, text, '');
}

const POLICY = `retry_policies:
  gentle:
    name: Gentle redial
    rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } }
    on_exhausted: end
`;

/** A world in which each guard of the table stands against a plan. */
const WORLDS: { readonly [guard: string]: World } = {
  'allow-delete': {
    hit: async (place) => without(place, 'agents.yaml', / {2}night:[\s\S]*$/),
    done: (place) => expect(() => place.agent('Night desk')).toThrow(),
  },
  'override-limits': {
    settings: 'guards: { max_change_percent: 30, min_resources: 1 }\n',
    hit: async (place) => edited(place, ...CLOSED),
    done: isClosed,
  },
  'accept-conflicts': {
    hit: async (place) => {
      place.sim.edit(place.agent('Night desk'), { greeting_message: 'Good night.' }, 'user:maria');
      return edited(place, ...CLOSED);
    },
    done: isClosed,
  },
  'skip-refused': {
    hit: async (place) => ({
      ...edited(
        place,
        'agents.yaml',
        'We are closed.',
        'Closed.\n    sip: { registration_enabled: true }',
      ),
    }),
    done: isClosed,
  },
  'delete-used': {
    beside: ['allow-delete'],
    hit: async (place, { apply }) => {
      place.commit({ 'policies.yaml': POLICY });
      await apply();
      const [policy = ''] = place.sim.store.retryPolicies.keys();
      place.sim.edit(place.agent('Night desk'), { default_retry_policy_id: policy });
      return { 'policies.yaml': 'retry_policies: {}\n' };
    },
    done: (place) => expect(place.sim.store.retryPolicies.size).toBe(0),
  },
  'release-hold': {
    hit: async (place, { apply, rollBack }) => {
      place.commit(edited(place, ...CLOSED));
      await apply();
      await rollBack();
      place.commit({ 'agents.yaml': place.git('show', 'HEAD~1:agents.yaml') });
      return edited(place, ...CLOSED);
    },
    done: isClosed,
  },
  'override-freeze': {
    hit: async (place) => ({
      ...edited(place, ...CLOSED),
      ...edited(
        place,
        'callsheet.yaml',
        'organization: harbor\n',
        'organization: harbor\nguards: { freeze: [{ zone: Etc/UTC, dates: [2020-01-01..2099-01-01] }] }\n',
      ),
    }),
    done: isClosed,
  },
  behind: {
    hit: async (place, { apply }) => {
      place.commit(edited(place, 'agents.yaml', 'Harbor Dental.', 'Good day.'));
      await apply();
      place.git('reset', '--quiet', '--hard', 'HEAD~1');
      return edited(place, ...CLOSED);
    },
    done: isClosed,
  },
  'undo-drift': {
    settings: 'guards: { drift: refuse }\n',
    hit: async (place) => {
      place.sim.edit(place.agent('Front desk'), { greeting_message: 'Hey.' }, 'user:maria');
      return edited(place, ...CLOSED);
    },
    done: isClosed,
  },
};

const REASON = 'Spring campaign';

test('there is a world for each guard of the table', () => {
  expect(Object.keys(WORLDS).sort()).toEqual(GUARDS.map(({ name }) => name).sort());
});

const rows = GUARDS.map((guard) => [guard.name, guard, WORLDS[guard.name]] as const);

function guardsOf(guard: Guard, { beside = [] }: World): readonly Guard[] {
  return [guard, ...GUARDS.filter(({ name }) => beside.includes(name))];
}

async function openHit(world: World) {
  const repository = await openRepository('', { settings: world.settings ?? '' });
  const good = async (...[name, inputs]: Parameters<typeof repository.byHand>) => {
    const jobs = await repository.byHand(name, inputs);
    expect(jobs.apply?.result ?? jobs.rollback?.result, logOf(jobs)).toBe('success');
  };
  await good('apply');
  const files = await world.hit(repository, {
    apply: () => good('apply'),
    rollBack: () => good('rollback', { run: 'last', reason: 'Hm', edits: 'stop and say so' }),
  });
  return { repository, pull: repository.open(files) };
}

describe.each(rows)('the guard that %s passes', (_, guard, world) => {
  if (world === undefined) throw new Error(`there is no world for ${guard.name}`);
  const guards = guardsOf(guard, world);

  test('is passed by its label, which the comment names', async () => {
    const { repository, pull } = await openHit(world);
    const comment = () => repository.github.comments.get(pull.number)?.[0]?.body ?? '';
    const labels = guards.map(({ label }) => label);
    const before = await repository.plan(pull, { labels: labels.slice(1) });
    expect(comment(), logOf(before)).toContain(`> - \`${guard.label}\``);
    const planned = await repository.plan(pull, { labels });
    expect(resultsOf(planned).plan, logOf(planned)).toBe('success');
    expect(comment()).toMatch(new RegExp(`passed by review: .*${guard.name}.* by ana`));
    expect(comment()).not.toContain(`> - \`${guard.label}\``);
    const applied = await repository.merge(pull);
    expect(resultsOf(applied), logOf(applied)).toMatchObject({
      reviewed: 'success',
      apply: 'success',
    });
    world.done(repository);
    // The receipt, in the state that the job kept.
    const kept = globSync('caches/*/**/*', { cwd: repository.keep.folder, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'));
    expect(kept.join('\n')).toContain(`{"flag":"${guard.flag}","by":"ana"}`);
  });

  test('is passed by the input of the workflow that applies', async () => {
    const { repository, pull } = await openHit(world);
    await repository.plan(pull);
    await repository.merge(pull);
    const inputs = Object.fromEntries(
      guards.map(({ name, takesReason }) => [name, takesReason ? REASON : 'true']),
    );
    const applied = await repository.byHand('apply', inputs);
    expect(resultsOf(applied), logOf(applied)).toMatchObject({
      fresh: 'success',
      apply: 'success',
    });
    world.done(repository);
  });

  test('is passed by the variable of a pipeline on GitLab', async () => {
    const gitlab = await openGitlab('', world.settings);
    const good = async (job: string, variables = {}) => {
      const { exit, log } = await gitlab.run(job, variables);
      expect(exit, log).toBe(0);
      return log;
    };
    const apply = async (variables = {}) => {
      const log = await good('callsheet-plan', variables);
      await good('callsheet-apply', variables);
      return log;
    };
    await apply();
    const rollback = { CALLSHEET_ROLLBACK: 'last' };
    const files = await world.hit(gitlab, {
      apply: async () => void (await apply()),
      rollBack: async () => {
        await good('callsheet-rollback-plan', rollback);
        await good('callsheet-rollback', rollback);
      },
    });
    gitlab.commit(files);
    const variablesOf = (given: readonly Guard[]) =>
      Object.fromEntries(
        given.map(({ variable, takesReason }) => [variable, takesReason ? REASON : 'true']),
      );
    await gitlab.run('callsheet-plan', variablesOf(guards.slice(1)));
    await good('callsheet-note');
    expect(gitlab.notes.at(-1)?.body).toContain(`\`${guard.label}\`, then \`${guard.variable}\``);
    expect(await apply(variablesOf(guards))).toContain(`${guard.flag} by ana`);
    world.done(gitlab);
  });
});
