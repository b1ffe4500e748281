import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Writes what a file is to become into one beside it, with the same permissions, which is then renamed: so the
 * file is never half written. `command` tells whose draft it is, should one be left behind.
 *
 * @returns its path
 */
export function draftBeside(target: string, text: string, command: string): string {
  const draft = join(dirname(target), `.${randomBytes(6).toString('hex')}.callsheet-${command}`);
  try {
    writeFileSync(draft, text, { flag: 'wx' });
    chmodSync(draft, statSync(target).mode);
    return draft;
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
