import { expect, test } from 'vitest';
import { findContested, HOUR_MS, recentTries } from '../../../src/features/watch/healer.ts';

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
