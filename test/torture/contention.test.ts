import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { inventory, WHOLE } from '../e2e/clinic.ts';
import { longScenario, type World } from '../e2e/harness.ts';
import { aMinuteLater, OTHER, pause } from '../e2e/takeover.ts';

const ONE_AT_A_TIME = ['apply', '--auto-approve', '--concurrency', '1'];

/** POSTs of a first apply of the clinic. */
const POSTS = 9;

/** Starts an apply and stops it at its n-th POST: before the platform sees it, or after it did the work. */
async function stoppedAt(world: World, at: 'request' | 'answer', n: number) {
  const gate = await world.gate();
  const post = { method: 'POST', path: /^\/v1\// };
  const holds = Array.from({ length: n }, () => gate.hold(at, post));
  const running = world.start(ONE_AT_A_TIME);
  for (const [index, hold] of holds.entries()) {
    await hold.reached;
    if (index < n - 1) hold.release();
  }
  return { running, release: () => holds.at(-1)?.release() };
}

for (let round = 1; round <= 10; round += 1)
  longScenario(`eight applies that race, round ${round}`, async (world) => {
    const racing = Array.from({ length: 8 }, () => world.start(['apply', '--auto-approve']));
    const outcomes = await Promise.all(racing.map(({ ended }) => ended));
    const exits = outcomes.map(({ exit }) => exit);
    expect(exits).toContain(0);
    expect([0, 5, 6]).toEqual(expect.arrayContaining(exits));
    await world.apply();
    expect(inventory(world.sim)).toEqual(WHOLE);
  });

for (const at of ['request', 'answer'] as const)
  for (let n = 1; n <= POSTS; n += 1) {
    longScenario(`paused at ${at} ${n} while another does the work`, async (world) => {
      const { running, release } = await stoppedAt(world, at, n);
      await pause(world, running);
      await (await aMinuteLater(world).acquire(OTHER)).release();
      if (at === 'answer') release();
      await world.apply();
      const before = world.writes().length;
      running.signal('SIGCONT');
      if (at === 'answer') {
        const { exit, err } = await running.ended;
        expect([exit, err]).toEqual([6, expect.stringContaining('no longer holds the lock')]);
        expect(world.writes().slice(before)).toEqual([]);
      } else {
        // Its request was on the way before it lost the state, so it may still arrive, but no other.
        release();
        expect((await running.ended).exit).toBe(6);
        expect(world.writes().slice(before).length).toBeLessThanOrEqual(1);
        return;
      }
      await world.apply();
      expect(inventory(world.sim)).toEqual(WHOLE);
    });

    longScenario(`killed at ${at} ${n} while eight wait to take over`, async (world) => {
      const { running, release } = await stoppedAt(world, at, n);
      running.signal('SIGKILL');
      await running.ended;
      release();
      const racing = Array.from({ length: 8 }, () => world.start(['apply', '--auto-approve']));
      const exits = (await Promise.all(racing.map(({ ended }) => ended))).map(({ exit }) => exit);
      expect(exits).toContain(0);
      expect([0, 5, 6]).toEqual(expect.arrayContaining(exits));
      await world.apply();
      expect(inventory(world.sim)).toEqual(WHOLE);
    });
  }

const STACKS = 36;
const AGENTS = 10;

longScenario(
  'three shards at once make 360 agents in one organization, which each of them lists meanwhile',
  async (world) => {
    const [organization] = world.sim.store.organizations.keys();
    const names = Array.from({ length: AGENTS }, (_, n) => n);
    for (let at = 0; at < STACKS; at += 1) {
      await mkdir(join(world.folder, 'fleet', `${at}`), { recursive: true });
      await world.write(
        `fleet/${at}/callsheet.yaml`,
        `callsheet: 1\norganization: ${organization}\n`,
      );
      const agents = names.map((n) => `  a${n}: { name: Agent ${at}-${n}, model: alpha-4o }`);
      await world.write(`fleet/${at}/agents.yaml`, ['agents:', ...agents, ''].join('\n'));
    }
    const shards = [1, 2, 3].map((shard) =>
      world.start([
        'apply',
        '--auto-approve',
        '--recursive',
        ...['--dir', 'fleet', '--shard', `${shard}/3`],
      ]),
    );
    const ends = await Promise.all(shards.map(({ ended }) => ended));
    expect(ends.map(({ exit }) => exit)).toEqual([0, 0, 0]);
    const made = [...world.sim.store.agents.values()].map(({ record }) => record.name);
    expect(made).toHaveLength(STACKS * AGENTS);
    expect(new Set(made).size).toBe(STACKS * AGENTS);
  },
);
