import { expect, test } from 'vitest';
import type { Json } from '../../../../src/core/value.ts';
import { QueueLost } from '../../../../src/features/fleet/queue/database.ts';
import type { Claim, HandOut } from '../../../../src/features/fleet/queue/hand-out.ts';
import { judge, judgeMisfit, work } from '../../../../src/features/fleet/work.ts';
import type { Failure } from '../../../../src/render/diagnostics.ts';
import { longTest } from '../../../long.ts';

const AGAIN = 'again';
const SETTLED = 'settled';

function failure(kind: Failure['kind']): Failure {
  return { kind, exit: 1, message: '', hint: null, diagnostics: [], request: null };
}

test.each([
  { exit: 0, is: SETTLED },
  { exit: 2, is: SETTLED },
  { exit: 4, is: SETTLED },
  { exit: 1, kind: 'config', is: SETTLED },
  { exit: 1, kind: 'internal', is: SETTLED },
  { exit: 1, kind: 'network', is: AGAIN },
  { exit: 1, kind: 'network', delays: 3, is: SETTLED },
  { exit: 1, kind: 'state', plan: '{}', is: AGAIN },
  { exit: 6, is: AGAIN },
  { exit: 6, plan: '{}', delays: 59, is: AGAIN },
  { exit: 6, delays: 60, is: SETTLED },
  { exit: 5, is: AGAIN },
  { exit: 5, plan: '{}', is: SETTLED },
  { exit: 3, is: AGAIN },
  { exit: 3, delays: 1, is: SETTLED },
  { exit: 3, plan: '{}', is: SETTLED },
  // What it was put off for before, another reason, is not counted.
  { exit: 3, delays: 1, note: 'its state is held by another run', is: AGAIN },
  { exit: 1, kind: 'network', delays: 60, note: 'its state is held by another run', is: AGAIN },
  { exit: 130, isStopping: true, is: AGAIN },
  { exit: 130, is: SETTLED },
] as const)('exit $exit ($kind, plan $plan, put off $delays times) is $is', (row) => {
  const { exit, is, ...more } = row;
  const { kind, plan, delays, note, isStopping } = {
    kind: undefined,
    plan: undefined,
    delays: 0,
    note: undefined,
    isStopping: false,
    ...more,
  };
  const error = kind === undefined ? undefined : failure(kind);
  const fresh = { delays: 0, note: null, ...(plan === undefined ? {} : { plan }) };
  const first = judge({ exit, error, document: undefined }, fresh, isStopping);
  const before = note ?? (first.is === 'again' ? first.why : null);
  expect(
    judge({ exit, error, document: undefined }, { ...fresh, delays, note: before }, isStopping).is,
  ).toBe(is);
});

test('waits twice as long each time, a minute at most', () => {
  const waits = [0, 1, 2, 3, 10].map((delays) => {
    const note = 'its state is held by another run';
    const verdict = judge(
      { exit: 6, error: undefined, document: undefined },
      { delays, note },
      false,
    );
    return verdict.is === 'again' ? verdict.seconds : undefined;
  });
  expect(waits).toEqual([2, 4, 8, 16, 60]);
});

test('a task that no checkout fits is looked at less and less often, and ends in failure', async () => {
  const waits: number[] = [];
  const settled: Json[] = [];
  const stop = new AbortController();
  let task: Claim['task'] | undefined = CLAIM.task;
  await work({
    handOut: {
      ...NO_QUEUE,
      take: async () => (task === undefined ? [] : [{ ...CLAIM, task }]),
      putOff: async (claim, note, seconds) => {
        waits.push(seconds);
        task = { ...claim.task, note, delays: claim.task.delays + 1 };
        return true;
      },
      settle: async (_claim, exit, result) => {
        task = undefined;
        stop.abort();
        return settled.push([exit, result]) > 0;
      },
    },
    atOnce: 1,
    untilEmpty: false,
    stop: stop.signal,
    refuse: () => undefined,
    misfit: async () => 'its configuration differs at a worker',
    perform: async () => Promise.reject(new Error('it was worked at')),
    tell: () => {},
  });
  expect(waits).toEqual([15, 30, 60, 120, 240, 480, 600, 600, 600, 600, 600, 600]);
  expect(waits).toEqual(
    waits.map((_, delays) => {
      const note = 'why';
      const verdict = judgeMisfit(note, { delays, note });
      return verdict.is === 'again' ? verdict.seconds : undefined;
    }),
  );
  expect(settled).toMatchObject([
    [1, { error: { message: expect.stringContaining('its configuration differs at a worker') } }],
  ]);
});

const CLAIM: Claim = {
  task: {
    batch: 'b1',
    number: 0,
    stack: '.',
    digest: 'sha256:1',
    command: 'plan',
    flags: '{}',
    seal: null,
    attempts: 1,
    deaths: 0,
    isSuspect: false,
    note: null,
    delays: 0,
  },
  job: { id: 'j1', retryCount: 0 },
};

/** A queue that has nothing. */
const NO_QUEUE: HandOut = {
  take: async () => [],
  touch: async () => {},
  giveBack: async () => {},
  settle: async () => true,
  putOff: async () => true,
  left: async () => ({ waiting: 0, running: 0, oldestSeconds: 0, elsewhere: [] }),
  noteRun: async () => {},
  ask: async () => {},
  isEmptyBut: async () => true,
};

// It tries for 20 seconds.
longTest('a queue that only takes no results is told as lost, and as back', async () => {
  const told: string[] = [];
  const stop = new AbortController();
  const claims = [CLAIM];
  const handOut: HandOut = {
    ...NO_QUEUE,
    take: async () => claims.splice(0),
    settle: async () => {
      throw new QueueLost('postgres://db/queue', 'it took too long', undefined);
    },
  };
  const result = { path: '.', exit: 0, document: undefined, error: undefined, said: '' } as const;
  await work({
    handOut,
    atOnce: 1,
    untilEmpty: false,
    stop: stop.signal,
    refuse: () => undefined,
    misfit: async () => undefined,
    perform: async () => result,
    tell: ({ type }) => {
      if (type === 'lost' || type === 'back') told.push(type);
      if (type === 'back') stop.abort();
    },
  });
  expect(told).toEqual(['lost', 'back']);
});

test('a stack that takes its workers with it is named as it is to be run', async () => {
  const task = { ...CLAIM.task, stack: 'my clinic', deaths: 5, flags: '{"env":"production"}' };
  const claims = [{ ...CLAIM, task }];
  const settled: Json[] = [];
  await work({
    handOut: {
      ...NO_QUEUE,
      take: async () => claims.splice(0),
      settle: async (_claim, _exit, result) => settled.push(result) > 0,
    },
    atOnce: 1,
    untilEmpty: true,
    stop: new AbortController().signal,
    refuse: () => undefined,
    misfit: async () => undefined,
    perform: async () => Promise.reject(new Error('it was worked at')),
    tell: () => {},
  });
  expect(settled).toMatchObject([
    {
      exit: 1,
      error: {
        hint: expect.stringContaining("`callsheet plan --dir 'my clinic' --env production`."),
      },
    },
  ]);
});
