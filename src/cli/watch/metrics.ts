import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Transport } from '../../api/transport.ts';
import type { Counts } from './events.ts';
import type { Seen } from './look.ts';

/** What Prometheus reads. Nothing in it names a resource: a fleet of 100,000 would be as many series. */
export type Metrics = {
  readonly passEnded: (stack: string, pass: PassMeasured) => void;
  readonly healEnded: (stack: string, status: string) => void;
  readonly notified: (stack: string, isDelivered: boolean) => void;
  readonly hookAnswered: (status: number) => void;
  /** A transport whose answers are counted. */
  readonly counting: (transport: Transport) => Transport;
  /** The text of `/metrics`. */
  readonly expose: () => Promise<{ readonly type: string; readonly text: string }>;
};

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
export function openMetrics(stacks: readonly string[], version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const of = ['stack'] as const;
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name: `callsheet_${name}`, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge({ name: `callsheet_${name}`, help, labelNames, registers });

  const passes = counter('passes_total', 'Passes over a stack, by how they ended.', [
    ...of,
    'outcome',
  ]);
  const durations = new Histogram({
    name: 'callsheet_pass_duration_seconds',
    help: 'How long passes took.',
    labelNames: of,
    buckets: BUCKETS,
    registers,
  });
  const lastPass = gauge('last_pass_timestamp_seconds', 'When the last pass ended.', of);
  const lastSuccess = gauge(
    'last_success_timestamp_seconds',
    'When the last pass ended that saw the whole stack.',
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
  const requests = counter(
    'api_requests_total',
    'Requests to the platform, by status; "none" where no answer came.',
    ['status'],
  );
  const limited = counter('api_rate_limited_total', 'Requests that the platform answered 429.', []);
  gauge('build_info', 'The version that runs.', ['version']).set({ version }, 1);
  describeProcess(registers);
  for (const stack of stacks) {
    for (const outcome of ['done', 'failed', 'postponed']) passes.inc({ stack, outcome }, 0);
    for (const status of ['done', 'failed']) heals.inc({ stack, status }, 0);
    durations.zero({ stack });
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
    counting: (transport) => ({
      ...transport,
      async send(request) {
        try {
          const answer = await transport.send(request);
          requests.inc({ status: String(answer.status) });
          if (answer.status === 429) limited.inc();
          return answer;
        } catch (error) {
          requests.inc({ status: 'none' });
          throw error;
        }
      },
    }),
    expose: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}

/** What every process of a Prometheus shop tells of itself, under the names that its dashboards know. */
function describeProcess(registers: Registry[]): void {
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started.',
    registers,
  }).set(Math.round(Date.now() / 1000 - process.uptime()));
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'nodejs_heap_size_used_bytes',
    help: 'Memory that objects take.',
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Time on a processor.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
}
