import { writeFile } from 'node:fs/promises';
import { type Disk, realDisk } from '../../src/state/file/disk.ts';
import type { FileEnd } from '../../src/state/journal-text.ts';

/** A step that the store takes on the disk, by name: what the enumerations below count. */
export type Step = { readonly number: number; readonly name: string };

/** A disk that calls `before` ahead of every step. `part` does a step's first half where a step has halves. */
export function steppedDisk(
  before: (step: Step, part: () => Promise<void>) => Promise<void>,
): Disk {
  let number = 0;
  async function step<T>(
    name: string,
    whole: () => Promise<T>,
    part: () => Promise<void> = async () => {},
  ): Promise<T> {
    number += 1;
    await before({ number, name }, part);
    return whole();
  }
  const stepped = (end: FileEnd): FileEnd => ({
    ...end,
    append: (text) =>
      step(
        'append',
        () => end.append(text),
        () => end.append(text.slice(0, text.length / 2)),
      ),
  });
  return {
    read: (path) => step('read', () => realDisk.read(path)),
    readAgain: realDisk.readAgain,
    readEnds: (path, bytes) => step('read', () => realDisk.readEnds(path, bytes)),
    readLines: (path, of) => step('read', () => realDisk.readLines(path, of)),
    look: (path) => step('look', () => realDisk.look(path)),
    list: (path) => step('list', () => realDisk.list(path)),
    makeFolder: (path) => step('makeFolder', () => realDisk.makeFolder(path)),
    writeNew: (path, text) =>
      step(
        'writeNew',
        () => realDisk.writeNew(path, text),
        () => writeFile(path, halfOf([...text].join(''))),
      ),
    rename: (from, to) => step('rename', () => realDisk.rename(from, to)),
    copy: (from, to) =>
      step(
        'copy',
        () => realDisk.copy(from, to),
        () => writeFile(to, ''),
      ),
    remove: (path) => step('remove', () => realDisk.remove(path)),
    openEnd: async (path, which) =>
      stepped(await step('openEnd', () => realDisk.openEnd(path, which))),
  };
}

/** What a process that died is stopped by. It does not come back to clean up. */
export class Death extends Error {}

/** A disk whose process dies at one step: before it or, where it can be cut in two, within it. */
export function dyingDisk(at: number, within: boolean): { readonly disk: Disk; died: boolean } {
  const dying = {
    died: false,
    disk: steppedDisk(async ({ number }, part) => {
      if (dying.died) throw new Death();
      if (number !== at) return;
      dying.died = true;
      if (within) await part();
      throw new Death();
    }),
  };
  return dying;
}

function halfOf(text: string): string {
  return text.slice(0, text.length / 2);
}
