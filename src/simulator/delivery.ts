import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from './answer.ts';
import type { Dialect } from './dialect.ts';
import { wireText } from './wire.ts';

/**
 * How an answer goes out: whole, not at all, its head alone, half of its body, or never, which the caller
 * has to notice.
 */
export type Ending = 'whole' | 'none' | 'head' | 'half' | 'never';

/** Sends an answer as far as it is to come. Silence ends after `hangMs`. */
export async function deliver(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  dialect: Dialect,
  ending: Ending = 'whole',
  hangMs = 0,
): Promise<FastifyReply> {
  const { status, headers = {}, type = JSON_TYPE } = answer;
  const text =
    answer.text ?? (answer.body === undefined ? undefined : wireText(dialect, answer.body));
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
      reply.raw.writeHead(status, {
        ...headers,
        'content-type': type,
        'content-length': bytes.length,
      });
      if (ending === 'half') reply.raw.write(bytes.subarray(0, bytes.length / 2));
      else reply.raw.flushHeaders();
      // What was written still goes out.
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
