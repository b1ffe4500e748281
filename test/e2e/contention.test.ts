import { expect } from 'vitest';
import { inventory, WHOLE } from './clinic.ts';
import { longApplied, longScenario, scenario } from './harness.ts';
import { aMinuteLater, OTHER, pause } from './takeover.ts';

const ONE_AT_A_TIME = ['apply', '--auto-approve', '--concurrency', '1', '--format', 'json'];
const HELD = /the state \S+ is locked by apply \(run \S+\) of \S+, process \d+, since 20/;
const LOST = /no longer holds the lock on the state \S+: (.*)/;

// Of two, `interrupt.test.ts` tells the same.
longScenario('four applies at once: one works, the others exit 6 and name it', async (world) => {
  const gate = await world.gate();
  const hold = gate.hold('request', { method: 'POST', path: /retry-policies/ });
  const first = world.start(ONE_AT_A_TIME);
  await hold.reached;
  const before = world.writes().length;
  const others = Array.from({ length: 3 }, () => world.start(['apply', '--auto-approve']));
  for (const { ended } of others) {
    const { exit, err } = await ended;
    expect(exit).toBe(6);
    expect(err).toMatch(HELD);
    expect(err).toMatch(/callsheet state unlock [0-9a-f-]{36}\n$/);
  }
  expect(world.writes().length).toBe(before);
  hold.release();
  expect((await first.ended).exit).toBe(0);
  await world.apply();
  expect(inventory(world.sim)).toEqual(WHOLE);
});

longScenario(
  'applies that race: each is done, locked out or stale, and nothing is made twice',
  async (world) => {
    const racing = Array.from({ length: 3 }, () => world.start(['apply', '--auto-approve']));
    const outcomes = await Promise.all(racing.map(({ ended }) => ended));
    const exits = outcomes.map(({ exit }) => exit);
    expect(exits).toContain(0);
    expect([0, 5, 6]).toEqual(expect.arrayContaining(exits));
    for (const { exit, err } of outcomes) if (exit === 6) expect(err).toMatch(HELD);
    await world.apply();
    expect(inventory(world.sim)).toEqual(WHOLE);
  },
);

longApplied('a rollback waits for nobody either, and names who is at work', async (world) => {
  const { state } = await aMinuteLater(world).load();
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  const gate = await world.gate();
  const hold = gate.hold('request', { method: 'PUT', path: /agents/ });
  const first = world.start(ONE_AT_A_TIME);
  await hold.reached;
  const rollback = ['rollback', '--auto-approve', state?.last_run ?? ''];
  const { err } = await world.run(rollback, { exit: 6 });
  expect(err).toMatch(HELD);
  hold.release();
  expect((await first.ended).exit).toBe(0);
});

scenario('a paused run comes back after another did all the work, and does none', async (world) => {
  const gate = await world.gate();
  const hold = gate.hold('answer', { method: 'POST', path: /retry-policies/ });
  const first = world.start(ONE_AT_A_TIME);
  await hold.reached;
  await pause(world, first);
  hold.release();
  await (await aMinuteLater(world).acquire(OTHER)).release();
  await world.apply();
  const before = world.writes().length;
  first.signal('SIGCONT');
  const { exit, err } = await first.ended;
  expect([exit, err]).toEqual([6, expect.stringMatching(LOST)]);
  expect(world.writes().slice(before)).toEqual([]);
  expect(inventory(world.sim)).toEqual(WHOLE);
});

longScenario('a run that is unlocked by hand stops before its next write', async (world) => {
  const gate = await world.gate();
  const hold = gate.hold('answer', { method: 'POST', path: /retry-policies/ });
  const first = world.start(ONE_AT_A_TIME);
  await hold.reached;
  const held = await aMinuteLater(world).lock();
  await world.run(['state', 'unlock', held?.lease ?? '', '--stop-run']);
  const before = world.writes().length;
  hold.release();
  const { exit, err } = await first.ended;
  expect(exit).toBe(6);
  expect(LOST.exec(err)?.[1]).toMatch(/^state unlock of \S+, process \d+, .* took the lock over/);
  expect(world.writes().slice(before)).toEqual([]);
  await world.apply();
  expect(inventory(world.sim)).toEqual(WHOLE);
});
