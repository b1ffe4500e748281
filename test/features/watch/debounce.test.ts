import { expect, test } from 'vitest';
import { createDebounce, LONGEST_BURST_MS, QUIET_MS } from '../../../src/features/watch/watched.ts';

/** Time that a test sets on; sleeps end early when their signal says so. */
function clock() {
  let now = 0;
  let sleepers: readonly { readonly at: number; readonly wake: () => void }[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    sleep: (milliseconds: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        const sleeper = { at: now + milliseconds, wake: resolve };
        sleepers = [...sleepers, sleeper];
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    async pass(milliseconds: number) {
      for (const end = now + milliseconds; now < end; now += 100) {
        await settle();
        for (const { at, wake } of sleepers) if (at <= now + 100) wake();
      }
      await settle();
    },
  };
}

function opened() {
  const time = clock();
  const stop = new AbortController();
  const debounce = createDebounce(time, stop.signal);
  /** What became of a wait. */
  const wait = (milliseconds: number) => {
    const seen: { why?: string } = {};
    debounce.wait(milliseconds).then((why) => {
      seen.why = why;
    });
    return seen;
  };
  return { ...time, debounce, stop, wait };
}

test('without a trigger the time is waited for', async () => {
  const { wait, pass } = opened();
  const waiting = wait(10_000);
  await pass(9_900);
  expect(waiting.why).toBeUndefined();
  await pass(200);
  expect(waiting.why).toBe('interval');
});

test('a burst of triggers is one, once it has been quiet', async () => {
  const { debounce, wait, pass } = opened();
  const waiting = wait(600_000);
  for (let count = 0; count < 5; count += 1) {
    debounce.trigger();
    await pass(QUIET_MS - 500);
    expect(waiting.why, `after trigger ${count}`).toBeUndefined();
  }
  await pass(2 * QUIET_MS);
  expect(waiting.why).toBe('hook');
  // They are all heard by now.
  const next = wait(10_000);
  await pass(3 * QUIET_MS);
  expect(next.why).toBeUndefined();
});

test('whoever triggers on and on is not waited for for ever', async () => {
  const { debounce, wait, pass } = opened();
  const waiting = wait(600_000);
  for (let passed = 0; passed < LONGEST_BURST_MS + QUIET_MS; passed += 500) {
    debounce.trigger();
    await pass(500);
  }
  expect(waiting.why).toBe('hook');
});

test('a trigger during a pass makes for another one right after it', async () => {
  const { debounce, wait, pass } = opened();
  debounce.trigger();
  const waiting = wait(600_000);
  await pass(QUIET_MS + 100);
  expect(waiting.why).toBe('hook');
});

test('it ends at once when it is to stop', async () => {
  const { stop, wait, pass } = opened();
  const waiting = wait(600_000);
  await pass(100);
  stop.abort();
  await pass(100);
  expect(waiting.why).toBe('interval');
  const later = wait(600_000);
  await pass(100);
  expect(later.why).toBe('interval');
});
