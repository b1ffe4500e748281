import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { longApplied } from '../e2e/harness.ts';
import { ARGS, driftMarked, linesOf, PASSED } from '../e2e/watch-process.ts';
import { drift, LEFT_ALONE, leaves } from '../watch/left-alone.ts';
import { ofEvent, openApplied, startWatching } from '../watch/watching.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What the simulator of this process and the log that the test keeps take of it. */
const MOST_GROWTH_MB = 8;

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  longApplied(`${signal} while it waits ends it with 0`, async (world) => {
    const running = world.start(ARGS);
    await running.says(PASSED);
    running.signal(signal);
    const { exit, out, err } = await running.ended;
    expect([exit, err]).toEqual([0, '']);
    expect(linesOf(out).map(({ event }) => event)).toEqual([
      'started',
      'pass_ended',
      'stopping',
      'stopped',
    ]);
  });
}

longApplied('SIGTERM while it plans ends it at once', async (world) => {
  const gate = await world.gate();
  const list = gate.hold('request', { method: 'GET', path: /\/v1\/agents/ });
  const running = world.start(ARGS);
  await list.reached;
  running.signal('SIGTERM');
  const { exit, out } = await running.ended;
  expect(exit).toBe(0);
  expect(linesOf(out).map(({ event }) => event)).toEqual(['started', 'stopping', 'stopped']);
});

longApplied(
  'a second SIGTERM ends it at once; the next watch goes on with its healing',
  async (world) => {
    await driftMarked(world);
    const gate = await world.gate();
    const update = gate.hold('request', { method: 'PUT', path: /\/v1\/agents\// });
    const running = world.start(ARGS);
    await update.reached;
    running.signal('SIGTERM');
    await running.says(/"event":"stopping"/);
    running.signal('SIGTERM');
    const { signal } = await running.ended;
    expect(signal).toBe('SIGTERM');
    update.release();
    const next = world.start(ARGS);
    await next.says(PASSED);
    next.signal('SIGTERM');
    const { out } = await next.ended;
    expect(linesOf(out).filter(({ event }) => event === 'heal_ended')).toMatchObject([
      { address: 'agent.desk', status: 'done' },
    ]);
    expect((await world.plan()).changes).toEqual([]);
  },
);

longApplied('a run that died is left to whoever began it', async (world) => {
  await driftMarked(world);
  const gate = await world.gate();
  await world.edit('agents.yaml', 'You call people', 'You ring people');
  const update = gate.hold('request', { method: 'PUT', path: /\/v1\/agents\// });
  const apply = world.start(['apply', '--auto-approve', '--target', 'agent.recall']);
  await update.reached;
  apply.signal('SIGKILL');
  await apply.ended;
  update.release();
  const running = world.start(ARGS);
  await running.says(PASSED);
  running.signal('SIGTERM');
  const { exit, out } = await running.ended;
  expect(exit).toBe(0);
  expect(linesOf(out).filter(({ event }) => String(event).startsWith('heal'))).toMatchObject([
    { event: 'heal_skipped', message: expect.stringMatching(/^run \S+ died; the next apply/) },
  ]);
});

longApplied('what is wrong from the beginning is said, and it does not start', async (world) => {
  const rows: readonly (readonly [readonly string[], Record<string, string>, RegExp])[] = [
    [['--interval', '0s'], {}, /it must be a span such as 30s/],
    [['--listen', '9464'], {}, /it must be an address and port/],
    [['--listen', '192.0.2.1:9464'], {}, /192\.0\.2\.1:9464 is no address of this machine/],
    [[], { CALLSHEET_HOOK_SECRET: 'short' }, /has less than 16 characters/],
    [['--notify'], {}, /CALLSHEET_NOTIFY_URL is not set/],
    [[], { CALLSHEET_CLIENT_ID: '' }, /there are no credentials/],
  ];
  for (const [args, env, says] of rows) {
    const listen = args.includes('--listen') ? [] : ['--listen', '127.0.0.1:0'];
    const { out, err } = await world.run(['watch', ...listen, ...args], {
      env,
      exit: 1,
    });
    expect([out, err]).toEqual(['', expect.stringMatching(says)]);
  }
  const second = world.start(['watch', '--listen', '127.0.0.1:0', '--log', 'json']);
  await second.says(PASSED);
  second.signal('SIGTERM');
  const at = String(linesOf((await second.ended).out)[0]?.listen);
  expect(at).toMatch(/^127\.0\.0\.1:[1-9]\d+$/);
});

describe('what is left as it is', () => {
  for (const row of LEFT_ALONE) test(row.what, () => leaves(row));
});

test('two hundred passes leave nothing behind in memory', async () => {
  const stage = await openApplied(['desk']);
  const watching = await startWatching(stage, { flags: { heal: true, healLimit: 1000 } });
  const used = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed / 1024 / 1024;
  };
  const passes = async (count: number) => {
    for (let pass = 0; pass < count; pass += 1) {
      // Drift, healing and nothing at all in turn.
      if (pass % 4 === 0) drift(stage, `Edited ${pass}.`);
      await watching.pass();
      await watching.metrics();
    }
  };
  // What is compiled and cached comes with the first passes; the simulator keeps a history, and a log of requests.
  await passes(40);
  stage.sim.faults.clear();
  const before = used();
  await passes(160);
  const grown = used() - before;
  expect(ofEvent(watching.lines, 'heal_ended').length).toBe(50);
  expect(grown, `from ${before.toFixed(1)} MB`).toBeLessThan(MOST_GROWTH_MB);
});
