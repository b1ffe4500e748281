import type { Context, PlanFlags } from '../../console/context.ts';
import { type MeasuredBy, type Measures, openMeasures } from '../../console/monitor/metrics.ts';
import {
  debug,
  error,
  exposedWords,
  info,
  type LogEntries,
  type LoggedEvent,
  type Log as LogOf,
  warn,
} from '../../console/monitor/serve.ts';
import { formatLabel } from '../../core/address.ts';
import { type FailureCode, formatDuration } from '../../core/errors.ts';
import { formatEdit, type UnreadyNote } from '../../core/plan-document.ts';
import type { Contested } from '../../render/notification.ts';
import { formatCount, formatNumber } from '../../render/wording.ts';
import type { OpenGauges } from '../../run/context.ts';
import type { Author, Seen } from './look.ts';

export type Log = LogOf<WatchEvent>;

/** Flags that say what is put back. */
export type HealFlags = {
  readonly heal?: boolean;
  /** Tries for one address within an hour; twice as many within a day. */
  readonly healLimit: number;
};

export type Watching = {
  /** Its name in logs and measures. */
  readonly stack: string;
  /** With the milliseconds between two passes. */
  readonly flags: PlanFlags & HealFlags & { readonly interval: number };
  readonly context: Context;
  readonly log: Log;
  readonly metrics: Metrics;
};

type OfStack = { readonly stack: string };
type StackMessage = OfStack & { readonly message: string };
type OfField = OfStack & {
  readonly address: string;
  /** Null: the resource itself. */
  readonly field: string | null;
};

/** Each line of the log is one of these, with its level and time. docs/reference/monitoring.md lists them. */
export const EVENTS = {
  started: info(startWords),
  exposed: warn(exposedWords),
  pass_ended: { ...info(passWords), isRepeated: ({ repeated }: PassEnded) => repeated },
  pass_postponed: info(
    ({ run }: OfStack & { readonly run: string }) =>
      `Run ${run} is running; the stack is checked again later`,
  ),
  pass_failed: error(({ message, problems, hint }: OfStack & PassFailure) =>
    [message, ...problems, ...(hint === null ? [] : [hint])].join('\n'),
  ),
  pass_recovered: info(
    ({ failures, since }: OfStack & { readonly failures: number; readonly since: string }) =>
      `It works again, after ${formatCount(failures, 'failed pass', 'failed passes')} since ${since}`,
  ),
  pass_slow: warn(
    (event: OfStack & { readonly seconds: number }) =>
      `The pass took ${seconds(event.seconds)}, longer than the interval; choose a longer one`,
  ),
  drift_found: warn(
    (event: OfField & Author) =>
      `${formatPlace(event)} ${event.field === null ? 'is gone' : 'drifted'}, ${authorWords(event)}`,
  ),
  unready_found: warn(({ address, message }: OfStack & UnreadyFound) => `${address}: ${message}`),
  unready_ended: info(
    ({ address }: OfStack & { readonly address: string }) =>
      `${address} is ready, or no longer compared`,
  ),
  drift_ended: info(
    (event: OfField) =>
      `${formatPlace(event)} ${event.field === null ? 'is there again' : 'is as it should be again'}`,
  ),
  heal_ended: {
    getLevel: ({ status }: HealEnded) => (status === 'done' ? 'info' : 'error'),
    formatWords: ({ address, name, status, fields, run, message }: HealEnded) =>
      status === 'done'
        ? `${formatLabel(address, name)} was put back: ${fields.join(', ')} (run ${run})`
        : `${formatLabel(address, name)} was not put back, ${status.replace('_', ' ')}: ${message ?? 'see the run'} (run ${run})`,
  },
  heal_left: warn(
    ({ address, message }: StackMessage & { readonly address: string }) =>
      `${address} is not put back: ${message}`,
  ),
  heal_skipped: warn(({ message }: StackMessage) => `Nothing is put back: ${message}`),
  heal_contested: error(
    ({ address, times, since }: OfStack & Pick<Contested, 'address' | 'times' | 'since'>) =>
      `${address} is no longer put back: Callsheet tried ${formatCount(times, 'time')} since ${since}, and it drifted again. A person or another program changes it. Find out who, then decide the value in Git`,
  ),
  heal_agreed: info(
    ({ address }: OfStack & { readonly address: string }) => `${address} no longer drifts`,
  ),
  notification_sent: info(
    (event: OfStack & { readonly is_drifted: boolean }) =>
      `The notification was delivered: ${event.is_drifted ? 'there is drift' : 'no drift any more'}`,
  ),
  notification_failed: error(({ message }: StackMessage) => message),
  hook_taken: info(
    ({ sender }: { readonly sender: 'github' | 'gitlab'; readonly delivery: string | null }) =>
      `A webhook of ${sender} asks for a pass`,
  ),
  // Anybody who reaches the port could fill a log with them; they are counted.
  hook_refused: debug(
    ({ status, message }: { readonly status: number; readonly message: string }) =>
      `A webhook was refused with ${status}: ${message}`,
  ),
  stopping: info(({ message }: { readonly message: string }) => message),
  stopped: info(() => 'Stopped'),
  note: debug(({ message }: StackMessage) => message),
} satisfies LogEntries;

type WatchEvent = LoggedEvent<typeof EVENTS>;

type HealEnded = OfStack & {
  readonly run: string;
  readonly address: string;
  /** Its live name: what has another one is not healed. */
  readonly name: string;
  readonly status: string;
  readonly fields: readonly string[];
  readonly message: string | null;
};

type UnreadyFound = UnreadyNote['unready'] & Pick<UnreadyNote, 'address' | 'message'>;

export type PassFailure = {
  readonly kind: FailureCode | 'internal';
  readonly message: string;
  readonly hint: string | null;
  /** Problems of the configuration, with file and line. */
  readonly problems: readonly string[];
};

export type Counts = {
  readonly compared: number;
  readonly drifted: number;
  /** Resources that the platform does not confirm to be ready. */
  readonly unready: number;
  /** Changes of the configuration that are not applied yet. */
  readonly pending: number;
  readonly healed: number;
  /** Drifted resources that are not healed any more, as somebody else changes them again and again. */
  readonly contested: number;
};

type Started = {
  readonly stacks: readonly string[];
  readonly interval_seconds: number;
  readonly listen: string;
  readonly heal: boolean;
  readonly hooks: boolean;
  readonly version: string;
};

function startWords({ stacks, interval_seconds: interval, listen, heal, hooks }: Started): string {
  const what = heal ? 'Resources with lifecycle.heal are put back' : 'Nothing is ever written';
  const when = `every ${formatDuration(interval)}${hooks ? ', and on a webhook' : ''}`;
  return `Watching ${stacks.join(', ')} ${when}. ${what}. http://${listen} has /healthz and /metrics`;
}

function passWords(pass: PassEnded) {
  const { compared, drifted, unready, pending, healed, contested, seconds: took } = pass;
  const parts = [
    drifted === 0 ? 'no drift' : `${formatNumber(drifted)} drifted`,
    ...(unready === 0 ? [] : [`${formatNumber(unready)} not ready`]),
    ...(healed === 0 ? [] : [`${formatNumber(healed)} put back`]),
    ...(contested === 0 ? [] : [`${formatNumber(contested)} contested`]),
    ...(pending === 0
      ? []
      : [`${formatCount(pending, 'change')} of the configuration to be applied`]),
  ];
  return `${formatCount(compared, 'resource')}: ${parts.join(', ')} (${seconds(took)})`;
}

type PassEnded = OfStack &
  Counts & {
    readonly because: Wake;
    readonly seconds: number;
    /** True if it found the same as the pass before it. */
    readonly repeated: boolean;
  };

function formatPlace({ address, field }: OfField): string {
  return field === null ? address : `${address} ${field}`;
}

function authorWords({ certainty, because, actor, source, at }: Author): string {
  if (certainty === null || certainty === 'unknown')
    return `by an unknown author${because === null ? '' : ` (${because.replaceAll('_', ' ')})`}`;
  const who = formatEdit({ actor, source, at });
  return certainty === 'one_of' ? `by one of several, the last of them ${who}` : `by ${who}`;
}

/** A pass is quick, and then tenths count. */
function seconds(count: number): string {
  return count < 10 ? `${Number(count.toFixed(1))} s` : formatDuration(count);
}

/** Why a pass begins. */
export type Wake = 'start' | 'interval' | 'hook';

/** Measures for Prometheus. No label names a resource: a fleet of 100,000 would be as many series. */
export type Metrics = {
  readonly passEnded: (pass: PassMeasured) => void;
  readonly healEnded: (status: string) => void;
  readonly notified: (isDelivered: boolean) => void;
  readonly hookAnswered: (status: number) => void;
} & Pick<Measures, 'counting' | 'expose'>;

export type PassMeasured = {
  readonly outcome: 'done' | 'failed' | 'postponed';
  readonly seconds: number;
  readonly at: Date;
  /** Undefined where the pass failed before it saw anything. */
  readonly seen?: (Counts & Pick<Seen, 'verdicts' | 'state'>) | undefined;
};

/** From a stack of ten agents to one of 100,000. */
const BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/**
 * Opens metrics that nothing was counted in yet. The stack has its series from the beginning. `gauges` are those of
 * features.
 */
export function openMetrics(
  stack: string,
  by: MeasuredBy,
  now: Date,
  gauges: readonly OpenGauges[] = [],
): Metrics {
  const measures = openMeasures(by);
  const { counter, gauge, histogram, counting, expose } = measures;
  const showKept = gauges.map((open) => open(gauge));
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
  const unready = gauge(
    'unready_resources',
    'Resources that the platform does not confirm to be ready, such as sources whose ingestion failed.',
    of,
  );
  const pending = gauge(
    'pending_changes',
    'Changes of the configuration that are not applied.',
    of,
  );
  const contested = gauge(
    'contested_resources',
    'Drifted resources that are no longer put back, because they drift repeatedly.',
    of,
  );
  const heals = counter('heals_total', 'Attempts to put resources back, by result.', [
    ...of,
    'status',
  ]);
  const notifications = counter('notifications_total', 'Notifications, by result.', [
    ...of,
    'outcome',
  ]);
  const hooks = counter('hooks_total', 'Webhooks, by the status that they were answered.', [
    'status',
  ]);
  for (const outcome of ['done', 'failed', 'postponed']) passes.inc({ stack, outcome }, 0);
  for (const status of ['done', 'failed']) heals.inc({ stack, status }, 0);
  for (const outcome of ['delivered', 'failed']) notifications.inc({ stack, outcome }, 0);
  durations.zero({ stack });
  // A stack that was never seen is silent from the beginning: without a series no alert could tell.
  lastSuccess.set({ stack }, now.getTime() / 1000);

  return {
    passEnded({ outcome, seconds, at, seen }) {
      passes.inc({ stack, outcome });
      durations.observe({ stack }, seconds);
      lastPass.set({ stack }, at.getTime() / 1000);
      if (seen === undefined) return;
      lastSuccess.set({ stack }, at.getTime() / 1000);
      resources.set({ stack }, seen.compared);
      for (const [verdict, count] of Object.entries(seen.verdicts))
        changes.set({ stack, verdict }, count);
      drifted.set({ stack }, seen.drifted);
      unready.set({ stack }, seen.unready);
      pending.set({ stack }, seen.pending);
      contested.set({ stack }, seen.contested);
      for (const show of showKept) show(stack, seen.state);
    },
    healEnded: (status) => heals.inc({ stack, status }),
    notified: (isDelivered) =>
      notifications.inc({ stack, outcome: isDelivered ? 'delivered' : 'failed' }),
    hookAnswered: (status) => hooks.inc({ status: String(status) }),
    counting,
    expose,
  };
}
