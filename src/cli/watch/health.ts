import type { FailureCode } from '../../core/errors.ts';
import { type HealthReport, judgeSilence } from '../monitor/health.ts';

/** Whether passes go on, for whoever restarts what hangs. */
export type Health = {
  readonly passBegan: () => void;
  /** `next`: milliseconds until the next one begins. */
  readonly passEnded: (failures: readonly StackFailure[], next: number) => void;
  readonly report: () => WatchHealth;
};

/** A stack whose last pass failed. */
type StackFailure = {
  readonly stack: string;
  /** Never the message, which names hosts and files to whoever asks. */
  readonly kind: FailureCode | 'internal';
  readonly passes: number;
};

/** What `/healthz` answers. */
type WatchHealth = HealthReport & {
  readonly version: string;
  readonly interval_seconds: number;
  readonly started_at: string;
  /** Null before the first has ended. */
  readonly last_pass_at: string | null;
  readonly pass_running_since: string | null;
  /** Stacks whose last pass failed. A restart would not help them, so they do not make it fail. */
  readonly failures: readonly StackFailure[];
};

/** Passes that may be missed. */
const MISSED = 3;
/** With a short interval a first look at a large fleet is no reason to restart. */
const LEAST_PATIENCE_MS = 60_000;

/** Watches over the passes themselves. */
export function watchHealth(options: {
  readonly interval: number;
  readonly version: string;
  readonly now: () => Date;
}): Health {
  const { interval, version, now } = options;
  const started = now();
  let ended: Date | undefined;
  let began: Date | undefined;
  let failures: readonly StackFailure[] = [];
  let patience = Math.max(MISSED * interval, LEAST_PATIENCE_MS);

  return {
    passBegan() {
      began = now();
    },
    passEnded(failed, next) {
      ended = now();
      began = undefined;
      failures = failed;
      // While it backs off passes are further apart.
      patience = Math.max(MISSED * Math.max(interval, next), LEAST_PATIENCE_MS);
    },
    report() {
      const silent = now().getTime() - (ended ?? started).getTime();
      return {
        ...judgeSilence('no pass has ended', silent, patience),
        version,
        interval_seconds: interval / 1000,
        started_at: started.toISOString(),
        last_pass_at: ended?.toISOString() ?? null,
        pass_running_since: began?.toISOString() ?? null,
        failures,
      };
    },
  };
}
