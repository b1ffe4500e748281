import { lstat, rename, rm, writeFile } from 'node:fs/promises';
import { CallsheetError } from '../core/errors.ts';
import { reasonIn } from '../snapshot/failures.ts';

/**
 * Does something with a file that a flag names. Where the file system refuses, that is a mistake on the
 * command line: `CallsheetError('usage')`.
 */
export async function withNamedFile<T>(
  flag: string,
  file: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new CallsheetError('usage', `${flag} ${file} cannot be written: ${reasonIn(cause)}`, {
      cause,
    });
  }
}

/** Writes a file that a flag names, whole or not at all: on a full disk the one that was there stays. */
export async function writeNamedFile(
  flag: string,
  file: string,
  text: string | Iterable<string>,
): Promise<void> {
  await withNamedFile(flag, file, async () => {
    const there = await lstat(file).catch(() => undefined);
    // A pipe or a link is written through, never replaced.
    if (there !== undefined && !there.isFile()) return writeFile(file, text);
    const draft = `${file}.new`;
    try {
      await writeFile(draft, text, { mode: 0o600 });
      await rename(draft, file);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {});
      throw error;
    }
  });
}
