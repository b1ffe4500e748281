import type { Task } from '../../queue/batch.ts';
import { EXIT } from '../exit.ts';
import type { StackResult } from '../fleet/run-stack.ts';

/** What is to become of a task once its command has ended. */
export type Verdict =
  /** It is done, well or not. */
  | { readonly is: 'settled' }
  /** It is given back, and comes again after so many seconds. */
  | { readonly is: 'again'; readonly why: string; readonly seconds: number };

/** A stack that takes its workers with it is left alone after so many that worked at it and at nothing else. */
export const MOST_DEATHS = 5;

/** How often in a row one reason gives a task back, and how long it then waits: twice as long each time, up to a minute. */
type Patience = { readonly why: string; readonly most: number; readonly first: number };
const LONGEST_SECONDS = 60;

const LOCKED: Patience = { why: 'its state is held by another run', most: 60, first: 2 };
const STALE: Patience = { why: 'something moved while it was planned', most: 3, first: 1 };
const LOST: Patience = { why: 'the platform or the state did not answer', most: 3, first: 5 };
const PARTIAL: Patience = { why: 'it ended in part', most: 1, first: 5 };
/** Whoever is free goes on with it at once, as often as workers are stopped. */
export const STOPPED = 'its worker was stopped';

/**
 * Judges how a command ended. What passes by itself is tried again, as often as `Patience` says: the leases keep two
 * from writing at once, and a plan that is made anew finds what was done already. An approved plan is carried out
 * once: after anything but a lock it is stale, and somebody has to look.
 */
export function judge(
  { exit, error }: Pick<StackResult, 'exit' | 'error'>,
  task: Pick<Task, 'delays' | 'note' | 'plan'>,
  isStopping: boolean,
): Verdict {
  if (exit === EXIT.interrupted && isStopping) {
    return { is: 'again', why: STOPPED, seconds: 0 };
  }
  const patience = patienceWith(exit, error?.kind, task.plan !== undefined);
  if (patience === undefined) return { is: 'settled' };
  // Another reason has had tries of its own.
  const delays = task.note === patience.why ? task.delays : 0;
  if (delays >= patience.most) return { is: 'settled' };
  const seconds = Math.min(LONGEST_SECONDS, patience.first * 2 ** Math.min(delays, 10));
  return { is: 'again', why: patience.why, seconds };
}

function patienceWith(
  exit: number,
  kind: string | undefined,
  isApproved: boolean,
): Patience | undefined {
  if (exit === EXIT.locked) return LOCKED;
  if (exit === EXIT.error && (kind === 'network' || kind === 'state')) return LOST;
  if (isApproved) return undefined;
  if (exit === EXIT.stale) return STALE;
  return exit === EXIT.partial ? PARTIAL : undefined;
}
