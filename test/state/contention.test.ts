import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openFileStore } from '../../src/state/file/store.ts';
import { startProcess } from './other-process.ts';
import { began, holder, intent, makeFolder } from './sample.ts';

// Many rounds, on machines that are busy with other tests.
vi.setConfig({ testTimeout: 60_000 });

const newPath = async () => join(await makeFolder(), '.callsheet/state.json');

/** A store of this process for which time is what the test says, and which does not wait. */
function openHere(path: string, later = 0) {
  const store = openFileStore(path, { now: () => Date.now() + later, sleep: async () => {} });
  onTestFinished(() => store.close());
  return store;
}

test('a process that gives the lock back lets another in', async () => {
  const path = await newPath();
  const [first, second] = [startProcess(), startProcess()];
  await first.tell({ do: 'acquire', place: { file: path }, holder: holder('r1') });
  expect(
    await second.tell({ do: 'acquire', place: { file: path }, holder: holder('r2') }),
  ).toMatchObject({
    code: 'locked',
  });
  await first.tell({ do: 'release' });
  expect(await second.tell({ do: 'acquire', place: { file: path }, holder: holder('r2') })).toEqual(
    { done: true },
  );
});

test('a paused process loses its lease, and stops before its next write', async () => {
  const path = await newPath();
  const first = startProcess();
  await first.tell({ do: 'acquire', place: { file: path }, holder: holder('r1') });
  await first.tell({ do: 'append', entry: began('r1') });
  first.signal('SIGSTOP');

  const here = openHere(path, 60_000);
  const lease = await here.acquire(holder('r2'));
  await lease.append(intent(1, 'agent.desk'));
  const before = await here.load();
  first.signal('SIGCONT');
  const answer = await first.tell({ do: 'append', entry: intent(1, 'agent.line') });
  expect(answer).toMatchObject({ done: false, code: 'locked' });
  expect(answer).toMatchObject({ message: expect.stringContaining('apply (run r2)') });
  expect(await here.load()).toEqual(before);
});

test('of several processes that find a dead one’s lock, one gets it', async () => {
  const path = await newPath();
  const dead = startProcess();
  await dead.tell({ do: 'acquire', place: { file: path }, holder: holder('r0') });
  const takers = [startProcess(), startProcess(), startProcess()];
  // All are up, so that they start together.
  for (const taker of takers) await taker.tell({ do: 'append', entry: began('none') });
  await dead.kill();
  const answers = await Promise.all(
    takers.map((taker, index) =>
      taker.tell({ do: 'acquire', place: { file: path }, holder: holder(`r${index + 1}`) }),
    ),
  );
  expect(answers.filter(({ done }) => done)).toHaveLength(1);
  expect(answers.filter((answer) => !answer.done && answer.code === 'locked')).toHaveLength(2);
});

test('a process that ends without a word is not kept alive by its lock, and keeps nobody out', async () => {
  const path = await newPath();
  const first = startProcess();
  await first.tell({ do: 'acquire', place: { file: path }, holder: holder('r1') });
  expect(await first.leave()).toBe(0);
  await openHere(path).acquire(holder('r2'));
});
