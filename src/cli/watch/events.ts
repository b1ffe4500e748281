import { formatCount, formatDuration, formatNumber } from '../../render/wording.ts';
import { type MeasuredBy, type Measures, openMeasures } from '../monitor/metrics.ts';
import type { Level, Log as LogOf } from '../monitor/serve.ts';
import type { Author, Seen } from './look.ts';

export type Log = LogOf<WatchEvent>;

/** What is written to the log: each line is one of these, with its level and time. Stands in docs/watch.md. */
export type WatchEvent =
  | {
      readonly event: 'started';
      readonly stacks: readonly string[];
      readonly interval_seconds: number;
      readonly listen: string;
      readonly heal: boolean;
      readonly hooks: boolean;
      readonly version: string;
    }
  | { readonly event: 'exposed'; readonly listen: string }
  | ({
      readonly event: 'pass_ended';
      readonly stack: string;
      readonly because: Wake;
      readonly seconds: number;
    } & Counts)
  | { readonly event: 'pass_postponed'; readonly stack: string; readonly run: string }
  | {
      readonly event: 'pass_failed';
      readonly stack: string;
      readonly kind: string;
      readonly message: string;
      readonly hint: string | null;
      /** What is wrong with the configuration, with file and line. */
      readonly problems: readonly string[];
    }
  | {
      readonly event: 'pass_recovered';
      readonly stack: string;
      readonly failures: number;
      readonly since: string;
    }
  | { readonly event: 'pass_slow'; readonly stack: string; readonly seconds: number }
  | ({
      readonly event: 'drift_found';
      readonly stack: string;
      readonly address: string;
      /** Null: the resource itself is gone. */
      readonly field: string | null;
    } & Author)
  | {
      readonly event: 'drift_ended';
      readonly stack: string;
      readonly address: string;
      readonly field: string | null;
    }
  | {
      readonly event: 'heal_ended';
      readonly stack: string;
      readonly run: string;
      readonly address: string;
      readonly status: string;
      readonly fields: readonly string[];
      readonly message: string | null;
    }
  | {
      readonly event: 'heal_left';
      readonly stack: string;
      readonly address: string;
      readonly message: string;
    }
  | { readonly event: 'heal_skipped'; readonly stack: string; readonly message: string }
  | {
      readonly event: 'heal_contested';
      readonly stack: string;
      readonly address: string;
      readonly times: number;
    }
  | { readonly event: 'heal_agreed'; readonly stack: string; readonly address: string }
  | {
      readonly event: 'notification_sent';
      readonly stack: string;
      readonly is_drifted: boolean;
    }
  | { readonly event: 'notification_failed'; readonly stack: string; readonly message: string }
  | {
      readonly event: 'hook_taken';
      readonly sender: 'github' | 'gitlab';
      readonly delivery: string | null;
    }
  | { readonly event: 'hook_refused'; readonly status: number; readonly message: string }
  | { readonly event: 'stopping'; readonly message: string }
  | { readonly event: 'stopped' }
  | { readonly event: 'note'; readonly stack: string; readonly message: string };

/** What a pass came to. */
export type Counts = {
  readonly compared: number;
  readonly drifted: number;
  /** Changes of the configuration that nobody applied. */
  readonly pending: number;
  readonly healed: number;
  /** Drifted resources that are not healed any more, as somebody else changes them again and again. */
  readonly contested: number;
};

/** How much each event matters. Of `heal_ended` the outcome decides. */
export function levelOf(event: WatchEvent): Level {
  switch (event.event) {
    case 'pass_failed':
    case 'heal_contested':
    case 'notification_failed':
      return 'error';
    case 'heal_ended':
      return event.status === 'done' ? 'info' : 'error';
    case 'exposed':
    case 'pass_slow':
    case 'drift_found':
    case 'heal_left':
    case 'heal_skipped':
      return 'warn';
    // Anybody who reaches the port could fill a log with them; they are counted.
    case 'hook_refused':
    case 'note':
      return 'debug';
    default:
      return 'info';
  }
}

/** An event as a sentence, for a terminal. What others wrote is sanitised by whoever prints it. */
export function wordsOf(event: WatchEvent): string {
  switch (event.event) {
    case 'started':
      return startWords(event);
    case 'exposed':
      return `${event.listen} is not a loopback address: whoever reaches it reads the metrics`;
    case 'pass_ended':
      return passWords(event);
    case 'pass_postponed':
      return `Run ${event.run} is at work; the stack is looked at again later`;
    case 'pass_failed': {
      const { message, problems, hint } = event;
      return [message, ...problems, ...(hint === null ? [] : [hint])].join('\n');
    }
    case 'pass_recovered':
      return `It works again, after ${formatCount(event.failures, 'failed pass', 'failed passes')} since ${event.since}`;
    case 'pass_slow':
      return `The pass took ${seconds(event.seconds)}, longer than the interval; take a longer one`;
    case 'drift_found':
      return `${placeOf(event)} ${event.field === null ? 'is gone' : 'drifted'}, ${authorWords(event)}`;
    case 'drift_ended':
      return `${placeOf(event)} ${event.field === null ? 'is there again' : 'is as it should be again'}`;
    case 'heal_ended':
      return event.status === 'done'
        ? `${event.address} was put back: ${event.fields.join(', ')} (run ${event.run})`
        : `${event.address} was not put back, ${event.status.replace('_', ' ')}: ${event.message ?? 'see the run'} (run ${event.run})`;
    case 'heal_left':
      return `${event.address} is not put back: ${event.message}`;
    case 'heal_skipped':
      return `Nothing is put back: ${event.message}`;
    case 'heal_contested':
      return `${event.address} is not put back any more: that was tried ${formatCount(event.times, 'time')} within an hour, and it drifted again. Somebody or something else changes it; find out who, then settle it in Git`;
    case 'heal_agreed':
      return `${event.address} no longer drifts: nobody changes it against us any more`;
    case 'notification_sent':
      return `The notification was delivered: ${event.is_drifted ? 'there is drift' : 'no drift any more'}`;
    case 'notification_failed':
      return event.message;
    case 'hook_taken':
      return `A webhook of ${event.sender} asks for a pass`;
    case 'hook_refused':
      return `A webhook was refused with ${event.status}: ${event.message}`;
    case 'stopping':
      return event.message;
    case 'stopped':
      return 'Stopped';
    case 'note':
      return event.message;
  }
}

function startWords(event: Extract<WatchEvent, { event: 'started' }>): string {
  const { stacks, interval_seconds: interval, listen, heal, hooks } = event;
  const what = heal ? 'What is marked is put back' : 'Nothing is ever written';
  const when = `every ${formatDuration(interval)}${hooks ? ', and on a webhook' : ''}`;
  return `Watching ${stacks.join(', ')} ${when}. ${what}. http://${listen} has /healthz and /metrics`;
}

function passWords({ compared, drifted, pending, healed, contested, seconds: took }: PassEnded) {
  const parts = [
    drifted === 0 ? 'no drift' : `${formatNumber(drifted)} drifted`,
    ...(healed === 0 ? [] : [`${formatNumber(healed)} put back`]),
    ...(contested === 0 ? [] : [`${formatNumber(contested)} contested`]),
    ...(pending === 0
      ? []
      : [`${formatCount(pending, 'change')} of the configuration to be applied`]),
  ];
  return `${formatCount(compared, 'resource')}: ${parts.join(', ')} (${seconds(took)})`;
}

type PassEnded = Counts & { readonly seconds: number };

function placeOf({ address, field }: { readonly address: string; readonly field: string | null }) {
  return field === null ? address : `${address} ${field}`;
}

function authorWords({ certainty, because, actor, source, at }: Author): string {
  if (certainty === null || certainty === 'unknown')
    return `by whom is unknown${because === null ? '' : ` (${because.replaceAll('_', ' ')})`}`;
  const who = [
    actor ?? 'somebody',
    ...(source === null ? [] : [`via ${source}`]),
    ...(at === null ? [] : [`at ${at}`]),
  ].join(' ');
  return certainty === 'one_of' ? `by one of several, the last of them ${who}` : `by ${who}`;
}

function seconds(count: number): string {
  return `${Number(count.toFixed(count < 10 ? 1 : 0))} s`;
} /** Why a pass begins. */
export type Wake = 'start' | 'interval' | 'hook';

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
