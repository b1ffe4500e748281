import { expect } from 'vitest';
import { applied, type World } from './harness.ts';

applied('what was rolled back is not applied again by the next pipeline', async (world) => {
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  await world.run(['apply', '--auto-approve']);
  await world.run(['rollback', '--auto-approve']);
  for (const command of [['plan'], ['apply', '--auto-approve']]) {
    const text = (await world.run(command, { exit: 4 })).out.replace(/\s+/g, ' ');
    expect(text).toMatch(/was rolled back by \S+ at \S+Z: run \S+ undid run \S+/);
    expect(text).toContain('--release-hold');
  }
  await world.run(['apply', '--auto-approve', '--release-hold']);
});

const RENEWED: readonly (readonly [
  how: string,
  reference: string,
  renew: (world: World) => unknown,
])[] = [
  [
    'replaced',
    'voice_settings: { voice_id: { $ref: custom_voice.harbor } }',
    (world) => world.edit('resources.yaml', 'name: Harbor,', 'name: Harbor at night,'),
  ],
  [
    'made again',
    'default_retry_policy_id: { $ref: retry_policy.gentle }',
    (world) => world.sim.store.retryPolicies.clear(),
  ],
];

for (const [how, reference, renew] of RENEWED) {
  applied(`a reference is another value once what it refers to is ${how}`, async (world) => {
    const name = 'name: Front desk';
    const bare = (await world.read('agents.yaml')).replace(/ *voice_settings.*\n/, '');
    await world.write('agents.yaml', bare);
    await world.apply();
    await world.edit('agents.yaml', name, `${name}\n    ${reference}`);
    await world.run(['apply', '--auto-approve']);
    await world.run(['rollback', '--auto-approve']);
    await world.run(['plan'], { exit: 4 });
    await renew(world);
    await world.run(['plan']);
    await world.apply();
  });
}
