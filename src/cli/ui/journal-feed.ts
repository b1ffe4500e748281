import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LiveEvent, LiveNote } from '../../page/live.ts';
import type { JournalEntry } from '../../state/journal.ts';
import { readLine } from '../../state/journal-text.ts';
import { layoutOf, runOf } from '../../state/layout.ts';

/** The most that is read of a journal at once. */
const CHUNK = 1024 * 1024;

/** Reads what a run that is at work has written down since it was asked last. */
export type JournalFeed = {
  /** What is new, in order. `after` is where a reader who was cut off had come to. */
  readonly next: () => Promise<readonly LiveNote[]>;
};

type Followed = {
  readonly run: string;
  readonly file: string;
  offset: number;
  line: number;
  rest: string;
};

/** Follows the journals of runs that have not ended, beside a state file. */
export function followJournals(stateFile: string): JournalFeed {
  const { runs, openRun } = layoutOf(stateFile);
  let followed: Followed | undefined;

  async function openOne(): Promise<string | undefined> {
    const names = await readdir(runs).catch(() => []);
    const found = names.flatMap((name) => {
      const run = runOf(name);
      return run?.open === true ? [run.run] : [];
    });
    return found.sort().at(-1);
  }

  return {
    async next() {
      const run = await openOne();
      const notes: LiveNote[] = [];
      if (followed !== undefined && followed.run !== run) {
        // It was committed meanwhile: its last lines stand under its other name.
        const ended = { ...followed, file: join(runs, `${followed.run}.jsonl`) };
        notes.push(...(await readMore(ended)));
        notes.push({ id: `${followed.run}:end`, event: { type: 'gone', run: followed.run } });
        followed = undefined;
      }
      if (run === undefined) return notes;
      followed ??= { run, file: openRun(run), offset: 0, line: 0, rest: '' };
      return [...notes, ...(await readMore(followed))];
    },
  };
}

/** The events of the lines that are new in a journal. */
async function readMore(followed: Followed): Promise<readonly LiveNote[]> {
  const text = await readFrom(followed.file, followed.offset);
  followed.offset += text.length;
  const lines = (followed.rest + text.toString('latin1')).split('\n');
  followed.rest = lines.pop() ?? '';
  return lines.flatMap((line) => {
    followed.line += 1;
    const entry = readLine(Buffer.from(line, 'latin1').toString('utf8'));
    const event = entry === undefined ? undefined : eventOf(entry as JournalEntry);
    return event === undefined ? [] : [{ id: `${followed.run}:${followed.line}`, event }];
  });
}

async function readFrom(file: string, offset: number): Promise<Buffer> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return Buffer.alloc(0);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(CHUNK), 0, CHUNK, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** What the page is told of an entry: never the documents that it keeps for a rollback. */
function eventOf(entry: JournalEntry): LiveEvent | undefined {
  switch (entry.type) {
    case 'began': {
      const { run, at, purpose, actor, plan_digest } = entry;
      return { type: 'began', run, at, purpose, user: actor.user, plan_digest };
    }
    case 'intent': {
      const { seq, at, address, step } = entry;
      return { type: 'intent', seq, at, address, step };
    }
    case 'outcome': {
      const { seq, at, ok, error } = entry;
      return { type: 'outcome', seq, at, ok, error };
    }
    case 'ended':
      return { type: 'ended', at: entry.at, status: entry.status };
    case 'snapshot':
    case 'resource':
      return undefined;
  }
}
