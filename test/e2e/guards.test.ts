import { expect } from 'vitest';
import { applied, longApplied, longScenario, type World } from './harness.ts';

/** Takes the recall agent out of the configuration. */
async function dropRecall(world: World): Promise<void> {
  const text = await world.read('agents.yaml');
  await world.write('agents.yaml', text.slice(0, text.indexOf('  recall:')));
}

const names = (world: World) =>
  [...world.sim.store.agents.values()].map(({ record }) => record.name);

applied('a delete is held until it is allowed', async (world) => {
  await dropRecall(world);
  const planned = await world.run(['plan']);
  expect(planned.out.replaceAll(/\s+/g, ' ')).toContain(
    'held until it is planned with --allow-delete',
  );
  await world.apply([], { held: true });
  expect(names(world)).toContain('Recall');

  await world.apply(['--allow-delete']);
  expect(names(world)).toEqual(['Front desk']);
});

longScenario('what is protected is not deleted, even when its block is gone', async (world) => {
  await world.edit('agents.yaml', 'name: Recall', 'name: Recall\n    lifecycle: { protect: true }');
  await world.apply();
  await dropRecall(world);
  const before = world.writes().length;
  for (const command of [
    ['plan', '--allow-delete'],
    ['apply', '--auto-approve', '--allow-delete'],
  ]) {
    const { out } = await world.run(command, { exit: 4 });
    expect(out).toContain('it is protected');
  }
  expect(world.writes().length).toBe(before);
});

applied('a conflict is refused until one side is chosen', async (world) => {
  const id = world.agent('Front desk');
  const greeting = () => world.sim.store.agents.get(id)?.record.greeting_message;
  world.sim.edit(id, { greeting_message: 'Edited.' }, 'user:maria');
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  for (const command of ['plan', 'apply']) {
    const approve = command === 'apply' ? ['--auto-approve'] : [];
    const { out } = await world.run([command, ...approve], { exit: 4 });
    for (const text of ['Edited.', 'good day!', '--accept-conflicts']) expect(out).toContain(text);
  }
  expect(greeting()).toBe('Edited.');

  await world.apply(['--accept-conflicts']);
  expect(greeting()).toBe('Harbor Dental, good day!');
});

longScenario('protection goes with what the state moves to another address', async (world) => {
  await world.edit('agents.yaml', 'name: Recall', 'name: Recall\n    lifecycle: { protect: true }');
  await world.apply();
  await dropRecall(world);
  await world.run(['state', 'mv', 'agent.recall', 'agent.former']);
  const { out } = await world.run(['plan', '--allow-delete'], { exit: 4 });
  expect(out).toMatch(/agent\.former\s+no longer configured; it is protected/);
});

const COUNTED: readonly (readonly [guards: string, says: string])[] = [
  ['{ max_delete: 0 }', 'the plan deletes 1 resource, more than guards.max_delete: 0 allows'],
  [
    '{ max_change_percent: 12, min_resources: 8 }',
    'the plan changes 1 of 8 resources, and guards.max_change_percent: 12 allows 0',
  ],
];

longApplied(
  'a plan that goes further than guards allow is refused with the numbers',
  async (world) => {
    await dropRecall(world);
    const main = await world.read('callsheet.yaml');
    for (const [guards, says] of COUNTED) {
      await world.write('callsheet.yaml', `${main}guards: ${guards}\n`);
      const { out } = await world.run(['plan', '--allow-delete', '--format', 'json'], { exit: 4 });
      expect(out).toContain(says);
    }
    await world.run(['apply', '--auto-approve', '--allow-delete'], { exit: 4 });
    expect(names(world)).toContain('Recall');
  },
);

applied(
  'a new agent gets the voice that there is while a limit keeps its replacement',
  async (world) => {
    const spoken = () =>
      ['Front desk', 'Night desk'].map(
        (name) => world.sim.store.agents.get(world.agent(name))?.record.voice_settings,
      );
    const [old] = world.sim.store.voices.keys();
    const main = await world.read('callsheet.yaml');
    await world.write(
      'callsheet.yaml',
      `${main}guards: { max_change_percent: 12, min_resources: 8 }\n`,
    );
    await world.edit('resources.yaml', 'name: Harbor,', 'name: Harbor at night,');
    const agents = await world.read('agents.yaml');
    const night =
      '  night: { name: Night desk, voice_settings: { voice_id: { $ref: custom_voice.harbor } } }\n';
    await world.write('agents.yaml', `${agents}${night}`);
    await world.run(['apply', '--auto-approve', '--skip-refused']);
    expect(spoken()).toMatchObject([{ voice_id: old }, { voice_id: old }]);

    await world.apply(['--override-limits', 'INC-1']);
    const made = [...world.sim.store.voices.keys()].find((id) => id !== old);
    expect(spoken()).toMatchObject([{ voice_id: made }, { voice_id: made }]);
  },
);

applied('files that include no longer finds are not: delete everything', async (world) => {
  await world.edit('callsheet.yaml', 'callsheet: 1', 'callsheet: 1\ninclude: ["stacks/*.yaml"]');
  const before = world.writes().length;
  const { out, err } = await world.run(['apply', '--auto-approve', '--allow-delete'], { exit: 4 });
  expect(err.replace(/\s+/g, ' ')).toContain(
    'include has "stacks/*.yaml", which matches no YAML file',
  );
  expect(out.replace(/\s+/g, ' ')).toContain(
    'no resources, and Callsheet never reads that as "delete everything"',
  );
  expect(world.writes().length).toBe(before);
});

longApplied('a policy that an agent of no stack follows is kept, unless forced', async (world) => {
  const [policy = ''] = world.sim.store.retryPolicies.keys();
  world.sim.edit(world.agent('Front desk'), { default_retry_policy_id: policy });
  await dropRecall(world);
  const resources = await world.read('resources.yaml');
  await world.write('resources.yaml', resources.slice(resources.indexOf('email_templates:')));
  const flags = ['--auto-approve', '--allow-delete'];
  const { out } = await world.run(['apply', ...flags], { exit: 4 });
  expect(out.replace(/\s+/g, ' ')).toContain('1 live agent still uses it: ');
  expect(out).toContain('--delete-used');
  expect(world.sim.store.retryPolicies.size).toBe(1);

  await world.apply(['--allow-delete', '--delete-used']);
  expect(world.sim.store.retryPolicies.size).toBe(0);
});
