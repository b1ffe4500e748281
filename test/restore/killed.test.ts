import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Disk, realDisk } from '../../src/state/file/disk.ts';
import { openStage, type Stage } from '../apply/stage.ts';
import { isIdle, type Moment } from '../kill/matrix.ts';
import { mortal } from '../kill/mortal.ts';
import { longTest } from '../long.ts';
import { take } from '../snapshot/taking.ts';
import { fleetOf, ownState, restoreOn, wholeFleetOf, wipe } from './restoring.ts';

/** Every so many moments are died at: all of them take minutes. */
const EVERY = 15;

async function onStage<T>(work: (stage: Stage, file: string) => Promise<T>): Promise<T> {
  const stage = await openStage();
  try {
    await stage.apply();
    const { file } = await take(stage);
    return await work(stage, file);
  } finally {
    await stage.close();
  }
}

describe('a restoration that dies', () => {
  test('goes on with the same command, and makes nothing twice', async () => {
    await onStage(async (stage, file) => {
      const before = fleetOf(stage.sim);
      const restored = { state: ownState(stage), concurrency: 1 };
      wipe(stage.sim);
      const { outside, moments } = mortal();
      await restoreOn(stage, file, restored, { outside });
      const died: Moment[] = moments.filter((moment) => !isIdle(moment));
      expect(died.length).toBeGreaterThan(60);
      for (const [index, moment] of died.entries()) {
        if (index % EVERY !== 0) continue;
        wipe(stage.sim);
        const state = join(stage.folder, String(index), 'restored.json');
        const flags = { state, concurrency: 1 };
        const { outside: world, isDead } = mortal(moment);
        await restoreOn(stage, file, flags, { outside: world, exit: 'any' });
        expect(isDead(), `${moment.name} never came`).toBe(true);
        const { summary } = await restoreOn(stage, file, flags);
        expect([moment, summary().status, summary().remaining]).toEqual([moment, 'done', []]);
        expect(wholeFleetOf(stage.sim), moment.name).toEqual(before);
      }
    });
  });

  test('stops where the disk is full, and goes on once it is not', async () => {
    await onStage(async (stage, file) => {
      const before = fleetOf(stage.sim);
      wipe(stage.sim);
      let left = 12;
      const disk: Disk = {
        ...realDisk,
        openEnd: async (path, which) => {
          const end = await realDisk.openEnd(path, which);
          return {
            close: () => end.close(),
            append: async (text) => {
              left -= 1;
              if (left < 0) {
                const fact = { code: 'ENOSPC', syscall: 'write', path, errno: -28 };
                throw Object.assign(new Error('ENOSPC: no space left on device, write'), fact);
              }
              await end.append(text);
            },
          };
        },
      };
      const flags = { state: ownState(stage), concurrency: 1 };
      const full = await restoreOn(stage, file, flags, { outside: { disk }, exit: 1 });
      expect(full.err).toContain('the disk is full');
      expect(full.err.replaceAll(/\s+/g, ' ')).toContain('then run the same command again');
      expect(stage.writes().length).toBeGreaterThan(0);
      expect((await restoreOn(stage, file, flags)).summary().status).toBe('done');
      expect(wholeFleetOf(stage.sim)).toEqual(before);
    });
  });

  longTest('says on an interrupt how to go on', async () => {
    await onStage(async (stage, file) => {
      wipe(stage.sim);
      const flags = { state: ownState(stage), concurrency: 1 };
      const stop = new AbortController();
      const outside: NonNullable<Parameters<typeof restoreOn>[3]>['outside'] = {
        wire: (transport) => ({
          ...transport,
          send: async (request) => {
            if (request.about?.operation === 'createRetryPolicy') stop.abort();
            return transport.send(request);
          },
        }),
      };
      const options = { outside, stop: stop.signal, exit: 130 };
      const { summary } = await restoreOn(stage, file, flags, options);
      expect(summary().status).toBe('interrupted');
      expect(stage.sim.store.agents.size).toBe(0);
      expect((await restoreOn(stage, file, flags)).summary().status).toBe('done');
    });
  });
});
