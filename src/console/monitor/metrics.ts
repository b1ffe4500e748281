import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Transport } from '../../platform/transport.ts';

export type MeasuredBy = {
  readonly version: string;
  readonly telemetry?: { readonly measure: (collect: Collect) => void } | undefined;
};

/** The figures of a command that Prometheus reads. */
export type Measures = {
  readonly counter: <L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
  ) => Counter<L>;
  readonly gauge: <L extends string>(name: string, help: string, labels: readonly L[]) => Gauge<L>;
  readonly histogram: <L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: number[],
  ) => Histogram<L>;
  /** A transport whose answers are counted. */
  readonly counting: (transport: Transport) => Transport;
  readonly expose: Exposed;
};

/** The text of `/metrics`. */
export type Exposed = () => Promise<{ readonly type: string; readonly text: string }>;

/** The same as data. Of a histogram the figures are its buckets, with the label `le`, its sum and its count. */
export type Collect = () => Promise<Collected>;
export type Collected = readonly {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly Figure[];
}[];
export type Figure = {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
};

/**
 * Measures of a command that tell nothing yet but of the process and its requests to the platform. They go to the
 * collector, too, where there is one.
 */
export function openMeasures({ version, telemetry }: MeasuredBy): Measures {
  const registry = new Registry();
  const registers = [registry];
  const named = (name: string) => `callsheet_${name}`;
  const counter: Measures['counter'] = (name, help, labelNames) =>
    new Counter({ name: named(name), help, labelNames, registers });
  const gauge: Measures['gauge'] = (name, help, labelNames) =>
    new Gauge({ name: named(name), help, labelNames, registers });
  const histogram: Measures['histogram'] = (name, help, labelNames, buckets) =>
    new Histogram({ name: named(name), help, labelNames, buckets, registers });
  const requests = counter(
    'api_requests_total',
    'Requests to the platform, by status; "none" where no answer came.',
    ['status'],
  );
  const limited = counter('api_rate_limited_total', 'Requests that the platform answered 429.', []);
  gauge('build_info', 'The version that runs.', ['version']).set({ version }, 1);
  describeProcess(registers);
  telemetry?.measure(async () => (await registry.getMetricsAsJSON()) as unknown as Collected);
  return {
    counter,
    gauge,
    histogram,
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

/** Adds the usual process metrics under the names that common dashboards expect. */
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
