/**
 * `admin/` steers a running simulator from outside, for tests that are no Node programs and for people. It
 * is no part of the platform: it lies under a path of its own, takes a token of its own, answers to the
 * machine itself alone, and leaves no trace in the log of requests.
 */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Json } from '../../core/value.ts';
import { isRecord } from '../json.ts';
import { readJson } from '../json-body.ts';
import { ajv } from '../validation.ts';
import { violationsOf } from '../violations.ts';
import { COMMANDS, type Command, type Controls } from './commands.ts';

/** Under which all of it lies. */
export const ADMIN_PATH = '/__simulator';

/** The header that has the token. */
export const ADMIN_HEADER = 'x-simulator-token';

type Said = { readonly status: number; readonly body: Json };

/** Adds the admin endpoint to a server. */
export function serveAdmin(server: FastifyInstance, controls: Controls, token: string): void {
  const answer = (request: FastifyRequest, run: () => Said): Said => {
    if (!isLoopback(request.raw.socket.remoteAddress))
      return refuse(404, 'the admin endpoint answers on this machine alone');
    const given = request.headers[ADMIN_HEADER];
    if (typeof given !== 'string' || !isEqual(given, token))
      return refuse(401, `the header ${ADMIN_HEADER} must have the token that was printed`);
    return run();
  };
  const send = (reply: FastifyReply, { status, body }: Said) =>
    reply.code(status).header('content-type', 'application/json').send(JSON.stringify(body));

  for (const command of COMMANDS) {
    const [method = '', path = ''] = command.name.split(' ');
    const work = (request: FastifyRequest) =>
      answer(request, () => obey(command, controls, request));
    server.route({
      method,
      url: `${ADMIN_PATH}/${path}`,
      handler: async (request, reply) => send(reply, work(request)),
    });
  }
  const list = COMMANDS.map(({ name, does }) => ({ command: name, does }));
  server.get(ADMIN_PATH, async (request, reply) =>
    send(
      reply,
      answer(request, () => ({ status: 200, body: list })),
    ),
  );
  server.all(`${ADMIN_PATH}/*`, async (request, reply) =>
    send(
      reply,
      answer(request, () => refuse(404, `there is no such command; GET ${ADMIN_PATH} lists them`)),
    ),
  );
}

function obey(command: Command, controls: Controls, request: FastifyRequest): Said {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const reading = readJson(bytes);
  if ('problem' in reading) return refuse(400, reading.problem);
  const body = reading.body ?? {};
  const problems = problemsOf(command, body);
  if (problems.length > 0) return refuse(400, problems.join('; '));
  try {
    return { status: 200, body: command.run(controls, isRecord(body) ? body : {}) };
  } catch (error) {
    return refuse(400, error instanceof Error ? error.message : String(error));
  }
}

function problemsOf({ body: schema, check }: Command, body: Json): readonly string[] {
  if (schema === undefined) return [];
  const validate = ajv.compile(schema);
  if (!validate(body))
    return violationsOf(validate.errors ?? [], body).map(({ path, message }) =>
      [path.join('.'), message].filter(Boolean).join(': '),
    );
  return isRecord(body) ? (check?.(body) ?? []) : [];
}

function refuse(status: number, error: string): Said {
  return { status, body: { error } };
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address);
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
