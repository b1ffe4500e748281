import { CallsheetError, clip, errorMessage, formatCount } from '../core/errors.ts';
import { findFilled, isList, isObject, type Json } from '../core/value.ts';
import { CERTIFICATE_CODES, findCertificateFault, IDENTIFY, isIdentityRefused } from './trust.ts';

/** A request, for messages. The URL has no query and no credentials. */
export type RequestLine = { readonly method: string; readonly url: string };

/** A URL as messages show it: without credentials, and without the query, where a presigned one has its signature. */
export function plainUrl(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');
}

/** The hint for an answer that is not the platform's. */
export const NOT_THE_PLATFORM =
  'Check that base_url is the address of the Voice Agent Platform and not of a website or proxy in front of it.';

/** The same for an address that was asked for: paths of the platform begin with a version of their own. */
export function notThePlatform(url: string): string {
  const version = /^https?:\/\/[^/]+.*?\/(v\d+)\/(?:v\d+|oauth)\//.exec(url)?.[1];
  return version === undefined
    ? NOT_THE_PLATFORM
    : `base_url ends in /${version}, which every path begins with already: take it off.`;
}

/** Characters of one text that a refusal says, and how many complaints it lists: people read no more. */
const MOST_SAID = 2_000;
const MOST_ISSUES = 50;
/** Keys of a path that are shown. */
const MOST_PATH_KEYS = 120;

/** One complaint of a validation error, whichever of the body shapes it came in. */
type ApiIssue = { readonly path: string; readonly message: string };

/**
 * A refusal by the platform. The message is status, method and URL; what the body said stands in
 * fields, whichever of the three shapes it had (Errors).
 */
export class ApiError extends CallsheetError {
  readonly status: number;
  readonly method: string;
  readonly url: string;
  /** `error` of the body: a code such as `not_found`, or a text. */
  readonly error: string | undefined;
  /** `error_description` or the like. */
  readonly description: string | undefined;
  readonly issues: readonly ApiIssue[];
  readonly requestId: string | undefined;
  /** The header `Retry-After`, as it was sent. */
  readonly retryAfter: string | undefined;
  /** The parsed body, where it was JSON. */
  readonly body: Json | undefined;

  constructor(
    line: RequestLine,
    status: number,
    body: Json | undefined,
    options: {
      readonly requestId?: string | undefined;
      readonly retryAfter?: string | undefined;
      readonly hint?: string | undefined;
    } = {},
  ) {
    super('api', `${status} ${line.method} ${line.url}`, { hint: options.hint });
    this.name = 'ApiError';
    this.status = status;
    this.method = line.method;
    this.url = line.url;
    this.error = clipped(textMember(body, 'error'));
    this.description = clipped(
      textMember(body, 'error_description') ?? textMember(body, 'message'),
    );
    this.issues = listIssues(body);
    this.requestId = options.requestId;
    this.retryAfter = options.retryAfter;
    this.body = body;
  }
}

/**
 * Returns true if the platform itself says that there is no such thing. A 404 without its body may come from whatever
 * stands before it, and proves nothing.
 */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404 && error.error !== undefined;
}

/** Returns the platform's message in one sentence for people, without a full stop; of any other error, its message. */
export function describeApiError(error: unknown): string {
  if (!(error instanceof ApiError)) return errorMessage(error);
  const said = [...new Set([error.error, error.description])].filter((text) => text !== undefined);
  const issues = error.issues
    .map(({ path, message }) => (path ? `${path}: ${message}` : message))
    // A description that repeats its issues has said them.
    .filter((issue) => !said.some((text) => text.includes(issue)));
  const details = [...said, ...issues, ...existingSource(error.body)]
    .map((text) => text.trim().replace(/\.$/, ''))
    .join('; ');
  const where = `${error.method} ${error.url} answered ${error.status}`;
  const id = error.requestId === undefined ? '' : ` (request ${error.requestId})`;
  return details === '' ? `${where}${id}` : `${where}: ${details}${id}`;
}

/** An answer that goes beyond a limit. It is not asked for again: the next one would be the same. */
export class BeyondLimit extends CallsheetError {
  readonly what: string;
  readonly limit: string;

  constructor({ method, url }: RequestLine, what: string, limit: string) {
    super('api', `${method} ${plainUrl(url)} answered with ${what}`, {
      hint: `Callsheet takes ${limit}. ${NOT_THE_PLATFORM}`,
    });
    this.what = what;
    this.limit = limit;
  }
}

export function beyondLimit(line: RequestLine, what: string, limit: string): BeyondLimit {
  return new BeyondLimit(line, what, limit);
}

/** The source that a 409 `duplicate_source` says is there already (Knowledge base sources). */
function existingSource(body: Json | undefined): readonly string[] {
  const details = isObject(body) ? body.details : undefined;
  const source = isObject(details) ? details.existingSource : undefined;
  const id = clipped(textMember(source, 'id'));
  if (id === undefined) return [];
  const name = clipped(textMember(source, 'name'));
  const status = clipped(textMember(source, 'status'));
  return [
    `it exists${name === undefined ? '' : ` as ${JSON.stringify(name)}`}, id ${id}${status === undefined ? '' : `, ${status}`}`,
  ];
}

/** A text that is a member of a body; undefined where it has none. */
export function textMember(body: Json | undefined, name: string): string | undefined {
  return isObject(body) ? findFilled(body[name]) : undefined;
}

/** `details` or `issues`, whose paths are a text or a list of keys (Errors, validation shapes). */
function listIssues(body: Json | undefined): readonly ApiIssue[] {
  if (!isObject(body)) return [];
  const list = isList(body.issues) ? body.issues : body.details;
  if (!isList(list)) return [];
  return list.slice(0, MOST_ISSUES).flatMap((item: Json) => {
    if (!isObject(item)) return [];
    const path = isList(item.path) ? item.path.slice(0, MOST_PATH_KEYS).join('.') : item.path;
    return [
      {
        path: clipped(String(path ?? '')),
        message: clipped(String(item.message ?? 'is not valid')),
      },
    ];
  });
}

/** As much of a text as people read, and how much there is. */
export function clipped<T extends string | undefined>(text: T, most = MOST_SAID): T | string {
  if (text === undefined || text.length <= most) return text;
  return `${clip(text, most)} (${formatCount(text.length, 'character')})`;
}

/** No answer, or only part of one. */
export class NetworkError extends CallsheetError {
  /** True if the request cannot have reached the platform. */
  readonly isUnsent: boolean;
  /** True if nothing was ever reached: then it is the address that is at fault, not the moment. */
  readonly isLasting: boolean;
  /** True if it took as long as a request may: asking again and again would look like a command that hangs. */
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

/**
 * Tells whether a request changed nothing for certain: the platform refused it (4xx), or it never reached the platform. After a
 * 5xx, a timeout or a broken connection that is unknown (Errors).
 */
export function isRefusal(error: unknown): boolean {
  if (error instanceof NetworkError) return error.isUnsent;
  return error instanceof ApiError && error.status >= 400 && error.status < 500;
}

const TIMEOUTS = new Set(['TOO_SLOW', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** Codes of failures while connecting. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
  'PROXY_REFUSED',
  ...CERTIFICATE_CODES,
]);

/** The circumstances of a failed exchange. */
type Attempted = RequestLine & {
  readonly timeouts: { readonly connect: number; readonly headers: number };
  /** The host of the proxy on the way, where there may be one. */
  readonly proxy: string | undefined;
  /** True if anything was answered before. */
  readonly hasAnswered: boolean;
};

/** A failed exchange in words. */
export function networkError(attempted: Attempted, cause: unknown): NetworkError {
  const { method, url, proxy, hasAnswered } = attempted;
  const code = getErrorCode(cause);
  const isUnsent = UNSENT.has(code) || isIdentityRefused(code);
  const via = proxy === undefined ? '' : ` (through the proxy ${proxy})`;
  return new NetworkError(
    `${method} ${plainUrl(url)}: ${wordsFor(code, attempted, cause)}${via}`,
    { isUnsent, isLasting: isUnsent && !hasAnswered, isTimeout: TIMEOUTS.has(code) },
    { hint: hintFor(code), cause },
  );
}

function wordsFor(code: string, { url, timeouts }: Attempted, cause: unknown): string {
  const { host } = new URL(url);
  const said = errorMessage(cause);
  const fault = findCertificateFault(code);
  if (fault !== undefined) return `the certificate of ${host} ${fault.why} (${said})`;
  if (isIdentityRefused(code)) return `${host} wants another certificate`;
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
  const fault = findCertificateFault(code);
  if (fault !== undefined) return fault.todo;
  if (isIdentityRefused(code)) return IDENTIFY;
  if (code === 'PROXY_REFUSED') {
    return 'Check HTTPS_PROXY and the credentials in it. NO_PROXY lists the hosts that are reached without a proxy.';
  }
  return 'Check base_url (or CALLSHEET_BASE_URL), the network and the proxy settings.';
}

/** The code of what failed; empty where it has none. */
export function getErrorCode(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  // A tunnel that a proxy refuses has no code of its own.
  if (/^Proxy response \(\d+\)/.test(cause.message)) return 'PROXY_REFUSED';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.cause instanceof Error ? getErrorCode(cause.cause) : '';
}
