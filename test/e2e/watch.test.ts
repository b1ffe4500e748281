import { expect } from 'vitest';
import { applied } from './harness.ts';
import { ARGS, driftMarked, linesOf, PASSED } from './watch-process.ts';

/** `callsheet watch` as a process of its own: how it ends. `npm run torture` has more of it. */

applied('SIGTERM while it waits ends it with 0', async (world) => {
  const running = world.start(ARGS);
  await running.says(PASSED);
  running.signal('SIGTERM');
  const { exit, out, err } = await running.ended;
  expect([exit, err]).toEqual([0, '']);
  expect(linesOf(out).map(({ event }) => event)).toEqual([
    'started',
    'pass_ended',
    'stopping',
    'stopped',
  ]);
});

applied('SIGTERM while it heals lets the request in flight end', async (world) => {
  await driftMarked(world);
  const gate = await world.gate();
  const update = gate.hold('answer', { method: 'PUT', path: /\/v1\/agents\// });
  const running = world.start(ARGS);
  await update.reached;
  running.signal('SIGTERM');
  await running.says(/"event":"stopping"/);
  update.release();
  const { exit, out } = await running.ended;
  expect(exit).toBe(130);
  expect(linesOf(out).find(({ event }) => event === 'heal_ended')).toMatchObject({
    address: 'agent.desk',
    status: 'done',
  });
  const { out: runs } = await world.run(['runs', '--format', 'json']);
  expect(JSON.parse(runs).runs[0]).toMatchObject({ purpose: 'heal', status: 'interrupted' });
  expect((await world.plan()).changes).toEqual([]);
});
