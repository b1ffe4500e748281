import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { withReason } from '../long.ts';
import { openKeyed } from '../state/keyed.ts';
import { inventory, WHOLE } from './clinic.ts';
import { scenario, type World, type WorldOptions } from './harness.ts';
import { canMount, type SmallDisk, withSmallDisk } from './small-disk.ts';

const STATE = '.callsheet/state.json';
const ONE_AT_A_TIME = ['apply', '--auto-approve', '--concurrency', '1', '--format', 'json'];

/** A scenario whose state lies on a small disk. */
function onSmallDisk(
  name: string,
  body: (world: World, disk: SmallDisk) => Promise<void>,
  options: WorldOptions = {},
): void {
  const onDisk = (world: World) =>
    withSmallDisk(join(world.folder, '.callsheet'), 256, (disk) => body(world, disk));
  scenario(name, onDisk, options);
}

/** What the open run asked of the platform, as far as it is written down. */
async function intended({ folder }: World): Promise<readonly string[]> {
  const store = openKeyed(join(folder, STATE));
  const { pending } = await store.load();
  await store.close();
  return pending.flatMap((entry) => (entry.type === 'intent' ? [entry.operation] : []));
}

// Elsewhere the failing writes of `test/state/full-disk.test.ts` must do.
const HAS_DISK = canMount();
const why = 'only the superuser can mount one';
describe.runIf(HAS_DISK)(withReason('a disk that', HAS_DISK, why), () => {
  onSmallDisk(
    'fills up in the first run: nothing is sent that is not written down',
    async (world, disk) => {
      const gate = await world.gate();
      const hold = gate.hold('request', { method: 'POST', path: /retry-policies/ });
      const running = world.start(ONE_AT_A_TIME);
      await hold.reached;
      disk.fill();
      hold.release();
      const { exit, err } = await running.ended;
      expect([1, 3]).toContain(exit);
      expect(err).toMatch(/cannot write \S+\.open\.jsonl: the disk is full/);
      expect(err).toContain('Nothing more is sent to the platform.');
      const sent = world.writes().map(({ operation }) => operation);
      expect(sent.length).toBeLessThan(5);
      expect((await intended(world)).slice(0, sent.length)).toEqual(sent);

      disk.free();
      await world.apply();
      expect(inventory(world.sim)).toEqual(WHOLE);
      const { runs } = JSON.parse((await world.run(['runs', '--format', 'json'])).out);
      expect(runs.map(({ status }: { status: string }) => status)).toEqual(['done', 'settled']);
    },
  );

  onSmallDisk(
    'fills up in a later run: the last state is kept to the byte, and looking needs no room',
    async (world, disk) => {
      await world.apply();
      const state = await world.read(STATE);
      await world.edit('agents.yaml', 'how can I help?', 'good day!');
      await world.edit('agents.yaml', 'due for a check-up', 'due for a visit');
      await world.edit('resources.yaml', 'delay_seconds: 900', 'delay_seconds: 600');
      const gate = await world.gate();
      const hold = gate.hold('answer', { method: 'PATCH', path: /retry-policies/ });
      const running = world.start(ONE_AT_A_TIME);
      await hold.reached;
      const before = world.writes().length;
      disk.fill();
      hold.release();
      const { exit, err } = await running.ended;
      expect([1, 3]).toContain(exit);
      expect(err).toContain('the disk is full');
      expect(await world.read(STATE)).toBe(state);
      const sent = world.writes().slice(before - 1);
      const operations = sent.map(({ operation }) => operation);
      expect((await intended(world)).slice(0, sent.length)).toEqual(operations);

      // Full as it is, the next run does not begin.
      const writes = world.writes().length;
      const next = await world.run(['apply', '--auto-approve'], { exit: 1 });
      expect(next.err).toMatch(/cannot write \S+: the disk is full/);
      disk.seal();
      const sealed = await world.run(['apply', '--auto-approve'], { exit: 1 });
      expect(sealed.err).toMatch(/cannot \w+ \S+: the file system is read-only\n/);
      expect(sealed.err).toContain('keep the state elsewhere');
      const planned = await world.run(['plan', '--detailed-exitcode'], { exit: 2 });
      expect(planned.out).toMatch(/Settled from run \S+, which died:/);
      expect(world.writes().length).toBe(writes);
      expect(await world.read(STATE)).toBe(state);

      disk.unseal();
      disk.free();
      await world.apply();
      expect(inventory(world.sim)).toEqual(WHOLE);
    },
    { isLong: true },
  );
});
