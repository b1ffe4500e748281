import { expect, test } from 'vitest';
import {
  type DocumentPlace,
  documentRemote,
  type Put,
} from '../../../src/features/stores/remote/document.ts';
import { NoAnswer, openRetries } from '../../../src/features/stores/remote/failures.ts';
import { type LockRecord, RELEASED_BEAT } from '../../../src/state/lock.ts';
import { failureOf, holder, keptOf, resource, stateWith } from '../../state/sample.ts';

/** A place in memory, where time passes only by waiting. */
function place(put?: (text: string) => Put | undefined) {
  let now = 0;
  const clock = {
    now: () => now,
    async sleep(milliseconds: number) {
      now += milliseconds;
    },
  };
  const kept = { text: undefined as string | undefined, puts: 0 };
  const tag = () => String(kept.text?.length);
  const there: DocumentPlace = {
    location: 'memory',
    timing: { beat: 1, silent: 1, watch: 1 },
    most: { runs: 9, size: 9_999, state: 9_999, journal: 9_999 },
    read: async () => (kept.text === undefined ? undefined : { text: kept.text, tag: tag() }),
    async put(text) {
      kept.puts += 1;
      const answer = put?.(text);
      if (answer !== undefined) return answer;
      kept.text = text;
      return { tag: tag() };
    },
    enter: async () => true,
    leave: async () => {},
    keep: async (text) => ({ text }),
    fetch: async () => undefined,
    discard: async () => {},
    pack: async (parts) => parts,
    retries: openRetries(30_000, clock),
    close: async () => {},
  };
  return { kept, remote: documentRemote(there) };
}

const ticket: LockRecord = {
  id: '7b1f2c1e-2f2e-4c11-9d55-0a2f6e1b7c01',
  beat: '2026-03-02T08:30:00.000Z',
  owner: { pid: 1, machine: 'm', started: null },
  holder: holder('r1'),
};
const APPEND = { append: { run: 'r1', text: 'x' } };

test('a lease that was given back writes nothing, though nobody took it since', async () => {
  const { kept, remote } = place();
  expect(await remote.acquire(undefined, ticket)).toBe(true);
  expect(await remote.write(ticket.id, APPEND)).toBe(true);
  expect(await remote.beat(ticket.id, RELEASED_BEAT.trim())).toBe(true);
  const { text } = kept;
  expect(await remote.write(ticket.id, APPEND)).toBe(false);
  expect(await remote.beat(ticket.id, ticket.beat)).toBe(false);
  expect(kept.text).toBe(text);
});

test('a server that contradicts itself is given up', async () => {
  let isContrary = false;
  const { kept, remote } = place(() => (isContrary ? 'moved' : undefined));
  await remote.acquire(undefined, ticket);
  isContrary = true;
  const { text } = kept;
  const failure = await failureOf(() => remote.write(ticket.id, APPEND));
  expect(failure.message).toContain(
    'cannot write the state memory: the server reports another writer',
  );
  expect(kept.text).toBe(text);
});

test('the runs of what a feature keeps and is not at its end are kept however many come after them', async () => {
  const { remote } = place();
  await remote.acquire(undefined, ticket);
  const run = async (name: string, open: boolean) => {
    const kept = { rollout: { careful: keptOf({ open, runs: ['r0'] }) } };
    await remote.write(ticket.id, { append: { run: name, text: 'x' } });
    await remote.write(ticket.id, { file: [name], state: stateWith({}, { kept }) });
    return remote.runs();
  };
  let runs: readonly string[] = [];
  for (let number = 0; number < 12; number += 1) runs = await run(`r${number}`, true);
  expect(runs).toEqual(['r0', ...Array.from({ length: 9 }, (_, index) => `r${index + 3}`)]);
  expect(await run('r12', false)).not.toContain('r0');
});

const lost = () => new NoAnswer('write', 'memory', { words: 'lost' });

test('what comes through while it is sent again is there once', async () => {
  let late: string | undefined;
  let sent = 0;
  const { kept, remote } = place((text) => {
    if (late === undefined) return undefined;
    sent += 1;
    late = text;
    if (sent === 1) throw lost();
    // The first one was under way all the time.
    kept.text = late;
    return 'moved';
  });
  await remote.acquire(undefined, ticket);
  late = '';
  expect(await remote.write(ticket.id, APPEND)).toBe(true);
  expect((await remote.read('all')).open).toEqual([{ run: 'r1', pieces: ['x'] }]);
});

test.each([false, true])(
  'a write whose answer is lost is there once, though the server writes JSON in its own way (done: %s)',
  async (done) => {
    let isDue = false;
    const { kept, remote } = place((text) => {
      const own = JSON.stringify(JSON.parse(text), null, 2);
      const isLost = isDue;
      isDue = false;
      if (!isLost || done) kept.text = own;
      if (isLost) throw lost();
      return { tag: String(text.length) };
    });
    await remote.acquire(undefined, ticket);
    await remote.write(ticket.id, APPEND);
    isDue = true;
    await remote.write(ticket.id, { append: { run: 'r1', text: 'y' } });
    await remote.write(ticket.id, { append: { run: 'r1', text: 'z' } });
    expect((await remote.read('all')).open).toEqual([{ run: 'r1', pieces: ['x', 'y', 'z'] }]);
  },
);

test('a write that took its whole time is looked at, and not sent again', async () => {
  let isSlow = false;
  const { kept, remote } = place(() => {
    if (isSlow) throw new NoAnswer('write', 'memory', { words: 'late', isTimeout: true });
    return undefined;
  });
  await remote.acquire(undefined, ticket);
  isSlow = true;
  const before = kept.puts;
  expect((await failureOf(() => remote.write(ticket.id, APPEND))).message).toContain('late');
  expect(kept.puts - before).toBe(1);
});

test('a run that outgrows the place is stopped while there is room to recover it', async () => {
  const { kept, remote } = place();
  await remote.acquire(undefined, ticket);
  const append = (size: number, leavesRoom: boolean) =>
    remote.write(ticket.id, { append: { run: 'r1', text: 'x'.repeat(size), leavesRoom } });
  await append(9_000, true);
  const before = kept.text;
  const failure = await failureOf(() => append(1_000, true));
  expect(failure.message).toContain('the journal of run r1 needs');
  expect(failure.hint).toContain('PostgreSQL');
  expect(kept.text).toBe(before);
  expect(await append(1_000, false)).toBe(true);
  const state = { ...stateWith({ 'agent.desk': resource('a1') }), last_run: 'r1' };
  expect(await remote.write(ticket.id, { state, file: ['r1'] })).toBe(true);
  expect((await remote.read('all')).open).toEqual([]);
});

test('a run that is too large for the place is refused before it begins', async () => {
  const { kept, remote } = place();
  await remote.acquire(undefined, ticket);
  const before = kept.text;
  await remote.reserve?.({ resources: 6, changes: 1 });
  for (const expected of [
    { resources: 7, changes: 0 },
    { resources: 0, changes: 2 },
  ]) {
    const failure = await failureOf(() => remote.reserve?.(expected));
    expect(failure.code).toBe('refused');
    expect(failure.message).toContain('memory has no room for this run');
    expect(failure.hint).toContain('Nothing was written.');
  }
  const large = stateWith(
    Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`agent.a${index}`, resource(`a${index}`)]),
    ),
  );
  const failure = await failureOf(() => remote.write(ticket.id, { state: large }));
  expect(failure.message).toContain('it needs');
  expect(kept.text).toBe(before);
});
