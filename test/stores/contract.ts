import { expect, onTestFinished, test, vi } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import type { StatePlace } from '../../src/core/state-place.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import type { LockEffects } from '../../src/state/lock.ts';
import type { State } from '../../src/state/model.ts';
import { nextState, replay } from '../../src/state/replay.ts';
import type { StateStore } from '../../src/state/store.ts';
import { Death } from '../state/breaking.ts';
import {
  began,
  deadPid,
  ended,
  failureOf,
  holder,
  intent,
  outcome,
  recorded,
  resource,
  stateWith,
} from '../state/sample.ts';
import { appendAll, doRun, RUN } from '../state/stores.ts';
import { startProcess } from './other-process.ts';

/** What goes wrong with a step that a store takes outside the process: it is not taken, or nobody hears that it was. */
export type Fault = { readonly error: () => Error; readonly done: boolean } | undefined;

export type Opening = {
  readonly effects?: Partial<LockEffects>;
  /** Asked before every step, counted from 1. */
  readonly fault?: (step: number) => Fault;
};

/** A state of its own in the store under test. */
export type Spot = {
  /** Another process's view of it. */
  readonly open: (opening?: Opening) => StateStore;
  /** Everything that is kept of it, in one text. */
  readonly dump: () => Promise<string>;
  /** Changes what is kept behind the store's back. */
  readonly spoil: (how: 'damaged' | 'newer') => Promise<void>;
  /** As a stack names it, with what must be in the environment. */
  readonly place: StatePlace;
  readonly env: Readonly<Record<string, string>>;
  /** Closes every view. */
  readonly close: () => Promise<void>;
  /** What must show up in no message and in nothing that is kept. */
  readonly credentials: readonly string[];
};

/** Views that are closed with the test at the latest. */
export function openViews() {
  const views: StateStore[] = [];
  const close = async () => {
    await Promise.all(views.splice(0).map((view) => view.close()));
  };
  onTestFinished(close);
  return {
    close,
    add(view: StateStore): StateStore {
      views.push(view);
      return view;
    },
  };
}

/** A connection that is lost, as the store's client reports it; undefined where there is none. */
export type Loss = (() => Error) | undefined;

/** `npm run torture` breaks the stores at every step. */
const EVERY_STEP = process.env.CALLSHEET_EVERY_STEP === '1';

/** What every store keeps to. It is broken at every step, or at each `stride` steps where that takes long. */
export function contract(makeSpot: () => Promise<Spot>, loss: Loss, stride = 1): void {
  const pace = EVERY_STEP ? 1 : stride;
  // Many rounds, on machines that are busy with other tests.
  vi.setConfig({ testTimeout: 60_000 });

  test('begins with nothing', async () => {
    const store = (await makeSpot()).open();
    expect(await store.load()).toEqual({ state: undefined, pending: [] });
    expect(await store.runs()).toEqual([]);
    expect(await store.run('r1')).toBeUndefined();
    expect(await store.lock()).toBeUndefined();
    expect(await store.salvage()).toMatchObject({ problem: undefined, read: 'nothing' });
  });

  test('remembers a run, and those before it', async () => {
    const spot = await makeSpot();
    const store = spot.open();
    await doRun(store);
    await doRun(store, SECOND);
    const again = spot.open();
    const { state, pending } = await again.load();
    expect(pending).toEqual([]);
    expect(state).toMatchObject({ serial: 2, last_run: 'r2', account_id: 'account-1' });
    expect(state?.resources).toEqual({
      'agent.desk': resource('a1', { name: 'Grüße “von hier”\n' }),
      'agent.line': resource('a2'),
    });
    expect((await again.runs()).map(({ run, status }) => `${run} ${status}`)).toEqual([
      'r2 done',
      'r1 done',
    ]);
    expect(await again.run('r1')).toEqual(RUN);
    expect(await again.run('r2')).toEqual(SECOND);
    for (const id of ['../r1', '', 'r9', "r1' OR 1=1"]) expect(await again.run(id)).toBeUndefined();
  });

  test('forgets what a state no longer has', async () => {
    const spot = await makeSpot();
    await doRun(spot.open());
    await doRun(spot.open(), SECOND);
    await doRun(spot.open(), [began('r3', 2), recorded('agent.desk', null), ended()]);
    expect((await spot.open().load()).state?.resources).toEqual({ 'agent.line': resource('a2') });
  });

  test.each<[string, Partial<State>, string]>([
    ['of another serial', { serial: 7 }, 'stale'],
    ['of the serial that is there', { serial: 1 }, 'stale'],
    ['of another stack', { lineage: 'another' }, 'state'],
    ['of another account', { account_id: 'account-2' }, 'state'],
    [
      'that nobody could read',
      { resources: { 'agent.x': { ...resource('x'), kind: 'y' } } },
      'state',
    ],
  ])('refuses a state %s', async (_name, change, code) => {
    const spot = await makeSpot();
    const store = spot.open();
    await doRun(store);
    const { state: before } = await store.load();
    if (before === undefined) throw new Error('no state');
    const lease = await store.acquire(holder('r2'));
    const failure = await failureOf(() => lease.commit({ ...nextState(before), ...change }));
    expect(failure.code).toBe(code);
    expect((await spot.open().load()).state).toEqual(before);
    await lease.commit(nextState(before));
  });

  test('keeps what a run appended before it died, and takes no other run before that is settled', async () => {
    const spot = await makeSpot();
    const dead = spot.open();
    const first = await dead.acquire(holder('r1', deadPid()));
    await appendAll(first, RUN.slice(0, 3));
    const store = spot.open();
    expect(await store.load()).toEqual({ state: undefined, pending: RUN.slice(0, 3) });
    expect(await store.runs()).toEqual([]);
    expect(await store.run('r1')).toEqual(RUN.slice(0, 3));
    const lease = await store.acquire(holder('r2'));
    expect((await failureOf(() => lease.append(began('r2')))).message).toContain('must be settled');
    await appendAll(lease, RUN.slice(3));
    const { state } = replay(undefined, RUN);
    await lease.commit(nextState(state ?? stateWith({}), 'r1'));
    await lease.append(began('r2', 1));
    expect(await spot.open().load()).toMatchObject({
      state: { serial: 1 },
      pending: [began('r2', 1)],
    });
    expect(await spot.open().run('r1')).toEqual(RUN);
  });

  test('of many that ask at once one gets the lease', async () => {
    const spot = await makeSpot();
    const asked = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) => spot.open().acquire(holder(`r${index}`))),
    );
    const won = asked.filter(({ status }) => status === 'fulfilled');
    const codes = asked.flatMap((one) =>
      one.status === 'rejected' ? (one.reason as CallsheetError).code : [],
    );
    expect(won).toHaveLength(1);
    expect(new Set(codes)).toEqual(new Set(['locked']));
  });

  test('names who holds it, until it is given back', async () => {
    const spot = await makeSpot();
    const store = spot.open();
    const lease = await store.acquire(holder('r1'));
    const failure = await failureOf(() => spot.open().acquire(holder('r2')));
    expect(failure.code).toBe('locked');
    expect(failure.message).toContain('apply (run r1) of sam@desk');
    expect(failure.hint).toContain(`callsheet state unlock ${lease.id}`);
    const held = await spot.open().lock();
    expect(held).toMatchObject({ lease: lease.id, holder: holder('r1'), owner: 'running' });
    await lease.release();
    expect(await spot.open().lock()).toBeUndefined();
    expect((await failureOf(() => lease.append(began('r1')))).code).toBe('locked');
    const next = spot.open();
    await next.acquire(holder('r2'));
    await next.close();
    await spot.open().acquire(holder('r3'));
  });

  test('a process that was killed is noticed at once on its machine', async () => {
    const spot = await makeSpot();
    const other = startProcess();
    const orders = { place: spot.place, env: spot.env, holder: holder('r1') };
    expect(await other.tell({ do: 'acquire', ...orders })).toEqual({ done: true });
    expect(await other.tell({ do: 'append', entry: began('r1') })).toEqual({ done: true });
    expect((await failureOf(() => spot.open().acquire(holder('r2')))).code).toBe('locked');
    await other.kill();
    expect(await spot.open().lock()).toMatchObject({ owner: 'gone' });
    const lease = await spot.open().acquire(holder('r2'));
    expect((await spot.open().load()).pending).toEqual([began('r1')]);
    await lease.release();
  });

  test('a process that died elsewhere is noticed within 30 seconds, and not by its clock', async () => {
    const spot = await makeSpot();
    const there = clock({ machine: 'there', ahead: 3_600_000 });
    const here = clock({ machine: 'here' });
    await spot.open({ effects: there.effects }).acquire(holder('r1'));
    // It dies: no more heartbeats.
    const lease = await spot.open({ effects: here.effects }).acquire(holder('r2'));
    expect(here.waited()).toBeLessThanOrEqual(30_000);
    expect(here.waited()).toBeGreaterThanOrEqual(3 * 2_000);
    await lease.append(began('r2'));
  });

  test('one that lives elsewhere is left alone, whatever the clocks say', async () => {
    const spot = await makeSpot();
    const there = clock({ machine: 'there', ahead: 3_600_000 });
    const store = spot.open({ effects: there.effects });
    const lease = await store.acquire(holder('r1'));
    const here = clock({
      machine: 'here',
      async whileAsleep() {
        const before = await store.lock();
        there.beat();
        await vi.waitFor(async () => expect((await store.lock())?.beat).not.toBe(before?.beat));
      },
    });
    const failure = await failureOf(() =>
      spot.open({ effects: here.effects }).acquire(holder('r2')),
    );
    expect(failure.code).toBe('locked');
    await lease.append(began('r1'));
  });

  test('who lost the lease writes nothing more, and is told who has it', async () => {
    for (const prefix of [0, 1, 3, RUN.length]) {
      const spot = await makeSpot();
      const store = spot.open();
      const lease = await store.acquire(holder('r1'));
      await appendAll(lease, RUN.slice(0, prefix));
      const other = spot.open();
      const held = await other.lock();
      await other.unlock(held?.lease ?? '', holder('u'));
      const next = await other.acquire(holder('r2'));
      const entry = RUN[prefix] ?? ended();
      const failures = [
        await failureOf(() => lease.append(entry)),
        await failureOf(() => lease.commit(nextState(stateWith({}, { serial: 0 }), 'r1'))),
        await failureOf(() => lease.replace(nextState(stateWith({}), 'r1'), [began('r1')])),
      ];
      for (const failure of failures) {
        expect(failure.code).toBe('locked');
        expect(failure.message).toMatch(/no longer holds the lock.*(run r2|lock was removed)/);
      }
      expect(await spot.open().load()).toEqual({ state: undefined, pending: RUN.slice(0, prefix) });
      await next.release();
    }
  });

  test('a heartbeat finds out that the lease is lost', async () => {
    const spot = await makeSpot();
    const there = clock({ machine: 'there' });
    const lease = await spot.open({ effects: there.effects }).acquire(holder('r1'));
    await spot.open().unlock(lease.id, holder('u'));
    there.beat();
    await vi.waitFor(async () =>
      expect((await failureOf(() => lease.append(began('r1')))).code).toBe('locked'),
    );
    expect(await spot.open().lock()).toBeUndefined();
  });

  test('unlocks the lease that is named, and no other', async () => {
    const spot = await makeSpot();
    const store = spot.open();
    expect((await failureOf(() => store.unlock('x', holder('u')))).code).toBe('usage');
    const lease = await store.acquire(holder('r1'));
    const failure = await failureOf(() => spot.open().unlock('x', holder('u')));
    expect(failure.code).toBe('usage');
    expect(failure.message).toContain(lease.id);
    await spot.open().unlock(lease.id, holder('u'));
    expect(await spot.open().lock()).toBeUndefined();
    await spot.open().acquire(holder('r2'));
  });

  test('refuses a damaged state, salvages it, and puts another in its place', async () => {
    const spot = await makeSpot();
    await doRun(spot.open());
    await spot.spoil('damaged');
    const store = spot.open();
    const failure = await failureOf(() => store.load());
    expect(failure.code).toBe('state');
    expect(failure.message).toContain(store.location);
    expect(failure.hint).toContain('state repair');
    expect((await store.runs()).map(({ run }) => run)).toEqual(['r1']);
    const lease = await store.acquire(holder('r2'));
    const salvage = await store.salvage();
    expect(salvage.problem?.message).toBe(failure.message);
    expect(salvage.state?.resources).toEqual({ 'agent.desk': resource('a1') });
    const rebuilt = nextState(salvage.state ?? stateWith({}), 'r2');
    const repair: JournalEntry = ended();
    const aside = await lease.replace(rebuilt, [began('r2', rebuilt.serial - 1), repair]);
    expect(aside).toHaveLength(1);
    expect((await spot.open().load()).state).toEqual(rebuilt);
    expect((await spot.open().runs()).map(({ run }) => run)).toEqual(['r2', 'r1']);
    await lease.commit(nextState(rebuilt));
  });

  test('files the journal of a dead run where a state is replaced', async () => {
    const spot = await makeSpot();
    await appendAll(await spot.open().acquire(holder('r1', deadPid())), RUN.slice(0, 3));
    const lease = await spot.open().acquire(holder('r2'));
    await lease.replace(stateWith({}, { last_run: 'r2' }), [began('r2'), ended()]);
    expect((await spot.open().load()).pending).toEqual([]);
    expect((await spot.open().runs()).map(({ run, status }) => `${run} ${status}`).sort()).toEqual([
      'r1 unfinished',
      'r2 done',
    ]);
  });

  test('makes nothing of what a newer Callsheet wrote', async () => {
    const spot = await makeSpot();
    await doRun(spot.open());
    await spot.spoil('newer');
    const before = await spot.dump();
    const store = spot.open();
    for (const work of [() => store.load(), () => store.salvage()]) {
      const failure = await failureOf(work);
      expect(failure.code).toBe('state');
      expect(failure.message).toContain('newer Callsheet');
    }
    expect(await spot.dump()).toBe(before);
  });

  test('keeps and shows no credentials', async () => {
    const spot = await makeSpot();
    const store = spot.open();
    await doRun(store);
    await spot.spoil('damaged');
    const { message, hint } = await failureOf(() => spot.open().load());
    const shown = [store.location, message, hint ?? '', await spot.dump()].join('\n');
    for (const credential of spot.credentials) expect(shown).not.toContain(credential);
  });

  test.each([
    ['before', false],
    ['right after', true],
  ])('a process that dies %s any step loses nothing that it was promised', async (_where, done) => {
    let step = 1;
    while (await dieAt(step, done)) step += pace;
    // Every append and two commits: if this falls, steps are no longer seen.
    expect(step).toBeGreaterThan(18);
  });

  test.runIf(loss !== undefined).each([
    ['before', false],
    ['after', true],
  ])(
    'a connection that is lost %s any step is got over or stops the run, and loses nothing',
    async (_where, done) => {
      let step = 1;
      while (await cutAt(step, done)) step += pace;
      expect(step).toBeGreaterThan(18);
    },
  );

  test.runIf(loss !== undefined)(
    'a connection that stays lost stops the run before its next write',
    async () => {
      const spot = await makeSpot();
      let isCut = false;
      const error = loss ?? (() => new Error());
      const store = spot.open({
        fault: () => (isCut ? { error, done: false } : undefined),
        effects: { sleep: async () => {} },
      });
      const lease = await store.acquire(holder('r1'));
      await appendAll(lease, RUN.slice(0, 2));
      isCut = true;
      const failure = await failureOf(() => lease.append(RUN[2] ?? ended()));
      expect(failure.code).toBe('state');
      expect(failure.message).toContain(store.location);
      expect(failure.message).toMatch(/cannot \w+ the state .*: the connection was lost/);
      await failureOf(() => lease.append(RUN[3] ?? ended()));
      isCut = false;
      expect((await spot.open().load()).pending).toEqual(RUN.slice(0, 2));
    },
  );

  async function dieAt(at: number, done: boolean): Promise<boolean> {
    const spot = await makeSpot();
    let died = false;
    const fault = (step: number): Fault => {
      if (died) return { error: () => new Death(), done: false };
      if (step !== at) return undefined;
      died = true;
      return { error: () => new Death(), done };
    };
    const promised: Promised = { entries: [], commits: 0 };
    const store = spot.open({ fault });
    await live(store, promised, deadPid()).catch((error: unknown) => {
      if (!(error instanceof Death)) throw error;
    });
    await checkPromises(spot, promised);
    await recover(spot);
    await spot.close();
    return died;
  }

  async function cutAt(at: number, done: boolean): Promise<boolean> {
    const spot = await makeSpot();
    let wasCut = false;
    const fault = (step: number): Fault => {
      if (step !== at) return undefined;
      wasCut = true;
      return { error: loss ?? (() => new Error()), done };
    };
    const promised: Promised = { entries: [], commits: 0 };
    const store = spot.open({ fault, effects: { sleep: async () => {} } });
    await live(store, promised, process.pid).catch((error: unknown) => {
      if (!(error instanceof CallsheetError) || error.code !== 'state') throw error;
    });
    await store.close();
    await checkPromises(spot, promised);
    // It gave back what it could; what it could not belongs to a process that runs.
    const held = await spot.open().lock();
    if (held !== undefined) await spot.open().unlock(held.lease, holder('u'));
    await recover(spot);
    await spot.close();
    return wasCut;
  }
}

const SECOND: readonly JournalEntry[] = [
  began('r2', 1),
  intent(1, 'agent.desk', 'a1'),
  outcome(1, 'a1'),
  recorded('agent.desk', resource('a1', { name: 'Grüße “von hier”\n' })),
  recorded('agent.line', resource('a2')),
  ended(['agent.desk', 'agent.line']),
];
const RUNS = [RUN, SECOND];

/** The states that they commit, after none. */
const STATES: (State | undefined)[] = [undefined];
for (const entries of RUNS) {
  const { state, began: run } = replay(STATES.at(-1), entries);
  if (state !== undefined && run !== undefined) STATES.push(nextState(state, run.run));
}

/** What the process was told is durable. */
type Promised = { entries: JournalEntry[]; commits: number };

async function live(store: StateStore, promised: Promised, pid: number): Promise<void> {
  const lease = await store.acquire(holder('r1', pid));
  for (const [index, entries] of RUNS.entries()) {
    for (const entry of entries) {
      await lease.append(entry);
      promised.entries.push(entry);
    }
    await lease.commit(STATES[index + 1] ?? stateWith({}));
    promised.entries = [];
    promised.commits += 1;
  }
  await lease.release();
}

async function checkPromises(spot: Spot, promised: Promised): Promise<void> {
  const { state, pending } = await spot.open().load();
  const committed = state?.serial ?? 0;
  expect(state).toEqual(STATES[committed]);
  if (committed > promised.commits) {
    // The commit that was under way came through, though nobody was told.
    expect(committed).toBe(promised.commits + 1);
    expect(promised.entries).toEqual(RUNS[promised.commits]);
    expect(pending).toEqual([]);
    return;
  }
  expect(committed).toBe(promised.commits);
  // At most what was being written comes on top of what was promised.
  expect(pending.slice(0, promised.entries.length)).toEqual(promised.entries);
  expect(pending).toEqual((RUNS[committed] ?? []).slice(0, pending.length));
  expect(pending.length).toBeLessThanOrEqual(promised.entries.length + 1);
}

/** Settles what is pending, as the next command does. */
async function recover(spot: Spot): Promise<void> {
  const store = spot.open({ effects: { sleep: async () => {} } });
  const lease = await store.acquire(holder('next'));
  const { state, pending } = await store.load();
  const { state: replayed, began: run } = replay(state, pending);
  if (replayed !== undefined && run !== undefined) {
    const { at } = run;
    await lease.append({ type: 'ended', at, status: 'settled', verified: true, ledger: [] });
    await lease.commit(nextState(replayed, run.run));
  }
  const settled = await spot.open().load();
  expect(settled.pending).toEqual([]);
  expect(settled.state?.resources).toEqual(replayed?.resources ?? state?.resources);
  expect(await spot.open().runs()).toHaveLength(settled.state?.serial ?? 0);
  await lease.append(began('r9', settled.state?.serial ?? 0));
  await lease.release();
}

/** A clock that stands still but for what is slept, and heartbeats when they are asked for. */
function clock({
  machine,
  ahead = 0,
  whileAsleep = async () => {},
}: {
  readonly machine: string;
  readonly ahead?: number;
  readonly whileAsleep?: () => Promise<void>;
}) {
  let now = Date.parse('2026-03-02T08:30:00.000Z') + ahead;
  let waited = 0;
  const acts = new Set<() => void>();
  const effects: Partial<LockEffects> = {
    machine,
    now: () => now,
    async sleep(milliseconds) {
      now += milliseconds;
      waited += milliseconds;
      await whileAsleep();
    },
    every(_, act) {
      acts.add(act);
      return () => acts.delete(act);
    },
  };
  return {
    effects,
    waited: () => waited,
    beat() {
      now += 2_000;
      for (const act of acts) act();
    },
  };
}
