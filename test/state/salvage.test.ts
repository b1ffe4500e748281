import { appendFile, copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatEntry, JOURNAL_HEADER, linesIn, TORN } from '../../src/state/journal-text.ts';
import { nextState, withKept } from '../../src/state/replay.ts';
import { salvageJournal, salvageState } from '../../src/state/salvage.ts';
import { formatState } from '../../src/state/state-text.ts';
import {
  APPLIED,
  began,
  ended,
  failureOf,
  HOLDS,
  holder,
  intent,
  keptOf,
  LINEAGE,
  outcome,
  recorded,
  resource,
  sealed,
  stateWith,
} from './sample.ts';
import { appendAll, doRun, newStore, RUN } from './stores.ts';

const FILE = 'x/state.json';
const [desk, line, annex] = [resource('a1'), resource('a2'), resource('a3')];
const state = stateWith(
  { 'agent.annex': annex, 'agent.desk': desk, 'agent.line': line },
  { serial: 4, account_id: 'account-1' },
);
const facts = {
  ...{ lineage: LINEAGE, serial: 4, salt: state.salt, account_id: 'account-1' },
  applied: APPLIED,
};

/** Two sides of a merge, of which the later has the desk under another name. */
const merged = (text: string) => {
  const own = text.split('\n').find((row) => row.startsWith('"agent.desk"')) ?? '';
  const theirs = own.replace('Desk a1', 'Their desk');
  return text.replace(own, `<<<<<<< HEAD\n${own}\n=======\n${theirs}\n>>>>>>> theirs`);
};

test.each(['\u2028', '\u2029', '\u0085'])(
  'of a damaged text a resource whose name holds %j is read',
  async (odd) => {
    const named = { ...desk, name: `Desk${odd}one` };
    const text = await formatState(stateWith({ 'agent.annex': annex, 'agent.desk': named }));
    const found = await salvageState(
      text.replace('"agent.annex":{"kind"', '"agent.annex":{kind"'),
      FILE,
    );
    expect(found?.resources).toEqual({ 'agent.desk': named });
  },
);

describe('of a damaged text', () => {
  const all = state.resources;
  test.each<[string, (text: string) => string, object | undefined]>([
    [
      'cut off, what stands before the cut is read',
      (t) => t.slice(0, t.indexOf('"agent.line"') + 40),
      { ...facts, resources: { 'agent.annex': annex, 'agent.desk': desk } },
    ],
    [
      'with a lost quote, the other lines are read',
      (t) => t.replace('"agent.desk":{"kind"', '"agent.desk":{kind"'),
      { ...facts, resources: { 'agent.annex': annex, 'agent.line': line } },
    ],
    [
      'with a changed value, all is read',
      (t) => t.replace('"serial":4', '"serial":9'),
      { ...facts, serial: 9, resources: all },
    ],
    [
      'laid out anew, all is read',
      (t) => JSON.stringify({ ...JSON.parse(t), serial: 9 }, null, 2),
      { ...facts, serial: 9, resources: all },
    ],
    [
      'of an unfinished merge, the later side counts',
      merged,
      { ...facts, resources: { ...all, 'agent.desk': { ...desk, name: 'Their desk' } } },
    ],
    [
      'without its first lines, the resources are read',
      (t) => t.replace(/"lineage.*\n/, '\n'),
      { resources: all },
    ],
    [
      'with zero bytes at its end, the rest is read',
      (t) => `${t.slice(0, t.indexOf('"agent.line"'))}${'\0'.repeat(300)}`,
      { ...facts, resources: { 'agent.annex': annex, 'agent.desk': desk } },
    ],
    ['that is empty, nothing is read', () => '', undefined],
    ['of zero bytes, nothing is read', () => '\0'.repeat(512), undefined],
    [
      'of another program, nothing is read',
      () => '{"version":4,"serial":1,"resources":[]}',
      undefined,
    ],
  ])('%s', async (_name, damage, expected) => {
    expect(await salvageState(damage(await formatState(state)), FILE)).toEqual(expected);
  });

  test.each<[string, (text: string) => string]>([
    ['that was edited', (text) => text.replace('Desk a1', 'Desk b1')],
    ['that was cut off', (text) => text.slice(0, -5)],
  ])('of a state %s, its holds and its commit are kept', async (_name, damage) => {
    const text = damage(await formatState({ ...state, holds: HOLDS }));
    expect(await salvageState(text, FILE)).toMatchObject({ holds: HOLDS, applied: APPLIED });
  });

  test('nothing is taken that could not stand in a state', async () => {
    const text = sealed({
      ...state,
      resources: {
        'agent.desk': desk,
        'agent.robot': { ...line, kind: 'robot' },
        'agent.nowhere': { ...line, scope: {} },
        'agent.half': { kind: 'agent', id: 'a9' },
        nobody: line,
      },
    });
    expect((await salvageState(text, FILE))?.resources).toEqual({ 'agent.desk': desk });
  });

  test.each([
    ['whole', (t: string) => t],
    ['cut off', (t: string) => t.slice(0, -5)],
  ])('of a later format, %s, nothing may be made', async (_name, damage) => {
    const text = damage((await formatState(state)).replace('"version":1', '"version":3'));
    expect((await failureOf(() => salvageState(text, FILE))).message).toContain('newer Callsheet');
  });
});

describe('of a damaged journal', () => {
  const entries = [began('r1'), intent(1, 'agent.desk'), recorded('agent.desk', desk), ended()];
  const lines = entries.map((entry) => formatEntry(entry));
  const whole = JOURNAL_HEADER + lines.join('');
  test.each<[string, string, readonly number[], number]>([
    ['that is whole, all is read', whole, [0, 1, 2, 3], 0],
    ['with a damaged line, the others are read', whole.replace('"seq":1', '"seq":2'), [0, 2, 3], 1],
    [
      'with a damaged header, all entries are read',
      whole.replace('callsheet', 'callsheer'),
      [0, 1, 2, 3],
      1,
    ],
    ['cut off, no loss is counted', whole.slice(0, -9), [0, 1, 2], 0],
    [
      'that was gone on with after a cut, no loss is counted',
      JOURNAL_HEADER + lines[0] + lines[1]?.slice(0, 30) + TORN + lines[2],
      [0, 2],
      0,
    ],
    [
      'of which only a part of the first line was written, nothing is lost',
      JOURNAL_HEADER.slice(0, 20),
      [],
      0,
    ],
  ])('%s', async (_name, text, kept, lost) => {
    expect(await salvageJournal(linesIn([text]), FILE)).toEqual({
      entries: kept.map((index) => entries[index]),
      lost,
    });
  });

  test('that is something else, nothing is read', async () => {
    expect(await salvageJournal(linesIn(['a,b\n1,2\n']), FILE)).toBeUndefined();
  });
});

/** r1 makes the desk and the line, r2 changes the desk, r3 died after it had made the annex. */
async function threeRuns() {
  const { path, store } = await newStore();
  const made = [
    intent(1, 'agent.desk'),
    recorded('agent.desk', desk),
    recorded('agent.line', line),
    ended(),
  ];
  await doRun(store, [began('r1', 0), ...made]);
  await copyFile(path, join(path, '../old.json'));
  const changed = { ...desk, name: 'New desk' };
  await doRun(store, [
    began('r2', 1),
    intent(1, 'agent.desk', 'a1'),
    recorded('agent.desk', changed),
    ended(),
  ]);
  const lease = await store.acquire(holder('r3'));
  await appendAll(lease, [
    began('r3', 2),
    intent(1, 'agent.annex'),
    outcome(1, 'a3'),
    recorded('agent.annex', annex),
  ]);
  await lease.release();
  const everything = { 'agent.desk': changed, 'agent.line': line, 'agent.annex': annex };
  return { path, store, runs: join(path, '../runs'), everything };
}

describe('what is salvaged of a state and its journals', () => {
  test.each<[string, (path: string) => unknown, string, string]>([
    [
      'cut off',
      async (path) => writeFile(path, (await readFile(path, 'utf8')).slice(0, 300)),
      'part',
      'was cut off',
    ],
    ['empty', (path) => writeFile(path, ''), 'nothing', 'is empty'],
    ['zero bytes', (path) => writeFile(path, '\0'.repeat(64)), 'nothing', 'zero bytes'],
    ['an older copy', (path) => copyFile(join(path, '../old.json'), path), 'whole', 'older copy'],
    [
      'of another stack',
      async (path) =>
        writeFile(
          path,
          await formatState(
            stateWith(
              { 'agent.theirs': resource('b1') },
              { lineage: 'other', last_run: 'r7', serial: 50 },
            ),
          ),
        ),
      'foreign',
      'another stack',
    ],
    [
      'of another stack, and damaged',
      async (path) =>
        writeFile(
          path,
          (
            await formatState(
              stateWith({ 'agent.theirs': resource('b1') }, { lineage: 'other', last_run: 'r7' }),
            )
          ).slice(0, -4),
        ),
      'foreign',
      'was cut off',
    ],
    [
      'of another program',
      (path) => writeFile(path, '{"terraform_version":"1"}'),
      'nothing',
      'not a Callsheet state',
    ],
  ])('where the state is %s, all that the runs recorded', async (_name, damage, read, words) => {
    const { path, store, everything } = await threeRuns();
    await damage(path);
    const { problem, ...rest } = await store.salvage();
    expect(problem?.message).toContain(words);
    expect(rest.read).toBe(read);
    expect(rest.state?.resources).toEqual(everything);
    expect(rest.state).toMatchObject({ lineage: LINEAGE, serial: 3, account_id: 'account-1' });
  });

  test('where there is none, all that the runs recorded', async () => {
    const { path, store, everything } = await threeRuns();
    await rm(path);
    const { problem, read, state: found } = await store.salvage();
    expect([problem, read]).toEqual([undefined, 'nothing']);
    expect(found?.resources).toEqual(everything);
  });

  test.each<[string, (runs: string) => unknown, object]>([
    [
      'has a damaged line',
      async (runs) => {
        const file = join(runs, 'r3.open.jsonl');
        await writeFile(file, (await readFile(file, 'utf8')).replace('"ok":true', '"ok":false'));
      },
      { run: 'r3', use: 'replayed', lost: 1, finished: false },
    ],
    [
      'is unreadable',
      (runs) => writeFile(join(runs, 'r4.open.jsonl'), 'a,b\n1,2\n'),
      { run: 'r4', use: 'unreadable', finished: false },
    ],
    [
      'is of another stack',
      (runs) =>
        writeFile(
          join(runs, 'r4.open.jsonl'),
          JOURNAL_HEADER +
            formatEntry(began('r4', 2, 'other')) +
            formatEntry(recorded('agent.theirs', resource('b1'))),
        ),
      { run: 'r4', use: 'stray', finished: false },
    ],
    [
      'is the second that did not finish',
      (runs) =>
        writeFile(
          join(runs, 'r4.open.jsonl'),
          JOURNAL_HEADER + formatEntry(began('r4', 2)) + formatEntry(intent(1, 'agent.desk')),
        ),
      { run: 'r4', use: 'replayed', finished: false },
    ],
  ])('where a journal %s, all that the others recorded', async (_name, damage, told) => {
    const { store, runs, everything } = await threeRuns();
    await damage(runs);
    const { problem, read, state: found, journals } = await store.salvage();
    expect(problem?.hint).toContain('callsheet state repair');
    expect(read).toBe('whole');
    expect(found?.resources).toEqual(everything);
    expect(journals).toContainEqual(expect.objectContaining(told));
  });

  test('where nothing tells the lineage, no fingerprint is kept', async () => {
    const { path, store } = await newStore();
    await doRun(store);
    await rm(join(path, '../runs'), { recursive: true });
    await writeFile(path, (await readFile(path, 'utf8')).replace(/"lineage":"[^"]*",/, ''));
    const found = (await store.salvage()).state?.resources['agent.desk'];
    const leaves = Object.values(found?.leaves ?? {});
    expect(leaves.filter((leaf) => 'fingerprint' in leaf)).toEqual([]);
    expect(leaves.filter((leaf) => 'unknown' in leaf)).toHaveLength(1);
  });

  test.each<[string, (path: string) => Promise<void>, object]>([
    [
      'where the state is cut off, what it says of them',
      async (path) => writeFile(path, (await readFile(path, 'utf8')).slice(0, -20)),
      { status: 'rolled_back' },
    ],
    [
      'where the state is gone, that a person must say what became of them',
      (path) => writeFile(path, ''),
      { status: 'judging', doubt: expect.stringContaining('no journal says') },
    ],
  ])('of what features keep, %s', async (_what, damage, told) => {
    const { path, store } = await newStore();
    const careful = keptOf({ runs: ['r1'] });
    const [first, ...rest] = RUN;
    if (first?.type !== 'began') throw new Error('a run begins');
    const kept = { feature: 'rollout', part: 'careful, step 1 of 3', entries: { careful } };
    await doRun(store, [{ ...first, kept }, ...rest]);
    // That it was rolled back stands in the state alone.
    const lease = await store.acquire(holder(''));
    const { state: before } = await store.load();
    if (before === undefined) throw new Error('a run leaves a state');
    const entries = { careful: { ...careful, status: 'rolled_back', open: false } };
    await lease.commit(nextState(withKept(before, { feature: 'rollout', entries })));
    await lease.release();
    await damage(path);
    const { state: found } = await store.salvage();
    expect(found?.kept?.rollout?.careful).toMatchObject(told);
  });

  test('of a sound state is no problem', async () => {
    const { store } = await threeRuns();
    expect(await store.salvage()).toMatchObject({ problem: undefined, read: 'whole' });
  });

  test.each<[string, (path: string) => unknown, string]>([
    [
      'a folder',
      async (path) => {
        await rm(path);
        await mkdir(path);
      },
      'is a folder',
    ],
    [
      'a symbolic link',
      async (path) => {
        await rm(path);
        await symlink('old.json', path);
      },
      'is a symbolic link',
    ],
    [
      'of a later format',
      (path) => writeFile(path, sealed({ ...state, version: 3 })),
      'newer Callsheet',
    ],
    [
      'beside a journal of a later format',
      (path) => appendFile(join(path, '../runs/r4.open.jsonl'), JOURNAL_HEADER.replace('1', '2')),
      'newer Callsheet',
    ],
  ])('is nothing where the state is %s', async (_name, prepare, words) => {
    const { path, store } = await threeRuns();
    await prepare(path);
    expect((await failureOf(() => store.salvage())).message).toContain(words);
  });
});
