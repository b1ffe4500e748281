import { type HealthReport, judgeSilence } from '../../console/monitor/serve.ts';
import { type NoticeTarget, notifyDrift } from '../../console/notify.ts';
import { type Diagnostic, isError } from '../../core/diagnostics.ts';
import { CallsheetError, type FailureCode, firstLines } from '../../core/errors.ts';
import { listUnready, type PlanDocument, type UnreadyNote } from '../../core/plan-document.ts';
import { isSameJson } from '../../core/value.ts';
import { withoutHealed } from '../../plan/drift.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Pause } from '../../platform/rate.ts';
import type { Contested } from '../../render/notification.ts';
import { toFailure } from '../../run/document.ts';
import type { Counts, Log, PassFailure, PassMeasured, Wake, Watching } from './events.ts';
import type { Healer } from './healer.ts';
import {
  compareFindings,
  type Findings,
  keepReads,
  listFindings,
  look,
  type Seen,
} from './look.ts';

/** Looks at the stack that is watched, and does what follows from it. */
export type Pass = (because: Wake) => Promise<PassEnd>;

type PassEnd = {
  /** The passes that failed one after the other, this one the last; undefined where it did not. */
  readonly streak: Streak | undefined;
  /** True if an interrupt cut a healing short. */
  readonly isCut: boolean;
};

/** A day: a state that somebody else wrote hides an edit from passes that read only what can have changed. */
const READ_ALL_MS = 86_400_000;

type WatchedDeps = Watching & {
  /** Undefined: nothing is ever written. */
  readonly healer: Healer | undefined;
  readonly notices: Notices;
};

/**
 * Watches one stack: each pass reports what differs from the pass before.
 *
 *   look ──▶ log what is new or over ──▶ heal ──▶ post what is new ──▶ post that it is over
 */
export function watchStack(deps: WatchedDeps): Pass {
  const { stack, flags, healer, notices, context, log, metrics } = deps;
  let findings: Findings = new Map();
  // The resources that were not ready, and what was reported of each.
  let unready: ReadonlyMap<string, string> = new Map();
  let streak: Streak | undefined;
  /** The findings of the last pass. */
  let last: object | undefined;
  const kept = keepReads(flags.interval, context.now);
  // When a pass last read everything, milliseconds since 1970.
  let readAllAt: number | undefined;

  /** Tells what is new, and what is over without our doing. */
  function tellFindings(now: Findings): void {
    const { found, ended } = compareFindings(findings, now);
    for (const { address, field, author } of found)
      log({ event: 'drift_found', stack, address, field, ...author });
    for (const { address, field } of ended) log({ event: 'drift_ended', stack, address, field });
    findings = now;
  }

  function tellUnready(notes: readonly UnreadyNote[]): void {
    const now = new Map(notes.map((note) => [note.address, unreadyKey(note)]));
    for (const note of notes) {
      const { address, message } = note;
      if (unready.get(address) !== now.get(address))
        log({ event: 'unready_found', stack, address, ...note.unready, message });
    }
    for (const address of unready.keys())
      if (!now.has(address)) log({ event: 'unready_ended', stack, address });
    unready = now;
  }

  async function passOver(seen: Seen): Promise<Counts & { readonly isCut: boolean }> {
    const { compared, pending, drift } = seen;
    const before = listFindings(drift);
    tellFindings(before);
    tellUnready(listUnready(drift));
    const none = { healed: new Set<string>(), contested: [], isCut: false };
    const { healed, contested, isCut } = (await healer?.heal(seen)) ?? none;
    await notices.post(drift, before, contested);
    const left = withoutHealed(drift, healed);
    findings = listFindings(left);
    if (healed.size > 0) await notices.post(left, findings, contested);
    const drifted = left.changes.length;
    const counts = {
      compared,
      drifted,
      unready: unready.size,
      pending,
      healed: healed.size,
      contested: contested.length,
    };
    return { ...counts, isCut };
  }

  async function pass(because: Wake): Promise<PassEnd> {
    const began = context.now();
    const ended = (
      outcome: PassMeasured['outcome'],
      more: Pick<PassMeasured, 'seen'> = {},
    ): number => {
      const at = context.now();
      const seconds = (at.getTime() - began.getTime()) / 1000;
      metrics.passEnded({ outcome, seconds, at, ...more });
      return seconds;
    };
    try {
      const isDue = readAllAt === undefined || began.getTime() - readAllAt >= READ_ALL_MS;
      const { refresh = isDue ? 'full' : 'fast' } = flags;
      const seen = await look(flags, context, { refresh, kept });
      kept.clear();
      if (seen.type === 'seen' && refresh === 'full') readAllAt = began.getTime();
      if (seen.type === 'busy') {
        log({ event: 'pass_postponed', stack, run: seen.run });
        ended('postponed');
        return { streak, isCut: false };
      }
      const { isCut, ...counts } = await passOver(seen);
      if (streak !== undefined)
        log({
          event: 'pass_recovered',
          stack,
          failures: streak.passes,
          since: streak.since,
        });
      if (streak !== undefined) last = undefined;
      streak = undefined;
      const { verdicts, state } = seen;
      const seconds = ended('done', { seen: { ...counts, verdicts, state } });
      const repeated = isSameJson(counts, last);
      last = counts;
      log({ event: 'pass_ended', stack, because, seconds, ...counts, repeated });
      return { streak, isCut };
    } catch (error) {
      // A pass that an interrupt broke off is no failure.
      if (context.stop.aborted) return { streak, isCut: false };
      const failure = failureWords(error);
      const failureKey = sameness(failure, error);
      // The same failure is reported once.
      if (streak?.failureKey !== failureKey) log({ event: 'pass_failed', stack, ...failure });
      const { passes = 0, since = context.now().toISOString() } = streak ?? {};
      streak = { passes: passes + 1, since, failureKey, kind: failure.kind };
      ended('failed');
      return { streak, isCut: false };
    }
  }

  // Each pass has a trace of its own: the command runs for days.
  return (because) =>
    context.telemetry?.task('watch pass', () => pass(because), {
      isRoot: true,
      failure: ({ streak: failures }) => (failures === undefined ? undefined : 'failed'),
    }) ?? pass(because);
}

/** The health of the passes, for a supervisor that restarts a hanging process. */
export type Health = {
  readonly passBegan: () => void;
  readonly passEnded: (failures: readonly StackFailure[]) => void;
  readonly report: () => WatchHealth;
};

/** A stack whose last pass failed. */
type StackFailure = {
  readonly stack: string;
  /** Never the message: it names hosts and files, and anybody may ask `/healthz`. */
  readonly kind: FailureCode | 'internal';
  readonly passes: number;
};

/** The answer of `/healthz`. */
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
  const patience = Math.max(MISSED * interval, LEAST_PATIENCE_MS);

  return {
    passBegan() {
      began = now();
    },
    passEnded(failed) {
      ended = now();
      began = undefined;
      failures = failed;
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

type LoopDeps = {
  readonly stack: string;
  /** Milliseconds between the end of a pass and the next. */
  readonly interval: number;
  readonly debounce: Pick<Debounce, 'wait'>;
  readonly health: Pick<Health, 'passBegan' | 'passEnded'>;
  readonly random: Pause['random'];
  readonly now: () => Date;
  readonly log: Log;
  readonly stop: AbortSignal;
};

/** A share of the interval, each way: watches that began at once must not ask at once for ever. */
const JITTER = 0.1;

/** Passes over the stack again and again, until it is to stop. Says whether it cut a healing short. */
export async function watchLoop(
  pass: Pass,
  { stack, interval, debounce, health, random, now, log, stop }: LoopDeps,
): Promise<{ readonly isCut: boolean }> {
  let because: Wake = 'start';
  let isCut = false;
  let isSlow = false;
  while (!stop.aborted) {
    health.passBegan();
    const began = now().getTime();
    const end = await pass(because);
    isCut = end.isCut;
    if (stop.aborted) break;
    const took = now().getTime() - began;
    // Once for as long as it is so: a short interval would fill the log with it.
    if (took > interval && !isSlow) log({ event: 'pass_slow', stack, seconds: took / 1000 });
    isSlow = took > interval;
    const { streak } = end;
    const delay = Math.round(interval * (1 + JITTER * (2 * random() - 1)));
    const failures = streak && [{ stack, kind: streak.kind, passes: streak.passes }];
    health.passEnded(failures ?? []);
    because = await debounce.wait(delay);
  }
  return { isCut };
}

/** Wakes who waits for the next pass. */
export type Debounce = {
  /** Asks for a pass; during one, for another after it. */
  readonly trigger: () => void;
  /** Waits for a trigger, at most so many milliseconds. Ends at once when it is to stop. */
  readonly wait: (milliseconds: number) => Promise<Exclude<Wake, 'start'>>;
};

/** A push, a merge and a pipeline trigger within moments: they are one pass, once it has been quiet for this long. */
export const QUIET_MS = 2_000;
/** A pass waits no longer than this for triggers to end. */
export const LONGEST_BURST_MS = 30_000;

/** Debounces: all triggers between two waits count as one. */
export function createDebounce({ sleep }: Pick<Pause, 'sleep'>, stop: AbortSignal): Debounce {
  let isTriggered = false;
  let waiting: AbortController | undefined;
  stop.addEventListener('abort', () => waiting?.abort(), { once: true });

  /** Sleeps until the time is over, it is triggered, or it is to stop. */
  async function rest(milliseconds: number): Promise<void> {
    if (stop.aborted || isTriggered) return;
    waiting = new AbortController();
    await sleep(milliseconds, waiting.signal);
    waiting = undefined;
  }

  async function untilQuiet(): Promise<void> {
    for (let waited = 0; isTriggered && waited < LONGEST_BURST_MS; waited += QUIET_MS) {
      isTriggered = false;
      // A trigger in between does not end it: it only makes for another.
      await sleep(QUIET_MS, stop);
    }
    isTriggered = false;
  }

  return {
    trigger() {
      isTriggered = true;
      waiting?.abort();
    },
    async wait(milliseconds) {
      await rest(milliseconds);
      if (!isTriggered) return 'interval';
      await untilQuiet();
      return 'hook';
    },
  };
}

/** Passes of a stack that failed one after the other. */
type Streak = {
  readonly passes: number;
  readonly since: string;
  /** The key of the last reported failure: the same is not reported again. */
  readonly failureKey: string;
  readonly kind: PassFailure['kind'];
};

/** Problems of a configuration that are listed; `callsheet validate` shows them all. */
const MOST_PROBLEMS = 20;

function failureWords(error: unknown): PassFailure {
  const { kind, diagnostics, hint, message: said } = toFailure(error);
  const isBug = kind === 'internal' && error instanceof Error;
  const message = isBug ? (error.stack ?? said) : said;
  const problems = firstLines(
    diagnostics.filter(isError).map(problemWords),
    MOST_PROBLEMS,
    ': `callsheet validate`',
  );
  return {
    kind,
    message,
    hint: isBug ? 'This is a bug in Callsheet. Please report it.' : hint,
    problems,
  };
}

function problemWords({ position, rule, message }: Diagnostic): string {
  const where = position === undefined ? '' : `${position.file}:${position.line}: `;
  return `${where}${message} (${rule})`;
}

/** A platform that is down fails at another request each time, which is no news. */
function sameness({ kind, message, problems }: PassFailure, error: unknown): string {
  if (kind === 'network') return kind;
  if (error instanceof ApiError) return `${kind} ${error.status}`;
  return JSON.stringify([kind, message, problems]);
}

/** Identifies the report of a resource that is not ready: another status is news, another time is not. */
function unreadyKey({ address, unready: { phase, status } }: UnreadyNote): string {
  return JSON.stringify([address, phase, status]);
}

/** Posts that drift appeared, is contested or ended, and not at every pass that there still is some. */
type Notices = {
  readonly post: (
    drift: PlanDocument,
    findings: Findings,
    contested: readonly Contested[],
  ) => Promise<void>;
};

/** Notices of one stack. Nothing was posted yet. */
export function openNotices(
  address: NoticeTarget | undefined,
  { stack, flags: { dir }, context, log, metrics }: Watching,
): Notices {
  // The receiver knows of these: what drifted, and to which value; what is contested; what is not ready, and with
  // which status.
  let known: ReadonlySet<string> = new Set();

  return {
    async post(drift, findings, contested) {
      const now = new Set([
        ...[...findings].map(([place, { digest }]) => `${place} ${digest}`),
        ...contested.map((fight) => `contested ${fight.address}`),
        ...listUnready(drift).map(unreadyKey),
      ]);
      const hasNews = [...now].some((one) => !known.has(one)) || (now.size === 0 && known.size > 0);
      if (address === undefined || !hasNews || context.stop.aborted) {
        // Drift that is over is forgotten, so that it is news when it comes back.
        known = new Set([...known].filter((one) => now.has(one)));
        return;
      }
      try {
        await notifyDrift(address, drift, { dir, notifyAlways: true, contested }, context);
      } catch (error) {
        if (!(error instanceof CallsheetError)) throw error;
        // The next pass tries again.
        log({ event: 'notification_failed', stack, message: error.message });
        metrics.notified(false);
        return;
      }
      known = now;
      log({ event: 'notification_sent', stack, is_drifted: findings.size > 0 });
      metrics.notified(true);
    },
  };
}
