import { setTimeout as wait } from 'node:timers/promises';
import multipart from '@fastify/multipart';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type OperationId, operations } from '../api/operations.generated.ts';
import type { Json } from '../core/value.ts';
import { type Answer, coded, Refusal } from './answer.ts';
import { authenticate } from './auth.ts';
import { rulesOf } from './contract.ts';
import type { Faults } from './faults.ts';
import { readForm } from './form.ts';
import type { Input, Platform } from './platform.ts';
import type { LoggedRequest } from './request-log.ts';
import { routes } from './routes/index.ts';
import { CLIP_LIMIT } from './routes/voices.ts';
import { receiveUpload, UPLOAD_PATH } from './uploads.ts';
import { bodyViolations, readParameters } from './validation.ts';
import { invalid } from './violations.ts';

/** Bytes that any body may have: more than the largest document (Limits). */
const BODY_LIMIT = 64 * 1024 * 1024;

/** The platform over HTTP: every operation of the table, the upload addresses, faults and the log. */
export function createServer(
  platform: Platform,
  faults: Faults,
  log: (request: LoggedRequest) => void,
): FastifyInstance {
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 500 },
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  server.register(multipart, { limits: { fileSize: CLIP_LIMIT + 1 }, throwFileSizeLimit: false });

  const serve =
    (operation: string, work: (request: FastifyRequest) => Promise<Performed>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const fault = faults.strike(operation, request.url);
      if (fault?.delayMs !== undefined) await wait(fault.delayMs);
      const performed: Performed =
        fault?.reset === 'before'
          ? { answer: BROKEN }
          : fault?.status === undefined
            ? await work(request)
            : { answer: { status: fault.status, ...pick(fault.body, fault.headers) } };
      const answer = fault?.reset === undefined ? performed.answer : BROKEN;
      log({
        method: request.method,
        path: request.url,
        operation,
        authorized: request.headers.authorization !== undefined,
        status: answer.status,
        ...(performed.body === undefined ? {} : { body: performed.body }),
        at: platform.now().toISOString(),
      });
      return answer === BROKEN ? breakOff(request, reply) : send(reply, answer);
    };

  for (const [id, { method, path }] of entriesOf(operations))
    server.route({
      method,
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      handler: serve(id, (request) => perform(platform, id, request)),
    });
  server.put(
    `${UPLOAD_PATH}*`,
    serve('upload', (request) => deliver(platform, request)),
  );
  server.setNotFoundHandler(
    serve('unknown', async () => ({
      answer: coded(404, 'not_found', 'There is nothing at this address').answer,
    })),
  );
  server.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error);
    const [code, text] =
      status < 500
        ? ['invalid_request', 'The request cannot be read']
        : ['internal_error', 'The simulator failed'];
    const reason = error instanceof Error ? `: ${error.message}` : '';
    return send(reply, coded(status, code, `${text}${reason}`).answer);
  });
  return server;
}

/** What a request came to, and its body for the log. */
type Performed = { readonly answer: Answer; readonly body?: Json };

/** Stands for an answer that is never given. */
const BROKEN: Answer = { status: 0 };

async function perform(
  platform: Platform,
  id: OperationId,
  request: FastifyRequest,
): Promise<Performed> {
  let body: Json | undefined;
  try {
    if (platform.dialect.absent.includes(id))
      throw coded(404, 'not_found', 'There is nothing at this address');
    const form = request.isMultipart() ? await readForm(request) : undefined;
    const key = authenticate(platform, id, request.headers.authorization);
    body = form?.fields ?? readJson(request.body);
    const parameters = readParameters(id, record(request.params), record(request.query));
    const { media } = rulesOf(id).body ?? {};
    // Forms are checked by their operation: its rules are about files.
    const violations = media === 'application/json' ? bodyViolations(id, body ?? null) : [];
    if (violations.length > 0) throw invalid(rulesOf(id).invalid, violations);
    const input: Input = {
      key,
      ...parameters,
      body: isFields(body) ? body : {},
      files: form?.files ?? {},
    };
    const answer = await routes[id](input, platform);
    return body === undefined ? { answer } : { answer, body };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return body === undefined ? { answer: error.answer } : { answer: error.answer, body };
  }
}

async function deliver(platform: Platform, request: FastifyRequest): Promise<Performed> {
  try {
    return {
      answer: receiveUpload(platform, {
        fileKey: record(request.params)['*'] ?? '',
        query: record(request.query),
        authorization: request.headers.authorization,
        contentType: request.headers['content-type'],
        bytes: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
      }),
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { answer: error.answer };
  }
}

/** The status that Fastify gives its own errors; anything else is a bug. */
function statusOf(error: unknown): number {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : 500;
}

function readJson(body: unknown): Json | undefined {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8')) as Json;
  } catch {
    throw coded(400, 'invalid_request', 'The body is not JSON');
  }
}

function send(reply: FastifyReply, { status, body, headers = {} }: Answer): FastifyReply {
  reply.code(status).headers(headers);
  return body === undefined
    ? reply.send()
    : reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}

/** Breaks the connection: the caller cannot tell whether anything was done. */
function breakOff(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack();
  request.raw.socket.destroy();
  return reply;
}

function pick(body: Json | undefined, headers: Answer['headers']): Omit<Answer, 'status'> {
  return { ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) };
}

/** Parameters as Fastify parsed them; of a repeated one the last counts. */
function record(
  value: unknown,
): { readonly [name: string]: string | undefined } & { readonly [name: string]: string } {
  const entries = Object.entries(typeof value === 'object' && value !== null ? value : {});
  return Object.fromEntries(
    entries.map(([name, one]) => [name, String(Array.isArray(one) ? one.at(-1) : one)]),
  );
}

function isFields(body: Json | undefined): body is { readonly [name: string]: Json } {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

function entriesOf(
  table: typeof operations,
): readonly (readonly [OperationId, (typeof operations)[OperationId]])[] {
  // The keys of a constant table are exactly its ids.
  return Object.entries(table) as [OperationId, (typeof operations)[OperationId]][];
}
