import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Transport } from '../../src/platform/transport.ts';
import { type Disk, realDisk } from '../../src/state/file/disk.ts';
import type { JournalEntry } from '../../src/state/journal.ts';
import { type FileEnd, readLine } from '../../src/state/journal-text.ts';

/**
 * A moment of a command at which it can be killed: before or half-way through a step on the disk, before a
 * request leaves or after the platform did what it asks for. Named, so that a moment of one run is found
 * again in the next: `before journal intent createAgent`, the second time.
 */
export type Moment = { readonly name: string; readonly nth: number };

/** Whether a moment changes nothing anywhere: to be killed there is to be killed at the next one that does. */
export function isIdle({ name }: Moment): boolean {
  return /^(before|after) (look|list|read|request GET) /.test(`${name} `);
}

/** What a killed process is stopped by. From then on nothing of it reaches the disk or the platform. */
class Killed extends Error {}

export type Mortal = {
  readonly outside: { readonly disk: Disk; readonly wire: (transport: Transport) => Transport };
  /** Every moment that was come to. */
  readonly moments: readonly Moment[];
  readonly isDead: () => boolean;
};

/**
 * The outside world of a command that dies at a moment; without one it only remembers its moments. A number counts those
 * that change something, from 0.
 */
export function mortal(at?: Moment | number): Mortal {
  const moments: Moment[] = [];
  const counts = new Map<string, number>();
  let busy = 0;
  let isDead = false;

  /** Comes to a moment. `part` is what is done of a step that is cut in two. */
  async function come(name: string, part?: () => Promise<unknown>): Promise<void> {
    if (isDead) throw new Killed();
    const nth = (counts.get(name) ?? 0) + 1;
    counts.set(name, nth);
    moments.push({ name, nth });
    if (!isIdle({ name, nth })) busy += 1;
    const isIt = typeof at === 'number' ? at < busy : at?.name === name && at.nth === nth;
    if (!isIt) return;
    isDead = true;
    await part?.();
    throw new Killed();
  }

  async function step<T>(what: string, work: () => Promise<T>, part?: () => Promise<unknown>) {
    await come(`before ${what}`);
    if (part !== undefined) await come(`within ${what}`, part);
    return work();
  }

  const disk: Disk = {
    look: (path) => step(`look ${fileOf(path)}`, () => realDisk.look(path)),
    read: (path) => step(`read ${fileOf(path)}`, () => realDisk.read(path)),
    readAgain: realDisk.readAgain,
    readEnds: (path, bytes) => step(`read ${fileOf(path)}`, () => realDisk.readEnds(path, bytes)),
    readLines: (path, of) => step(`read ${fileOf(path)}`, () => realDisk.readLines(path, of)),
    list: (path) => step(`list ${fileOf(path)}`, () => realDisk.list(path)),
    makeFolder: (path) => step(`make ${fileOf(path)}`, () => realDisk.makeFolder(path)),
    writeNew: (path, text) =>
      step(
        `write ${fileOf(path)}`,
        () => realDisk.writeNew(path, text),
        () => writeFile(path, halfOf([...text].join(''))),
      ),
    rename: (from, to) =>
      step(`rename ${fileOf(from)} to ${fileOf(to)}`, () => realDisk.rename(from, to)),
    copy: (from, to) => step(`copy ${fileOf(from)}`, () => realDisk.copy(from, to)),
    remove: (path) => step(`remove ${fileOf(path)}`, () => realDisk.remove(path)),
    openEnd: async (path, which) =>
      mortalEnd(await step(`open ${which} journal`, () => realDisk.openEnd(path, which))),
  };

  const mortalEnd = (end: FileEnd): FileEnd => ({
    close: () => end.close(),
    append: (text) =>
      step(
        `journal ${entriesIn(text)}`,
        () => end.append(text),
        () => end.append(text.slice(0, -text.length / 2)),
      ),
  });

  const wire = (transport: Transport): Transport => ({
    close: transport.close,
    async send(request) {
      const what = `${request.method} ${request.about?.operation ?? 'upload'}`;
      await come(`before request ${what}`);
      const answer = await transport.send(request);
      await come(`after request ${what}`);
      return answer;
    },
  });

  return { outside: { disk, wire }, moments, isDead: () => isDead };
}

/** What a file is, without what is different in every run. */
function fileOf(path: string): string {
  const name = basename(path);
  if (name.endsWith('.tmp')) return 'draft';
  if (name.endsWith('.open.jsonl')) return 'open journal';
  return name.endsWith('.jsonl') ? 'filed journal' : name;
}

/** `intent createAgent`, `snapshot`, `resource`: the entries of lines that are appended. */
function entriesIn(text: string): string {
  return text
    .split('\n')
    .flatMap((line) => {
      const entry = readLine(line) as JournalEntry | undefined;
      if (entry === undefined) return [];
      return entry.type === 'intent' ? `intent ${entry.operation}` : entry.type;
    })
    .join(', ');
}

function halfOf(text: string): string {
  return text.slice(0, text.length / 2);
}
