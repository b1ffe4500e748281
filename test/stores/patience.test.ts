import { describe, expect, test } from 'vitest';
import { NoAnswer } from '../../src/stores/failures.ts';
import { again, patienceFrom, TRIES } from '../../src/stores/patience.ts';
import { failureOf } from '../state/sample.ts';

/** Work that gets no answer the first times. */
function failing(times: number, isTimeout = false) {
  const made = { tries: 0, pauses: [] as number[] };
  const work = async () => {
    made.tries += 1;
    if (made.tries <= times) throw new NoAnswer('read', 'here', { words: 'gone', isTimeout });
    return 'done';
  };
  const sleep = async (milliseconds: number) => {
    made.pauses.push(milliseconds);
  };
  return { made, run: () => again(sleep, work) };
}

describe('what may be done twice', () => {
  test('is done again after pauses that are short and not all alike', async () => {
    const pauses: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const { made, run } = failing(TRIES - 1);
      expect(await run()).toBe('done');
      expect(made.pauses).toHaveLength(TRIES - 1);
      pauses.push(...made.pauses);
    }
    expect(Math.max(...pauses)).toBeLessThanOrEqual(2_000);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0);
    expect(new Set(pauses).size).toBeGreaterThan(20);
  });

  test('is given up in the end', async () => {
    const { made, run } = failing(TRIES);
    expect((await failureOf(run)).message).toContain('gone');
    expect(made.tries).toBe(TRIES);
  });

  test('is not done again where its whole time passed', async () => {
    const { made, run } = failing(1, true);
    await failureOf(run);
    expect(made).toEqual({ tries: 1, pauses: [] });
  });
});

test.each([
  [undefined, 30_000],
  ['', 30_000],
  ['1', 1_000],
  ['600', 600_000],
])('CALLSHEET_STATE_TIMEOUT=%s', (text, milliseconds) => {
  expect(patienceFrom({ CALLSHEET_STATE_TIMEOUT: text })).toBe(milliseconds);
});

test.each(['0', '601', '-1', '1.5', '1e2', 'soon'])(
  'CALLSHEET_STATE_TIMEOUT=%s is refused',
  async (text) => {
    const failure = await failureOf(async () => patienceFrom({ CALLSHEET_STATE_TIMEOUT: text }));
    expect(failure.code).toBe('usage');
    expect(failure.hint).toContain('1 to 600');
  },
);
