import { MASK } from '../core/redact.ts';
import type { Json, JsonObject } from '../core/value.ts';
import { type Hide, hideSecrets } from './hide.ts';
import { plainUrl } from './line.ts';
import { maskBody, maskErrorBody, secretsOf } from './mask-body.ts';
import type { TraceEntry } from './trace-entry.ts';
import type { WireAnswer, WireRequest } from './transport.ts';

/** What came of a request. */
export type Outcome = { readonly answer: WireAnswer } | { readonly error: unknown };

/** Headers that say nothing in confidence. Every other one is masked. */
const OPEN_HEADERS =
  /^(accept|age|allow|cache-control|connection|keep-alive|content-(encoding|language|length|type)|date|retry-after|server|transfer-encoding|user-agent|vary|via|x-request-id|(x-)?ratelimit-[\w-]+)$/;

/** Writes down one try of a request. Times are in milliseconds since 1970. */
export function traceEntry(
  wire: WireRequest,
  outcome: Outcome,
  start: number,
  end: number,
): TraceEntry {
  const hide = hideSecrets(secretsIn(wire));
  const answer = 'answer' in outcome ? outcome.answer : undefined;
  return {
    time: new Date(start).toISOString(),
    operation: wire.about?.operation ?? null,
    method: wire.method,
    // An address without an operation is a presigned one.
    url: wire.about === undefined ? `${plainUrl(wire.url)}?…` : hide.text(wire.url),
    attempt: wire.attempt,
    status: answer?.status ?? null,
    milliseconds: end - start,
    request_id: answer?.requestId === undefined ? null : hide.text(answer.requestId),
    request: { headers: shownHeaders(wire.headers, hide), body: requestBody(wire, hide) },
    answer:
      answer === undefined
        ? null
        : { headers: shownHeaders(answer.headers, hide), body: answerBody(wire, answer, hide) },
    error: 'error' in outcome ? hide.text(messageOf(outcome.error)) : null,
  };
}

/** What a request carries that nobody else may see. */
export function secretsIn({ headers, about }: Pick<WireRequest, 'headers' | 'about'>) {
  const { authorization = '', 'x-pbx-api-key': key = '' } = headers;
  const token = authorization.replace(/^Bearer /, '');
  const { operation = '', content = null } = about ?? {};
  return [token, key, ...secretsOf(operation, 'request', content)];
}

function requestBody({ about, headers }: WireRequest, hide: Hide): Json {
  if (about === undefined) return `(${headers['content-length']} bytes)`;
  if (about.content === undefined) return null;
  return maskBody(about.operation, 'request', hide.json(about.content));
}

function answerBody({ about }: WireRequest, answer: WireAnswer, hide: Hide): Json {
  const { status, body, contentType, length } = answer;
  if (body === null) return null;
  if (about === undefined || body === undefined) {
    return `(${contentType.split(';')[0] || 'no type'}, ${length} characters)`;
  }
  const known = hide.json(body);
  return status < 400 ? maskBody(about.operation, 'answer', known) : maskErrorBody(known);
}

function shownHeaders(headers: Readonly<Record<string, string>>, hide: Hide): JsonObject {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (name === 'location') return [name, plainUrl(hide.text(value))];
      return [name, OPEN_HEADERS.test(name) ? hide.text(value) : MASK];
    }),
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
