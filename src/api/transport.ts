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
};

export type WireAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly requestId: string | undefined;
  readonly location: string | undefined;
  readonly text: string;
};

export type Transport = {
  readonly send: (request: WireRequest) => Promise<WireAnswer>;
  readonly close: () => Promise<void>;
};

/** Sends requests over a keep-alive pool. Redirects are never followed: a token must not travel on. */
export function createTransport(connections: number): Transport {
  const options = {
    connections,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_TIMEOUT_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  };
  const usesProxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some(
    (name) => process.env[name],
  );
  const dispatcher: Dispatcher = usesProxy ? new EnvHttpProxyAgent(options) : new Agent(options);
  return {
    send: (wire) => send(dispatcher, wire),
    close: () => dispatcher.close(),
  };
}

async function send(dispatcher: Dispatcher, wire: WireRequest): Promise<WireAnswer> {
  try {
    const answer = await request(wire.url, {
      dispatcher,
      method: wire.method,
      headers: wire.headers,
      body: wire.body ?? null,
    });
    const header = (name: string) => {
      const value = answer.headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    return {
      status: answer.statusCode,
      contentType: header('content-type') ?? '',
      retryAfter: header('retry-after'),
      requestId: header('x-request-id'),
      location: header('location'),
      text: await answer.body.text(),
    };
  } catch (cause) {
    throw networkError(wire, cause);
  }
}

/** No answer, or only part of one. */
export class NetworkError extends CallsheetError {
  /** Whether the request cannot have reached the platform. */
  readonly isUnsent: boolean;
  constructor(message: string, isUnsent: boolean, hint: string, cause: unknown) {
    super('network', message, { hint, cause });
    this.name = 'NetworkError';
    this.isUnsent = isUnsent;
  }
}

const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

function networkError(wire: WireRequest, cause: unknown): NetworkError {
  const code = codeOf(cause);
  const { host } = new URL(wire.url);
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: `nothing listens at ${host}`,
    ENOTFOUND: `the host name ${host} does not exist`,
    EAI_AGAIN: `the host name ${host} could not be looked up`,
    ECONNRESET: `${host} closed the connection in the middle of an answer`,
    UND_ERR_SOCKET: `${host} closed the connection in the middle of an answer`,
    UND_ERR_CONNECT_TIMEOUT: `${host} could not be reached within ${CONNECT_TIMEOUT_MS / 1000} s`,
    UND_ERR_HEADERS_TIMEOUT: `${host} did not answer within ${HEADERS_TIMEOUT_MS / 1000} s`,
    UND_ERR_BODY_TIMEOUT: `${host} stopped in the middle of an answer`,
  };
  const what = words[code] ?? (cause instanceof Error ? cause.message : String(cause));
  const message = `${wire.method} ${withoutQuery(wire.url)}: ${what}`;
  const hint = 'Check base_url (or CALLSHEET_BASE_URL), the network and the proxy settings.';
  return new NetworkError(message, UNSENT.has(code), hint, cause);
}

function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.cause instanceof Error ? codeOf(cause.cause) : '';
}

/** A URL as messages show it: a presigned one carries its signature in the query. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, '');
}

/** The JSON of an answer. Throws where the body is something else, naming what it looks like. */
export function parseAnswer(line: RequestLine, answer: WireAnswer): Json {
  if (answer.text === '') return null;
  try {
    return JSON.parse(answer.text);
  } catch (cause) {
    const kind = answer.contentType.split(';')[0] || 'something that is not JSON';
    throw new CallsheetError(
      'api',
      `${line.method} ${line.url} answered ${answer.status} with ${kind} instead of JSON`,
      {
        hint: 'Check that base_url is the address of the Voice Agent Platform and not of a website or proxy before it.',
        cause,
      },
    );
  }
}
