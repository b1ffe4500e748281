import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import multipart from '@fastify/multipart';
import fastify, {
  type ConnectionError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { type OperationId, operations } from '../api/operations.generated.ts';
import { coded } from './answer.ts';
import { RECORDING_PATH, readRecording } from './calls/recordings.ts';
import { deliver } from './delivery.ts';
import { exchange } from './exchange.ts';
import {
  answerOf,
  nothingHere,
  notServed,
  type Performed,
  perform,
  record,
  unreadable,
} from './perform.ts';
import type { Platform } from './platform.ts';
import type { LoggedRequest } from './request-log.ts';
import { CLIP_LIMIT } from './routes/voices.ts';
import { receiveUpload, UPLOAD_PATH } from './uploads.ts';

/** Bytes that any body may have: more than the largest document (Limits). */
const BODY_LIMIT = 64 * 1024 * 1024;

/** The platform over HTTP: every operation of the table, the upload addresses, faults and the log. */
export function createServer(
  platform: Platform,
  log: (request: LoggedRequest) => void,
): FastifyInstance {
  const { dialect } = platform;
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 500 },
    // An address that cannot be decoded is none.
    frameworkErrors: (_error, request, reply) => {
      void deliver(request, reply, nothingHere(), dialect);
    },
    clientErrorHandler: answerUnparsed,
  });
  // The time of the platform, which may be another than the machine's.
  server.addHook('onSend', async (_request, reply) => {
    if (dialect.dates) reply.header('date', platform.now().toUTCString());
    else reply.raw.sendDate = false;
  });
  // Nobody reads what comes to an address that is none; Fastify would refuse a QUERY without a type itself.
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
      return deliver(request, reply, answer, dialect, ending, hangMs);
    };

  for (const [id, { method, path }] of entriesOf(operations))
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
    const reason = error instanceof Error ? error.message : String(error);
    const answer = isCallersFault(error)
      ? unreadable(request.routeOptions.config.operation, reason)
      : coded(500, 'internal_error', `The simulator failed: ${reason}`).answer;
    return deliver(request, reply, answer, dialect);
  });
  return server;
}

/** Answers what Node cannot read as HTTP; a method that nobody knows is the one thing it can be told about. */
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

function upload(platform: Platform, request: FastifyRequest) {
  return answerOf(() =>
    receiveUpload(platform, {
      fileKey: record(request.params)['*'] ?? '',
      query: record(request.query),
      authorization: request.headers.authorization,
      contentType: request.headers['content-type'],
      bytes: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    }),
  );
}

function recording(platform: Platform, { params, query, headers }: FastifyRequest) {
  return answerOf(() => {
    const id = record(params)['*'] ?? '';
    const { authorization } = headers;
    const sound = readRecording(platform, { id, query: record(query), authorization });
    return { status: 200, text: sound, type: 'audio/wav' };
  });
}

/** Lets a body be read whatever its content type says; forms alone are told by theirs. */
async function readAnyType({ headers }: FastifyRequest): Promise<void> {
  const type = headers['content-type'];
  if (type !== undefined && !/^multipart\/form-data\b/i.test(type))
    headers['content-type'] = 'application/json';
}

/** Fastify gives errors of the caller a status; anything else is a bug. */
function isCallersFault(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500;
}

function entriesOf(
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
