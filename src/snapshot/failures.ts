import { CallsheetError, fileSystemReason } from '../core/errors.ts';

/** What can be wrong with a snapshot file, in words. */

const COPY_AGAIN =
  'Copy it again from its source. If this is the only copy, use an older snapshot (callsheet snapshot list).';

/** The file is not what it says it is: some of it is missing or changed. */
export function damaged(file: string, what: string, cause?: unknown): CallsheetError {
  const given = cause === undefined ? {} : { cause };
  return new CallsheetError('usage', `the snapshot ${file} is damaged: ${what}`, {
    hint: COPY_AGAIN,
    ...given,
  });
}

export function noSnapshot(file: string): CallsheetError {
  return new CallsheetError('usage', `${file} is not a snapshot of Callsheet`, {
    hint: 'callsheet snapshot create makes one. callsheet snapshot list shows the snapshots of a folder.',
  });
}

export function tooNew(file: string, version: number, known: number): CallsheetError {
  const message = `the snapshot ${file} has version ${version} of the format; this Callsheet reads up to ${known}`;
  return new CallsheetError('usage', message, { hint: 'Read it with a newer Callsheet.' });
}

export function wrongKey(file: string, what: string, hint: string): CallsheetError {
  return new CallsheetError('usage', `the snapshot ${file} cannot be decrypted: ${what}`, { hint });
}

/** The same failure in words, where the file system refused; anything else as it is. */
export function inWords(error: unknown, what: 'read' | 'written', file: string): unknown {
  const reason = fileSystemReason(error);
  if (reason === undefined) return error;
  const left = what === 'written' ? ' Nothing of it was left behind.' : '';
  return new CallsheetError('usage', `${file} cannot be ${what}: ${reason}.${left}`, {
    cause: error,
    ...(what === 'written' ? { hint: 'Choose another place with --out, or free some space.' } : {}),
  });
}
