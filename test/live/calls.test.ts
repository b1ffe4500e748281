import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Json, JsonObject } from '../../src/core/value.ts';
import type { Call } from '../../src/kinds/kind.ts';
import { openRecentCalls } from '../../src/live/calls.ts';
import { ApiError } from '../../src/platform/errors.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const BAY = '9c24e74f-4564-4836-a0d8-0691bfe720fe';
const NOW = Date.parse('2026-03-01T12:00:00Z');

const row = (agentId: string, totalCalls: Json = 4): JsonObject => ({ agentId, totalCalls });
const metrics = (agentPerformance: Json, totalCalls?: Json): Json => ({
  data: { agentPerformance, ...(totalCalls === undefined ? {} : { metrics: { totalCalls } }) },
});

type Answer = (signal: AbortSignal) => Promise<Json | undefined>;
const refused = (status: number): Answer => {
  const line = { method: 'GET', url: 'https://platform.example.test/v1/metrics' };
  return async () => Promise.reject(new ApiError(line, status, undefined, {}));
};
const lost: Answer = async () => Promise.reject(new Error('reset'));
/** Ends only when it is broken off. */
const silent: Answer = (signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));

/** Figures of a platform that answers each request with the next of some answers, the last again and again. */
function opened(answers: readonly (Answer | Json)[], clock?: number) {
  const calls: Call[] = [];
  const recent = openRecentCalls(
    {
      callOnce: async (call, until) => {
        const answer = answers[Math.min(calls.length, answers.length - 1)];
        calls.push(call);
        return typeof answer === 'function' ? answer(until) : answer;
      },
      platformTime: () => clock,
    },
    () => new Date(NOW),
  );
  const asked = () => calls.map(({ query }) => query?.organizationId);
  return { ...recent, calls, asked };
}

describe('the calls of the last seven days', () => {
  test('are asked for once an organization, of the seven days before the time of the platform', async () => {
    const { ask, counts, calls } = opened([metrics([row('a1', 412)], 412)], NOW + 60_000);
    for (const organization of [HARBOR, BAY, HARBOR]) ask(organization);
    expect((await counts())(HARBOR, 'a1')).toBe(412);
    await counts();
    const span = { startDate: '2026-02-22T12:01:00.000Z', endDate: '2026-03-01T12:00:59.999Z' };
    expect(calls).toEqual([
      { operation: 'getMetrics', query: { ...span, organizationId: HARBOR } },
      { operation: 'getMetrics', query: { ...span, organizationId: BAY } },
    ]);
  });

  test('are counted by the clock of the machine where the platform tells no time', async () => {
    const { ask, counts, calls } = opened([metrics([], 0)]);
    ask(HARBOR);
    await counts();
    expect(calls).toMatchObject([{ query: { startDate: '2026-02-22T12:00:00.000Z' } }]);
  });

  test.each<[string, Json, string, number | undefined]>([
    ['what the row of the agent says', metrics([row('a1', 7)], 7), 'a1', 7],
    [
      'the same where a row has an id in capitals',
      metrics([row(HARBOR.toUpperCase(), 7)]),
      HARBOR,
      7,
    ],
    [
      'none where the agent has no row, and no call is missing',
      metrics([row('a1', 7)], 7),
      'a2',
      0,
    ],
    ['none where nobody called', metrics([], 0), 'a2', 0],
    ['unknown where calls of others are missing', metrics([row('a1', 7)], 9), 'a2', undefined],
    ['known of those that are listed then', metrics([row('a1', 7)], 9), 'a1', 7],
    ['unknown where nothing says how many there were', metrics([row('a1', 7)]), 'a2', undefined],
    ['unknown where the row has no number', metrics([row('a1', null)], 0), 'a1', undefined],
    ['unknown where it is less than none', metrics([row('a1', -1)], 0), 'a1', undefined],
    ['unknown where it is no whole number', metrics([row('a1', 1.5)], 0), 'a1', undefined],
    ['unknown where there are no agents', metrics(null, 4), 'a1', undefined],
    ['unknown where there is nothing', {}, 'a1', undefined],
    ['unknown where there is less than nothing', null, 'a1', undefined],
  ])('are %s', async (_title, answer, id, expected) => {
    const { ask, counts } = opened([answer]);
    ask(HARBOR);
    expect((await counts())(HARBOR, id)).toBe(expected);
  });

  test('of an organization that was not asked for are unknown', async () => {
    const { ask, counts } = opened([metrics([], 0)]);
    ask(HARBOR);
    const count = await counts();
    expect(count(BAY, 'a1')).toBeUndefined();
    expect((await opened([]).counts())(HARBOR, 'a1')).toBeUndefined();
  });

  test.each<[string, Answer | Json, boolean]>([
    ['a lock of one organization', refused(403), true],
    ['a fault that may pass', refused(503), true],
    ['an error', refused(500), true],
    ['an answer that is lost', lost, true],
    ['no such operation', refused(404), false],
    ['no such method', refused(405), false],
    ['another notion of the request', refused(400), false],
    ['a token that is over', refused(401), false],
    ['a rate that is exceeded', refused(429), false],
    ['metrics without agents', metrics(null, 4), false],
  ])('are unknown after %s; others are asked for: %s', async (_title, answer, goesOn) => {
    const { ask, counts, asked } = opened([answer, metrics([row('a1')], 4)]);
    ask(HARBOR);
    await counts();
    ask(BAY);
    const count = await counts();
    expect(count(HARBOR, 'a1')).toBeUndefined();
    expect(count(BAY, 'a1')).toBe(goesOn ? 4 : undefined);
    expect(asked()).toEqual(goesOn ? [HARBOR, BAY] : [HARBOR]);
  });
});

describe('figures that are late', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => vi.useRealTimers());

  test('are waited for so long, and those of others are known', async () => {
    const { ask, counts, asked } = opened([metrics([row('a1')], 4), silent]);
    ask(HARBOR);
    ask(BAY);
    const counting = counts();
    await vi.advanceTimersByTimeAsync(1_900);
    let isDone = false;
    void counting.then(() => {
      isDone = true;
    });
    await vi.advanceTimersByTimeAsync(50);
    expect(isDone).toBe(false);
    await vi.advanceTimersByTimeAsync(50);
    const count = await counting;
    expect([count(HARBOR, 'a1'), count(BAY, 'a1')]).toEqual([4, undefined]);
    ask('another');
    expect((await counts())('another', 'a1')).toBeUndefined();
    expect(asked()).toEqual([HARBOR, BAY]);
  });

  test('keep no more than four from being asked for, and nothing waits for the rest', async () => {
    const { ask, counts, asked } = opened([silent]);
    for (let number = 0; number < 500; number += 1) ask(String(number));
    const counting = counts();
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await counting)('0', 'a1')).toBeUndefined();
    expect(asked()).toEqual(['0', '1', '2', '3']);
  });
});
