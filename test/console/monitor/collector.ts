import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import root from 'otlp-definitions/build/src/generated/root.js';

/** A request as it came. */
export type Arrived = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
};

type Values = Readonly<Record<string, string | number>>;

/** A span, as OpenTelemetry's own definitions read it. */
export type SpanSeen = {
  readonly name: string;
  readonly id: string;
  readonly parent: string;
  readonly trace: string;
  readonly attributes: Values;
  readonly resource: Values;
  readonly isFailed: boolean;
  readonly message: string;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
};

/** A figure of a metric: of a histogram what lies between two bounds, in order. */
export type PointSeen = {
  readonly name: string;
  readonly type: 'sum' | 'gauge' | 'histogram';
  readonly attributes: Values;
  readonly value: number | { readonly count: number; readonly sum: number };
  readonly buckets: readonly number[];
  readonly bounds: readonly number[];
};

export type Collector = {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  readonly spans: () => readonly SpanSeen[];
  readonly points: () => readonly PointSeen[];
  readonly close: () => Promise<void>;
};

type Options = {
  /** What is answered; 200 unless given. `hang`: nothing ever. */
  readonly answer?: number | 'hang';
  readonly location?: string;
};

/** A receiver of OTLP over HTTP that reads what arrives by the protocol's own definitions. */
export async function openCollector({ answer = 200, location }: Options = {}): Promise<Collector> {
  const arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { headers, url: path = '' } = request;
    const sent = Buffer.concat(pieces);
    const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    arrived.push({ path, headers, bytes });
    if (answer === 'hang') return;
    response.writeHead(answer, {
      'content-type': headers['content-type'] ?? '',
      ...(location === undefined ? {} : { location }),
    });
    response.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    arrived,
    spans: () => arrived.filter(({ path }) => path.endsWith('/traces')).flatMap(spansIn),
    points: () => arrived.filter(({ path }) => path.endsWith('/metrics')).flatMap(pointsIn),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a message of any type, whose definitions are data.
type Message = any;

const definitions: Message = root;
const { trace, metrics } = definitions.opentelemetry.proto.collector;

function messageIn(type: Message, { headers, bytes }: Arrived): Message {
  if (headers['content-type'] === 'application/json') return JSON.parse(bytes.toString());
  return type.toObject(type.decode(bytes), { longs: String, arrays: true });
}

function spansIn(arrived: Arrived): readonly SpanSeen[] {
  const { resourceSpans } = messageIn(trace.v1.ExportTraceServiceRequest, arrived);
  return resourceSpans.flatMap(({ resource, scopeSpans }: Message) =>
    scopeSpans.flatMap(({ spans }: Message) =>
      spans.map((span: Message) => ({
        name: span.name,
        id: hexOf(span.spanId),
        parent: hexOf(span.parentSpanId),
        trace: hexOf(span.traceId),
        attributes: valuesIn(span.attributes),
        resource: valuesIn(resource.attributes),
        isFailed: span.status?.code === 2,
        message: span.status?.message ?? '',
        start: BigInt(span.startTimeUnixNano),
        end: BigInt(span.endTimeUnixNano),
      })),
    ),
  );
}

function pointsIn(arrived: Arrived): readonly PointSeen[] {
  const { resourceMetrics } = messageIn(metrics.v1.ExportMetricsServiceRequest, arrived);
  return resourceMetrics.flatMap(({ scopeMetrics }: Message) =>
    scopeMetrics.flatMap(({ metrics: all }: Message) =>
      all.flatMap((metric: Message) => {
        const type = (['sum', 'gauge', 'histogram'] as const).find((one) => metric[one]);
        return metric[type ?? ''].dataPoints.map((point: Message) => ({
          name: metric.name,
          type,
          attributes: valuesIn(point.attributes),
          value:
            type === 'histogram' ? { count: Number(point.count), sum: point.sum } : point.asDouble,
          buckets: (point.bucketCounts ?? []).map(Number),
          bounds: point.explicitBounds ?? [],
        }));
      }),
    ),
  );
}

function valuesIn(attributes: Message): Values {
  return Object.fromEntries(
    attributes.map(({ key, value }: Message) => [
      key,
      value.stringValue ?? value.doubleValue ?? Number(value.intValue),
    ]),
  );
}

function hexOf(id: Buffer | string | undefined): string {
  return typeof id === 'string' ? id : (id ?? Buffer.alloc(0)).toString('hex');
}

/** Spans as a tree, in the order in which they began: a line for each, with how a request was answered. */
export function outlineOf(spans: readonly SpanSeen[], parent = ''): readonly string[] {
  return spans
    .filter((span) => span.parent === parent)
    .sort((a, b) => Number(a.start - b.start))
    .flatMap((span) => {
      const { 'http.response.status_code': status = '' } = span.attributes;
      const inside = outlineOf(spans, span.id).map((line) => `  ${line}`);
      return [`${span.name} ${status}`.trim(), ...inside];
    });
}
