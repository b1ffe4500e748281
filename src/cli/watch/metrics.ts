import { type MeasuredBy, type Measures, openMeasures } from '../monitor/metrics.ts';
import type { Counts } from './events.ts';
import type { Seen } from './look.ts';

/** What Prometheus reads. Nothing in it names a resource: a fleet of 100,000 would be as many series. */
export type Metrics = {
  readonly passEnded: (stack: string, pass: PassMeasured) => void;
  readonly healEnded: (stack: string, status: string) => void;
  readonly notified: (stack: string, isDelivered: boolean) => void;
  readonly hookAnswered: (status: number) => void;
} & Pick<Measures, 'counting' | 'expose'>;

export type PassMeasured = {
  readonly outcome: 'done' | 'failed' | 'postponed';
  readonly seconds: number;
  readonly at: Date;
  /** What was seen, where the pass got that far. */
  readonly seen?: (Counts & Pick<Seen, 'verdicts'>) | undefined;
};

/** From a stack of ten agents to one of 100,000. */
const BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** Opens metrics that nothing was counted in yet. `stacks` have their series from the beginning. */
export function openMetrics(stacks: readonly string[], by: MeasuredBy, now: Date): Metrics {
  const { counter, gauge, histogram, counting, expose } = openMeasures(by);
  const of = ['stack'] as const;
  const passes = counter('passes_total', 'Passes over a stack, by how they ended.', [
    ...of,
    'outcome',
  ]);
  const durations = histogram('pass_duration_seconds', 'How long passes took.', of, BUCKETS);
  const lastPass = gauge('last_pass_timestamp_seconds', 'When the last pass ended.', of);
  const lastSuccess = gauge(
    'last_success_timestamp_seconds',
    'When the last pass ended that saw the whole stack; before the first, when the watch started.',
    of,
  );
  const resources = gauge('resources', 'Resources that the last plan compared.', of);
  const changes = gauge('planned_changes', 'Changes of the last plan, by verdict.', [
    ...of,
    'verdict',
  ]);
  const drifted = gauge('drifted_resources', 'Resources that drifted and were not put back.', of);
  const pending = gauge('pending_changes', 'Changes of the configuration nobody applied.', of);
  const contested = gauge(
    'contested_resources',
    'Drifted resources that are not put back any more, as somebody changes them again and again.',
    of,
  );
  const heals = counter('heals_total', 'Resources that were to be put back, by what came of it.', [
    ...of,
    'status',
  ]);
  const notifications = counter('notifications_total', 'Notifications, by what came of them.', [
    ...of,
    'outcome',
  ]);
  const hooks = counter('hooks_total', 'Webhooks, by the status that they were answered.', [
    'status',
  ]);
  for (const stack of stacks) {
    for (const outcome of ['done', 'failed', 'postponed']) passes.inc({ stack, outcome }, 0);
    for (const status of ['done', 'failed']) heals.inc({ stack, status }, 0);
    for (const outcome of ['delivered', 'failed']) notifications.inc({ stack, outcome }, 0);
    durations.zero({ stack });
    // A stack that was never seen is silent from the beginning: without a series no alert could tell.
    lastSuccess.set({ stack }, now.getTime() / 1000);
  }

  return {
    passEnded(stack, { outcome, seconds, at, seen }) {
      passes.inc({ stack, outcome });
      durations.observe({ stack }, seconds);
      lastPass.set({ stack }, at.getTime() / 1000);
      if (seen === undefined) return;
      lastSuccess.set({ stack }, at.getTime() / 1000);
      resources.set({ stack }, seen.compared);
      for (const [verdict, count] of Object.entries(seen.verdicts))
        changes.set({ stack, verdict }, count);
      drifted.set({ stack }, seen.drifted);
      pending.set({ stack }, seen.pending);
      contested.set({ stack }, seen.contested);
    },
    healEnded: (stack, status) => heals.inc({ stack, status }),
    notified: (stack, isDelivered) =>
      notifications.inc({ stack, outcome: isDelivered ? 'delivered' : 'failed' }),
    hookAnswered: (status) => hooks.inc({ status: String(status) }),
    counting,
    expose,
  };
}
