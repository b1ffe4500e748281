import { expect, test } from 'vitest';
import { pruneRuns } from '../../../../src/cli/commands/prune.ts';
import { CallsheetError } from '../../../../src/core/errors.ts';
import type { JournalEntry, RunBegan } from '../../../../src/state/journal.ts';
import type { State } from '../../../../src/state/model.ts';
import { nextState, replay } from '../../../../src/state/replay.ts';
import { type NeededRun, parseKeep } from '../../../../src/state/retention.ts';
import type { StateStore } from '../../../../src/state/store.ts';
import { quietContext } from '../../../cli/quiet-context.ts';
import { Death } from '../../breaking.ts';
import {
  began,
  ended,
  HOLDS,
  holder,
  intent,
  keptOf,
  makeFolder,
  outcome,
  recorded,
  resource,
} from '../../sample.ts';
import { appendAll } from '../../stores.ts';
import { type Fault, type StateFixture, WITHOUT_WAITING } from './fixture.ts';

/** Days before now, of the runs from the oldest to the newest. The newest is an edit, which no rollback looks at. */
const AGES = [60, 50, 40, 30, 20, 2] as const;
const NOW = new Date('2026-06-01T12:00:00.000Z');
const DAY_MS = 24 * 60 * 60_000;

const [R1 = '', R2 = '', R3 = '', R4 = '', R5 = '', R6 = ''] = AGES.map((age, index) => {
  const at = new Date(NOW.getTime() - age * DAY_MS).toISOString();
  return `${at.slice(0, 19).replaceAll(/[-:]/g, '').toLowerCase()}z-00000${index + 1}`;
});
const RUNS = [R1, R2, R3, R4, R5, R6];

type Case = {
  /** How journals of the runs begin, where that is not as those of an apply. */
  readonly begin?: { readonly [run: string]: Partial<RunBegan> };
  readonly state?: Partial<State>;
  /** Old runs that stay beside the one that a rollback looks at, oldest first. */
  readonly needed: readonly NeededRun[];
};

const deleted = (run: string): NonNullable<State['deleted']> => ({
  'agent.gone': { run, at: NOW.toISOString(), kind: 'agent', scope: {}, name: 'Gone' },
});

const CASES: { readonly [what: string]: Case } = {
  nothing: { needed: [] },
  'a hold': {
    state: {
      holds: Object.fromEntries(
        Object.entries(HOLDS).map(([key, hold]) => [key, { ...hold, undid: R2, by: R3 }]),
      ),
    },
    needed: [
      { run: R2, reason: 'hold', of: 'agent.desk' },
      { run: R3, reason: 'hold', of: 'agent.desk' },
    ],
  },
  'a rollout that is open, and none that is over': {
    state: {
      kept: {
        rollout: { careful: keptOf({ runs: [R2] }), over: keptOf({ open: false, runs: [R1] }) },
      },
    },
    needed: [{ run: R2, reason: 'part', of: 'rollout careful' }],
  },
  'a deletion, with the rollback of its run': {
    begin: { [R3]: { purpose: 'rollback', undoes: R2 } },
    state: { deleted: deleted(R2) },
    needed: [
      { run: R2, reason: 'deleted', of: 'agent.gone' },
      { run: R3, reason: 'undoes', of: R2 },
    ],
  },
  'a run that another brought': {
    begin: { [R2]: { purpose: 'state mv' }, [R5]: { brought_by: R2 } },
    needed: [{ run: R2, reason: 'brought', of: R5 }],
  },
  'a rollback that mended drift came after': {
    begin: { [R5]: { purpose: 'heal' } },
    needed: [{ run: R4, reason: 'rollback', of: R4 }],
  },
};

const BY_ROLLBACK: NeededRun = { run: R5, reason: 'rollback', of: R5 };

/** What is kept, and the runs that are too old for it. */
const KEEPS: { readonly [keep: string]: readonly string[] } = {
  '3': RUNS.slice(0, 3),
  '0': RUNS,
  '35d': RUNS.slice(0, 3),
  '24h': RUNS,
  '6': [],
};

/** Each step takes a life of its own. */
const FEWER = 5;

/** Which receipts go and which stay, after a kill at any step, too. */
export function testPruning(makeFixture: () => Promise<StateFixture>, stride: number): void {
  const table = Object.keys(CASES).flatMap((what) =>
    Object.keys(KEEPS).map((keep) => ({ what, keep })),
  );

  test.each(table)('prunes with --keep $keep what is not needed by $what', async (row) => {
    const fixture = await makeFixture();
    const one = CASES[row.what] ?? { needed: [] };
    await live(fixture.open(), one);
    const done = await pruneIn(fixture.open(), row.keep);
    const { needed, pruned, left } = expected(one, row.keep);
    expect(done).toMatchObject({ needed, pruned, kept: left.length });
    expect(await listed(fixture)).toEqual([...(done.run === null ? [] : [done.run]), ...left]);
    expect(done.run === null).toBe(pruned.length === 0);
    for (const run of pruned) expect(await fixture.open().run(run), run).toBeUndefined();
    const again = await pruneIn(fixture.open(), row.keep);
    expect(again.pruned).toEqual([]);
    await fixture.close();
  });

  test.each([
    ['before', false],
    ['right after', true],
  ])('removes the rest when pruning died %s any step', async (_where, isDone) => {
    const one = CASES['a hold'] ?? { needed: [] };
    const { left } = expected(one, '24h');
    let step = 1;
    while (await dieAt(step, isDone)) step += Math.max(stride, FEWER);
    expect(step).toBeGreaterThan(4);

    async function dieAt(at: number, done: boolean): Promise<boolean> {
      const fixture = await makeFixture();
      await live(fixture.open(), one);
      let died = false;
      const fault = (number: number): Fault => {
        if (!died && number !== at) return undefined;
        const isFirst = !died;
        died = true;
        return { error: () => new Death(), done: isFirst && done };
      };
      await pruneIn(fixture.open({ fault, ...WITHOUT_WAITING }), '24h').catch((error: unknown) => {
        if (!(error instanceof Death || error instanceof CallsheetError)) throw error;
      });
      for (const run of left) expect(await listed(fixture)).toContain(run);
      const held = await fixture.open().lock();
      if (held !== undefined) await fixture.open(WITHOUT_WAITING).unlock(held.lease, holder('u'));
      await pruneIn(fixture.open(WITHOUT_WAITING), '24h');
      const kept = await listed(fixture);
      expect(kept.filter((run) => RUNS.includes(run))).toEqual(left);
      expect((await fixture.open().load()).pending).toEqual([]);
      await fixture.close();
      return died;
    }
  });
}

function expected({ needed }: Case, keep: string) {
  const old = KEEPS[keep] ?? [];
  const last: readonly NeededRun[] = [{ run: R6, reason: 'last_run', of: R6 }];
  const all = [...needed, BY_ROLLBACK, ...last].filter(({ run }) => old.includes(run));
  const stays = new Set(all.map(({ run }) => run));
  const pruned = old.filter((run) => !stays.has(run)).toReversed();
  return {
    needed: all.toReversed(),
    pruned,
    left: RUNS.filter((run) => !pruned.includes(run)).toReversed(),
  };
}

async function listed(fixture: StateFixture): Promise<readonly string[]> {
  return (await fixture.open().runs()).map(({ run }) => run);
}

async function pruneIn(store: StateStore, keep: string) {
  const { context } = quietContext();
  const dir = await makeFolder();
  const settings = { dir, platform: {}, state: { file: 'unused.json' } };
  const open = { store, settings } as Parameters<typeof pruneRuns>[0];
  try {
    return await pruneRuns(open, parseKeep(keep), keep, { ...context, now: () => NOW });
  } finally {
    await store.close().catch(() => undefined);
  }
}

/** Has all runs done, the state of the last of them with what the case has. */
async function live(store: StateStore, { begin = {}, state: more = {} }: Case): Promise<void> {
  const lease = await store.acquire(holder(R1));
  let state: State | undefined;
  for (const [index, run] of RUNS.entries()) {
    const at = new Date(NOW.getTime() - (AGES[index] ?? 0) * DAY_MS).toISOString();
    const isEdit = run === R6;
    const entries: readonly JournalEntry[] = [
      { ...began(run, index), at, ...(isEdit ? { purpose: 'state trust' } : {}), ...begin[run] },
      ...(isEdit ? [] : [intent(1, 'agent.desk', 'a1'), outcome(1, 'a1')]),
      recorded('agent.desk', resource('a1', { name: `Desk ${index}` })),
      { ...ended(['agent.desk']), at } as JournalEntry,
    ];
    await appendAll(lease, entries);
    const { state: after } = replay(state, entries);
    if (after === undefined) throw new Error('not a run');
    state = nextState(after, run);
    if (isEdit) state = { ...state, ...more };
    await lease.commit(state);
  }
  await lease.release();
}
