import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import multipart from '@fastify/multipart';
import type { ConnectionError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify from 'fastify';
import { errorMessage } from '../core/errors.ts';
import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import { type OperationId, operations } from '../platform/operations.generated.ts';
import { type Answer, coded, flat } from './answer.ts';
import { checkPresigned } from './auth.ts';
import { RECORDING, RECORDING_PATH } from './calls/reports.ts';
import { type Dialect, drawInventions } from './dialect.ts';
import type { Fault } from './faults.ts';
import { receiveUpload, UPLOAD_PATH } from './knowledge.ts';
import {
  answerOrRefuse,
  nothingHere,
  notServed,
  type Performed,
  perform,
  record,
  unreadable,
} from './perform.ts';
import type { LoggedRequest, Platform } from './platform.ts';
import { CLIP_LIMIT } from './voices.ts';

/** Bytes that any body may have: more than the largest document (Limits). */
const BODY_LIMIT = 64 * 1024 * 1024;

/** The platform over HTTP: every operation of the table, the upload addresses, faults and the log. */
export function createServer(
  platform: Platform,
  log: (request: LoggedRequest) => void,
): FastifyInstance {
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 500 },
    // An address that cannot be decoded is none.
    frameworkErrors: (_error, request, reply) => {
      stampDate(platform, reply);
      void deliver(platform, request, reply, nothingHere());
    },
    clientErrorHandler: answerUnparsed,
  });
  server.addHook('onSend', async (_request, reply) => stampDate(platform, reply));
  // The body of a request to an unknown path is not read; Fastify would refuse a QUERY without a type itself.
  server.addHook('onRequest', async ({ is404, headers }) => {
    if (is404) headers['content-type'] = 'application/json';
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  server.register(multipart, { limits: { fileSize: CLIP_LIMIT + 1 }, throwFileSizeLimit: false });

  const serve =
    (operation: string, work: (request: FastifyRequest) => Promise<Performed>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { method, url: path } = request;
      const result = await exchange(platform, { operation, method, path }, () => work(request));
      const { answer, body, ending, hangMs } = result;
      log({
        method,
        path,
        operation,
        authorized: request.headers.authorization !== undefined,
        status: ending === 'none' || ending === 'never' ? 0 : answer.status,
        ...(body === undefined ? {} : { body }),
        at: platform.now().toISOString(),
      });
      return deliver(platform, request, reply, answer, ending, hangMs);
    };

  for (const [id, { method, path }] of listEntries(operations))
    server.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { operation: id },
      onRequest: readAnyType,
      handler: serve(id, (request) => perform(platform, id, request)),
    });
  server.put(
    `${UPLOAD_PATH}*`,
    serve('upload', async (request) => ({ answer: await upload(platform, request) })),
  );
  server.get(
    `${RECORDING_PATH}*`,
    serve('recording', async (request) => ({ answer: await recording(platform, request) })),
  );
  server.setNotFoundHandler(
    serve('unknown', async ({ method, url }) => ({ answer: notServed(method, url) })),
  );
  server.setErrorHandler((error, request, reply) => {
    const reason = errorMessage(error);
    const answer = isCallersFault(error)
      ? unreadable(request.routeOptions.config.operation, reason)
      : coded(500, 'internal_error', `The simulator failed: ${reason}`).answer;
    return deliver(platform, request, reply, answer);
  });
  return server;
}

/** Answers what Node cannot read as HTTP. Only an unknown method gets an answer of its own. */
function answerUnparsed(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [, method = '', url = ''] = /^(\S+) (\S+) /.exec(String(error.rawPacket)) ?? [];
  const isMethod = String(error.code) === 'HPE_INVALID_METHOD' && url !== '';
  const { status, body, headers } = isMethod
    ? notServed(method, url)
    : coded(400, 'invalid_request', 'The request is not HTTP').answer;
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  if (socket.writable) socket.write(`${lines.join('\r\n')}\r\n\r\n${text}`);
  socket.destroySoon();
}

/** Gives an answer the time of the platform, which may be another than the machine's. */
function stampDate({ dialect, now }: Platform, { raw }: FastifyReply): void {
  raw.sendDate = false;
  if (dialect.dates) raw.setHeader('date', now().toUTCString());
}

function upload(platform: Platform, request: FastifyRequest) {
  return answerOrRefuse(() =>
    receiveUpload(platform, {
      fileKey: record(request.params)['*'] ?? '',
      query: record(request.query),
      authorization: request.headers.authorization,
      contentType: request.headers['content-type'],
      bytes: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    }),
  );
}

function recording(platform: Platform, { url, query, headers }: FastifyRequest) {
  return answerOrRefuse(() => {
    const [path = ''] = url.split('?');
    checkPresigned(platform, path, record(query), { authorization: headers.authorization });
    return { status: 200, text: RECORDING, type: 'audio/wav' };
  });
}

/** Lets a body be read whatever its content type says; only forms are recognised by theirs. */
async function readAnyType({ headers }: FastifyRequest): Promise<void> {
  const type = headers['content-type'];
  if (type !== undefined && !/^multipart\/form-data\b/i.test(type))
    headers['content-type'] = 'application/json';
}

/** Fastify gives errors of the caller a status; anything else is a bug. */
function isCallersFault(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500;
}

function listEntries(
  table: typeof operations,
): readonly (readonly [OperationId, (typeof operations)[OperationId]])[] {
  // The keys of a constant table are exactly its ids.
  return Object.entries(table) as [OperationId, (typeof operations)[OperationId]][];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which operation lies at a route; the upload addresses have none. */
    readonly operation?: OperationId;
  }
}

/**
 * How an answer goes out: whole, not at all, its head alone, half of its body, or never, which the caller
 * has to notice.
 */
type Ending = 'whole' | 'none' | 'head' | 'half' | 'never';

/** Sends an answer as far as it is to come. Silence ends after `hangMs`. */
async function deliver(
  platform: Platform,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  ending: Ending = 'whole',
  hangMs = 0,
): Promise<FastifyReply> {
  const { status, headers = {}, type = JSON_TYPE } = answer;
  const text =
    answer.text ??
    (answer.body === undefined ? undefined : wireText(platform.dialect, answer.body));
  switch (ending) {
    case 'whole':
      reply.code(status).headers(headers);
      return text === undefined ? reply.send() : reply.header('content-type', type).send(text);
    case 'never':
      reply.hijack();
      await silence(request, hangMs);
      request.raw.socket.destroy();
      return reply;
    case 'none':
      reply.hijack();
      request.raw.socket.destroy();
      return reply;
    case 'head':
    case 'half': {
      const bytes = Buffer.from(text ?? '');
      reply.hijack();
      stampDate(platform, reply);
      reply.raw.writeHead(status, {
        ...headers,
        'content-type': type,
        'content-length': bytes.length,
      });
      if (ending === 'half') reply.raw.write(bytes.subarray(0, bytes.length / 2));
      else reply.raw.flushHeaders();
      // Bytes that were written still go out.
      request.raw.socket.destroySoon();
      return reply;
    }
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Until the caller gives up, or has waited for too long. */
async function silence({ raw: { socket } }: FastifyRequest, milliseconds: number): Promise<void> {
  if (socket.destroyed) return;
  const over = new AbortController();
  const { signal } = over;
  const ends = [once(socket, 'close', { signal }), wait(milliseconds, undefined, { signal })];
  await Promise.race(ends.map((end) => end.catch(() => undefined)));
  over.abort();
}

/** An answer after the faults and the rate limit. */
type Exchange = Performed & {
  readonly ending: Ending;
  /** How long silence lasts, where nothing else ends it. */
  readonly hangMs: number;
};

/** Operations at presigned addresses. */
const PRESIGNED = ['upload', 'recording'];

/** Milliseconds that a request hangs unless the caller gives up. */
const HANG_MS = 60_000;

/** Does the work of a request, unless the rate limit or a fault keeps it from being done. */
async function exchange(
  platform: Platform,
  target: Request,
  work: () => Promise<Performed>,
): Promise<Exchange> {
  const { operation } = target;
  // Presigned addresses belong to an object store, which has limits of its own.
  if (PRESIGNED.includes(operation)) return undergo(platform, target, work);
  const entry = platform.limiter.enter();
  if (entry.refused === undefined) return undergo(platform, target, work).finally(entry.leave);
  if (platform.latencyMs > 0) await wait(platform.latencyMs);
  const answer = { ...failure(platform.dialect, operation, 429), headers: entry.refused };
  return { answer, ending: 'whole', hangMs: HANG_MS };
}

type Request = { readonly operation: string; readonly method: string; readonly path: string };

/** Does the work of a request that was let in, unless a fault strikes it. */
async function undergo(
  platform: Platform,
  target: Request,
  work: () => Promise<Performed>,
): Promise<Exchange> {
  const fault = platform.faults.strike(target);
  const delay = platform.latencyMs + (fault?.delayMs ?? 0);
  if (delay > 0) await wait(delay);
  if (fault === undefined) return { ...(await work()), ending: 'whole', hangMs: HANG_MS };
  if (fault.kill === 'before') platform.kill();
  const instead = substitute(platform, target.operation, fault);
  const performed = isDone(fault, instead) ? await work() : { answer: NOTHING };
  if (fault.kill === 'after') platform.kill();
  return {
    ...performed,
    answer: instead ?? performed.answer,
    ending: getEnding(fault),
    hangMs: fault.hangMs ?? HANG_MS,
  };
}

/** Stands for the answer of an operation that was not done. */
const NOTHING: Answer = { status: 0 };

function isDone(fault: Fault, instead: Answer | undefined): boolean {
  if ([fault.reset, fault.hang, fault.kill].includes('before')) return false;
  return instead === undefined || fault.done === true;
}

function substitute(
  { dialect }: Platform,
  operation: string,
  { status, body, text, headers = {} }: Fault,
): Answer | undefined {
  const type = headers['content-type'] ?? 'text/html';
  if (text !== undefined) return { status: status ?? 200, text, type, headers };
  if (body !== undefined) return { status: status ?? 200, body, headers };
  return status === undefined ? undefined : { ...failure(dialect, operation, status), headers };
}

function getEnding({ reset, hang, truncate, kill }: Fault): Ending {
  if (hang !== undefined) return 'never';
  if (reset === 'head') return 'head';
  if (reset !== undefined || kill !== undefined) return 'none';
  return truncate === true ? 'half' : 'whole';
}

/**
 * The answer where the platform fails through no fault of the caller: 429, 500, 502 and 503 (Errors).
 * Other statuses come without a body.
 */
function failure(dialect: Dialect, operation: string, status: number): Answer {
  switch (status) {
    case 429:
      return tooMany(dialect);
    case 500:
      return coded(500, 'internal_error', 'Something failed inside the platform').answer;
    case 502:
      return PAYMENTS.some((id) => id === operation)
        ? flat(502, 'Failed to load payment status').answer
        : coded(502, 'upstream_error', 'A service behind the platform failed').answer;
    case 503:
      return coded(
        503,
        operation === 'listFeatures' ? 'service_unavailable' : 'temporarily_unavailable',
        'Nothing was done; try again',
      ).answer;
    default:
      return { status };
  }
}

const PAYMENTS: readonly OperationId[] = ['getPaymentReadiness', 'setPaymentTool'];

/** The body of a 429 is not specified (Errors). */
function tooMany({ limitBody }: Dialect): Answer {
  switch (limitBody) {
    case 'coded':
      return coded(429, 'rate_limited', 'Too many requests; wait before the next one').answer;
    case 'text':
      return { status: 429, text: 'Too Many Requests', type: 'text/plain; charset=utf-8' };
    case 'empty':
      return { status: 429 };
  }
}

/** Requests that are remembered at most; the oldest half goes when there are more. */
const LOG_LIMIT = 200_000;

export type RequestLog = {
  readonly all: readonly LoggedRequest[];
  readonly add: (request: LoggedRequest) => void;
  readonly clear: () => void;
};

export function createRequestLog(): RequestLog {
  const all: LoggedRequest[] = [];
  return {
    all,
    add: (request) => {
      if (all.push(request) > LOG_LIMIT) all.splice(0, LOG_LIMIT / 2);
    },
    clear: () => {
      all.length = 0;
    },
  };
}

/** The text of an answer's body, in the notation that the dialect has. */
function wireText(dialect: Dialect, body: Json): string {
  const { timestamps, unknownFields, keyOrder, numbers } = dialect;
  const dialectBody =
    timestamps === 'milliseconds' && !unknownFields ? body : recast(dialect, body);
  return keyOrder === 'stable' && numbers === 'plain'
    ? JSON.stringify(dialectBody)
    : write(dialect, dialectBody);
}

/**
 * A body with its instants and unknown members as the dialect has them. Only the body's own members and
 * those of its records are the platform's to change; what lies deeper may be a customer's own data.
 */
function recast(dialect: Dialect, body: Json): Json {
  if (!isObject(body)) return body;
  const { data } = body;
  return {
    ...recastRecord(dialect, body),
    ...(isList(data)
      ? { data: data.map((one) => (isObject(one) ? recastRecord(dialect, one) : one)) }
      : {}),
    ...(isObject(data) ? { data: recastRecord(dialect, data) } : {}),
  };
}

function recastRecord(
  { timestamps, unknownFields, inventions }: Dialect,
  record: JsonObject,
): JsonObject {
  const entries = Object.entries(record).map(([name, value]) => [
    name,
    name.endsWith('_at') && typeof value === 'string' ? recastInstant(timestamps, value) : value,
  ]);
  return {
    ...Object.fromEntries(entries),
    ...(unknownFields ? drawInventions(inventions).unknown : {}),
  };
}

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{3})Z$/;

function recastInstant(timestamps: Dialect['timestamps'], text: string): string {
  switch (timestamps) {
    case 'milliseconds':
      return text;
    case 'microseconds':
      return text.replace(INSTANT, '$1$2000Z');
    case 'seconds':
      return text.replace(INSTANT, '$1Z');
    case 'offset':
      return text.replace(INSTANT, '$1$2+00:00');
  }
}

function write(dialect: Dialect, value: Json): string {
  if (isList(value)) return `[${value.map((member) => write(dialect, member)).join()}]`;
  if (isObject(value)) {
    const names = Object.keys(value);
    const ordered = dialect.keyOrder === 'stable' ? names : shuffled(names);
    return `{${ordered.map((name) => `${JSON.stringify(name)}:${write(dialect, value[name] ?? null)}`).join()}}`;
  }
  return dialect.numbers === 'decimal' && Number.isSafeInteger(value)
    ? `${String(value)}.0`
    : JSON.stringify(value);
}

/** In an order that looks like none and is the same for the same names. */
function shuffled(names: readonly string[]): readonly string[] {
  const mark = (name: string) => createHash('sha1').update(`${names.length}:${name}`).digest('hex');
  return names
    .map((name) => [mark(name), name] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, name]) => name);
}
