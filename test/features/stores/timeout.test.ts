import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findLoss,
  NoAnswer,
  openRetries,
  timeoutFrom,
} from '../../../src/features/stores/remote/failures.ts';
import { failureOf } from '../../state/sample.ts';

const MOST = 30_000;
const LONGEST_PAUSE = 2_000;

/** A store that answers from some time on, by a clock which only waiting moves. */
function openStore({ hasAnswered = true, takes = 0, loss = {} } = {}) {
  let now = 0;
  let backAt = 0;
  const seen = { tries: 0, waited: 0, told: [] as string[] };
  const effects = {
    now: () => now,
    async sleep(milliseconds: number) {
      now += milliseconds;
      seen.waited += milliseconds;
    },
  };
  const retries = openRetries(MOST, effects, (text) => seen.told.push(text));
  const ask = (isServed = () => now >= backAt) =>
    retries.again(async () => {
      if (isServed()) return 'done';
      seen.tries += 1;
      now += takes;
      throw new NoAnswer('write', 'here', { words: 'gone', ...loss });
    });
  return {
    seen,
    ask,
    async leaveFor(milliseconds: number) {
      if (hasAnswered) await ask();
      backAt = now + milliseconds;
    },
  };
}

describe('a store that has answered', () => {
  test('is asked until it is back, or 30 s have passed since it was lost', async () => {
    const outcome = fc.asyncProperty(
      fc.integer({ min: 1, max: 90_000 }),
      fc.integer({ min: 0, max: 3_000 }),
      async (away, takes) => {
        const { seen, ask, leaveFor } = openStore({ takes });
        await leaveFor(away);
        const answer = await ask().catch(({ message }: Error) => message);
        if (away <= MOST) expect(answer).toBe('done');
        if (away > MOST + LONGEST_PAUSE + 2 * takes) expect(answer).toContain('gone');
        expect(seen.waited).toBeLessThanOrEqual(Math.min(away, MOST) + LONGEST_PAUSE);
        expect(seen.tries).toBeGreaterThan(
          (Math.min(away, MOST) - 1_000) / (LONGEST_PAUSE + takes),
        );
      },
    );
    await fc.assert(outcome);
  });

  test('is asked after pauses that are short and not all alike', async () => {
    const waited = new Set<number>();
    for (let round = 0; round < 20; round += 1) {
      const { seen, ask, leaveFor } = openStore();
      await leaveFor(1);
      await ask();
      // A first pause of nothing leads to a second one.
      expect(seen.waited).toBeLessThanOrEqual(1_000);
      waited.add(seen.waited);
    }
    expect(waited.size).toBeGreaterThan(10);
  });

  test('that nobody can connect to is asked again, though each try takes long', async () => {
    const loss = { isTimeout: true, isAtDoor: true };
    const { seen, ask, leaveFor } = openStore({ takes: 10_000, loss });
    await leaveFor(15_000);
    expect(await ask()).toBe('done');
    expect(seen.tries).toBe(2);
  });

  test.each(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])(
    'is asked again after a timeout only if that was to connect: %s',
    async (code) => {
      const loss = findLoss(Object.assign(new Error('late'), { code }));
      const { seen, ask, leaveFor } = openStore({ loss });
      await leaveFor(1);
      await ask().catch(() => {});
      expect(seen.waited > 0).toBe(code === 'UND_ERR_CONNECT_TIMEOUT');
    },
  );

  test('is not asked again where its whole time passed', async () => {
    const { seen, ask, leaveFor } = openStore({ loss: { isTimeout: true } });
    await leaveFor(1);
    await failureOf(ask);
    expect(seen).toMatchObject({ tries: 1, waited: 0 });
  });

  test('and was given up is asked once by whoever asks next', async () => {
    const { seen, ask, leaveFor } = openStore();
    await leaveFor(600_000);
    await failureOf(ask);
    const { tries } = seen;
    await failureOf(ask);
    expect(seen.tries).toBe(tries + 1);
  });

  test('has 30 s again once it was back', async () => {
    const { ask, leaveFor } = openStore();
    for (let time = 0; time < 3; time += 1) {
      await leaveFor(25_000);
      expect(await ask()).toBe('done');
    }
  });

  test('that answers others, and one request never, gives that up', async () => {
    const { seen, ask } = openStore();
    const failure = await failureOf(() =>
      ask(() => {
        void ask();
        return false;
      }),
    );
    expect(failure.message).toContain('gone');
    expect(seen.waited).toBeLessThanOrEqual(MOST + LONGEST_PAUSE);
  });
});

describe('a store that has not answered', () => {
  test.each([100_000, 600_000])('is asked four times within seconds: %d ms', async (away) => {
    const { seen, ask, leaveFor } = openStore({ hasAnswered: false });
    await leaveFor(away);
    expect((await failureOf(ask)).message).toContain('gone');
    expect(seen).toMatchObject({ tries: 4, told: [] });
    expect(seen.waited).toBeLessThanOrEqual(3_000);
  });

  test.each([1, 1_500, 3_000, 4_900])(
    'is waited for while it starts again: %d ms',
    async (away) => {
      const outcome = fc.asyncProperty(fc.integer({ min: 0, max: 500 }), async (takes) => {
        const loss = { isBroken: true };
        const { seen, ask, leaveFor } = openStore({ hasAnswered: false, takes, loss });
        await leaveFor(away);
        expect(await ask()).toBe('done');
        expect(seen.waited).toBeLessThanOrEqual(away + LONGEST_PAUSE);
      });
      await fc.assert(outcome, { numRuns: 50 });
    },
  );

  test('is given up after some seconds where nothing listens there', async () => {
    const { seen, ask, leaveFor } = openStore({ hasAnswered: false, loss: { isBroken: true } });
    await leaveFor(600_000);
    expect((await failureOf(ask)).message).toContain('gone');
    expect(seen.waited).toBeLessThanOrEqual(5_000 + LONGEST_PAUSE);
  });

  test.each([
    ['ECONNREFUSED', true],
    ['ECONNRESET', true],
    ['EPIPE', true],
    ['UND_ERR_SOCKET', true],
    ['ENOTFOUND', undefined],
    ['EAI_AGAIN', undefined],
    ['EHOSTUNREACH', undefined],
  ])('whose connection fails with %s is starting again: %s', (code, isBroken) => {
    expect(findLoss(Object.assign(new Error('x'), { code }))?.isBroken).toBe(isBroken);
  });

  test.each([false, true])(
    'is not asked again after a timeout (to connect: %s)',
    async (isAtDoor) => {
      const loss = { isTimeout: true, isAtDoor };
      const { seen, ask, leaveFor } = openStore({ hasAnswered: false, loss });
      await leaveFor(1);
      await failureOf(ask);
      expect(seen.tries).toBe(1);
    },
  );
});

describe('whoever waits', () => {
  test('is told once what for and how long, and that it is over', async () => {
    const { seen, ask, leaveFor } = openStore();
    await leaveFor(12_000);
    await ask();
    expect(seen.told).toEqual([
      'Waiting for the state store: cannot write the state here: gone. Callsheet tries again for up to 30 s (CALLSHEET_STATE_TIMEOUT).',
      expect.stringMatching(/^The state store answers again, after 1[234] s\.$/),
    ]);
  });

  test('is told nothing of what is over at once', async () => {
    const { seen, ask, leaveFor } = openStore();
    await leaveFor(200);
    await ask();
    expect(seen.told).toEqual([]);
  });
});

test.each([
  [undefined, 30_000],
  ['', 30_000],
  ['1', 1_000],
  ['600', 600_000],
])('CALLSHEET_STATE_TIMEOUT=%s', (text, milliseconds) => {
  expect(timeoutFrom({ CALLSHEET_STATE_TIMEOUT: text })).toBe(milliseconds);
});

test.each(['0', '601', '-1', '1.5', '1e2', 'soon'])(
  'CALLSHEET_STATE_TIMEOUT=%s is refused',
  async (text) => {
    const failure = await failureOf(async () => timeoutFrom({ CALLSHEET_STATE_TIMEOUT: text }));
    expect(failure.code).toBe('usage');
    expect(failure.hint).toContain('1 to 600');
  },
);
