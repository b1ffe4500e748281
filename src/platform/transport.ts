import packageJson from '../../package.json' with { type: 'json' };
import { COUNTED_FROM_BYTES } from '../core/bounds.ts';
import { CallsheetError } from '../core/errors.ts';
import type { Json } from '../core/value.ts';
import { createDispatcher, type Dispatcher, decodeText, type HttpRequest } from './dispatcher.ts';
import { beyondLimit, networkError, type RequestLine } from './errors.ts';
import { checkBytes, checkLevels, DEFAULT_TIMEOUTS, type Timeouts } from './limits.ts';

export const USER_AGENT = `callsheet/${packageJson.version} node/${process.versions.node}`;

/** One try of a request. */
export type WireRequest = HttpRequest & {
  /** The operation, and what its body says; undefined for an upload. */
  readonly about?: { readonly operation: string; readonly content?: Json };
  /** Which try it is, counted from 1. */
  readonly attempt: number;
};

export type WireAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string | undefined;
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

type TransportOptions = {
  readonly connections: number;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** Shows the certificate of the environment to a server that asks for one. */
  readonly isIdentified?: boolean;
  /** Stands between what it gives and the network. */
  readonly wire?: ((transport: Transport) => Transport) | undefined;
};

/** Sends requests over a keep-alive pool. Redirects are never followed: a token must not travel on. */
export function createTransport({
  connections,
  wire,
  isIdentified = false,
  ...options
}: TransportOptions): Transport {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const dispatcher = createDispatcher(connections, timeouts, { isIdentified });
  let hasAnswered = false;
  const network: Transport = {
    async send(request) {
      const { method, url: address } = request;
      const url = new URL(address);
      try {
        const answer = await sendOnce(dispatcher, url, request);
        hasAnswered = true;
        return answer;
      } catch (cause) {
        // A file that changed meanwhile is no fault of the network.
        if (cause instanceof CallsheetError) throw cause;
        const proxy = dispatcher.proxyFor(url);
        throw networkError({ method, url: address, timeouts, proxy, hasAnswered }, cause);
      }
    },
    close: dispatcher.close,
  };
  return wire?.(network) ?? network;
}

/** `Retry-After` in milliseconds: it is a number of seconds or a date. */
export function askedDelay(text: string | undefined, now: () => number): number {
  if (text === undefined) return 0;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
  const milliseconds = seconds === undefined ? Date.parse(text) - now() : seconds * 1000;
  return Number.isNaN(milliseconds) ? 0 : Math.max(0, milliseconds);
}

async function sendOnce(
  dispatcher: Dispatcher,
  url: URL,
  request: WireRequest,
): Promise<WireAnswer> {
  const isCall = request.about !== undefined;
  // Without the header a server may pack its answer as it likes. An upload's headers are signed, and stay as they are.
  const headers = isCall ? { ...request.headers, 'accept-encoding': 'identity' } : request.headers;
  const { status, headers: given, bytes } = await dispatcher.send(url, { ...request, headers });
  const received = plainHeaders(given);
  if (isCall) refusePacked(request, received['content-encoding'] ?? '');
  const isCounted = bytes.length >= COUNTED_FROM_BYTES;
  if (isCounted) checkBytes(request, bytes);
  const text = decodeText(bytes);
  const body = parseBody(status, received['content-type'] ?? '', text);
  if (!isCounted && body !== undefined) checkLevels(request, body);
  return {
    status,
    headers: received,
    requestId: plainId(received['x-request-id']),
    body,
    length: text.length,
  };
}

/** Refuses a compressed body, which may be a thousand times larger than it came. None was asked for. */
function refusePacked(line: RequestLine, encoding: string): void {
  if (/^\s*(?:identity\s*)?$/i.test(encoding)) return;
  const name = /^[\w, -]{1,40}$/.test(encoding) ? encoding : 'unknown';
  throw beyondLimit(
    line,
    `a compressed body (content-encoding: ${name})`,
    'answers that are not compressed, and asks for no others',
  );
}

/** Returns a request's id as the platform's support can look it up; anything else in its header is not passed on. */
function plainId(text: string | undefined): string | undefined {
  return text !== undefined && /^[\w.:+/=@-]{1,128}$/.test(text) ? text : undefined;
}

/** Keeps the first value of a header that came several times. */
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

/** A body without a length ends wherever the connection does. */
class BrokenOff extends Error {
  readonly code = 'BROKEN_OFF';
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
