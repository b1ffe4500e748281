import { expect } from 'vitest';
import { dumpOf, writeFleet } from '../rollback/fleet.ts';
import { longScenario, scenario } from './harness.ts';

const AGENT = { method: 'POST', path: /revert$/ };

scenario('SIGKILL in the middle of a rollback, then again: all is as it was', async (world) => {
  await writeFleet(world, 'before');
  await world.apply();
  const before = dumpOf(world.sim);
  await writeFleet(world, 'after');
  await world.apply(['--allow-delete']);

  const gate = await world.gate();
  // The tenth revert was carried out, and its answer never came.
  const passing = Array.from({ length: 9 }, () => gate.hold('answer', AGENT));
  for (const hold of passing) hold.release();
  const hold = gate.hold('answer', AGENT);
  const running = world.start(['rollback', '--auto-approve', '--concurrency', '1']);
  await hold.reached;
  running.signal('SIGKILL');
  expect((await running.ended).signal).toBe('SIGKILL');
  hold.release();
  expect(dumpOf(world.sim)).not.toEqual(before);

  const again = await world.run(['rollback', '--auto-approve']);
  expect(again.err).toContain('Continuing the interrupted rollback');
  expect(again.out).toMatch(/Verified: \d+ resources read again/);
  expect(dumpOf(world.sim)).toEqual(before);
});

longScenario(
  'SIGKILL in the rollback of --rollback-on-failure: the next apply goes on with it',
  async (world) => {
    await world.apply();
    const before = dumpOf(world.sim);
    await world.edit('agents.yaml', 'how can I help?', 'good day!');
    await world.edit('agents.yaml', 'who are due for a check-up', 'who are late');
    await world.edit('resources.yaml', 'max_attempts: 3', 'max_attempts: 5');
    world.sim.faults.add({ operation: 'updateRetryPolicy', status: 400 });

    const gate = await world.gate();
    const hold = gate.hold('request', AGENT);
    const apply = ['apply', '--auto-approve', '--rollback-on-failure', '--concurrency', '1'];
    const running = world.start(apply);
    await hold.reached;
    running.signal('SIGKILL');
    expect((await running.ended).signal).toBe('SIGKILL');
    hold.release();
    expect(dumpOf(world.sim)).not.toEqual(before);

    const next = await world.run(apply, { exit: 3 });
    expect(next.err).toMatch(/Run \S+ is rolled back; the platform is as it was before it/);
    expect(dumpOf(world.sim)).toEqual(before);
    // What was undone is held until it is changed or released.
    await world.run(apply, { exit: 4 });
  },
);
