import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CallsheetError } from '../core/errors.ts';

/** Failures of the file system, put into words. */

type Words = { readonly reason: string; readonly hint: string };

const KEPT =
  'Nothing more is sent to the platform. The last committed state and everything that a run has journaled are kept.';
const AGAIN = 'then run the same command again: that settles what is open, and goes on.';
const ELSEWHERE = `${KEPT} Give this user the right to write there, ${AGAIN} Where nothing is open yet, you can keep the state elsewhere (state.file, CALLSHEET_STATE).`;
const FREE_SPACE = `${KEPT} Free some space, ${AGAIN}`;
const RECONNECT = `${KEPT} Bring it back, ${AGAIN}`;
const AWAY: Words = { reason: 'the disk cannot be reached', hint: RECONNECT };

const WORDS: { readonly [code: string]: Words } = {
  ENOSPC: { reason: 'the disk is full', hint: FREE_SPACE },
  EDQUOT: { reason: 'the disk quota is used up', hint: FREE_SPACE },
  EFBIG: { reason: 'the file would be larger than this process may write', hint: FREE_SPACE },
  EROFS: { reason: 'the file system is read-only', hint: ELSEWHERE },
  EACCES: { reason: 'permission denied', hint: ELSEWHERE },
  EPERM: { reason: 'permission denied', hint: ELSEWHERE },
  EISDIR: {
    reason: 'it is a folder',
    hint: 'A state is a file: check state.file and CALLSHEET_STATE.',
  },
  ENOTDIR: {
    reason: 'a part of its path is not a folder',
    hint: 'Check state.file and CALLSHEET_STATE.',
  },
  EIO: { reason: 'the disk reports an error', hint: RECONNECT },
  // What a network file system says once its server is gone.
  ESTALE: AWAY,
  ENOTCONN: AWAY,
  EHOSTDOWN: AWAY,
  ETIMEDOUT: AWAY,
  EMFILE: { reason: 'too many open files', hint: KEPT },
};

/** Runs a part of a store's work, with failures of the file system put into words. */
export async function worded<T>(location: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw inWords(error, location);
  }
}

function inWords(error: unknown, location: string): unknown {
  if (!isSystemError(error)) return error;
  const { reason, hint } = WORDS[error.code] ?? { reason: error.code, hint: KEPT };
  const path = error.path ?? location;
  const isDenied = error.code === 'EACCES' || error.code === 'EPERM';
  const why = isDenied ? `${reason}${whyDenied(path)}` : reason;
  return new CallsheetError('state', `cannot ${verb(error.syscall)} ${path}: ${why}`, {
    hint,
    cause: error,
  });
}

/** Whose the nearest thing is that exists: what stands in the way most often. */
function whyDenied(path: string): string {
  const me = process.geteuid?.();
  for (let at = path; ; at = dirname(at)) {
    const found = ownerOf(at);
    if (found !== undefined) {
      if (found.uid !== me) return `: ${at} belongs to user ${found.uid}, and this is user ${me}`;
      return `: the mode of ${at} is ${(found.mode & 0o777).toString(8).padStart(4, '0')}`;
    }
    if (at === dirname(at)) return '';
  }
}

function ownerOf(path: string): { readonly uid: number; readonly mode: number } | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

type SystemError = Error & {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
};

function isSystemError(error: unknown): error is SystemError {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'syscall' in error &&
    typeof error.syscall === 'string'
  );
}

function verb(syscall: string): string {
  switch (syscall) {
    case 'read':
    case 'stat':
    case 'lstat':
    case 'scandir':
      return 'read';
    case 'open':
      return 'open';
    case 'mkdir':
      return 'make the folder';
    default:
      return 'write';
  }
}

/** The code of a file-system error, such as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  return isSystemError(error) ? error.code : undefined;
}
