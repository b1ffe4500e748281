import { open, readdir } from 'node:fs/promises';
import { isRunId, type JournalEntry } from '../../state/journal.ts';
import { readLine } from '../../state/journal-text.ts';
import { getLayout, type Layout, parseRunFile } from '../../state/runs.ts';
import type { LiveEvent, LiveNote } from './live.ts';

/** The page of `callsheet ui` gets these events of a running run, from its journal. */

/** The most that is read of a journal at once. */
const CHUNK = 1024 * 1024;

/** Reads what a run that is at work has written down since it was asked last. */
type JournalFeed = { readonly next: () => Promise<readonly LiveNote[]> };

/** A journal, how far it was read, and up to which line its reader has it already. */
type Followed = {
  readonly run: string;
  offset: number;
  line: number;
  rest: string;
  readonly known: number;
};

/**
 * Follows the journals of runs that have not ended, beside a state file. `last` is the id of the last note that a
 * reader got before it was cut off: it goes on behind it, and a note says if that run has ended since.
 */
export function followJournals(stateFile: string, last: string | undefined): JournalFeed {
  const layout = getLayout(stateFile);
  let followed = resumed(last);
  return {
    async next() {
      const run = await openRunIn(layout);
      const notes: LiveNote[] = [];
      if (followed !== undefined && followed.run !== run) {
        // It was committed meanwhile: its last lines stand under its other name, and are not asked for again.
        let offset: number;
        do {
          offset = followed.offset;
          notes.push(...(await readMore(layout.finishedRun(followed.run), followed)));
        } while (followed.offset > offset);
        notes.push({ id: `${followed.run}:${ENDED}`, event: { type: 'gone', run: followed.run } });
        followed = undefined;
      }
      if (run === undefined) return notes;
      followed ??= { run, offset: 0, line: 0, rest: '', known: 0 };
      return [...notes, ...(await readMore(layout.openRun(run), followed))];
    },
  };
}

const ENDED = 'end';

/** Returns the run and the line that a reader followed; it becomes part of a file's name, so that it must be a run. */
function resumed(last: string | undefined): Followed | undefined {
  const [, run = '', line] = /^([^:]+):(\d+)$/.exec(last ?? '') ?? [];
  if (line === undefined || !isRunId(run)) return undefined;
  return { run, offset: 0, line: 0, rest: '', known: Number(line) };
}

/** The run that is at work, or that died and was not settled yet. */
async function openRunIn({ runs }: Layout): Promise<string | undefined> {
  const names = await readdir(runs).catch(() => []);
  return names
    .flatMap((name) => {
      const found = parseRunFile(name);
      return found?.open === true ? [found.run] : [];
    })
    .sort()
    .at(-1);
}

/** The events of the lines that are new in a journal. */
async function readMore(file: string, followed: Followed): Promise<readonly LiveNote[]> {
  const bytes = await readFrom(file, followed.offset);
  followed.offset += bytes.length;
  // One character a byte, so that a character that was cut in two comes together again.
  const lines = (followed.rest + bytes.toString('latin1')).split('\n');
  followed.rest = lines.pop() ?? '';
  return lines.flatMap((line) => {
    followed.line += 1;
    if (followed.line <= followed.known) return [];
    const entry = readLine(Buffer.from(line, 'latin1').toString('utf8'));
    const event = entry === undefined ? undefined : toLiveEvent(entry as JournalEntry);
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

/** Returns the page's event for an entry, without the documents that the journal keeps for a rollback. */
function toLiveEvent(entry: JournalEntry): LiveEvent | undefined {
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
