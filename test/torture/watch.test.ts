import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { longApplied } from '../e2e/harness.ts';
import { ARGS, driftMarked, linesOf, PASSED } from '../e2e/watch-process.ts';
import { drift, LEFT_ALONE, leaves } from '../features/watch/left-alone.ts';
import { agent, openApplied, startWatching } from '../features/watch/watching.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Megabytes that are in use. */
function used(): number {
  collectGarbage();
  return Math.round((process.memoryUsage().heapUsed / 1024 / 1024) * 100) / 100;
}

/** What the simulator of this process and the log that the test keeps take of it. */
const MOST_GROWTH_MB = 4;

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

const DAY_MS = 86_400_000;
const DAYS = 30;
/** Half an hour apart. */
const PASSES_A_DAY = 48;
/** Days that receipts are kept for here: Callsheet removes none of a state in a file. */
const KEPT_DAYS = 5;

/** What a watch has at the end of a day. */
type Evening = {
  readonly megabytes: number;
  readonly files: number;
  readonly kilobytes: number;
  readonly descriptors: number;
};

test('a month of passes leaves nothing behind, in memory and on the disk', async () => {
  const began = performance.now();
  let now = () => new Date();
  const stage = await openApplied(['desk'], { platformNow: () => now() });
  const flags = { heal: true, interval: DAY_MS / PASSES_A_DAY };
  const watching = await startWatching(stage, { flags });
  now = watching.now;
  const kept = join(stage.folder, '.callsheet');
  const seen = new Map<string, number>();

  async function pass(): Promise<void> {
    for (const { event } of await watching.pass()) seen.set(event, (seen.get(event) ?? 0) + 1);
    await watching.metrics();
  }

  /** What happens before a pass of a day, by its number. */
  const HAPPENS: { readonly [pass: number]: (day: number) => unknown } = {
    // It is healed.
    5: (day) => drift(stage, `Edited on day ${day}.`),
    // It is not, and undone in the afternoon.
    10: (day) =>
      stage.sim.edit(agent(stage, 'Recall'), { system_prompt: `Edited on day ${day}.` }, 'user:jo'),
    15: (day) => day % 3 === 0 && stage.edit('agents.yaml', ...speeds(day)),
    16: () => stage.apply({}, { now }),
    // Three passes fail in part, and then one for good.
    20: () => stage.sim.faults.add({ operation: '*', status: 503, probability: 0.5 }),
    23: () => stage.sim.faults.add({ operation: '*', status: 503, times: 10_000 }),
    24: () => stage.sim.faults.clear(),
    30: (day) => day % 5 === 0 && stage.edit('agents.yaml', 'agents:', 'agents: ['),
    32: (day) => day % 5 === 0 && stage.edit('agents.yaml', 'agents: [', 'agents:'),
    40: () => removeReceipts(join(kept, 'runs'), now().getTime() - KEPT_DAYS * DAY_MS),
  };
  const evenings: Evening[] = [];
  for (let day = 0; day < DAYS; day += 1) {
    for (let number = 0; number < PASSES_A_DAY; number += 1) {
      await HAPPENS[number]?.(day);
      await pass();
    }
    stage.sim.forgetRequests();
    evenings.push({
      megabytes: used(),
      ...(await sizeOf(kept)),
      descriptors: (await readdir('/proc/self/fd').catch(() => [])).length,
    });
  }
  const third = DAYS / 3;
  const [first, last] = [evenings.slice(0, third), evenings.slice(-third)];
  const middle = (of: readonly Evening[], member: keyof Evening) =>
    of.map((evening) => evening[member]).toSorted((a, b) => a - b)[third / 2] ?? Number.NaN;
  const most = (of: readonly Evening[], member: keyof Evening) =>
    Math.max(...of.map((evening) => evening[member]));
  const result = {
    seconds: Math.round((performance.now() - began) / 1000),
    memory: [middle(first, 'megabytes'), middle(last, 'megabytes')],
    files: [most(first, 'files'), most(last, 'files')],
    kilobytes: [most(first, 'kilobytes'), most(last, 'kilobytes')],
    descriptors: [most(first, 'descriptors'), most(last, 'descriptors')],
    events: Object.fromEntries(seen),
  };
  process.stdout.write(`a month of watch, first third and last: ${JSON.stringify(result)}\n`);
  expect(seen.get('heal_ended')).toBe(DAYS);
  expect(middle(last, 'megabytes') - middle(first, 'megabytes')).toBeLessThan(MOST_GROWTH_MB);
  expect(most(last, 'files')).toBeLessThanOrEqual(most(first, 'files'));
  expect(most(last, 'kilobytes')).toBeLessThanOrEqual(1.1 * most(first, 'kilobytes'));
  expect(most(last, 'descriptors')).toBeLessThanOrEqual(most(first, 'descriptors') + 2);
});

/** The agents' speed before an edit of that day, and behind it. */
function speeds(day: number): [string, string] {
  const at = (edit: number) => (edit === 0 ? 'speed: 1.05' : `speed: 1.${10 + edit}`);
  return [at(day / 3), at(day / 3 + 1)];
}

/** Removes receipts of runs that began before, as somebody's nightly job would. Milliseconds since 1970. */
async function removeReceipts(folder: string, before: number): Promise<void> {
  const stamp = new Date(before)
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '')
    .toLowerCase();
  for (const name of await readdir(folder))
    if (!name.includes('.open.') && name < stamp) await rm(join(folder, name));
}

async function sizeOf(folder: string): Promise<Pick<Evening, 'files' | 'kilobytes'>> {
  const sizes: number[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) sizes.push((await stat(join(entry.parentPath, entry.name))).size);
  const bytes = sizes.reduce((all, size) => all + size, 0);
  return { files: sizes.length, kilobytes: Math.round(bytes / 1024) };
}
