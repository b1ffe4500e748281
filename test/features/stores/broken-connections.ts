import { describe, expect, test } from 'vitest';
import { began, ended, holder, intent, resource, stateWith } from '../../state/sample.ts';
import type { StateFixture } from '../../state/stores/contract.ts';
import { doRun } from '../../state/stores.ts';

/** What the driver says of a connection that broke. */
export function brokenConnection(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

/** Everything is sent again on a new connection, and done once. */
export function testBrokenConnections(newFixture: () => StateFixture): void {
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
      const fixture = newFixture();
      await doRun(fixture.open());
      const { breaking, opening } = breakOnce(done);
      const store = fixture.open(opening);
      for (const look of [() => store.load(), () => store.runs(), () => store.run('r1')]) {
        breaking.isDue = true;
        expect(await look()).toBeDefined();
        expect(breaking.isDue).toBe(false);
      }
    });

    test.each([false, true])('takes neither lease nor heartbeat (done: %s)', async (done) => {
      const fixture = newFixture();
      const { breaking, opening } = breakOnce(done);
      const store = fixture.open(opening);
      await store.load();
      breaking.isDue = true;
      const lease = await store.acquire(holder('r1'));
      breaking.isDue = true;
      await lease.release();
      expect(await fixture.open().lock()).toBeUndefined();
    });

    test.each([false, true])('writes an entry and a state once (done: %s)', async (done) => {
      const fixture = newFixture();
      const { breaking, opening } = breakOnce(done);
      const lease = await fixture.open(opening).acquire(holder('r1'));
      for (const entry of [began('r1'), intent(1, 'agent.desk'), ended()]) {
        breaking.isDue = true;
        await lease.append(entry);
        expect(breaking.isDue).toBe(false);
      }
      expect((await fixture.open().load()).pending).toEqual([
        began('r1'),
        intent(1, 'agent.desk'),
        ended(),
      ]);
      breaking.isDue = true;
      const state = stateWith(
        { 'agent.desk': resource('a1') },
        { last_run: 'r1', account_id: 'account-1' },
      );
      await lease.commit(state);
      expect(await fixture.open().load()).toEqual({ state, pending: [] });
      expect(await fixture.open().run('r1')).toHaveLength(3);
    });
  });
}
