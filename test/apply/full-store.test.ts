import { expect } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import type { StateStore } from '../../src/state/store.ts';
import { staged } from './stage.ts';

/** A store that takes no more lines from the first answer on. `onRelease`: its lock is about to be given up. */
function fullFromFirstAnswer(onRelease: () => void) {
  return (store: StateStore): StateStore => ({
    ...store,
    async acquire(holder) {
      const lease = await store.acquire(holder);
      let isFull = false;
      return {
        ...lease,
        async append(entry) {
          isFull ||= entry.type === 'outcome';
          if (isFull) throw new CallsheetError('state', 'no space left on the disk');
          await lease.append(entry);
        },
        async release() {
          onRelease();
          await lease.release();
        },
      };
    },
  });
}

staged('a run whose store fails keeps the lock until each request is answered', async (stage) => {
  const { faults, requests } = stage.sim;
  faults.add({ operation: 'createEmailTemplate', delayMs: 300 });
  let answered: readonly string[] = [];
  const timed = fullFromFirstAnswer(() => {
    answered = requests.map(({ operation }) => operation);
  });
  await stage.apply({}, { exit: 1, outside: { timed } });
  expect(answered).toContain('createEmailTemplate');
});
