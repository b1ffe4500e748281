import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary.ts';

/** A disk of its own, so small that it can be filled. */
export type SmallDisk = {
  /** Leaves no room at all. */
  readonly fill: () => void;
  /** Gives the room back. */
  readonly free: () => void;
  /** Takes writing away. */
  readonly seal: () => void;
  /** Gives it back. */
  readonly unseal: () => void;
};

/** Works with a disk that is mounted at a folder, which is made. */
export async function withSmallDisk(
  folder: string,
  kilobytes: number,
  work: (disk: SmallDisk) => Promise<void>,
): Promise<void> {
  mkdirSync(folder);
  mount('-o', `size=${kilobytes}k`, 'tmpfs', folder);
  const ballast = join(folder, 'ballast');
  try {
    await work({
      fill: () => fill(ballast),
      free: () => rmSync(ballast),
      seal: () => mount('-o', 'remount,ro', folder),
      unseal: () => mount('-o', 'remount,rw', folder),
    });
  } finally {
    spawnSync('umount', [folder]);
  }
}

/** Whether this machine lets this process mount a disk. */
export function canMount(): boolean {
  const folder = temporaryFolder();
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', folder]);
  if (status === 0) spawnSync('umount', [folder]);
  return status === 0;
}

function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  } finally {
    closeSync(file);
  }
}

function mount(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', ...args]);
  if (status !== 0) throw new Error(`no disk could be mounted: ${stderr}`);
}
