import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { followJournals } from '../../../src/features/page/feed.ts';
import type { JournalEntry } from '../../../src/state/journal.ts';
import { formatEntry, JOURNAL_HEADER } from '../../../src/state/journal-text.ts';
import { temporaryFolder } from '../../temporary.ts';

const RUN = '20261121t101500z-aaaaaa';

const began: JournalEntry = {
  type: 'began',
  run: RUN,
  at: '2026-11-21T10:15:00.000Z',
  purpose: 'apply',
  actor: { user: 'jo', host: 'desk', pid: 7, commit: null, pipeline: null },
  plan_digest: 'sha256:1',
  config_digest: 'sha256:2',
  account_id: 'a',
  base_url: 'https://platform.example.test',
  lineage: 'l',
  serial: 1,
};

const intent = (seq: number): JournalEntry => ({
  type: 'intent',
  seq,
  at: '2026-11-21T10:15:01.000Z',
  address: `agent.größe${seq}`,
  step: 'update',
  operation: 'updateAgent',
  id: null,
  fields: [],
});

const snapshot: JournalEntry = {
  type: 'snapshot',
  address: 'agent.a',
  kind: 'agent',
  id: 'x',
  document: { system_prompt: 'a prompt that nobody is to be sent' },
  pin: null,
  resource: null,
  withheld: [],
  intended: null,
};

const ended: JournalEntry = {
  type: 'ended',
  at: '2026-11-21T10:15:09.000Z',
  status: 'done',
  verified: true,
  ledger: [],
};

async function folder() {
  const at = temporaryFolder();
  await mkdir(join(at, 'runs'));
  const state = join(at, 'state.json');
  const journal = join(at, 'runs', `${RUN}.open.jsonl`);
  return {
    state,
    journal,
    write: (...entries: readonly JournalEntry[]) =>
      writeFile(journal, JOURNAL_HEADER + entries.map((entry) => formatEntry(entry)).join('')),
    append: (text: string | Buffer) => appendFile(journal, text),
    finish: () => rename(journal, join(at, 'runs', `${RUN}.jsonl`)),
  };
}

test('tells what is new, line by line, and that the run has ended', async () => {
  const { state, write, append, finish } = await folder();
  const feed = followJournals(state, undefined);
  expect(await feed.next()).toEqual([]);
  await write(began, snapshot, intent(1));
  const first = await feed.next();
  expect(first.map(({ event }) => event.type)).toEqual(['began', 'intent']);
  expect(JSON.stringify(first)).not.toContain('nobody is to be sent');
  expect(await feed.next()).toEqual([]);

  // A line that is cut anywhere, also in the middle of a letter, is told once it is whole.
  const line = Buffer.from(formatEntry(intent(2)));
  const half = line.indexOf('ö') + 1;
  await append(line.subarray(0, half));
  expect(await feed.next()).toEqual([]);
  await append(line.subarray(half));
  expect(await feed.next()).toMatchObject([{ event: { address: 'agent.größe2' } }]);

  await append(formatEntry(ended));
  await finish();
  expect((await feed.next()).map(({ event }) => event.type)).toEqual(['ended', 'gone']);
  expect(await feed.next()).toEqual([]);
});

test('goes on where a reader was cut off', async () => {
  const { state, write, append } = await folder();
  await write(began, intent(1));
  const notes = await followJournals(state, undefined).next();
  await append(formatEntry(intent(2)));
  const again = await followJournals(state, notes.at(-1)?.id).next();
  expect(again).toMatchObject([{ event: { type: 'intent', seq: 2 } }]);
});

test('tells a reader who was cut off that the run has ended since', async () => {
  const { state, write, append, finish } = await folder();
  await write(began, intent(1));
  const notes = await followJournals(state, undefined).next();
  await append(formatEntry(ended));
  await finish();
  const again = await followJournals(state, notes.at(-1)?.id).next();
  expect(again.map(({ event }) => event.type)).toEqual(['ended', 'gone']);
  expect(await followJournals(state, again.at(-1)?.id).next()).toEqual([]);
});

test('tells the last lines of a run that ended while much of it was still to be read', async () => {
  const { state, write, append, finish } = await folder();
  await write(began);
  const feed = followJournals(state, undefined);
  await feed.next();
  const document = { system_prompt: 'word '.repeat(100_000) };
  for (let count = 0; count < 5; count += 1) await append(formatEntry({ ...snapshot, document }));
  await append(formatEntry(intent(1)) + formatEntry(ended));
  await finish();
  const types = (await feed.next()).map(({ event }) => event.type);
  expect(types).toEqual(['intent', 'ended', 'gone']);
});

test.each(['../../etc/passwd:1', 'x/../y:3', 'no line', ':5', `${RUN}.open:2`])(
  'a last event of %j leads to no file',
  async (last) => {
    const { state, write } = await folder();
    await write(began);
    const notes = await followJournals(state, last).next();
    expect(notes.map(({ event }) => event.type)).toEqual(['began']);
  },
);

test('a line whose checksum does not fit is left out', async () => {
  const { state, write, append } = await folder();
  await write(began);
  await append(formatEntry(intent(1)).replace('agent.', 'evil..'));
  await append(formatEntry(intent(2)));
  const notes = await followJournals(state, undefined).next();
  expect(notes.map(({ id }) => id)).toEqual([`${RUN}:2`, `${RUN}:4`]);
});
