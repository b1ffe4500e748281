import { appendFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realDisk } from '../../src/state/file/disk.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import { nextState, replay } from '../../src/state/replay.ts';
import type { StateStore } from '../../src/state/store.ts';
import { longTest } from '../long.ts';
import {
  began,
  deadPid,
  ended,
  failureOf,
  holder,
  intent,
  recorded,
  resource,
  stateWith,
} from './sample.ts';
import { newStore, openStore } from './stores.ts';

/**
 * A string holds 512 MB, and what a large run writes down is more. Here it holds some megabytes, so that the same is
 * seen at once.
 */
const LONGEST = 6_000_000;

function checked(length: number): void {
  if (length > LONGEST) throw new RangeError('Invalid string length');
}

const SHORT_STRINGS: Partial<typeof realDisk> = {
  async read(path) {
    const found = await stat(path).catch(() => undefined);
    checked(found?.size ?? 0);
    return realDisk.read(path);
  },
  async writeNew(path, text) {
    function* pieces() {
      for (const piece of text) {
        checked(piece.length);
        yield piece;
      }
    }
    checked(typeof text === 'string' ? text.length : 0);
    await realDisk.writeNew(path, pieces());
  },
  async openEnd(path, which) {
    const end = await realDisk.openEnd(path, which);
    return {
      ...end,
      async append(text) {
        checked(text.length);
        await end.append(text);
      },
    };
  },
};

const AGENTS = 400;
const PROMPT = 'Grüße. '.repeat(3_000);
const name = (index: number) => `agent.a${index}`;

/** A run over prompts that are more than a string together, up to the last agent but one. */
const LARGE: readonly JournalEntry[] = Array.from({ length: AGENTS }, (_, index) => index).flatMap(
  (index): readonly JournalEntry[] => [
    {
      type: 'snapshot',
      address: name(index),
      kind: 'agent',
      id: `a${index}`,
      document: { name: `Desk ${index}`, system_prompt: `${index} ${PROMPT}` },
      pin: null,
      resource: null,
      withheld: [],
      intended: null,
    },
    intent(index + 1, name(index), `a${index}`),
    ...(index < AGENTS - 1 ? [recorded(name(index), resource(`a${index}`))] : []),
  ],
);

async function died(store: StateStore): Promise<void> {
  const lease = await store.acquire(holder('r1', deadPid()));
  // All at once: what waits for the disk together is more than a string, too.
  await Promise.all([began('r1'), ...LARGE].map((entry) => lease.append(entry)));
}

function promptIn(entries: readonly JournalEntry[] | undefined, index: number): unknown {
  const found = entries?.find((one) => one.type === 'snapshot' && one.address === name(index));
  return found?.type === 'snapshot' ? found.document?.system_prompt : undefined;
}

describe('a journal that is longer than a string', () => {
  test('is read, gone on with, filed and looked at again', async () => {
    const { path, store } = await newStore('.callsheet/state.json', SHORT_STRINGS);
    await died(store);
    const next = openStore(path, SHORT_STRINGS);
    const { state, pending } = await next.load();
    expect(pending).toHaveLength(LARGE.length + 1);
    const replayed = replay(state, pending);
    expect(Object.keys(replayed.state?.resources ?? {})).toHaveLength(AGENTS - 1);
    const [open] = replayed.open;
    expect([open?.address, open?.snapshot?.document?.system_prompt]).toEqual([
      name(AGENTS - 1),
      `${AGENTS - 1} ${PROMPT}`,
    ]);

    const lease = await next.acquire(holder('r1'));
    await lease.append(recorded(name(AGENTS - 1), resource(`a${AGENTS - 1}`)));
    await lease.append(ended());
    const settled = replay(state, (await next.load()).pending);
    if (settled.state === undefined) throw new Error('there is a run');
    await lease.commit(nextState(settled.state, 'r1'));
    expect(await next.runs()).toMatchObject([{ run: 'r1', status: 'done' }]);
    expect((await next.load()).pending).toEqual([]);
    // What was read before the journal was filed is still there, under its other name.
    expect(promptIn(pending, 7)).toBe(`7 ${PROMPT}`);
    expect(promptIn(await next.run('r1'), 8)).toBe(`8 ${PROMPT}`);
  });

  longTest('is put together from what is left of a state', async () => {
    const { path, store } = await newStore('.callsheet/state.json', SHORT_STRINGS);
    await died(store);
    const next = openStore(path, SHORT_STRINGS);
    const { state, journals } = await next.salvage();
    expect(Object.keys(state?.resources ?? {})).toHaveLength(AGENTS - 1);
    expect(journals).toMatchObject([{ run: 'r1', use: 'replayed', lost: 0 }]);
    const lease = await next.acquire(holder('r2'));
    if (state === undefined) throw new Error('there is a run');
    const run = { ...began('r2', state.serial), purpose: 'state repair' as const };
    await lease.replace(nextState(state, 'r2'), [run, ended()]);
    expect((await next.runs()).map((one) => one.run)).toEqual(['r2', 'r1']);
  });
});

describe('a state that is longer than a string', () => {
  const large = () =>
    stateWith(
      Object.fromEntries(
        Array.from({ length: 14_000 }, (_, index) => [name(index), resource(`a${index}`)]),
      ),
      { last_run: null },
    );

  longTest('is written, read and, beside a damaged journal, repaired', async () => {
    const { path, store } = await newStore('.callsheet/state.json', SHORT_STRINGS);
    const lease = await store.acquire(holder('r1'));
    await lease.commit(large());
    await lease.append(began('r1', 1));
    await lease.release();
    expect((await stat(path)).size).toBeGreaterThan(LONGEST);
    const [journal = ''] = (await readdir(join(path, '../runs'))).map((file) =>
      join(path, '../runs', file),
    );
    await appendFile(journal, '{"sum":"no"}\n');
    const next = openStore(path, SHORT_STRINGS);
    expect((await failureOf(() => next.load())).message).toContain('damaged in line 3');
    const { read, state } = await next.salvage();
    expect([read, Object.keys(state?.resources ?? {}).length]).toEqual(['whole', 14_000]);
  });

  test('is named where it is damaged, with a way on', async () => {
    const { path, store } = await newStore('.callsheet/state.json', SHORT_STRINGS);
    const lease = await store.acquire(holder('r1'));
    await lease.commit(large());
    await lease.release();
    await appendFile(path, 'x');
    const failure = await failureOf(() => openStore(path, SHORT_STRINGS).load());
    expect(failure.message).toContain('too large to be repaired in part');
    expect(failure.hint).toContain('callsheet state repair');
  });
});
