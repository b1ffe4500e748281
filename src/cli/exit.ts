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

export type ExitName = keyof typeof EXIT;
export type ExitCode = (typeof EXIT)[ExitName];

/** What a command that ended so is called, where it did not do what was asked. */
export function failureIn(code: ExitCode): ExitName | undefined {
  if (code === EXIT.done || code === EXIT.changes) return undefined;
  return (Object.keys(EXIT) as ExitName[]).find((name) => EXIT[name] === code);
}

/** What each exit code means, and what to do. The reference and the README say what stands here. */
export const EXIT_WORDS: {
  readonly [name in ExitName]: { readonly means: string; readonly remedy: string };
} = {
  done: {
    means: 'done; with `--detailed-exitcode`, nothing to change',
    remedy: 'Nothing. Warnings on standard error may be worth a look.',
  },
  error: {
    means: 'error: usage, configuration, API, network',
    remedy:
      'Read what stands on standard error: it names the place and what to do. With `--format json` standard output holds a `callsheet-error` document. Where a run had begun, `callsheet runs` shows what it did, and the next plan goes on from there.',
  },
  changes: {
    means: 'with `--detailed-exitcode`: there are changes',
    remedy:
      'After `plan`: review the plan and apply it. After `drift`: apply to go back to what Git says, or `callsheet pull` to write what was changed into the configuration.',
  },
  partial: {
    means: 'ended in part: something failed, or was blocked by a failure',
    remedy:
      'The ledger of the run lists each change with what became of it. Repair what failed, plan again and apply the rest; or `callsheet rollback`.',
  },
  refused: {
    means:
      'refused by a guard: protected, conflict, threshold, in use, freeze window, rollback hold',
    remedy:
      'Nothing was written. Each refusal says why, and which flag overrides it where one does; `--skip-refused` leaves it out and does the rest.',
  },
  stale: {
    means: 'stale: platform, configuration or state moved since the plan',
    remedy:
      'The message names what moved, and who moved it where the platform says. Plan again, review, and apply the new plan. A run that had begun before it noticed has its ledger in `callsheet runs`.',
  },
  locked: {
    means: 'the state is locked by another run',
    remedy:
      'Wait until that run ends. The lock of a dead process ends by itself: at once on the same machine, within 30 seconds elsewhere. `callsheet state unlock` shows who holds it.',
  },
  interrupted: {
    means: 'interrupted, stopped cleanly',
    remedy:
      '`apply` and `rollback` finish the requests that are under way and record them: plan again to go on, or `callsheet rollback`. Other commands have written nothing.',
  },
};

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
