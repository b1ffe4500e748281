import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, EnvHttpProxyAgent, type FormData, request } from 'undici';
import { CallsheetError } from '../core/errors.ts';
import type { Json } from '../core/value.ts';
import type { RequestLine } from './errors.ts';

/** The platform answers within seconds; a server that stays silent for longer is treated as gone. */
const HEADERS_TIMEOUT_MS = 30_000;
const BODY_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

export type WireRequest = {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData | Readable;
  /** Breaks the request off. */
  readonly signal?: AbortSignal;
};

export type WireAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly requestId: string | undefined;
  readonly location: string | undefined;
  /** Null where it is empty, undefined where it is not JSON. */
  readonly body: Json | undefined;
};

export type Transport = {
  /** One request, one answer. Throws `NetworkError`. */
  readonly send: (request: WireRequest) => Promise<WireAnswer>;
  /** Lets requests in flight finish; refuses others. */
  readonly close: () => Promise<void>;
};

/** Sends requests over a keep-alive pool. Redirects are never followed: a token must not travel on. */
export function createTransport(connections: number): Transport {
  const dispatcher = createDispatcher({
    connections,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_TIMEOUT_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
  let hasAnswered = false;
  return {
    async send(wire) {
      try {
        const answer = await exchange(dispatcher, wire);
        hasAnswered = true;
        return answer;
      } catch (cause) {
        throw networkError(wire, cause, hasAnswered);
      }
    },
    close: () => dispatcher.close(),
  };
}

/** Through the proxy that the environment names, save to this machine: there, http would reach it in clear. */
function createDispatcher(options: Agent.Options): Dispatcher {
  const { env } = process;
  const usesProxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some(
    (name) => env[name],
  );
  if (!usesProxy) return new Agent(options);
  const noProxy = [env.no_proxy ?? env.NO_PROXY ?? '', 'localhost', '127.0.0.1', '::1'].join(',');
  return new EnvHttpProxyAgent({ ...options, noProxy });
}

async function exchange(dispatcher: Dispatcher, wire: WireRequest): Promise<WireAnswer> {
  const { url, body = null, ...options } = wire;
  const answer = await request(url, { ...options, dispatcher, body });
  const header = (name: string) => {
    const value = answer.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  const contentType = header('content-type') ?? '';
  return {
    status: answer.statusCode,
    contentType,
    retryAfter: header('retry-after'),
    requestId: header('x-request-id'),
    location: header('location'),
    body: parseBody(answer.statusCode, contentType, await answer.body.text()),
  };
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

/** No answer, or only part of one. */
export class NetworkError extends CallsheetError {
  /** Whether the request cannot have reached the platform. */
  readonly isUnsent: boolean;
  /** Whether nothing was ever reached: then it is the address that is at fault, not the moment. */
  readonly isLasting: boolean;
  constructor(
    message: string,
    facts: { readonly isUnsent: boolean; readonly isLasting: boolean },
    options: { readonly hint: string; readonly cause: unknown },
  ) {
    super('network', message, options);
    this.name = 'NetworkError';
    this.isUnsent = facts.isUnsent;
    this.isLasting = facts.isLasting;
  }
}

const UNTRUSTED = new Set([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** What fails while connecting. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  ...UNTRUSTED,
]);

function networkError(wire: WireRequest, cause: unknown, hasAnswered: boolean): NetworkError {
  const code = codeOf(cause);
  const { host } = new URL(wire.url);
  const words: Readonly<Record<string, string>> = {
    BROKEN_OFF: `${host} broke off in the middle of an answer`,
    ECONNREFUSED: `nothing listens at ${host}`,
    ENOTFOUND: `the host name ${host} does not exist`,
    EAI_AGAIN: `the host name ${host} could not be looked up`,
    ECONNRESET: `${host} closed the connection before its answer was complete`,
    UND_ERR_SOCKET: `${host} closed the connection before its answer was complete`,
    UND_ERR_CONNECT_TIMEOUT: `${host} could not be reached within ${CONNECT_TIMEOUT_MS / 1000} s`,
    UND_ERR_HEADERS_TIMEOUT: `${host} did not answer within ${HEADERS_TIMEOUT_MS / 1000} s`,
    UND_ERR_BODY_TIMEOUT: `${host} stopped in the middle of an answer`,
    ERR_SSL_WRONG_VERSION_NUMBER: `${host} does not speak https`,
    ERR_SSL_PACKET_LENGTH_TOO_LONG: `${host} does not speak https`,
    EPROTO: `${host} does not speak https as expected`,
  };
  const said = cause instanceof Error ? cause.message : String(cause);
  const isUntrusted = UNTRUSTED.has(code);
  const what = isUntrusted
    ? `the certificate of ${host} is not trusted (${said})`
    : (words[code] ?? said);
  const hint = isUntrusted
    ? 'If it is signed by an authority of your own, name its certificate in NODE_EXTRA_CA_CERTS.'
    : 'Check base_url (or CALLSHEET_BASE_URL), the network and the proxy settings.';
  const isUnsent = UNSENT.has(code);
  return new NetworkError(
    `${wire.method} ${plainUrl(wire.url)}: ${what}`,
    { isUnsent, isLasting: isUnsent && !hasAnswered },
    { hint, cause },
  );
}

function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.cause instanceof Error ? codeOf(cause.cause) : '';
}

/** A URL as messages show it: without credentials, and without the query, where a presigned one has its signature. */
export function plainUrl(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');
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

/** What to do where an answer is none of the platform's. */
export const NOT_THE_PLATFORM =
  'Check that base_url is the address of the Voice Agent Platform and not of a website or proxy before it.';
