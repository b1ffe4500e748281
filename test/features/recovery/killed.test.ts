import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { isObject, isSameJson, type Json, type JsonObject } from '../../../src/core/value.ts';
import { MOST_TOGETHER } from '../../../src/features/recovery/addresses.ts';
import type { Fault } from '../../../src/simulator/faults.ts';
import { type Disk, realDisk } from '../../../src/state/file/disk.ts';
import { openStage, type Stage } from '../../apply/stage.ts';
import { isIdle, type Moment } from '../../kill/matrix.ts';
import { mortal } from '../../kill/mortal.ts';
import { coveringRows, longTest } from '../../long.ts';
import { take } from '../../snapshot/taking.ts';
import { before as beforeRequest, FEW, parted } from './parts-stage.ts';
import { fleetOf, ownState, restoreOn, wholeFleetOf, wipe } from './restoring.ts';

// Accounts are restored one after the other, on a machine that is busy.
vi.setConfig({ testTimeout: 240_000 });

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

/** Names of records in which two fleets differ, as addresses spell them. */
function differing(then: Json, now: Json): readonly string[] {
  const there = new Set(recordsOf(now).map((one) => JSON.stringify(one)));
  const off = recordsOf(then).filter((one) => !there.has(JSON.stringify(one)));
  return off.map(nameOf);
}

const KINDS = ['agents', 'retryPolicies', 'emailTemplates', 'smsTemplates', 'sources', 'voices'];

const recordsOf = (fleet: Json): readonly JsonObject[] =>
  KINDS.flatMap((kind) => Object.values(Object((fleet as JsonObject)[kind]) as JsonObject)).filter(
    (one): one is JsonObject => isObject(one),
  );

const nameOf = (one: JsonObject) => slug(String((isObject(one.record) ? one.record : one).name));
const isWithin = (some: Set<string>, all: Set<string>) => [...some].every((one) => all.has(one));
const slug = (name: string) => name.replace('https://', '').replaceAll(/\W+/g, '_').toLowerCase();

/** How a write fails: the first request of its operation, each of them, or by an interrupt before the first. */
const FAILURES = ['once', 'always', 'interrupted'] as const;

describe('a restoration that is not complete', () => {
  parted('names all that is not as it was, and nothing else', async (fleet) => {
    const { stage, before, now, restore } = fleet;
    const state = () => join(stage.folder, `${stage.sim.requests.length}.json`);
    wipe(stage.sim);
    const start = stage.sim.requests.length;
    await restore({ together: MOST_TOGETHER, state: state() });
    const sent = stage.sim.requests.slice(start).filter(({ method }) => method !== 'GET');
    const writes = new Set(sent.map(({ operation }) => operation as Fault['operation']));
    const operations = [...writes].filter((operation) => operation !== 'createToken');
    expect(operations).toEqual(expect.arrayContaining(['createAgent', 'setPaymentTool', 'upload']));
    const rows = operations.flatMap((operation) =>
      FAILURES.flatMap((how) => [FEW, MOST_TOGETHER].map((most) => ({ operation, how, most }))),
    );
    const wrong: string[] = [];
    const taken = coveringRows(rows, ({ operation, how, most }) => [operation, how, most]);
    for (const { operation, how, most } of taken) {
      wipe(stage.sim);
      const stop = new AbortController();
      const options =
        how === 'interrupted'
          ? { outside: beforeRequest(operation, 1, () => stop.abort()), stop: stop.signal }
          : {};
      if (how !== 'interrupted')
        stage.sim.faults.add({ operation, status: 422, times: how === 'once' ? 1 : 999 });
      const flags = { together: most, state: state() };
      const { summary } = await restore(flags, { ...options, exit: 'any' });
      stage.sim.faults.clear();
      const { status, remaining } = summary();
      const named = new Set(remaining.map(({ address }) => address.split('.').at(-1) ?? ''));
      const off = new Set(differing(before, now()));
      // After an interrupt nothing is read back, so more may be named.
      const isTold =
        how === 'interrupted'
          ? isWithin(off, named)
          : isSameJson([...off].sort(), [...named].sort());
      if (!isTold || (status === 'done') !== (off.size === 0))
        wrong.push(
          `${operation} ${how}, ${most} at once: ${status}, named ${[...named]}, off ${[...off]}`,
        );
    }
    expect(wrong).toEqual([]);
  });
});
