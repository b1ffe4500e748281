import { withoutHealed } from '../../plan/drift.ts';
import type { Context } from '../context.ts';
import type { PlanFlags } from '../plan-flags.ts';
import type { Wake } from './bell.ts';
import type { Counts, Log } from './events.ts';
import { continueStreak, failureWords, type Streak } from './failures.ts';
import { compareFindings, type Findings, findingsOf } from './findings.ts';
import type { Healer } from './healer.ts';
import { look, type Seen } from './look.ts';
import type { Metrics } from './metrics.ts';
import type { Notices } from './notices.ts';

/** A stack that is watched. */
export type Watched = {
  readonly name: string;
  readonly pass: (because: Wake) => Promise<PassEnd>;
};

export type PassEnd = {
  /** The passes that failed one after the other, this one the last; undefined where it did not. */
  readonly streak: Streak | undefined;
  /** Whether a healing was cut short by an interrupt. */
  readonly isCut: boolean;
};

type WatchedDeps = {
  readonly name: string;
  readonly flags: PlanFlags;
  /** Undefined: nothing is ever written. */
  readonly healer: Healer | undefined;
  readonly notices: Notices;
  readonly context: Context;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'passEnded'>;
};

/**
 * Watches one stack: what is told of it, and when, follows from what the pass before saw.
 *
 *   look ──▶ log what is new or over ──▶ heal ──▶ post what is new ──▶ post that it is over
 */
export function watchStack(deps: WatchedDeps): Watched {
  const { name: stack, flags, healer, notices, context, log, metrics } = deps;
  let findings: Findings = new Map();
  let streak: Streak | undefined;

  /** Tells what is new, and what is over without our doing. */
  function tellFindings(now: Findings): void {
    const { found, ended } = compareFindings(findings, now);
    for (const { address, field, author } of found)
      log({ event: 'drift_found', stack, address, field, ...author });
    for (const { address, field } of ended) log({ event: 'drift_ended', stack, address, field });
    findings = now;
  }

  async function passOver(seen: Seen): Promise<Counts & { readonly isCut: boolean }> {
    const { compared, pending, drift } = seen;
    const before = findingsOf(drift);
    tellFindings(before);
    const none = { healed: new Set<string>(), contested: 0, isCut: false };
    const { healed, contested, isCut } = (await healer?.heal(seen)) ?? none;
    await notices.post(drift, before);
    const left = withoutHealed(drift, healed);
    findings = findingsOf(left);
    if (healed.size > 0) await notices.post(left, findings);
    const drifted = left.changes.length;
    const counts = { compared, drifted, pending, healed: healed.size, contested };
    return { ...counts, isCut };
  }

  async function pass(because: Wake): Promise<PassEnd> {
    const began = context.now();
    const seconds = () => (context.now().getTime() - began.getTime()) / 1000;
    try {
      const seen = await look(flags, context);
      if (seen.type === 'busy') {
        log({ event: 'pass_postponed', stack, run: seen.run });
        metrics.passEnded(stack, {
          outcome: 'postponed',
          seconds: seconds(),
          at: context.now(),
        });
        return { streak, isCut: false };
      }
      const { isCut, ...counts } = await passOver(seen);
      const took = seconds();
      if (streak !== undefined)
        log({
          event: 'pass_recovered',
          stack,
          failures: streak.passes,
          since: streak.since,
        });
      streak = undefined;
      log({ event: 'pass_ended', stack, because, seconds: took, ...counts });
      metrics.passEnded(stack, {
        outcome: 'done',
        seconds: took,
        at: context.now(),
        seen: { ...counts, verdicts: seen.verdicts },
      });
      return { streak, isCut };
    } catch (error) {
      // What was broken off by an interrupt is no failure.
      if (context.stop.aborted) return { streak, isCut: false };
      const about = { stack, now: context.now(), error };
      const failed = continueStreak(streak, failureWords(error), about);
      streak = failed.streak;
      if (failed.event !== undefined) log(failed.event);
      metrics.passEnded(stack, { outcome: 'failed', seconds: seconds(), at: context.now() });
      return { streak, isCut: false };
    }
  }

  return {
    name: stack,
    // Each pass has a trace of its own: the command runs for days.
    pass: (because) =>
      context.telemetry?.task('watch pass', () => pass(because), {
        isRoot: true,
        failure: ({ streak: failures }) => (failures === undefined ? undefined : 'failed'),
      }) ?? pass(because),
  };
}
