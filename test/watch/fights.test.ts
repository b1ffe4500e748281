import { expect, test } from 'vitest';
import { findContested, HOUR_MS, recentTries } from '../../src/watch/healer.ts';
import { delayAfter } from '../../src/watch/watched.ts';

test('tries of the last hour count, and older ones are forgotten', () => {
  const now = 10 * HOUR_MS;
  const tries = recentTries(
    new Map([
      ['agent.a', [now - HOUR_MS, now - HOUR_MS + 1]],
      ['agent.b', [now - HOUR_MS]],
    ]),
    [
      { address: 'agent.a', at: now },
      { address: 'agent.c', at: now },
    ],
    now,
  );
  expect([...tries]).toEqual([
    ['agent.a', [now - HOUR_MS + 1, now]],
    ['agent.c', [now]],
  ]);
});

test('an address is contested from the limit on, and until it is seen without drift', () => {
  const tries = new Map([
    ['agent.a', [1, 2]],
    ['agent.b', [1]],
    ['agent.calm', [1, 2, 3]],
  ]);
  const drifted = ['agent.a', 'agent.b', 'agent.before'];
  const before = new Set(['agent.before', 'agent.calm']);
  expect([...findContested(drifted, before, tries, 2)]).toEqual(['agent.a', 'agent.before']);
});

const failed = (kind: 'api' | 'config', passes: number) => ({ passes, since: '', told: '', kind });

test.each([
  ['nothing failed', undefined, 60_000, 60_000],
  ['the first failure', failed('api', 1), 60_000, 60_000],
  ['the third failure', failed('api', 3), 60_000, 240_000],
  ['the longest', failed('api', 99), 60_000, 1_800_000],
  ['an interval that is longer than that', failed('api', 99), 7_200_000, 7_200_000],
  ['a configuration that is broken', failed('config', 5), 60_000, 60_000],
] as const)('how long until the next pass: %s', (_, streak, interval, delay) => {
  expect(delayAfter(streak, interval)).toBe(delay);
});
