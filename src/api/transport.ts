import type { Dispatcher } from 'undici';
import { CallsheetError } from '../core/errors.ts';
import type { Json } from '../core/value.ts';
import { beyondLimit, COUNTED_FROM_BYTES, checkBytes, checkLevels } from './bounds.ts';
import { textOf } from './exchange.ts';
import { NOT_THE_PLATFORM, type RequestLine } from './line.ts';
import { BrokenOff, networkError } from './network-error.ts';
import { createOutlet, type Outlet } from './outlet.ts';
import type { Timeouts } from './timeouts.ts';

export type WireRequest = {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** The operation, and what its body says; undefined for an upload. */
  readonly about?: { readonly operation: string; readonly content?: Json };
  /** Which try it is, counted from 1. */
  readonly attempt: number;
  /** Breaks the request off. */
  readonly signal?: AbortSignal;
};

export type WireAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly requestId: string | undefined;
  readonly location: string | undefined;
  /** Null where it is empty, undefined where it is not JSON. */
  readonly body: Json | undefined;
  /** Characters of the body. */
  readonly length: number;
};

export type Transport = {
  /** One request, one answer. Throws `NetworkError`, and what reading the body's file throws. */
  readonly send: (request: WireRequest) => Promise<WireAnswer>;
  /** Lets requests in flight finish; refuses others. */
  readonly close: () => Promise<void>;
};

export type TransportOptions = {
  readonly connections: number;
  readonly timeouts: Timeouts;
};

/** Sends requests over a keep-alive pool. Redirects are never followed: a token must not travel on. */
export function createTransport({ connections, timeouts }: TransportOptions): Transport {
  const outlet = createOutlet(connections, timeouts);
  let hasAnswered = false;
  return {
    async send(wire) {
      const url = new URL(wire.url);
      try {
        const answer = await answerTo(outlet, url, wire);
        hasAnswered = true;
        return answer;
      } catch (cause) {
        // A file that changed meanwhile is no fault of the network.
        if (cause instanceof CallsheetError) throw cause;
        const { method } = wire;
        const proxy = outlet.proxyFor(url);
        throw networkError({ method, url: wire.url, timeouts, proxy, hasAnswered }, cause);
      }
    },
    close: outlet.close,
  };
}

async function answerTo(outlet: Outlet, url: URL, wire: WireRequest): Promise<WireAnswer> {
  const isCall = wire.about !== undefined;
  // Without the header a server may pack its answer as it likes. An upload's headers are signed, and stay as they are.
  const headers = isCall ? { ...wire.headers, 'accept-encoding': 'identity' } : wire.headers;
  const { status, headers: given, bytes } = await outlet.exchange(url, { ...wire, headers });
  const received = plainHeaders(given);
  if (isCall) refusePacked(wire, received['content-encoding'] ?? '');
  const contentType = received['content-type'] ?? '';
  const isCounted = bytes.length >= COUNTED_FROM_BYTES;
  if (isCounted) checkBytes(wire, bytes);
  const text = textOf(bytes);
  const body = parseBody(status, contentType, text);
  if (!isCounted && body !== undefined) checkLevels(wire, body);
  return {
    status,
    headers: received,
    contentType,
    retryAfter: received['retry-after'],
    requestId: plainId(received['x-request-id']),
    location: received.location,
    body,
    length: text.length,
  };
}

/** What is packed may be a thousand times larger than it came. Nothing packed was asked for. */
function refusePacked(line: RequestLine, encoding: string): void {
  if (/^\s*(?:identity\s*)?$/i.test(encoding)) return;
  const name = /^[\w, -]{1,40}$/.test(encoding) ? encoding : 'unknown';
  throw beyondLimit(
    line,
    `a compressed body (content-encoding: ${name})`,
    'answers that are not compressed, and asks for no others',
  );
}

/** An id as one gives it to whoever runs the platform; anything else in its header is not passed on. */
function plainId(text: string | undefined): string | undefined {
  return text !== undefined && /^[\w.:+/=@-]{1,128}$/.test(text) ? text : undefined;
}

/** Of a header that came several times, the first. */
function plainHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  const plain: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? '';
    plain[name] = typeof value === 'string' ? value : (value[0] ?? '');
  }
  return plain;
}

function parseBody(status: number, contentType: string, text: string): Json | undefined {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    // The parser's error quotes the body, which may hold a token; so it is left behind.
    if (status < 300 && /\bjson\b/i.test(contentType)) throw new BrokenOff('JSON without an end');
    return undefined;
  }
}

/** The JSON of an answer. Throws where the body is something else, naming what it looks like. */
export function jsonOf(line: RequestLine, { status, contentType, body }: WireAnswer): Json {
  if (body !== undefined) return body;
  const type = contentType.split(';')[0];
  const what = type ? `${type} instead of JSON` : 'something that is not JSON';
  throw new CallsheetError('api', `${line.method} ${line.url} answered ${status} with ${what}`, {
    hint: NOT_THE_PLATFORM,
  });
}
