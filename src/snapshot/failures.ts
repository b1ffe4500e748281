import { CallsheetError } from '../core/errors.ts';

/** What can be wrong with a snapshot file, in words. */

const COPY_AGAIN =
  'Copy it again from where it came from; if that is the only copy, take an older snapshot (callsheet snapshot list).';

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
    hint: 'callsheet snapshot create makes one; callsheet snapshot list shows those in a folder.',
  });
}

export function tooNew(file: string, version: number, known: number): CallsheetError {
  const message = `the snapshot ${file} has version ${version} of the format; this Callsheet reads up to ${known}`;
  return new CallsheetError('usage', message, { hint: 'Read it with a newer Callsheet.' });
}

export function wrongKey(file: string, what: string, hint: string): CallsheetError {
  return new CallsheetError('usage', `the snapshot ${file} cannot be decrypted: ${what}`, { hint });
}

const REASONS: { readonly [code: string]: string } = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than this process may write',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  EIO: 'the disk reports an error',
};

/** Why the file system refused something, in words where they are known. */
export function reasonIn(error: unknown): string {
  const known = REASONS[codeOf(error) ?? ''];
  if (known !== undefined) return known;
  return error instanceof Error ? (error.message.split(',')[0] ?? '') : String(error);
}

/** The same failure in words, where the file system refused; anything else as it is. */
export function inWords(error: unknown, what: 'read' | 'written', file: string): unknown {
  const code = codeOf(error);
  if (code === undefined || error instanceof CallsheetError) return error;
  const reason = REASONS[code];
  if (reason === undefined) return error;
  const left = what === 'written' ? ' Nothing of it was left behind.' : '';
  return new CallsheetError('usage', `${file} cannot be ${what}: ${reason}.${left}`, {
    cause: error,
    ...(what === 'written' ? { hint: 'Name another place with --out, or make room.' } : {}),
  });
}

/** The code of a failure of the system or of zlib, such as `ENOSPC` or `Z_DATA_ERROR`. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
