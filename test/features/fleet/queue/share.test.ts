import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  budgetedLimiter,
  HORIZON_MS,
  openBudget,
  takeShare,
} from '../../../../src/features/fleet/queue/budget.ts';
import type { QueueDatabase } from '../../../../src/features/fleet/queue/database.ts';
import type { Limiter } from '../../../../src/platform/limiter.ts';
import { NEW_RATE, type Observation, type RateState } from '../../../../src/platform/rate.ts';

const NOW = 1_000_000;

/** A course that has settled at a ceiling. */
function settled(ceiling: number, more: Partial<RateState> = {}): RateState {
  return { ...NEW_RATE, ceiling, progress: 13, ...more };
}

describe('a share of the rate', () => {
  test('is free while no limit is known, for a while', () => {
    const { share } = takeShare(NEW_RATE, [], 5, NOW);
    expect(share).toEqual({ slots: [], freeUntil: NOW + HORIZON_MS, askAt: NOW + HORIZON_MS });
  });

  test('is as many moments as fit into the time ahead, and the next one takes those after', () => {
    const first = takeShare(settled(100), [], 50, NOW);
    expect(first.share.slots[0]).toBe(NOW);
    expect(first.share.slots.length).toBeGreaterThan(10);
    expect(Math.max(...first.share.slots)).toBeLessThanOrEqual(NOW + HORIZON_MS);
    const second = takeShare(first.state, [], 1, NOW);
    expect(second.share.slots).toHaveLength(1);
    expect(second.share.slots[0]).toBeGreaterThan(Math.max(...first.share.slots));
    expect(first.share.askAt).toBeGreaterThan(NOW + HORIZON_MS);
  });

  test('lapses where it is not used: who asks later is not behind', () => {
    const { state } = takeShare(settled(100), [], 50, NOW);
    const { share } = takeShare(state, [], 1, NOW + 10_000);
    expect(share.slots).toEqual([NOW + 10_000]);
  });

  test('is nothing while the platform refuses, but for one who looks', () => {
    const refused: Observation = { sentAt: NOW - 50, at: NOW, pause: 2000 };
    const { state, share } = takeShare(settled(100), [refused], 9, NOW);
    expect(share.slots).toEqual([]);
    expect(share.askAt).toBeLessThanOrEqual(NOW + 500);
    const look = takeShare(state, [], 9, NOW + 2500);
    expect(look.share.slots).toHaveLength(1);
    expect(takeShare(look.state, [], 9, NOW + 2510).share.slots).toEqual([]);
    const letIn: Observation = { sentAt: NOW + 2500, at: NOW + 2600 };
    expect(takeShare(look.state, [letIn], 9, NOW + 2600).share.slots.length).toBeGreaterThan(1);
  });

  test('hears what several tell in the order in which it happened', () => {
    const early: Observation = { sentAt: NOW - 300, at: NOW - 200 };
    const late: Observation = { sentAt: NOW - 150, at: NOW - 100, pause: 1000 };
    const told = takeShare(settled(100), [late, early], 1, NOW);
    expect(told).toEqual(takeShare(settled(100), [early, late], 1, NOW));
    expect(told.state.refusals).toBe(1);
  });
});

test('a client that is closed waits for no turn, and sends nothing', async () => {
  const refused = JSON.stringify({ ...NEW_RATE, refusals: 1, until: Number.MAX_SAFE_INTEGER });
  const database: Pick<QueueDatabase, 'explainFailures' | 'transaction'> = {
    explainFailures: (work) => work(),
    transaction: (_, work) => work(async () => [{ rate: refused, now: performance.now() }]),
  };
  const account = { baseUrl: 'https://api.test', account: 'a' };
  const budget = openBudget(database, account);
  const others: Limiter = { run: (task) => task(), send: () => Promise.reject(new Error('other')) };
  const own = { host: 'api.test', budget, most: 1 };
  const limiter = budgetedLimiter(others, own);
  const closing = new AbortController();
  const send = () =>
    limiter.send('api.test', {
      patience: 300_000,
      stop: closing.signal,
      pauseAfter: () => 0,
      send: async () => {
        if (!closing.signal.aborted) throw new Error('it was sent');
        return undefined;
      },
    });
  const both = [send(), send()];
  await setTimeout(20);
  closing.abort();
  const sent = await Promise.all(both);
  expect(sent.map(({ answer }) => answer)).toEqual([undefined, undefined]);
  await budget.close();
});
