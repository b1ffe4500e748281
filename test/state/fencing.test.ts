import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { openFileStore } from '../../src/state/file/store.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import type { State } from '../../src/state/model.ts';
import { nextState, replay } from '../../src/state/replay.ts';
import type { Lease, StateStore } from '../../src/state/store.ts';
import { isTorture } from '../long.ts';
import { steppedDisk } from './breaking.ts';
import { settle } from './promises.ts';
import {
  began,
  deadPid,
  ended,
  failureOf,
  holder,
  intent,
  makeFolder,
  outcome,
  recorded,
  resource,
  stateWith,
} from './sample.ts';
import { openStore } from './stores.ts';

/** `npm run torture` stops a run at every step. */
const PACE = isTorture ? 1 : 3;
// Many rounds, on machines that are busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

/** The state that stands once the run that died before is settled, if one did. */
async function stateAfter(store: StateStore, lease: Lease): Promise<State> {
  return (await settle(store, lease)) ?? stateWith({}, { serial: 0 });
}

/** The run that is paused. It holds a dead process's number, so that nobody waits for it. */
async function runFirst(store: StateStore): Promise<void> {
  const lease = await store.acquire(holder('r1', deadPid()));
  const before = await stateAfter(store, lease);
  const entries: readonly JournalEntry[] = [
    began('r1', before.serial),
    intent(1, 'agent.old'),
    outcome(1, 'a1'),
    recorded('agent.old', resource('a1')),
    ended(['agent.old']),
  ];
  for (const entry of entries) await lease.append(entry);
  await lease.commit(nextState(replay(before, entries).state ?? before, 'r1'));
  await lease.append(began('r3', before.serial + 1));
}

/** The run that takes over: it settles what it finds, and is in the middle of its own. */
async function runSecond(store: StateStore): Promise<Lease> {
  const lease = await store.acquire(holder('r2'));
  const settled = await stateAfter(store, lease);
  // A rename, so that its state is like no state of the first.
  const resources = { ...settled.resources, 'agent.moved': resource('a3') };
  await lease.commit(nextState(settled, undefined, resources));
  await lease.append(began('r2', settled.serial + 1));
  await lease.append(intent(1, 'agent.new'));
  await lease.append(recorded('agent.new', resource('a2')));
  return lease;
}

/** A stack with a state and, if asked for, what two runs that died left: one in its middle, one at its start. */
async function makeStack(afterDeath: boolean): Promise<string> {
  const path = join(await makeFolder(), '.callsheet/state.json');
  const lease = await openStore(path).acquire(holder('r0', deadPid()));
  await lease.commit(stateWith({}));
  if (!afterDeath) return path;
  await lease.append(began('r0', 1));
  await lease.append(intent(1, 'agent.lost'));
  await appendFile(join(path, '../runs/r0.open.jsonl'), '{"sum":"01');
  await writeFile(join(path, '../runs/r8.open.jsonl'), '');
  return path;
}

/** Pauses the first run before a step on the disk until the second is under way. Undefined: it has no such step. */
async function pauseAt(at: number, afterDeath: boolean): Promise<string | undefined> {
  const path = await makeStack(afterDeath);
  const other = openStore(path);
  let second: { readonly lease: Lease; readonly load: unknown } | undefined;
  const disk = steppedDisk(async ({ number }) => {
    if (number === at) second = { lease: await runSecond(other), load: await other.load() };
  });
  const store = openFileStore(path, { disk });
  const failure = await runFirst(store).then(
    () => undefined,
    (error: unknown) => error,
  );
  await store.close();
  if (second === undefined) return undefined;

  // The second finds its state and its journal as it left them, and can finish.
  expect(await other.load()).toEqual(second.load);
  await second.lease.append(ended(['agent.new']));
  const { state, pending } = await other.load();
  await second.lease.commit(nextState(replay(state, pending).state ?? stateWith({}), 'r2'));
  await second.lease.release();
  const last = await other.load();
  expect(last.pending).toEqual([]);
  expect(last.state?.last_run).toBe('r2');
  expect(last.state?.resources['agent.new']).toEqual(resource('a2'));

  // What the first left behind goes with the next run.
  const next = await openStore(path).acquire(holder('r4'));
  await next.append(began('r4', last.state?.serial));
  const names = [...(await readdir(join(path, '..'))), ...(await readdir(join(path, '../runs')))];
  expect(names.filter((name) => /\.tmp$|\.open\./.test(name))).toEqual(['r4.open.jsonl']);
  return failure instanceof CallsheetError ? failure.code : String(failure);
}

test.each([
  ['on a quiet stack', false],
  ['after runs that died', true],
])(
  'a run that lost its lease at any step on the disk stops, and harms nothing, %s',
  async (_where, afterDeath) => {
    const ends: string[] = [];
    for (let step = 1; ; step += PACE) {
      const end = await pauseAt(step, afterDeath);
      if (end === undefined) break;
      ends.push(end);
    }
    expect(new Set(ends)).toEqual(new Set(['locked']));
    // If this falls, steps are no longer seen.
    expect(ends.length * PACE).toBeGreaterThan(afterDeath ? 16 : 10);
  },
);

test('a run that lost its lease does not tidy away what the next one has just made', async () => {
  for (let step = 1; ; step += PACE) {
    const path = await makeStack(true);
    const journal = join(path, '../runs/r2.open.jsonl');
    const other = openStore(path);
    let taken = false;
    const disk = steppedDisk(async ({ number }) => {
      if (number !== step) return;
      taken = true;
      await other.acquire(holder('r2'));
      await writeFile(journal, '');
    });
    const store = openFileStore(path, { disk });
    const failure = await failureOf(() => runFirst(store)).catch(() => undefined);
    await store.close();
    if (!taken) break;
    expect(failure?.code).toBe('locked');
    expect(await readFile(journal, 'utf8')).toBe('');
    await other.close();
  }
});
