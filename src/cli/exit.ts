import { type FailureCode, unreachable } from '../core/errors.ts';

/** Exit codes, the same for every command and output format (DESIGN §3). */
export const EXIT = {
  done: 0,
  error: 1,
  changes: 2,
  partial: 3,
  refused: 4,
  stale: 5,
  locked: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of a failure. */
export function exitOf(code: FailureCode): ExitCode {
  switch (code) {
    case 'usage':
    case 'config':
    case 'api':
    case 'network':
    case 'state':
      return EXIT.error;
    case 'refused':
      return EXIT.refused;
    case 'stale':
      return EXIT.stale;
    case 'locked':
      return EXIT.locked;
    case 'interrupted':
      return EXIT.interrupted;
    default:
      return unreachable(code);
  }
}
