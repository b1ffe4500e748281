import { CallsheetError } from '../core/errors.ts';
import { plainUrl, type RequestLine } from './line.ts';
import type { Timeouts } from './timeouts.ts';

/** No answer, or only part of one. */
export class NetworkError extends CallsheetError {
  /** Whether the request cannot have reached the platform. */
  readonly isUnsent: boolean;
  /** Whether nothing was ever reached: then it is the address that is at fault, not the moment. */
  readonly isLasting: boolean;
  /** Whether it took as long as a request may: asking again and again would look like a command that hangs. */
  readonly isTimeout: boolean;
  constructor(
    message: string,
    facts: Pick<NetworkError, 'isUnsent' | 'isLasting' | 'isTimeout'>,
    options: { readonly hint: string; readonly cause: unknown },
  ) {
    super('network', message, options);
    this.name = 'NetworkError';
    this.isUnsent = facts.isUnsent;
    this.isLasting = facts.isLasting;
    this.isTimeout = facts.isTimeout;
  }
}

/** A body without a length ends wherever the connection does. */
export class BrokenOff extends Error {
  readonly code = 'BROKEN_OFF';
}

/** An answer that comes, and takes too long to. */
export class TooSlow extends Error {
  readonly code = 'TOO_SLOW';
  constructor(milliseconds: number, bytes: number) {
    super(`sent ${bytes} bytes of an answer in ${milliseconds / 1000} s and did not end it`);
  }
}

const TIMEOUTS = new Set(['TOO_SLOW', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

const UNTRUSTED = new Set([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Whether it was the certificate. */
export function isUntrusted(code: string): boolean {
  return UNTRUSTED.has(code);
}

/** What fails while connecting. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
  'PROXY_REFUSED',
  ...UNTRUSTED,
]);

/** What was known when an exchange failed. */
export type Attempted = RequestLine & {
  readonly timeouts: Timeouts;
  /** The host of the proxy on the way, where there may be one. */
  readonly proxy: string | undefined;
  /** Whether anything was answered before. */
  readonly hasAnswered: boolean;
};

/** A failed exchange in words. */
export function networkError(attempted: Attempted, cause: unknown): NetworkError {
  const { method, url, proxy, hasAnswered } = attempted;
  const code = codeOf(cause);
  const isUnsent = UNSENT.has(code);
  const via = proxy === undefined ? '' : ` (through the proxy ${proxy})`;
  return new NetworkError(
    `${method} ${plainUrl(url)}: ${wordsFor(code, attempted, cause)}${via}`,
    { isUnsent, isLasting: isUnsent && !hasAnswered, isTimeout: TIMEOUTS.has(code) },
    { hint: hintFor(code), cause },
  );
}

function wordsFor(code: string, { url, timeouts }: Attempted, cause: unknown): string {
  const { host } = new URL(url);
  const said = cause instanceof Error ? cause.message : String(cause);
  if (UNTRUSTED.has(code)) return `the certificate of ${host} is not trusted (${said})`;
  const seconds = (milliseconds: number) => `${milliseconds / 1000} s`;
  const words: { readonly [code: string]: string } = {
    BROKEN_OFF: `${host} broke off in the middle of an answer`,
    ECONNREFUSED: `nothing listens at ${host}`,
    ENOTFOUND: `the host name ${host} does not exist`,
    EAI_AGAIN: `the host name ${host} could not be looked up`,
    ECONNRESET: `${host} closed the connection before its answer was complete`,
    UND_ERR_SOCKET: `${host} closed the connection before its answer was complete`,
    UND_ERR_CONNECT_TIMEOUT: `${host} could not be reached within ${seconds(timeouts.connect)}`,
    UND_ERR_HEADERS_TIMEOUT: `${host} did not answer within ${seconds(timeouts.headers)}`,
    UND_ERR_BODY_TIMEOUT: `${host} stopped in the middle of an answer`,
    UND_ERR_HEADERS_OVERFLOW: `${host} sent more headers than an answer may have`,
    TOO_SLOW: `${host} ${said}`,
    UND_ERR_PRX_CONN: 'the proxy closed the connection',
    UND_ERR_PRX_TLS: 'the certificate of the proxy is not trusted',
    PROXY_REFUSED: `the proxy refused to connect to ${host} (${/\d+/.exec(said)?.[0]})`,
    ERR_SSL_WRONG_VERSION_NUMBER: `${host} does not speak https`,
    ERR_SSL_PACKET_LENGTH_TOO_LONG: `${host} does not speak https`,
    EPROTO: `${host} does not speak https as expected`,
  };
  return words[code] ?? said;
}

function hintFor(code: string): string {
  if (UNTRUSTED.has(code)) {
    return 'If it is signed by an authority of your own, name its certificate in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE.';
  }
  if (code === 'PROXY_REFUSED') {
    return 'Check HTTPS_PROXY and the credentials in it. What is reached without a proxy stands in NO_PROXY.';
  }
  return 'Check base_url (or CALLSHEET_BASE_URL), the network and the proxy settings.';
}

/** The code of what failed; empty where it has none. */
export function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  // A tunnel that a proxy refuses has no code of its own.
  if (/^Proxy response \(\d+\)/.test(cause.message)) return 'PROXY_REFUSED';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.cause instanceof Error ? codeOf(cause.cause) : '';
}
