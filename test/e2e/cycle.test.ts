import { expect } from 'vitest';
import { scenario } from './harness.ts';

scenario('apply converges', async (world) => {
  await world.run(['plan', '--detailed-exitcode'], { exit: 2 });
  const outcome = await world.apply();
  expect(outcome.err).toContain('is recorded');
  console.log(outcome.out, outcome.err);
  console.log(JSON.stringify(world.sim.requests.map((r) => r.operation)));
});
