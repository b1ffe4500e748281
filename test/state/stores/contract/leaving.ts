import { afterAll, expect, test } from 'vitest';
import { apply } from '../../../../src/console/apply.ts';
import type { Transport, WireRequest } from '../../../../src/platform/transport.ts';
import type { Failure } from '../../../../src/render/diagnostics.ts';
import { toFailure } from '../../../../src/run/document.ts';
import type { LockEffects } from '../../../../src/state/lock.ts';
import { nextState } from '../../../../src/state/replay.ts';
import type { Holder, Lease, StateStore } from '../../../../src/state/store.ts';
import { openStage, type Stage } from '../../../apply/stage.ts';
import { inventory, WHOLE } from '../../../e2e/clinic.ts';
import { coveringRows, isTorture, longRows } from '../../../long.ts';
import { holder } from '../../sample.ts';
import type { Fault, Loss, StateFixture } from './fixture.ts';

/**
 * The lease is asked last (DESIGN §5): each way to lose it × each wait of a request, by whole runs against the simulator.
 * Time is virtual, so that a `Retry-After` of 30 s and the pause of a machine take none.
 */

const OTHER: Holder = { ...holder('r-other'), user: 'kim', host: 'elsewhere' };
const HERE = 'here';
/** Longer than others wait before they take over. */
const LONG_MS = 31_000;

/**
 * Time that passes only where somebody waits. Heartbeats come due with it, but on no machine that is suspended: there the
 * steady clock stands still.
 */
function virtualTime() {
  let now = Date.now();
  const stopped = new Map<string, number>();
  const suspended = new Map<string, number>();
  type Timer = { readonly machine: string; readonly apart: number; readonly act: () => void };
  const due = new Map<Timer, number>();
  async function pass(milliseconds: number): Promise<void> {
    const end = now + milliseconds;
    for (;;) {
      const running = [...due].filter(([{ machine }]) => !stopped.has(machine));
      const [next] = running.toSorted(([, one], [, other]) => one - other);
      if (next === undefined || next[1] > end) break;
      const [timer, at] = next;
      now = Math.max(now, at);
      due.set(timer, now + timer.apart);
      timer.act();
      // Lets the heartbeat come to an end.
      await new Promise((go) => setTimeout(go, 2));
    }
    now = Math.max(now, end);
  }
  return {
    pass,
    async suspended<T>(machine: string, work: () => Promise<T>): Promise<T> {
      stopped.set(machine, now);
      const done = await work();
      suspended.set(machine, now - (stopped.get(machine) ?? now));
      stopped.delete(machine);
      return done;
    },
    effectsOn: (machine: string): LockEffects => ({
      machine,
      now: () => now,
      steady: () => now - (suspended.get(machine) ?? 0),
      sleep: pass,
      every(apart, act) {
        const timer = { machine, apart, act };
        due.set(timer, now + apart);
        return () => due.delete(timer);
      },
    }),
  };
}

type Losing = {
  readonly time: ReturnType<typeof virtualTime>;
  /** The store, as another machine sees it. */
  readonly other: StateStore;
  /** From now on the run does not reach the store. */
  readonly cut: () => void;
};

/** How a run loses its lease to another one. */
const LOSSES: { readonly [how: string]: (losing: Losing) => Promise<Lease> } = {
  async 'unlocked by another'({ other }) {
    await other.unlock((await other.lock())?.lease ?? '', OTHER);
    return other.acquire(OTHER);
  },
  async 'taken over after a pause'({ time, other }) {
    return time.suspended(HERE, async () => {
      await time.pass(LONG_MS);
      return other.acquire(OTHER);
    });
  },
  async 'taken over in a partition'({ time, other, cut }) {
    cut();
    await time.pass(LONG_MS);
    return other.acquire(OTHER);
  },
};

/** What befalls a write. The lease is lost in the wait after an answer, before it, or before the write leaves. */
type Trouble = {
  readonly loses: 'in the wait' | 'before the answer' | 'before it leaves';
  readonly answer?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
  };
};

const TROUBLES: { readonly [what: string]: Trouble } = {
  '429 with Retry-After 30': {
    loses: 'in the wait',
    answer: { status: 429, headers: { 'retry-after': '30' } },
  },
  503: { loses: 'before the answer', answer: { status: 503, headers: {} } },
  'slow network': { loses: 'before the answer' },
  'before each write': { loses: 'before it leaves' },
};

/** The writes of the clinic's first apply, an upload among them, and of one that changes four of its resources. */
const WRITES = { creates: 10, updates: 4 } as const;

const CHANGES = { creates: 8, updates: 4 } as const;

type Row = {
  readonly how: string;
  readonly what: string;
  readonly kind: keyof typeof WRITES;
  readonly nth: number;
};

const ROWS: readonly Row[] = Object.keys(LOSSES).flatMap((how) =>
  Object.keys(TROUBLES).flatMap((what) =>
    (['creates', 'updates'] as const).flatMap((kind) =>
      Array.from({ length: WRITES[kind] }, (_, at) => ({ how, what, kind, nth: at + 1 })),
    ),
  ),
);

/** Of a store that is far away `npm test` takes a row of each loss. */
function isShort({ what, kind, nth }: Row, isFar: boolean): boolean {
  if (kind === 'updates') return nth === 2 && (!isFar || what === '503');
  return nth === 3 && !isFar;
}

/** Nothing leaves once the lease is lost, whatever the request waited for. */
export function testLeaving(makeFixture: () => Promise<StateFixture>, loss: Loss): void {
  const results: (Row & { readonly left: number | undefined })[] = [];
  const isFar = loss !== undefined;
  const rows = longRows(ROWS, (row) => isShort(row, isFar));
  test.each(coveringRows(rows, ({ how, what, kind }) => [how, what, kind], 2))(
    'no write leaves without the lease: $how, $what, $kind, write $nth',
    async (row) => {
      const fixture = await makeFixture();
      const stage = await openStage();
      try {
        await prepare(row, stage, fixture);
        const { left, failure } = await runInto(row, stage, fixture, loss);
        results.push({ ...row, left });
        expect(left, failure.message).toBe(0);
        expect(failure.message).toMatch(/no longer holds the lock|cannot (read|write) the state/);
        expect(failure.exit).toBe(failure.message.includes('no longer holds the lock') ? 6 : 1);
        checkLedger(row, failure);
        await stage.apply({}, { outside: { timed: () => fixture.open() } });
        expect(inventory(stage.sim)).toEqual(WHOLE);
      } finally {
        await forgetAll(fixture);
        await stage.close();
      }
    },
  );
  test.each<[what: string, passes: Partial<Record<'steady' | 'wall', number>>]>([
    ['a heartbeat ago', { steady: 1_000, wall: 1_000 }],
    ['a suspended machine, for less than half of the time until a takeover', { wall: 12_000 }],
    ['a suspended machine, for longer', { wall: 16_000 }],
    ['a clock that was set back meanwhile', { steady: 16_000, wall: -3_600_000 }],
    ['a machine that was too busy for heartbeats', { steady: 60_000, wall: 60_000 }],
  ])('a request is confirmed by both clocks: %s', async (_what, passes) => {
    const fixture = await makeFixture();
    let [steady, wall, asked, isAway] = [0, Date.now(), 0, false];
    const effects = { steady: () => steady, now: () => wall, every: () => () => undefined };
    const fault = (): Fault => {
      asked += 1;
      return isAway && loss ? { error: loss, done: false } : undefined;
    };
    const sleep = async (milliseconds: number) => {
      steady += milliseconds;
      wall += milliseconds;
    };
    const own = { ...effects, sleep };
    const lease = await fixture
      .open({ effects: own, ...(loss && { fault }) })
      .acquire(holder('r1'));
    const before = asked;
    await lease.confirm('agent.desk');
    expect([asked, lease.unconfirmed()]).toEqual([before, []]);
    steady += passes.steady ?? 0;
    wall += passes.wall ?? 0;
    // After a long silence the lock is taken anew, and nobody can take it any more who saw the silence.
    await lease.confirm('agent.line');
    if (!isFar) return;
    const isAsked = (passes.wall ?? 0) !== 1_000;
    expect(asked > before).toBe(isAsked);
    isAway = true;
    steady += 40_000;
    await expect(lease.confirm('agent.line')).rejects.toMatchObject({ code: 'locked' });
    expect(lease.unconfirmed()).toEqual([...(isAsked ? [] : ['agent.desk']), 'agent.line']);
  });

  afterAll(() => {
    if (isTorture) process.stdout.write(tableOf(results));
  });
}

function tableOf(results: readonly (Row & { readonly left: number | undefined })[]): string {
  const rows = Map.groupBy(results, ({ how, what }) => `| ${how} | ${what} |`);
  const lines = [...rows].map(([row, own]) => {
    const left = own.reduce((sum, one) => sum + (one.left ?? 0), 0);
    return `${row} ${own.length} | ${left} |`;
  });
  return [
    '',
    '| lost | met | runs | writes after the loss |',
    '|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

/** The ledger has every change; those with a request since the last heartbeat are named, and the others not attempted. */
function checkLedger({ what, kind, nth }: Row, { message, ledger = [] }: Failure): void {
  expect(ledger).toHaveLength(CHANGES[kind]);
  const begun = ledger.filter(({ status }) => status !== 'not_attempted');
  const isFirst = nth === 1 && what === 'before each write';
  expect(begun.length > 0).toBe(!isFirst);
  // Virtual time stood still until then, so the last heartbeat is that of the beginning.
  expect(message.includes('After its last confirmed heartbeat it sent requests for')).toBe(
    !isFirst,
  );
  for (const { address } of begun) expect(message).toContain(address);
  for (const { message: why } of ledger.filter((line) => !begun.includes(line)))
    expect(why).toMatch(
      /no longer holds the lock|state could not be written|cannot (read|write) the state/,
    );
}

/** Simulators give the same ids: the next one's are not to be another stack's. */
async function forgetAll(fixture: StateFixture): Promise<void> {
  const store = fixture.open();
  const { state } = await store.load();
  if (state === undefined) return;
  const lease = await store.acquire(OTHER);
  await lease.commit(nextState(state, state.last_run, {}));
  await lease.release();
}

async function prepare({ kind }: Row, stage: Stage, fixture: StateFixture): Promise<void> {
  if (kind === 'creates') return;
  await stage.apply({}, { outside: { timed: () => fixture.open() } });
  await stage.edit('agents.yaml', 'how can I help?', 'good day!');
  await stage.edit('agents.yaml', 'who are due', 'who are overdue');
  await stage.edit('resources.yaml', 'Your visit on', 'You come on');
  await stage.edit('resources.yaml', 'body: See you', 'body: We see you');
}

/** Runs an apply that loses its lease at a write, and counts the writes that left after that. */
async function runInto({ how, what, nth }: Row, stage: Stage, fixture: StateFixture, loss: Loss) {
  const trouble = TROUBLES[what];
  const time = virtualTime();
  const own = time.effectsOn(HERE);
  const other = fixture.open({ effects: time.effectsOn('there') });
  let isCut = false;
  let taken: Lease | undefined;
  let seen = 0;
  let left = 0;
  let isWaiting = false;

  async function lose(): Promise<void> {
    isWaiting = false;
    const cut = () => {
      isCut = true;
    };
    taken = await LOSSES[how]?.({ time, other, cut });
  }

  const isHit = () => {
    seen += 1;
    return seen === nth;
  };
  const wire = (transport: Transport): Transport => ({
    ...transport,
    async send(request) {
      if (!isWrite(request)) return transport.send(request);
      if (taken !== undefined) left += 1;
      const { loses, answer } = trouble ?? {};
      if (loses === 'before it leaves' || request.attempt > 1 || !isHit())
        return transport.send(request);
      isWaiting = loses === 'in the wait';
      const answered = answer
        ? { ...answer, requestId: undefined, body: { error: 'later' }, length: 17 }
        : await transport.send(request);
      if (loses === 'before the answer') await lose();
      return answered;
    },
  });
  const pause = {
    random: () => 1,
    async sleep(milliseconds: number) {
      if (isWaiting) await lose();
      await time.pass(milliseconds);
    },
  };
  const fault = (): Fault => (isCut && loss ? { error: loss, done: false } : undefined);
  // A folder that hangs takes no heartbeat.
  const every: LockEffects['every'] = (apart, act) =>
    own.every(apart, () => (isCut && loss === undefined ? undefined : act()));
  const timed = (): StateStore => {
    const store = fixture.open({ effects: { ...own, every }, ...(loss && { fault }) });
    return {
      ...store,
      async acquire(given) {
        const lease = await store.acquire(given);
        return {
          ...lease,
          async append(entry) {
            await lease.append(entry);
            const isNext = entry.type === 'intent' && trouble?.loses === 'before it leaves';
            if (isNext && isHit()) await lose();
          },
        };
      },
    };
  };
  let failure: Failure | undefined;
  const flags = { dir: stage.folder, format: 'text', autoApprove: true, concurrency: 1 } as const;
  const { out, err } = await stage.run(
    (to) =>
      apply(undefined, flags, to).catch((error: unknown) => {
        failure = toFailure(error);
        throw error;
      }),
    { exit: 'any', outside: { timed, wire, pause } },
  );
  await taken?.release();
  if (taken === undefined || failure === undefined) throw new Error(`${out}${err}`);
  return { left, failure };
}

function isWrite({ method, about }: WireRequest): boolean {
  return method !== 'GET' && about?.operation !== 'createToken';
}
