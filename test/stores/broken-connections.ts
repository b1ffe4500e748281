import { describe, expect, test } from 'vitest';
import { began, failureOf, holder, intent } from '../state/sample.ts';
import { doRun } from '../state/stores.ts';
import type { Spot } from './contract.ts';

/** What the driver says of a connection that broke. */
export function brokenConnection(): Error {
  return Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
}

/** What is sent again on a new connection, and what is not. */
export function testBrokenConnections(newSpot: () => Spot): void {
  describe('a connection that breaks once', () => {
    const breakOnce = (done: boolean) => {
      const breaking = { isDue: false };
      const fault = () => {
        if (!breaking.isDue) return undefined;
        breaking.isDue = false;
        return { error: brokenConnection, done };
      };
      return { breaking, opening: { fault, effects: { sleep: async () => {} } } };
    };

    test.each([false, true])('is not seen by what looks (done: %s)', async (done) => {
      const spot = newSpot();
      await doRun(spot.open());
      const { breaking, opening } = breakOnce(done);
      const store = spot.open(opening);
      for (const look of [() => store.load(), () => store.runs(), () => store.run('r1')]) {
        breaking.isDue = true;
        expect(await look()).toBeDefined();
        expect(breaking.isDue).toBe(false);
      }
    });

    test.each([false, true])('takes neither lease nor heartbeat (done: %s)', async (done) => {
      const spot = newSpot();
      const { breaking, opening } = breakOnce(done);
      const store = spot.open(opening);
      await store.load();
      breaking.isDue = true;
      const lease = await store.acquire(holder('r1'));
      breaking.isDue = true;
      await lease.release();
      expect(await spot.open().lock()).toBeUndefined();
    });

    test('stops what must not be written twice', async () => {
      const spot = newSpot();
      const { breaking, opening } = breakOnce(true);
      const lease = await spot.open(opening).acquire(holder('r1'));
      await lease.append(began('r1'));
      breaking.isDue = true;
      const failure = await failureOf(() => lease.append(intent(1, 'agent.desk')));
      expect(failure.message).toContain('the connection was lost');
      expect((await spot.open().load()).pending).toHaveLength(2);
    });
  });
}
