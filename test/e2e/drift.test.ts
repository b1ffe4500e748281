import { expect } from 'vitest';
import { applied } from './harness.ts';

applied('no drift: exit 0', async (world) => {
  const { out } = await world.run(['drift', '--detailed-exitcode']);
  expect(out).toContain('8 resources compared');
});

applied('drift names the fields, both values, and who changed them', async (world) => {
  const id = world.agent('Front desk');
  world.sim.edit(id, { greeting_message: 'Edited.', model: 'alpha-4o' }, 'user:maria');
  const before = world.writes().length;
  const { out } = await world.run(['drift', '--detailed-exitcode'], { exit: 2 });
  for (const text of [
    'agent.desk',
    'greeting_message',
    'Edited.',
    'model',
    'alpha-4o',
    'user:maria via dashboard',
  ])
    expect(out).toContain(text);
  expect(out).not.toContain('system_prompt');
  await world.run(['drift'], { exit: 0 });
  const { changes } = JSON.parse((await world.run(['drift', '--format', 'json'])).out);
  expect(changes.map(({ address }: { address: string }) => address)).toEqual(['agent.desk']);
  expect(world.writes().length).toBe(before);

  await world.apply();
  expect(world.sim.store.agents.get(id)?.record).toMatchObject({
    greeting_message: 'Harbor Dental, how can I help?',
    model: 'alpha-4.1',
  });
});

applied('an agent that was deleted in the dashboard is drift, and is made again', async (world) => {
  const id = world.agent('Recall');
  world.sim.store.agents.delete(id);
  const { out } = await world.run(['drift', '--detailed-exitcode'], { exit: 2 });
  expect(out).toContain('agent.recall');
  const planned = await world.run(['plan']);
  expect(planned.out).toContain(`it is no longer on the platform (id ${id})`);
  await world.apply();
  expect(world.agent('Recall')).not.toBe(id);
});
