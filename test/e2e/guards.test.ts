import { expect } from 'vitest';
import { applied, scenario, type World } from './harness.ts';

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
  expect(planned.out).toContain('held until it is planned with --allow-delete');
  await world.apply([], { held: true });
  expect(names(world)).toContain('Recall');

  await world.apply(['--allow-delete']);
  expect(names(world)).toEqual(['Front desk']);
});

scenario('what is protected is not deleted, even when its block is gone', async (world) => {
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
