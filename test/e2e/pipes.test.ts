import { spawn } from 'node:child_process';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { emptyState } from '../../src/state/replay.ts';
import { formatState } from '../../src/state/state-text.ts';
import { longRows, longTest, withReason } from '../long.ts';
import { folderOf, HARBOR, MAIN } from '../stack/stack-folder.ts';
import { inventory, WHOLE } from './clinic.ts';
import { applied, scenario } from './harness.ts';
import './build.ts';

applied('nobody reads results and messages: it ends as it would', async (world) => {
  const rows = [
    [['plan', '--verbose'], 0],
    [['plan', '--detailed-exitcode', '--target', 'agent.dsek'], 1],
    [['drift', '--format', 'json'], 0],
    [['validate', '--format', 'sarif'], 0],
    [['state', 'list'], 0],
    [['get', 'agents', '--format', 'csv'], 0],
    [['state'], 1],
    [['explain', 'assumptions'], 0],
  ] as const;
  // `npm run torture` does the same with every command.
  const ends = longRows(rows, ([, exit], at) => exit === 1 || at === 0).map(
    async ([args, exit]) => {
      const running = world.start(args);
      running.closeOutput();
      running.closeMessages();
      const ended = await running.ended;
      expect([args, ended.exit, ended.signal]).toEqual([args, exit, null]);
    },
  );
  await Promise.all(ends);
});

scenario('an apply that nobody watches any more does all of its work', async (world) => {
  const gate = await world.gate();
  const hold = gate.hold('request', { method: 'POST', path: /retry-policies/ });
  const running = world.start(['apply', '--auto-approve', '--concurrency', '1']);
  await hold.reached;
  running.closeOutput();
  running.closeMessages();
  hold.release();
  const { exit, signal } = await running.ended;
  expect([exit, signal]).toEqual([0, null]);
  expect(inventory(world.sim)).toEqual(WHOLE);
  const { changes, settled } = await world.plan();
  expect([changes, settled]).toEqual([[], undefined]);
});

/** Whether the machine has a device that takes nothing. */
const hasFull = await open('/dev/full', 'w').then(
  (file) => file.close().then(() => true),
  () => false,
);

const told = withReason('a disk that is full is told in words', hasFull, 'there is no /dev/full');
test.runIf(hasFull)(told, async () => {
  const full = await open('/dev/full', 'w');
  try {
    const child = spawn(process.execPath, [inject('bin'), 'explain', 'assumptions'], {
      stdio: ['ignore', full.fd, 'pipe'],
    });
    let err = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const exit = await new Promise((resolve) => child.on('close', resolve));
    expect(exit).toBe(1);
    expect(err).toMatch(/^Not all of the output could be written: ENOSPC.*\n$/);
  } finally {
    await full.close();
  }
});

longTest('ten megabytes get through a pipe that is read slowly', async () => {
  const name = 'x'.repeat(200);
  const scope = { organization_id: HARBOR };
  const resources = Object.fromEntries(
    Array.from({ length: 30_000 }, (_, at) => {
      const one = { kind: 'agent', id: `id-${at}`, scope, name, leaves: {}, pin: null };
      return [`agent.a${at}`, { ...one, protect: false }];
    }),
  );
  const dir = folderOf({ 'callsheet.yaml': MAIN });
  const file = join(dir, 'state.json');
  await writeFile(file, await formatState({ ...emptyState('lineage'), serial: 1, resources }));
  const args = ['state', 'list', '--dir', dir, '--format', 'json'];
  const child = spawn(process.execPath, [inject('bin'), ...args], {
    env: { CALLSHEET_STATE: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const parts: Buffer[] = [];
  // Each part is asked for when the one before is done with.
  for await (const part of child.stdout.iterator()) {
    parts.push(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const text = Buffer.concat(parts).toString();
  expect(await ended).toBe(0);
  expect(text.length).toBeGreaterThan(10_000_000);
  expect(JSON.parse(text).resources).toHaveLength(30_000);
});
