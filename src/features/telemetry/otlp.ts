import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers';
import { gzipSync } from 'node:zlib';
import {
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  trace,
  ValueType,
} from '@opentelemetry/api';
import {
  ExportResultCode,
  millisToHrTime,
  parseKeyPairsIntoRecord,
  parseTraceParent,
  TraceState,
} from '@opentelemetry/core';
import {
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TelemetryDeps } from '../../console/context.ts';
import type { Collect, Collected, Figure } from '../../console/monitor/metrics.ts';
import { CallsheetError } from '../../core/errors.ts';
import { readHttpAddress } from '../../core/origin.ts';
import { deliver } from '../../platform/notify.ts';
import { operations } from '../../platform/operations.generated.ts';
import { realPause } from '../../platform/rate.ts';
import {
  createTransport,
  type Transport,
  type WireAnswer,
  type WireRequest,
} from '../../platform/transport.ts';
import type { Attributes } from '../../run/context.ts';

/** The official SDK, with Callsheet's own way out: its proxy, its authorities, and no redirects. */
export type Otlp = {
  readonly start: (
    name: string,
    how: {
      readonly parent: Span | undefined;
      readonly startTime?: number;
      readonly attributes?: Attributes;
    },
  ) => Span;
  readonly startRequest: (request: WireRequest, parent: Span | undefined) => Span;
  readonly answered: (span: Span, answer: WireAnswer) => void;
  readonly measure: (collect: Collect) => void;
  readonly close: () => Promise<void>;
};

/** How long a command that is done waits for its collector. */
const FLUSH_MS = 3_000;
/** Timeout of one batch, unless `OTEL_EXPORTER_OTLP_TIMEOUT` says otherwise. */
const TIMEOUT_MS = 10_000;
const METRICS_EVERY_MS = 60_000;
/** Traces go in batches one after the other, and figures beside them. */
const CONNECTIONS = 2;

const SCOPE = 'callsheet';

/** Opens the SDK as the variables `OTEL_*` say. Never throws: a bad value is a warning, and nothing is sent then. */
export function openOtlp({ env, version, tell }: TelemetryDeps): Otlp {
  let isWarned = false;
  const warn = (text: string) => {
    if (!isWarned) tell(text);
    isWarned = true;
  };
  const outbox = openOutbox(warn);
  const resource = resourceFromAttributes({
    'service.name': 'callsheet',
    'service.version': version,
    // Without it the figures of two workers would be one series.
    'service.instance.id': randomUUID(),
    ...parseKeyPairsIntoRecord(env.OTEL_RESOURCE_ATTRIBUTES),
    ...(env.OTEL_SERVICE_NAME ? { 'service.name': env.OTEL_SERVICE_NAME } : {}),
  });

  const toTraces = destinationFor('TRACES', env, warn);
  const provider = new TracerProvider({
    resource,
    sampler: samplerFrom(env),
    spanProcessors: toTraces === undefined ? [] : [batchesTo(toTraces)],
  });
  const tracer = provider.getTracer(SCOPE, version);
  const outside = parentFrom(env);

  function batchesTo(destination: Destination): BatchSpanProcessor {
    const serializer = destination.isJson ? JsonTraceSerializer : ProtobufTraceSerializer;
    const { OTEL_BSP_SCHEDULE_DELAY: delay, OTEL_BSP_MAX_QUEUE_SIZE: queue } = env;
    return new BatchSpanProcessor({
      scheduledDelayMillis: positive(delay, 5_000),
      maxQueueSize: positive(queue, 2_048),
      maxExportBatchSize: positive(env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, 512),
      exporter: {
        async export(spans: ReadableSpan[], ended) {
          const isDone = await outbox.send(destination, () => serializer.serializeRequest(spans));
          ended({ code: isDone ? ExportResultCode.SUCCESS : ExportResultCode.FAILED });
        },
        shutdown: async () => undefined,
      },
    });
  }

  const within = (parent: Span | undefined) =>
    parent === undefined ? outside : trace.setSpan(ROOT_CONTEXT, parent);

  const toMetrics = destinationFor('METRICS', env, warn);
  let sendFigures = async (): Promise<unknown> => undefined;
  let timer: NodeJS.Timeout | undefined;

  return {
    start: (name, { parent, ...options }) => tracer.startSpan(name, options, within(parent)),

    startRequest({ method, url, about, attempt }, parent) {
      const { hostname, port, protocol } = new URL(url);
      const path =
        about === undefined
          ? undefined
          : operations[about.operation as keyof typeof operations]?.path;
      // An address that is no operation's may be a secret itself: presigned, or a webhook's.
      const attributes =
        about === undefined || path === undefined
          ? {}
          : {
              'callsheet.operation': about.operation,
              'url.template': path,
              'server.address': hostname,
              'server.port': Number(port) || (protocol === 'http:' ? 80 : 443),
            };
      const resent = attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {};
      return tracer.startSpan(
        path === undefined ? method : `${method} ${path}`,
        {
          kind: SpanKind.CLIENT,
          attributes: { 'http.request.method': method, ...attributes, ...resent },
        },
        within(parent),
      );
    },

    answered(span, { status }) {
      span.setAttribute('http.response.status_code', status);
      if (status < 400) return;
      span.setAttribute('error.type', String(status));
      span.setStatus({ code: 2 });
    },

    measure(collect) {
      if (toMetrics === undefined) return;
      const serializer = toMetrics.isJson ? JsonMetricsSerializer : ProtobufMetricsSerializer;
      const startTime = Date.now();
      sendFigures = () =>
        outbox.send(toMetrics, async () => {
          const metrics = otlpMetrics(await collect(), { from: startTime, to: Date.now() });
          const scopeMetrics = [{ scope: { name: SCOPE, version }, metrics }];
          return serializer.serializeRequest({ resource, scopeMetrics });
        });
      const every = positive(env.OTEL_METRIC_EXPORT_INTERVAL, METRICS_EVERY_MS);
      timer = setInterval(() => void sendFigures(), every).unref();
    },

    close() {
      clearInterval(timer);
      return outbox.close(Promise.allSettled([provider.forceFlush(), sendFigures()]));
    },
  };
}

/** Sends batches, and knows which are under way. */
function openOutbox(warn: (text: string) => void) {
  const underWay = new Set<Promise<boolean>>();
  const [closing, stop] = [new AbortController(), new AbortController()];
  let transport: Transport | undefined;

  const pause = {
    ...realPause,
    // Once the command is done, another try is made at once.
    sleep: (milliseconds: number, signal: AbortSignal) =>
      realPause.sleep(milliseconds, AbortSignal.any([signal, closing.signal])),
  };

  async function post(destination: Destination, make: Make): Promise<boolean> {
    const { url, timeout, what } = destination;
    const lost = (why: string) =>
      warn(
        `Warning: the ${what} could not be delivered to ${new URL(url).host}: ${why}. The command continues without them.`,
      );
    try {
      const bytes = await make();
      if (bytes === undefined) return true;
      const timeouts = { connect: timeout, headers: timeout, body: timeout, answer: timeout };
      transport ??= createTransport({ connections: CONNECTIONS, timeouts });
      const failed = await deliver(transport, asPosted(destination, bytes), {
        pause,
        stop: AbortSignal.any([stop.signal, AbortSignal.timeout(timeout)]),
        now: () => new Date(),
        timeouts,
      });
      if (failed === undefined) return true;
      lost(failed.why);
    } catch (error) {
      // The proxy or the authorities that the environment names are unfit; requests to the platform say so, too.
      lost(error instanceof CallsheetError ? error.message : 'of a mistake in Callsheet');
    }
    return false;
  }

  return {
    /** Returns true if the collector took the batch; otherwise warns with the reason. Never throws. */
    async send(destination: Destination, make: Make): Promise<boolean> {
      const posting = post(destination, make);
      underWay.add(posting);
      const isTaken = await posting;
      underWay.delete(posting);
      return isTaken;
    },
    /** Waits for what is under way and for `last`, but not for long. */
    async close(last: Promise<unknown>): Promise<void> {
      closing.abort();
      const done = new AbortController();
      const late = realPause.sleep(FLUSH_MS, done.signal);
      await Promise.race([last.then(() => Promise.all(underWay)), late]);
      done.abort();
      stop.abort();
      await Promise.all(underWay);
      await transport?.close();
    },
  };
}

/** A batch in bytes; undefined where there is nothing to send. */
type Make = () => Promise<Uint8Array | undefined> | Uint8Array | undefined;

function asPosted({ url, headers, isJson, isPacked }: Destination, bytes: Uint8Array) {
  const sent = isPacked ? gzipSync(bytes) : bytes;
  return {
    url,
    headers: {
      ...headers,
      'content-type': isJson ? 'application/json' : 'application/x-protobuf',
      'content-length': String(sent.length),
      ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
    },
    body: async function* () {
      yield sent;
    },
  };
}

/** The endpoint for one kind of telemetry. */
type Destination = {
  readonly what: string;
  readonly url: string;
  /** They may hold a key, and stand in no message. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isJson: boolean;
  readonly isPacked: boolean;
  /** Milliseconds. */
  readonly timeout: number;
};

type Env = TelemetryDeps['env'];

/** As the variables of the standard say, those of the signal before those of all. Undefined: nothing is sent. */
function destinationFor(
  signal: 'TRACES' | 'METRICS',
  env: Env,
  warn: (text: string) => void,
): Destination | undefined {
  const what = signal.toLowerCase();
  const refuse = (why: string) => {
    warn(`Warning: no ${what} are sent: ${why}.`);
    return undefined;
  };
  const find = (name: string) =>
    [`OTEL_EXPORTER_OTLP_${signal}_${name}`, `OTEL_EXPORTER_OTLP_${name}`].find((one) => env[one]);
  const read = (name: string) => env[find(name) ?? '']?.trim();

  const exporters = (env[`OTEL_${signal}_EXPORTER`] || 'otlp').split(',').map((one) => one.trim());
  if (!exporters.includes('otlp')) {
    // `/metrics` is there for Prometheus already.
    const isMeant = exporters.every((one) => one === 'none' || one === 'prometheus');
    return isMeant ? undefined : refuse(`OTEL_${signal}_EXPORTER may be otlp or none`);
  }
  const named = find('ENDPOINT');
  // The other signal alone has an address.
  if (named === undefined) return undefined;
  const url = readHttpAddress(read('ENDPOINT') ?? '');
  if (url === undefined)
    return refuse(`${named} is not an http(s) address. Use the form http://localhost:4318`);
  if (url.username !== '' || url.password !== '')
    return refuse(`${named} holds a password. Set OTEL_EXPORTER_OTLP_HEADERS instead`);
  const isOfAll = named === 'OTEL_EXPORTER_OTLP_ENDPOINT';
  if (isOfAll) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/${what}`;
  const protocol = read('PROTOCOL') ?? 'http/protobuf';
  if (protocol !== 'http/protobuf' && protocol !== 'http/json')
    return refuse(
      `${find('PROTOCOL')} is neither http/protobuf nor http/json. Collectors accept both at port 4318`,
    );
  return {
    what,
    url: url.href,
    headers: {
      ...parseKeyPairsIntoRecord(env.OTEL_EXPORTER_OTLP_HEADERS),
      ...parseKeyPairsIntoRecord(env[`OTEL_EXPORTER_OTLP_${signal}_HEADERS`]),
    },
    isJson: protocol === 'http/json',
    isPacked: read('COMPRESSION') === 'gzip',
    timeout: positive(read('TIMEOUT'), TIMEOUT_MS),
  };
}

function positive(text: string | undefined, otherwise: number): number {
  const number = Number(text);
  return Number.isFinite(number) && number > 0 ? number : otherwise;
}

/** The span of the pipeline that runs the command. */
function parentFrom({ TRACEPARENT: text, TRACESTATE: state }: Env): Context {
  const parent = text === undefined ? null : parseTraceParent(text);
  if (parent === null) return ROOT_CONTEXT;
  const traceState = state === undefined ? {} : { traceState: new TraceState(state) };
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, ...traceState, isRemote: true });
}

function samplerFrom({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg }: Env): Sampler {
  const ratio = arg === undefined || Number.isNaN(Number(arg)) ? 1 : Number(arg);
  const own: { readonly [name: string]: () => Sampler } = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const plain = name === undefined ? undefined : own[name];
  if (plain !== undefined) return plain();
  const root = own[name?.replace('parentbased_', '') ?? ''] ?? (() => new AlwaysOnSampler());
  return new ParentBasedSampler({ root: root() });
}

type Period = { readonly startTime: HrTime; readonly endTime: HrTime };

/**
 * Converts the figures of `/metrics` to OTLP: the same names and labels, counted from the start of the process on.
 * So a dashboard or an alert finds them whichever way they came.
 */
function otlpMetrics(
  collected: Collected,
  { from, to }: { readonly from: number; readonly to: number },
): MetricData[] {
  const span = { startTime: millisToHrTime(from), endTime: millisToHrTime(to) };
  return collected.map(({ name, help, type, values }) => {
    const descriptor = { name, description: help, unit: '', valueType: ValueType.DOUBLE };
    const aggregationTemporality = AggregationTemporality.CUMULATIVE;
    const common = { descriptor, aggregationTemporality };
    const point = ({ labels: attributes, value }: Figure) => ({ ...span, attributes, value });
    switch (type) {
      case 'histogram':
        return {
          ...common,
          dataPointType: DataPointType.HISTOGRAM,
          dataPoints: histograms(values, span),
        };
      case 'counter':
        return {
          ...common,
          dataPointType: DataPointType.SUM,
          isMonotonic: true,
          dataPoints: values.map(point),
        };
      default:
        return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: values.map(point) };
    }
  });
}

/** Prometheus counts what is at most a bound; OTLP what lies between two. */
function histograms(values: readonly Figure[], span: Period) {
  const series = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return [...series.values()].map((figures) => {
    const { le: _, ...attributes } = figures[0]?.labels ?? {};
    const named = (end: string) =>
      figures.find(({ metricName }) => metricName?.endsWith(end) === true)?.value ?? 0;
    const bounded = figures.filter(({ labels }) => labels.le !== undefined);
    const boundaries = bounded.map(({ labels }) => Number(labels.le)).filter(Number.isFinite);
    const counts = bounded.map(({ value }, index) => value - (bounded[index - 1]?.value ?? 0));
    const value = { buckets: { boundaries, counts }, sum: named('_sum'), count: named('_count') };
    return { ...span, attributes, value };
  });
}
